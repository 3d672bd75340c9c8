"""Tests of the summary of runs by instance, method and budget."""

from __future__ import annotations

import numpy as np
import pandas as pd

from studies.statistics.cell_summary import cell_summary


def test_runs_of_a_cell_are_counted_and_averaged() -> None:
    """Tests counts and numbers of a cell with good, failed and empty runs, and that cells keep their order."""
    frame = pd.DataFrame(
        {
            "instance": ["b", "b", "b", "b", "a"],
            "label": "woa",
            "budget": "1 s",
            "status": ["optimal", "feasible", "failed", "unknown", "failed"],
            "objective": [100.0, 110.0, np.nan, np.nan, np.nan],
            "gap": [0.0, 0.1, np.nan, np.nan, np.nan],
            "seconds": [1.0, 2.0, np.nan, 3.0, np.nan],
        }
    )
    first, second = cell_summary(frame).to_dict("records")
    assert (first["instance"], second["instance"]) == ("b", "a")
    counts = ("num_runs", "num_failed", "num_without_schedule", "num_optimal")
    assert [first[name] for name in counts] == [4, 1, 1, 1]
    assert (first["best"], first["median"], first["worst"]) == (100, 105, 110)
    assert (first["mean_gap"], first["mean_seconds"]) == (0.05, 2.0)
    assert [second[name] for name in counts] == [1, 1, 0, 0]
    assert np.isnan(second["mean_gap"])
