"""Tests of the networks that come with the package, and of folders that are not what their index says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import wilcoxon

import heuristics.jobs.marl.shipped_networks as module
from heuristics.jobs.marl.network_files import TrainedNetwork, load_network, save_network, untrained_network
from heuristics.jobs.marl.shipped_networks import (
    INDEX,
    STAGES,
    network_from,
    network_in,
    shipped_document,
    shipped_network,
    shipped_trainings,
)
from heuristics.jobs.marl.training.instances import held_out_set, jobs_instances_sha256, validation_set
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.settings import TrainingSettings
from solvers.solve import solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance

FOLDER = Path(module.__file__).parent / "weights"


def test_five_trainings() -> None:
    """Tests that there are five, of different seeds and alike otherwise, and that the default is the best of them."""
    assert shipped_trainings() == [1, 2, 3, 4, 5]
    documents = [shipped_document(number) for number in shipped_trainings()]
    seeds = [document["seed"] for document in documents]
    assert seeds == sorted(set(seeds))
    assert all(document["settings"] == documents[0]["settings"] for document in documents)
    best = min(documents, key=lambda document: document["validation"]["mean_ratio"])
    assert shipped_document() == best
    assert shipped_network().sha256 == best["weights_sha256"]


@pytest.mark.parametrize("training", range(1, 6))
def test_networks_are_those_of_their_document(training: int) -> None:
    """Tests hashes of all stages, the untrained one made anew from the seed, the sets, the curve, and no path."""
    document = shipped_document(training)
    settings = TrainingSettings(**document["settings"])
    names = ("weights_sha256", "imitated_weights_sha256", "start_weights_sha256")
    for stage, name in zip(STAGES, names, strict=True):
        network = shipped_network(training, stage)
        assert network.sha256 == document[name]
        assert network.kappa == document["kappa"]
        assert shipped_network(training, stage) is network
    assert document["validation"]["mean_ratio"] == min(point["validation"] for point in document["curve"])
    assert document["curve"][-1]["updates"] == settings.updates
    assert not document["interrupted"]
    assert "/" not in document["command"]
    assert {"python", "numpy", "jax", "jaxlib", "optax"} <= set(document["versions"])


@pytest.mark.parametrize("stage", [pytest.param(stage, marks=pytest.mark.slow) for stage in STAGES])
def test_held_out_results_are_the_recorded_ones(stage: str) -> None:
    """Tests the mean JCTs of the trainer's own simulation on two held-out instances, within 2 %.

    Rounding differs between processors, so that a slot may differ where two scores are nearly equal.
    """
    document = shipped_document()
    settings = TrainingSettings(**document["settings"])
    found = mean_jcts(settings, held_out_set(settings, 2), shipped_network(stage=stage))
    assert found.tolist() == pytest.approx(document["held_out"]["mean_jct_ticks"][stage][:2], rel=0.02)


def test_sets_are_the_recorded_ones() -> None:
    """Tests the hashes of the validation and of the held-out set."""
    document = shipped_document()
    settings = TrainingSettings(**document["settings"])
    assert document["validation"]["instances_sha256"] == jobs_instances_sha256(validation_set(settings))
    assert document["held_out"]["instances_sha256"] == jobs_instances_sha256(held_out())


FEW = 7
"""Held-out instances that are played by default: if all differ in one direction, p is 1 / 128."""


@cache
def held_out() -> list[JobsInstance]:
    """Return the 20 held-out instances, all of load 0.9."""
    settings = TrainingSettings(**shipped_document()["settings"])
    assert settings.load == 0.9
    return held_out_set(settings, 20)


@cache
def played(number: int, method: str, training: int | None = None, stage: str | None = None) -> float:
    """Play a method on a held-out instance; return the mean JCT in ticks of its schedule, which `solve` verifies."""
    instance = held_out()[number]
    assert (instance.weight == 1).all()
    network = {} if stage is None else {"training": training, "stage": stage}
    total = solve(instance, method, seed=0, objective="total_completion", bounds=[], **network).objective
    assert total is not None
    return float(total - instance.release.sum()) / instance.num_jobs


def networks_play(stage: str, trainings: list[int], count: int) -> NDArray[np.float64]:
    """Return the mean JCT of each of the first held-out instances, mean over trainings, in ticks."""
    return np.array([np.mean([played(number, "marl", each, stage) for each in trainings]) for number in range(count)])


DEFAULT = json.loads((FOLDER / INDEX).read_text(encoding="utf-8"))["default"]
SETS = [pytest.param([DEFAULT], FEW), pytest.param([1, 2, 3, 4, 5], 20, marks=pytest.mark.slow)]
"""Trainings and number of instances: the default one on a few, and all on all."""


@pytest.mark.slow
@pytest.mark.parametrize(("trainings", "count"), SETS)
@pytest.mark.parametrize("control", ["imitated", "untrained"])
def test_learning_is_real(control: str, trainings: list[int], count: int) -> None:
    """Tests on schedules made here that trained networks beat those before: Wilcoxon's signed ranks, p < 0.01."""
    trained, before = networks_play("trained", trainings, count), networks_play(control, trainings, count)
    assert trained.mean() < 0.8 * before.mean()
    assert wilcoxon(trained, before, alternative="less").pvalue < 0.01


