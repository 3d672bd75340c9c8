"""Reading the TOML file of a study."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from instances.dag_from_graph import CostModel
from instances.generators.families import FAMILIES
from instances.objective import Objective
from solvers.lower_bound import BOUND_METHODS
from solvers.methods import METHODS
from studies.experiment.budget import Budget
from studies.experiment.study_spec import (
    HETEROGENEITY,
    ExactReference,
    InstanceFiles,
    InstanceGrid,
    StudyMethod,
    StudySpec,
)
from studies.experiment.toml_fields import TomlTable, checked_text

if TYPE_CHECKING:
    from os import PathLike

DEFAULT_BOUNDS = "default"
"""Name for all bounds that are worth their time at the size of an instance."""


def read_study_spec(path: str | PathLike[str]) -> StudySpec:
    """Read a specification from a TOML file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a specification; the message gives the place in it and what was expected.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"file: expected text in UTF-8, got other bytes at {error.start}.") from error
    return study_spec_from_toml(text, folder=Path(path).resolve().parent)


def study_spec_from_toml(text: str, *, folder: Path = Path()) -> StudySpec:
    """Read a specification from TOML text.

    Parameters
    ----------
    text
        Tables ``[study]``, ``[[instances]]``, ``[[methods]]``, ``[[budgets]]``, ``[reference]``, ``[limits]``.
    folder
        What patterns of files in it are relative to.

    Raises
    ------
    ValueError
        If it is not a specification; the message gives the place in it and what was expected.
    """
    try:
        document = TomlTable(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"file: expected TOML, got an error: {error}.") from error
    study, reference, limits = (document.table(key) for key in ("study", "reference", "limits"))
    methods = tuple(_method(table) for table in document.tables("methods"))
    budgets = tuple(_budget(table) for table in document.tables("budgets"))
    bounds, exact = _reference(reference)
    spec = StudySpec(
        name=study.text("name"),
        folder=folder,
        text=text,
        seed=study.integer("seed", 0),
        repetitions=study.integer("repetitions", 1, low=1),
        objective=Objective(study.text("objective", "makespan", choices=[str(known) for known in Objective])),
        threads=study.integer("threads", 1, low=1),
        instances=tuple(_instances(table) for table in document.tables("instances", at_least=1)),
        methods=methods,
        budgets=budgets,
        bounds=bounds,
        exact=exact,
        run_seconds=limits.positive("run_seconds", None),
        memory_gib=limits.positive("memory_gib", None),
    )
    for table in (study, reference, limits, document):
        table.close()
    _check_distinct([method.label for method in methods], "methods", "label")
    _check_distinct([str(budget) for budget in budgets], "budgets", "budget")
    _check_distinct([exact.method for exact in spec.exact], "reference.exact", "method")
    return spec


def _instances(table: TomlTable) -> InstanceGrid | InstanceFiles:
    """Read one of `[[instances]]`."""
    if table.has("files"):
        files = InstanceFiles(patterns=table.texts("files"))
        table.close()
        return files
    cost_fields = [entry.name for entry in dataclasses.fields(CostModel) if entry.name not in ("ccr", "consistency")]
    cost = table.parameters("cost")
    for name in cost:
        checked_text(name, table.at("cost"), cost_fields)
    grid = InstanceGrid(
        families=table.texts("family", choices=list(FAMILIES)),
        tasks=table.integers("tasks", low=1),
        clusters=table.texts("cluster"),
        ccr=table.numbers("ccr") if table.has("ccr") else (None,),
        heterogeneity=table.texts("heterogeneity", ("inconsistent",), choices=list(HETEROGENEITY)),
        count=table.integer("count", 1, low=1),
        seed=table.integer("seed", 0),
        cost=cost,
        parameters=table.parameters("parameters"),
    )
    table.close()
    return grid


def _method(table: TomlTable) -> StudyMethod:
    """Read one of `[[methods]]`."""
    name = _method_name(table, list(METHODS))
    method = StudyMethod(label=table.text("label", name), method=name, parameters=table.parameters("parameters"))
    table.close()
    return method


def _method_name(table: TomlTable, known: list[str]) -> str:
    """Take a registered name, or a function of one's own."""
    name: str = table.text("method")
    if ":" in name:
        return name
    return checked_text(name, table.at("method"), known)


def _budget(table: TomlTable) -> Budget:
    """Read one of `[[budgets]]`."""
    budget = Budget(evaluations=table.integer("evaluations", None, low=1), seconds=table.positive("seconds", None))
    if budget == Budget():
        raise ValueError(f"{table.at('evaluations')}: expected evaluations, seconds or both, got neither.")
    table.close()
    return budget


def _reference(table: TomlTable) -> tuple[tuple[str, ...], tuple[ExactReference, ...]]:
    """Read `[reference]`: bounds, and one of `[[reference.exact]]` per exact method."""
    bounds = table.texts("bounds", (DEFAULT_BOUNDS,), choices=[DEFAULT_BOUNDS, *BOUND_METHODS], at_least=0)
    exact = []
    names = [name for name, method in METHODS.items() if method.kind == "exact"]
    for entry in table.tables("exact"):
        exact.append(
            ExactReference(
                method=checked_text(entry.text("method"), entry.at("method"), names),
                time_limit=entry.positive("time_limit"),
                threads=entry.integer("threads", 1, low=1),
                parameters=entry.parameters("parameters"),
            )
        )
        entry.close()
    return bounds, tuple(exact)


def _check_distinct(names: list[str], place: str, what: str) -> None:
    """Refuse what is there twice."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{place}: expected each {what} once, got {name!r} twice.")
