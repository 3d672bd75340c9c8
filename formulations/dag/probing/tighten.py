"""Windows of time under a deadline: heads, tails and pairs of task and GPU, updated after small changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.join import INFINITE, earliest_start
from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from formulations.dag.probing.network import Network, Side


class State(NamedTuple):
    """What is known of all schedules within a deadline."""

    heads: NDArray[np.int64]  # (n, m), INFINITE where not allowed
    tails: NDArray[np.int64]  # (n, m), INFINITE where not allowed
    allowed: NDArray[np.bool_]  # (n, m)
    heads_due: NDArray[np.bool_]  # (n,), whether the heads of a task are to be computed again
    tails_due: NDArray[np.bool_]  # (n,)


class Scratch(NamedTuple):
    """Scratch arrays for the predecessors of one task."""

    remote: NDArray[np.int64]
    local: NDArray[np.int64]
    duration: NDArray[np.int64]
    memory: NDArray[np.int64]


def new_state(heads: NDArray[np.int64], tails: NDArray[np.int64], allowed: NDArray[np.bool_]) -> State:
    """Return a state with known heads and tails, where everything is due."""
    due = np.ones(len(heads), dtype=np.bool_)
    return State(
        heads=np.where(allowed, heads, INFINITE),
        tails=np.where(allowed, tails, INFINITE),
        allowed=np.array(allowed),
        heads_due=due,
        tails_due=due.copy(),
    )


@inner_kernel
def copy_state(target: State, source: State) -> None:
    """Overwrite a state with another one in which nothing is due."""
    n, m = source.heads.shape
    for task in range(n):
        for k in range(m):
            target.heads[task, k] = source.heads[task, k]
            target.tails[task, k] = source.tails[task, k]
            target.allowed[task, k] = source.allowed[task, k]
        target.heads_due[task] = False
        target.tails_due[task] = False


@inner_kernel
def count_allowed(allowed: NDArray[np.bool_], task: int) -> int:
    """Return how many GPUs are left for a task."""
    count = 0
    for k in range(allowed.shape[1]):
        if allowed[task, k]:
            count += 1
    return count


def new_scratch(net: Network) -> Scratch:
    """Return scratch arrays for the largest number of predecessors or successors that a task has."""
    most = max(np.diff(side.offsets).max(initial=1) for side in (net.before, net.after))
    return Scratch(*(np.empty(most, dtype=np.int64) for _ in Scratch._fields))


@inner_kernel
def neighbours_due(side: Side, due: NDArray[np.bool_], task: int) -> None:
    """Mark all neighbours of a task on one side."""
    for entry in range(side.offsets[task], side.offsets[task + 1]):
        due[side.neighbours[entry]] = True


@inner_kernel
def head_changed(net: Network, state: State, task: int) -> None:
    """Mark the tasks whose heads may follow."""
    neighbours_due(net.after, state.heads_due, task)


@inner_kernel
def tail_changed(net: Network, state: State, task: int) -> None:
    """Mark the tasks whose tails may follow."""
    neighbours_due(net.before, state.tails_due, task)


def mark_due(net: Network, state: State, tasks: Iterable[int]) -> None:
    """Mark some tasks, and those whose heads or tails may follow from theirs, besides all that are due."""
    for task in tasks:
        state.heads_due[task] = state.tails_due[task] = True
        head_changed(net, state, task)
        tail_changed(net, state, task)


@inner_kernel
def remove_pair(net: Network, state: State, task: int, gpu: int) -> bool:
    """Take a GPU from a task; say whether one is left."""
    state.allowed[task, gpu] = False
    state.heads[task, gpu] = INFINITE
    state.tails[task, gpu] = INFINITE
    head_changed(net, state, task)
    tail_changed(net, state, task)
    return count_allowed(state.allowed, task) > 0


@inner_kernel
def tighten(net: Network, state: State, deadline: int, scratch: Scratch, work: NDArray[np.int64]) -> bool:
    """Raise heads and tails and remove pairs until nothing changes; False if that refutes the deadline.

    * Paths: join-aware heads and tails as in `heads_and_tails`, of the tasks that are due.
    * Pairs with head + duration + tail above the deadline are removed.
    * Exclusive GPUs: if task i has only GPU k left and task j may sit there, both of positive duration, they run one
      after the other if j sits there. If neither order fits, j cannot; if only one does, the later one's head on k is
      at least the other's finish, and the earlier one's tail likewise (j's always, i's only if j is left with k too).
      Carlier and Pinson (1989) for one machine; the case of j that may also sit elsewhere is textbook.

    What the state contains must be true of every schedule within the deadline, and stays so: heads and tails only rise,
    and pairs are only removed (docs/bounds.md, section 3.9). `work`, shape (2,), holds the elementary steps
    so far and the number from which on nothing more is begun: what is due then stays due.
    """
    while work[0] <= work[1]:
        again = True
        while (
            again and work[0] <= work[1]
        ):  # invariant: a task that is not due has the heads (tails) that its neighbours imply
            again = False
            for way in range(2):
                side, other_side, heads, tails, due = net.before, net.after, state.heads, state.tails, state.heads_due
                if way == 1:
                    side, other_side, heads, tails = net.after, net.before, state.tails, state.heads
                    due = state.tails_due
                outcome = _sweep(net, state, side, other_side, heads, tails, due, deadline, scratch, work)
                if outcome < 0:
                    return False
                again = again or outcome > 0
        outcome = _take_turns(net, state, deadline, work)
        if outcome < 0:
            return False
        if outcome == 0:
            return True
    return True


@inner_kernel
def _sweep(
    net: Network,
    state: State,
    side: Side,
    other_side: Side,
    heads: NDArray[np.int64],
    tails: NDArray[np.int64],
    due: NDArray[np.bool_],
    deadline: int,
    scratch: Scratch,
    work: NDArray[np.int64],
) -> int:
    """Compute the heads that are due (backwards: the tails); -1 if a task is left without a GPU, 0 if none was due."""
    allowed, durations, memory, offsets = state.allowed, net.durations, net.memory, side.offsets
    m = durations.shape[1]
    computed = 0
    for task in side.order:  # invariant: no earlier task in the order is due, because neighbours come first
        if not due[task]:
            continue
        due[task] = False
        computed += 1
        raised = False
        first, size = offsets[task], offsets[task + 1] - offsets[task]
        for k in range(m):
            if not allowed[task, k]:
                continue
            work[0] += 20 + size * (m + 15)
            _arrivals(k, first, size, side.neighbours, side.delay, heads, durations, memory, scratch)
            start = earliest_start(
                size, scratch.remote, scratch.local, scratch.duration, scratch.memory, net.capacity[k] - memory[task]
            )
            start = max(start, side.release[task])
            if start > heads[task, k]:
                heads[task, k] = start
                raised = True
            is_too_long = heads[task, k] + durations[task, k] + tails[task, k] > deadline
            if is_too_long and not remove_pair(net, state, task, k):
                return -1
        if raised:
            neighbours_due(other_side, due, task)
    return computed


@inner_kernel
def _arrivals(
    k: int,
    first: int,
    size: int,
    neighbours: NDArray[np.int64],
    delay: NDArray[np.int64],
    heads: NDArray[np.int64],
    durations: NDArray[np.int64],
    memory: NDArray[np.int64],
    scratch: Scratch,
) -> None:
    """Write when the data of every predecessor of a task on GPU k can be there, from elsewhere or from k itself."""
    remote, local, duration, used = scratch.remote, scratch.local, scratch.duration, scratch.memory
    for item in range(size):
        other = neighbours[first + item]
        arrival = INFINITE
        for l in range(durations.shape[1]):
            arrival = min(arrival, heads[other, l] + durations[other, l] + delay[first + item, k, l])
        remote[item] = arrival
        local[item] = heads[other, k]
        duration[item] = durations[other, k]
        used[item] = memory[other]


@inner_kernel
def _take_turns(net: Network, state: State, deadline: int, work: NDArray[np.int64]) -> int:
    """Order tasks with one GPU left and others that may sit there; -1 refuted, 0 nothing new, 1 changed."""
    heads, tails, allowed, durations = state.heads, state.tails, state.allowed, net.durations
    n = len(durations)
    left = np.empty(n, dtype=np.int64)
    for task in range(n):
        left[task] = count_allowed(allowed, task)
    outcome = 0
    for i in range(n):
        if left[i] != 1:
            continue
        if work[0] > work[1]:
            return outcome
        k = 0
        while not allowed[i, k]:
            k += 1
        p = durations[i, k]
        if p == 0:
            continue
        work[0] += 3 * n
        for j in range(n):  # invariant: left counts the GPUs of every task
            q = durations[j, k]
            if j == i or q == 0 or not allowed[j, k]:
                continue
            i_first = heads[i, k] + p + q + tails[j, k] <= deadline
            j_first = heads[j, k] + q + p + tails[i, k] <= deadline
            if i_first and j_first:
                continue
            if not i_first and not j_first:
                if not remove_pair(net, state, j, k):
                    return -1
                left[j] -= 1
                outcome = 1
                continue
            earlier, later = (i, j) if i_first else (j, i)
            alone = left[j] == 1
            if (alone or later == j) and heads[earlier, k] + durations[earlier, k] > heads[later, k]:
                heads[later, k] = heads[earlier, k] + durations[earlier, k]
                state.heads_due[later] = True  # the pair may be too long now
                head_changed(net, state, later)
                outcome = 1
            is_tail = net.team[i] == net.team[j] and (alone or earlier == j)
            if is_tail and durations[later, k] + tails[later, k] > tails[earlier, k]:
                tails[earlier, k] = durations[later, k] + tails[later, k]
                state.tails_due[earlier] = True
                tail_changed(net, state, earlier)
                outcome = 1
    return outcome
