"""Trains variants of the decentralised actor-critic for several seeds and says what became of the reward."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.actor_critic.actor_critic import TrainingRuns, actor_critic
from heuristics.jobs.actor_critic.gossip import random_weights
from heuristics.jobs.actor_critic.gossip_graph import gossip_graph
from studies.actor_critic.variant import RANDOM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from studies.actor_critic.variant import Variant

FIRST, LAST = 0.025, 0.1
"""Shares of the steps over which rewards are averaged at the beginning and at the end."""

POINTS = 40
"""Of a curve."""

MIXING_WEIGHTS = ((0.7, 0.3), (0.3, 0.7))
"""Am of two agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """Rewards of one variant.

    Parameters
    ----------
    variant
        Its name.
    runs
        Number of seeds.
    first, last, rise
        Means over runs of the team reward per step at the beginning, at the end, and of the difference.
    first_error, last_error, rise_error
        Their standard errors; None of one run.
    weight_gap
        Mean over runs of the largest max ||W_i - mean W|| of any iteration, after gossip.
    projection_hits
        Share of projections that had something to do.
    direction_norm
        Mean ||d_i||.
    messages, bytes
        Of gossip per iteration.
    stated_first, stated_last
        What others report; None where they do not.
    """

    variant: str
    runs: int
    first: float
    first_error: float | None
    last: float
    last_error: float | None
    rise: float
    rise_error: float | None
    weight_gap: float
    projection_hits: float
    direction_norm: float
    messages: int
    bytes: int
    stated_first: float | None
    stated_last: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ActorCriticStudy:
    """Result of the study.

    Parameters
    ----------
    frame
        One row per variant and seed.
    curves
        Per variant the team reward over steps, shape (runs, points).
    steps
        In the environment, per run.
    variants
        What was run.
    """

    frame: pd.DataFrame
    curves: dict[str, NDArray[np.float64]]
    steps: int
    variants: tuple[Variant, ...]

    def summaries(self) -> list[VariantSummary]:
        """Summarise every variant over its seeds."""
        rows = []
        for variant in self.variants:
            mine = self.frame[self.frame["variant"] == variant.name]
            numbers: dict[str, Any] = {}
            for name in ("first", "last", "rise"):
                numbers[name] = float(mine[name].mean())
                numbers[f"{name}_error"] = float(mine[name].sem()) if len(mine) > 1 else None
            rows.append(
                VariantSummary(
                    variant=variant.name,
                    runs=len(mine),
                    weight_gap=float(mine["weight_gap"].mean()),
                    projection_hits=float(mine["projection_hits"].mean()),
                    direction_norm=float(mine["direction_norm"].mean()),
                    messages=int(mine["messages"].iloc[0]),
                    bytes=int(mine["bytes"].iloc[0]),
                    stated_first=variant.stated_first,
                    stated_last=variant.stated_last,
                    **numbers,
                )
            )
        return rows


def actor_critic_study(
    variants: Sequence[Variant],
    *,
    seeds: int = 16,
    steps: int = 40_000,
    on_variant: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> ActorCriticStudy:
    """Train every variant for seeds 0, 1, ...

    Parameters
    ----------
    variants
        What to train.
    seeds
        Runs of each; rivals have the same seeds.
    steps
        In the environment per run: T = steps / (K + M), rounded down, at least `POINTS`.
    on_variant
        Told of every variant that begins: its name, how many are done, of how many.

    Raises
    ------
    ValueError
        If there are too few seeds or steps.
    """
    if seeds < 1:
        raise ValueError(f"seeds: expected at least 1, got {seeds}.")
    import pandas as pd

    rows: list[dict[str, Any]] = []
    curves = {}
    for done, variant in enumerate(variants):
        on_variant(variant.name, done, len(variants))
        period = variant.settings.critic_steps + variant.settings.actor_steps
        if steps < POINTS * period:
            raise ValueError(f"steps: expected at least {POINTS * period} for {variant.name}, got {steps}.")
        settings = replace(variant.settings, iterations=steps // period)
        runs = actor_critic(variant.environment, settings, gossip_weights(variant), seeds=range(seeds))
        rows += _rows(variant.name, runs)
        parts = np.array_split(runs.curves.team_reward.astype(np.float64), POINTS, axis=1)
        curves[variant.name] = np.stack([part.mean(axis=1) for part in parts], axis=1)
    return ActorCriticStudy(frame=pd.DataFrame(rows), curves=curves, steps=steps, variants=tuple(variants))


def gossip_weights(variant: Variant) -> NDArray[np.float64]:
    """Return Am; a random one is the same for all runs (ours), with weights between all agents."""
    if variant.weights == RANDOM:
        edges = gossip_graph("complete", variant.environment.num_agents)
        return random_weights(np.random.default_rng(0), edges)
    return np.array(MIXING_WEIGHTS)


def _rows(name: str, runs: TrainingRuns) -> list[dict[str, Any]]:
    """Return a row per run."""
    reward = runs.curves.team_reward.astype(np.float64)
    iterations = reward.shape[1]
    first = reward[:, : max(1, round(FIRST * iterations))].mean(axis=1)
    last = reward[:, -max(1, round(LAST * iterations)) :].mean(axis=1)
    return [
        {
            "variant": name,
            "seed": seed,
            "first": float(first[run]),
            "last": float(last[run]),
            "rise": float(last[run] - first[run]),
            "weight_gap": float(runs.curves.weight_gap[run].max()),
            "projection_hits": float(runs.curves.projection_hits[run].mean()),
            "direction_norm": float(runs.curves.direction_norm[run].mean()),
            "td_error_last": float(runs.curves.td_error[run, -max(1, round(LAST * iterations)) :].mean()),
            "messages": runs.traffic.messages,
            "bytes": runs.traffic.bytes,
        }
        for run, seed in enumerate(runs.seeds)
    ]
