"""What a method is: a registered one by its name, or a function of the user's."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from solvers.methods import method_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from solvers.methods import Kind


def kind_of(method: str | Callable[..., Any]) -> Kind:
    """Return what a method is: a function that takes `stop` is a search, any other function a construction.

    Raises
    ------
    ValueError
        If no method of that name is registered.
    """
    return resolve_method(method)[0]


def resolve_method(method: str | Callable[..., Any]) -> tuple[Kind, Callable[..., Any]]:
    """Return kind and function of a method.

    Raises
    ------
    ValueError
        If no method of that name is registered.
    TypeError
        If it is neither a name nor a function.
    """
    if isinstance(method, str):
        registered = method_named(method)
        return registered.kind, registered.resolve()
    if not callable(method):
        raise TypeError(f"method: expected a name or a function, got {method!r}.")
    return ("search" if "stop" in inspect.signature(method).parameters else "construction"), method
