"""Options of commands as fields of dataclasses: what a command asks for is declared once, beside what uses it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

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
    flag
        The option as it is typed; None for ``--`` and the name of the field.
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
