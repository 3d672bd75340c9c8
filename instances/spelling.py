"""What a misspelt name may mean: the one place that finds the nearest of the known names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


MOST = 3
"""Most names that a message suggests."""

LEAST_PART = 3
"""Fewest letters that are looked for within longer names."""

LETTERS_PER_ERROR = 3
"""Letters that must be typed for each error that is forgiven; a text of two letters may have one."""


def did_you_mean(text: object, known: Iterable[object]) -> str:
    """Return the nearest names in brackets, to be put after a misspelt one, such as `` (did you mean heft?)``."""
    near = nearest(str(text), map(str, known))
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def nearest(text: str, known: Iterable[str]) -> list[str]:
    """Return the names that a misspelt one may mean, at most `MOST`; none where nothing is near.

    Those are names that contain it, or else those that are the fewest typing errors away (`typing_errors`). Of names
    equally far, those count that begin alike for longer, because the first letter is rarely wrong. Upper and lower case
    are the same, and so are hyphens, underscores and blanks.
    """
    wanted = _plain(text)
    allowed = max(len(wanted) // LETTERS_PER_ERROR, min(len(wanted) - 1, 1))
    found: dict[str, tuple[bool, int, int]] = {}
    for name in known:
        plain = _plain(name)
        is_part = len(wanted) >= LEAST_PART and wanted in plain
        if is_part or abs(len(plain) - len(wanted)) <= allowed:
            errors = typing_errors(wanted, plain)
            if is_part or errors <= allowed:
                found[name] = (not is_part, errors, -_common_beginning(wanted, plain))
    best = min(found.values(), default=None)
    return [name for name, key in found.items() if key == best][:MOST]


def typing_errors(one: str, other: str) -> int:
    """Return how many letters are too many, missing, wrong, or swapped with their neighbour (optimal string alignment).

    Row i of the table holds the errors between the first i letters of one text and every beginning of the other; only
    the last two rows are needed.
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one):
        now = [row + 1]
        for column, wanted in enumerate(other):
            errors = min(last[column + 1] + 1, now[column] + 1, last[column] + (letter != wanted))
            if row and column and letter == other[column - 1] and wanted == one[row - 1]:
                errors = min(errors, before[column - 1] + 1)
            now.append(errors)
        before, last = last, now
    return last[-1]


def _common_beginning(one: str, other: str) -> int:
    """Return how many letters two texts begin with alike."""
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), len(one))


def _plain(text: str) -> str:
    """Return a name without what people do not tell apart, cut to a length that no name has."""
    return text[:100].strip().lstrip("-").casefold().replace("_", "-").replace(" ", "-")
