"""Holm's correction for several tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted for the number of tests, in the same order.

    Reject where the adjusted value is at most the level: the chance of any wrong rejection is then at most the level,
    whatever the dependence between the tests.

    Parameters
    ----------
    p_values
        One per test, in [0, 1]; None for a test that could not be made, which does not count and stays None.

    Raises
    ------
    ValueError
        If a value is outside [0, 1].

    References
    ----------
    Holm (1979): the i-th smallest of k is multiplied by k - i + 1, and none may be below the one before it.
    """
    for p_value in p_values:
        if p_value is not None and not 0 <= p_value <= 1:
            raise ValueError(f"p_values: expected numbers in [0, 1], got {p_value}.")
    made = sorted((p_value, index) for index, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for position, (p_value, index) in enumerate(made):
        largest = max(largest, min(1.0, (len(made) - position) * p_value))
        adjusted[index] = largest
    return adjusted
