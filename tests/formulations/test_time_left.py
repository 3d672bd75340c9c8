"""Tests of linear programs within the time that is left."""

from __future__ import annotations

import highspy
import numpy as np

from formulations.time_left import solve_lp


def covering_program() -> highspy.Highs:
    """Return a program in which 40 columns cover 60 rows, so that the simplex method takes some iterations."""
    rng = np.random.default_rng(3)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("presolve", "off")
    columns = [highs.addVariable(lb=0.0, obj=float(cost)) for cost in rng.integers(5, 20, 40)]
    for row in rng.integers(0, 4, (60, 40)).tolist():
        highs.addConstr(sum(factor * column for factor, column in zip(row, columns, strict=True) if factor) >= 10)
    return highs


def test_an_interrupt_is_forgotten_in_the_next_run() -> None:
    """Tests that a run that was interrupted, as by Ctrl-C, does not end every later one of the same program."""
    highs, asked = covering_program(), [60.0]
    solve_lp(highs, lambda: asked.pop() if asked else 0.0)
    assert highs.getModelStatus() == highspy.HighsModelStatus.kInterrupt
    solve_lp(highs, lambda: 60.0)
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
