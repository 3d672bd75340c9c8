"""Branch and bound on the GPUs and the windows of tasks, with probing at every node: a search within one makespan."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.refuted_makespans import MAX_DELAYS, probing
from formulations.dag.interchangeable import interchangeable
from formulations.dag.left_shift import left_shift
from formulations.dag.probing.load_rows import new_loads, rows_of
from formulations.dag.probing.network import network
from formulations.dag.probing.refuter import (
    NO_GAIN,
    NO_LIMIT,
    PROBE_THOROUGHLY,
    SETTLE,
    assume,
    new_workspace,
    settle_or_probe,
    steps_in,
)
from formulations.dag.probing.tighten import State, new_state, remove_pair
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.probing.refuter import Workspace
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule

    Way = tuple[NDArray[np.int64], NDArray[np.int64]]  # (n,) each: GPUs, and numbers by which tasks are ordered
    Build = Callable[[list[Way]], DagSchedule | None]


MOST_WORK = 20_000_000_000
"""Elementary steps of the bound without a time limit; of the order of twenty seconds on one core."""

FIRST_WORK = 500_000_000
"""Elementary steps of one attempt at first, of the order of half a second on one core."""

PART_OF_GAP, PART_OF_BOUND = 4, 128
"""The first makespan that is attempted lies above the bound by a quarter of the gap; without a schedule by so small a
part of the bound."""

WORK_OF_NEXT = 4
"""An attempt is left undecided after so many times the work of the last refutation."""

LEAST_GAIN = 1e-3
"""The gain of a choice that changes nothing, in the mean by which a task is chosen."""


def branched_windows(
    instance: DagInstance, objective: Objective, *, seconds_left: Callable[[], float] = without_limit
) -> int:
    """Return the bound of a `WindowClimb` of `MOST_WORK` steps that begins with `probing`; 0 for other objectives.

    Where there are too many delays it is `probing` (docs/bounds.md, section 3.23; ours).
    """
    if Objective(objective) is not Objective.MAKESPAN:
        return 0
    bound = probing(instance, objective, seconds_left=seconds_left)
    if instance.num_tasks == 0 or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
        return bound
    climb = WindowClimb(instance, None, bound)
    climb.run(most_work=MOST_WORK, seconds_left=seconds_left)
    return climb.bound


class WindowClimb:
    """Attempts one makespan after the other between the bound and the best schedule, by a `WindowSearch` of each.

    A makespan far below the optimum is soon refuted, and one that is near it is not: the work grows exponentially.
    Above the optimum there are few schedules next to it, but wrong decisions are soon refuted too; far above it they
    are not. So the attempts go up from the bound, by steps with which the work about doubles. One that takes four times
    the work of the last refutation is left undecided for one half as far; next to the bound the search goes on with
    twice as many steps, and if the climb began with a schedule, in turn with those further up, because better ones are
    not found below the optimum. One that finds a schedule goes on below it, with the cases that are left.

    Parameters
    ----------
    schedule, bound
        Verified and proven before; without a schedule attempts go up to the horizon.
    build
        As of `WindowSearch`.

    Attributes
    ----------
    schedule, bound
        The best ones known.
    has_proved
        Whether these attempts proved the bound, and it was not known before.
    work
        Elementary steps so far.
    """

    def __init__(
        self, instance: DagInstance, schedule: DagSchedule | None, bound: int, build: Build | None = None
    ) -> None:
        self.schedule, self.bound, self.has_proved, self.work = schedule, bound, False, 0
        self._instance, self._latest, self._build = instance, horizon(instance), build
        self._improves = schedule is not None
        # Those that are undecided, by makespan, and the work of each before it was for this makespan.
        self._searches: dict[int, tuple[WindowSearch, int]] = {}
        self._refuted: list[tuple[int, int]] = []  # makespans, and the work that it took
        self._most_work = FIRST_WORK
        self._step = max(1, bound // PART_OF_BOUND if schedule is None else (self._top - bound) // PART_OF_GAP)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or to prove."""
        return self.bound >= self._top

    @property
    def _top(self) -> int:
        """Makespan of the best schedule; that of some schedule if there is any at all."""
        if self.schedule is None:
            return self._latest
        return objective_value(self._instance, self.schedule, Objective.MAKESPAN)

    def take(self, schedule: DagSchedule, bound: int) -> None:
        """Take over what was found and proved elsewhere."""
        if objective_value(self._instance, schedule, Objective.MAKESPAN) < self._top:
            self.schedule = schedule
        if bound > self.bound:
            self.bound, self.has_proved = bound, False

    def run(
        self,
        *,
        most_work: int,
        seconds_left: Callable[[], float] = without_limit,
        threads: int = 1,
        report: Callable[[int | None, int | None], None] = lambda makespan, bound: None,
    ) -> None:
        """Attempt makespans until nothing is left to find or to prove, or the steps or the time are over.

        Parameters
        ----------
        most_work, seconds_left, threads
            As in `WindowSearch.run`, of all attempts together.
        report
            Called with every better makespan, and with every better bound.
        """
        last = self.work + min(most_work, NO_LIMIT - self.work)
        # Invariant: every makespan below the bound is refuted, and `_top` is that of a schedule, if there is one.
        while not self.is_settled and self.work < last and seconds_left() > 0:
            attempt = min(self.bound - 1 + self._step, self._top - 1)
            if attempt not in self._searches:
                self._searches[attempt] = WindowSearch(self._instance, self._build), 0
            search, earlier = self._searches.pop(attempt)
            before, most = search.work, min(self._most_work + earlier - search.work, last - self.work)
            search.run(attempt, most_work=most, seconds_left=seconds_left, threads=threads)
            self.work += search.work - before
            work = search.work - earlier
            if search.makespan < self._top:
                self.schedule = search.schedule
                report(self._top, None)
            if search.is_refuted:
                self.bound, self.has_proved = attempt + 1, True
                report(None, self.bound)
                self._refuted.append((attempt, work))
                self._searches = {makespan: one for makespan, one in self._searches.items() if makespan > attempt}
                self._step *= 2 if work <= self._most_work // 2 else 1
                self._most_work = max(self._most_work, WORK_OF_NEXT * work)
            elif search.is_lost:
                break
            elif search.makespan <= attempt:
                self._searches[self._top - 1] = search, search.work
            else:
                self._searches[attempt] = search, earlier
                if work < self._most_work:
                    continue  # nothing is left of the steps or the time
                if attempt > self.bound:
                    self._step = (attempt - self.bound + 1) // 2
                else:
                    self._most_work *= 2
                    self._step = self._top - self.bound if self._improves else 1

    def forecast(self) -> float:
        """Return about how many elementary steps it takes to settle the last makespan below the best schedule."""
        if self.is_settled:
            return 0.0
        undecided = [(makespan, search.work - earlier) for makespan, (search, earlier) in self._searches.items()]
        return work_at(self._top - 1, self._refuted, undecided)


