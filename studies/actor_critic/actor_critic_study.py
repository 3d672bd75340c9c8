"""Trains variants of the decentralised actor-critic for several seeds and says what became of the reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.actor_critic.actor_critic import TrainingRuns, actor_critic
from heuristics.jobs.actor_critic.gossip import random_weights
from heuristics.jobs.actor_critic.gossip_graph import gossip_graph
from studies.actor_critic.stored_runs import POINTS, REWARDS, with_runs
from studies.actor_critic.variant import RANDOM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from heuristics.jobs.actor_critic.deep_network import DeepNetwork
    from studies.actor_critic.variant import Variant

FIRST, LAST = 0.025, 0.1
"""Shares of the steps over which rewards are averaged at the beginning and at the end."""

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
        One row per variant and seed, as `stored_runs` says.
    steps
        In the environment, per run.
    variants
        What was run.
    """

    frame: pd.DataFrame
    steps: int
    variants: tuple[Variant, ...]

    @property
    def curves(self) -> dict[str, NDArray[np.float64]]:
        """Per variant the team reward over steps, shape (runs, points)."""
        columns = list(REWARDS)
        return {
            one.name: self.frame.loc[self.frame["variant"] == one.name, columns].to_numpy() for one in self.variants
        }

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
    stored: pd.DataFrame | None = None,
    on_variant: Callable[[str, int, int], None] = lambda name, done, total: None,
    on_runs: Callable[[pd.DataFrame], None] = lambda frame: None,
) -> ActorCriticStudy:
    """Train every variant for seeds 0, 1, ...

    Seeds of a variant that are trained together give the same bytes in any company, a seed alone the same up to
    rounding.

    Parameters
    ----------
    variants
        What to train.
    seeds
        Runs of each; rivals have the same seeds.
    steps
        In the environment per run: T = steps / (K + M), rounded down, at least `POINTS`.
    stored
        Runs that exist, of these variants or others; they are not repeated. Steps and settings are compared, versions
        of the software are not.
    on_variant
        Told of every variant that begins: its name, how many are done, of how many.
    on_runs
        Told of all stored runs and those that were added, whenever some were.

    Raises
    ------
    ValueError
        If there are too few seeds or steps.
    """
    if seeds < 1:
        raise ValueError(f"seeds: expected at least 1, got {seeds}.")
    import pandas as pd

    for variant in variants:
        period = variant.settings.critic_steps + variant.settings.actor_steps
        if steps < POINTS * period:
            raise ValueError(f"steps: expected at least {POINTS * period} for {variant.name}, got {steps}.")
    held = with_runs(stored, [])
    chosen = []
    trained: dict[tuple[str, tuple[int, ...]], DeepNetwork] = {}
    for done, variant in enumerate(variants):
        on_variant(variant.name, done, len(variants))
        lasting = variant.lasting(steps)
        missing = tuple(seed for seed in range(seeds) if seed not in set(_of(held, lasting)["seed"]))
        if missing:
            before = lasting.before
            if before is not None and (before.key, missing) not in trained:
                trained[before.key, missing] = _train(before, missing).actors
            actors = None if before is None else trained[before.key, missing]
            held = with_runs(held, _rows(lasting, _train(lasting, missing, actors)))
            on_runs(held)
        mine = _of(held, lasting)
        chosen.append(mine[mine["seed"] < seeds].sort_values("seed"))
    return ActorCriticStudy(frame=pd.concat(chosen, ignore_index=True), steps=steps, variants=tuple(variants))


def _of(held: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    """Return the runs of a variant."""
    return held[(held["variant"] == variant.name) & (held["settings"] == variant.key)]


def _train(variant: Variant, seeds: Sequence[int], actors: DeepNetwork | None = None) -> TrainingRuns:
    """Train as the variant says."""
    return actor_critic(variant.environment, variant.settings, gossip_weights(variant), seeds=seeds, actors=actors)


def gossip_weights(variant: Variant) -> NDArray[np.float64]:
    """Return Am; a random one is the same for all runs (ours), with weights between all agents."""
    if variant.weights == RANDOM:
        edges = gossip_graph("complete", variant.environment.num_agents)
        return random_weights(np.random.default_rng(0), edges)
    return np.array(MIXING_WEIGHTS)


def _rows(variant: Variant, runs: TrainingRuns) -> list[dict[str, Any]]:
    """Return a row per run."""
    reward = runs.curves.team_reward.astype(np.float64)
    iterations = reward.shape[1]
    first = reward[:, : max(1, round(FIRST * iterations))].mean(axis=1)
    last = reward[:, -max(1, round(LAST * iterations)) :].mean(axis=1)
    points = np.stack([part.mean(axis=1) for part in np.array_split(reward, POINTS, axis=1)], axis=1)
    return [
        {
            "variant": variant.name,
            "settings": variant.key,
            "steps": variant.settings.num_steps,
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
            **dict(zip(REWARDS, points[run].tolist(), strict=True)),
        }
        for run, seed in enumerate(runs.seeds)
    ]
