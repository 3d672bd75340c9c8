"""The trained networks that come with the package, with their controls."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from heuristics.jobs.marl.network_files import load_any_network, load_network, untrained_network
from instances.fields import one_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from os import PathLike
    from pathlib import Path

    from heuristics.jobs.marl.network_files import AgentNetworks, TrainedNetwork

STAGES = ("trained", "imitated", "untrained")
"""Networks of a training: the chosen one, the one after imitation, and the initial one; the last two are controls."""

INDEX = "index.json"
"""File that names the default training, and seed and SHA-256 of the networks of every training."""

INDEX_FORMAT = "optgap/marl-networks 1"


def shipped_network(training: int | None = None, stage: str | None = None) -> TrainedNetwork:
    """Return a network of a shipped training; read, or drawn, and checked when it is first asked for.

    Parameters
    ----------
    training
        Its number, from 1; None for the one that is best on the validation instances.
    stage
        One of `STAGES`; None for the trained one.

    Raises
    ------
    ValueError
        If there is no such training or stage, or a file is damaged or not the one that the index names.
    OSError
        If a file is not there.
    """
    with _shipped() as folder:
        return network_in(folder, training, stage)


def shipped_trainings() -> list[int]:
    """Return the numbers of the shipped trainings."""
    with _shipped() as folder:
        return [int(number) for number in _index(folder)["trainings"]]


def shipped_document(training: int | None = None) -> dict[str, Any]:
    """Return the provenance of a shipped training: command, settings, curve, held-out results; see `train_marl`.

    Raises a `ValueError` if there is no such training, and an `OSError` if a file is not there.
    """
    with _shipped() as folder:
        path = folder / f"{_number(_index(folder), training)}.json"
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def network_in(folder: Path, training: int | None = None, stage: str | None = None) -> TrainedNetwork:
    """Return a network of a folder that `ship_marl` wrote; parameters and errors as in `shipped_network`."""
    chosen = STAGES[0] if stage is None else stage
    one_of(chosen, STAGES, "stage")
    return _checked(folder, _number(_index(folder), training), chosen)


def network_from(
    weights: str | PathLike[str] | None = None, training: int | None = None, stage: str | None = None
) -> TrainedNetwork | AgentNetworks:
    """Return the network in a file, see `load_any_network`, or a shipped network without a path.

    Raises a `ValueError` if the file holds something else, a training or stage is given with it, or as
    `shipped_network`, and an `OSError` if the file does not exist.
    """
    if weights is None:
        return shipped_network(training, stage)
    for name, value in (("training", training), ("stage", stage)):
        if value is not None:
            raise ValueError(f"{name}: expected none beside weights, got {value!r}.")
    return load_any_network(weights)


def _shipped() -> AbstractContextManager[Path]:
    """Return a context with the folder of the shipped networks."""
    return as_file(files("heuristics.jobs.marl") / "weights")


@cache
def _index(folder: Path) -> dict[str, Any]:
    """Return the index of a folder."""
    path = folder / INDEX
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: expected a JSON document, got something else ({error}).") from error
    found = index.get("format") if isinstance(index, dict) else None
    if found != INDEX_FORMAT:
        raise ValueError(f"{path}: expected format {INDEX_FORMAT!r}, got {found!r}.")
    return dict(index)


def _number(index: dict[str, Any], training: int | None) -> str:
    """Return the number of a training as the index has it."""
    number = str(index["default"] if training is None else training)
    if number not in index["trainings"]:
        raise ValueError(f"training: expected one of {', '.join(index['trainings'])}, got {training!r}.")
    return number


@cache
def _checked(folder: Path, number: str, stage: str) -> TrainedNetwork:
    """Return a network whose hash is the one in the index."""
    entry = _index(folder)["trainings"][number]
    if stage == "untrained":
        like = _checked(folder, number, STAGES[0])
        place = f"{folder / INDEX}: network of seed {entry['seed']}"
        network = untrained_network(
            entry["seed"], kappa=like.kappa, variant=like.variant, kinds=like.kinds, num_agents=like.num_agents
        )
    else:
        place = str(folder / f"{number}-{stage}.npz")
        network = load_network(place)
    if network.sha256 != entry["sha256"][stage]:
        raise ValueError(f"{place}: expected SHA-256 {entry['sha256'][stage]}, as in {INDEX}, got {network.sha256}.")
    return network
