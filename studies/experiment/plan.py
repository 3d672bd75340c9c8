"""Which runs a study consists of, with their keys and seeds, and how long they take, roughly."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.check_arguments import check_interference
from solvers.methods import KINDS_WITH_RUN
from solvers.problem import problem_of
from studies.experiment.checked_method import AGENTS, CheckedMethod
from studies.experiment.specification import SearchBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from instances.dag.instance import DagInstance
    from instances.jobs.instance import JobsInstance
    from studies.experiment.instances import StudyInstance
    from studies.experiment.specification import StudyMethod, StudySpec


PHASES = ("bound", "exact", "method")
"""What runs after what: bounds first, so that every method's schedule is held against them at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """Everything that decides what a run does.

    Parameters
    ----------
    phase
        One of `PHASES`.
    kind
        That of the method in `solvers.methods`, "bound" for a bound without search.
    label, method
        Name in tables, and the method that is called.
    parameters
        As given in the specification.
    all_parameters
        With the defaults of all others: the key holds these, so that a new default is a new run.
    budget
        Budget of a search, or time limit of an exact method.
    """

    sha256: str
    phase: str
    kind: str
    label: str
    method: str
    parameters: Mapping[str, Any]
    all_parameters: Mapping[str, Any]
    objective: str
    budget: SearchBudget = field(default_factory=SearchBudget)
    repetition: int = 0
    seed: int = 0
    threads: int = 1

    @property
    def key(self) -> str:
        """Hash of all that decides what the run does; the label does not."""
        content = {
            "instance": self.sha256,
            "kind": self.kind,
            "method": self.method,
            "parameters": dict(self.all_parameters),
            "objective": self.objective,
            "evaluations": self.budget.evaluations,
            "seconds": self.budget.seconds,
            "repetition": self.repetition,
            "seed": self.seed,
            "threads": self.threads,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]


MAX_RUNS = 1_000_000
"""Most runs of methods that a plan may have; it holds them all in memory."""

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

    Raises a `ValueError` if a method does not exist, has no such parameter or no budget it can work with, is exact and
    does not know the interference of an instance, or two methods are the same.
    """
    contestants = [_Contestant(spec, index, method) for index, method in enumerate(spec.methods)]
    references = [
        CheckedMethod(f"reference.exact[{index}]", exact.method, exact.parameters, spec.problem)
        for index, exact in enumerate(spec.exact)
    ]
    _refuse_interference(spec, contestants, instances)
    number = len(instances) * sum(len(one.variants) * len(one.budgets) for one in contestants)
    if number > MAX_RUNS:
        raise ValueError(f"study.repetitions: expected at most {MAX_RUNS} runs of the study, got {number}.")
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
                budget=SearchBudget(seconds=exact.time_limit),
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
        self.budgets: list[SearchBudget] = [SearchBudget()]
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
            what = "seconds" if self.kind in KINDS_WITH_RUN else "evaluations or seconds"
            raise ValueError(f"{place}: expected [[budgets]] with {what} for {method.method}, got none.")


def _refuse_interference(
    spec: StudySpec, contestants: Sequence[_Contestant], instances: Sequence[StudyInstance]
) -> None:
    """Refuse exact methods to which a job runs as long as it would alone, where jobs slow each other down."""
    exact = {f"reference.exact[{index}]": entry.method for index, entry in enumerate(spec.exact)}
    exact |= {f"methods[{index}]": one.entry.method for index, one in enumerate(contestants) if one.kind == "exact"}
    for place, name in exact.items():
        for instance in (item.instance for item in instances):
            try:
                check_interference(problem_of(instance), instance, name)
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


def paired_seed(study_seed: int, instance: DagInstance | JobsInstance, repetition: int = 0) -> int:
    """Return the seed of all methods on an instance in one repetition, in [0, 2**32)."""
    entropy = [study_seed, int(instance.sha256[:16], 16), repetition]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


OVERHEAD_SECONDS = 0.004
"""Of a run: verification, store, messages (measured)."""

EVALUATION_SECONDS, PAIR_SECONDS = 2e-5, 2.5e-8
"""Of an evaluation of random keys, and on top of it per pair of task and GPU (measured: 20 us for 100 x 8)."""

NETWORK_PAIR_SECONDS = 4.2e-7
"""The same for placements by the network (measured: 0.33 ms for 100 x 8)."""

NETWORK_METHODS = ("worl-rtgs", "ddqn-sampling", "ddqn")

BOUND_PAIR_SECONDS, CONSTRUCTION_PAIR_SECONDS = 1e-4, 1e-6
"""Of a bound and of a construction, per pair of task (or job) and GPU."""

MOST_BOUND_SECONDS = 30.0
"""Of a bound: the expensive ones are left out on large instances."""

POLICY_ROOT_SECONDS = 3e-4
"""Of a policy, per root of the pairs of job and GPU (measured: 15 ms for 200 x 16, 2 s for 15,000 x 1,508)."""

AGENTS_PAIR_SECONDS = 2.5e-4
"""Of agents with networks, per pair of job and GPU (measured: 1 s for 60 x 64)."""

EXACT_SHARE = 0.5
"""Of their time limits, exact methods use so much on average: small instances are proved at once."""


def estimated_seconds(run: PlannedRun, pairs: int) -> float:
    """Return the wall time of a run on an instance with so many pairs of task (or job) and GPU."""
    if run.kind == "bound":
        return OVERHEAD_SECONDS + min(MOST_BOUND_SECONDS, BOUND_PAIR_SECONDS * pairs)
    if run.kind == "policy" and run.method == AGENTS:
        return OVERHEAD_SECONDS + AGENTS_PAIR_SECONDS * pairs
    if run.kind == "policy":
        return OVERHEAD_SECONDS + POLICY_ROOT_SECONDS * math.sqrt(pairs)
    if run.kind in ("exact", "improvement"):
        share = EXACT_SHARE if run.kind == "exact" else 1.0
        return OVERHEAD_SECONDS + share * (run.budget.seconds or 0.0)
    per_pair = NETWORK_PAIR_SECONDS if run.method in NETWORK_METHODS else PAIR_SECONDS
    if run.kind == "construction":
        return OVERHEAD_SECONDS + max(CONSTRUCTION_PAIR_SECONDS, per_pair) * pairs
    times = [] if run.budget.seconds is None else [run.budget.seconds]
    if run.budget.evaluations is not None:
        times.append(run.budget.evaluations * (EVALUATION_SECONDS + per_pair * pairs))
    return OVERHEAD_SECONDS + min(times)


def plan_seconds(plan: StudyPlan, workers: int, done: set[str] | frozenset[str] = frozenset()) -> float:
    """Return the wall time of all runs that are not done, on so many workers; runs with more threads take more."""
    pairs = {item.instance.sha256: item.num_pairs for item in plan.instances}
    total = 0.0
    for run in plan.runs:
        if run.key not in done:
            total += estimated_seconds(run, pairs[run.sha256]) / max(1, workers // run.threads)
    return total
