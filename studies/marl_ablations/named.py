"""Things by their names, as options hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class _HasName(Protocol):
    """Something with a unique name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


Thing = TypeVar("Thing", bound=_HasName)


def named(things: Sequence[Thing], text: str, expected: str) -> tuple[Thing, ...]:
    """Return the things whose names a text holds, separated by semicolons, in their own order.

    Parameters
    ----------
    things
        All there are.
    text
        Names, which may hold commas.
    expected
        Place and what is expected there, for messages, such as ``only: expected some of``.

    Raises
    ------
    ValueError
        If there is none of a name.
    """
    names = [part.strip() for part in text.split(";")]
    known = [thing.name for thing in things]
    for name in names:
        if name not in known:
            raise ValueError(f"{expected} {'; '.join(known)}, got {name!r}.")
    return tuple(thing for thing in things if thing.name in names)
