"""Parameters of generators and readers: their checks, and groups of them that are dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def fields_as_parameters(function: Callable[..., T]) -> Callable[..., T]:
    """Let callers pass the fields of a parameter that is a dataclass, such as `spread` of `mix`, one by one.

    A parameter is such a group if its default is a dataclass. The signature of the result lists the fields in place of
    the group: the command line and study specifications see one flat list of parameters.
    """
    signature = inspect.signature(function)
    defaults = {name: item.default for name, item in signature.parameters.items()}
    groups: dict[str, Any] = {name: value for name, value in defaults.items() if dataclasses.is_dataclass(value)}
    flat = []
    for name, item in signature.parameters.items():
        own = dataclasses.fields(groups[name]) if name in groups else ()
        fields = [
            item.replace(name=field.name, default=getattr(groups[name], field.name), annotation=field.type)
            for field in own
        ]
        flat += fields if name in groups else [item]

    @functools.wraps(function)
    def flattened(*arguments: Any, **parameters: Any) -> T:
        for name, default in groups.items():
            names = [field.name for field in dataclasses.fields(default) if field.name in parameters]
            if names:
                group = parameters.get(name, default)
                parameters[name] = dataclasses.replace(group, **{field: parameters.pop(field) for field in names})
        return function(*arguments, **parameters)

    flattened.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]  # read by inspect
    return flattened


def set_checked(item: object, **values: object) -> None:
    """Set fields of a frozen dataclass to their checked values, for `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(item, name, value)


def check_integer(place: str, value: SupportsIndex, *, low: int, high: int | None = None) -> int:
    """Return a parameter as an integer in its range.

    Parameters
    ----------
    place
        Name of the parameter, for the error message.
    low, high
        Smallest and largest value; None where there is no largest.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{place}: expected an integer, got {value!r}.")
    number = operator.index(value)
    if number < low or (high is not None and number > high):
        expected = f"at least {low}" if high is None else f"an integer in {low}..{high}"
        raise ValueError(f"{place}: expected {expected}, got {number}.")
    return number


def check_number(place: str, value: float, *, low: float, high: float = math.inf) -> float:
    """Return a parameter as a finite number in its range; see `check_integer` for the parameters.

    Raises a `TypeError` if it is not a number, and a `ValueError` if it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{place}: expected a number, got {value!r}.")
    if not low <= value <= high or math.isinf(value):
        expected = f"at least {low:g}" if high == math.inf else f"a number in {low:g}..{high:g}"
        raise ValueError(f"{place}: expected {expected}, got {value}.")
    return float(value)
