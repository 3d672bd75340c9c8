"""What the figures of a study show, in words, for captions and for readers who do not see them."""

from __future__ import annotations

from typing import NamedTuple


class FigureCaption(NamedTuple):
    """Title and explanation of a figure."""

    title: str
    explanation: str


CAPTIONS = {
    "box-plots": FigureCaption(
        "Gaps of all runs",
        "Every point is a run; boxes reach from the lower to the upper quartile, with the median (line) and the mean "
        "(diamond); whiskers end at the last run within 1.5 interquartile ranges. The green line is where a schedule "
        "meets the bound.",
    ),
    "performance-profiles": FigureCaption(
        "Performance profiles",
        "Share of the instances on which the mean objective of a method is within a percentage of the best proven "
        "bound; an instance without a schedule counts against the method.",
    ),
    "gap-ecdf": FigureCaption(
        "Distribution of gaps",
        "Share of all runs whose gap is at most a percentage; runs without a schedule count as never within any.",
    ),
    "critical-difference": FigureCaption(
        "Average ranks",
        "Ranks of the mean gap over seeds, averaged over instances; bars join methods whose ranks do not differ "
        "significantly (Nemenyi).",
    ),
    "stability": FigureCaption(
        "Spread over seeds",
        "Interquartile range, and worst less best, over the seeds of each instance, as shares of the best proven "
        "bound.",
    ),
    "convergence-evaluations": FigureCaption(
        "Convergence over evaluations",
        "Median over instances of the gap of the best schedule so far (mean over seeds); the dashed line is the "
        "construction with the best median.",
    ),
    "convergence-seconds": FigureCaption(
        "Convergence over seconds",
        "Median over instances of the gap of the best schedule so far (mean over seeds); the dashed line is the "
        "construction with the best median.",
    ),
    "targets-evaluations": FigureCaption(
        "Targets reached over evaluations",
        "Share of the pairs of a run and a target (a gap that it should come down to) that are reached by then.",
    ),
    "targets-seconds": FigureCaption(
        "Targets reached over seconds",
        "Share of the pairs of a run and a target (a gap that it should come down to) that are reached by then.",
    ),
    "bound-ratios": FigureCaption(
        "Bounds",
        "Every point is the bound of a run over the best proven bound of its instance; it is full where that is the "
        "proven optimum.",
    ),
    "incumbent-and-bound": FigureCaption(
        "Schedules and bounds of exact methods",
        "Median over instances of the best schedule (from above) and of the bound (from below) so far, as differences "
        "to the best proven bound; bands reach from the lower to the upper quartile.",
    ),
}
"""By name in `write_figures.study_figures`."""


def figure_caption(name: str) -> FigureCaption:
    """Return the caption of a figure; of one that has none here, its name in words."""
    words = name.replace("-", " ")
    return CAPTIONS.get(name, FigureCaption(f"{words[:1].upper()}{words[1:]}", ""))
