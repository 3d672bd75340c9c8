"""One training of an ablation and its evaluation, kept in files: what is there is not made again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.marl.checked_agents import most_agents
from heuristics.jobs.marl.trained_network import load_network
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.training_instance import instances_sha256
from heuristics.jobs.policies.marl import marl_run
from instances.whole_file import whole_file
from studies.train_marl import train_marl, write_marl_training
from studies.train_worl_rtgs import provenance_path

if TYPE_CHECKING:
    from pathlib import Path

    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from instances.jobs.jobs_instance import JobsInstance
    from studies.marl_ablations.ablation import Ablation
    from studies.marl_ablations.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRun:
    """What is to be trained and measured.

    Parameters
    ----------
    ablation, base, seed
        Which change to which settings, and the seed of everything random.
    topologies
        That the network plays on.
    held_out
        Instances of each.
    folder
        Of the files.
    """

    ablation: Ablation
    base: TrainingSettings
    seed: int
    topologies: tuple[Topology, ...]
    held_out: int
    folder: Path

    @property
    def settings(self) -> TrainingSettings:
        """Settings of the training."""
        return self.ablation.settings(self.base)

    @property
    def weights(self) -> Path:
        """File of the network; the document of the training stands beside it."""
        return self.folder / f"{self.ablation.stem}-seed{self.seed}.npz"

    @property
    def measured(self) -> Path:
        """File of the evaluation."""
        return self.folder / f"{self.ablation.stem}-seed{self.seed}-topologies.json"


def make_run(run: AblationRun) -> dict[str, Any]:
    """Train and measure what is not there yet; return the documents of both.

    Returns
    -------
    dict
        ``training`` as of `train_marl`; ``topologies`` by name: hash of the instances, agents and mean JCT of every
        instance in ticks, of the network, of the teacher with as many agents, and of the teacher with one.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; a training that was cut short is not kept.
    """
    training = _trained(run)
    known = _read(run.measured)
    measured: dict[str, Any] = known if known.get("weights_sha256") == training["weights_sha256"] else {}
    measured = {"weights_sha256": training["weights_sha256"], "topologies": dict(measured.get("topologies", {}))}
    for topology in run.topologies:
        instances = topology.instances(run.base, run.held_out)
        sha256 = instances_sha256(instances)
        if measured["topologies"].get(topology.name, {}).get("instances_sha256") != sha256:
            measured["topologies"][topology.name] = {"instances_sha256": sha256, **_measured(run, instances)}
            with whole_file(run.measured) as partial:
                partial.write_text(f"{json.dumps(measured, indent=1)}\n", encoding="utf-8")
    wanted = {topology.name for topology in run.topologies}
    kept = {name: entry for name, entry in measured["topologies"].items() if name in wanted}
    return {"training": training, "topologies": kept}


def is_trained(run: AblationRun) -> bool:
    """Say whether the files of a training are there, with these settings and this seed, and belong together."""
    document = _read(provenance_path(run.weights))
    is_same = document.get("settings") == json.loads(json.dumps(asdict(run.settings)))
    if not is_same or document.get("seed") != run.seed or document.get("interrupted"):
        return False
    if document["held_out"]["instances"] != run.held_out:
        return False
    try:
        return bool(load_network(run.weights).sha256 == document["weights_sha256"])
    except (OSError, ValueError):
        return False


def _trained(run: AblationRun) -> dict[str, Any]:
    """Return the document of the training, which is made if it is not there."""
    if not is_trained(run):
        command = f"optgap study marl-ablations --only '{run.ablation.name}'"
        network, imitated, document = train_marl(run.settings, seed=run.seed, command=command, held_out=run.held_out)
        if document["interrupted"]:
            raise KeyboardInterrupt
        write_marl_training(run.weights, network, document, imitated)
    return _read(provenance_path(run.weights))


def _measured(run: AblationRun, instances: list[JobsInstance]) -> dict[str, Any]:
    """Return the mean JCTs on some instances; with fewer agents than in training where racks or jobs ask for it."""
    settings = run.settings
    agents = min(most_agents(instance, settings.num_agents) for instance in instances)
    jcts = []
    for instance in instances:
        played = marl_run(
            instance,
            np.random.default_rng(0),
            predictor=settings.durations,
            weights=str(run.weights),
            agents=agents,
            forwards=settings.max_forwards,
        )
        assert played is not None  # nobody stops it
        jcts.append(float((played.simulation.completion - instance.release).mean()))
    return {
        "agents": agents,
        "jct": jcts,
        "teacher": mean_jcts(replace(settings, num_agents=agents), instances, None).tolist(),
        "central_teacher": mean_jcts(replace(settings, num_agents=1), instances, None).tolist(),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return a document, an empty one where there is none that can be read."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document
