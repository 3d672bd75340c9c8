"""Training of the learned methods as `optgap train` does it, with a held-out comparison and provenance."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics.dag.worl_rtgs.evaluate import compare, obedience
from heuristics.dag.worl_rtgs.network import save_weights, weights_sha256
from heuristics.dag.worl_rtgs.train import DdqnCurvePoint, DdqnTrainer
from heuristics.dag.worl_rtgs.training_instances import (
    GPUS,
    dag_instances_sha256,
    fine_tuning_stream,
    held_out_instances,
    training_stream,
    validation_instances,
)
from heuristics.jobs.actor_critic.gossip import contraction
from heuristics.jobs.interference_predictor.predictor import predictor_sha256
from heuristics.jobs.marl.gossip.settings import CENTRAL_ONLY, GossipSettings
from heuristics.jobs.marl.gossip.train import GossipTrainer
from heuristics.jobs.marl.network_files import AgentNetworks, save_agent_networks, save_network
from heuristics.jobs.marl.training.instances import held_out_set, jobs_instances_sha256, validation_set
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.train import MarlTrainer
from instances.text_file import write_text
from solvers.run.versions import hardware, version_of, versions
from studies.revision import revision

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from heuristics.dag.worl_rtgs.network import Weights
    from heuristics.dag.worl_rtgs.training_config import TrainingConfig
    from heuristics.jobs.marl.network_files import TrainedNetwork
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from instances.dag.instance import DagInstance


TRAINING_DISTRIBUTIONS = ("jax", "jaxlib", "optax")
"""Distributions that only trainings use."""


def train_worl_rtgs(
    config: TrainingConfig,
    *,
    seed: int,
    command: str,
    fine_tune: DagInstance | None = None,
    spread: float = 0.1,
    start: Weights | None = None,
    on_progress: Callable[[int, DdqnCurvePoint], None] = lambda steps, point: None,
) -> tuple[Weights, dict[str, Any]]:
    """Train the network of WORL-RTGS, and document how and how well.

    Parameters
    ----------
    command
        Command line, for the document.
    fine_tune
        Instance to tune to: training uses the instance and perturbations of it, and keeps the best network on it. None
        trains on generated instances and keeps the best network on the validation instances.
    spread
        Spread of the perturbations, see `fine_tuning_stream`.
    start
        Weights to begin with; default random ones.
    on_progress
        Called after every instance.

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
    own, others = obedience(held_out, trainer.weights_).T
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
        "validation": {"instances_sha256": dag_instances_sha256(validation), "mean_ratio": trainer.best_ratio_},
        "held_out": {
            "instances_sha256": dag_instances_sha256(held_out),
            **compare(held_out, trainer.weights_, trainer.start_weights_).to_dict(),
            "obedience": {"own": float(own.mean()), "others": float(others.mean())},
        },
        "curve": [
            {"steps": point.steps, "validation_ratio": point.validation_ratio, "loss": point.loss}
            for point in trainer.curve_
        ],
    }
    return trainer.weights_, document


def provenance_path(path: Path) -> Path:
    """Return the path of the document that belongs to a file of weights."""
    return path.with_suffix(".json")


def write_training(path: str | PathLike[str], weights: Weights, document: dict[str, Any]) -> None:
    """Write weights and their document."""
    save_weights(path, weights)
    write_text(provenance_path(Path(path)), f"{json.dumps(document, indent=1, allow_nan=False)}\n")


HELD_OUT = 20
"""Number of held-out instances."""


