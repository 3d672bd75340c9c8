"""Large neighbourhood search for instances beyond exact methods: annealed chains, and windows repaired by CP-SAT."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from formulations.dag.bounds.placed_paths import solved_placed_paths
from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.left_shift import left_shift
from formulations.dag.subproblem import subproblem
from heuristics.dag.reinsertion.search import ReinsertionSearch
from heuristics.search.clock import Stopwatch
from instances.dag.objective import Objective, best_schedule, needs_buffers
from solvers.backends.cp_sat_buffers import BufferChain, first_schedule
from solvers.backends.lns_starts import (
    FEW_TASKS,
    Incumbent,
    diagram_start,
    improve_start,
    is_guided,
    packed_schedule,
    placed_start,
    segment_start,
    waste,
    waste_of_shares,
)
from solvers.run.exact_run import cp_sat_solver
from solvers.run.outcome import Outcome, Termination

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


class Budget:
    """Iterations, seconds, or whichever of the two is used up first. At least 1 iteration; None for no limit."""

    def __init__(self, run: ExactRun, iterations: int | None = None) -> None:
        self._run, self._iterations = run, iterations
        self._begun = run.watch.seconds

    def share(self, iteration: int) -> float:
        """Return the used share before an iteration, from 0 on; 1 or more where the budget is used up."""
        shares = [0.0]
        if self._iterations is not None:
            shares.append(iteration / self._iterations)
        if self._run.time_limit is not None:
            span = self._run.time_limit - self._begun
            shares.append((self._run.watch.seconds - self._begun) / span if span > 0 else 1.0)
        return max(shares)

    def must_stop(self) -> bool:
        """Whether the time is over or the run was interrupted."""
        return self._run.must_stop()


EFFORT = 0.2
"""Deterministic time of CP-SAT per repair; about half a second."""


class Repair(Enum):
    """How a repair ended."""

    BETTER = "better"
    """A better schedule was found."""
    NONE = "none"
    """There is none in this neighbourhood."""
    GAVE_UP = "gave up"
    """The effort was over before an answer."""


def repair_window(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule,
    value: int,
    first: int,
    last: int,
    most_gpus: int | None,
    run: ExactRun,
    seed: int,
) -> tuple[Repair, DagSchedule | None, float]:
    """Look for a better schedule that differs in one stretch only.

    Parameters
    ----------
    first, last, most_gpus
        The stretch and to how many GPUs its tasks may go, as in `subproblem`.
    run
        Provides the time limit and the stop signal.

    Returns
    -------
    tuple
        How it ended, the better schedule if there is one, and the seconds spent in CP-SAT.
    """
    from ortools.sat.python import cp_model

    from solvers.backends.cp_sat import solve_in_thread

    cut = subproblem(
        instance,
        schedule,
        objective,
        first=first,
        last=last,
        at_most=value - 1,
        lower_bound=run.lower_bound,
        most_gpus=most_gpus,
    )
    if cut.within.is_empty:
        return Repair.NONE, None, 0.0
    model = CpSatModel(
        cut.instance, objective, cut.within, symmetry=False, completion_tails=cut.completion_tails, is_proof=False
    )
    model.hint(cut.schedule)
    solver = cp_sat_solver(1, seed, max(run.seconds_left(), 0.01))
    parameters = solver.parameters
    parameters.max_deterministic_time = EFFORT
    parameters.cp_model_probing_level = 0  # costs more than it wins on small models
    parameters.symmetry_level = 0  # windows have none; OR-Tools 9.15 fails in looking for it (IndexError, raw_hash_map)
    try:
        status = solve_in_thread(solver, model.proto_model, run, reports=False)
    except IndexError:  # see above; an exception from presolve is no answer, and others may come up
        return Repair.GAVE_UP, None, 0.0
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"lns: expected a valid model, got: {model.proto_model.validate()}")
    if status == cp_model.INFEASIBLE:
        return Repair.NONE, None, solver.wall_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Repair.GAVE_UP, None, solver.wall_time
    return Repair.BETTER, cut.inserted(model.schedule(solver.value)), solver.wall_time


FIRST, SMALLEST, LARGEST = FEW_TASKS, 12, 150
"""Tasks in a window: in the first one, and in any later one."""


@dataclass(slots=True, kw_only=True)
class _Kind:
    """A kind of window: to how many other GPUs each task may go, None for all; its size as it is learned."""

    most_gpus: int | None
    size: float
    starts: list[int] = field(default_factory=list)
    """First positions that are still to come in this round."""


class WindowChoice:
    """Slides windows over a schedule in random order, of sizes that CP-SAT can just decide.

    Two kinds in turn: short ones in which tasks may go to all GPUs, and longer ones in which each may go to the three
    most promising ones only. On many GPUs the second kind wins more for its time (measured by us: 14 against 9 ticks
    of 6,127 in 6 s).
    """

    def __init__(self, instance: DagInstance, rng: np.random.Generator) -> None:
        self._num_tasks, self._rng = instance.num_tasks, rng
        self._kinds = [_Kind(most_gpus=None, size=FIRST)]
        if instance.num_gpus > 4:
            self._kinds.append(_Kind(most_gpus=3, size=1.5 * FIRST))
        self._turn = 0

    @property
    def covers_everything(self) -> bool:
        """Whether the next window is the whole schedule on all GPUs."""
        kind = self._kinds[self._turn]
        return kind.most_gpus is None and round(kind.size) >= self._num_tasks

    def next(self) -> tuple[int, int, int | None]:
        """Return first position, the one after the last, and to how many other GPUs tasks may go, None for all."""
        kind = self._kinds[self._turn]
        size = min(round(kind.size), self._num_tasks)
        if not kind.starts:
            step = max(size // 2, 1)
            starts = np.arange(int(self._rng.integers(step)) - step, self._num_tasks, step)
            kind.starts = self._rng.permutation(np.unique(starts.clip(0, self._num_tasks - size))).tolist()
        first = min(kind.starts.pop(), self._num_tasks - size)
        return first, first + size, kind.most_gpus

    def learn(self, ended: Repair) -> None:
        """Let the window that was tried last shrink or grow, and take the other kind next."""
        kind = self._kinds[self._turn]
        kind.size = min(max(kind.size * (0.85 if ended is Repair.GAVE_UP else 1.08), SMALLEST), LARGEST)
        self._turn = (self._turn + 1) % len(self._kinds)


MOVES = 2_000
"""Moves of the reinsertion search per iteration."""

HOTTEST, COLDEST = 0.01, 0.0001
"""Temperature at the beginning and at the end, share of the objective."""

GUIDED_HOTTEST, MOST_PAIRS_FOR_HOT = 0.05, 1_000
"""Temperature at the beginning where shares guide the search, up to so many pairs of task and GPU.

