"""Reading the TOML file of a study, one's own or one that comes with the package."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.clusters.cost_model import CostModel
from instances.fields import TomlTable, checked_text
from instances.readers.dag.bundled import BUNDLED
from instances.readers.dag.read import READERS
from instances.readers.jobs.read import JOBS_READERS
from instances.spelling import did_you_mean
from instances.text_file import read_text
from solvers.check_arguments import MAX_THREADS
from solvers.problem import PROBLEMS
from studies.experiment.specification import (
    DAG,
    FAMILIES_OF,
    FIELDS_OF,
    FILE_FAMILY,
    HETEROGENEITY,
    JOBS,
    NAME_FIELDS,
    BundledInstances,
    ExactReference,
    InstanceFiles,
    InstanceGrid,
    JobsGrid,
    SearchBudget,
    StudyMethod,
    StudySpec,
    TraceWindows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from instances.dag.objective import Objective
    from instances.jobs.objective import JobsObjective
    from solvers.problem import Problem


MAX_SIZE, MAX_COUNT, MAX_REPETITIONS = 1_000_000, 10_000, 10_000
"""Most tasks or jobs of an instance, replicates of a grid, and repetitions; more is a slip of the finger."""

DEFAULT_BOUNDS = "default"
"""Name for all bounds that are worth their time at the size of an instance."""


def read_study_spec(path: str | PathLike[str]) -> StudySpec:
    r"""Read a specification from a TOML file.

    Raises an `OSError` if the file cannot be read, and a `ValueError` if it is not a specification; the message gives
    the place in it and what was expected.

    Examples
    --------
    >>> from pathlib import Path
    >>> import optgap
    >>> rows = ['[study]', 'name = "ours"', '[[instances]]', 'family = "chains"', 'tasks = 6', 'cluster = "mixed-3"']
    >>> _ = Path("ours.toml").write_text("\n".join([*rows, '[[methods]]', 'method = "heft"']))
    >>> optgap.read_study("ours.toml").name
    'ours'
    """
    return study_spec_from_toml(read_text(path), folder=Path(path).resolve().parent)


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
    study, reference, limits = (document.inner(key, {}) for key in ("study", "reference", "limits"))
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
        repetitions=study.integer("repetitions", 1, low=1, high=MAX_REPETITIONS),
        objective=_objective(study, problem),
        threads=study.integer("threads", 1, low=1, high=MAX_THREADS),
        instances=tuple(read_instance_table(table, problem) for table in document.tables("instances", at_least=1)),
        methods=methods,
        budgets=budgets,
        bounds=bounds,
        exact=exact,
        run_seconds=limits.positive("run_seconds", None),
        memory_gib=limits.positive("memory_gib", None),
    )
    document.close()
    _check_distinct([method.label for method in methods], "methods", "label")
    _check_distinct([str(budget) for budget in budgets], "budgets", "budget")
    _check_distinct([exact.method for exact in spec.exact], "reference.exact", "method")
    return spec


def _objective(study: TomlTable, problem: Problem) -> Objective | JobsObjective:
    """Read what is minimised."""
    known = [str(objective) for objective in problem.objectives]
    objective: Objective | JobsObjective = problem.objectives(study.text("objective", known[0], choices=known))
    return objective


def _method(table: TomlTable, problem: Problem) -> StudyMethod:
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
    found, place = table.parameters("vary"), table.place("vary")
    if len(found) > 1:
        raise ValueError(f"{place}: expected one parameter, got {', '.join(found)}.")
    for name, values in found.items():
        if name in parameters:
            raise ValueError(f"{place}: expected another parameter than those of parameters, got {name!r}.")
        if not isinstance(values, list) or not values or len({repr(value) for value in values}) < len(values):
            raise ValueError(f"{place}.{name}: expected a list of different values, got {values!r}.")
    return {name: tuple(values) for name, values in found.items()}


def _method_name(table: TomlTable, known: list[str], problem: Problem) -> str:
    """Take a registered name, or a function of one's own."""
    name: str = table.text("method")
    if ":" in name:
        return name
    other = _other(problem)
    if name not in known and name in other.methods and name not in problem.methods:
        expected = f'a method of the problem "{problem.name}" ({", ".join(known)})'
        raise ValueError(f'{table.place("method")}: expected {expected}, got {name!r} of the problem "{other.name}".')
    return checked_text(name, table.place("method"), known)


def _other(problem: Problem) -> Problem:
    """Return the other problem: its names and fields are told apart from those that nobody knows."""
    return next(other for other in PROBLEMS.values() if other is not problem)


def _budget(table: TomlTable) -> SearchBudget:
    """Read one of `[[budgets]]`."""
    budget = SearchBudget(
        evaluations=table.integer("evaluations", None, low=1), seconds=table.positive("seconds", None)
    )
    if budget == SearchBudget():
        raise ValueError(f"{table.place('evaluations')}: expected evaluations, seconds or both, got neither.")
    table.close()
    return budget


