"""Running the CP-SAT model: phases, interrupts, incumbents and bounds as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.bounds.branched_classes import ClassClimb
from formulations.dag.bounds.branched_paths import MOST_PROGRAMS, PlacementSearch
from formulations.dag.bounds.placed_paths import solved_placed_paths
from formulations.dag.bounds.refuted_makespans import probing
from formulations.dag.bounds.relaxed_diagram import is_narrow
from formulations.dag.cp_sat.constraints import GaveUpError
from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.probing.windows import MAX_PAIRS_FOR_PROBING, windows
from heuristics.dag.list_scheduling import place_by_list, within_memory
from heuristics.dag.reinsertion.search import ReinsertionSearch
from instances.dag.contention import Contention
from instances.dag.objective import Objective, needs_buffers, objective_value
from solvers.backends.down_sets import is_near, searched_down_sets
from solvers.backends.lns_starts import FEW_TASKS, diagram_start, is_guided, waste_of_shares
from solvers.backends.memory_refutation import EFFORT, MemoryRefutation, is_memory_binding
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import cp_sat_solver, in_second_thread
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


MANY_THREADS = 8
"""From here on CP-SAT's own portfolio searches and proves at the same time, and one phase is enough."""

LARGE_MODEL = 5_000
"""From this many literals on nothing is probed: probing takes many times what the time limit leaves, heedless of it."""

IMPROVING_SUBSOLVER = "no_lp"
"""Searches beside the neighbourhoods when a good schedule is wanted (measured: better than with the default search)."""

PROVING_SUBSOLVERS = (
    "objective_lb_search",
    "no_lp",
    "reduced_costs",
    "objective_lb_search_no_lp",
    "lb_tree_search",
    "quick_restart",
    "default_lp",
)
"""Subsolvers in the order in which few threads take them, one each. The first two prove different things.

Measured with 5 seconds of one core each on 15 instances of 30 to 90 tasks whose makespan was to be refuted: the first
proves where loads bind (within a second on several that `no_lp` does not move at all), the second where orders bind.
"""

FIRST_PROVING_SUBSOLVERS = ("default_lp", *PROVING_SUBSOLVERS[:2])
"""Subsolvers of the first proof, which take turns where threads are fewer (`interleave_search`).

Of 12 instances of 32 to 90 tasks within 2.5 % of their bounds, memory limits binding, the first proves 8 in 13 seconds
of one core or less, given a schedule of `lns`, and the others 4 and 2. Which of them is quick differs by instance.
"""

SHARE_OF_FIRST_PROOF, SHARE_UNDER_MEMORY, EFFORT_OF_FIRST_PROOF = 0.15, 0.35, 4.0
"""Share of the time that is left for the first proof, in general and where memory binds, and limit of its effort.

Where memory does not bind, the search over down-sets that follows proves more with that time.
"""

SHARE_WHEN_NEAR, EFFORT_WHEN_NEAR = 0.7, 12.0
"""The same where memory binds and the bound is near the schedule (`is_near`): other bounds seldom gain much then, and
the first subsolvers, one for each thread, prove more than all of them in turn."""

RAISES_AFTER, SHARE_OF_RAISING = 1, 0.5
"""Number of the phase after which bounds are raised without the model, and the largest share of the time that is left
for branching on placements or refuting makespans where memory binds."""

SHARE_WHEN_FAR = 0.8
"""The same for branching where the bound is still far from the schedule after the first proof: CP-SAT can hardly prove
that, and branching goes on."""


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """What one phase found: schedule, bound, whether it is infeasible, seconds and deterministic time in the solver.

    `is_too_heavy` says that the model was too large for its share of the time: see `TOO_HEAVY`.
    """

    schedule: DagSchedule | None
    lower_bound: int | None
    is_infeasible: bool
    is_finished: bool
    seconds: float
    effort: float
    is_too_heavy: bool = False


