"""Reading the TOML file of a study."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.experiment.budget import Budget
from studies.experiment.read_instance_tables import read_instance_table
from studies.experiment.study_problem import DAG, PROBLEMS, StudyProblem, other_problem
from studies.experiment.study_spec import ExactReference, StudyMethod, StudySpec
from studies.experiment.toml_fields import TomlTable, checked_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.jobs.jobs_objective import JobsObjective
    from instances.objective import Objective

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
    problem = PROBLEMS[study.text("problem", DAG, choices=list(PROBLEMS))]
    methods = tuple(_method(table, problem) for table in document.tables("methods"))
    budgets = tuple(_budget(table) for table in document.tables("budgets"))
    bounds, exact = _reference(reference, problem)
    spec = StudySpec(
        name=study.text("name"),
        folder=folder,
        text=text,
        problem=problem.name,
        seed=study.integer("seed", 0),
        repetitions=study.integer("repetitions", 1, low=1),
        objective=_objective(study, problem),
        threads=study.integer("threads", 1, low=1),
        instances=tuple(read_instance_table(table, problem) for table in document.tables("instances", at_least=1)),
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


def _objective(study: TomlTable, problem: StudyProblem) -> Objective | JobsObjective:
    """Read what is minimised."""
    known = [str(objective) for objective in problem.objectives]
    return problem.objectives(study.text("objective", known[0], choices=known))


def _method(table: TomlTable, problem: StudyProblem) -> StudyMethod:
    """Read one of `[[methods]]`."""
    name = _method_name(table, list(problem.methods), problem)
    parameters = table.parameters("parameters")
    method = StudyMethod(
        label=table.text("label", name), method=name, parameters=parameters, vary=_vary(table, parameters)
    )
    table.close()
    return method


def _vary(table: TomlTable, parameters: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Read the parameter that takes several values in turn."""
    found, place = table.parameters("vary"), table.at("vary")
    if len(found) > 1:
        raise ValueError(f"{place}: expected one parameter, got {', '.join(found)}.")
    for name, values in found.items():
        if name in parameters:
            raise ValueError(f"{place}: expected another parameter than those of parameters, got {name!r}.")
        if not isinstance(values, list) or not values or len({repr(value) for value in values}) < len(values):
            raise ValueError(f"{place}.{name}: expected a list of different values, got {values!r}.")
    return {name: tuple(values) for name, values in found.items()}


def _method_name(table: TomlTable, known: list[str], problem: StudyProblem) -> str:
    """Take a registered name, or a function of one's own."""
    name: str = table.text("method")
    if ":" in name:
        return name
    other = other_problem(problem)
    if name not in known and name in other.methods and name not in problem.methods:
        expected = f'a method of the problem "{problem.name}" ({", ".join(known)})'
        raise ValueError(f'{table.at("method")}: expected {expected}, got {name!r} of the problem "{other.name}".')
    return checked_text(name, table.at("method"), known)


def _budget(table: TomlTable) -> Budget:
    """Read one of `[[budgets]]`."""
    budget = Budget(evaluations=table.integer("evaluations", None, low=1), seconds=table.positive("seconds", None))
    if budget == Budget():
        raise ValueError(f"{table.at('evaluations')}: expected evaluations, seconds or both, got neither.")
    table.close()
    return budget


def _reference(table: TomlTable, problem: StudyProblem) -> tuple[tuple[str, ...], tuple[ExactReference, ...]]:
    """Read `[reference]`: bounds, and one of `[[reference.exact]]` per exact method."""
    bounds = table.texts("bounds", (DEFAULT_BOUNDS,), choices=[DEFAULT_BOUNDS, *problem.bounds], at_least=0)
    exact = []
    for entry in table.tables("exact"):
        exact.append(
            ExactReference(
                method=checked_text(entry.text("method"), entry.at("method"), problem.exact_methods()),
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
