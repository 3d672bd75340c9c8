"""Dynamic programming over down-sets in rounds of growing width, alone or as a phase of another method."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from formulations.dag.bounds.live_memory import PlacedBounds
from formulations.dag.down_sets.counts import CountSearch, InstantOwnerError
from formulations.dag.down_sets.pipeline_counts import PipelineCounts
from formulations.dag.down_sets.search import DownSetSearch
from formulations.dag.down_sets.search_space import NOWHERE, count_down_sets
from formulations.dag.fixed_placement import placements
from instances.dag.objective import Objective, needs_buffers, objective_value
from solvers.run.outcome import Outcome, Termination

if TYPE_CHECKING:
    from collections.abc import Callable

    from formulations.dag.down_sets.search import Found
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.run.exact_run import ExactRun


PROOF = "search over down-sets: all that is below is dominated or refuted"
"""What proves a bound of these rounds."""


class DownSetRounds:
    """A schedule and a bound that one round after the other may make better.

    Parameters
    ----------
    schedule, bound
        Verified and proven before, None and 0 where there is nothing.

    Attributes
    ----------
    is_settled
        Whether nothing is left to find or to prove.
    has_proved
        Whether one of these rounds proved the bound, and it was not known before.
    why_not_wider
        What does not allow the width of the last round, or more; None where nothing does.
    """

    def __init__(
        self, instance: DagInstance, objective: Objective, run: ExactRun, schedule: DagSchedule | None, bound: int
    ) -> None:
        self.schedule, self.bound = schedule, bound
        self.is_infeasible = self.has_proved = self._prefers_settled = self._has_gone_wide = False
        self.why_not_wider: str | None = None
        self._instance, self._objective, self._run = instance, objective, run
        self._search = DownSetSearch(instance, objective)
        self._exact_depth: dict[bool, int] = {}
        self._widest: dict[tuple[bool, bool], float] = {}
        self._climbs_backwards: bool | None = None
        self._windows = lru_cache(maxsize=WINDOWS_KEPT)(self._search.windows)  # probing takes up to a second

    @property
    def value(self) -> int | None:
        """Objective of the schedule, None without one."""
        return None if self.schedule is None else objective_value(self._instance, self.schedule, self._objective)

    @property
    def is_settled(self) -> bool:
        """Whether the schedule is proven optimal, or there is none."""
        return self.is_infeasible or (self.value is not None and self.bound >= self.value)

    @property
    def is_near(self) -> bool:
        """Whether the bound is so near to the objective of the schedule that a search may well prove it."""
        return is_near(self.value, self.bound, NEAR)

    @property
    def may_prove_widely(self) -> bool:
        """Whether the bound is near and there are so few down-sets that a wide round may well prove the optimum."""
        return self.is_near and self._has_few_down_sets

    @property
    def foresees_few(self) -> bool:
        """Whether a wide round is foreseen to drop no label."""
        return min(self._foreseen().values(), default=math.inf) <= WIDE

    @property
    def is_hopeless(self) -> bool:
        """Whether a proof is foreseen to need far more labels than a wide round has (`HOPELESS`).

        Where there are few down-sets, far more labels are foreseen than come.
        """
        return min(self._foreseen().values(), default=0.0) > HOPELESS and not self._has_few_down_sets

    @cached_property
    def _has_few_down_sets(self) -> bool:
        """Whether there are at most `FEW_DOWN_SETS`; counting them takes up to a tenth of a second."""
        return count_down_sets(self._instance, FEW_DOWN_SETS) <= FEW_DOWN_SETS

    @property
    def exact_share(self) -> float:
        """Share of the layers that some search went through before it dropped a label."""
        return max(self._exact_depth.values(), default=0) / max(self._instance.num_tasks, 1)

    def round(
        self,
        width: int,
        should_stop: Callable[[], bool],
        *,
        until_dropped: bool = False,
        settles: bool = False,
        backwards: bool | None = None,
    ) -> int:
        """Search with layers of some width and return how many of them a search went through before it dropped a label.

        The search runs in both directions of time, and later in the one that drops labels later; for a proof in that
        one first. On a transformer of 95 tasks backwards got through 9 layers instead of 3 with 10,000 labels, but
        with 50,000 only forwards got through all.

        Parameters
        ----------
        width
            Largest number of labels per layer.
        should_stop
            Called about twenty times a second; True ends the search.
        until_dropped
            Whether only a proof matters: then each search stops at the first label that it has to drop.
        settles
            Whether to settle labels, as in `DownSetSearch.search`; layers are then narrower by `SETTLED_PART`.
        backwards
            The only direction of time to search in; None for the rule above.
        """
        deepest = 0
        directions = self._directions() if backwards is None else [backwards]
        if until_dropped and backwards is None:
            directions += [other for other in self._possible_directions() if other not in directions]
        for direction in directions:
            again = True
            while again and not self.is_settled and not should_stop():
                value = self.value
                at_most = None if value is None else value - 1
                found = self._search_once(
                    at_most, width, should_stop, backwards=direction, until_dropped=until_dropped, settles=settles
                )
                deepest = max(deepest, found.exact_depth)
                again = self.value != value and (found.is_complete or width <= FIRST_WIDTH)
        return deepest

    def climb(self, width: int, should_stop: Callable[[], bool], *, settles: bool) -> bool:
        """Raise the bound by bisection, in both directions of time, and say whether it rose.

        Later searches take the direction that raised it last. A search ends where it would have to drop a label. Where
        little is left between bound and schedule, the objective of the schedule less one is tried at once.
        """
        before = self.bound
        for backwards in self._possible_directions():
            not_refuted = self.value
            while not_refuted is not None and not_refuted > self.bound and not should_stop():
                is_little_left = not_refuted - self.bound < max(2, not_refuted // RESOLUTION)
                if is_little_left and not_refuted != self.value:
                    break
                at_most = not_refuted - 1 if is_little_left else (self.bound - 1 + not_refuted) // 2
                self._search_once(at_most, width, should_stop, backwards=backwards, until_dropped=True, settles=settles)
                if self.bound > at_most:
                    self._climbs_backwards = backwards
                else:
                    not_refuted = at_most if self.value is None else min(at_most, self.value)
        return self.bound > before

    def take(self, schedule: DagSchedule | None, bound: int) -> None:
        """Take what others found in the meantime, which is not worse."""
        self.schedule = schedule
        if bound > self.bound:
            self.bound, self.has_proved = bound, False

    def search_briefly(self) -> None:
        """Try a proof with few labels of both kinds, in about a second.

        The second kind is left out where the first one shows that a proof is hopeless (`is_hopeless`).
        """
        for settles in (True, False):
            if not self.is_hopeless:
                self.round(FEW_LABELS, self._run.stops_after(TRIAL_SHARE), until_dropped=True, settles=settles)

    def search_narrowly(self) -> None:
        """Look for a schedule in a narrow round, raise the bound by bisection, try proofs with both kinds of labels.

        Where there are few down-sets and the bound is near, it is raised first, with plain labels only, to learn the
        direction of time; then wider rounds look for a schedule, and a wide one takes the place of these proofs. Where
        proofs so far foresee that a wide round drops no label, it follows at once. `search_widely` then does nothing.

        Where time is not short, the result depends on nothing but the threads. The same holds for `search_widely`.
        """
        run = self._run
        if self.may_prove_widely:
            self.climb(GROWTH * CLIMB, run.stops_after(CLIMB_SHARE), settles=False)
            self._improve(GROWTH * FIRST_WIDTH, run.stops_after(FIRST_SHARE))
            self._search_where_few_are_foreseen()
            self.search_widely()
            return
        self.round(FIRST_WIDTH, run.stops_after(FIRST_SHARE))
        stops_climbing = run.stops_after(CLIMB_SHARE)
        do_settled_raise = self.climb(CLIMB, run.stops_after(SETTLED_SHARE), settles=True)
        do_plain_raise = self.climb(GROWTH * CLIMB, stops_climbing, settles=False)
        self._prefers_settled = do_settled_raise and not do_plain_raise
        plain, settled = (
            self.round(TRIAL, run.stops_after(TRIAL_SHARE), until_dropped=True, settles=settles)
            for settles in (False, True)
        )
        self._prefers_settled |= settled >= ALMOST * plain
        self._search_where_few_are_foreseen()

    def _improve(self, width: int, should_stop: Callable[[], bool]) -> None:
        """Look for a schedule in rounds of one width, as long as they find one."""
        value = None
        while self.value != value and not self.is_settled and not should_stop():
            value = self.value
            self.round(width, should_stop)

    def _foreseen(self) -> dict[tuple[bool, bool], float]:
        """Return the width that a proof is foreseen to need, for each direction of time and kind of labels."""
        return {way: widest * (SETTLED_PART if way[1] else 1) for way, widest in self._widest.items()}

    def _search_where_few_are_foreseen(self) -> None:
        """Try a proof in one wide round, in the direction and with labels of which narrow rounds foresee the fewest."""
        if self.is_settled or not self.foresees_few or self._run.should_stop():
            return
        foreseen = self._foreseen()
        backwards, settles = min(foreseen, key=foreseen.__getitem__)
        self._has_gone_wide = True
        self.round(WIDE, self._run.stops_after(WIDE_SHARE), until_dropped=True, settles=settles, backwards=backwards)

    def search_widely(self) -> None:
        """Try a proof in two wide rounds, the first with labels of the kind that did better in narrow ones.

        Where a proof is unlikely, one round looks for a schedule instead.
        """
        run, settles = self._run, self._prefers_settled
        if self.is_settled or self._has_gone_wide or run.should_stop():
            return
        if self.exact_share >= DEEP or self.may_prove_widely:
            self._has_gone_wide = True
            self.round(WIDE, run.stops_after(WIDE_SHARE), until_dropped=True, settles=settles)
            self.round(WIDE, run.stops_after(OTHER_SHARE), until_dropped=True, settles=not settles)
        else:
            self.round(BEAM, run.stops_after(BEAM_SHARE))

    def outcome(self, termination: Termination = Termination.FINISHED, backend_seconds: float = 0.0) -> Outcome:
        """Return what is known, and what proves the bound if these rounds do."""
        return Outcome(
            schedule=self.schedule,
            lower_bound=None if self.is_infeasible else self.bound,
            is_infeasible=self.is_infeasible,
            termination=termination,
            backend_seconds=backend_seconds,
            proof=PROOF if self.has_proved else None,
            failure=self.why_not_wider if termination is Termination.FAILED else None,
        )

    def _search_once(
        self,
        at_most: int | None,
        width: int,
        should_stop: Callable[[], bool],
        *,
        backwards: bool,
        until_dropped: bool,
        settles: bool,
    ) -> Found:
        """Search within an objective, in one direction, and keep what follows."""
        value = self.value
        found = self._search.search(
            self._windows(at_most, self.bound if at_most is None else min(self.bound, at_most)),
            width=width // SETTLED_PART if settles else width,
            backwards=backwards,
            until_dropped=until_dropped,
            settles=settles,
            threads=self._run.threads,
            should_stop=should_stop,
        )
        if not settles:  # these layers are the wider ones
            self.why_not_wider = None
            if not found.is_complete and found.width < width:
                self.why_not_wider = f"memory: expected at most {found.width} labels in each layer, got more."
                if found.width == 0:
                    self.why_not_wider = f"horizon: expected fewer than {NOWHERE // 2} ticks, got more."
        if until_dropped and value is not None and at_most == value - 1:  # smaller objectives need fewer labels
            self._widest[backwards, settles] = found.widest
        self._exact_depth[backwards] = max(self._exact_depth.get(backwards, 0), found.exact_depth)
        if found.schedule is not None:
            new = objective_value(self._instance, found.schedule, self._objective)
            if value is None or new < value:
                self.schedule = found.schedule
                self._run.report(new, None)
        elif found.is_complete:
            self.is_infeasible = at_most is None
            self.bound, self.has_proved = self.bound if at_most is None else at_most + 1, True
            self._run.report(None, self.bound)
        return found

    def _directions(self) -> list[bool]:
        """Return in which directions to search: the one that is known to be better, if there is one."""
        possible = self._possible_directions()
        if self._climbs_backwards is not None:
            return [self._climbs_backwards]
        if len(self._exact_depth) < len(possible):
            return possible
        return [max(possible, key=self._exact_depth.__getitem__)]

    def _possible_directions(self) -> list[bool]:
        """Return the directions in which the objective can be searched for."""
        return [False, True] if Objective(self._objective) is Objective.MAKESPAN else [False]


def is_near(value: int | None, bound: int, share: float) -> bool:
    """Say whether a bound is within a share of an objective, which may be missing."""
    return value is not None and value - bound <= share * value


WINDOWS_KEPT = 16
"""Objectives whose windows are kept: climbing tries the same ones in both directions, and with both kinds of labels."""

RESOLUTION = 500
"""Climbing ends where less than this part of the objective is left between what is refuted and what is not."""

SETTLED_PART = 4
"""Labels that are settled take at least so many times as long as others, so layers are narrower by this factor."""

FIRST_WIDTH = 125
"""Labels per layer of the first round, which is repeated as long as it finds better schedules.

