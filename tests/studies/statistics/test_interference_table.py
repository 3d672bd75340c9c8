"""Tests of the tables of interference, waiting, use and decisions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from studies.statistics.interference_table import interference_summary, interference_tables
from tests.check_latex import check_latex


def _run(label: str, instance: str, speed: float, **more: object) -> dict[str, object]:
    """Return a run in which jobs had this speed on average, and lost and waited accordingly."""
    row = {"label": label, "instance": instance, "family": "jobs-co-located", "cluster": "mixed-64", "setting": "-"}
    row |= {"jobs": 10, "load": 0.9, "budget": "-", "objective": 100, "tick_seconds": 0.5, "seconds": 2.0}
    row |= {"interference_speed_mean": speed, "interference_speed_p05": speed / 2}
    row |= {"interference_lost_mean": 100 * (1 - speed), "queueing_mean": 40.0, "stretch_mean": 1.25}
    row |= {"utilisation": 0.5, "num_agents": np.nan, "num_decisions": np.nan, "num_rounds": np.nan}
    return row | {"forwards_mean": np.nan} | more


def test_summary_by_hand() -> None:
    """Tests means over instances of means over seeds, their interval, seconds of half a tick, and what agents did."""
    agents = {"num_agents": 4, "num_decisions": 50, "num_rounds": 20, "forwards_mean": 0.3}
    runs = [_run("marl", "a", 0.8, **agents), _run("marl", "a", 0.6, **agents), _run("marl", "b", 0.9, **agents)]
    marl, fifo = interference_summary(pd.DataFrame([*runs, _run("fifo", "a", 0.5)])).to_dict("records")
    assert (marl["interference_speed_mean"], marl["instances"]) == (pytest.approx(0.8), 2)
    assert (marl["interference_speed_mean_low"], marl["interference_speed_mean_high"]) == pytest.approx((0.7, 0.9))
    assert (marl["interference_lost_mean"], marl["lost_seconds"]) == (pytest.approx(20), pytest.approx(10))
    assert (marl["queueing_seconds"], marl["stretch_mean"], marl["utilisation"]) == (20, 1.25, 0.5)
    assert (marl["decisions_per_job"], marl["forwards_mean"]) == (5, pytest.approx(0.3))
    assert (marl["decision_milliseconds"], marl["round_milliseconds"]) == (40, 100)
    assert (fifo["interference_speed_p05"], fifo["lost_seconds"]) == (0.25, 25)
    assert np.isnan([fifo["num_agents"], fifo["decision_milliseconds"], fifo["interference_speed_mean_low"]]).all()


def test_tables_show_what_is_known() -> None:
    """Tests three tables with agents, two without, one without interference; unit, interval, LaTeX and JSON."""
    agents = {"num_agents": 4, "num_decisions": 50, "num_rounds": 20, "forwards_mean": 0.3, "tick_seconds": 1e-3}
    runs = [_run("marl", "a", 0.8, **agents), _run("marl", "b", 0.9, **agents)]
    runs += [_run("fifo", name, 0.5, tick_seconds=1e-3) for name in "ab"]
    loss, use, decisions = interference_tables(pd.DataFrame(runs), "-")
    assert loss.title == "Interference, times in milliseconds"
    assert loss.rows[0] == ("marl", "2", "0.85 [0.8, 0.9]", "0.425 [0.4, 0.45]", "15 [10, 20]")
    assert loss.rows[1] == ("fifo", "2", "0.5", "0.25", "50")
    assert use.rows[1] == ("fifo", "2", "40", "1.25", "50")
    assert decisions.rows == (("marl", "2", "4", "5", "0.3", "40", "100"),)
    assert check_latex(decisions.to_latex())[0][0] == "method"
    assert loss.to_dict()["rows"][0]["interference_lost_mean"] == pytest.approx(15)
    assert [table.name for table in interference_tables(pd.DataFrame(runs[2:]), "-")] == ["interference", "waiting"]
    alone = pd.DataFrame(runs[2:]).assign(interference_speed_mean=np.nan)
    assert [table.name for table in interference_tables(alone, "-")] == ["waiting"]


def test_ticks_of_several_lengths_are_not_averaged() -> None:
    """Tests that only seconds are told where ticks differ, and that the other budget is left out."""
    runs = [_run("x", "a", 0.5, tick_seconds=1.0), _run("x", "b", 0.5), _run("y", "a", 0.9, budget="2 s")]
    table = interference_tables(pd.DataFrame(runs), "1 s")[0]
    (row,) = table.to_dict()["rows"]
    assert (row["interference_lost_mean"], row["lost_seconds"]) == (None, 37.5)
    assert table.title == "Interference, times in seconds at 1 s"
