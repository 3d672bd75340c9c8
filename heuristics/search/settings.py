"""Settings of a method as a dataclass: defaults and checks in one place, offered to users as keyword parameters."""

from __future__ import annotations

import functools
import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def takes_settings(settings: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer the fields of a dataclass as keyword parameters of a search, which receives them as one object.

    The decorated function takes (instance, objective, rng, stop, callback, settings).
    """

    def decorate(search: Callable[..., Any]) -> Callable[..., Any]:
        def method(instance: Any, objective: Any, rng: Any, stop: Any, callback: Any, **given: Any) -> Any:
            return search(instance, objective, rng, stop, callback, settings(**given))

        return shown_as(search, method, settings)

    return decorate


def shown_as(original: Callable[..., Any], method: Callable[..., Any], settings: type) -> Callable[..., Any]:
    """Return a method named and documented as the original, with the settings in its signature in place of ``**given``.

    The command line, study specifications and `solve` learn a method's parameters from its signature.
    """
    signature = inspect.signature(method)
    keyword = inspect.Parameter.KEYWORD_ONLY
    offered = [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=field.type)
        for field in fields(settings)
    ]
    given = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    functools.update_wrapper(method, original)
    shown = sorted([*offered, *given], key=lambda parameter: parameter.kind)  # stable: positional ones first
    method.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]  # read by inspect
    method.settings = settings  # type: ignore[attr-defined]  # who calls the method can check values before it runs
    return method


def require_at_least(least: int, **values: int) -> None:
    """Raise a `ValueError` for the first value below the least one allowed."""
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name}: expected at least {least}, got {value}.")


def require_between(low: float, high: float, kind: str = "number", **values: float) -> None:
    """Raise a `ValueError` for the first value, infinities and NaN included, that is not in low..high."""
    for name, value in values.items():
        if not low <= value <= high:
            raise ValueError(f"{name}: expected a {kind} in {low:g}..{high:g}, got {value}.")


def require_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise a `ValueError` where the value is none of the choices."""
    if value not in choices:
        expected = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
        raise ValueError(f"{name}: expected {expected}, got {value!r}.")
