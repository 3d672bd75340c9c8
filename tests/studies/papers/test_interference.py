"""Tests of the study of the interference predictor."""

from __future__ import annotations

import csv
import gzip
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import spearmanr

from heuristics.jobs.interference_predictor.fit import fit_models
from heuristics.jobs.interference_predictor.models import fit_constant, fit_ridge
from instances.jobs.interference import NOT_TOGETHER, PairTable
from instances.readers.jobs.gavel_pairs import COLUMNS
from studies.experiment.specification import drawn_seed
from studies.papers.interference import (
    GENERATED,
    InterferenceStudy,
    MeasuredWorld,
    generated_worlds,
    interference_study,
    interference_table,
    measured_world,
    names_measured,
    rank_correlation,
)
from studies.papers.study import seeds_of
from tests.real_data import real_data

if TYPE_CHECKING:
    from pathlib import Path

    from studies.papers.interference import World
    from tests.studies.run_command import Run


CLASSES = tuple("abcdef")
BUSY = np.array([0.2, 0.4, 0.5, 0.6, 0.8, 0.9])


def table(factor: float) -> PairTable:
    """Return pairs whose y is a sum of two parts, one of each class; a beside b does not fit."""
    speed = np.rint(1000 * np.exp(-factor * (BUSY[:, None] + BUSY))).astype(np.int64)
    speed[0, 1] = speed[1, 0] = NOT_TOGETHER
    return PairTable(classes=CLASSES, pair=speed, source="invented")


FACTORS = {"k80": 0.5, "p100": 0.6, "v100": 0.8}
WORLD = MeasuredWorld(tables={kind: table(factor) for kind, factor in FACTORS.items()})


@pytest.fixture(scope="module")
def study() -> InterferenceStudy:
    """Return a short study."""
    return interference_study([WORLD], seeds=2, epochs=3)


def test_seeds_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the seeds of a text are those of every study, and that worlds are given them."""
    assert seeds_of(2, None) == [0, 1]
    wanted = [drawn_seed("a", 0), drawn_seed("a", 1)]
    assert seeds_of(2, "a") == wanted

    def parts(world: MeasuredWorld, seed: int, count: int) -> None:
        """Give up, so that nothing is trained."""
        raise RuntimeError(f"seed {seed}")

    monkeypatch.setattr(MeasuredWorld, "parts", parts)
    with pytest.raises(RuntimeError, match=f"seed {wanted[0]}"):
        interference_study([WORLD], seeds=2, epochs=1, entropy="a")


def test_measured_sample() -> None:
    """Tests that every pair that fits is there once per kind, with both speeds and the right features."""
    sample = WORLD.sample()
    assert len(sample.pairs) == 3 * (21 - 1)
    assert sample.num_rows == 2 * len(sample.pairs)
    assert ("a", "b") not in sample.all_pairs()
    assert ("c", "c") in sample.all_pairs()
    names = sample.space.names
    assert names[-3:] == ("kind k80", "kind p100", "kind v100")
    for features, speed in zip(sample.features, sample.speed.tolist(), strict=True):
        own, partner = (features[names.index(f"{side} a") :][:6].argmax() for side in ("class", "partner"))
        assert speed == list(WORLD.tables.values())[features[-3:].argmax()].pair[own, partner]
        assert features.sum() == 4  # class, replicas, partner, kind


@pytest.mark.whole
@pytest.mark.parametrize("world", [WORLD, GENERATED["shared-gpus"]], ids=["measured", "generated"])
def test_unseen_pairs_are_unseen(world: World) -> None:
    """Tests that no pair of the unseen part is trained on or in the seen part, whose pairs all are trained on."""
    parts = world.parts(seed=1, count=60)
    trained = parts.train.all_pairs()
    assert parts.unseen.num_rows and parts.seen.num_rows
    assert not parts.unseen.all_pairs() & (trained | parts.seen.all_pairs())
    assert all(set(pair) <= parts.held_out for pair in parts.unseen.all_pairs())
    assert not any(set(pair) <= parts.held_out for pair in trained)
    again = world.parts(seed=1, count=60)
    assert again.train.features.tobytes() == parts.train.features.tobytes()
    assert again.unseen.speed.tolist() == parts.unseen.speed.tolist()
    if world is WORLD:
        assert parts.seen.all_pairs() <= trained
    else:
        assert (len(parts.train.pairs), len(parts.seen.pairs), len(parts.unseen.pairs)) == (60, 12, 12)
        assert parts.train.features.tobytes() != world.parts(seed=2, count=60).train.features.tobytes()


@pytest.mark.slow
def test_numbers(study: InterferenceStudy) -> None:
    """Tests means, standard errors and wins against models that are fitted again, and that texts agree."""
    errors = []
    for seed in (0, 1):
        parts = WORLD.parts(seed, 1)
        models, _ = fit_models(parts.train, np.random.default_rng(seed), epochs=3)
        unseen = parts.unseen
        errors.append([np.abs(models[name].predict(unseen.features) - unseen.y).mean() for name in models])
    by = {one.model: one for one in study.summaries() if one.part == "unseen"}
    assert list(by) == ["constant", "ridge", "network"]
    assert [one.error_y for one in by.values()] == pytest.approx(np.mean(errors, axis=0).tolist())
    spread = np.std(errors, axis=0, ddof=1) / np.sqrt(2)
    assert [one.error_y_se for one in by.values()] == pytest.approx(spread.tolist())
    assert by["network"].better_than_ridge == sum(row[2] < row[1] for row in errors)
    assert by["ridge"].better_than_ridge is None
    assert by["constant"].rank_correlation is None
    assert len(study.frame) == 2 * 2 * 3
    for text in (interference_table(study).to_text(), interference_table(study).to_markdown()):
        assert f"{by['ridge'].error_y:.4f}±{by['ridge'].error_y_se:.4f}" in text


@pytest.mark.whole
def test_a_sum_of_classes_is_found_by_the_ridge(study: InterferenceStudy) -> None:
    """Tests on y that is a sum over classes on each kind: the ridge orders unseen pairs well, and the note says so."""
    by = {one.model: one for one in study.summaries() if one.part == "unseen"}
    assert by["ridge"].error_y < 0.5 * by["constant"].error_y
    assert by["ridge"].rank_correlation is not None
    assert by["ridge"].rank_correlation > 0.9
    least = min(by.values(), key=lambda one: one.error_y).model
    assert study.notes()[0].startswith(f"gavel: on unseen pairs the {least} has the smallest mean error of y; ")


def test_rank_correlation() -> None:
    """Tests ties against SciPy, and that a constant orders nothing."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 5, 40).astype(float), rng.random(40)
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert rank_correlation(one, -one) == pytest.approx(-1.0)
    assert rank_correlation(np.full(4, 0.3), rng.random(4)) is None