def work_at(makespan: int, refuted: list[tuple[int, int]], undecided: list[tuple[int, int]]) -> float:
    """Return about how much work it takes to refute a makespan.

    The work grows from tick to tick by a factor: that since the last refutation with a third of the work of the last
    one, or a larger one if an undecided makespan has taken so much work that it is not explained otherwise.

    Parameters
    ----------
    refuted
        Makespans that were refuted, in increasing order, and the work of each.
    undecided
        Larger ones that are not refuted yet, and the work so far. As much is expected to be ahead.

    Returns
    -------
    float
        Infinite if the makespan is more than three times as far from the first of those refuted as the last one.
    """
    if not refuted:
        return math.inf
    (first, _), (last, work) = refuted[0], refuted[-1]
    ahead = makespan - last
    if ahead > 2 * (last - first):
        return math.inf
    before, less = next((one for one in reversed(refuted) if 3 * one[1] <= work), refuted[0])
    growth = max(0.0, math.log(max(work, 1) / max(less, 1)) / max(1, last - before))
    for other, so_far in undecided:
        growth = max(growth, math.log(max(1, 2 * so_far) / max(work, 1)) / (other - last))
    return work * math.exp(min(growth * ahead, 100.0))


class Split(NamedTuple):
    """A GPU of a task (kind 0), or a start by the middle of its window (kind 1, choice 0) or later (choice 1)."""

    task: int
    kind: int
    choice: int
    middle: int


