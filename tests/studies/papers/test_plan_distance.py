"""Tests of the study of plan distance and finish time gap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from heuristics.dag.load_vector import finish_time_gap, plan_distance
from instances.dag.instance import DagInstance
from instances.generators.dag.generate import generate
from studies.papers.plan_distance import (
    ALL,
    DISTANCES,
    PUBLISHED_CORRELATIONS,
    PlanDistanceTable,
    _correlations,
    _measure,
    _Measured,
    _pairs,
    plan_distance_figure,
    plan_distance_instances,
    plan_distance_study,
    summary_table,
)
from tests.plain_rtgs import plain_place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.studies.run_command import Run

pytestmark = pytest.mark.whole


SMALL = {"placements": 120, "pairs": 1000, "resamples": 40}


@pytest.fixture(scope="module")
def table() -> PlanDistanceTable:
    """Return the study of four small instances of two families."""
    instances = [generate(family, tasks=16, seed=seed) for family in ("chains", "layered") for seed in (1, 2)]
    return plan_distance_study(instances, **SMALL)


@pytest.mark.parametrize(("order", "insertion"), [("rank", True), ("index", False)])
@pytest.mark.parametrize("capacity", [-1, 3])
def test_correlations_are_those_of_the_definitions(order: str, insertion: bool, capacity: int) -> None:
    """Tests makespans, distances and correlations against plain loops and SciPy; a memory limit changes nothing."""
    free = DagInstance.from_lists([[4, 5], [3, 9], [7, 6]], [(0, 2, 3)], latency=1, task_memory=[2] * 3)
    instance = replace(free, gpu_memory=np.array([capacity, -1]))
    draw, count = np.random.default_rng(5), 60
    gpus = np.array([draw.choice(2, size=count) for _ in range(3)]).T
    assert len(np.unique(gpus, axis=0)) == 8
    measured = _measure(instance, np.random.default_rng(5), count, order, insertion)
    task_order = {"rank": [0, 2, 1], "index": [0, 1, 2]}[order]
    plain = [
        plain_place(free, task_order, insertion, lambda task, fits, load, gpu=gpu: gpu[task]) for gpu in gpus.tolist()
    ]
    assert measured.makespan.tolist() == [whale.objective for whale in plain]
    assert len(set(measured.makespan.tolist())) > 3
    one, other = draw.integers(count, size=500), draw.integers(count, size=500)
    one, other = one[one != other], other[one != other]
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    running = np.array([whale.running for whale in plain])
    final = np.array([whale.final for whale in plain])
    expected = {
        "l2": [plan_distance(instance.durations, gpus[x], gpus[y]) for x, y in pairs],
        "l1": [np.abs(final[x] - final[y]).sum() for x, y in pairs],
        "sum": [abs((final[x] - final[y]).sum()) for x, y in pairs],
        "running-l2": [np.linalg.norm(running[x] - running[y]) for x, y in pairs],
        "hamming": [np.sum(gpus[x] != gpus[y]) for x, y in pairs],
    }
    gaps = [finish_time_gap(plain[x].objective, plain[y].objective) for x, y in pairs]
    pearson, spearman = _correlations(measured, one, other)
    for number, name in enumerate(DISTANCES):
        assert measured.distance[number, one, other].tolist() == pytest.approx(expected[name])
        assert pearson[number] == pytest.approx(stats.pearsonr(expected[name], gaps)[0])
        assert spearman[number] == pytest.approx(stats.spearmanr(expected[name], gaps)[0])


def test_pairs_are_of_different_placements() -> None:
    """Tests that pairs never hold one placement twice, hold all others alike, and that drawn doubles are left out."""
    one, other = _pairs(np.random.default_rng(0), 5, 20_000)
    counts = np.bincount(5 * one + other, minlength=25).reshape(5, 5)
    assert np.diag(counts).tolist() == [0] * 5
    assert np.abs(counts[~np.eye(5, dtype=bool)] - 1000).max() < 5 * np.sqrt(1000)
    measured = _Measured(np.array([3, 5, 9]), np.array([[[0.0, 1, 4], [1, 0, 3], [4, 3, 0]]]))
    with_doubles = _correlations(measured, np.array([0, 0, 0, 1, 2]), np.array([1, 2, 0, 2, 2]))
    assert with_doubles[0] == pytest.approx(np.corrcoef([1, 4, 3], [2, 6, 4])[0, 1])


def test_placements_keep_to_allowed_gpus() -> None:
    """Tests that where only one GPU is allowed nothing varies, and no number is made up."""
    barred = DagInstance.from_lists([[3, None], [4, None]], name="barred")
    full = DagInstance.from_lists([[3, 3], [4, 4]], task_memory=[2, 2], gpu_memory=[9, 1], name="full")
    for row in plan_distance_study([barred, full], **SMALL).rows:
        assert (row.pearson, row.pearson_low, row.spearman, row.control, row.control_high) == (None,) * 5


@pytest.mark.parametrize("durations", [[], [[2]], [[0, 0], [0, 0]]])
def test_degenerate_instances(durations: list[list[int]]) -> None:
    """Tests no tasks, one GPU and all durations 0."""
    instance = DagInstance.from_lists(durations, num_gpus=2 if not durations else None)
    assert {row.pearson for row in plan_distance_study([instance], **SMALL).rows} == {None}


def test_intervals_and_control(table: PlanDistanceTable) -> None:
    """Tests that intervals hold their value, and that dealing makespans out anew leaves no correlation of loads."""
    loads = [row for row in table.rows if row.distance in ("l2", "l1", "sum")]
    assert len(loads) == 12
    for row in loads:
        assert row.pearson_low < row.pearson < row.pearson_high
        assert row.spearman_low < row.spearman < row.spearman_high
        assert row.control_low < row.control < row.control_high
        assert abs(row.control) < 0.06
        assert row.pearson > row.control_high


def test_seed_decides(table: PlanDistanceTable) -> None:
    """Tests that one seed gives the same numbers whatever else is studied, and another seed others."""
    alone = generate("layered", tasks=16, seed=2)
    again = plan_distance_study([alone], **SMALL)
    assert again.rows == tuple(row for row in table.rows if row.instance == alone.name)
    other = plan_distance_study([alone], seed=1, **SMALL)
    assert all(one.pearson != two.pearson for one, two in zip(again.rows, other.rows, strict=True))


def test_summaries(table: PlanDistanceTable) -> None:
    """Tests families, the numbers of a summary, and that text, frame and document agree."""
    assert table.families == ["chains", "layered"]
    assert table.distances == list(DISTANCES)
    values = [row.pearson for row in table.rows if row.distance == "l2"]
    summary = table.summary(ALL, "l2")
    assert (summary.instances, summary.outside_control) == (4, 4)
    assert (summary.smallest, summary.largest) == (min(values), max(values))
    assert summary.mean == pytest.approx(sum(values) / 4)
    assert table.summary("chains", "l2").mean == pytest.approx(np.mean(values[:2]))
    frame = table.to_frame()
    assert frame.loc[frame["distance"] == "l2", "pearson"].tolist() == values
    assert table.to_dict()["summaries"][0]["mean"] == summary.mean
    text = str(summary_table(table))
    assert f"{summary.smallest:.3f}" in text
    assert f"{summary.mean:.3f}" in text
    assert "mean 0.446" in text


def test_published_values() -> None:
    """Tests twelve published rows, ordered numbers, and the overall mean 0.446."""
    assert len(PUBLISHED_CORRELATIONS) == 12
    assert all(entry.smallest < entry.mean < entry.largest for entry in PUBLISHED_CORRELATIONS)
    assert np.mean([entry.mean for entry in PUBLISHED_CORRELATIONS]) == pytest.approx(0.446, abs=5e-4)


def test_instances_of_the_study() -> None:
    """Tests forty instances of either kind on 4 or 8 GPUs, of the same graphs, and who is faster in general."""
    for gpus in ("clusters", "unrelated"):
        made = list(plan_distance_instances(gpus))
        assert len(made) == len({instance.sha256 for instance in made}) == 40
        assert {instance.num_gpus for instance in made} == {4, 8}
        assert min(instance.num_tasks for instance in made) >= 15
        assert max(instance.num_tasks for instance in made) <= 100
        means = [instance.durations.sum(axis=0) for instance in made]
        ratio = np.median([mean.max() / mean.min() for mean in means])
        assert ratio > 3 if gpus == "clusters" else ratio < 1.7
    with pytest.raises(ValueError, match=r"^gpus: expected one of clusters, unrelated, got 'slow'\.$"):
        next(plan_distance_instances("slow"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        ("clusters", {"l2": 0.40, "sum": 0.61, "hamming": 0.05}),
        ("unrelated", {"l2": 0.19, "sum": 0.28, "hamming": 0.02}),
    ],
)
def test_means_over_forty_instances(gpus: str, expected: dict[str, float]) -> None:
    """Tests the means we report: loads tell part of the gap, the number of moved tasks next to nothing."""
    table = plan_distance_study(plan_distance_instances(gpus), resamples=1)
    for distance, mean in expected.items():
        assert table.summary(ALL, distance).mean == pytest.approx(mean, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"placements": 1}, "placements: expected at least 2, got 1."),
        ({"pairs": 1}, "pairs: expected at least 2, got 1."),
        ({"resamples": 0}, "resamples: expected at least 1, got 0."),
        ({"order": "random"}, "order: expected one of rank, index, got 'random'."),
    ],
)
def test_parameters_are_checked(options: dict[str, object], message: str) -> None:
    """Tests that parameters out of range are refused."""
    with pytest.raises(ValueError) as caught:
        plan_distance_study([], **options)
    assert str(caught.value) == message


def test_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the command on a file: table, JSON, CSV and figure, and misuse in one line."""
    monkeypatch.chdir(tmp_path)
    run("generate", "fft", "--tasks", "12", "-o", "i.json")
    small = ("--placements", "30", "--pairs", "100", "--resamples", "5")
    ended = run("study", "plan-distance", "i.json", *small, "--csv", "r.csv", "--figure", "f.png", "--json")
    assert ended.status == 0
    rows = ended.document["rows"]
    assert [row["distance"] for row in rows] == list(DISTANCES)
    assert (tmp_path / "r.csv").read_text().count("\n") == 1 + len(rows)
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    shown = run("study", "plan-distance", "i.json", *small)
    assert shown.status == 0
    assert f"{rows[0]['pearson']:.3f}" in shown.out
    bad = run("study", "plan-distance", "i.json", "--order", "by-size")
    assert (bad.status, bad.err) == (2, "--order: expected one of rank, index, got 'by-size'.\n")
    bad = run("study", "plan-distance", "--gpus", "slow")
    assert (bad.status, bad.err) == (2, "--gpus: expected one of clusters, unrelated, got 'slow'.\n")


