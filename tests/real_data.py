"""Public data sets beside the repository, for tests; none of them is part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def real_data(name: str) -> Path:
    """Return the path of a file of the data sets; skip the test where it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"real data is not there: {path}")
    return path
