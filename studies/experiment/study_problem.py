"""The two problems that a study may be about, and the names that belong to each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.generators.families import FAMILIES
from instances.generators.jobs.families import ALL_JOBS_FAMILIES
from instances.jobs.jobs_objective import JobsObjective
from instances.objective import Objective
from solvers.jobs.jobs_methods import JOBS_METHODS
from solvers.jobs.lower_bound_jobs import JOBS_BOUND_METHODS
from solvers.lower_bound import BOUND_METHODS
from solvers.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solvers.methods import Method


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudyProblem:
    """What a specification may name under one problem.

    Parameters
    ----------
    name
        Of the problem, as in ``[study] problem``.
    objectives
        What may be minimised; the first is the default.
    families, bounds
        Names of generator families and of bounds without search.
    methods
        Registered methods by name.
    fields
        Fields of ``[[instances]]`` that only this problem has.
    """

    name: str
    objectives: type[Objective | JobsObjective]
    families: tuple[str, ...]
    bounds: tuple[str, ...]
    methods: Mapping[str, Method]
    fields: tuple[str, ...]

    def exact_methods(self) -> list[str]:
        """Return the names of the methods that prove optima."""
        return [name for name, method in self.methods.items() if method.kind == "exact"]


DAG, JOBS = "dag", "jobs"

PROBLEMS = {
    DAG: StudyProblem(
        name=DAG,
        objectives=Objective,
        families=tuple(FAMILIES),
        bounds=tuple(BOUND_METHODS),
        methods=METHODS,
        fields=("tasks", "ccr", "heterogeneity", "cost"),
    ),
    JOBS: StudyProblem(
        name=JOBS,
        objectives=JobsObjective,
        families=tuple(ALL_JOBS_FAMILIES),
        bounds=tuple(JOBS_BOUND_METHODS),
        methods=JOBS_METHODS,
        fields=("jobs", "load", "tick_seconds"),
    ),
}
"""Problems by name."""


def other_problem(problem: StudyProblem) -> StudyProblem:
    """Return the other one: names and fields of it are told apart from those that nobody knows."""
    return PROBLEMS[JOBS if problem.name == DAG else DAG]