Searches there often end where they begin. On 8 instances of 39 to 81 tasks, three seeds in 4 seconds each, schedules
are 1.5 % shorter with it, and 9 % at most; on PipeDream's inception_v3 they are longer after 30 seconds.
"""

REPAIRS_FROM = 0.5
"""Share of the budget after which windows are repaired: before, annealing would undo what they win."""

GUIDED_REPAIRS_FROM = 0.8
"""The same where shares guide the search: annealing then wins for longer (measured on graphs of 177 to 921 tasks)."""

TRIAL_SHARE = 0.1
"""Least share of the time of moves that windows get where moves win more per second; measured as it happens, under a
time limit only, so that a run without one can be repeated."""


@dataclass(slots=True)
class StepTally:
    """Seconds that steps of a kind took, and by how much they made the incumbent better."""

    seconds: float = 0.0
    won: int = 0


def windows_pay(windows: StepTally, moves: StepTally) -> bool:
    """Say whether windows won as much per second as moves, or have not had their trial share yet."""
    is_behind = windows.won * moves.seconds < moves.won * windows.seconds
    return not is_behind or windows.seconds < TRIAL_SHARE * moves.seconds


class Chain:
    """One annealing chain and one choice of windows, both at work on the common incumbent.

    Parameters
    ----------
    incumbent
        It receives every better schedule.
    start
        The schedule to begin with.
    waste
        Ticks that each GPU wastes on each task, shape (n, m).
    other_waste
        Takes its place in every second portion of moves; None for none.
    member
        Number of the thread; each has random numbers of its own. Number 0 of one anneals and repairs in turn; number 0
        of several only anneals, and in the second half odd ones only repair.
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        incumbent: Incumbent,
        start: DagSchedule,
        waste: NDArray[np.float64],
        other_waste: NDArray[np.float64] | None,
        run: ExactRun,
        iterations: int | None,
        member: int,
    ) -> None:
        self._instance, self._objective = instance, objective
        self._incumbent, self._run, self._budget = incumbent, run, Budget(run, iterations)
        self._rng = np.random.default_rng([run.seed, member])
        self._search = ReinsertionSearch(instance, objective, start, waste, self._rng)
        self._other_waste, self._anneals = other_waste, 0
        self._repairs_from = REPAIRS_FROM if other_waste is None else GUIDED_REPAIRS_FROM
        is_hot = other_waste is not None and instance.num_tasks * instance.num_gpus <= MOST_PAIRS_FOR_HOT
        self._hottest = GUIDED_HOTTEST if is_hot else HOTTEST
        self._windows = WindowChoice(instance, self._rng)
        self._repairs_too = run.threads == 1
        self._only_repairs_later = member % 2 == 1
        self._of_windows, self._of_moves = StepTally(), (StepTally(), StepTally())  # moves: early, late
        self.seconds = 0.0
        """Spent in CP-SAT so far."""

    def work(self) -> None:
        """Go on until the budget is used up, the run is stopped, or there is nothing left to do."""
        for iteration in count():
            share = self._budget.share(iteration)
            if share >= 1.0 or self._must_stop():
                return
            is_late = share >= self._repairs_from
            if (is_late and self._repairs_now()) or self._windows.covers_everything:
                self._tallied(self._of_windows, self._repair)
            if not (is_late and self._only_repairs_later) and not self._must_stop():
                self._tallied(self._of_moves[is_late], partial(self._anneal, share, is_late))

    def _repairs_now(self) -> bool:
        """Whether a window comes before the next moves in the late part."""
        if self._only_repairs_later or (self._repairs_too and self._run.time_limit is None):
            return True
        return self._repairs_too and windows_pay(self._of_windows, self._of_moves[True])

    def _tallied(self, tally: StepTally, step: Callable[[], None]) -> None:
        """Take a step and count its seconds and what it won."""
        watch, before = Stopwatch(), self._incumbent.value
        step()
        tally.seconds += watch.seconds
        tally.won += before - self._incumbent.value

    def _must_stop(self) -> bool:
        """Whether to stop at once."""
        return self._incumbent.is_closed or self._budget.must_stop()

    def _anneal(self, share: float, is_late: bool) -> None:
        """Make moves, from the incumbent where that one is ahead."""
        schedule, value = self._incumbent.best()
        weight = 1
        if Objective(self._objective) is Objective.WEIGHTED_COMPLETION:
            weight = max(int(self._instance.weight.sum()), 1)
        temperature = self._hottest * (COLDEST / self._hottest) ** share * value / weight
        lead = self._search.best_value - value
        if lead > 0 and (is_late or lead > 3.0 * temperature * weight):
            self._search.adopt(schedule)
        self._anneals += 1
        waste = self._other_waste if self._anneals % 2 == 0 else None
        self._search.run(MOVES, temperature, self._run.lower_bound, self._must_stop, waste=waste)
        if self._search.best_value < value:
            self._incumbent.offer(self._search.best)

    def _repair(self) -> None:
        """Let CP-SAT decide one window."""
        schedule, value = self._incumbent.best()
        is_everything = self._windows.covers_everything
        first, last, most_gpus = self._windows.next()
        seed = int(self._rng.integers(2**31))
        ended, better, seconds = repair_window(
            self._instance, self._objective, schedule, value, first, last, most_gpus, self._run, seed
        )
        self.seconds += seconds
        self._windows.learn(ended)
        if better is not None:
            self._incumbent.offer(better)
        elif ended is Repair.NONE and is_everything:
            self._incumbent.close()