def written(path: Path) -> Path:
    """Write the pairs in the form of Gavel's table, for its three kinds."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for kind, factor in FACTORS.items():
        pair = table(factor).pair
        for first, own in enumerate(CLASSES):
            for second, other in enumerate(CLASSES):
                rates = [max(0.0, pair[first, second] / 500), max(0.0, pair[second, first] / 500)]
                writer.writerow([kind, "consolidated", own, other, 1, *rates, 2.0, 2.0])
    path.write_bytes(gzip.compress(text.getvalue().encode()))
    return path


def test_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: InterferenceStudy) -> None:
    """Tests JSON, CSV and Markdown on the same pairs from a file."""
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "pairs.csv.gz")
    arguments = ("--worlds", "gavel", "--pairs", str(path), "--seeds", "2", "--epochs", "3")
    ended = run("study", "interference", *arguments, "--csv", "r.csv", "--markdown", "t.md", "--json")
    assert (ended.status, ended.document["skipped"]) == (0, {})
    assert [row["error_y"] for row in ended.document["runs"]] == pytest.approx(study.frame["error_y"].tolist())
    assert "measured" in ended.document["worlds"]["gavel"]
    assert (tmp_path / "r.csv").read_text().count("\n") == 1 + 12
    written_rows = [line for line in (tmp_path / "t.md").read_text().splitlines() if line.startswith("|")]
    assert written_rows == interference_table(study).to_markdown().splitlines()[2 : 2 + len(written_rows)]


@pytest.mark.whole
def test_absent_pairs_are_skipped_with_a_reason(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that without the measured pairs the other worlds run and the reason is told."""
    monkeypatch.chdir(tmp_path)
    small = ("--co-locations", "40", "--seeds", "1", "--epochs", "1")
    ended = run("study", "interference", "--worlds", "co-located,gavel", *small, "--json")
    assert ended.status == 0
    assert list(ended.document["worlds"]) == ["co-located"]
    assert ended.document["summaries"][0]["error_y_se"] is None
    reason = "../shared/data/gavel/colocated.csv.gz is not there; name the table by --pairs"
    assert ended.document["skipped"] == {"gavel": reason}
    assert ended.err == f"gavel: skipped, because {reason}.\n"


def test_misuse(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that unknown worlds, none, and files that are no table are told in one line."""
    monkeypatch.chdir(tmp_path)
    bad = run("study", "interference", "--worlds", "mine")
    assert (bad.status, bad.err) == (2, "--worlds: expected one of co-located, shared-gpus, gavel, got 'mine'.\n")
    bad = run("study", "interference", "--worlds", "gavel")
    assert (bad.status, bad.err.splitlines()[-1]) == (2, "--worlds: expected at least one, got none.")
    bad = run("study", "interference", "--pairs", "absent.gz")
    assert (bad.status, bad.err.startswith("absent.gz: ")) == (2, True)
    assert names_measured("co-located, gavel")
    with pytest.raises(ValueError, match=r"^worlds: expected each name once, got 'gavel' twice\.$"):
        generated_worlds("gavel,gavel")
    with pytest.raises(ValueError, match=r"^seeds: expected at least 1, got 0\.$"):
        interference_study([WORLD], seeds=0)


def test_measured_pairs_of_gavel() -> None:
    """Tests on the real table: 26 classes, 10 held out, and a ridge that beats the constant on unseen pairs."""
    world = measured_world(real_data("gavel/colocated.csv.gz"))
    parts = world.parts(seed=0, count=1)
    assert len(parts.train.space.classes) == 26
    assert len(parts.held_out) == 10
    unseen, error = parts.unseen, {}
    for name, model in (
        ("ridge", fit_ridge(parts.train.features, parts.train.y)),
        ("constant", fit_constant(parts.train.y)),
    ):
        error[name] = np.abs(model.predict(unseen.features) - unseen.y).mean()
    assert error["ridge"] < 0.9 * error["constant"]
