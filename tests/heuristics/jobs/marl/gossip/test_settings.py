"""Tests that settings are refused in one line, and what printed means."""

from __future__ import annotations

from typing import Any

import pytest

from heuristics.jobs.marl.gossip.settings import GossipSettings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "tree"}, "graph: expected one of ring, complete, star, path, got 'tree'."),
        ({"gossip_rounds": -1}, "gossip_rounds: expected at least 0, got -1."),
        ({"critic_steps": 0}, "critic_steps: expected at least 1, got 0."),
        ({"actor_chunk": 0}, "actor_chunk: expected at least 1, got 0."),
        ({"beta": 0.0}, "beta: expected a finite number above 0, got 0.0."),
        ({"radius": -2.0}, "radius: expected a finite number above 0, got -2.0."),
        ({"critic": "wide"}, "critic: expected one of deep, linear, got 'wide'."),
        ({"signal": "q_value"}, "signal: expected one of v, q_residual, got 'q_value'."),
        ({"update": "plain"}, "update: expected one of practical, theorem, got 'plain'."),
        ({"rewards": "all"}, "rewards: expected one of own, team, got 'all'."),
        ({"target": "both"}, "target: expected one of restarted, true, got 'both'."),
        ({"sign": "printed"}, "sign: expected repaired with signal v, which is not printed, got 'printed'."),
        ({"passes": 9}, "passes: expected none, as only the central trainer has it, got another one."),
        ({"num_agents": 0}, "num_agents: expected at least 1, got 0."),
    ],
)
def test_misuse(changes: dict[str, Any], message: str) -> None:
    """Tests numbers out of range, unknown names, and what belongs to the central trainer."""
    with pytest.raises(ValueError) as caught:
        GossipSettings(**changes)
    assert str(caught.value) == message


def test_defaults_and_printed() -> None:
    """Tests the numbers of section 6, the two updates, and the printed variant with changes on top."""
    settings = GossipSettings()
    assert (settings.critic_steps, settings.actor_steps, settings.updates, settings.gamma) == (32, 32, 2000, 0.99)
    assert (settings.width, settings.depth, settings.beta, settings.radius) == (64, 3, 1e-3, 20.0)
    rule = settings.actor_critic
    assert (rule.update, rule.alpha_schedule, rule.alpha, rule.max_norm) == ("adam", "constant", 3e-4, 0.5)
    assert (settings.entropy_weight(0), settings.entropy_weight(2000)) == pytest.approx((0.02, 0.001))
    printed = GossipSettings.printed(actor_steps=4)
    assert (printed.critic_steps, printed.actor_steps, printed.warm_start, printed.is_centred) == (1, 4, False, False)
    rule = printed.actor_critic
    assert (rule.signal, rule.sign, rule.target) == ("q_residual", "printed", "restarted")
    assert (rule.update, rule.alpha_schedule, rule.alpha) == ("normalised", "harmonic", 0.5)
