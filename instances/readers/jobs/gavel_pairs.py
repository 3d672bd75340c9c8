"""Measured speeds of pairs of training jobs that share one GPU."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import FULL_SPEED, NOT_TOGETHER, PairTable
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

COLUMNS = (
    "gpu_type",
    "placement",
    "model_a",
    "model_b",
    "scale_factor",
    "a_steps_per_s",
    "b_steps_per_s",
    "a_isolated",
    "b_isolated",
)
"""First line of the table."""


def read_gavel_pairs(path: str | PathLike[str], gpu_type: str = "v100") -> PairTable:
    """Read the pairs of one kind of GPU out of the table of co-located jobs of Gavel (``colocated.csv.gz``).

    Measured: steps per second of both jobs, together and each alone, on one GPU. A speed is the rate together over the
    rate alone of the same job, in per mille, rounded, at least 1 and at most 1000. A pair with a rate of 0 does not fit
    into memory and is not allowed. Rows with several GPUs are placeholders and left out.

    Parameters
    ----------
    path
        The table, compressed.
    gpu_type
        ``k80``, ``p100`` or ``v100``.

    Returns
    -------
    PairTable
        Classes in the order of the table.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is another table, has no rows of this kind, or a pair is missing.

    References
    ----------
    Narayanan, Santhanam, Kazhamiaka, Phanishayee and Zaharia (2020), Heterogeneity-aware cluster scheduling policies
    for deep learning workloads, OSDI.
    """
    found: dict[tuple[str, str], int] = {}
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError(f"line 1: expected {','.join(COLUMNS)}, got {','.join(reader.fieldnames or ())}.")
    for row in reader:
        if (row["gpu_type"], row["placement"], row["scale_factor"]) != (gpu_type, "consolidated", "1"):
            continue
        first, second = row["model_a"], row["model_b"]
        try:
            rates = [float(row[name]) for name in COLUMNS[5:]]
        except (TypeError, ValueError) as error:
            raise ValueError(f"line {reader.line_num}: expected four rates, got {list(row.values())[5:]}.") from error
        fits = min(rates) > 0
        found[first, second] = _per_mille(rates[0] / rates[2]) if fits else NOT_TOGETHER
        found[second, first] = _per_mille(rates[1] / rates[3]) if fits else NOT_TOGETHER
    classes = tuple(dict.fromkeys(first for first, _ in found))
    if not classes:
        raise ValueError(f"gpu_type: expected one of the table, got {gpu_type!r}.")
    for first in classes:
        for second in classes:
            if (first, second) not in found:
                raise ValueError(f"rows of {gpu_type}: expected every pair, got none of {first} and {second}.")
    pair = np.array([[found[first, second] for second in classes] for first in classes], dtype=np.int64)
    return PairTable(classes=classes, pair=pair, source=f"Gavel, {gpu_type}, measured")


def _per_mille(share: float) -> int:
    """Return a share in per mille, 1 to 1000."""
    return min(FULL_SPEED, max(1, round(FULL_SPEED * share)))