def cp_sat(
    instance: DagInstance, objective: Objective, run: ExactRun, *, contention: Contention = Contention.NONE
) -> Outcome:
    """Solve an instance with CP-SAT.

    With fewer than 8 threads a run has four phases, and each narrows the windows of the next. A short one with
    neighbourhoods and a complete hint finds a schedule, which reinsertion and large neighbourhoods (`lns`) make better.
    A first proof follows, then a search over down-sets (`searched_down_sets`), and two longer proofs with large
    neighbourhoods between them. Where memory binds, large neighbourhoods have a start of their own, and before
    down-sets makespans are refuted (`MemoryRefutation`), or placements are branched on where that soon proves more
    (`_Branching`). Under a time limit, a model that turns out to be too heavy, or on a large instance to find far worse
    schedules than large neighbourhoods, leaves the time to these and to bounds (`_without_model`). With 8 threads or
    more one phase does everything. Buffers, groups and the stage span have a model of their own (`BufferSearch`).

    Parameters
    ----------
    run
        Limits and start. With one thread and no time limit the run can be repeated bit for bit.

    Raises
    ------
    ContradictionError
        If the solver claims that no schedule exists although one is verified.
    RuntimeError
        If the solver refuses the model.
    """
    if needs_buffers(instance, objective):
        from solvers.backends.cp_sat_buffers import BufferSearch

        return BufferSearch(instance, objective, run).solve()
    schedule, bound, seconds, asked = run.start, run.lower_bound, 0.0, None
    effort_left = math.inf if run.deterministic_limit is None else run.deterministic_limit
    is_free = Contention(contention) is Contention.NONE
    is_small = _is_small(instance)
    share: NDArray[np.float64] | None = None
    branching: _Branching | None = None
    refutes = Objective(objective) is Objective.MAKESPAN and is_free and is_memory_binding(instance)
    if is_free and is_guided(instance, objective):
        placed = solved_placed_paths(instance, objective, seconds_left=run.seconds_of_share(SHARE_OF_PATHS))
        bound, share = max(bound, placed.bound), placed.share
        run.report(None, bound)
    if refutes and is_narrow(instance):
        proven, placed_by_diagram = diagram_start(instance, schedule, run.seconds_of_share(SHARE_OF_DIAGRAM))
        bound, schedule = max(bound, proven), _better(instance, objective, schedule, placed_by_diagram)
        run.report(_value(instance, objective, schedule), bound)
    for number, phase in enumerate(_phases(run.threads, is_guided=share is not None)):
        probe, probing_left = number > 0 and not run.should_stop(), run.seconds_of_share(SHARE_OF_PROBING)
        if probe and number == 1 and share is None:
            bound = max(bound, probing(instance, objective, contention, seconds_left=probing_left))
            run.report(None, bound)
        at_most = _value(instance, objective, schedule)
        if at_most is not None and at_most <= bound:
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
        within = windows(
            instance,
            objective,
            lower_bound=bound,
            objective_at_most=at_most,
            contention=contention,
            probe=probe,
            seconds_left=probing_left,
        )
        if within.is_empty:
            _refuse_infeasible(instance, schedule, bound)
            return Outcome(schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=seconds, solver=asked)
        if run.should_stop():
            return Outcome(
                schedule=schedule,
                lower_bound=bound,
                termination=Termination.INTERRUPTED,
                backend_seconds=seconds,
                solver=asked,
            )
        if number == 1 and share is not None and is_near(at_most, bound):
            subsolvers = FIRST_PROVING_SUBSOLVERS[: run.threads]
            phase = replace(phase, subsolvers=subsolvers, share=SHARE_WHEN_NEAR, effort=EFFORT_WHEN_NEAR)
        if run.seconds_left() <= (LEAST_SHARE * run.watch.seconds if number else 0.0) or effort_left <= 0:
            break
        try:
            answer = _solve_phase(instance, objective, within, schedule, run, contention, phase, effort_left)
        except GaveUpError:
            break
        seconds += answer.seconds
        effort_left -= answer.effort
        asked = f"ortools {version_of('ortools')}"
        if answer.is_infeasible:
            _refuse_infeasible(instance, schedule, bound)
            return Outcome(schedule=None, lower_bound=None, is_infeasible=True, backend_seconds=seconds, solver=asked)
        schedule = _better(instance, objective, schedule, answer.schedule)
        bound = max(bound, answer.lower_bound or 0)
        if answer.is_finished:
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
        hands_over = answer.is_too_heavy and is_free
        if phase.improves and is_free and not hands_over:
            old = schedule
            schedule = _improved(instance, objective, old, bound, run, number, share)
            if share is not None and number == 0 and run.time_limit is not None and not is_small:
                hands_over = _is_far_better(instance, objective, schedule, old)
        if hands_over:
            found = _without_model(instance, objective, schedule, bound, run, share)
            return replace(found, backend_seconds=seconds + found.backend_seconds)
        if number == 0 and share is not None and phase.improves:
            probed = probing(instance, objective, seconds_left=run.seconds_of_share(SHARE_OF_PROBING))
            bound = max(bound, probed)
            trial = SHARE_OF_NEAR_TRIAL if is_near(_value(instance, objective, schedule), bound) else SHARE_OF_TRIAL
            bound, branching, _ = _tried(instance, schedule, bound, run, trial)
        if number != RAISES_AFTER:
            continue
        if branching is not None:
            near = is_near(_value(instance, objective, schedule), bound)
            schedule, bound = branching.go_on(schedule, SHARE_OF_RAISING if near else SHARE_WHEN_FAR)
            if schedule is not None:
                better = improved_by_reinsertion(
                    instance, objective, schedule, bound, run, SHARE_AFTER_BRANCHING, share
                )
                schedule = _better(instance, objective, schedule, better)
        elif refutes:
            refutation = MemoryRefutation(instance, schedule, bound, run)
            refutation.climb(min(EFFORT, effort_left), SHARE_OF_RAISING)
            schedule, bound = refutation.schedule, refutation.bound
            effort_left -= refutation.effort
        if is_small and is_free:
            rounds = searched_down_sets(instance, objective, schedule, bound, run)
            schedule, bound = rounds.schedule, rounds.bound
            if rounds.has_proved and rounds.is_settled:  # no word of CP-SAT: it can be asked to confirm
                return rounds.outcome(backend_seconds=seconds)
    termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    return Outcome(schedule=schedule, lower_bound=bound, termination=termination, backend_seconds=seconds, solver=asked)


