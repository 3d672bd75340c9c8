"""Reading the TOML file of a study, one's own or one that comes with the package."""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.clusters.cost_model import CostModel
from studies.experiment.specification import (
    DAG,
    HETEROGENEITY,
    JOBS,
    PROBLEMS,
    ExactReference,
    InstanceFiles,
    InstanceGrid,
    JobsGrid,
    SearchBudget,
    StudyMethod,
    StudyProblem,
    StudySpec,
    other_problem,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from instances.dag.objective import Objective
    from instances.jobs.objective import JobsObjective


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


def _budget(table: TomlTable) -> SearchBudget:
    """Read one of `[[budgets]]`."""
    budget = SearchBudget(
        evaluations=table.integer("evaluations", None, low=1), seconds=table.positive("seconds", None)
    )
    if budget == SearchBudget():
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


REQUIRED: Any = object()
"""Default of a field that must be there."""

HIGHEST = 2**63 - 1
"""Largest integer of TOML and of the store; the reader of Python takes larger ones."""


class TomlTable:
    """A table whose fields are taken by name and kind.

    Parameters
    ----------
    values
        The table as `tomllib` reads it.
    place
        Where it stands in the file, such as ``methods[2]``; empty for the whole file.

    Raises
    ------
    ValueError
        If it is no table; so do all methods where a field is not what was expected.
    """

    def __init__(self, values: object, place: str = "") -> None:
        if not isinstance(values, dict):
            raise ValueError(f"{place}: expected a table, got {_shown(values)}.")
        self._values: Mapping[str, object] = values
        self._taken: set[str] = set()
        self._place = place

    def at(self, key: str) -> str:
        """Return the place of a field."""
        return f"{self._place}.{key}" if self._place else key

    def has(self, key: str) -> bool:
        """Say whether a field is there."""
        return key in self._values

    def text(self, key: str, default: Any = REQUIRED, *, choices: Sequence[str] = ()) -> Any:
        """Take a text that is not empty, one of the choices where there are any."""
        value = self._take(key, default)
        if value is default:
            return value
        return checked_text(value, self.at(key), choices)

    def integer(self, key: str, default: Any = REQUIRED, *, low: int = 0) -> Any:
        """Take an integer of at least `low`."""
        value = self._take(key, default)
        return value if value is default else _checked_integer(value, self.at(key), low)

    def positive(self, key: str, default: Any = REQUIRED) -> Any:
        """Take a finite number above 0 as float."""
        value = self._take(key, default)
        if value is default:
            return value
        number = _checked_number(value, self.at(key))
        if number <= 0:
            raise ValueError(f"{self.at(key)}: expected a number above 0, got {value}.")
        return number

    def texts(
        self, key: str, default: Any = REQUIRED, *, choices: Sequence[str] = (), at_least: int = 1
    ) -> tuple[str, ...]:
        """Take a text or a list of different texts, at least so many."""
        found = self._several(key, default, at_least)
        return tuple(checked_text(value, place, choices) for place, value in found)

    def integers(self, key: str, default: Any = REQUIRED, *, low: int = 0) -> tuple[int, ...]:
        """Take an integer or a list of different integers, at least one."""
        return tuple(_checked_integer(value, place, low) for place, value in self._several(key, default))

    def numbers(self, key: str, default: Any = REQUIRED) -> tuple[float, ...]:
        """Take a number or a list of different numbers of at least 0, at least one, as floats."""
        numbers = tuple(_checked_number(value, place) for place, value in self._several(key, default))
        for number in numbers:
            if number < 0:
                raise ValueError(f"{self.at(key)}: expected numbers of at least 0, got {number}.")
        return numbers

    def table(self, key: str) -> TomlTable:
        """Take a table; one that is not there is empty."""
        return TomlTable(self._take(key, {}), self.at(key))

    def tables(self, key: str, *, at_least: int = 0) -> list[TomlTable]:
        """Take a list of tables, `[[key]]` in the file."""
        value = self._take(key, [])
        if not isinstance(value, list) or len(value) < at_least:
            raise ValueError(f"{self.at(key)}: expected {f'at least {at_least} of ' if at_least else ''}[[{key}]].")
        return [TomlTable(entry, f"{self.at(key)}[{index}]") for index, entry in enumerate(value)]

    def parameters(self, key: str) -> dict[str, Any]:
        """Take a table of parameters: truth values, finite numbers, texts, lists or tables of these; may be missing."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise ValueError(f"{self.at(key)}: expected a table such as {{ population = 50 }}, got {_shown(value)}.")
        for name, entry in value.items():
            within = entry if isinstance(entry, dict) else {"": entry}
            for inner, items in within.items():
                for item in items if isinstance(items, list) else [items]:
                    if not isinstance(item, bool | int | float | str) or (
                        isinstance(item, float) and not math.isfinite(item)
                    ):
                        place = f"{self.at(key)}.{name}{'.' if inner else ''}{inner}"
                        raise ValueError(f"{place}: expected a truth value, number or text, got {_shown(item)}.")
        return dict(value)

    def close(self) -> None:
        """Refuse fields that were not taken."""
        for key in self._values:
            if key not in self._taken:
                near = difflib.get_close_matches(key, self._taken, n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                place = self._place or "file"
                raise ValueError(f"{place}: expected {', '.join(sorted(self._taken))}, got the key {key!r}{hint}.")

    def _take(self, key: str, default: Any) -> Any:
        """Take a field as it is."""
        self._taken.add(key)
        if key not in self._values:
            if default is REQUIRED:
                raise ValueError(f"{self._place or 'file'}: expected the key {key!r}, got none.")
            return default
        return self._values[key]

    def _several(self, key: str, default: Any, at_least: int = 1) -> list[tuple[str, object]]:
        """Take one value or a list of different ones, with their places."""
        value = self._take(key, default)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if len(values) < at_least:
            raise ValueError(f"{self.at(key)}: expected at least one value, got none.")
        if len({repr(entry) for entry in values}) < len(values):
            raise ValueError(f"{self.at(key)}: expected each value once, got {_shown(values)}.")
        is_list = isinstance(value, list)
        return [(f"{self.at(key)}[{index}]" if is_list else self.at(key), entry) for index, entry in enumerate(values)]


def checked_text(value: object, place: str, choices: Sequence[str] = ()) -> str:
    """Return a text that is not empty, one of the choices where there are any.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if not isinstance(value, str) or not value:
        raise ValueError(f"{place}: expected a text, got {_shown(value)}.")
    if choices and value not in choices:
        near = difflib.get_close_matches(value, choices, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"{place}: expected one of {', '.join(choices)}, got {value!r}{hint}.")
    return value


def _checked_integer(value: object, place: str, low: int) -> int:
    """Return an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise ValueError(f"{place}: expected an integer of at least {low}, got {_shown(value)}.")
    if value > HIGHEST:
        raise ValueError(f"{place}: expected an integer of at most {HIGHEST}, got {_shown(value)}.")
    return value


def _checked_number(value: object, place: str) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{place}: expected a finite number, got {_shown(value)}.")
    return float(value)


def _shown(value: object) -> str:
    """Return a value as text, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


FOLDER = Path(__file__).resolve().parent.parent / "specs"


def shipped_specs() -> dict[str, Path]:
    """Return the files of all shipped specifications by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def spec_path(text: str) -> Path:
    """Return the file that a name or a path means; a file that exists goes first.

    Raises
    ------
    ValueError
        If it is neither a file nor the name of a shipped specification.
    """
    path = Path(text)
    if path.is_file():
        return path
    known = shipped_specs()
    name = text.replace("-", "_")
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ValueError(f"specification: expected a TOML file or one of {', '.join(known)}, got {text!r}{hint}.")
