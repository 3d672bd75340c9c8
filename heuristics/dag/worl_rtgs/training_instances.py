"""Instances for the network: streams for training and fine-tuning, and the stored instances."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from heuristics.search.settings import require_between
from instances.clusters.cluster import Cluster, Server
from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from instances.dag.instance import NOT_ALLOWED
from instances.dag.json import dag_instance_document, dag_instance_from_json
from instances.generators.dag.generate import generate
from instances.text_file import read_text, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance


FAMILIES = ("layered", "erdos-renyi", "series-parallel", "fork-join", "in-tree", "out-tree", "chains")
"""Families of random structure; real workloads are left to studies, which show how well the network generalises."""

KINDS = ("P100", "T4", "RTX-2080-Ti", "L4", "V100-16GB", "A10", "A40", "A100-40GB")
"""Kinds of GPU that clusters are drawn from."""

TASKS, GPUS = (10, 60), (2, 8)
"""Fewest and most tasks and GPUs of an instance."""

TRANSFER_RATIOS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Mean transfer delay over mean duration."""

SPREADS = (0.1, 0.3, 0.6)
"""Standard deviation of the logarithm of the noise on each (task, kind)."""

FORBIDDEN = 0.05
"""Share of (task, kind) pairs that are not allowed."""

TIGHTNESS = (0.6, 0.95)
"""Memory of all tasks over that of all GPUs, in one third of the instances; the others have no limits."""


def training_stream(rng: np.random.Generator) -> Iterator[DagInstance]:
    """Generate instances without end; ours.

    Yields
    ------
    DagInstance
        One job; sizes and costs uniformly in the ranges above.
    """
    while True:
        is_tight = rng.random() < 1 / 3
        instance = generate(
            str(rng.choice(FAMILIES)),
            tasks=int(rng.integers(TASKS[0], TASKS[1] + 1)),
            seed=int(rng.integers(2**62)),
            cluster=_cluster(rng),
            cost=CostModel(
                ccr=float(rng.choice(TRANSFER_RATIOS)),
                heterogeneity=float(rng.choice(SPREADS)),
                forbidden=FORBIDDEN,
                memory_tightness=float(rng.uniform(*TIGHTNESS)) if is_tight else 0.0,
            ),
            name="generated",
        )
        if TASKS[0] <= instance.num_tasks <= TASKS[1]:  # families of fixed shape only approximate the number
            yield instance


def _cluster(rng: np.random.Generator) -> Cluster:
    """Draw two or more kinds, give every GPU one of them, and put the GPUs on up to four servers."""
    gpus = int(rng.integers(GPUS[0], GPUS[1] + 1))
    kinds = rng.choice(KINDS, size=int(rng.integers(2, gpus + 1)), replace=False)
    names = rng.permutation(np.concatenate([kinds, rng.choice(kinds, size=gpus - len(kinds))]))
    chosen = [gpu_kind(str(name)) for name in names]
    first = np.sort(rng.choice(np.arange(1, gpus), size=int(rng.integers(0, min(gpus, 4))), replace=False)).tolist()
    bounds = [0, *first, gpus]
    return Cluster(
        servers=tuple(
            Server(name=f"s{number}", kinds=tuple(chosen[begin:end]))
            for number, (begin, end) in enumerate(pairwise(bounds))
        )
    )


def fine_tuning_stream(instance: DagInstance, spread: float) -> Callable[[np.random.Generator], Iterator[DagInstance]]:
    """Return a stream that alternates between one instance and perturbations of it; ours.

    A perturbation multiplies every duration above 0 and the bytes of every edge by exp(spread N), N standard normal,
    and rounds to at least 1. Tasks, edges, memory, links and the pairs that are not allowed stay as they are. With
    spread 0 the stream repeats the instance.

    Raises a `ValueError` if the spread is not in 0..10, or the instance has no tasks.
    """
    if instance.num_tasks == 0:
        raise ValueError("tasks: expected at least one, got none.")
    require_between(0, 10, spread=spread)

    def stream(rng: np.random.Generator) -> Iterator[DagInstance]:
        while True:
            yield instance
            if spread > 0:
                yield _perturbed(instance, spread, rng)

    return stream


def _perturbed(instance: DagInstance, spread: float, rng: np.random.Generator) -> DagInstance:
    """Return one perturbation."""
    durations = _scaled(instance.durations, spread, rng)
    return replace(
        instance,
        name=f"{instance.name}-perturbed",
        durations=np.where(instance.durations == NOT_ALLOWED, NOT_ALLOWED, durations),
        edge_bytes=_scaled(instance.edge_bytes, spread, rng),
    )


def _scaled(values: np.ndarray, spread: float, rng: np.random.Generator) -> np.ndarray:
    """Multiply the values above 0 by log-normal noise and round to at least 1."""
    noisy = np.rint(values * np.exp(spread * rng.standard_normal(values.shape)))
    return np.where(values > 0, np.maximum(noisy, 1.0), values).astype(np.int64)


VALIDATION, HELD_OUT = "validation.jsonl.gz", "held_out.jsonl.gz"
"""Files of 64 and 200 instances of the training stream's kind, generated from other seeds, all feasible for HEFT."""


def validation_instances() -> list[DagInstance]:
    """Return the instances on which the best of a training's networks is chosen."""
    return _stored(VALIDATION)


def held_out_instances() -> list[DagInstance]:
    """Return the instances for published numbers; they must not influence any choice."""
    return _stored(HELD_OUT)


def dag_instances_sha256(instances: Sequence[DagInstance]) -> str:
    """Return one hash of all instances: the SHA-256 of their content hashes, one per line."""
    text = "".join(f"{instance.sha256}\n" for instance in instances)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def write_instances(path: str | PathLike[str], instances: Sequence[DagInstance]) -> None:
    """Write instances as compressed JSON, one document per line; the same instances give the same bytes."""
    lines = "".join(f"{json.dumps(dag_instance_document(instance))}\n" for instance in instances)
    with (
        whole_file(path) as partial,
        open(partial, "wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed,
    ):
        packed.write(lines.encode("ascii"))


def read_instances(path: str | PathLike[str]) -> list[DagInstance]:
    """Read what `write_instances` wrote."""
    return [dag_instance_from_json(line) for line in read_text(path).splitlines()]


def _stored(name: str) -> list[DagInstance]:
    """Read a file of the package."""
    return read_instances(str(files("heuristics.dag.worl_rtgs") / "instance_sets" / name))