On four instances of 39 to 80 tasks (fft, NASNet, stencil, series-parallel) it takes a second in each direction and
finds nothing below 876, 894, 1478 and 2560; one of 500 labels takes three to five and finds 874, 894, 1478 and 2564.
"""

GROWTH = 4
"""By how much the width grows from round to round."""


def down_sets(instance: DagInstance, objective: Objective, run: ExactRun) -> Outcome:
    """Solve an instance by `DownSetSearch`, forwards and, for the makespan, backwards in time.

    Every round looks for a schedule that is better than the best one. As long as labels have to be dropped it is a beam
    search; the next round is four times as wide, in the direction that went further before it dropped any. A round that
    drops nothing and finds nothing is the proof. It takes few labels where graphs are narrow and GPUs few: on 95 tasks
    whose down-sets number 33,000, and 2 GPUs, seconds. Where there are millions, memory ends it without a proof.

    With buffers, groups or the stage span, `CountSearch` takes the place of `DownSetSearch`, placement by placement,
    and `PipelineCounts` where a placement is a pipeline that it takes.

    Parameters
    ----------
    run
        Limits, start and threads. The result does not depend on the seed, nor on time unless the limit strikes.
    """
    if needs_buffers(instance, objective):
        return _counted(instance, objective, run)
    rounds = DownSetRounds(instance, objective, run, run.start, run.lower_bound)
    width, termination = FIRST_WIDTH, Termination.FINISHED

    while not rounds.is_settled:
        if run.must_stop():
            termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
            break
        if rounds.why_not_wider is not None:
            termination = Termination.FAILED
            break
        rounds.round(width, run.must_stop)
        rounds.climb(SETTLED_PART * width, run.must_stop, settles=True)
        rounds.round(SETTLED_PART * width, run.must_stop, until_dropped=True, settles=True)
        width *= GROWTH
    return rounds.outcome(termination)


MAX_PLACEMENTS = 5_000
"""With buffers, the most placements of the groups that are searched one by one."""

MOST_LABELS = 300_000
"""With buffers, the most labels per layer: the width of the last round."""


def _counted(instance: DagInstance, objective: Objective, run: ExactRun) -> Outcome:
    """Search placement by placement with counts, the smallest bound first, in rounds of growing width.

    A placement whose bound reaches the best schedule needs no search. The bound is the smallest of those that are left,
    among them the placements that `CountSearch` refuses.
    """
    schedule, proved = run.start, run.lower_bound
    value = None if schedule is None else objective_value(instance, schedule, objective)
    ways = placements(instance, MAX_PLACEMENTS)
    failure = None if ways is not None else f"placements: expected at most {MAX_PLACEMENTS} of the groups, got more."
    pending: list[tuple[int, CountSearch | PipelineCounts]] = []
    refused: list[tuple[int, str]] = []
    for way in ways or ():
        bound = max(proved, PlacedBounds(instance, way).best(objective))
        if run.must_stop():
            failure = "time: expected enough to bound every placement, got less."
            break
        try:
            made = PipelineCounts if PipelineCounts.takes(instance, objective, way) else CountSearch
            pending.append((bound, made(instance, objective, way)))
        except InstantOwnerError as error:
            refused.append((bound, str(error)))
    if failure is not None:
        termination = Termination.FAILED
        if run.must_stop():
            termination = Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT
        return Outcome(schedule=schedule, lower_bound=proved, termination=termination, failure=failure)
    pending.sort(key=lambda row: row[0])
    width, has_searched = GROWTH * FIRST_WIDTH, False
    while pending and not run.must_stop():
        unsettled = []
        for bound, search in pending:
            is_settled = False
            while not run.must_stop() and (value is None or bound < value):
                has_searched = True
                found = search.search(None if value is None else value - 1, width, run.must_stop)
                if found.schedule is None:
                    is_settled = found.is_complete
                    break
                schedule, value = found.schedule, objective_value(instance, found.schedule, objective)
                run.report(value, None)
            if not is_settled:
                unsettled.append((bound, search))
        pending = [row for row in unsettled if value is None or row[0] < value]
        if width >= MOST_LABELS:
            break
        width = min(width * GROWTH, MOST_LABELS)
    refused = [row for row in refused if value is None or row[0] < value]
    lowest = min((bound for bound, _ in [*pending, *refused]), default=None)
    if lowest is None:
        proof = PROOF if has_searched else None
        return Outcome(schedule=schedule, lower_bound=value, is_infeasible=schedule is None, proof=proof)
    termination, failure = Termination.FAILED, f"memory: expected at most {MOST_LABELS} labels in each layer, got more."
    if not pending:
        failure = refused[0][1]
    if run.must_stop():
        termination, failure = (Termination.INTERRUPTED if run.should_stop() else Termination.TIME_LIMIT), None
    return Outcome(schedule=schedule, lower_bound=lowest, termination=termination, failure=failure)


CLIMB = 500
"""Width of the searches that raise the bound with settled labels; plain ones have four times as many."""

SETTLED_SHARE, CLIMB_SHARE = 0.12, 0.25
"""Shares of the time that is left for raising the bound after the first round, with settled labels and in all."""

FEW_LABELS = 1_000
"""Width of the first rounds for a proof, which come before that of CP-SAT.