def train_marl(
    settings: TrainingSettings,
    *,
    seed: int,
    command: str,
    held_out: int = HELD_OUT,
    on_progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> tuple[TrainedNetwork | AgentNetworks, TrainedNetwork | None, dict[str, Any]]:
    """Train the multi-agent policy, and document how and how well.

    Parameters
    ----------
    settings
        Settings of `MarlTrainer`, or of `GossipTrainer`.
    command
        Command line, for the document.
    held_out
        Number of held-out instances, at least 1.
    on_progress
        See `MarlTrainer.fit`.

    Returns
    -------
    tuple
        The best network, the one after imitation (None without it), and a JSON document: content hashes, command,
        versions, settings, seed, hashes of the instances, predictor, curve, traffic of gossip, and mean JCTs on the
        held-out instances, in ticks and over the teacher's.
    """
    validation = validation_set(settings)
    trainer: MarlTrainer | GossipTrainer
    if isinstance(settings, GossipSettings):
        trainer = GossipTrainer(settings, seed=seed).fit(validation, on_progress=on_progress)
        further: dict[str, Any] = {"gossip": _gossip(settings, trainer)}
        without: tuple[str, ...] = CENTRAL_ONLY
    else:
        trainer = MarlTrainer(settings, seed=seed).fit(validation, on_progress=on_progress)
        further = {
            "value_scale": {"mean": trainer.value_mean_, "deviation": trainer.value_deviation_},
            "abandoned_curves": [[point._asdict() for point in curve] for curve in trainer.abandoned_curves_],
        }
        without = ()
    reported = held_out_set(settings, held_out)
    teacher = mean_jcts(settings, reported, None)
    jcts = {"teacher": teacher}
    for name, network in (
        ("untrained", trainer.start_network_),
        ("imitated", trainer.imitated_network_),
        ("trained", trainer.network_),
    ):
        if network is not None:
            jcts[name] = mean_jcts(settings, reported, network)
    fitted, imitated = trainer.fitted_, trainer.imitated_network_
    document: dict[str, Any] = {
        "weights_sha256": trainer.network_.sha256,
        "imitated_weights_sha256": None if imitated is None else imitated.sha256,
        "start_weights_sha256": trainer.start_network_.sha256,
        "command": command,
        "revision": revision(),
        "versions": {**versions(), **{name: version_of(name) for name in TRAINING_DISTRIBUTIONS}},
        "hardware": hardware(),
        "seconds": round(trainer.seconds_, 1),
        "interrupted": trainer.is_interrupted_,
        "seed": seed,
        "settings": {name: value for name, value in asdict(settings).items() if name not in without},
        "kappa": trainer.network_.kappa,
        **further,
        "interference_predictor": None
        if fitted is None
        else {"chosen": fitted.chosen, "errors": dict(fitted.errors), "sha256": predictor_sha256(fitted.predictor)},
        "validation": {
            "instances_sha256": jobs_instances_sha256(validation),
            "mean_ratio": trainer.best_ if trainer.curve_ else None,
        },
        "held_out": {
            "instances_sha256": jobs_instances_sha256(reported),
            "instances": held_out,
            "mean_jct_ticks": {name: values.tolist() for name, values in jcts.items()},
            "mean_ratio": {name: float((values / teacher).mean()) for name, values in jcts.items()},
        },
        "curve": [point._asdict() for point in trainer.curve_],
    }
    return trainer.network_, imitated, document


def _gossip(settings: GossipSettings, trainer: GossipTrainer) -> dict[str, Any]:
    """Describe gossip and what it sends per update."""
    return {
        "exchanges": settings.num_gossip_rounds,
        "contraction": contraction(settings.weights),
        "traffic_per_update": asdict(trainer.traffic_),
    }


def imitated_path(path: Path) -> Path:
    """Return the path of the network after imitation that belongs to a trained one."""
    return path.with_name(f"{path.stem}-imitated{path.suffix}")


def write_marl_training(
    path: str | PathLike[str],
    network: TrainedNetwork | AgentNetworks,
    document: dict[str, Any],
    imitated: TrainedNetwork | None = None,
) -> None:
    """Write a network, its document, and the network after imitation if there is one."""
    if isinstance(network, AgentNetworks):
        save_agent_networks(path, network)
    else:
        save_network(path, network)
    if imitated is not None:
        save_network(imitated_path(Path(path)), imitated)
    write_text(provenance_path(Path(path)), f"{json.dumps(document, indent=1, allow_nan=False)}\n")
