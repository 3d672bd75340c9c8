"""Runs of the actor-critic in a CSV file, to which others are added."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, Any

from instances.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

POINTS = 40
"""Of a curve."""

REWARDS = tuple(f"reward_{point}" for point in range(1, POINTS + 1))
"""Columns of the curve: mean team reward per step over each fortieth of the run."""

TEXTS = ("variant", "settings")
"""Name and `Variant.key`; together with the seed they say which run it is."""

COUNTS = ("steps", "seed", "messages", "bytes")
"""Steps in the environment; messages and bytes of gossip per iteration."""

COLUMNS = (
    *TEXTS, "steps", "seed", "first", "last", "rise", "weight_gap", "projection_hits", "direction_norm",
    "td_error_last", "messages", "bytes", *REWARDS,
)  # fmt: skip
"""Of the file."""


def with_runs(runs: pd.DataFrame | None, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return runs, none where they are None, and others behind them."""
    import pandas as pd

    if runs is None:
        runs = pd.DataFrame(columns=list(COLUMNS))
    if not rows:
        return runs
    added = pd.DataFrame(rows, columns=list(COLUMNS))
    return pd.concat([runs, added], ignore_index=True) if len(runs) else added


def read_runs(path: Path) -> pd.DataFrame | None:
    """Return the runs that a file holds; None where there is no file or nothing in it.

    Raises
    ------
    ValueError
        If it is not a file of such runs.
    """
    import pandas as pd

    if not path.exists() or not path.stat().st_size:
        return None
    with path.open(newline="", encoding="utf-8") as file:
        heading, *lines = csv.reader(file)
    if tuple(heading) != COLUMNS:
        given = ", ".join(heading[:5])
        raise ValueError(f"columns: expected variant, settings, steps, seed, first and others, got {given}.")
    for row, line in enumerate(lines):
        if len(line) != len(COLUMNS):
            raise ValueError(f"rows[{row}]: expected {len(COLUMNS)} columns, got {len(line)}.")
    columns = zip(*lines, strict=True) if lines else ((),) * len(COLUMNS)
    runs = pd.DataFrame({name: _values(name, texts) for name, texts in zip(COLUMNS, columns, strict=True)})
    repeated = runs.duplicated([*TEXTS, "seed"])
    if repeated.any():
        row = int(repeated.to_numpy().argmax())
        raise ValueError(f"rows[{row}]: expected every run once, got seed {runs['seed'].iloc[row]} again.")
    return runs


def _values(name: str, texts: Sequence[str]) -> list[Any]:
    """Return what a column holds."""
    if name in TEXTS:
        return list(texts)
    values: list[Any] = []
    for row, text in enumerate(texts):
        try:
            value = int(text) if name in COUNTS else float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            kind = "an integer" if name in COUNTS else "a finite number"
            raise ValueError(f"{name}[{row}]: expected {kind}, got {text!r}.")
        values.append(value)
    return values


def write_runs(path: Path, runs: pd.DataFrame) -> None:
    """Write runs; whoever reads sees the old file or the new one."""
    with whole_file(path) as partial:
        runs.to_csv(partial, index=False)
