from __future__ import annotations

import math

import numpy as np
import pytest

from studies.adversary.cooling import Cooling, least_ratio


def test_acceptance_on_worked_numbers() -> None:
    """Tests the rule at ratio 2 and temperature 0.5: 1.75 is kept with probability exp(-1/2) = 0.6065."""
    assert math.exp(-(2.0 - 1.75) / 0.5) == pytest.approx(0.60653, abs=1e-5)
    assert least_ratio(2.0, 0.5, 0.6065) <= 1.75 < least_ratio(2.0, 0.5, 0.6066)
    assert least_ratio(2.0, 0.5, 1.0) == 2.0  # an equal one is always kept
    assert least_ratio(2.0, 0.5, 0.5) == pytest.approx(2.0 - 0.5 * 0.693147, abs=1e-6)


@pytest.mark.parametrize(("worse_by", "temperature"), [(0.01, 0.1), (0.1, 0.1), (0.5, 0.25)])
def test_share_that_is_kept_is_the_probability(worse_by: float, temperature: float) -> None:
    """Tests that of many draws the share exp(-difference / temperature) keeps a worse candidate."""
    draws = 1.0 - np.random.default_rng(1).random(20_000)
    kept = np.mean([3.0 - worse_by >= least_ratio(3.0, temperature, draw) for draw in draws.tolist()])
    assert kept == pytest.approx(math.exp(-worse_by / temperature), abs=0.012)


def test_temperatures_are_geometric() -> None:
    """Tests first, middle and last temperature, and that one step has the first."""
    cooling = Cooling(hot=0.4, cold=0.004, steps=101)
    assert [cooling.at(step) for step in (0, 50, 100)] == pytest.approx([0.4, 0.04, 0.004])
    assert Cooling(hot=0.4, cold=0.004, steps=1).at(0) == 0.4


@pytest.mark.parametrize("wrong", [{"hot": 0.0}, {"hot": math.inf}, {"cold": 0.0}, {"cold": 1.0}, {"steps": 0}])
def test_impossible_temperatures_are_refused(wrong: dict[str, float]) -> None:
    """Tests that the message names what is wrong."""
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
        Cooling(**wrong)
