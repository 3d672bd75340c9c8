"""Which runs a study consists of."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solvers.methods import KINDS_WITH_RUN, METHODS
from solvers.resolve_method import kind_of
from studies.experiment.budget import Budget
from studies.experiment.planned_run import PlannedRun
from studies.paired_seed import paired_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from studies.experiment.study_instance import StudyInstance
    from studies.experiment.study_spec import StudyMethod, StudySpec

GIVEN_BY_SOLVE = ("instance", "objective", "rng", "stop", "callback", "run", "contention")
"""Parameters of methods that are not theirs."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyPlan:
    """Instances and runs, both in the order in which they are worked on."""

    spec: StudySpec
    instances: tuple[StudyInstance, ...]
    runs: tuple[PlannedRun, ...]


def study_plan(spec: StudySpec, instances: Sequence[StudyInstance]) -> StudyPlan:
    """Return the runs: references of all instances first, then the methods, repetition by repetition.

    Runs of one repetition stand side by side, so that a machine that becomes slower does so for all methods alike.
    Constructions without random numbers run once per instance, searches once per repetition and budget, and what works
    against the clock only (exact methods, those that improve schedules) under every budget that has seconds.

    Raises
    ------
    ValueError
        If a method does not exist, has no such parameter or no budget it can work with, or two methods are the same.
    """
    contestants = [_Contestant(spec, index, method) for index, method in enumerate(spec.methods)]
    references = [
        _CheckedMethod(f"reference.exact[{index}]", exact.method, exact.parameters)
        for index, exact in enumerate(spec.exact)
    ]
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


def method_of(name: str) -> str | Callable[..., Any]:
    """Return what `solve` takes as method: a registered name as it is, or the function behind ``module:function``.

    Raises
    ------
    ValueError
        If there is no such method or function.
    """
    if ":" not in name:
        if name not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)} or MODULE:FUNCTION, got {name!r}.")
        return name
    module, _, function = name.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"method: expected MODULE:FUNCTION that can be imported, got {name!r} ({error}).") from error
    return found


class _CheckedMethod:
    """A method with its parameters checked against its signature."""

    def __init__(self, place: str, name: str, parameters: Mapping[str, Any]) -> None:
        try:
            self.method = method_of(name)
        except ValueError as error:
            raise ValueError(f"{place}.{error}") from error
        function = METHODS[name].resolve() if isinstance(self.method, str) else self.method
        self.signature = inspect.signature(function).parameters
        accepted = {key: value for key, value in self.signature.items() if key not in GIVEN_BY_SOLVE}
        takes_all = any(value.kind is value.VAR_KEYWORD for value in accepted.values())
        for key in parameters:
            if key not in accepted and not takes_all:
                expected = f"a parameter of {name} ({', '.join(accepted) or 'it has none'})"
                raise ValueError(f"{place}.parameters: expected {expected}, got {key!r}.")
        defaults = {key: value.default for key, value in accepted.items() if value.default is not value.empty}
        self.all_parameters = {**defaults, **parameters}
        if isinstance(self.method, str) and "weights" in accepted:
            self.all_parameters["weights"] = _weights_hash(place, self.all_parameters["weights"])


class _Contestant(_CheckedMethod):
    """A method of the study, and the budgets under which it runs."""

    def __init__(self, spec: StudySpec, index: int, method: StudyMethod) -> None:
        place = f"methods[{index}]"
        super().__init__(place, method.method, method.parameters)
        self.entry = method
        self.kind = kind_of(self.method)
        self.budgets: list[Budget] = [Budget()]
        self.repetitions = spec.repetitions
        self.is_seeded = "rng" in self.signature or self.kind != "construction"
        if self.kind == "construction":
            self.repetitions = spec.repetitions if self.is_seeded else 1
            return
        self.budgets = list(spec.budgets)
        if self.kind in KINDS_WITH_RUN:
            self.budgets = [budget for budget in spec.budgets if budget.seconds is not None]
        if not self.budgets:
            what = "[[budgets]] with seconds" if self.kind in KINDS_WITH_RUN else "[[budgets]]"
            raise ValueError(f"{place}: expected {what} for {method.method}, got none.")


def _weights_hash(place: str, path: str | None) -> str:
    """Return the content hash of a method's weights: other weights are another run, whatever their file is called."""
    from heuristics.dag.worl_rtgs.network import weights_sha256
    from heuristics.dag.worl_rtgs.shipped_weights import weights_from

    try:
        return weights_sha256(weights_from(path))
    except (OSError, ValueError) as error:
        raise ValueError(f"{place}.parameters.weights: expected a file of weights, got: {error}") from error


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
    for repetition in range(spec.repetitions):
        seed = paired_seed(spec.seed, item.instance, repetition)
        budgets = dict.fromkeys(budget for contestant in contestants for budget in contestant.budgets)
        for budget in budgets:
            for contestant in contestants:
                if repetition < contestant.repetitions and budget in contestant.budgets:
                    yield PlannedRun(
                        sha256=item.instance.sha256,
                        phase="method",
                        kind=contestant.kind,
                        label=contestant.entry.label,
                        method=contestant.entry.method,
                        parameters=contestant.entry.parameters,
                        all_parameters=contestant.all_parameters,
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
        if key in label_of:
            raise ValueError(f"methods: expected methods that differ, got {label_of[key]!r} and {run.label!r}.")
        label_of[key] = run.label