@dataclass(frozen=True, slots=True)
class _Branching:
    """A `PlacementSearch` within the limits of a run, for the makespan."""

    instance: DagInstance
    search: PlacementSearch
    run: ExactRun

    @classmethod
    def that_proves_more(
        cls, instance: DagInstance, schedule: DagSchedule | None, bound: int, run: ExactRun, share_of_time: float
    ) -> _Branching | None:
        """Return a search that proved more than a bound in a share of the time that is left; None where it did not."""
        made, left = cls(instance, PlacementSearch(instance), run), run.seconds_of_share(share_of_time)
        made._search(schedule, lambda: 0.0 if made.search.bound > bound else left(), part=10)
        return made if made.search.bound > bound else None

    def go_on(self, schedule: DagSchedule | None, share_of_time: float) -> tuple[DagSchedule | None, int]:
        """Search for a share of the time that is left; return the best schedule and the bound.

        Placements that have come up become list schedules.
        """
        self._search(schedule, self.run.seconds_of_share(share_of_time))
        for gpu in self.search.placements:
            placed = within_memory(self.instance, partial(place_by_list, pinned=gpu))
            schedule = _better(self.instance, Objective.MAKESPAN, schedule, placed)
        self.run.report(None, self.search.bound)
        return schedule, self.search.bound

    def _search(self, schedule: DagSchedule | None, seconds_left: Callable[[], float], part: int = 1) -> None:
        """Go on while there is time, and for a part of the programs that a whole search may solve."""
        most = MOST_PROGRAMS if self.run.time_limit is None else MOST_PROGRAMS_IN_TIME
        self.search.run(
            at_most=_value(self.instance, Objective.MAKESPAN, schedule),
            most_programs=most // part,
            seconds_left=seconds_left,
        )


def _tried(
    instance: DagInstance, schedule: DagSchedule | None, bound: int, run: ExactRun, share_of_time: float
) -> tuple[int, _Branching | None, ClassClimb | None]:
    """Return a bound and what proved it, if it is new: branching on placements or a climb over deadlines.

    Each is tried for at most a share of the time that is left.

    The climb is tried where memory binds and branching did not prove more: on networks, which are close to a chain,
    branching proves more in the end, and a share of the time for both costs more than the better one gains.
    """
    branching = _Branching.that_proves_more(instance, schedule, bound, run, share_of_time)
    if branching is not None:
        run.report(None, branching.search.bound)
        return branching.search.bound, branching, None
    climb = ClassClimb(instance, bound)
    if is_memory_binding(instance):
        _climbed(climb, schedule, run, share_of_time)
    return climb.bound, None, climb if climb.bound > bound else None


