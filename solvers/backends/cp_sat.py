"""Running the CP-SAT model: phases, interrupts, incumbents and bounds as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from formulations.dag.bounds.loads import area
from formulations.dag.bounds.placed_paths import solved_placed_paths
from formulations.dag.bounds.refuted_makespans import probing
from formulations.dag.bounds.relaxed_diagram import is_narrow
from formulations.dag.cp_sat.constraints import GaveUpError
from formulations.dag.cp_sat.model import CpSatModel
from formulations.dag.probing.windows import MAX_PAIRS_FOR_PROBING, windows
from instances.dag.contention import Contention
from instances.dag.objective import Objective, best_schedule, needs_buffers, objective_value
from solvers.backends.down_sets import DownSetRounds, is_near
from solvers.backends.lns_starts import FEW_TASKS, diagram_start, is_guided
from solvers.backends.memory_refutation import EFFORT, MemoryRefutation, is_memory_binding
from solvers.backends.placement_branching import at_once, climb_over_deadlines, try_branching
from solvers.backends.window_rounds import PROOF, WindowRounds, at_bound
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import cp_sat_solver, in_second_thread
from solvers.run.outcome import Outcome, Termination
from solvers.run.versions import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
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
    "no_lp",
    "default_lp",
    "objective_lb_search",
    "reduced_costs",
    "objective_lb_search_no_lp",
    "lb_tree_search",
    "quick_restart",
)
"""Subsolvers in the order in which phases with few threads take them.

Of 28 graphs without memory limits the first proves 19 within 6 seconds of one core, the second 18 and the third 14,
given a schedule of `lns`; the first alone proves 4 and the second another 4, where loads bind.
"""

LOADS_BIND = 0.85
"""Loads bind where the area bound reaches this share of the schedule's objective. `default_lp` then proves more than
`no_lp`, elsewhere less: linear programs know loads, and orders hardly. One thread begins with the one or the other."""

NEAR = 0.05
"""A bound is near a schedule if it is within this share of its objective: CP-SAT may well prove the rest.

