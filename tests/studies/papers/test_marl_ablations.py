"""Tests of the ablations of the multi-agent policy: what is trained and kept, where it plays, what is told."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from heuristics.jobs.marl.training.instances import held_out_set
from heuristics.jobs.marl.training.settings import TrainingSettings
from studies.papers import marl_ablations as ablation_run
from studies.papers.marl_ablations import (
    ABLATIONS,
    DEFAULT,
    TOPOLOGIES,
    Ablation,
    MarlAblations,
    ablations_figure,
    ablations_named,
    ablations_summary,
    ablations_tables,
    marl_ablations,
    topologies_named,
)
from tests.heuristics.jobs.marl.training.tiny import tiny

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run


NAMES = "default; imitation only"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the trainings of the module are kept."""
    return tmp_path_factory.mktemp("ablations")


@pytest.fixture(scope="module")
def study(folder: Path) -> MarlAblations:
    """Train the default for one update, and without any, for two seeds each."""
    return _study(folder)


def _study(folder: Path, **changes: Any) -> MarlAblations:
    """Make the study, as far as it is not there."""
    base = tiny(jobs=8, updates=1, **changes)
    where = topologies_named("as trained; no racks")
    return marl_ablations(ablations_named(NAMES), where, folder, base=base, seeds=2, held_out=2)


@pytest.mark.slow
def test_every_training_plays_everywhere(study: MarlAblations) -> None:
    """Tests that there is a row per topology, training, seed and instance, controls included, with sound numbers."""
    counts = study.frame.groupby(["setting", "label"]).size().to_dict()
    trained = {(topology, name): 4 for topology in ("as trained", "no racks") for name in ("default", "imitation only")}
    assert counts == trained | {("as trained", f"default, {stage}"): 4 for stage in ("imitated", "untrained")}
    assert (study.frame[["jct_mean", "teacher", "central_teacher"]] > 0).all(axis=None)
    assert set(study.frame["agents"]) == {2}
    assert {name: curve[0] for name, curve in study.curves.items()} == {"default": [0, 0, 1], "imitation only": [0, 0]}
    assert study.curves["default"][1].shape == (2, 3)
    assert ablations_figure(study).get_legend_handles_labels()[1] == ["default"]


@pytest.mark.slow
def test_controls_are_those_of_the_training(study: MarlAblations, folder: Path) -> None:
    """Tests that the JCTs of trained, imitated and untrained networks are those that the document of a training has."""
    document = json.loads((folder / "default-seed1.json").read_text())["held_out"]["mean_jct_ticks"]
    for label, name in (("default", "trained"), ("default, imitated", "imitated"), ("default, untrained", "untrained")):
        mine = study.frame[(study.frame["label"] == label) & (study.frame["setting"] == "as trained")]
        assert mine[mine["repetition"] == 1]["jct_mean"].tolist() == pytest.approx(document[name])
    assert mine[mine["repetition"] == 1]["teacher"].tolist() == pytest.approx(document["teacher"])


