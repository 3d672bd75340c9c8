"""Watching what searches on random keys evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.dag.random_keys import RandomKeys

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pytest
    from numpy.typing import NDArray


def watch_evaluations(monkeypatch: pytest.MonkeyPatch, watch: Callable[[NDArray[np.float64]], None]) -> None:
    """Let a function receive the points of every call of the decoder before they are evaluated."""
    original = RandomKeys.evaluator.fget
    assert original is not None

    def evaluator(keys: RandomKeys) -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
        evaluate = original(keys)

        def watched(points: NDArray[np.float64]) -> NDArray[np.int64]:
            watch(points)
            return evaluate(points)

        return watched

    monkeypatch.setattr(RandomKeys, "evaluator", property(evaluator))
