"""The trained weights that come with the package."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from heuristics.dag.worl_rtgs.network import load_weights, weights_sha256

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from heuristics.dag.worl_rtgs.network import Weights

SHIPPED = "ddqn_v1"
"""Name of the shipped files: weights (.npz) and where they come from (.json)."""


@cache
def shipped_weights() -> Weights:
    """Return the trained weights; read and checked against the hash beside them when they are first asked for.

    Raises
    ------
    ValueError
        If a file is damaged, or the two do not belong together.
    OSError
        If a file is not there.
    """
    with as_file(files("heuristics.dag.worl_rtgs") / "weights") as folder:
        return matching_weights(folder / f"{SHIPPED}.npz", folder / f"{SHIPPED}.json")


def matching_weights(path: Path, provenance_path: Path) -> Weights:
    """Return weights whose hash is the one that their provenance names as ``weights_sha256``.

    Raises
    ------
    ValueError
        If a file is damaged, or the two do not belong together.
    OSError
        If a file is not there.
    """
    weights = load_weights(path)
    try:
        provenance = json.loads(provenance_path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{provenance_path}: expected a JSON document, got something else ({error}).") from error
    expected = provenance.get("weights_sha256") if isinstance(provenance, dict) else None
    found = weights_sha256(weights)
    if found != expected:
        raise ValueError(f"{path}: expected weights of SHA-256 {expected}, as in {provenance_path.name}, got {found}.")
    return weights


def weights_from(path: str | PathLike[str] | None) -> Weights:
    """Return the weights in a file that `save_weights` wrote, or the shipped ones where there is no path.

    Raises
    ------
    ValueError
        If the file holds something else.
    OSError
        If it is not there.
    """
    return shipped_weights() if path is None else load_weights(path)
