"""Options of commands as fields of dataclasses: what a command asks for is declared once, beside what uses it."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, field
from importlib import import_module
from inspect import isfunction
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from instances.fields import one_of
from studies.input import BadInputError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable


class Names:
    """Names that an option takes: they complete it in a shell, and refuse a misspelt one before anything is missed.

    Parameters
    ----------
    known
        Names, or ``module:name`` of what has them (a registry, an enumeration, a function that returns them), which is
        imported when they are needed.
    separator
        Sign between several names, empty where there is one.
    is_open
        Whether anything else may be given too, such as a path.
    """

    def __init__(self, *known: str, separator: str = "", is_open: bool = False) -> None:
        self._known = known
        self._separator = separator
        self._is_open = is_open

    def known(self) -> list[str]:
        """Return the names."""
        names: dict[str, None] = {}
        for entry in self._known:
            module, colon, place = entry.partition(":")
            found = attrgetter(place)(import_module(module)) if colon else [entry]
            names |= dict.fromkeys(map(str, found() if isfunction(found) else found))
        return list(names)

    def complete(self, incomplete: str) -> list[str]:
        """Return what a shell offers for the beginning of a value."""
        before, sign, last = incomplete.rpartition(self._separator) if self._separator else ("", "", incomplete)
        return [f"{before}{sign}{name}" for name in self.known() if name.startswith(last)]

    def parse(self, option: str) -> Callable[[str], str] | None:
        """Return a function that refuses other names and returns the text as it is; None where any text will do."""

        def check(text: str) -> str:
            known = self.known()
            for name in text.split(self._separator) if self._separator else [text]:
                try:
                    one_of(name.strip(), known, option)
                except ValueError as error:
                    raise BadInputError(str(error)) from error
            return text

        return None if self._is_open else check

    def given(self, option: str) -> dict[str, Any]:
        """Return the arguments of `typer.Option` or `typer.Argument`."""
        return {"parser": self.parse(option), "autocompletion": self.complete}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    """How a field is given on the command line.

    Parameters
    ----------
    help
        What the field means; one sentence or two.
    metavar
        Placeholder of the value in help; None for a flag, or for the usual one of the type.
    low, high
        Smallest and largest number, both allowed; None for no limit.
    above
        A bound that the number must exceed.
    flag, short
        The option as it is typed, None for ``--`` and the name of the field; and a short form such as ``-o``.
    parse
        Makes the value of a text, where the type alone does not say how.
    names
        The names that it takes, where it takes names.
    is_argument
        Whether the value is given by its position and not after a flag.
    file
        Whether the value names a file that the command reads or writes; such files are checked before work begins.
    """

    help: str
    metavar: str | None = None
    low: float | None = None
    high: float | None = None
    above: float | None = None
    flag: str | None = None
    short: str | None = None
    parse: Callable[[str], Any] | None = None
    names: Names | None = None
    is_argument: bool = False
    file: Literal["read", "written"] | None = None


def option(default: Any, help: str, **spec: Any) -> Any:
    """Return a dataclass field that a command offers as an option; `...` as default makes the option required.

    `spec` are the other fields of `OptionSpec`.
    """
    given = MISSING if default is ... else default
    return field(default=given, metadata={"option": OptionSpec(help=help, **spec)})


def integer(option: str, *, low: float | None = None, high: float | None = None) -> Callable[[str], int]:
    """Return a function that reads an integer of at least `low` and, where it is given, at most `high`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError as error:
            raise BadInputError(f"{option}: expected an integer, got {quoted(text)}.") from error
        if low is not None and value < low:
            raise BadInputError(f"{option}: expected an integer of at least {low}, got {value}.")
        if high is not None and value > high:
            raise BadInputError(f"{option}: expected an integer of at most {high}, got {value}.")
        return value

    return parse


def number(
    option: str, *, low: float | None = 0.0, high: float | None = None, low_is_allowed: bool = True
) -> Callable[[str], float]:
    """Return a function that reads a finite number of at least (or above) `low` and at most `high`."""
    low, high = low or 0.0, math.inf if high is None else high
    expected = f"a number {'of at least' if low_is_allowed else 'above'} {low:g}"
    if high < math.inf:
        expected = f"a number in {low:g}..{high:g}"

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError as error:
            raise BadInputError(f"{option}: expected a number, got {quoted(text)}.") from error
        if not low <= value <= high or math.isinf(value) or (value == low and not low_is_allowed):
            raise BadInputError(f"{option}: expected {expected}, got {value:g}.")
        return value

    return parse
