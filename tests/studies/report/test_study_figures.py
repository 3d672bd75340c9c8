"""Tests of drawing the figures of a study in several processes."""

from __future__ import annotations

import os
from functools import partial

import pytest

from studies.report.study_figures import side_by_side


def _number(number: int) -> tuple[int, int]:
    """Return the number and the process."""
    return number, os.getpid()


def _fail() -> tuple[int, int]:
    """Fail."""
    raise ValueError("figure: expected nothing, got an error.")


@pytest.mark.parametrize("processes", [1, 2])
def test_order_and_errors(processes: int) -> None:
    """Tests that answers come in the order of the tasks, and errors to the caller, however many processes work."""
    answers = side_by_side([partial(_number, number) for number in range(7)], processes)
    assert [number for number, _ in answers] == list(range(7))
    if processes == 1:
        assert {process for _, process in answers} == {os.getpid()}
    with pytest.raises(ValueError, match="expected nothing"):
        side_by_side([_fail, partial(_number, 1)], processes)
    assert side_by_side([], processes) == []
