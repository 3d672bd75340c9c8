"""B4 to B6, work that must fit: on all GPUs, between heads and tails, and in some window of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.assignment_lp import AssignmentLp, LoadRow, Multipliers
from formulations.dag.heads_and_tails import HeadsAndTails, heads_and_tails, path_bound
from formulations.time_left import without_limit
from instances.dag.contention import Contention
from instances.dag.instance import NO_LIMIT
from instances.dag.objective import Objective
from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


MAX_LP_PAIRS = 60_000
"""Above this many pairs of task and GPU the multipliers come from dual ascent instead of a solver."""


def area(instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit) -> int:
    """Return the area bound (B4): the optimum of the linear program below, proved by its multipliers.

        min C: sum_k x[i,k] = 1; sum_i p[i,k] x[i,k] <= C for all k; sum_k p[i,k] x[i,k] <= C for all i; memory; x >= 0

    Every placement of a schedule is a point, because GPUs run one task at a time; edges are ignored and the first
    release is added. Weighted completion: the bound of each job's own tasks is added to its release, weighted and
    summed. Cost: a linear program with n m columns, or 60 multiplicative updates above `MAX_LP_PAIRS` (docs/bounds.md,
    section 3.5). When no seconds are left, the multipliers so far prove the bound; jobs not yet looked at count with
    their release.

    References
    ----------
    Lawler and Labetoulle (1978), for preemptive scheduling; memory rows and the proof in integers are ours.
    """
    if Objective(objective) is Objective.MAKESPAN:
        if instance.num_tasks == 0:
            return 0
        first_release = int(instance.release[instance.job_of_task].min())
        return first_release + _area_of_tasks(instance, np.arange(instance.num_tasks), seconds_left)
    completion = instance.release.tolist()
    for job in range(instance.num_jobs):
        if seconds_left() > 0:
            completion[job] += _area_of_tasks(instance, np.flatnonzero(instance.job_of_task == job), seconds_left)
    return int(instance.weight @ np.array(completion, dtype=np.int64))


def _area_of_tasks(instance: DagInstance, tasks: NDArray[np.int64], seconds_left: Callable[[], float]) -> int:
    """Return the area bound of some tasks that start at 0."""
    if len(tasks) == 0:
        return 0
    lp = AssignmentLp(instance, tasks, instance.allowed[tasks], seconds_left)
    lp.add_area_rows()
    even = np.ones(len(lp.rows))
    no_prices = np.zeros(instance.num_gpus)
    if len(lp.task_of_pair) > MAX_LP_PAIRS:
        return max(lp.prove(Multipliers(row=row, memory=no_prices)) for row in (even, ascend(lp)))
    simple = lp.prove(Multipliers(row=even, memory=no_prices))
    lp.add_task_rows(lp.durations)
    return max(simple, lp.prove(lp.solve()[0]))


def ascend(lp: AssignmentLp, rounds: int = 60) -> NDArray[np.float64]:
    """Return multipliers of the area rows, the only rows, by updates that raise the price of overloaded GPUs."""
    row_of_pair = np.empty(len(lp.task_of_pair), dtype=np.int64)
    for index, row in enumerate(lp.rows):
        row_of_pair[row.pairs] = index
    first = np.searchsorted(lp.task_of_pair, np.arange(lp.task_of_pair[-1] + 1))
    price = np.full(len(lp.rows), 1.0 / len(lp.rows))
    best, best_value = price, -np.inf
    for number in range(rounds):
        cost = lp.durations * price[row_of_pair]
        least = np.minimum.reduceat(cost, first)
        if least.sum() > best_value:
            best, best_value = price, float(least.sum())
        chosen = cost == least[lp.task_of_pair]  # ties count on every GPU: the direction matters, not its length
        work = np.bincount(row_of_pair[chosen], weights=lp.durations[chosen], minlength=len(price))
        price = price * np.exp((work - work.mean()) / max(work.max(), 1.0) / np.sqrt(number + 1.0))
        price = price / price.sum()
    return best


MAX_ROUNDS = 30
"""Rounds of separation; every round solves one linear program."""

SECONDS_PER_WINDOW = 5e-8
"""Time to look at one pair of a head and a tail; there are at most n^2 of them on a GPU."""

ROWS_PER_ROUND = 6
"""Number of most violated rows that are added per GPU and round."""


def window_load(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return the bound of the window-load program (B5), proved by its multipliers; 0 for weighted completion.

    If some task of S = {i : H[i,k] >= a, T[i,k] >= b} runs on k, all tasks of S on k run after a, and b ticks remain
    after the last one: a + sum over S of p[i,k] x[i,k] + b <= C. With no task of S on k that row would still claim C >=
    a + b. Therefore the part of a + b beyond a proven bound LB is tied to a task e of S:

        LB + (a + b - LB) x[e,k] + sum over S of p[i,k] x[i,k] <= C

    Heads and tails are join-aware, and use the rule of contention if it is given. Cost: at most `MAX_ROUNDS` linear
    programs (docs/bounds.md, section 3.6; ours).
    """
    if Objective(objective) is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if not around.allowed.any(axis=1).all():
        return proven
    return max(proven, window_load_lp(instance, around, proven, seconds_left=seconds_left)[0])


