"""How the stored suite of 60 instances was made: `python -m tests.benchmarks.make_proof_suite` writes the files again.

Every combination of five sizes, four clusters and three ratios of communication to computation, once. Families rotate,
so that each meets several sizes and clusters; every other instance has consistent durations. Nothing was chosen or
left out by how hard it turned out to be. The files are the suite: should a generator change, they stay.

`--draw SEED --count N --sizes LOW HIGH --out FOLDER` draws other instances of the same families, most of them with
memory limits, so that a comparison can use instances that nobody has seen before.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.json import dag_instance_to_json
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag.instance import DagInstance

FOLDER = Path(__file__).parent / "proof_suite"
SIZES = (30, 45, 60, 80, 100)
CLUSTERS = ("mixed-2", "mixed-3", "mixed-4", "mixed-8")
RATIOS = (0.3, 1.0, 3.0)
FAMILIES = (
    "layered",
    "erdos-renyi",
    "series-parallel",
    "fork-join",
    "in-tree",
    "out-tree",
    "fft",
    "lu",
    "cholesky",
    "gaussian-elimination",
    "stencil",
    "pipeline-training",
    "inception",
    "nasnet",
    "transformer",
    "mixture-of-experts",
    "chains",
)


def make(number: int) -> DagInstance:
    """Make the instance of that number, 0..59."""
    tasks, cluster, ratio = list(product(SIZES, CLUSTERS, RATIOS))[number]
    family = FAMILIES[number % len(FAMILIES)]
    consistency = number % 2
    name = f"{number:02}-{family}-{cluster}-ccr{ratio}-{'consistent' if consistency else 'inconsistent'}"
    cost = CostModel(ccr=ratio, consistency=float(consistency))
    while True:  # families of fixed shape come as near as they can
        instance = generate(family, tasks=tasks, seed=number, cluster=parse_cluster(cluster), cost=cost, name=name)
        if instance.num_tasks >= SIZES[0]:
            return instance
        tasks += 1


DRAWN_SIZES = (30, 90)
DRAWN_CLUSTERS = (*CLUSTERS, "v100-t4-p100-pair", "inference-l4-t4-a10")
DRAWN_TIGHTNESSES = (None, 0.5, 0.7, 0.85)
"""What the drawn instances differ in; families take turns, everything else is drawn for each instance by itself."""


def draw(seed: int, count: int, sizes: tuple[int, int]) -> Iterator[DagInstance]:
    """Draw instances of all families in turn, of sizes from the first to below the second."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        family = FAMILIES[number % len(FAMILIES)]
        tasks = int(rng.integers(*sizes))
        cluster, ratio = str(rng.choice(DRAWN_CLUSTERS)), float(rng.choice(RATIOS))
        tightness = DRAWN_TIGHTNESSES[int(rng.integers(len(DRAWN_TIGHTNESSES)))]
        cost = CostModel(ccr=ratio, consistency=float(rng.integers(2)), memory_tightness=tightness)
        name = f"{number:02}-{family}-{cluster}-ccr{ratio}-memory{tightness}"
        yield generate(
            family, tasks=tasks, seed=int(rng.integers(2**31)), cluster=parse_cluster(cluster), cost=cost, name=name
        )


def main() -> None:
    """Write all files, each on one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=int, default=None, help="seed of instances to draw; the stored suite without it")
    parser.add_argument("--count", type=int, default=60, help="how many to draw")
    parser.add_argument(
        "--sizes", type=int, nargs=2, default=DRAWN_SIZES, help="tasks: from the first to below the second"
    )
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    stored = (make(number) for number in range(len(SIZES) * len(CLUSTERS) * len(RATIOS)))
    options.out.mkdir(exist_ok=True)
    for instance in stored if options.draw is None else draw(options.draw, options.count, tuple(options.sizes)):
        text = json.dumps(json.loads(dag_instance_to_json(instance)), separators=(",", ":"))
        (options.out / f"{instance.name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{instance.name}: {instance.num_tasks} tasks, {instance.num_gpus} GPUs, {instance.num_edges} edges")


if __name__ == "__main__":
    main()
