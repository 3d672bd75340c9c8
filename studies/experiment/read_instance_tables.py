"""Reading one of `[[instances]]` of a specification."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from instances.dag_from_graph import CostModel
from studies.experiment.study_problem import JOBS, StudyProblem, other_problem
from studies.experiment.study_spec import HETEROGENEITY, InstanceFiles, InstanceGrid, JobsGrid
from studies.experiment.toml_fields import checked_text

if TYPE_CHECKING:
    from studies.experiment.toml_fields import TomlTable


def read_instance_table(table: TomlTable, problem: StudyProblem) -> InstanceGrid | JobsGrid | InstanceFiles:
    """Read patterns of files, or a grid of generated instances of a problem.

    Raises
    ------
    ValueError
        If a field is missing, unknown, one of the other problem, or has another value.
    """
    if table.has("files"):
        files = InstanceFiles(patterns=table.texts("files"))
        table.close()
        return files
    other = other_problem(problem)
    for name in other.fields:
        if table.has(name):
            expected = f'fields of the problem "{problem.name}"'
            raise ValueError(f'{table.at(name)}: expected {expected}, got one of the problem "{other.name}".')
    for family in table.texts("family"):
        if family in other.families:
            expected = f'families of the problem "{problem.name}" ({", ".join(problem.families)})'
            raise ValueError(f'{table.at("family")}: expected {expected}, got {family!r} of "{other.name}".')
    families = table.texts("family", choices=problem.families)
    grid = _jobs_grid(table, families) if problem.name == JOBS else _dag_grid(table, families)
    table.close()
    return grid


def _dag_grid(table: TomlTable, families: tuple[str, ...]) -> InstanceGrid:
    """Read a grid of DAG instances."""
    cost_fields = [entry.name for entry in dataclasses.fields(CostModel) if entry.name not in ("ccr", "consistency")]
    cost = table.parameters("cost")
    for name in cost:
        checked_text(name, table.at("cost"), cost_fields)
    return InstanceGrid(
        families=families,
        tasks=table.integers("tasks", low=1),
        clusters=table.texts("cluster"),
        ccr=table.numbers("ccr") if table.has("ccr") else (None,),
        heterogeneity=table.texts("heterogeneity", ("inconsistent",), choices=list(HETEROGENEITY)),
        count=table.integer("count", 1, low=1),
        seed=table.integer("seed", 0),
        cost=cost,
        parameters=table.parameters("parameters"),
    )


def _jobs_grid(table: TomlTable, families: tuple[str, ...]) -> JobsGrid:
    """Read a grid of jobs instances."""
    return JobsGrid(
        families=families,
        jobs=table.integers("jobs", low=1),
        loads=table.numbers("load"),
        clusters=table.texts("cluster") if table.has("cluster") else (None,),
        count=table.integer("count", 1, low=1),
        seed=table.integer("seed", 0),
        tick_seconds=table.positive("tick_seconds", None),
        parameters=table.parameters("parameters"),
    )
