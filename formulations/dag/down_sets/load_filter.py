"""Labels that loads refute, and estimates for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.down_sets.expand import weighted_completion
from formulations.dag.down_sets.labels import GROUPS, has_bit
from formulations.dag.down_sets.search_space import NONE, NOWHERE
from formulations.dag.join import INFINITE
from formulations.dag.probing.load_refutation import REFUTED, loads_refute, proven_slack, reduce_by_prices
from formulations.dag.probing.load_rows import Loads, copy_rows, fill_row, new_loads
from formulations.dag.probing.refuter import NO_LIMIT, Workspace, new_workspace, settle, try_all
from formulations.dag.probing.tighten import State, count_allowed, new_state
from instances.kernels import inner_kernel, kernel, overwrite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from formulations.dag.down_sets.labels import Labels
    from formulations.dag.down_sets.search_space import SearchSpace
    from formulations.dag.probing.load_refutation import Effort
    from formulations.dag.probing.network import Network

FINE = 1_000
"""Estimates are in so many parts of the objective's unit, so that few are equal."""


class FilterScratch(NamedTuple):
    """What one thread overwrites while it tests labels."""

    state: State  # heads, tails and pairs of a label
    own: Loads  # rows of a label
    workspace: Workspace  # for settling
    likely: NDArray[np.int64]  # (n,), the tasks, those first whose GPUs were refuted last
    work: NDArray[np.int64]  # (2,), elementary steps and their limit, see `settle`


def new_filter_scratch(space: SearchSpace, net: Network) -> FilterScratch:
    """Return scratch for the labels of a space, whose state is that of the empty schedule."""
    return FilterScratch(
        state=new_state(space.heads.astype(np.int64), space.tails, space.heads < NOWHERE),
        own=new_loads(net),
        workspace=new_workspace(net),
        likely=np.arange(len(space.order)),
        work=np.array([0, NO_LIMIT]),
    )


@kernel
def filter_by_loads(
    space: SearchSpace,
    net: Network,
    labels: Labels,
    scratch: FilterScratch,
    loads: Loads,
    effort: Effort,
    price: NDArray[np.float64],
    settles: bool,
    survivors: NDArray[np.int64],
    halt: NDArray[np.bool_],
) -> int:
    """Remove labels whose waiting tasks do not fit on the GPUs within their windows; estimate and count the others.

    Prices of loads that refute a label refute pairs of others too. If labels are to be settled, those that are left are
    also tested as a makespan is in `probing`: their windows are tightened, and tasks are put on one GPU after the other
    until that tells nothing new for a task. Heads that rise and pairs that are refuted stay so in the label
    (docs/formulations.md, section 10.2).

    Parameters
    ----------
    labels
        One part of a layer; estimates of the survivors are written.
    net
        In the direction of time of the space.
    scratch
        Overwritten; the prices of one label, and tasks that refuted it, often refute the next one too.
    loads
        Rows to begin with; read only.
    price
        Price of a tick on every GPU, for the estimates, shape (m,); they sum to 1.
    settles
        Whether to settle labels.
    survivors
        Result: places of the labels that are left, group by group; only the first entries count.
    halt
        True, shape (1,), ends the filter early, without a result.
    """
    state, own, work = scratch.state, scratch.own, scratch.work
    n = len(space.order)
    order, least = np.empty(n, dtype=np.int64), np.zeros(len(space.weight), dtype=np.int64)
    kept, has_prices = 0, False
    for group in range(labels.counts[GROUPS]):
        first = labels.group[group, 0]
        # Invariant: survivors[:kept] are the labels so far that are not refuted; if has_prices, those in
        # `own` refuted the last label or a pair of it.
        for entry in range(first, first + labels.group[group, 1]):
            if halt[0]:
                return 0
            place = labels.entry[entry]
            waiting = order[: _load_state(space, labels, place, scratch, order)]
            if len(waiting):
                if has_prices and _known_prices_refute(net, state, space.deadline, own, work):
                    continue
                copy_rows(own, loads)
                removed = -1
                if loads_refute(net, state, space.deadline, own, effort, work) != REFUTED:
                    _fill_priced_rows(net, state, space.deadline, own, work)  # the test may have ended before
                    removed = reduce_by_prices(net, state, own)
                has_prices = removed != 0
                if removed < 0 or (settles and _is_refuted(space, net, scratch)):
                    continue
                if removed > 0 or settles:
                    _write_heads(space, state, waiting, labels.started[place], labels.heads[place])
            if len(least):
                completion, heads = labels.completion[place], labels.heads[place]
                bound = weighted_completion(space, completion, heads, waiting, NONE, least)
                labels.estimate[place] = FINE * bound
            else:
                labels.estimate[place] = _makespan_estimate(space, labels, place, price)
            survivors[kept] = place
            kept += 1
    return kept