@pytest.mark.slow
def test_what_is_there_is_not_made_again(study: MarlAblations, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the same study trains nothing, that other settings train, and that damaged files are made again."""
    trained: list[int] = []
    true = ablation_run.train_marl

    def counted(*given: Any, **named: Any) -> Any:
        trained.append(named["seed"])
        return true(*given, **named)

    monkeypatch.setattr(ablation_run, "train_marl", counted)
    again = _study(folder)
    assert trained == []
    pd.testing.assert_frame_equal(again.frame, study.frame)
    (folder / "imitation-only-seed1.npz").write_bytes(b"damaged")
    pd.testing.assert_frame_equal(_study(folder).frame, study.frame)  # same seed, same network
    assert trained == [1]
    run = ablation_run.AblationRun(
        ablation=ABLATIONS[0], base=tiny(jobs=8, updates=1), seed=0, topologies=(), held_out=2, folder=folder
    )
    assert ablation_run.is_trained(run)
    for other in (replace(run, base=tiny(jobs=9, updates=1)), replace(run, held_out=3), replace(run, seed=7)):
        assert not ablation_run.is_trained(other)


def test_a_training_that_was_cut_short_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that Ctrl-C inside a training ends the study without a file of it."""
    monkeypatch.setattr(ablation_run, "train_marl", lambda *given, **named: (None, None, {"interrupted": True}))
    with pytest.raises(KeyboardInterrupt):
        _study(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_ablations_change_what_they_say() -> None:
    """Tests that every ablation is possible, differs from the default, and that rivals share its instances."""
    base = TrainingSettings()
    by_name = {ablation.name: ablation for ablation in ABLATIONS}
    assert len(by_name) == len({ablation.stem for ablation in ABLATIONS}) == len(ABLATIONS)
    for ablation in ABLATIONS:
        settings, rival = ablation.settings(base), by_name[ablation.rival].settings(base)
        assert (settings == base) == (ablation.name == DEFAULT)
        assert (settings.family, settings.cluster, settings.jobs) == (rival.family, rival.cluster, rival.jobs)
    with pytest.raises(ValueError, match=r"only: expected some of default; .*, got 'half'\."):
        ablations_named("default; half")
    with pytest.raises(ValueError, match=r"topologies: expected all or some of as trained; .*, got ''\."):
        topologies_named("")
    assert Ablation(name="A = 4").stem == "a-4"


def test_topologies_hold_the_same_jobs() -> None:
    """Tests that the first topology is the held-out set, and that without racks only racks are gone."""
    base = tiny(jobs=8)
    for mine, kept in zip(TOPOLOGIES[0].instances(base, 2), held_out_set(base, 2), strict=True):
        assert mine.sha256 == kept.sha256
    (bare,) = topologies_named("no racks")[0].instances(base, 1)
    assert bare.racks is None
    assert replace(bare, racks=held_out_set(base, 1)[0].racks).sha256 == held_out_set(base, 1)[0].sha256
    assert [topology.instances(base, 1)[0].share for topology in TOPOLOGIES] == [1, 1, 1, 2]


def test_summary_by_hand() -> None:
    """Tests ratios to both teachers, their interval over seeds, and the test against the rival."""
    rows = [
        {"family": "f", "cluster": "c", "setting": "as trained", "jobs": 8, "load": 0.9, "label": label}
        | {"repetition": seed, "instance": name, "agents": 4, "teacher": ticks, "central_teacher": ticks / 2}
        | {"jct_mean": factor * (1 + seed) * ticks}
        for label, factor in (("default", 0.5), ("flat", 0.75))
        for seed in (0, 1)
        for name, ticks in (("0", 100.0), ("1", 300.0))
    ]
    ablations = ablations_named("default; flat")
    study = MarlAblations(frame=pd.DataFrame(rows), curves={}, seconds={"default": 7.0}, ablations=ablations)
    default, flat = ablations_summary(study).to_dict("records")
    assert (default["of_teacher"], default["of_central"]) == (
        pytest.approx(0.5 * math.sqrt(2)),
        pytest.approx(math.sqrt(2)),
    )
    half = 12.7062047 * math.log(2) / math.sqrt(2) / math.sqrt(2)  # Student, one degree of freedom
    assert default["of_teacher_high"] == pytest.approx(0.5 * math.sqrt(2) * math.exp(half))
    assert (flat["ratio"], flat["pairs"], flat["shorter"], flat["holm_p_value"]) == (pytest.approx(1.5), 2, 0, 0.5)
    assert (default["seconds"], default["seeds"]) == (7.0, 2)
    assert np.isnan([default["ratio"], default["p_value"], flat["seconds"]]).all()
    (table,) = ablations_tables(study)
    assert table.title == "Ablations of the multi-agent policy: as trained"
    assert table.rows[1][0] == "flat"
    assert table.rows[1][5:] == ("1.5", "[1.5, 1.5]", "0.5000")
    assert table.rows[0][5:] == ("-", "-", "-")


def test_misuse(run: Run) -> None:
    """Tests that unknown names and settings are refused in one line."""
    for arguments, message in (
        (("--only", "x"), "--only: expected some of default; "),
        (("--topologies", "x"), "--topologies: expected all or some of as trained; "),
        (("--set", "pages=3"), "--set: expected a parameter of marl ("),
        (("--set", "reward=x"), "--set reward: expected "),
    ):
        ended = run("study", "marl-ablations", "--out", "out", *arguments)
        assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
        assert ended.err.startswith(message)
