"""Free text beside the arrays, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def free_text(value: object, place: str) -> str:
    """Return the text.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If no file can hold it (lone surrogates).
    """
    if not isinstance(value, str):
        raise TypeError(f"{place}: expected text, got {value!r}.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{place}: expected text without lone surrogates, got {value!r}.") from error
    return value


def free_texts(values: Iterable[object], *, place: str, length: int) -> tuple[str, ...]:
    """Return the texts as a tuple of the expected length; `place` has ``{}`` for the index.

    Raises
    ------
    TypeError, ValueError
        As `free_text`, or if their number is another one.
    """
    texts = tuple(values)
    _check_length(texts, place, length)
    return tuple(free_text(text, place.format(index)) for index, text in enumerate(texts))


def optional_texts(values: Iterable[object], *, place: str, length: int) -> tuple[str | None, ...]:
    """Return the texts, some of which may be None, as `free_texts` does."""
    texts = tuple(values)
    _check_length(texts, place, length)
    return tuple(None if text is None else free_text(text, place.format(index)) for index, text in enumerate(texts))


def _check_length(texts: tuple[object, ...], place: str, length: int) -> None:
    """Check the number of texts."""
    if len(texts) != length:
        raise ValueError(f"{place.replace('{}', '')}: expected {length} entries, got {len(texts)}.")
