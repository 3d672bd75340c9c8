"""Tests of the figures of a study: the data drawn, and files without warnings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from studies.analysis.gaps import StudyGaps, study_gaps
from studies.analysis.stability import spreads
from studies.report.curve_figures import convergence, gap_ecdf_figure, performance_profiles
from studies.report.figure_style import line_styles, spread_out
from studies.report.gap_figures import box_plots, critical_difference_diagram, stability_figure
from studies.report.page_figures import CAPTIONS
from studies.report.study_figures import FIGURES, write_figures
from tests.studies.analysis.synthetic_study import synthetic_study, synthetic_traces

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

pytestmark = pytest.mark.whole


BUDGET = "2000 evaluations"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Nine instances, on one of which ga has no schedule."""
    made = synthetic_study(num_instances=9, repetitions=3)
    made.loc[(made["label"] == "ga") & (made["instance"] == "instance-3"), ["objective", "gap"]] = np.nan
    return made


@pytest.fixture(scope="module")
def gaps(frame: pd.DataFrame) -> StudyGaps:
    """Return the runs at equal evaluations."""
    return study_gaps(frame, BUDGET)


def _texts(ax: object) -> list[str]:
    """Return all that is written inside axes."""
    return [text.get_text() for text in ax.texts]  # type: ignore[attr-defined]


def test_box_plots_show_every_run(gaps: StudyGaps) -> None:
    """Tests that all gaps are points in percent in the row of their method, ordered by median, lost runs told."""
    ax = box_plots(gaps)
    medians = gaps.runs.groupby("label")["gap"].median().sort_values()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(medians.index)
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections[-1:]])
    for row, label in enumerate(medians.index, 1):
        expected = 100 * gaps.runs.loc[gaps.runs["label"] == label, "gap"].dropna()
        assert sorted(drawn[np.rint(drawn[:, 1]) == row, 0]) == pytest.approx(sorted(expected))
    assert _texts(ax) == ["3 of 27 runs\nwithout a schedule"]
    assert ax.get_xlabel() == "gap to the best proven bound in %"


def test_box_plots_call_proven_gaps_optimality_gaps(frame: pd.DataFrame) -> None:
    """Tests that the axis says which of the two gaps is meant."""
    proven = frame[frame["is_optimum"]]
    assert box_plots(study_gaps(proven, BUDGET)).get_xlabel() == "optimality gap in %"


def test_convergence_ends_at_the_final_gaps(gaps: StudyGaps, frame: pd.DataFrame) -> None:
    """Tests that every search has a falling line that ends at its median, and heft, the best construction, a level."""
    ax = convergence(gaps, synthetic_traces(frame), "evaluations")
    medians = 100 * gaps.mean_gaps().median()
    curves = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    ends = [float(np.asarray(line.get_ydata())[-1]) for line in curves]
    complete = ("worl-rtgs", "woa", "random-search")
    assert set(np.round([medians[label] for label in complete], 9)) <= set(np.round(ends, 9))
    assert all((np.diff(np.asarray(line.get_ydata())) <= 1e-9).all() for line in curves)
    assert len(curves) == 4
    best = min(medians["heft"], medians["cpop"])
    assert any(list(line.get_ydata()) == pytest.approx([best, best]) for line in ax.lines if len(line.get_ydata()) == 2)
    assert len(_texts(ax)) == 5
    assert ax.get_xscale() == "log"
    assert convergence(gaps, synthetic_traces(frame), "seconds").get_xlabel() == "seconds (logarithmic)"


def test_profiles_end_at_the_share_with_a_schedule(gaps: StudyGaps) -> None:
    """Tests that ga ends at 8 of 9 instances and all others at 1, and that the start is the share of optima."""
    ax = performance_profiles(gaps)
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in ax.lines}
    assert {label: values[-1] for label, values in lines.items()} == pytest.approx(
        {label: 8 / 9 if label == "ga" else 1.0 for label in gaps.labels}
    )
    assert lines["worl-rtgs"][0] == 0.0  # the first rise is drawn
    assert lines["worl-rtgs"][1] == (gaps.mean_gaps()["worl-rtgs"] == 0).mean()
    best = performance_profiles(gaps, against="best")
    at_one = {line.get_label(): np.asarray(line.get_ydata())[1] for line in best.lines}
    assert sum(at_one.values()) >= 1.0  # every instance has a best method
    assert best.get_xlabel().startswith("excess over the best method")


def test_critical_difference_names_all_methods(gaps: StudyGaps) -> None:
    """Tests that the diagram holds every method with its average rank, and how many instances could be ranked."""
    texts = " ".join(_texts(critical_difference_diagram(gaps)))
    for label in gaps.labels:
        assert label in texts
    assert "average rank over 8 of 9 instances" in texts


def test_critical_difference_of_nothing(frame: pd.DataFrame) -> None:
    """Tests that one method alone gives a remark instead of an axis."""
    alone = study_gaps(frame[frame["label"] == "woa"], BUDGET)
    assert _texts(critical_difference_diagram(alone)) == ["no instance on which two methods can be ranked"]