def _climbed(climb: ClassClimb, schedule: DagSchedule | None, run: ExactRun, share_of_time: float) -> int:
    """Return the bound after a climb over deadlines has gone on for a share of the time left."""
    climb.run(
        at_most=_value(climb.instance, Objective.MAKESPAN, schedule),
        most_programs=FEW_PROGRAMS if run.time_limit is None else math.inf,
        seconds_left=run.seconds_of_share(share_of_time),
    )
    run.report(None, climb.bound)
    return climb.bound


FEW_PROGRAMS = 50
"""Linear programs that are solved for classes of GPUs without a time limit."""

MOST_PROGRAMS_IN_TIME = 10_000
"""Linear programs that branching may solve under a time limit: its end and its memory do not depend on a long one."""

SHARE_OF_TRIAL, SHARE_OF_NEAR_TRIAL = 0.2, 0.05
"""Largest share of the time that is left in which branching on placements, and then a climb over classes of GPUs, must
prove more than all else to go on; the second one where the bound is near the schedule (`is_near`) before a first proof.
"""

SHARE_OF_BRANCHING = 0.3
"""Share of the time that is left, after probing, for branching on placements where the model is heavy."""

SHARE_AFTER_BRANCHING = 0.5
"""Largest share of the time that is left for reinsertion after branching, where the bound is seldom to be raised."""

SHARE_OF_PROBING = 0.1
"""Largest share of the time that is left for probing, before a phase."""

SHARE_OF_REINSERTION = 0.1
"""Largest share of the time that is left for reinsertion, and for large neighbourhoods before bounds are raised, except
for the first ones where memory binds."""

SHARE_OF_NEIGHBOURHOODS = 0.2
"""Largest share of the time that is left for each other run of large neighbourhoods."""

FEWER_ITERATIONS = 4
"""Without a time limit large neighbourhoods have so many times fewer iterations than tasks, because each then repairs
a window."""


