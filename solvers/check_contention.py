"""Which functions know the rule of contention."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from instances.contention import Contention

if TYPE_CHECKING:
    from collections.abc import Callable


def knows_contention(function: Callable[..., Any]) -> bool:
    """Say whether a method or bound takes the rule, that is whether its signature names `contention`."""
    return "contention" in inspect.signature(function).parameters


def check_contention(name: str, function: Callable[..., Any], contention: Contention) -> None:
    """Refuse contention for a method that does not know it: its schedules would break the rule.

    Raises
    ------
    ValueError
        If there is contention and the function does not take it.
    """
    if contention is not Contention.NONE and not knows_contention(function):
        raise ValueError(f"contention: expected none for {name}, which does not know the rule, got {contention}.")
