"""Fits constant, ridge and network in several worlds and for several seeds, and says how they do on unseen pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.interference_predictor.fit_predictor import NETWORK, RIDGE, fit_models
from heuristics.jobs.interference_predictor.prediction_errors import prediction_errors
from heuristics.jobs.interference_predictor.random_co_locations import CO_LOCATIONS
from studies.interference.rank_correlation import rank_correlation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from studies.interference.world import World

PARTS = ("seen", "unseen")
"""Tests: other co-locations of pairs of classes that were trained on, and co-locations of pairs that were not."""

MEASURES = ("error_y", "error_speed", "rank_correlation")
"""Columns of numbers: mean absolute error of y and of the speed in per mille, Spearman's correlation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """One model in one world on one part, over seeds.

    Parameters
    ----------
    world, part, model
        What.
    seeds
        How many.
    rows
        Mean number of rows of the part.
    error_y, error_speed, rank_correlation
        Means; the correlation is None for what orders nothing in any seed.
    error_y_se, error_speed_se, rank_correlation_se
        Standard errors; None of one seed.
    better_than_ridge
        Seeds with a smaller error of y than the ridge; None for the ridge itself.
    """

    world: str
    part: str
    model: str
    seeds: int
    rows: float
    error_y: float
    error_y_se: float | None
    error_speed: float
    error_speed_se: float | None
    rank_correlation: float | None
    rank_correlation_se: float | None
    better_than_ridge: int | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InterferenceStudy:
    """Result of the study.

    Parameters
    ----------
    frame
        One row per world, seed, model and part.
    origins
        What is measured and what modelled, by world.
    count
        Co-locations to train on in generated worlds.
    """

    frame: pd.DataFrame
    origins: dict[str, str]
    count: int

    def summaries(self) -> list[ModelSummary]:
        """Summarise over seeds, in the order of the frame."""
        rows = []
        for (world, part, model), mine in self.frame.groupby(["world", "part", "model"], sort=False):
            numbers: dict[str, Any] = {}
            for name in MEASURES:
                values = mine[name].dropna()
                numbers[name] = float(values.mean()) if len(values) else None
                numbers[f"{name}_se"] = float(values.sem()) if len(values) > 1 else None
            rows.append(
                ModelSummary(
                    world=world,
                    part=part,
                    model=model,
                    seeds=len(mine),
                    rows=float(mine["rows"].mean()),
                    better_than_ridge=None if model == RIDGE else self._wins(world, part, model),
                    **numbers,
                )
            )
        return rows

    def notes(self) -> list[str]:
        """Return a sentence per world: what came out on unseen pairs, from the numbers."""
        by = {(one.world, one.model): one for one in self.summaries() if one.part == "unseen"}
        notes = []
        for world in self.origins:
            seeds = by[world, NETWORK].seeds
            least = min((one for (where, _), one in by.items() if where == world), key=lambda one: one.error_y)
            wins = by[world, NETWORK].better_than_ridge
            notes.append(
                f"{world}: on unseen pairs the {least.model} has the smallest mean error of y; the network is better "
                f"than the ridge in {wins} of {seeds} seeds and than the constant in "
                f"{self._wins(world, 'unseen', NETWORK, 'constant')}."
            )
        return notes

    def _wins(self, world: str, part: str, model: str, rival: str = RIDGE) -> int:
        """Return in how many seeds a model has a smaller error of y than a rival."""
        cell = self.frame[(self.frame["world"] == world) & (self.frame["part"] == part)]
        table = cell.pivot(index="seed", columns="model", values="error_y")
        return int((table[model] < table[rival]).sum())


def interference_study(
    worlds: Sequence[World],
    *,
    seeds: int = 5,
    count: int = CO_LOCATIONS,
    epochs: int | None = None,
    on_run: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> InterferenceStudy:
    """Fit all models in every world for seeds 0, 1, ...; a seed is of the world, the held-out pairs and the network.

    Parameters
    ----------
    worlds
        Sources of co-locations.
    seeds
        Number of seeds, at least 1.
    count
        Co-locations to train on in generated worlds.
    epochs
        Of the network; default that of the predictor.
    on_run
        Told of every run that begins: what, how many are done, of how many.

    Raises
    ------
    ValueError
        If there are no worlds or seeds.
    """
    if not worlds:
        raise ValueError("worlds: expected at least one, got none.")
    if seeds < 1:
        raise ValueError(f"seeds: expected at least 1, got {seeds}.")
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for world in worlds:
        for seed in range(seeds):
            on_run(f"{world.name}, seed {seed}", len(rows) // 6, len(worlds) * seeds)
            parts = world.parts(seed, count)
            models, _ = fit_models(parts.train, np.random.default_rng(seed), epochs=epochs)
            for part in PARTS:
                sample = getattr(parts, part)
                for name, model in models.items():
                    predicted = model.predict(sample.features)
                    errors = prediction_errors(predicted, sample.speed)
                    rows.append(
                        {
                            "world": world.name,
                            "seed": seed,
                            "part": part,
                            "model": name,
                            "rows": sample.num_rows,
                            "mean_speed": float(sample.speed.mean()),
                            "error_y": errors.y,
                            "error_speed": errors.speed,
                            "rank_correlation": rank_correlation(predicted, sample.y),
                        }
                    )
    return InterferenceStudy(
        frame=pd.DataFrame(rows).astype({"rank_correlation": "float64"}),
        origins={world.name: world.origin for world in worlds},
        count=count,
    )
