"""Refuting a makespan by what follows from it, and by what follows from one more assumption at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.join import INFINITE
from formulations.dag.probing.load_refutation import REFUTED, Effort, loads_refute, reduce_by_prices
from formulations.dag.probing.load_rows import Loads, copy_rows, drop_idle_rows, new_loads
from formulations.dag.probing.network import network
from formulations.dag.probing.tighten import (
    Scratch,
    State,
    copy_state,
    count_allowed,
    head_changed,
    new_scratch,
    new_state,
    remove_pair,
    tail_changed,
    tighten,
)
from formulations.time_left import without_limit
from instances.kernels import brief_kernel, inner_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.heads_and_tails import HeadsAndTails
    from formulations.dag.probing.network import Network
    from instances.dag.instance import DagInstance


THOROUGH = Effort(rounds=30, enough=0.0, is_thorough=True)
"""Effort of load tests."""

QUICK = Effort(rounds=6, enough=1.0, is_thorough=False)
"""Effort of load tests under one more assumption."""

NO_LIMIT = 2**62

NO_GAIN = -1.0
"""In the place of the gain of a choice that is refuted, or was not tried."""

STEPS_AT_ONCE = 1_000_000_000
"""Elementary steps after which the time is looked at: some seconds, and far more than small instances need."""

STEPS_PER_SECOND = 200_000_000
"""Elementary steps that a slow machine makes per second."""


class Workspace(NamedTuple):
    """Scratch for a test: loads of a state, and state and loads under one more assumption."""

    loads: Loads
    assumed: State
    assumed_loads: Loads
    union: State
    scratch: Scratch
    thorough: Effort
    quick: Effort
    gains: NDArray[np.float64]  # (n, 2, max(m, 2)), how much less room every choice leaves: see `probe_all`
    turns: NDArray[np.int64]  # (2 n,), n * kind + task, in the order in which `probe_all` tries them


def new_workspace(net: Network) -> Workspace:
    """Return scratch for tests of an instance."""
    nothing = np.zeros(net.durations.shape, dtype=np.int64)
    everywhere = np.ones(net.durations.shape, dtype=np.bool_)
    return Workspace(
        loads=new_loads(net),
        assumed=new_state(nothing, nothing, everywhere),
        assumed_loads=new_loads(net),
        union=new_state(nothing, nothing, everywhere),
        scratch=new_scratch(net),
        thorough=THOROUGH,
        quick=QUICK,
        gains=np.full((len(net.memory), 2, max(2, net.durations.shape[1])), NO_GAIN),
        turns=np.arange(2 * len(net.memory)),
    )


@inner_kernel
def settle(
    net: Network, state: State, deadline: int, loads: Loads, workspace: Workspace, work: NDArray[np.int64]
) -> bool:
    """Tighten windows and test loads until nothing changes; say whether that refutes the deadline.

    Parameters
    ----------
    state
        What is known of every schedule within the deadline; changed in place, and stays true.
    loads
        Rows to begin with; `probe_all` expects those of the workspace.
    workspace
        Scratch.
    work
        Elementary steps so far, and the number from which on nothing more is begun, shape (2,).
    """
    while True:  # invariant: the state is true of every schedule within the deadline; each round removes a pair
        if not tighten(net, state, deadline, workspace.scratch, work):
            return True
        if loads_refute(net, state, deadline, loads, workspace.thorough, work) == REFUTED:
            return True
        if work[0] > work[1]:
            return False
        removed = reduce_by_prices(net, state, loads)
        if removed < 0:
            return True
        if removed == 0:
            drop_idle_rows(loads)
            return False


@inner_kernel
def probe_all(
    net: Network,
    state: State,
    deadline: int,
    workspace: Workspace,
    work: NDArray[np.int64],
    most_work: int,
    is_thorough: bool,
) -> tuple[bool, bool]:
    """Try assumptions on every task; say whether that refutes the deadline, and whether something new is known.

    All GPUs of a task are tried one by one (kind 0), and an early and a late start, split in the middle of its window
    (kind 1), in the order of `workspace.turns`: by default the GPUs of all tasks come first, and tasks in order. If
    the consequences of a choice refute it, the pair is removed, or the start is in the other half. What follows from
    all choices that are left is true in any case: heads and tails are raised to the least over them. If no choice is
    left the deadline is refuted (docs/bounds.md, section 3.10).

    Parameters
    ----------
    net, state, deadline, workspace
        As in `settle`, which comes first and leaves its loads in `workspace`.
    work, most_work
        As in `settle`, and the number of steps at which to stop.
    is_thorough
        Whether to `settle` what is assumed, instead of a quick look at its loads, and to write into
        `workspace.gains`, by task, kind and choice, by how much each choice lowers `log_room`.

    References
    ----------
    Martin and Shmoys (1996): shaving. Van Hentenryck, Saraswat and Deville (1998): constructive disjunction. This use
    is ours.
    """
    n, m = net.durations.shape
    changed = False
    if is_thorough:
        workspace.gains[:] = NO_GAIN
    for turn in workspace.turns:
        kind, task = turn // n, turn % n
        if work[0] > min(most_work, work[1]):
            return False, False
        early, late = INFINITE, -1
        for k in range(m):
            if state.allowed[task, k]:
                early = min(early, state.heads[task, k])
                late = max(late, deadline - state.tails[task, k] - net.durations[task, k])
        if kind == 0 and count_allowed(state.allowed, task) < 2:
            continue
        if kind == 1 and late - early < 2:
            continue
        news = try_all(net, state, deadline, task, kind, (early + late) // 2, workspace, work, is_thorough)
        if news < 0:
            return True, True
        changed = changed or news > 0
    return False, changed


PROBE, SETTLE, TIGHTEN, WEIGH, TEST, PRICE, PROBE_THOROUGHLY = 0, 1, 2, 3, 4, 5, 6
"""What `settle_or_probe` does."""


@brief_kernel(seconds=4.0, entries=32_000)
def settle_or_probe(
    what: int,
    net: Network,
    state: State,
    deadline: int,
    workspace: Workspace,
    work: NDArray[np.int64],
    most_work: int,
) -> tuple[bool, bool]:
    """Call `probe_all`, `settle`, `tighten`, or `tighten` and test loads: say whether that refutes the deadline.

    It is one kernel, so that what all of them call is compiled once. `WEIGH` tests loads thoroughly and leaves windows
    and prices in the workspace, `TEST` begins with those, is quick, and leaves its own in `assumed_loads`. `PRICE` does
    not tighten, and leaves the rows that have a price. The second result says whether it was the loads that refuted.
    """
    if what in (PROBE, PROBE_THOROUGHLY):
        return probe_all(net, state, deadline, workspace, work, most_work, what == PROBE_THOROUGHLY)
    if what == SETTLE:
        return settle(net, state, deadline, workspace.loads, workspace, work), False
    if what != PRICE and not tighten(net, state, deadline, workspace.scratch, work):
        return True, False
    if what == TIGHTEN:
        return False, False
    loads, effort = workspace.loads, workspace.thorough
    if what == TEST:
        copy_rows(workspace.assumed_loads, loads)
        loads, effort = workspace.assumed_loads, workspace.quick
    is_refuted = loads_refute(net, state, deadline, loads, effort, work) == REFUTED
    if what == PRICE:
        drop_idle_rows(loads)
    return is_refuted, is_refuted


@inner_kernel
def try_all(
    net: Network,
    state: State,
    deadline: int,
    task: int,
    kind: int,
    middle: int,
    workspace: Workspace,
    work: NDArray[np.int64],
    is_thorough: bool,
) -> int:
    """Try all GPUs of a task (kind 0) or both halves of its window (kind 1), and keep what follows.

    -1: the deadline is refuted, 0: nothing new, 1: something new.
    """
    n, m = net.durations.shape
    assumed, union = workspace.assumed, workspace.union
    for other in range(n):
        for k in range(m):
            union.heads[other, k] = union.tails[other, k] = INFINITE
    news, left = 0, False
    choices = m if kind == 0 else 2
    room = log_room(net, state, deadline) if is_thorough else 0.0
    # Invariant: `union` holds the least heads and tails over the choices so far that are not refuted; `left` says
    # whether there are any.
    for choice in range(choices + 1):
        is_assumption = choice < choices
        if not is_assumption:  # the last round: what holds for all choices that are left
            if not left:
                return -1
            if not _adopt(net, state, union) and news == 0:
                return 0
            news = 1
        elif kind == 0 and not state.allowed[task, choice]:
            continue
        else:
            work[0] += 8 * n * m
            copy_state(assumed, state)
            assume(net, assumed, deadline, task, kind, choice, middle)
        target = assumed if is_assumption else state
        refuted = not tighten(net, target, deadline, workspace.scratch, work)
        if not is_assumption:
            return -1 if refuted else news
        if not refuted:
            copy_rows(workspace.assumed_loads, workspace.loads)
            if kind == 0:
                for k in range(m):
                    workspace.assumed_loads.placement[task, k] = 1.0 if k == choice else 0.0
            if is_thorough:
                refuted = settle(net, assumed, deadline, workspace.assumed_loads, workspace, work)
            else:
                outcome = loads_refute(net, assumed, deadline, workspace.assumed_loads, workspace.quick, work)
                refuted = outcome == REFUTED
        if not refuted:
            left = True
            if is_thorough:
                workspace.gains[task, kind, choice] = room - log_room(net, assumed, deadline)
            for other in range(n):
                for k in range(m):
                    union.heads[other, k] = min(union.heads[other, k], assumed.heads[other, k])
                    union.tails[other, k] = min(union.tails[other, k], assumed.tails[other, k])
        elif kind == 0:
            news = 1
            remove_pair(net, state, task, choice)
    return news


@inner_kernel
def log_room(net: Network, state: State, deadline: int) -> float:
    """Return the logarithm of the number of placements with starts within all windows, each task for itself."""
    n, m = net.durations.shape
    result = 0.0
    for task in range(n):
        starts = 0
        for k in range(m):
            if state.allowed[task, k]:
                latest = deadline - state.tails[task, k] - net.durations[task, k]
                starts += max(0, latest - state.heads[task, k]) + 1
        result += np.log(max(starts, 1))
    return result


@inner_kernel
def assume(net: Network, assumed: State, deadline: int, task: int, kind: int, choice: int, middle: int) -> None:
    """Assume that a task sits on GPU `choice` (kind 0), or starts by the middle (choice 0) or later (choice 1)."""
    for k in range(net.durations.shape[1]):
        if not assumed.allowed[task, k]:
            continue
        if kind == 0:
            if k != choice:
                remove_pair(net, assumed, task, k)
        elif choice == 0:
            assumed.tails[task, k] = max(assumed.tails[task, k], deadline - net.durations[task, k] - middle)
        else:
            assumed.heads[task, k] = max(assumed.heads[task, k], middle + 1)
    if kind == 1:
        assumed.heads_due[task] = True  # pairs may be too long now
        if choice == 0:
            tail_changed(net, assumed, task)
        else:
            head_changed(net, assumed, task)


@inner_kernel
def _adopt(net: Network, state: State, union: State) -> bool:
    """Raise heads and tails to those that hold for every choice; say whether any rose."""
    n, m = net.durations.shape
    raised = False
    for task in range(n):
        for k in range(m):
            if not state.allowed[task, k]:
                continue
            if union.heads[task, k] > state.heads[task, k]:
                state.heads[task, k] = union.heads[task, k]
                state.heads_due[task] = True  # the pair may be too long now
                head_changed(net, state, task)
                raised = True
            if union.tails[task, k] > state.tails[task, k]:
                state.tails[task, k] = union.tails[task, k]
                state.heads_due[task] = True
                tail_changed(net, state, task)
                raised = True
    return raised


def largest_refuted(
    refuted: int,
    is_refuted: Callable[[int], bool],
    *,
    first_step: int = 64,
    resolution: int = 2**62,
    latest: int = 2**62,
) -> int:
    """Return a refuted makespan next to one that is not, starting at a refuted one: growing steps, then bisection.

    Parameters
    ----------
    first_step
        The first makespan that is tried exceeds the refuted one by 1 / first_step of it.
    resolution
        The result is exact to within 1 / resolution of it, and exact below that many ticks.
    latest
        The search ends once this is refuted, because some optimal schedule ends by then if there is any schedule.
    """
    step = max(1, refuted // first_step)
    while refuted < latest and is_refuted(attempt := min(refuted + step, latest)):
        refuted = attempt
        step *= 2
    while refuted < latest and attempt - refuted > max(1, refuted // resolution):
        middle = (refuted + attempt) // 2
        if is_refuted(middle):
            refuted = middle
        else:
            attempt = middle
    return refuted


def steps_in(seconds: float, at_once: int = STEPS_AT_ONCE) -> int:
    """Return how many elementary steps may be made in some seconds, at most so many."""
    return int(min(at_once, seconds * STEPS_PER_SECOND))


class Refuter:
    """Refutes makespans of one instance: by paths, exclusive GPUs and loads, and by probing.

    Parameters
    ----------
    instance
        At least one task.
    around
        Heads and tails of all schedules to begin with.
    seconds_left
        Seconds that are left, asked every few seconds; when there are none, nothing more is refuted.

    Attributes
    ----------
    work
        Elementary steps so far, about a nanosecond each; the same on every machine.
    """

    def __init__(
        self, instance: DagInstance, around: HeadsAndTails, seconds_left: Callable[[], float] = without_limit
    ) -> None:
        self._network = network(instance)
        self._around = around
        self._seconds_left = seconds_left
        self._work = np.zeros(2, dtype=np.int64)
        self._workspace: Workspace | None = None

    @property
    def work(self) -> int:
        """Return the elementary steps so far."""
        return int(self._work[0])

    def refute(
        self, makespan: int, *, known: State | None = None, passes: int = 0, most_work: int = NO_LIMIT
    ) -> State | None:
        """Return what is true of every schedule within a makespan, None if there is no such schedule.

        Parameters
        ----------
        known
            What is true of every schedule within this or a larger makespan.
        passes
            Largest number of passes of probing over all tasks; 0 for no probing.
        most_work
            Stop probing when `work` has reached this.
        """
        start = self._around if known is None else known
        state = new_state(start.heads, start.tails, start.allowed)
        workspace = new_workspace(self._network)
        if not state.allowed.any(axis=1).all():
            return None
        for _ in range(passes):
            if self._settles(state, makespan, workspace):
                return None
            self._work[1] = self.work + steps_in(self._seconds_left())
            refuted, changed = settle_or_probe(PROBE, self._network, state, makespan, workspace, self._work, most_work)
            if refuted:
                return None
            if not changed:
                return state
        return None if self._settles(state, makespan, workspace) else state

    def settled(self, makespan: int, known: State, *, steps: int) -> State | None:
        """Return what follows without probing, as far as so many elementary steps lead; None if that is a refutation.

        Windows of loads are kept from call to call.
        """
        state = new_state(known.heads, known.tails, known.allowed)
        if not state.allowed.any(axis=1).all():
            return None
        self._workspace = self._workspace or new_workspace(self._network)
        self._work[1] = self.work + steps
        is_refuted, _ = settle_or_probe(SETTLE, self._network, state, makespan, self._workspace, self._work, NO_LIMIT)
        return None if is_refuted else state

    def _settles(self, state: State, makespan: int, workspace: Workspace) -> bool:
        """Call `settle` until it is done or no seconds are left; say whether the makespan is refuted."""
        at_once = STEPS_AT_ONCE
        while True:
            self._work[1] = self.work + steps_in(self._seconds_left(), at_once)
            if settle_or_probe(SETTLE, self._network, state, makespan, workspace, self._work, NO_LIMIT)[0]:
                return True
            if self.work <= self._work[1] or self._seconds_left() <= 0:
                return False
            at_once *= 2  # a single step may be larger than what was allowed

    def climb(
        self, refuted: int, *, passes: int = 0, most_work: int = NO_LIMIT, most_each: int = NO_LIMIT, horizon: int
    ) -> int:
        """Return a makespan that is refuted, at most the horizon: as `largest_refuted` does.

        Parameters
        ----------
        refuted
            A makespan that is refuted already.
        passes, most_work
            As in `refute`; no further makespan is tried when the work is done.
        most_each
            Work of probing one makespan, at most.
        horizon
            A makespan that some schedule has, if there is any at all.
        """
        known: State | None = None

        def is_refuted(makespan: int) -> bool:
            nonlocal known
            if self.work > most_work or self._seconds_left() <= 0:
                return False
            most = min(most_work, self.work + most_each)
            state = self.refute(makespan, known=known, passes=passes, most_work=most)
            known = known if state is None else state
            return state is None

        return largest_refuted(refuted, is_refuted, first_step=128, latest=horizon)
