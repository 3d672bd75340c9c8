"""Settings of the actor-critic: the printed variant, the repaired one, and everything between."""

from __future__ import annotations

import math
from dataclasses import dataclass

from instances.fields import one_of

SIGNALS = ("q_residual", "q_value", "q_advantage", "v")
SIGNS = ("printed", "repaired")
SCHEDULES = ("constant", "harmonic")
UPDATES = ("normalised", "plain", "adam")
TARGETS = ("restarted", "true")
RESTARTS = ("kernel", "episode")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorCriticSettings:
    """The numbers and variants of the decentralised deep actor-critic of Zhang et al. (2025).

    *Printed* is what the paper states, a *consequence* is derived from it, *ours* is our reconstruction, which does not
    have the guarantee of the paper's theorem. Defaults are those of `REPAIRED`.

    Parameters
    ----------
    iterations
        T, steps of the actor.
    critic_steps, actor_steps
        K and M, steps in the environment per iteration. Printed for the grid: 1 and 1. Consequence: with M = 1 and a
        normalised step only the sign of the signal matters. Ours: at least 10.
    width, depth
        m and D of critics and actors.
    gamma
        Discount, in [0, 1].
    gossip_rounds
        tg, rounds of gossip of critics and of signals.
    signal
        Weight of the scores of actions. "q_residual" (printed): r + gamma Q(s', a') - Q(s, a) up to the sign;
        consequence: its mean is 0 at the exact critic. "q_value" (printed, as an ablation): Q(s, a). "q_advantage"
        (ours): Q(s, a) minus its mean over `advantage_samples` other joint actions. "v" (ours): r + gamma V(s') - V(s).
    sign
        Sign of "q_residual"; the other signals have no other. "printed": theta + alpha (Q - r - gamma Q') grad log pi,
        which descends (consequence). "repaired": minus that.
    advantage_samples
        Number of samples for "q_advantage".
    warm_start
        Whether critics continue from their weights (ours) or begin every iteration at W(0) (printed).
    target
        "restarted" (printed): s' of the critic's target is the state from which the next step starts, even after a
        restart, which gives the value of another process (consequence). "true" (ours): the state that was reached.
    restart
        "kernel" (printed for the theorem): after every step with probability 1 - gamma. "episode" (printed for the
        grid): after every `episode_steps`.
    episode_steps
        Steps of an "episode"; printed: 10.
    alpha, alpha_schedule
        Step of the actor: alpha, or alpha / (t + 1) if the schedule is "harmonic". Printed: alpha / t from t = 0, which
        is not defined; for the grid, at most 0.005.
    update
        "normalised" (printed): theta + alpha d / ||d||, per agent. "plain": theta + alpha d. "adam" (ours): Adam on -d,
        norms clipped at `max_norm`.
    max_norm
        Largest norm of a direction for "adam".
    beta
        Step of the critic. Printed: K^(-1/2) in the theorem, at most 0.001 for the grid.
    radius
        B per layer around the first W(0). Printed: the set, but not B in the experiments. Ours: 20.
    last_scale
        Factor of the actor's b. Printed: 1, with which the first policy is almost deterministic (consequence). Ours:
        0.1.
    reward_shift
        Added to the reward of every agent (ours), because the theory assumes 0 <= r.

    Raises
    ------
    ValueError
        If a number is out of range or a name is unknown.

    References
    ----------
    Zhang, Oh, Hairi, Luo, Velasquez and Liu (2025), Finite-Time Global Optimality Convergence in Deep Neural
    Actor-Critic Methods for Decentralized Multi-Agent Reinforcement Learning, ICML: Algorithms 1 and 2, experiment A.
    """

    iterations: int = 2000
    critic_steps: int = 10
    actor_steps: int = 10
    width: int = 20
    depth: int = 5
    gamma: float = 0.9
    gossip_rounds: int = 10
    signal: str = "v"
    sign: str = "repaired"
    advantage_samples: int = 4
    warm_start: bool = True
    target: str = "true"
    restart: str = "episode"
    episode_steps: int = 10
    alpha: float = 0.05
    alpha_schedule: str = "constant"
    update: str = "normalised"
    max_norm: float = 0.5
    beta: float = 0.003
    radius: float = 20.0
    last_scale: float = 0.1
    reward_shift: float = 0.0

    def __post_init__(self) -> None:
        """Check names and ranges."""
        for name, allowed in (
            ("signal", SIGNALS), ("sign", SIGNS), ("alpha_schedule", SCHEDULES), ("update", UPDATES),
            ("target", TARGETS), ("restart", RESTARTS),
        ):  # fmt: skip
            one_of(getattr(self, name), allowed, name)
        for name in (
            "iterations", "critic_steps", "actor_steps", "width", "depth", "advantage_samples", "episode_steps",
        ):  # fmt: skip
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected at least 1, got {getattr(self, name)}.")
        if self.gossip_rounds < 0:
            raise ValueError(f"gossip_rounds: expected at least 0, got {self.gossip_rounds}.")
        if not 0.0 <= self.gamma <= 1.0:
            raise ValueError(f"gamma: expected a number in 0..1, got {self.gamma}.")
        for name in ("alpha", "beta", "radius", "max_norm", "last_scale"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}: expected a finite number above 0, got {getattr(self, name)}.")
        if not math.isfinite(self.reward_shift):
            raise ValueError(f"reward_shift: expected a finite number, got {self.reward_shift}.")
        if self.sign == "printed" and self.signal in ("v", "q_advantage"):
            raise ValueError(f"sign: expected repaired with signal {self.signal}, which is not printed, got 'printed'.")

    @property
    def num_steps(self) -> int:
        """Steps in the environment, T (K + M)."""
        return self.iterations * (self.critic_steps + self.actor_steps)


PRINTED = ActorCriticSettings(
    iterations=20_000,
    critic_steps=1,
    actor_steps=1,
    gamma=0.99,
    signal="q_residual",
    sign="printed",
    warm_start=False,
    target="restarted",
    alpha=0.005,
    beta=0.001,
    last_scale=1.0,
)
"""As printed for the grid (experiment A), B = 20 ours.

Not given: B, alpha's schedule (at most 0.005, here constant) and beta's (at most 0.001, here constant).
"""

REPAIRED = ActorCriticSettings()
"""The settings with every repair; ours."""