class TeamMember(Protocol):
    """What works on the common incumbent in one thread."""

    seconds: float  # spent in CP-SAT so far

    def work(self) -> None:
        """Go on until the budget is used up, the run is stopped, or there is nothing left to do."""
        ...


def work_together(make_chain: Callable[[ExactRun, int], TeamMember], run: ExactRun) -> float:
    """Let one chain per thread work; return the seconds that they spent in CP-SAT.

    The first chain works in the calling thread, which receives Ctrl-C. All chains stop when the first one does, and it
    stops when another one fails; the failure is raised here. The chain that `make_chain` makes for a member of the team
    must obey the given run.
    """
    is_over, errors = threading.Event(), list[BaseException]()
    heeded = replace(run, should_stop=lambda: is_over.is_set() or run.should_stop())
    chains = [make_chain(heeded, member) for member in range(run.threads)]

    def work(chain: TeamMember) -> None:
        try:
            chain.work()
        except BaseException as error:
            errors.append(error)
            is_over.set()

    others = [threading.Thread(target=work, args=(chain,), daemon=True) for chain in chains[1:]]
    for thread in others:
        thread.start()
    try:
        chains[0].work()
    finally:
        is_over.set()
        for thread in others:
            thread.join()
    if errors:
        raise errors[0]
    return sum(chain.seconds for chain in chains)


DEFAULT_ITERATIONS = 40
"""Iterations of a run that was given neither these nor a time limit."""


SHARE_OF_PROGRAM = 0.2
"""Largest share of the time that is left for the linear program of `placed_paths`."""

SHARE_OF_DIAGRAM = 0.1
"""Largest share of the time that is left for a placement from a relaxed diagram."""