def test_stability_shows_spreads_and_names_fixed_methods(gaps: StudyGaps) -> None:
    """Tests that deterministic methods say so in their row, and medians of the boxes are those of the table."""
    ax = stability_figure(gaps)
    assert _texts(ax) == ["fixed: draws nothing at random"] * 2
    table = spreads(gaps)
    expected = {round(100 * table.loc[table["label"] == "woa", column].median(), 6) for column in ("iqr", "range")}
    lines = [segment for lines in ax.collections if hasattr(lines, "get_segments") for segment in lines.get_segments()]
    drawn = {round(float(segment[0, 0]), 6) for segment in lines}
    assert expected <= drawn


@pytest.mark.parametrize(
    "draw", [box_plots, performance_profiles, gap_ecdf_figure, critical_difference_diagram, stability_figure]
)
def test_draws_where_it_is_told(gaps: StudyGaps, draw: object) -> None:
    """Tests that axes passed in are used and returned."""
    ax = Figure().subplots()
    assert draw(gaps, ax=ax) is ax  # type: ignore[operator]


def test_files_are_written_without_warnings(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Tests that every figure of every budget is a file of the kind asked for, and nothing warns."""
    few = frame[frame["budget"] != "1 s"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = write_figures(few, synthetic_traces(few), tmp_path / "figures", formats=("svg",))
    assert [path.name for path in paths] == [
        "box-plots-2000-evaluations.svg",
        "performance-profiles-2000-evaluations.svg",
        "gap-ecdf-2000-evaluations.svg",
        "critical-difference-2000-evaluations.svg",
        "stability-2000-evaluations.svg",
        "convergence-evaluations-2000-evaluations.svg",
        "convergence-seconds-2000-evaluations.svg",
        "targets-evaluations-2000-evaluations.svg",
        "targets-seconds-2000-evaluations.svg",
    ]
    assert all(path.read_text(encoding="utf-8").rstrip().endswith("</svg>") for path in paths)


def test_convergence_needs_traces(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Tests that a budget without traces has all other figures, and that dots are written too."""
    seconds = frame[frame["budget"] != BUDGET]
    paths = write_figures(seconds, synthetic_traces(frame).iloc[:0], tmp_path)
    names = ["box-plots", "performance-profiles", "gap-ecdf", "critical-difference", "stability"]
    assert [path.name for path in paths] == [f"{name}-1-s.png" for name in names]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.slow
def test_methods_without_any_schedule_are_drawn(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Tests that a study in which nothing was found still has its figures, with a row per method."""
    lost = frame[frame["budget"] != "1 s"].assign(objective=np.nan, gap=np.nan)
    gaps = study_gaps(lost, BUDGET)
    assert len(box_plots(gaps).get_yticklabels()) == len(gaps.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(write_figures(lost, synthetic_traces(frame), tmp_path, formats=("svg",))) == 9


@given(heights=st.lists(st.floats(0, 1), min_size=1, max_size=9), space=st.floats(0.01, 0.1))
def test_labels_do_not_overlap(heights: list[float], space: float) -> None:
    """Tests that names keep the order of their lines, lie apart, and stay inside."""
    placed = spread_out(heights, space)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(np.array(placed)[order]) >= space - 1e-9).all()
    assert max(placed) <= 1 + 1e-9
    assert min(placed) >= -1e-9  # nine names at 0.1 have room


def test_labels_with_room_stay_where_they_are() -> None:
    """Tests that only neighbours that are too close move, about their middle."""
    assert spread_out([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert spread_out([0.5, 0.5, 0.1], 0.1) == pytest.approx([0.45, 0.55, 0.1])
    assert spread_out([1.0, 1.0], 0.1) == pytest.approx([0.9, 1.0])
    assert spread_out([0.0, 0.0], 0.1) == pytest.approx([0.0, 0.1])


def test_only_the_figures_that_are_asked_for(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Tests names, budgets, and that an unknown figure is refused before anything is drawn."""
    traces = synthetic_traces(frame)
    paths = write_figures(frame, traces, tmp_path, names=["gap-ecdf"], budgets=["1 s"], formats=["pdf", "svg"])
    assert [path.name for path in paths] == ["gap-ecdf-1-s.pdf", "gap-ecdf-1-s.svg"]
    with pytest.raises(ValueError, match="figures: expected one of box-plots, .*, got 'pie'"):  # noqa: RUF043
        write_figures(frame, traces, tmp_path / "none", names=["pie"])
    assert not (tmp_path / "none").exists()


def test_every_figure_has_a_caption() -> None:
    """Tests that reports can say in words what each figure shows."""
    assert set(CAPTIONS) == set(FIGURES)


def test_every_method_has_a_style_of_its_own() -> None:
    """Tests that twenty methods differ in colour or dashes."""
    styles = line_styles([str(number) for number in range(20)])
    assert len(set(styles.values())) == 20