With 0.03 two proofs of the plain model were missing on a draw, where a trial of branching had spent the time for them;
three more took 11 to 13 seconds instead of 7 to 9.
"""

FAR = 0.1
"""From here on it is far, and CP-SAT can hardly prove anything: with several threads later phases look for schedules by
its neighbourhoods, as the first one does."""

EFFORT_OF_PROOF, EFFORT_WHEN_NEAR = 4.0, 12.0
"""Limits of the effort of a proof, the second one where memory binds and the bound is near the schedule (`NEAR`)."""

SHARE_OF_RAISING = 0.5
"""Largest share of the time that is left for branching on placements or refuting makespans where memory binds."""

SHARE_WHEN_FAR = 0.8
"""The same for branching where the bound is still far from the schedule after proofs by CP-SAT."""


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

    For the makespan, a brief search looks for a schedule that meets the bound of `probing` (`at_bound`). With fewer
    than 8 threads a run then has several phases, and each narrows the windows of the next (`_phases`). A short one
    looks for a schedule, and large neighbourhoods (`lns`) for a better one. For the makespan, windows are branched on
    then, and again after each proof by CP-SAT (`WindowRounds`). A search over down-sets with few labels tries to prove
    the optimum (`DownSetRounds`), and then CP-SAT does. With one thread CP-SAT tries again as long as it finds better
    schedules, and then, where memory binds, with another subsolver. The narrow part of the search over down-sets
    follows, sooner where few labels are foreseen. Where there are few down-sets and the bound is near, its wide part
    follows at once. Then come another proof, the wide part of that search, and a last proof. Where memory binds,
    before the narrow part placements are branched on if that soon proves more than all else (`PlacementBranching`), and
    otherwise makespans are refuted (`MemoryRefutation`). Under a time limit, a model that turns out to be too heavy, or
    on a large instance to find far worse schedules than large neighbourhoods, leaves the time to these and to bounds
    (`_without_model`). With 8 threads or more one phase does everything. Buffers, groups and the stage span have a
    model of their own (`BufferSearch`).

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
    is_makespan = Objective(objective) is Objective.MAKESPAN
    is_small = _is_small(instance)
    branches = is_makespan and is_free and is_small and instance.num_tasks > FEW_TASKS
    share: NDArray[np.float64] | None = None
    rounds: DownSetRounds | None = None
    window_rounds: WindowRounds | None = None
    promising: DownSetRounds | None = None
    are_down_sets_hopeless = has_improved = False
    probed: int | None = None
    refutes = is_makespan and is_free and is_memory_binding(instance)
    if is_free and is_guided(instance, objective):
        placed = solved_placed_paths(instance, objective, seconds_left=run.seconds_of_share(SHARE_OF_PATHS))
        bound, share = max(bound, placed.bound), placed.share
        run.report(None, bound)
    if refutes and is_narrow(instance):
        proven, placed_by_diagram = diagram_start(instance, schedule, run.seconds_of_share(SHARE_OF_DIAGRAM))
        bound, schedule = max(bound, proven), best_schedule(instance, objective, (schedule, placed_by_diagram))
        run.report(_value(instance, objective, schedule), bound)

    def is_settled() -> bool:
        value = _value(instance, objective, schedule)
        return value is not None and value <= bound

    if branches and not is_settled():
        probed = probing(instance, objective, contention, seconds_left=run.seconds_of_share(SHARE_OF_PROBING))
        bound = max(bound, probed)
        if not is_settled():
            met, bound = at_bound(instance, run, bound, SHARE_AT_BOUND)
            schedule = best_schedule(instance, objective, (schedule, met))
        run.report(_value(instance, objective, schedule), bound)

    def do_loads_bind() -> bool:
        least, value = area(instance, objective, seconds_left=run.seconds_left), _value(instance, objective, schedule)
        return value is not None and least >= LOADS_BIND * value

    def do_windows_prove(share: float, share_of_forecast: float) -> bool:
        """Branch on windows as `WindowRounds.search` says; say whether that proves the best schedule."""
        nonlocal schedule, bound, window_rounds
        if schedule is None or not branches:
            return False
        window_rounds = window_rounds or WindowRounds(instance, run, schedule, bound)
        window_rounds.search(schedule, bound, share, share_of_forecast)
        schedule, bound = window_rounds.schedule, window_rounds.bound
        return window_rounds.has_proved_optimum

    def proved_by_narrow_rounds(begun: DownSetRounds) -> Outcome | None:
        """Begin the search over down-sets; return the outcome if its narrow part proves the best schedule."""
        nonlocal schedule, bound, rounds
        rounds = begun
        rounds.take(schedule, bound)
        rounds.search_narrowly()
        schedule, bound = rounds.schedule, rounds.bound
        # No word of CP-SAT in what proves it: it can be asked to confirm.
        return rounds.outcome(backend_seconds=seconds) if rounds.has_proved and rounds.is_settled else None

    def raised_by_branching(number: int) -> bool:
        """Branch on placements, if that soon proves more than all else; say whether it did.

        With several threads, large neighbourhoods with a start of their own run at the same time.
        """
        from solvers.backends.lns import improved_by_neighbourhoods

        nonlocal schedule, bound
        if share is None:
            return False
        near = is_near(_value(instance, objective, schedule), bound, NEAR)
        trial, most = (SHARE_OF_NEAR_TRIAL, SHARE_OF_RAISING) if near else (SHARE_OF_TRIAL, SHARE_WHEN_FAR)
        bound, branching, _ = try_branching(instance, schedule, bound, run, trial)
        if branching is None:
            return False

        def improve(rest: ExactRun[DagSchedule]) -> Outcome:
            rest = replace(rest.limited_to(most), start=None, lower_bound=bound)
            return improved_by_neighbourhoods(instance, objective, rest, share=share)

        placed, bound = at_once(lambda: branching.go_on(schedule, most), improve, run)
        schedule = best_schedule(instance, objective, placed)
        schedule = _improved(instance, objective, schedule, bound, run, AFTER_BRANCHING, number, share)
        return True

    phases = _phases(
        run.threads, is_guided=share is not None, do_loads_bind=do_loads_bind, has_improved=lambda: has_improved
    )
    for number, phase in enumerate(phases):
        probe, probing_left = number > 0 and not run.should_stop(), run.seconds_of_share(SHARE_OF_PROBING)
        at_most = _value(instance, objective, schedule)
        if is_settled():
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
        if phase.share_when_near and is_near(at_most, bound, NEAR):
            phase = replace(phase, share=phase.share_when_near, effort=EFFORT_WHEN_NEAR)
        elif number > 1 and run.threads > 1 and not is_near(at_most, bound, FAR):
            phase = replace(phase, subsolvers=(IMPROVING_SUBSOLVER,), neighbourhoods=True)
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
        schedule = best_schedule(instance, objective, (schedule, answer.schedule))
        has_improved = _value(instance, objective, schedule) != at_most
        bound = max(bound, answer.lower_bound or 0)
        if answer.is_finished:
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
        hands_over = answer.is_too_heavy and is_free
        if number == 0 and probed is None and phase.improves and not hands_over and not run.should_stop():
            probing_left = run.seconds_of_share(SHARE_OF_PROBING)
            probed = probing(instance, objective, contention, seconds_left=probing_left)
            bound = max(bound, probed)
            run.report(None, bound)
        if phase.improves and is_free and not hands_over:
            old = schedule
            schedule = _improved(instance, objective, old, bound, run, phase, number, share)
            if share is not None and number == 0 and run.time_limit is not None and not is_small:
                hands_over = _is_far_better(instance, objective, schedule, old)
        if hands_over:
            found = _without_model(instance, objective, schedule, bound, run, share, probed)
            return replace(found, backend_seconds=seconds + found.backend_seconds)
        if number == 0 and phase.improves and is_small and is_free:
            if do_windows_prove(SHARE_OF_FIRST_WINDOWS, SHARE_OF_FIRST_FORECAST):
                return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, proof=PROOF)
            first = DownSetRounds(instance, objective, run, schedule, bound)
            first.search_briefly()
            are_down_sets_hopeless = first.is_hopeless
            promising = first if first.foresees_few else None
            schedule, bound = first.schedule, first.bound
            if first.has_proved and first.is_settled:
                return first.outcome(backend_seconds=seconds)
        at_most = _value(instance, objective, schedule)
        if is_settled():
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, solver=asked)
        begun: DownSetRounds | None = None
        may_begin = phase.raises or (number > 0 and promising is not None)
        if may_begin and rounds is None and is_small and is_free and not are_down_sets_hopeless:
            begun = promising or DownSetRounds(instance, objective, run, schedule, bound)
            begins_at_once = begun is promising or begun.may_prove_widely
            if begins_at_once and (proved := proved_by_narrow_rounds(begun)) is not None:
                return proved
        is_very_near = is_near(_value(instance, objective, schedule), bound, VERY_NEAR)
        share_of_windows = SHARE_OF_NEAR_WINDOWS if is_very_near else SHARE_OF_WINDOWS
        do_windows_follow = phase.raises or phase.widens or (number > 0 and is_very_near)
        if do_windows_follow and do_windows_prove(share_of_windows, SHARE_OF_NEAR_WINDOWS):
            return Outcome(schedule=schedule, lower_bound=bound, backend_seconds=seconds, proof=PROOF)
        if phase.widens and rounds is not None:
            rounds.take(schedule, bound)
            rounds.search_widely()
            schedule, bound = rounds.schedule, rounds.bound
            if rounds.has_proved and rounds.is_settled:
                return rounds.outcome(backend_seconds=seconds)
        elif phase.raises and refutes and not raised_by_branching(number):
            refutation = MemoryRefutation(instance, schedule, bound, run)
            refutation.climb(min(EFFORT, effort_left), SHARE_OF_RAISING)
            schedule, bound = refutation.schedule, refutation.bound
            effort_left -= refutation.effort
        if begun is not None and rounds is None and (proved := proved_by_narrow_rounds(begun)) is not None:
            return proved
    termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
    return Outcome(schedule=schedule, lower_bound=bound, termination=termination, backend_seconds=seconds, solver=asked)


SHARE_OF_TRIAL, SHARE_OF_NEAR_TRIAL = 0.2, 0.05
"""Largest share of the time that is left in which branching on placements, and then a climb over classes of GPUs, must
prove more than all else to go on; the second one where the bound is near the schedule (`NEAR`).
"""

SHARE_OF_BRANCHING = 0.3
"""Share of the time that is left, after probing, for branching on placements where the model is heavy."""

SHARE_AT_BOUND = 0.1
"""Largest share of the time that is left for a schedule that meets the bound, before all else."""

SHARE_OF_FIRST_WINDOWS, SHARE_OF_WINDOWS, SHARE_OF_NEAR_WINDOWS = 0.06, 0.1, 0.7
"""Largest share of the time that is left for the search over placements and windows: before the first proof by CP-SAT;
later; and later where the bound is very near the schedule (`VERY_NEAR`), or while the forecast for the rest of the
proof is within this share."""

VERY_NEAR = 0.02
"""A bound is very near a schedule if it is within this share of its objective."""

SHARE_OF_FIRST_FORECAST = 0.5
"""Before the first proof by CP-SAT that search goes on while its forecast is within this share of the time left."""

SHARE_OF_PROBING = 0.1
"""Largest share of the time that is left for probing, before a phase."""

FEWER_ITERATIONS = 2
"""Without a time limit large neighbourhoods have so many times fewer iterations than tasks, because each then repairs
a window."""


def _improved(
    instance: DagInstance,
    objective: Objective,
    schedule: DagSchedule | None,
    bound: int,
    run: ExactRun,
    phase: _Phase,
    number: int,
    share: NDArray[np.float64] | None,
) -> DagSchedule | None:
    """Return the best of a schedule, which may be missing, and what large neighbourhoods (`lns`) find.

    Up to `FEW_TASKS` tasks they begin only under a time limit, because CP-SAT soon proves most of these.

    Parameters
    ----------
    number
        Of the phase; each has random numbers of its own.
    share
        That of `PlacedPaths`; None where memory does not bind.
    """
    from solvers.backends.lns import improved_by_neighbourhoods

    if instance.num_tasks <= FEW_TASKS and run.time_limit is None:
        return schedule
    limited = replace(
        run.limited_to(phase.improves),
        start=None if phase.begins_anew else schedule,
        lower_bound=bound,
        seed=run.seed + number,
    )
    most = max(1, instance.num_tasks // FEWER_ITERATIONS)
    if run.time_limit is not None:
        most = ITERATIONS_PER_TASK * instance.num_tasks
    found = improved_by_neighbourhoods(instance, objective, limited, most, share=share)
    return best_schedule(instance, objective, (schedule, found.schedule))


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
"""Iterations of `lns` for each task, at most, between phases and before branching on placements goes on."""

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
    probed: int | None,
) -> Outcome:
    """Spend the time that is left on probing, if it has not been done, large neighbourhoods and raising the bound.

    Placements are branched on where that soon proves more than all else; elsewhere cases of classes of GPUs are told
    apart if memory binds and these raise the bound (`try_branching`). Where neither does, makespans are refuted if
    memory binds and nothing proved more than probing, because refuting by windows has no chance then; else `lns` gets
    that time too.
    """
    from solvers.backends.lns import improved_by_neighbourhoods

    is_makespan = Objective(objective) is Objective.MAKESPAN
    if probed is None:
        probed = probing(instance, objective, seconds_left=run.seconds_of_share(SHARE_OF_PROBING))
    refutes = probed >= bound and is_makespan and is_memory_binding(instance)
    bound = max(bound, probed)
    run.report(None, bound)
    branching = climb = None
    if is_makespan and instance.num_tasks > FEW_TASKS:
        bound, branching, climb = try_branching(instance, schedule, bound, run, SHARE_OF_TRIAL)

    def raise_bound() -> tuple[DagSchedule | None, int]:
        """Go on with what raised the bound; return the best schedule that comes out, and the bound."""
        if branching is not None:
            return branching.go_on(schedule, 1.0)
        return schedule, bound if climb is None else climb_over_deadlines(climb, schedule, run, 1.0)

    def improve(rest: ExactRun[DagSchedule], most: int | None) -> Outcome:
        """Improve the schedule by large neighbourhoods."""
        rest = replace(rest, start=schedule, lower_bound=bound)
        return improved_by_neighbourhoods(instance, objective, rest, most, share=share)

    raises = branching is not None or climb is not None
    last = SHARE_OF_BRANCHING if raises else SHARE_OF_REFUTATION if refutes else 0.0
    most = None if branching is None else ITERATIONS_PER_TASK * instance.num_tasks
    found = improve(run.limited_to(1.0 - last), most)
    schedule = best_schedule(instance, objective, (schedule, found.schedule))
    value = _value(instance, objective, schedule)
    if last and not run.must_stop() and (value is None or value > bound):
        if raises:
            placed, bound = at_once(raise_bound, lambda rest: improve(rest, None), run)
            schedule = best_schedule(instance, objective, (schedule, *placed))
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
    """A run of CP-SAT and what follows it.

    Parameters
    ----------
    subsolvers
        What searches, one for each thread; nothing named: CP-SAT's own portfolio.
    neighbourhoods
        Whether CP-SAT's large neighbourhoods search too.
    share, share_when_near
        Largest share of the time that is left; the second one, if it is not 0, where the bound is near (`NEAR`).
    effort
        Limit of the deterministic time, as a multiple of that of a first look, so that the end of a phase does not
        depend on the clock unless the time is short; None for no limit.
    improves, begins_anew
        Share of the time that is left for large neighbourhoods (`lns`) afterwards, 0 for none; whether they make a
        start of their own or begin with the best schedule.
    raises, widens
        Whether bounds are then raised without the model, and whether the search over down-sets goes on.
    """

    subsolvers: tuple[str, ...] = ()
    neighbourhoods: bool = False
    share: float = 1.0
    share_when_near: float = 0.0
    effort: float | None = None
    improves: float = 0.0
    begins_anew: bool = False
    raises: bool = False
    widens: bool = False


AFTER_BRANCHING = _Phase(improves=0.1)
"""What follows branching."""


def _phases(
    threads: int, *, is_guided: bool, do_loads_bind: Callable[[], bool], has_improved: Callable[[], bool]
) -> Iterator[_Phase]:
    """Yield the phases of a run: a good schedule, first proofs, and longer proofs with a better schedule.

    Where memory binds, a schedule with a start of its own follows the first proofs too, because a search that begins
    with CP-SAT's schedule keeps to its placement, which is often a bad one.

    Parameters
    ----------
    is_guided
        Whether memory binds and `placed_paths` has a solution.
    do_loads_bind
        Asked after the first phase: see `LOADS_BIND`.
    has_improved
        Asked after each first proof with one thread: whether it found a better schedule. Then it is made again.
    """
    if threads >= MANY_THREADS:
        yield _Phase(neighbourhoods=True)
        return
    share = 0.05 if is_guided else 0.1
    look = _Phase(neighbourhoods=True, share=share, effort=1.0, improves=0.2, begins_anew=True)
    if threads == 1:
        yield look
        one, other, third = PROVING_SUBSOLVERS[:3]
        if do_loads_bind():
            one, other = other, one
        proof = _Phase(subsolvers=(one,), share=0.35, effort=EFFORT_OF_PROOF, raises=True)
        first = replace(proof, share_when_near=0.35, raises=False) if is_guided else proof
        yield first
        while has_improved():
            yield first
        if is_guided:
            yield replace(proof, subsolvers=(other,), share=0.25, share_when_near=0.6, improves=0.1, begins_anew=True)
            other, third = third, other
        yield replace(proof, subsolvers=(other,), share=0.4, improves=0.2, raises=False, widens=True)
        yield _Phase(subsolvers=(third,))
        return
    yield replace(look, subsolvers=(IMPROVING_SUBSOLVER,), effort=0.5)
    proof = _Phase(subsolvers=PROVING_SUBSOLVERS[:threads], share=0.25, effort=EFFORT_OF_PROOF, raises=True)
    yield replace(proof, share_when_near=0.7, improves=0.1, begins_anew=True) if is_guided else proof
    others = PROVING_SUBSOLVERS[1 : threads + 1]
    yield replace(proof, subsolvers=others, share=0.5, effort=10.0, improves=0.2, raises=False, widens=True)
    # `default_lp` again, which knows loads, and subsolvers that two threads have not tried yet
    yield _Phase(subsolvers=(PROVING_SUBSOLVERS[1], *PROVING_SUBSOLVERS[3 : threads + 2]))


def _is_small(instance: DagInstance) -> bool:
    """Say whether there are at most `MAX_PAIRS_FOR_PROBING` pairs of task and GPU."""
    return instance.num_tasks * instance.num_gpus <= MAX_PAIRS_FOR_PROBING


def _value(instance: DagInstance, objective: Objective, schedule: DagSchedule | None) -> int | None:
    """Return the objective of a schedule, None without one."""
    return None if schedule is None else objective_value(instance, schedule, objective)


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
        is_too_heavy=phase.improves > 0.0
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
    if run.threads == 1 and not phase.subsolvers and instance.num_edges:
        # A first look with one thread is sooner done without linear programs (docs/methods/exact_methods.md, section
        # 2.7), except on independent tasks, which have loads and nothing else.
        parameters.linearization_level = 0
    if not phase.neighbourhoods:
        parameters.use_lns = False
        parameters.num_full_subsolvers = run.threads  # else a part of the threads only looks for a first solution
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
