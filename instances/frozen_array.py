"""Data that never changes: read-only arrays with checked kind and shape, checked free text, and their dataclasses."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    Shape = tuple[int | None, ...]


MAX_INTEGER = 2**53
"""Largest magnitude of any integer in an instance: up to here 64-bit floats are exact too."""


class ReadOnly:
    """Base of dataclasses that never change: copies within a process are the object itself."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Self:
        """Return the object itself: nothing in it can change."""
        return self

    def private_copy(self) -> Self:
        """Return an object with arrays of its own, for code that may not keep to the rules; nothing is checked again.

        It takes as long as copying the bytes of the arrays: 1 ms for 20,000 tasks on 8 GPUs.
        """
        made = object.__new__(type(self))
        for item in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value = _frozen(value.copy())
            object.__setattr__(made, item.name, value.private_copy() if isinstance(value, ReadOnly) else value)
        return made

    def differences(self, other: ReadOnly) -> list[str]:
        """Return the names of the fields in which another object of this kind differs; caches do not count."""
        found: list[str] = []
        names = [item.name for item in fields(self) if not item.name.startswith("_")]  # type: ignore[arg-type]
        for name in names if other is not self else ():
            one, two = getattr(self, name, None), getattr(other, name, None)
            if isinstance(one, ReadOnly) and isinstance(two, ReadOnly):
                found += one.differences(two)
            elif isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
                found += [] if one.dtype == two.dtype and np.array_equal(one, two) else [name]
            elif type(one) is not type(two) or one != two:
                found.append(name)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Make a copy from another process through the constructor, so that it is read-only too."""
        items = fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
        return _remade, (type(self), {item.name: getattr(self, item.name) for item in items if item.init})

    def _freeze_integers(self, expected: Mapping[str, tuple[str, Shape]]) -> None:
        """Replace each of these fields by a read-only copy, given its place and shape."""
        for name, (place, shape) in expected.items():
            object.__setattr__(self, name, frozen_integers(getattr(self, name), place=place, shape=shape))

    def _freeze_texts(self, expected: Mapping[str, tuple[str, int]]) -> None:
        """Replace each of these fields by a tuple of texts, given its place and length."""
        for name, (place, length) in expected.items():
            object.__setattr__(self, name, free_texts(getattr(self, name), place=place, length=length))


def _remade(kind: type[ReadOnly], values: dict[str, Any]) -> ReadOnly:
    """Call the constructor, for `pickle`."""
    return kind(**values)


def frozen_integers(values: ArrayLike, *, place: str, shape: Shape) -> NDArray[np.int64]:
    """Return a read-only int64 copy of `values`.

    Parameters
    ----------
    values
        Integers; booleans and fractions are refused.
    place
        Place of the values in the file, for the error message.
    shape
        Expected length of each axis; None where any length will do.

    Raises
    ------
    TypeError
        If an entry is not an integer.
    ValueError
        If the shape is another one, or an entry is beyond 2**53.
    """
    array = _shaped(values, place=place, shape=shape)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" and not _is_huge(array):
        raise TypeError(f"{place}: expected integers, got {_example(array)}.")
    if array.size and (int(array.max()) > MAX_INTEGER or int(array.min()) < -MAX_INTEGER):
        raise ValueError(f"{place}: expected values up to 2**53, got {_largest(array)}.")
    return _frozen(array.astype(np.int64, order="C", copy=False))


def frozen_floats(values: ArrayLike, *, place: str, shape: Shape) -> NDArray[np.float64]:
    """Return a read-only float64 copy of `values`; see `frozen_integers` for the parameters.

    Raises a `TypeError` if an entry is not a number, and a `ValueError` if the shape is another one, or an entry is not
    finite.
    """
    array = _shaped(values, place=place, shape=shape)
    if array.size == 0:
        array = array.astype(np.float64, order="C", copy=False)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{place}: expected numbers, got {_example(array)}.")
    array = array.astype(np.float64, order="C", copy=False)
    if not np.isfinite(array).all():
        index = tuple(int(axis) for axis in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{place}{_subscript(index)}: expected a finite number, got {array[index]}.")
    return _frozen(array)


def _shaped(values: ArrayLike, *, place: str, shape: Shape) -> NDArray[Any]:
    """Return a fresh array of the expected shape."""
    try:
        array = np.array(values, order="C")
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{place}: expected {_shape_text(shape)}, got rows of different lengths.") from error
    if array.size == 0 and 0 in (expected for expected in shape if expected is not None):
        array = array.reshape([0 if expected is None else expected for expected in shape])
    if array.size == 0 and len(shape) > array.ndim:  # an empty list of rows has no second axis
        array = array.reshape([0 if axis == 0 or expected is None else expected for axis, expected in enumerate(shape)])
    fits = array.ndim == len(shape) and all(
        expected is None or expected == actual for expected, actual in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{place}: expected {_shape_text(shape)}, got {_shape_text(array.shape)}.")
    return array


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Forbid writing; the array is ours alone."""
    array.flags.writeable = False
    return array


def _shape_text(shape: Shape) -> str:
    """Describe a shape in words."""
    if not shape:
        return "a single value"
    if len(shape) == 1:
        return "a list" if shape[0] is None else f"{shape[0]} entries"
    return " x ".join("any" if length is None else str(length) for length in shape) + " entries"


def _is_huge(array: NDArray[Any]) -> bool:
    """Say whether these are integers beyond 64 bits, which NumPy keeps as objects, or as floats if below 2**64."""
    if array.dtype.kind == "f":
        return bool((array == np.floor(array)).all() and np.isfinite(array).all() and np.abs(array).max() >= 2.0**63)
    return array.dtype.kind == "O" and all(type(value) is int for value in array.flat)


def _example(array: NDArray[Any]) -> str:
    """Show the first entry that is not an integer, with its position; one fraction makes floats of its neighbours."""
    entries = [
        (isinstance(value, float) and value.is_integer(), index, value)
        for index, value in np.ndenumerate(array.astype(object))
        if isinstance(value, bool) or not isinstance(value, int)
    ]
    if not entries:
        return f"an array of {array.dtype}"
    _, index, value = min(entries, key=lambda entry: entry[0])
    return f"{value!r} at {_subscript(index)}"


def _largest(array: NDArray[Any]) -> int:
    """Return the entry of largest magnitude."""
    low, high = int(array.min()), int(array.max())
    return low if -low > high else high


def _subscript(index: tuple[int, ...]) -> str:
    """Write an index as it stands in the file."""
    return "".join(f"[{axis}]" for axis in index)


def positive_tick(value: object) -> float:
    """Return the length of a tick in seconds as float.

    Raises a `TypeError` if it is not a number, and a `ValueError` if it is not positive, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"tick_seconds: expected a number, got {value!r}.")
    tick = math.inf if abs(value) >= 2**1023 else float(value)  # no float holds a larger integer
    if not 0 < tick < math.inf:
        raise ValueError(f"tick_seconds: expected a positive number, got {tick}.")
    return tick


def free_text(value: object, place: str) -> str:
    """Return the text.

    Raises a `TypeError` if it is no text, and a `ValueError` if no file can hold it (lone surrogates).
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

    Raises as `free_text`, or if their number is another one.
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
