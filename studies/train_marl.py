"""Training of the multi-agent policy as a command does it: with held-out comparison and provenance."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristics.jobs.actor_critic.gossip import contraction
from heuristics.jobs.interference_predictor.predictor_file import predictor_sha256
from heuristics.jobs.marl.agent_networks import AgentNetworks, save_agent_networks
from heuristics.jobs.marl.gossip.gossip_settings import CENTRAL_ONLY, GossipSettings
from heuristics.jobs.marl.gossip.gossip_trainer import GossipTrainer
from heuristics.jobs.marl.trained_network import save_network
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.train import MarlTrainer
from heuristics.jobs.marl.training.training_instance import held_out_set, instances_sha256, validation_set
from solvers.versions import hardware, version_of, versions
from studies.revision import revision
from studies.train_worl_rtgs import TRAINING_DISTRIBUTIONS, provenance_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from heuristics.jobs.marl.trained_network import TrainedNetwork
    from heuristics.jobs.marl.training.training_settings import TrainingSettings

HELD_OUT = 20
"""Instances to report on."""


def train_marl(
    settings: TrainingSettings,
    *,
    seed: int,
    command: str,
    held_out: int = HELD_OUT,
    on_progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> tuple[TrainedNetwork | AgentNetworks, TrainedNetwork | None, dict[str, Any]]:
    """Train, and say how and how well.

    Parameters
    ----------
    settings, seed
        As in `MarlTrainer`, or in `GossipTrainer` if they are its settings.
    command
        What was asked for, as text.
    held_out
        Instances to report on, at least 1.
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
        else {
            "chosen": fitted.chosen,
            "errors": dict(fitted.errors),
            "sha256": predictor_sha256(fitted.predictor),
        },
        "validation": {
            "instances_sha256": instances_sha256(validation),
            "mean_ratio": trainer.best_ if trainer.curve_ else None,
        },
        "held_out": {
            "instances_sha256": instances_sha256(reported),
            "instances": held_out,
            "mean_jct_ticks": {name: values.tolist() for name, values in jcts.items()},
            "mean_ratio": {name: float((values / teacher).mean()) for name, values in jcts.items()},
        },
        "curve": [point._asdict() for point in trainer.curve_],
    }
    return trainer.network_, imitated, document


def _gossip(settings: GossipSettings, trainer: GossipTrainer) -> dict[str, Any]:
    """Return what gossip is and what it sends per update."""
    return {
        "exchanges": settings.num_gossip_rounds,
        "contraction": contraction(settings.weights),
        "traffic_per_update": asdict(trainer.traffic_),
    }


def imitated_path(path: Path) -> Path:
    """Return where the network after imitation is, beside the trained one."""
    return path.with_name(f"{path.stem}-imitated{path.suffix}")


def write_marl_training(
    path: str | PathLike[str],
    network: TrainedNetwork | AgentNetworks,
    document: dict[str, Any],
    imitated: TrainedNetwork | None = None,
) -> None:
    """Write a network, and beside it the document, and the network after imitation if there is one."""
    if isinstance(network, AgentNetworks):
        save_agent_networks(path, network)
    else:
        save_network(path, network)
    if imitated is not None:
        save_network(imitated_path(Path(path)), imitated)
    text = json.dumps(document, indent=1, allow_nan=False)
    provenance_path(Path(path)).write_text(f"{text}\n", encoding="utf-8")