Of 82 instances whose proof took more than 3 seconds they prove 16; they take 0.9 seconds on average.
"""

HOPELESS = 1e15
"""Where a proof is foreseen to need more labels than this, the rounds end, and `cp-sat` begins no others.

On 10 of 60 graphs narrow rounds followed such a forecast; they took 0.6 to 4 seconds and found and proved nothing.
"""

TRIAL = 10_000
"""Width of the first rounds for a proof. From the best schedules on it proves 33 of 60 instances of 30 to 100 tasks."""

FIRST_SHARE, TRIAL_SHARE = 0.2, 0.06
"""Shares of the time that is left for the first round, and for each of the two first rounds for a proof, at most."""

DEEP = 1 / 3
"""The last round is for a proof where another went through this share of the layers before it dropped a label."""

NEAR, FEW_DOWN_SETS = 0.03, 50_000
"""So it is where the bound is within this share of the objective and there are no more down-sets than this: half a
minute, if there are twenty labels to each."""

ALMOST = 0.9
"""Labels are settled in the first wide round if only settled ones raised the bound, or if their trial went through at
least this share of the layers of the other one, because they multiply more slowly from layer to layer.
"""

WIDE, WIDE_SHARE, OTHER_SHARE = 50_000, 0.8, 0.3
"""Width of the last rounds for a proof, and their shares of the time that is left, at most: of the kind of labels that
did better, and of the other kind. A transformer of 95 tasks is proved by plain labels only, though settled ones raised
the bound before.
"""

BEAM, BEAM_SHARE = 2_000, 0.1
"""Width of the last round where it looks for a schedule instead, and its share of the time that is left, at most."""