@pytest.fixture(scope="module")
def drawn_table() -> PlanDistanceTable:
    """Three small instances of two families, and one where nothing varies."""
    instances = [generate(family, tasks=12, seed=seed) for family, seed in (("fft", 0), ("fft", 1), ("chains", 0))]
    constant = DagInstance.from_lists([[2, 2]], name="constant")
    return plan_distance_study([*instances, constant], placements=40, pairs=200, resamples=5)


def test_rows_hold_what_was_measured_and_published(drawn_table: PlanDistanceTable) -> None:
    """Tests a point and an interval per instance, a box per definition, and three numbers per published row."""
    ax = plan_distance_figure(drawn_table)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:3] == ["fft", "chains", "constant"]
    assert labels[3:8] == [f"all families, {name}" for name in drawn_table.distances]
    assert labels[8:] == [f"published: {entry.name}" for entry in PUBLISHED_CORRELATIONS]
    lines = [line for line in ax.lines if len(line.get_xdata())]  # boxes without far points have empty ones
    drawn = [(list(line.get_xdata()), line.get_marker(), np.mean(line.get_ydata())) for line in lines]
    rows = [row for row in drawn_table.rows if row.distance == "l2" and row.pearson is not None]
    assert len(rows) == 3
    for row in rows:
        y = labels.index(row.family) + 1
        assert [round(at) for x, marker, at in drawn if x == [row.pearson] and marker == "o"] == [y]
        assert [round(at) for x, _, at in drawn if x == [row.pearson_low, row.pearson_high]] == [y]
    for y, entry in enumerate(PUBLISHED_CORRELATIONS, 9):
        assert [x for x, _, at in drawn if at == y and x[0] != 0] == [[entry.smallest, entry.largest], [entry.mean]]
    assert "Euclidean distance of final loads" in ax.get_xlabel()


def test_other_definition(drawn_table: PlanDistanceTable) -> None:
    """Tests that another definition draws its own numbers and says so; an unknown one is refused."""
    ax = plan_distance_figure(drawn_table, distance="hamming")
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert points[:3] == [
        row.pearson for row in drawn_table.rows if row.distance == "hamming" and row.pearson is not None
    ]
    assert "hamming = number of tasks on different GPUs" in ax.get_xlabel()
    message = r"^distance: expected one of l2, l1, sum, running-l2, hamming, got 'cosine'\.$"
    with pytest.raises(ValueError, match=message):
        plan_distance_figure(drawn_table, distance="cosine")


def test_nothing_is_cut_off(drawn_table: PlanDistanceTable) -> None:
    """Tests that axes, labels and caption lie inside the figure."""
    figure = plan_distance_figure(drawn_table).figure
    figure.draw_without_rendering()
    box, size = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= size[0]
    assert box.y1 <= size[1]
