"""Tests that a folder of trainings becomes shipped networks, and that what does not belong together is refused."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

import studies.papers.ship_marl as module
from heuristics.jobs.marl.network_files import TrainedNetwork, save_network, untrained_network
from heuristics.jobs.marl.shipped_networks import STAGES, network_in
from studies.papers.ship_marl import ship_marl
from studies.papers.training import imitated_path, write_marl_training

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def _network(seed: int) -> TrainedNetwork:
    """Return a network without graphs."""
    return untrained_network(seed, kappa=2.0, variant="flat", kinds=("A",), num_agents=2)


def _write(path: Path, seed: int, ratio: float, changes: Mapping[str, Any] | None = None) -> None:
    """Write what a training with this seed might: networks of other seeds stand for the learned ones."""
    trained, imitated = _network(seed + 200), _network(seed + 100)
    document = {
        "weights_sha256": trained.sha256,
        "imitated_weights_sha256": imitated.sha256,
        "start_weights_sha256": _network(seed).sha256,
        "interrupted": False,
        "seed": seed,
        "settings": {"jobs": 60},
        "validation": {"instances_sha256": "00", "mean_ratio": ratio},
    }
    write_marl_training(path, trained, {**document, **(changes or {})}, imitated)


def test_trainings_are_numbered_by_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """Tests numbers, the default, all networks by the loader, the documents, and that old files go."""
    source, target = tmp_path / "source", tmp_path / "deep" / "weights"
    source.mkdir()
    for name, seed, ratio in (("a", 7, 0.9), ("b", 2, 0.8), ("c", 4, 0.85)):
        _write(source / f"{name}.npz", seed, ratio)
    monkeypatch.setattr(sys, "argv", ["ship_marl", str(source), "--into", str(target)])
    for _ in range(2):
        module.ship_folder()
        (target / "9-trained.npz").touch()
    index = ship_marl(source, target)
    assert index["default"] == 1
    assert [entry["seed"] for entry in index["trainings"].values()] == [2, 4, 7]
    assert capsys.readouterr().out.endswith("default: training 1\n")
    names = [f"{number}{end}" for number in (1, 2, 3) for end in ("-imitated.npz", "-trained.npz", ".json")]
    assert sorted(path.name for path in target.iterdir()) == [*names, "index.json"]
    for number, seed in ((1, 2), (2, 4), (3, 7)):
        for stage, drawn in zip(STAGES, (seed + 200, seed + 100, seed), strict=True):
            assert network_in(target, number, stage).sha256 == _network(drawn).sha256
        assert json.loads((target / f"{number}.json").read_text(encoding="utf-8"))["seed"] == seed
    assert network_in(target) is network_in(target, 1, "trained")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"interrupted": True}, r"b\.json: expected a training that came to its end, got one that was interrupted\."),
        ({"imitated_weights_sha256": None}, r"b\.json: expected a training that began with imitation, got one without"),
        ({"seed": 1}, r"source: expected trainings of different seeds, got \[1, 1\]\."),
        ({"settings": {"jobs": 9}}, r"b\.json: expected settings and validation instances of a\.json, got others\."),
        ({"validation": {"instances_sha256": "1", "mean_ratio": 1.0}}, r"b\.json: expected settings and validation"),
        ({"weights_sha256": "00"}, r"b\.json: expected the trained network of weights_sha256 00, got [0-9a-f]{64}\."),
        ({"imitated_weights_sha256": "00"}, r"b\.json: expected the imitated network of imitated_weights_sha256 00"),
        ({"start_weights_sha256": "00"}, r"b\.json: expected the untrained network of start_weights_sha256 00"),
    ],
)
def test_what_does_not_belong_together(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Tests that a second training with something wrong is refused, before anything is removed or written."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    (target / "old").touch()
    _write(source / "a.npz", 1, 0.9)
    _write(source / "b.npz", 2, 0.8, changes)
    with pytest.raises(ValueError, match=message):
        ship_marl(source, target)
    assert [path.name for path in target.iterdir()] == ["old"]


def test_missing_files(tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests an empty folder, and a training without its imitated network, by the command."""
    with pytest.raises(ValueError, match="expected documents of trainings, got none"):
        ship_marl(tmp_path, tmp_path / "target")
    _write(tmp_path / "a.npz", 1, 0.9)
    imitated_path(tmp_path / "a.npz").unlink()
    monkeypatch.setattr(sys, "argv", ["ship_marl", str(tmp_path), "--into", str(tmp_path / "target")])
    with pytest.raises(SystemExit, match="2"):
        module.ship_folder()
    assert "a-imitated.npz" in capsys.readouterr().err
    save_network(imitated_path(tmp_path / "a.npz"), _network(101))
    assert ship_marl(tmp_path, tmp_path / "target")["default"] == 1
