"""Turns trainings of the multi-agent policy into the shipped ones: `python -m studies.papers.ship_marl FOLDER`.

The folder holds what `optgap train marl --seed N --out FOLDER/NAME.npz` wrote for several seeds and equal settings.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import heuristics.jobs.marl
from heuristics.jobs.marl.network_files import load_network, untrained_network
from heuristics.jobs.marl.shipped_networks import INDEX, INDEX_FORMAT, STAGES, network_in
from instances.text_file import PARTIAL, write_text
from studies.papers.training import imitated_path, provenance_path

if TYPE_CHECKING:
    from collections.abc import Sequence


WEIGHTS = Path(heuristics.jobs.marl.__file__).parent / "weights"
"""Folder where the package looks for shipped networks."""

_HASH_OF_STAGE = dict(zip(STAGES, ("weights_sha256", "imitated_weights_sha256", "start_weights_sha256"), strict=True))


def ship_marl(source: Path, target: Path) -> dict[str, Any]:
    """Write the networks of a folder of trainings, numbered from 1 by seed, with documents and index.

    The default training is the one with the best network on the validation instances, the first of several.

    Parameters
    ----------
    source
        Folder with ``NAME.npz``, ``NAME-imitated.npz`` and ``NAME.json`` of every training.
    target
        Folder to write; its old content is removed once everything is checked.

    Raises
    ------
    ValueError
        If there is no training, one was interrupted or had no imitation, a network is not that of its document, the
        untrained one cannot be made again, or trainings differ in more than the seed.
    OSError
        If a file is missing.
    """
    documents = {path: _document(path) for path in sorted(source.glob("*.json"))}
    if not documents:
        raise ValueError(f"{source}: expected documents of trainings, got none.")
    in_order = sorted(documents, key=lambda path: documents[path]["seed"])
    _check_alike([(path, documents[path]) for path in in_order])
    for path in in_order:
        _check_networks(path, documents[path])
    best = min(in_order, key=lambda path: documents[path]["validation"]["mean_ratio"])
    index = {
        "format": INDEX_FORMAT,
        "default": in_order.index(best) + 1,
        "trainings": {
            str(number): {
                "seed": documents[path]["seed"],
                "sha256": {stage: documents[path][key] for stage, key in _HASH_OF_STAGE.items()},
            }
            for number, path in enumerate(in_order, 1)
        },
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=PARTIAL, dir=target.parent) as folder:
        new, old = Path(folder) / "new", Path(folder) / "old"
        new.mkdir()
        for number, path in enumerate(in_order, 1):
            trained = path.with_suffix(".npz")
            shutil.copyfile(trained, new / f"{number}-trained.npz")
            shutil.copyfile(imitated_path(trained), new / f"{number}-imitated.npz")
            shutil.copyfile(path, provenance_path(new / f"{number}.npz"))
        write_text(new / INDEX, f"{json.dumps(index, indent=1)}\n")
        if target.exists():
            target.rename(old)
        new.rename(target)
    return index


def _document(path: Path) -> dict[str, Any]:
    """Return the document of a finished training."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if document["interrupted"]:
        raise ValueError(f"{path}: expected a training that came to its end, got one that was interrupted.")
    if document["imitated_weights_sha256"] is None:
        raise ValueError(f"{path}: expected a training that began with imitation, got one without.")
    return document


def _check_alike(documents: Sequence[tuple[Path, dict[str, Any]]]) -> None:
    """Refuse trainings of the same seed, or that differ in anything else."""
    first_path, first = documents[0]
    seeds = [document["seed"] for _, document in documents]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{first_path.parent}: expected trainings of different seeds, got {seeds}.")
    for path, document in documents:
        same = (
            document["settings"] == first["settings"]
            and document["validation"]["instances_sha256"] == first["validation"]["instances_sha256"]
        )
        if not same:
            raise ValueError(f"{path}: expected settings and validation instances of {first_path.name}, got others.")


def _check_networks(path: Path, document: dict[str, Any]) -> None:
    """Refuse networks that are not those of their document."""
    trained = path.with_suffix(".npz")
    network = load_network(trained)
    found = {
        "trained": network.sha256,
        "imitated": load_network(imitated_path(trained)).sha256,
        "untrained": untrained_network(
            document["seed"],
            kappa=network.kappa,
            variant=network.variant,
            kinds=network.kinds,
            num_agents=network.num_agents,
        ).sha256,
    }
    for stage, key in _HASH_OF_STAGE.items():
        if found[stage] != document[key]:
            raise ValueError(f"{path}: expected the {stage} network of {key} {document[key]}, got {found[stage]}.")


def ship_folder() -> None:
    """Ship what a folder holds, and read it back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, metavar="FOLDER", help="of trainings")
    parser.add_argument("--into", type=Path, default=WEIGHTS, help="folder to write; default that of the package")
    options = parser.parse_args()
    try:
        index = ship_marl(options.source, options.into)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    for number in index["trainings"]:
        for stage in STAGES:
            network = network_in(options.into, int(number), stage)
            print(f"{number} {stage}: {network.sha256}")
    print(f"default: training {index['default']}")


if __name__ == "__main__":
    ship_folder()