def _reference(table: TomlTable, problem: Problem) -> tuple[tuple[str, ...], tuple[ExactReference, ...]]:
    """Read `[reference]`: bounds, and one of `[[reference.exact]]` per exact method."""
    bounds = table.texts("bounds", (DEFAULT_BOUNDS,), choices=[DEFAULT_BOUNDS, *problem.bounds], at_least=0)
    exact = []
    for entry in table.tables("exact"):
        exact.append(
            ExactReference(
                method=checked_text(entry.text("method"), entry.place("method"), problem.exact_methods),
                time_limit=entry.positive("time_limit"),
                threads=entry.integer("threads", 1, low=1, high=MAX_THREADS),
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


def read_instance_table(
    table: TomlTable, problem: Problem
) -> InstanceGrid | JobsGrid | TraceWindows | InstanceFiles | BundledInstances:
    """Read patterns of files, names of bundled instances, windows of a trace, or a grid of generated instances.

    Raises a `ValueError` if a field is missing, unknown, one of the other problem, or has another value.
    """
    if table.has("files"):
        format_name = None
        if table.has("format"):
            format_name = table.text("format", choices=list(READERS) if problem.name == DAG else [])
        files = InstanceFiles(
            patterns=table.texts("files"),
            may_be_absent=table.text("absent", "refuse", choices=("refuse", "skip")) == "skip",
            family=table.text("family", FILE_FAMILY),
            format=format_name,
            parameters={} if format_name is None else table.parameters("parameters"),
        )
        table.close()
        return files
    other = _other(problem)
    for name in FIELDS_OF[other.name]:
        if table.has(name):
            expected = f'fields of the problem "{problem.name}"'
            found = f'one of the problem "{other.name}"'
            raise ValueError(f"{table.place(name)}: expected {expected}, got {found}.")
    if table.has("bundled"):
        bundled = BundledInstances(names=table.texts("bundled", choices=list(BUNDLED)))
        table.close()
        return bundled
    if table.has("trace"):
        windows = _trace_windows(table)
        table.close()
        return windows
    for family in table.texts("family"):
        if family in FAMILIES_OF[other.name]:
            expected = f'families of the problem "{problem.name}" ({", ".join(FAMILIES_OF[problem.name])})'
            raise ValueError(f'{table.place("family")}: expected {expected}, got {family!r} of "{other.name}".')
    families = table.texts("family", choices=FAMILIES_OF[problem.name])
    grid = _jobs_grid(table, families) if problem.name == JOBS else _dag_grid(table, families)
    table.close()
    return grid


def _dag_grid(table: TomlTable, families: tuple[str, ...]) -> InstanceGrid:
    """Read a grid of DAG instances."""
    cost_fields = [entry.name for entry in dataclasses.fields(CostModel) if entry.name not in ("ccr", "consistency")]
    cost = table.parameters("cost")
    for name in cost:
        checked_text(name, table.place("cost"), cost_fields)
    return InstanceGrid(
        families=families,
        tasks=table.integers("tasks", low=1, high=MAX_SIZE),
        clusters=table.texts("cluster"),
        ccr=table.numbers("ccr") if table.has("ccr") else (None,),
        heterogeneity=table.texts("heterogeneity", ("inconsistent",), choices=list(HETEROGENEITY)),
        count=table.integer("count", 1, low=1, high=MAX_COUNT),
        seed=table.integer("seed", 0),
        cost=cost,
        parameters=table.parameters("parameters"),
        name=_name(table),
    )


def _name(table: TomlTable) -> str | None:
    """Read the name of generated instances, and check what it says of them."""
    name: str | None = table.text("name", None)
    try:
        (name or "").format_map(dict.fromkeys(NAME_FIELDS, ""))
    except (KeyError, ValueError, IndexError) as error:
        known = ", ".join(f"{{{field}}}" for field in NAME_FIELDS)
        raise ValueError(f"{table.place('name')}: expected a text with some of {known}, got {name!r}.") from error
    return name


def _jobs_grid(table: TomlTable, families: tuple[str, ...]) -> JobsGrid:
    """Read a grid of jobs instances."""
    return JobsGrid(
        families=families,
        jobs=table.integers("jobs", low=1, high=MAX_SIZE),
        loads=table.numbers("load"),
        clusters=table.texts("cluster") if table.has("cluster") else (None,),
        count=table.integer("count", 1, low=1, high=MAX_COUNT),
        seed=table.integer("seed", 0),
        tick_seconds=table.positive("tick_seconds", None),
        parameters=table.parameters("parameters"),
    )


def _trace_windows(table: TomlTable) -> TraceWindows:
    """Read windows of a recorded trace."""
    return TraceWindows(
        trace=table.text("trace", choices=list(JOBS_READERS)),
        file=table.text("file"),
        jobs=table.integer("jobs", low=1, high=MAX_SIZE),
        first_row=table.integer("first_row", 0),
        stride=table.integer("stride", 0),
        count=table.integer("count", 1, low=1, high=MAX_COUNT),
        cluster=table.text("cluster"),
        load=table.positive("load", None),
        seed=table.integer("seed", 0),
        parameters=table.parameters("parameters"),
    )


FOLDER = Path(__file__).resolve().parent.parent / "specs"


def shipped_specs() -> dict[str, Path]:
    """Return the files of all shipped specifications by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def spec_path(text: str) -> Path:
    """Return the file that a name or a path means; a file that exists goes first.

    Raises a `ValueError` if it is neither a file nor the name of a shipped specification.
    """
    path = Path(text)
    if path.is_file():
        return path
    known = shipped_specs()
    name = text.replace("-", "_")
    if name in known:
        return known[name]
    hint = did_you_mean(Path(name).stem, known)
    raise ValueError(f"specification: expected a TOML file or one of {', '.join(known)}, got {text!r}{hint}.")