def _improved(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule | None,
    bound: int,
    run: ExactRun,
    number: int,
    share: NDArray[np.float64] | None,
) -> DagSchedule | None:
    """Return the best of a schedule and what reinsertion and large neighbourhoods (`lns`) make of it.

    Where there is no schedule yet, large neighbourhoods may find one.

    Where memory binds, a search that begins with CP-SAT's schedule keeps to its placement, which is often a bad one:
    large neighbourhoods have a start of their own after each of the first two phases then. Elsewhere they follow
    reinsertion after the first phase, and come again after the third. On 17 instances of 39 to 100 tasks that stayed
    open, `lns` alone had better schedules after 12 seconds than CP-SAT and reinsertion after 60 on all but two. Up to
    `FEW_TASKS` tasks they begin only under a time limit, because CP-SAT soon proves most of these.

    Parameters
    ----------
    number
        Of the phase; each has random numbers of its own.
    share
        That of `PlacedPaths`; None where memory does not bind.
    """
    from solvers.backends.lns import improved_by_neighbourhoods

    if share is None and number == 0 and schedule is not None:
        schedule = improved_by_reinsertion(instance, objective, schedule, bound, run, SHARE_OF_REINSERTION)
    if instance.num_tasks <= FEW_TASKS and run.time_limit is None:
        return schedule
    begins_anew = share is not None and number <= RAISES_AFTER
    is_short = number == (0 if share is None else RAISES_AFTER)
    limited = replace(
        run.limited_to(SHARE_OF_REINSERTION if is_short else SHARE_OF_NEIGHBOURHOODS),
        start=None if begins_anew else schedule,
        lower_bound=bound,
        seed=run.seed + number,
    )
    most = instance.num_tasks if run.time_limit is not None else max(1, instance.num_tasks // FEWER_ITERATIONS)
    found = improved_by_neighbourhoods(instance, objective, limited, most, share=share)
    return _better(instance, objective, schedule, found.schedule)


FAR_BETTER = 0.01
"""Where large neighbourhoods soon find a schedule that is shorter by this share, the model is too heavy too."""


def _is_far_better(
    instance: DagInstance, objective: Objective, new: DagSchedule | None, old: DagSchedule | None
) -> bool:
    """Say whether a schedule is better than that of CP-SAT by `FAR_BETTER`, which may be missing."""
    value, before = _value(instance, objective, new), _value(instance, objective, old)
    return value is not None and (before is None or value < (1.0 - FAR_BETTER) * before)


TOO_HEAVY, LEAST_HEAVY, FEW_CONFLICTS = 0.02, 0.5, 0.01
"""A model is too heavy if building it takes this share of the time that is left, and at least so many seconds, or if
the first phase ends with fewer conflicts than this share of the literals: then CP-SAT has not begun to learn, and
presolve takes most of its time. The second rule is for more than `MAX_PAIRS_FOR_PROBING` pairs of task and GPU: on
fewer, a first phase of a second may well end in presolve. Both are measured as they happen, under a time limit only."""

LEAST_SHARE = 0.02
"""A later phase does not begin if less time is left than this share of the time so far. It would find nothing, and
presolve, which heeds no limit, would end up to a second too late (measured with 65 tasks and a limit of 20 seconds)."""

ITERATIONS_PER_TASK = 2
"""Iterations of `lns` for each task, at most, before branching on placements goes on."""

SHARE_OF_PATHS = 0.3
"""Largest share of the time that is left for the bound of all paths with placement, where memory binds."""

SHARE_OF_DIAGRAM = 0.2
"""Largest share of the time that is left for the relaxed diagram, where memory binds on a narrow graph."""

SHARE_OF_REFUTATION = 0.15
"""Share of the time that is left, after probing, for refuting makespans where memory binds and the model is heavy."""


def _without_model(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule | None,
    bound: int,
    run: ExactRun,
    share: NDArray[np.float64] | None,
) -> Outcome:
    """Spend the time that is left on probing, large neighbourhoods (`lns`), and raising the bound.

    Placements are branched on where that soon proves more than all else; elsewhere cases of classes of GPUs are told
    apart if memory binds and these raise the bound (`_tried`). Where neither does, makespans are refuted if memory
    binds and nothing proved more than probing, because refuting by windows has no chance then; else `lns` gets that
    time too.
    """
    from solvers.backends.lns import improved_by_neighbourhoods

    is_makespan = Objective(objective) is Objective.MAKESPAN
    probed = probing(instance, objective, seconds_left=run.seconds_of_share(SHARE_OF_PROBING))
    refutes = probed >= bound and is_makespan and is_memory_binding(instance)
    bound = max(bound, probed)
    run.report(None, bound)
    branching = climb = None
    if is_makespan and instance.num_tasks > FEW_TASKS:
        bound, branching, climb = _tried(instance, schedule, bound, run, SHARE_OF_TRIAL)
    raises = branching is not None or climb is not None
    last = SHARE_OF_BRANCHING if raises else SHARE_OF_REFUTATION if refutes else 0.0
    rest = replace(run.limited_to(1.0 - last), start=schedule, lower_bound=bound)
    most = None if branching is None else ITERATIONS_PER_TASK * instance.num_tasks
    found = improved_by_neighbourhoods(instance, objective, rest, most, share=share)
    schedule = _better(instance, objective, schedule, found.schedule)
    value = _value(instance, objective, schedule)
    if last and not run.must_stop() and (value is None or value > bound):
        if branching is not None:
            schedule, bound = branching.go_on(schedule, 1.0)
        elif climb is not None:
            bound = _climbed(climb, schedule, run, 1.0)
        else:
            refutation = MemoryRefutation(instance, schedule, bound, run)
            refutation.climb(EFFORT)
            schedule, bound = refutation.schedule, refutation.bound
        value = _value(instance, objective, schedule)
    termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    if value is not None and value <= bound:
        termination = Termination.FINISHED
    return replace(found, schedule=schedule, lower_bound=bound, termination=termination)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """What searches (nothing named: CP-SAT's own portfolio), with neighbourhoods or without, and for how long at most.

    `share` is the share of the time that is left. `effort` limits the deterministic time too, as a multiple of that of
    a first look; so the end of a phase does not depend on the clock unless the time is short. None: no limit.
    `improves` says whether the schedule is then made better without the model.
    """

    subsolvers: tuple[str, ...] = ()
    neighbourhoods: bool = True
    share: float = 1.0
    effort: float | None = None
    improves: bool = False


def _phases(threads: int, *, is_guided: bool) -> list[_Phase]:
    """Return the phases of a run: a good schedule, a first proof, and longer proofs with a better schedule."""
    if threads >= MANY_THREADS:
        return [_Phase()]
    first_proof = _Phase(
        subsolvers=FIRST_PROVING_SUBSOLVERS,
        neighbourhoods=False,
        share=SHARE_UNDER_MEMORY if is_guided else SHARE_OF_FIRST_PROOF,
        effort=EFFORT_OF_FIRST_PROOF,
        improves=is_guided,
    )
    if threads == 1:
        third, last = FIRST_PROVING_SUBSOLVERS[:2] if is_guided else (PROVING_SUBSOLVERS[1], PROVING_SUBSOLVERS[0])
        return [
            _Phase(share=0.05 if is_guided else 0.1, effort=1.0, improves=True),
            first_proof,
            _Phase(subsolvers=(third,), neighbourhoods=False, share=0.3, effort=4.0, improves=True),
            _Phase(subsolvers=(last,), neighbourhoods=False),
        ]
    proving = PROVING_SUBSOLVERS[:threads]
    return [
        _Phase(subsolvers=(IMPROVING_SUBSOLVER,), share=0.1, effort=0.5, improves=True),
        first_proof,
        _Phase(subsolvers=proving, neighbourhoods=False, share=0.4, effort=10.0, improves=True),
        _Phase(subsolvers=proving, neighbourhoods=False),
    ]


def _is_small(instance: DagInstance) -> bool:
    """Say whether there are at most `MAX_PAIRS_FOR_PROBING` pairs of task and GPU."""
    return instance.num_tasks * instance.num_gpus <= MAX_PAIRS_FOR_PROBING


def _value(instance: DagInstance, objective: Objective, schedule: DagSchedule | None) -> int | None:
    """Return the objective of a schedule, None without one."""
    return None if schedule is None else objective_value(instance, schedule, objective)


def _better(
    instance: DagInstance, objective: Objective, old: DagSchedule | None, new: DagSchedule | None
) -> DagSchedule | None:
    """Return the better of two schedules; the solver may lose its hint."""
    if old is None or new is None:
        return new if old is None else old
    return min(old, new, key=lambda schedule: objective_value(instance, schedule, objective))


def _refuse_infeasible(instance: DagInstance, schedule: DagSchedule | None, bound: int) -> None:
    """Raise if there is a schedule after all."""
    if schedule is not None:
        claim = "CP-SAT claims that no schedule exists within the objective of a verified one."
        raise_contradiction(instance, claim, schedule=schedule, evidence={"lower_bound": bound})


def _solve_phase(
    instance: DagInstance,
    objective: Objective,
    within: Windows,
    schedule: DagSchedule | None,
    run: ExactRun,
    contention: Contention,
    phase: _Phase,
    effort_left: float,
) -> _Answer:
    """Build the model within its windows and solve it."""
    from ortools.sat.python import cp_model

    left = run.seconds_left()
    model = CpSatModel(instance, objective, within, should_give_up=run.must_stop, contention=contention)
    if math.isfinite(left) and left - run.seconds_left() > max(TOO_HEAVY * left, LEAST_HEAVY):
        return _Answer(None, None, is_infeasible=False, is_finished=False, seconds=0.0, effort=0.0, is_too_heavy=True)
    if schedule is not None:
        model.hint(schedule)
    solver = _solver(instance, run, phase, effort_left)
    if model.num_literals >= LARGE_MODEL:
        solver.parameters.cp_model_probing_level = 0
    status = solve_in_thread(solver, model.proto_model, run)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"cp-sat: expected a valid model, got: {model.proto_model.validate()}")
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return _Answer(
        schedule=model.schedule(solver.value) if found else None,
        # The model's own integer bound: its bound as a float is off by one from about 2**32 on.
        lower_bound=None if status == cp_model.INFEASIBLE else solver.response_proto.inner_objective_lower_bound,
        is_infeasible=status == cp_model.INFEASIBLE,
        is_finished=status == cp_model.OPTIMAL,
        seconds=solver.wall_time,
        effort=solver.response_proto.deterministic_time,
        is_too_heavy=phase.improves
        and phase.neighbourhoods
        and not _is_small(instance)
        and math.isfinite(left)
        and status in (cp_model.FEASIBLE, cp_model.UNKNOWN)
        and solver.response_proto.num_conflicts < FEW_CONFLICTS * model.num_literals,
    )