@inner_kernel
def _is_refuted(space: SearchSpace, net: Network, scratch: FilterScratch) -> bool:
    """Say whether a label is refuted as a makespan is in `probing`; what is not refuted is in the state."""
    state, workspace, likely, work = scratch.state, scratch.workspace, scratch.likely, scratch.work
    for loads in (workspace.loads, workspace.assumed_loads):
        overwrite(loads.since, scratch.own.since)
    state.heads_due[:] = True
    state.tails_due[:] = True
    if settle(net, state, space.deadline, workspace.loads, workspace, work):
        return True
    for index in range(len(likely)):  # invariant: every task so far has one GPU left, or told something new
        task = likely[index]
        if count_allowed(state.allowed, task) < 2:
            continue
        news = try_all(net, state, space.deadline, task, 0, 0, workspace, work, False)
        if news < 0:
            for later in range(index, 0, -1):
                likely[later] = likely[later - 1]
            likely[0] = task
            return True
        if news == 0:
            break
    return False


@inner_kernel
def _write_heads(
    space: SearchSpace,
    state: State,
    waiting: NDArray[np.int64],
    started: NDArray[np.uint64],
    heads: NDArray[np.int32],
) -> None:
    """Write what is known of the heads of a label; what holds for a task holds for all that it may be exchanged for."""
    for task in waiting:
        for k in range(heads.shape[1]):
            heads[task, k] = state.heads[task, k] if state.allowed[task, k] else NOWHERE
    for way in range(2):  # invariant: before the second turn, the last one of a class knows what holds for each of it
        for step in range(len(heads)):
            task = step if way == 0 else len(heads) - 1 - step
            like = space.like_task[task]
            if like != NONE and not has_bit(started, like):
                last, first = (task, like) if way == 0 else (like, task)
                for k in range(heads.shape[1]):
                    heads[last, k] = max(heads[last, k], heads[first, k])


@inner_kernel
def _load_state(
    space: SearchSpace, labels: Labels, place: int, scratch: FilterScratch, waiting: NDArray[np.int64]
) -> int:
    """Write a label as heads, tails and pairs, the waiting tasks, and until when GPUs are used; count the tasks."""
    n, m = space.durations.shape
    heads, state, since = labels.heads[place], scratch.state, scratch.own.since
    count = 0
    since[:] = 0
    for position in range(n):
        task = space.order[position]
        has_started = has_bit(labels.started[place], task)
        if not has_started:
            waiting[count] = task
            count += 1
        for k in range(m):
            state.allowed[task, k] = heads[task, k] < NOWHERE
            state.heads[task, k] = state.tails[task, k] = INFINITE
            if state.allowed[task, k]:
                state.heads[task, k] = heads[task, k]
                state.tails[task, k] = space.tails[task, k]
                if has_started:
                    state.tails[task, k] = space.deadline - heads[task, k] - space.durations[task, k]
                    since[k] = max(since[k], heads[task, k] + space.durations[task, k])
    return count


@inner_kernel
def _known_prices_refute(net: Network, state: State, deadline: int, loads: Loads, work: NDArray[np.int64]) -> bool:
    """Say whether the prices of the last test refute a state."""
    loads.is_stale[:] = True
    _fill_priced_rows(net, state, deadline, loads, work)
    return proven_slack(net, state, loads)[0] < 0


@inner_kernel
def _fill_priced_rows(net: Network, state: State, deadline: int, loads: Loads, work: NDArray[np.int64]) -> None:
    """Compute the coefficients of all rows that have a price and are not up to date."""
    for k in range(len(loads.num_rows)):
        for r in range(loads.num_rows[k]):
            if loads.is_stale[k, r] and loads.price[k, r] > 0.0:
                fill_row(net, state, deadline, loads, k, r)
                work[0] += 4 * len(net.memory)


@inner_kernel
def _makespan_estimate(space: SearchSpace, labels: Labels, place: int, price: NDArray[np.float64]) -> int:
    """Estimate the makespan: the longest path through a task, or the priced load of all tasks."""
    heads, started = labels.heads[place], labels.started[place]
    n, m = heads.shape
    longest, last, total = 0, 0, 0.0
    finish = np.zeros(m, dtype=np.int64)
    for position in range(n):
        task = space.order[position]
        has_started = has_bit(started, task)
        way, cheapest = NOWHERE, np.inf
        for k in range(m):
            if heads[task, k] >= NOWHERE:
                continue
            end = heads[task, k] + space.durations[task, k]
            if has_started:
                last, finish[k], longest = max(last, heads[task, k]), max(finish[k], end), max(longest, end)
            else:
                way = min(way, end + space.tails[task, k])
                cheapest = min(cheapest, price[k] * space.durations[task, k])
        if not has_started:
            longest, total = max(longest, way), total + cheapest
    for k in range(m):
        total += price[k] * max(finish[k], last)
    return max(FINE * longest, int(FINE * total))