class _Node(NamedTuple):
    """What is known of schedules in a part of the search, and what was learnt at its parent.

    Nothing else tells a node from another one, so that it does not matter which thread works on it, and when.
    """

    state: State
    means: NDArray[np.float64]  # (n, 2), by how much choices gained, by task and kind: see `_mean_gains`
    rows: tuple[NDArray[Any], ...]  # rows of loads that are worth having: see `rows_of`


class WindowSearch:
    """Looks for a schedule within a makespan, or refutes the makespan; a search that can go on.

    A node holds windows and pairs of task and GPU as `probing` does. It is settled and probed thoroughly once. Tasks
    whose choices gained most at its parent come first, because they are the likeliest to refute it soon. What is not
    refuted then is split in two, by one choice and by its contrary: a task is on a GPU or not, or, once its GPU is
    known, starts in the early or in the late half of its window. The task is the one whose choices lower the room of
    all windows most (`_chosen`). The side with more room comes first. GPUs that can be swapped and have the same
    windows in a node count as one. (Docs/bounds.md, section 3.23; ours.)

    Parameters
    ----------
    instance
        At least one task, without buffers.
    build
        Makes a good schedule of GPUs and numbers by which tasks are ordered, shape (n,) each, or fails to. In every
        node it gets a few such pairs. By default it returns the best that `left_shift` makes.

    Attributes
    ----------
    schedule, makespan
        The best schedule found, even if it is not within the makespan that was looked for; its own. None and infinite
        before.
    is_refuted
        Whether there is no schedule within the last makespan.
    is_lost
        Whether a node was given up because the work on it was cut short: then nothing can be refuted any more.
    nodes, work
        Nodes and elementary steps of probing so far. Without a time limit both are the same on every machine, with one
        thread or once a makespan is refuted.
    """

    def __init__(self, instance: DagInstance, build: Build | None = None) -> None:
        self.schedule: DagSchedule | None = None
        self.makespan: float = math.inf
        self.is_refuted = self.is_lost = False
        self.nodes = self.work = 0
        self._instance, self._network = instance, network(instance)
        self._like = interchangeable(instance).gpus
        self._build = build or partial(_best_shifted, instance)
        self._open: list[_Node] | None = None
        self._makespan = 0  # that of the open nodes
        self._busy = 0
        self._news = threading.Condition()

    def run(
        self,
        makespan: int,
        *,
        most_work: int = NO_LIMIT,
        seconds_left: Callable[[], float] = without_limit,
        threads: int = 1,
    ) -> None:
        """Search until a schedule within the makespan is found, or none is left, or the work or the time is over.

        Parameters
        ----------
        makespan
            At most that of the run before, from which the search goes on, and less than that of the schedule found.
        most_work
            Elementary steps of this run, after which no node is begun.
        seconds_left
            Seconds that are left, asked at every node.
        threads
            Nodes that are worked on at the same time.
        """
        if self._open is None:
            around = far_heads_and_tails(self._instance, makespan_at_most=makespan, seconds_left=seconds_left)
            is_possible = bool(around.allowed.any(axis=1).all())
            state, rows = new_state(around.heads, around.tails, around.allowed), rows_of(new_loads(self._network))
            self._tails = state.tails.copy()
            self._open = [_Node(state, np.zeros((len(around.heads), 2)), rows)] if is_possible else []
        elif makespan < self._makespan:
            for node in self._open:
                self._lower(node.state, self._makespan - makespan)
        self._makespan = makespan
        last = self.work + min(most_work, NO_LIMIT - self.work)

        def ends() -> bool:
            return self.makespan <= makespan or self.work >= last or seconds_left() <= 0

        def search() -> None:
            self._search(makespan, ends, seconds_left)

        if threads == 1:
            search()
        else:
            with ThreadPoolExecutor(threads) as pool:
                for done in [pool.submit(search) for _ in range(threads)]:
                    done.result()
        self.is_refuted = not self._open and not self.is_lost and self.makespan > makespan

    def _lower(self, state: State, by: int) -> None:
        """Make what is known of the schedules of a node true of those within a makespan that is lower by some ticks.

        They are schedules of that node as before, so they keep to the moments that were known, and tails are what is
        left from there. The tails of a node may not stay as they are: those of a start by the middle of a window would
        then mean an earlier middle, and what lies between would be in neither half.
        """
        state.tails[:] = np.where(state.allowed, np.maximum(state.tails - by, self._tails), state.tails)
        state.heads_due[:] = state.tails_due[:] = True

    def _search(self, makespan: int, ends: Callable[[], bool], seconds_left: Callable[[], float]) -> None:
        """Work on the last open node while there is one, or while another thread may make some."""
        workspace, work = new_workspace(self._network), np.zeros(2, dtype=np.int64)
        while True:
            with self._news:
                while not self._open and self._busy and not ends():
                    self._news.wait()
                if not self._open or ends():
                    return
                node = self._open.pop()
                self._busy += 1
            before, sides = int(work[0]), [node]
            try:
                sides = self._sides(node, makespan, workspace, work, seconds_left)
            finally:
                with self._news:
                    self._open += sides
                    self._busy -= 1
                    self.nodes += 1
                    self.work += int(work[0]) - before
                    self._news.notify_all()

    def _sides(
        self,
        node: _Node,
        makespan: int,
        workspace: Workspace,
        work: NDArray[np.int64],
        seconds_left: Callable[[], float],
    ) -> list[_Node]:
        """Return what is left to search of a node, which is changed, the side that comes first at the end.

        Nothing is left where it is refuted, and the node itself where it leads to a schedule.
        """
        state = node.state
        workspace.turns[:] = np.argsort(-node.means.T.ravel(), kind="stable")
        for kept, current in zip(node.rows, rows_of(workspace.loads), strict=True):
            current[:] = kept
        for what in (SETTLE, PROBE_THOROUGHLY):
            work[1] = work[0] + steps_in(seconds_left())
            if settle_or_probe(what, self._network, state, makespan, workspace, work, NO_LIMIT)[0]:
                return []
        if (state.allowed.sum(axis=1) == 1).all():
            used = self._instance.task_memory @ state.allowed
            if ((self._instance.gpu_memory >= 0) & (used > self._instance.gpu_memory)).any():
                return []
        self._build_schedule(state, makespan, workspace.loads.placement)
        if self.makespan <= makespan:
            return [node]
        gains = np.array(workspace.gains)
        gains[:, 0, : state.allowed.shape[1]][~state.allowed] = NO_GAIN
        means, rows = _mean_gains(gains, node.means), tuple(array.copy() for array in rows_of(workspace.loads))
        chosen = self._chosen(state, makespan, gains, means)
        if chosen is None:  # windows of one tick each that are no schedule: tightening was cut short
            self.is_lost = True
            return []
        first = new_state(state.heads, state.tails, state.allowed)
        assume(self._network, first, makespan, *chosen)
        sides = [_Node(state, means, rows), _Node(first, means, rows)]
        if chosen.kind == 1:
            assume(self._network, state, makespan, *chosen._replace(choice=1 - chosen.choice))
            return sides
        for k in self._like_in(state, chosen.choice):
            remove_pair(self._network, state, chosen.task, k)
        return sides if state.allowed[chosen.task].any() else sides[1:]

    def _build_schedule(self, state: State, makespan: int, placement: NDArray[np.float64]) -> None:
        """Build a schedule in a node and keep it if it is better.

        Every task is on the GPU that the linear program of the loads prefers, or on the one with the most room, and the
        order is that of earliest starts, latest starts, or the middle between them.
        """
        tasks, lengths = np.arange(len(state.heads)), state.heads + self._network.durations + state.tails
        ways: list[Way] = []
        for preference in (placement, -lengths):
            gpu = np.where(state.allowed, preference, -np.inf).argmax(axis=1)
            earliest, length = state.heads[tasks, gpu], lengths[tasks, gpu]
            orders = earliest, earliest + makespan - length, 2 * earliest + makespan - length
            ways += [(gpu, order) for order in orders]
        schedule = self._build(ways)
        if schedule is None:
            return
        value = objective_value(self._instance, schedule, Objective.MAKESPAN)
        with self._news:
            if value < self.makespan and not verify_dag_schedule(self._instance, schedule):
                self.schedule, self.makespan = schedule, value

    def _chosen(
        self, state: State, makespan: int, gains: NDArray[np.float64], means: NDArray[np.float64]
    ) -> Split | None:
        """Return the choice to branch on, None if nothing is left to choose.

        Tasks with several GPUs are placed, others are moved. The task is the one with the largest geometric mean of
        gains, and the choice the one that gains least. What was not probed comes last, in order.
        """
        num_gpus = state.allowed.sum(axis=1)
        starts = np.where(state.allowed, makespan - state.tails - self._network.durations - state.heads, 0).max(axis=1)
        kind = np.where(num_gpus > 1, 0, 1)
        tasks = np.arange(len(kind))
        own, mean = gains[tasks, kind], means[tasks, kind]
        is_live = own > NO_GAIN
        can_split = (num_gpus > 1) | (starts > 0)
        if not can_split.any():
            return None
        last = -1e9  # below every mean: the first task that can be split, where no choice was probed
        task = int(np.where(can_split, np.where(is_live.sum(axis=1) > 1, mean, last), -np.inf).argmax())
        choices = np.flatnonzero(is_live[task])
        if not len(choices):
            choices = np.flatnonzero(state.allowed[task]) if kind[task] == 0 else np.array([0])
        middle = int(state.heads[task].min()) + int(starts[task]) // 2  # of the one GPU that is left, for kind 1
        return Split(task, int(kind[task]), int(choices[own[task, choices].argmin()]), middle)

    def _like_in(self, state: State, k: int) -> list[int]:
        """Return GPU k and those that it can be swapped with in a node: of its class, with the same windows."""
        like = next((gpus for gpus in self._like if k in gpus), (k,))
        columns = (state.heads, state.tails, state.allowed)
        return [l for l in like if all((column[:, l] == column[:, k]).all() for column in columns)]


def _mean_gains(gains: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the geometric means over the choices of every task and kind, shape (n, 2).

    Choices that gained nothing count as `LEAST_GAIN`, and those that are refuted do not count; where none is left, or
    none was tried, the mean is what it is otherwise.
    """
    is_live = gains > NO_GAIN
    num_live = is_live.sum(axis=2)
    sums = np.log(np.maximum(gains, LEAST_GAIN)).sum(axis=2, where=is_live)
    return np.where(num_live > 0, sums / np.maximum(num_live, 1), otherwise)


def _best_shifted(instance: DagInstance, ways: list[Way]) -> DagSchedule | None:
    """Return the best schedule within memory that `left_shift` makes of GPUs and orders, None where there is none."""
    made = sorted(
        (left_shift(instance, gpu, order) for gpu, order in ways),
        key=lambda schedule: objective_value(instance, schedule, Objective.MAKESPAN),
    )
    return next((schedule for schedule in made if not verify_dag_schedule(instance, schedule)), None)