def lns(instance: DagInstance, objective: Objective, run: ExactRun, *, iterations: int | None = None) -> Outcome:
    """Improve a schedule by large neighbourhoods; prove nothing.

    1. *Start*: the best of the given schedule and some hundred list schedules (`improve_start`). Where no list
       schedule keeps the memory limits, CP-SAT looks for a placement that does (`packed_schedule`).
    2. *Reinsertion* (`ReinsertionSearch`): simulated annealing whose moves take 1 to 60 tasks out around a critical one
       and put each back where the longest way through it is shortest, with prices on wasting the GPUs' time and on
       exceeding their memory, which plans may do on the way. Where memory binds and tasks are many, the price is on
       leaving the GPUs on which the linear program of `placed_paths` puts a task, every second portion of moves has no
       price, and the search begins at a list schedule that counts the price as time.
    3. *Windows* (`repair_window`): in the second half CP-SAT also decides whether a stretch of the incumbent can be
       rearranged for a better schedule, everything else being fixed.

    With buffers, groups or the stage span `BufferChain` takes the place of 1 to 3: it begins with the best list, draws
    orders and placements around the best schedule, and lets CP-SAT decide the orders of stretches.

    With two threads or more, the others anneal too in the first half and repair windows in the second. No bound is
    proved.

    Parameters
    ----------
    run
        Limits and start. With one thread and no time limit the run can be repeated bit for bit.
    iterations
        Budget, at least 1: each is 2,000 moves, and a window in the second half. None: until the time limit, and where
        there is none either, `DEFAULT_ITERATIONS`.

    Raises
    ------
    ValueError
        If the number of iterations is out of range.

    References
    ----------
    Large neighbourhood search: Shaw (1998); ruin and recreate: Schrimpf et al. (2000); each part names its own. The
    method as a whole is ours.
    """
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations: expected at least 1, got {iterations}.")
    return improved_by_neighbourhoods(instance, objective, run, iterations)


def improved_by_neighbourhoods(
    instance: DagInstance,
    objective: Objective,
    run: ExactRun,
    iterations: int | None = None,
    share: NDArray[np.float64] | None = None,
) -> Outcome:
    """Do what `lns` says; `share` is that of `PlacedPaths` where it is known."""
    if iterations is None and run.time_limit is None:
        iterations = DEFAULT_ITERATIONS
    schedule, seconds, has_buffers = run.start, 0.0, needs_buffers(instance, objective)
    if schedule is None:
        if has_buffers:
            schedule = first_schedule(instance, objective, run)
        else:
            schedule = packed_schedule(instance, waste(instance), run)
    if schedule is None:
        termination = Termination.FINISHED if run.seconds_left() > 0 else Termination.TIME_LIMIT
        termination = Termination.INTERRUPTED if run.should_stop() else termination
        return Outcome(schedule=None, lower_bound=None, termination=termination)
    if not has_buffers:
        schedule = left_shift(instance, schedule.gpu, schedule.start)
    incumbent = Incumbent(instance, objective, schedule, run)
    if has_buffers and not incumbent.is_closed:
        seconds = work_together(
            lambda heeded, member: BufferChain(instance, objective, incumbent, heeded, iterations, member), run
        )
    elif not incumbent.is_closed:
        prices, other_prices, start = waste(instance), None, None
        if instance.num_tasks > FEW_TASKS:  # else the first window is everything
            improve_start(instance, objective, incumbent, prices, Budget(run).must_stop)
        if is_guided(instance, objective):
            if share is None:
                seconds_left = run.seconds_of_share(SHARE_OF_PROGRAM)
                share = solved_placed_paths(instance, objective, seconds_left=seconds_left).share
            if share is not None:
                prices, other_prices = waste_of_shares(instance, share), np.where(instance.allowed, 0.0, np.inf)
                left = run.seconds_of_share(SHARE_OF_DIAGRAM)
                starts = (
                    placed_start(instance, objective, prices),
                    segment_start(instance, objective),
                    diagram_start(instance, incumbent.best()[0], left)[1],
                )
                start = best_schedule(instance, objective, starts)
        if start is None:
            start = incumbent.best()[0]
        incumbent.offer(start)

        def chain(heeded: ExactRun, member: int) -> Chain:
            return Chain(instance, objective, incumbent, start, prices, other_prices, heeded, iterations, member)

        seconds = work_together(chain, run)
    if incumbent.is_closed:
        termination = Termination.FINISHED
    elif run.should_stop():
        termination = Termination.INTERRUPTED
    else:
        termination = Termination.TIME_LIMIT if run.seconds_left() <= 0 else Termination.EVALUATIONS
    return Outcome(schedule=incumbent.schedule, lower_bound=None, termination=termination, backend_seconds=seconds)