def _solver(instance: DagInstance, run: ExactRun, phase: _Phase, effort_left: float) -> cp_model.CpSolver:
    """Return a solver with the limits, threads and searches of a phase."""
    solver = cp_sat_solver(run.threads, run.seed, run.seconds_left() * phase.share)
    parameters = solver.parameters
    parameters.subsolvers.extend(phase.subsolvers)
    parameters.interleave_search = len(phase.subsolvers) > run.threads
    if not phase.neighbourhoods:
        parameters.use_lns = False
    effort = effort_left
    if phase.effort is not None:
        effort = min(effort, phase.effort * (1.0 + 0.02 * instance.num_tasks * min(run.threads, 2)))
    if math.isfinite(effort):
        parameters.max_deterministic_time = effort
    return solver


def solve_in_thread(
    solver: cp_model.CpSolver, model: cp_model.CpModel, run: ExactRun, *, reports: bool = True
) -> cp_model.CpSolverStatus:
    """Solve in a second thread, so that the first one can hear Ctrl-C and stop the search.

    `reports` is False where the model answers another question than the run's.
    """
    from ortools.sat.python import cp_model

    class Incumbents(cp_model.CpSolverSolutionCallback):
        """Passes every better objective on."""

        def on_solution_callback(self) -> None:
            """Report the objective of a new solution."""
            run.report(round(self.objective_value), None)

    if reports:
        solver.best_bound_callback = lambda bound: run.report(None, _rounded_up(bound))
    callback = Incumbents() if reports else None
    return in_second_thread(lambda: solver.solve(model, callback), run.should_stop, solver.stop_search)


