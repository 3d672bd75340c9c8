"""Tests that actors move along the mean of signal times score, and with the entropy, as either update says."""

from __future__ import annotations

import numpy as np
import pytest

from heuristics.jobs.marl.gossip.agent_actors import AgentActors
from heuristics.jobs.marl.network import embed, probabilities, scores
from heuristics.jobs.marl.observation import Observation
from heuristics.jobs.marl.parameters import Parameters, Variant
from tests.heuristics.jobs.marl.gossip.played import played, untrained
from tests.heuristics.jobs.marl.gossip.tiny_gossip import tiny_gossip

AGENT, ENTROPY_WEIGHT = 1, 0.3


def test_direction_against_finite_differences() -> None:
    """Tests d_i against differences of (1/M) sum of signal times the summed ln pi, and c_H times the entropies."""
    settings = tiny_gossip(load=3.0)
    rounds = played(settings, [20])
    signals = np.random.default_rng(5).normal(size=(20, 4)).astype(np.float32)
    parameters = untrained(settings)[0]  # others than those that chose
    direction = AgentActors(settings, parameters).direction(AGENT, rounds, signals, ENTROPY_WEIGHT)
    mine = [(number, one) for number, each in enumerate(rounds) for one in each.choices if one.agent == AGENT]
    assert len(mine) > settings.actor_chunk
    per_round = np.bincount([number for number, _ in mine], minlength=20)
    assert per_round.max() > 1  # a sequence of decisions
    assert per_round.min() == 0  # a round in which the agent decides nothing
    assert direction.scale == pytest.approx(len(mine) / 20)

    def gained(weights: Parameters) -> tuple[float, float]:
        """Return what is climbed, and the mean entropy of a decision."""
        total, entropies = 0.0, []
        for number, one in mine:
            seen = Observation._make(a if a.dtype == bool else a.astype(np.float64) for a in one.seen)
            chances = probabilities(np, scores(np, weights, seen, embed(np, weights, seen, Variant.FLAT)))
            positive = chances[chances > 0]
            entropies.append(-float((positive * np.log(positive)).sum()))
            total += float(signals[number, AGENT]) * float(np.log(chances[one.slot]))
        return (total + ENTROPY_WEIGHT * sum(entropies)) / 20, float(np.mean(entropies))

    exact = {name: array.astype(np.float64) for name, array in parameters.items()}
    assert direction.entropy == pytest.approx(gained(exact)[1], rel=1e-4)
    rng, step = np.random.default_rng(6), 1e-6
    for name, array in exact.items():
        away = rng.standard_normal(array.shape)
        up, down = (gained(exact | {name: array + sign * step * away})[0] for sign in (1, -1))
        found = -direction.scale * float((np.asarray(direction.gradient[name], dtype=np.float64) * away).sum())
        assert (up - down) / (2 * step) == pytest.approx(found, rel=3e-3, abs=5e-4), name


def test_moves() -> None:
    """Tests the first step of either rule, that it climbs, and that nobody moves who decides nothing."""
    rounds = played(tiny_gossip(), [8])
    signals = np.ones((8, 4), dtype=np.float32)
    for rule, changes in (("theorem", {"alpha": 0.25}), ("practical", {})):
        settings = tiny_gossip(update=rule, **changes)
        parameters = untrained(settings)[0]
        actors = AgentActors(settings, parameters)
        direction = actors.direction(0, rounds, signals, 0.0)
        length = actors.move(0, direction)
        assert length == pytest.approx(
            direction.scale * np.sqrt(sum(float((np.asarray(a) ** 2).sum()) for a in direction.gradient.values())),
            rel=1e-4,
        )
        change = {name: actors.parameters[0][name] - parameters[name] for name in parameters}
        norm = np.sqrt(sum(float((array**2).sum()) for array in change.values()))
        if rule == "theorem":
            assert norm == pytest.approx(0.25, rel=1e-4)
            actors.move(0, direction)
            second = sum(float(((actors.parameters[0][n] - parameters[n] - change[n]) ** 2).sum()) for n in change)
            assert np.sqrt(second) == pytest.approx(0.125, rel=1e-3)  # alpha / (t + 1)
        else:
            assert max(float(np.abs(array).max()) for array in change.values()) == pytest.approx(0.01, rel=1e-2)
        assert sum(float((change[n] * np.asarray(direction.gradient[n])).sum()) for n in change) < 0
        for name, array in actors.parameters[1].items():
            assert array.tobytes() == parameters[name].tobytes()
        nothing = [one._replace(choices=[]) for one in rounds]
        idle = actors.direction(2, nothing, signals, 0.5)
        assert (idle.scale, idle.entropy) == (0.0, None)
        assert actors.move(2, idle) == 0.0
        assert all(actors.parameters[2][name].tobytes() == parameters[name].tobytes() for name in parameters)
