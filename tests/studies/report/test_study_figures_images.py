"""Tests of figures against stored images."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from matplotlib.testing.compare import compare_images

from tests.studies.report.figure_baselines import BASELINE, jobs_drawers, save, study_drawers

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.whole


TOLERANCE = 3.0
"""Root mean square of the differences of pixels, of 255; other antialiasing gives about 1."""

DRAWERS = study_drawers() | jobs_drawers()
WORSE = study_drawers(1.6) | jobs_drawers(30)
FEW = (*list(study_drawers())[:3], *list(jobs_drawers())[:1])
"""Figures on which the default run sees that the comparison notices."""


def _difference(name: str, drawer: object, folder: Path) -> str | None:
    """Return what Matplotlib says of the difference between a figure and its stored image, None where they agree."""
    shutil.copy(BASELINE / f"{name}.png", folder / "expected.png")  # beside it the comparison writes its own files
    save(drawer(), folder / "actual.png")  # type: ignore[operator]
    return compare_images(str(folder / "expected.png"), str(folder / "actual.png"), TOLERANCE)  # type: ignore[return-value]


@pytest.mark.parametrize("name", DRAWERS)
def test_figure_is_the_stored_one(name: str, tmp_path: Path) -> None:
    """Tests that a figure of a fixed study looks as it did when somebody last looked at it."""
    assert _difference(name, DRAWERS[name], tmp_path) is None


@pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in WORSE if name not in FEW)]
)
def test_another_study_looks_different(name: str, tmp_path: Path) -> None:
    """Tests that the comparison notices: the same study with larger gaps of one method fails it."""
    assert _difference(name, WORSE[name], tmp_path) is not None


def test_stored_images_are_small_and_all_in_use() -> None:
    """Tests that there is an image for every figure and none besides, in less than 400 kB together."""
    files = list(BASELINE.glob("*.png"))
    assert {file.stem for file in files} == set(DRAWERS)
    assert sum(file.stat().st_size for file in files) < 400_000