def _rounded_up(bound: float) -> int | None:
    """Round a bound that CP-SAT reports as a float up to the integer grid, less its error; None where there is none."""
    return math.ceil(bound - max(1e-6, 4 * math.ulp(bound))) if math.isfinite(bound) else None


MOVES_PER_TASK = 1_000
"""Measured at 40 to 80 tasks: 1 to 3 seconds, after which longer runs gain little."""

PORTION = 1_000
"""Moves between two looks at the clock."""

HOT, COLD = 1e-2, 1e-5
"""Temperatures at the beginning and at the end, as shares of the makespan or of the mean completion time by weight."""


def improved_by_reinsertion(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule,
    bound: int,
    run: ExactRun,
    share_of_time: float,
    share: NDArray[np.float64] | None = None,
) -> DagSchedule:
    """Return the best schedule of one annealing.

    Parameters
    ----------
    bound
        Proven lower bound; the search ends when it is met.
    run
        Provides the seed and the time that is left.
    share_of_time
        Largest share of the time that is left. Where it does not strike, the result depends on the seed alone.
    share
        That of `PlacedPaths`: every second portion of moves has a price on leaving the GPUs that it names.
    """
    shortest = np.where(instance.allowed, instance.durations, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    waste = np.where(instance.allowed, instance.durations - shortest, 0).astype(np.float64)
    search = ReinsertionSearch(instance, objective, schedule, waste, np.random.default_rng(run.seed))
    ticks = float(objective_value(instance, schedule, objective))
    if Objective(objective) is Objective.WEIGHTED_COMPLETION:
        ticks /= max(int(instance.weight.sum()), 1)
    moves, done, must_stop = MOVES_PER_TASK * instance.num_tasks, 0, run.stops_after(share_of_time)
    other = None if share is None else waste_of_shares(instance, share)
    while done < moves and search.best_value > bound and not must_stop():
        temperature, prices = HOT * ticks * (COLD / HOT) ** (done / moves), other if done // PORTION % 2 else None
        search.run(min(PORTION, moves - done), temperature, bound, waste=prices)
        done += PORTION
        run.report(search.best_value, None)
    return search.best