def window_load_lp(
    instance: DagInstance,
    around: HeadsAndTails,
    proven: int,
    *,
    deadline: int | None = None,
    seconds_left: Callable[[], float] = without_limit,
) -> tuple[int, AssignmentLp]:
    """Separate window-load rows until the placement violates none; return the proved bound and the program.

    Parameters
    ----------
    around
        Heads and tails; at least one GPU is left for every task.
    proven
        A proven lower bound on the makespan.
    deadline
        Assume that the makespan is at most this. Then no surplus needs to be tied to a task, and a bound above the
        deadline refutes the assumption (it is no bound on the makespan itself). So does memory alone.
    seconds_left
        Seconds that are left. Rows are added while there are some; a linear program that is cut short proves less.
    """
    lp = AssignmentLp(instance, np.arange(instance.num_tasks), around.allowed, seconds_left)
    heads = around.heads[lp.task_of_pair, lp.gpu_of_pair]
    tails = around.tails[lp.task_of_pair, lp.gpu_of_pair]
    lp.add_area_rows()
    lp.add_task_rows(heads + lp.durations + tails)
    best = 0
    for _ in range(MAX_ROUNDS):
        if seconds_left() <= 0:
            break
        multipliers, placement, value = lp.solve()
        best = max(best, lp.prove(multipliers))
        if deadline is not None and not multipliers.row.any() and memory_excludes_all(instance, around.allowed):
            return max(best, deadline + 1), lp
        if (deadline is not None and best > deadline) or seconds_left() <= 0:
            break
        found = [
            row
            for gpu in range(instance.num_gpus)
            if seconds_left() > instance.num_tasks**2 * SECONDS_PER_WINDOW
            for row in _violated(lp, gpu, heads, tails, placement, value, proven, deadline)
        ]
        if not found:
            break
        lp.rows += found
    return best, lp


FINE_MEMORY = 2**20
"""Shares into which the memory of a GPU is divided where a solver looks for prices of bytes."""


def memory_excludes_all(instance: DagInstance, allowed: NDArray[np.bool_]) -> bool:
    """Say whether prices of bytes prove that no placement on allowed GPUs keeps the memory limits.

    With prices y, every placement within the limits has sum_i min_k y[k] a[i] <= sum_k y[k] M[k]. The prices are
    multipliers of the program that minimises the largest share of a memory that is filled; the inequality is computed
    in integers.
    """
    limited = np.flatnonzero((instance.gpu_memory >= 0) & allowed.any(axis=0)).tolist()
    if not limited:
        return False
    unlimited = replace(instance, gpu_memory=np.full(instance.num_gpus, NO_LIMIT))
    lp = AssignmentLp(unlimited, np.arange(len(allowed)), allowed)
    for k in limited:
        pairs = np.flatnonzero(lp.gpu_of_pair == k)
        share = instance.task_memory[lp.task_of_pair[pairs]] / max(int(instance.gpu_memory[k]), 1)
        lp.rows.append(LoadRow(base=0, pairs=pairs, ticks=np.rint(share * FINE_MEMORY).astype(np.int64)))
    price = np.zeros(instance.num_gpus, dtype=object)
    for k, u in zip(limited, lp.solve()[0].row.tolist(), strict=True):
        price[k] = int(max(u, 0.0) * 2.0**60 / max(int(instance.gpu_memory[k]), 1))
    first = np.searchsorted(lp.task_of_pair, np.arange(len(allowed)))
    cost = price[lp.gpu_of_pair] * instance.task_memory[lp.task_of_pair].astype(object)
    return bool(sum(np.minimum.reduceat(cost, first)) > sum(price[k] * int(instance.gpu_memory[k]) for k in limited))