@pytest.mark.whole
@pytest.mark.parametrize(("trainings", "count"), SETS)
def test_documents_say_what_schedules_show(trainings: list[int], count: int) -> None:
    """Tests the recorded mean JCTs of trained networks against schedules made here, within 2 % as above."""
    for training in trainings:
        recorded = shipped_document(training)["held_out"]["mean_jct_ticks"]["trained"]
        assert len(recorded) == 20
        assert networks_play("trained", [training], count).tolist() == pytest.approx(recorded[:count], rel=0.02)


@pytest.mark.parametrize(
    ("rule", "trainings", "count"),
    [
        ("tetris", [DEFAULT], FEW),
        *(
            pytest.param(rule, [1, 2, 3, 4, 5], 20, marks=pytest.mark.slow)
            for rule in ("tetris", "fifo", "load-balancing", "bin-packing")
        ),
    ],
)
@pytest.mark.whole
def test_trained_networks_beat_rules_at_load_09(rule: str, trainings: list[int], count: int) -> None:
    """Tests on schedules made here, p < 0.01: the default training on a few instances, all trainings on all."""
    found = [played(number, rule) for number in range(count)]
    assert wilcoxon(networks_play("trained", trainings, count), found, alternative="less").pvalue < 0.01


def test_a_network_of_ones_own(tmp_path: Path) -> None:
    """Tests that a file is read, and that it goes with neither a training nor a stage."""
    network = untrained_network(3, kappa=2.0, variant="flat", kinds=("A",), num_agents=2)
    save_network(tmp_path / "own.npz", network)
    assert network_from(tmp_path / "own.npz").sha256 == network.sha256
    assert network_from(None, 2, "imitated") is shipped_network(2, "imitated")
    assert network_from() is shipped_network()
    for given in ({"training": 1}, {"stage": "trained"}):
        with pytest.raises(ValueError, match=rf"^{next(iter(given))}: expected none beside weights, got "):
            network_from(tmp_path / "own.npz", **given)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        network_from(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("training", "stage", "message"),
    [
        (0, None, r"^training: expected one of 1, 2, 3, 4, 5, got 0\.$"),
        (6, None, r"^training: expected one of 1, 2, 3, 4, 5, got 6\.$"),
        (None, "tamed", r"^stage: expected one of trained, imitated, untrained, got 'tamed'\.$"),
    ],
)
def test_there_are_no_others(training: int | None, stage: str | None, message: str) -> None:
    """Tests what is said of numbers and stages that do not exist."""
    with pytest.raises(ValueError, match=message):
        shipped_network(training, stage)


def _folder(path: Path) -> tuple[Path, TrainedNetwork]:
    """Write a folder with one training."""
    network = untrained_network(3, kappa=2.0, variant="flat", kinds=("A",), num_agents=2)
    path.mkdir()
    save_network(path / "1-trained.npz", network)
    save_network(path / "1-imitated.npz", network)
    sha256 = dict.fromkeys(STAGES, network.sha256)
    index = {"format": module.INDEX_FORMAT, "default": 1, "trainings": {"1": {"seed": 3, "sha256": sha256}}}
    (path / INDEX).write_text(json.dumps(index), encoding="utf-8")
    return path, network


def test_what_is_not_as_the_index_says(tmp_path: Path) -> None:
    """Tests another network under a name, another seed, an index of another format and one that is no JSON."""
    folder, network = _folder(tmp_path / "right")
    assert [network_in(folder, stage=stage).sha256 for stage in STAGES] == [network.sha256] * 3
    other = untrained_network(4, kappa=2.0, variant="flat", kinds=("A",), num_agents=2)
    folder, _ = _folder(tmp_path / "other")
    save_network(folder / "1-imitated.npz", other)
    with pytest.raises(
        ValueError, match=rf"1-imitated\.npz: expected SHA-256 {network.sha256}, as in index\.json, got "
    ):
        network_in(folder, 1, "imitated")
    assert load_network(folder / "1-imitated.npz").sha256 == other.sha256
    folder, _ = _folder(tmp_path / "seed")
    index = (folder / INDEX).read_text(encoding="utf-8")
    (folder / INDEX).write_text(index.replace('"seed": 3', '"seed": 4'), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"index\.json: network of seed 4: expected SHA-256 .*, got {other.sha256}"):
        network_in(folder, 1, "untrained")
    for name, text, message in (
        ("format", "{}", r"index\.json: expected format 'optgap/marl-networks 1', got None\.$"),
        ("list", "[]", r"index\.json: expected format 'optgap/marl-networks 1', got None\.$"),
        ("broken", "{", r"index\.json: expected a JSON document, got something else"),
    ):
        folder, _ = _folder(tmp_path / name)
        (folder / INDEX).write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            network_in(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError):
        network_in(tmp_path / "empty")
