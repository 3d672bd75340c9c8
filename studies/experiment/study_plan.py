"""Which runs a study consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.jobs.jobs_instance import JobsInstance
from solvers.jobs.refuse_interference import refuse_interference
from solvers.methods import KINDS_WITH_RUN
from studies.experiment.budget import Budget
from studies.experiment.checked_method import CheckedMethod
from studies.experiment.planned_run import PlannedRun
from studies.paired_seed import paired_seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from studies.experiment.study_instance import StudyInstance
    from studies.experiment.study_spec import StudyMethod, StudySpec

KINDS_WITHOUT_BUDGET = ("construction", "policy")
"""Kinds that build one schedule and are done."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyPlan:
    """Instances and runs, both in the order in which they are worked on."""

    spec: StudySpec
    instances: tuple[StudyInstance, ...]
    runs: tuple[PlannedRun, ...]


def study_plan(spec: StudySpec, instances: Sequence[StudyInstance]) -> StudyPlan:
    """Return the runs: references of all instances first, then the methods, repetition by repetition.

    Runs of one repetition stand side by side, so that a machine that becomes slower does so for all methods alike.
    Constructions and policies run once per instance, or once per repetition where they draw random numbers; searches
    once per repetition and budget; what works against the clock only (exact methods, those that improve schedules)
    under every budget that has seconds; and a method with a parameter that varies once per value of it instead of per
    repetition.

    Raises
    ------
    ValueError
        If a method does not exist, has no such parameter or no budget it can work with, is exact and does not know the
        interference of an instance, or two methods are the same.
    """
    contestants = [_Contestant(spec, index, method) for index, method in enumerate(spec.methods)]
    references = [
        CheckedMethod(f"reference.exact[{index}]", exact.method, exact.parameters, spec.problem)
        for index, exact in enumerate(spec.exact)
    ]
    _refuse_interference(spec, contestants, instances)
    runs: list[PlannedRun] = []
    for item in instances:
        for name in spec.bounds:
            runs.append(_bound_run(spec, item, name))
    for exact, reference in zip(spec.exact, references, strict=True):
        runs += [
            PlannedRun(
                sha256=item.instance.sha256,
                phase="exact",
                kind="exact",
                label=exact.method,
                method=exact.method,
                parameters=exact.parameters,
                all_parameters=reference.all_parameters,
                objective=str(spec.objective),
                budget=Budget(seconds=exact.time_limit),
                seed=paired_seed(spec.seed, item.instance),
                threads=exact.threads,
            )
            for item in instances
        ]
    for item in instances:
        runs += _method_runs(spec, item, contestants)
    _check_distinct(runs)
    return StudyPlan(spec=spec, instances=tuple(instances), runs=tuple(runs))


class _Contestant:
    """A method of the study, the parameters of each of its repetitions, and the budgets under which it runs."""

    def __init__(self, spec: StudySpec, index: int, method: StudyMethod) -> None:
        place = f"methods[{index}]"
        checked = [CheckedMethod(place, method.method, parameters, spec.problem) for parameters in method.variants]
        self.entry, self.kind = method, checked[0].kind
        self.is_seeded = any(one.is_seeded for one in checked)
        self.budgets: list[Budget] = [Budget()]
        times = 1 if method.vary or not self.is_seeded else spec.repetitions
        self.variants = [
            (parameters, one.all_parameters) for parameters, one in zip(method.variants, checked, strict=True)
        ] * times
        if self.kind in KINDS_WITHOUT_BUDGET:
            return
        self.budgets = list(spec.budgets)
        if self.kind in KINDS_WITH_RUN:
            self.budgets = [budget for budget in spec.budgets if budget.seconds is not None]
        if not self.budgets:
            what = "[[budgets]] with seconds" if self.kind in KINDS_WITH_RUN else "[[budgets]]"
            raise ValueError(f"{place}: expected {what} for {method.method}, got none.")


def _refuse_interference(
    spec: StudySpec, contestants: Sequence[_Contestant], instances: Sequence[StudyInstance]
) -> None:
    """Refuse exact methods to which a job runs as long as it would alone, where jobs slow each other down."""
    exact = {f"reference.exact[{index}]": entry.method for index, entry in enumerate(spec.exact)}
    exact |= {f"methods[{index}]": one.entry.method for index, one in enumerate(contestants) if one.kind == "exact"}
    for place, name in exact.items():
        for instance in (item.instance for item in instances):
            if isinstance(instance, JobsInstance):
                try:
                    refuse_interference(instance, name)
                except ValueError as error:
                    raise ValueError(f"{place}.{error} The instance is {instance.name}.") from error


def _bound_run(spec: StudySpec, item: StudyInstance, name: str) -> PlannedRun:
    """Return the run of a bound."""
    return PlannedRun(
        sha256=item.instance.sha256,
        phase="bound",
        kind="bound",
        label=name,
        method=name,
        parameters={},
        all_parameters={},
        objective=str(spec.objective),
    )


def _method_runs(spec: StudySpec, item: StudyInstance, contestants: Sequence[_Contestant]) -> Iterator[PlannedRun]:
    """Yield the runs of all methods on an instance, one repetition after the other."""
    for repetition in range(max((len(contestant.variants) for contestant in contestants), default=0)):
        seed = paired_seed(spec.seed, item.instance, repetition)
        budgets = dict.fromkeys(budget for contestant in contestants for budget in contestant.budgets)
        for budget in budgets:
            for contestant in contestants:
                if repetition < len(contestant.variants) and budget in contestant.budgets:
                    parameters, all_parameters = contestant.variants[repetition]
                    yield PlannedRun(
                        sha256=item.instance.sha256,
                        phase="method",
                        kind=contestant.kind,
                        label=contestant.entry.label,
                        method=contestant.entry.method,
                        parameters=parameters,
                        all_parameters=all_parameters,
                        objective=str(spec.objective),
                        budget=budget,
                        repetition=repetition,
                        seed=seed if contestant.is_seeded else 0,
                        threads=spec.threads if contestant.kind in KINDS_WITH_RUN else 1,
                    )


def _check_distinct(runs: Sequence[PlannedRun]) -> None:
    """Refuse two methods that would make the same runs."""
    label_of: dict[str, str] = {}
    for key, run in ((run.key, run) for run in runs):
        label = f"{run.label!r}{' of [[reference.exact]]' if run.phase == 'exact' else ''}"
        if key in label_of:
            raise ValueError(f"methods: expected methods that differ, got {label_of[key]} and {label}.")
        label_of[key] = label