def _violated(
    lp: AssignmentLp,
    gpu: int,
    heads: NDArray[np.int64],
    tails: NDArray[np.int64],
    placement: NDArray[np.float64],
    value: float,
    proven: int,
    deadline: int | None,
) -> Iterator[LoadRow]:
    """Yield the rows of a GPU that a placement violates most, at most one per head a."""
    pairs = np.flatnonzero((lp.gpu_of_pair == gpu) & (lp.durations > 0))
    if len(pairs) < 2:
        return
    head, at_head = np.unique(heads[pairs], return_inverse=True)
    tail, at_tail = np.unique(tails[pairs], return_inverse=True)
    count, work, most = (np.zeros((len(head), len(tail))) for _ in range(3))
    np.add.at(count, (at_head, at_tail), 1.0)
    np.add.at(work, (at_head, at_tail), lp.durations[pairs] * placement[pairs])
    np.maximum.at(most, (at_head, at_tail), placement[pairs])
    # Over all tasks with at least this head and at least this tail:
    count, work = (array[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1] for array in (count, work))
    most = np.maximum.accumulate(np.maximum.accumulate(most[::-1, ::-1], axis=0), axis=1)[::-1, ::-1]
    around = head[:, None] + tail
    base = around if deadline is not None else np.minimum(around, proven)
    excess = np.where(count >= 2, base + (around - base) * most + work - value, -np.inf)
    window = excess.argmax(axis=1)
    rows = np.argsort(-excess[np.arange(len(head)), window], kind="stable")[:ROWS_PER_ROUND]
    for index in rows.tolist():
        a, b = head[index], tail[window[index]]
        if excess[index, window[index]] <= max(1e-6 * value, 1e-3):
            return
        inside = pairs[(heads[pairs] >= a) & (tails[pairs] >= b)]
        ticks = lp.durations[inside].copy()
        surplus = int(around[index, window[index]] - base[index, window[index]])
        if surplus:
            ticks[placement[inside].argmax()] += surplus
        yield LoadRow(base=int(base[index, window[index]]), pairs=inside, ticks=ticks)


MAX_ENDS = 400
"""Largest number of openings and of ends of windows that are tried, evenly chosen among all; any choice is valid."""


OPENINGS_AT_ONCE = 8
"""Openings after which the time is looked at: 0.3 s for 20,000 tasks on 7 GPUs."""


def fernandez_bussell(
    instance: DagInstance,
    objective: Objective,
    contention: Contention = Contention.NONE,
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> int:
    """Return C0 + max(0, max over a < b of (ceil(W(a,b) / m) - (b - a))) (B6); C0 is the join-aware path bound.

    W(a,b) is the sum over all tasks of the least overlap, over k, of a run of i on k with [a, b], where the run lies
    within [H[i,k], C0 - T[i,k]]:

        ov[i,k](a,b) = min(|[H, H + p] in [a,b]|, |[C0 - T - p, C0 - T] in [a,b]|),

    the left term alone where C0 - T - p < H. In a schedule of makespan C0 + q every run may lie up to q later, and does
    at least as much of its work in [a, b + q], so that m (b + q - a) >= W(a,b). Cost: O(D^2 n m) with at most D =
    `MAX_ENDS` openings and ends; fewer if no seconds are left. 0 for weighted completion (docs/bounds.md, section 3.7).

    References
    ----------
    Fernandez and Bussell (1973), for identical GPUs; durations, heads and tails per GPU are ours.
    """
    if Objective(objective) is not Objective.MAKESPAN or instance.num_tasks == 0:
        return 0
    around = heads_and_tails(instance, contention=contention)
    proven = path_bound(instance, objective, around)
    if not around.allowed.any(axis=1).all():
        return proven
    heads, latest = around.heads, proven - around.tails
    opens, ends = _windows(instance, around, proven)
    delay = 0
    for some in np.array_split(opens, -(-len(opens) // OPENINGS_AT_ONCE)):
        if seconds_left() > 0:
            delay = max(delay, int(_delay(heads, latest, instance.durations, around.allowed, some, ends)))
    return proven + delay


def _windows(instance: DagInstance, around: HeadsAndTails, proven: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the openings (heads, latest starts) and the ends (earliest and latest finishes) that are worth trying."""
    heads, late_finish = around.heads, proven - around.tails
    starts = [heads, late_finish - instance.durations]
    finishes = [heads + instance.durations, late_finish]
    ends = np.iinfo(np.int64)
    first = [np.where(around.allowed, each, ends.max).min(axis=1) for each in starts]
    last = [np.where(around.allowed, each, ends.min).max(axis=1) for each in finishes]
    return _some(np.unique(first)), _some(np.unique(last))


def _some(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all values, or `MAX_ENDS` of them."""
    if len(values) <= MAX_ENDS:
        return values
    return values[np.linspace(0, len(values) - 1, MAX_ENDS).astype(np.int64)]


@kernel
def _delay(
    heads: NDArray[np.int64],
    latest: NDArray[np.int64],
    durations: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    opens: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> int:
    """Return max(0, max over windows of (ceil(W / m) - (b - a)))."""
    n, m = durations.shape
    delay = 0
    for a in opens:
        for b in ends:
            if b <= a:
                continue
            work = 0
            for task in range(n):
                least = b - a
                for k in range(m):
                    if not allowed[task, k]:
                        continue
                    head, duration, late = heads[task, k], durations[task, k], latest[task, k] - durations[task, k]
                    least = min(least, max(min(head + duration, b) - max(head, a), 0))
                    if late > head:
                        least = min(least, max(min(late + duration, b) - max(late, a), 0))
                    if least == 0:
                        break
                work += least
            delay = max(delay, -(-work // m) - (b - a))
    return delay
