"""Training of WORL-RTGS's network as a command does it: with held-out comparison and provenance."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics.dag.worl_rtgs.evaluate import compare
from heuristics.dag.worl_rtgs.fine_tuning_stream import fine_tuning_stream
from heuristics.dag.worl_rtgs.network import save_weights, weights_sha256
from heuristics.dag.worl_rtgs.stored_instances import held_out_instances, instances_sha256, validation_instances
from heuristics.dag.worl_rtgs.train import CurvePoint, DdqnTrainer
from heuristics.dag.worl_rtgs.training_stream import GPUS, training_stream
from solvers.versions import hardware, version_of, versions
from studies.revision import revision

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from heuristics.dag.worl_rtgs.network import Weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from instances.dag_instance import DagInstance

TRAINING_DISTRIBUTIONS = ("jax", "jaxlib", "optax")
"""Distributions that compute in a training and nowhere else."""


def train_worl_rtgs(
    config: TrainingConfig,
    *,
    seed: int,
    command: str,
    fine_tune: DagInstance | None = None,
    spread: float = 0.1,
    start: Weights | None = None,
    on_progress: Callable[[int, CurvePoint], None] = lambda steps, point: None,
) -> tuple[Weights, dict[str, Any]]:
    """Train, and say how and how well.

    Parameters
    ----------
    config, seed
        As in `DdqnTrainer`.
    command
        What was asked for, as text.
    fine_tune
        Instance to tune to: training instances are the instance itself and perturbations of it, and the best network
        on it is kept; None trains on generated instances and keeps the best network on the validation instances.
    spread
        Of the perturbations, see `fine_tuning_stream`.
    start
        Weights to begin with; default random ones.
    on_progress
        Told after every instance.

    Returns
    -------
    tuple
        The best weights, and a JSON document: content hash, command, versions, configuration, seeds, hashes of the
        instances, curve, and the comparison on the held-out instances.
    """
    validation = validation_instances() if fine_tune is None else [fine_tune]
    trainer = DdqnTrainer(config, seed=seed).fit(
        validation,
        stream=training_stream if fine_tune is None else fine_tuning_stream(fine_tune, spread),
        max_gpus=GPUS[1] if fine_tune is None else fine_tune.num_gpus,
        start=start,
        on_progress=on_progress,
    )
    held_out = held_out_instances()
    document: dict[str, Any] = {
        "weights_sha256": weights_sha256(trainer.weights_),
        "start_weights_sha256": weights_sha256(trainer.start_weights_),
        "command": command,
        "revision": revision(),
        "versions": {**versions(), **{name: version_of(name) for name in TRAINING_DISTRIBUTIONS}},
        "hardware": hardware(),
        "seconds": round(trainer.seconds_, 1),
        "interrupted": trainer.is_interrupted_,
        "seed": seed,
        "configuration": asdict(config),
        "fine_tuned_to": None
        if fine_tune is None
        else {"instance": fine_tune.name, "instance_sha256": fine_tune.sha256, "spread": spread},
        "validation": {"instances_sha256": instances_sha256(validation), "mean_ratio": trainer.best_ratio_},
        "held_out": {
            "instances_sha256": instances_sha256(held_out),
            **compare(held_out, trainer.weights_, trainer.start_weights_).to_dict(),
        },
        "curve": [
            {"steps": point.steps, "validation_ratio": point.validation_ratio, "loss": point.loss}
            for point in trainer.curve_
        ],
    }
    return trainer.weights_, document


def provenance_path(path: Path) -> Path:
    """Return where the document beside a file of weights is."""
    return path.with_suffix(".json")


def write_training(path: str | PathLike[str], weights: Weights, document: dict[str, Any]) -> None:
    """Write weights, and the document beside them."""
    save_weights(path, weights)
    text = json.dumps(document, indent=1, allow_nan=False)
    provenance_path(Path(path)).write_text(f"{text}\n", encoding="utf-8")
