"""Options of commands as fields of dataclasses: what a command asks for is declared once, beside what uses it."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from studies.input import BadInputError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable


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
    is_argument: bool = False
    file: Literal["read", "written"] | None = None


def option(default: Any, help: str, **spec: Any) -> Any:
    """Return a dataclass field that a command offers as an option; `...` as default makes the option required.

    Parameters
    ----------
    spec
        The other fields of `OptionSpec`.
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
