"""How the stored suite of 60 instances was made: `python -m tests.benchmarks.make_proof_suite` writes the files again.

Every combination of five sizes, four clusters and three ratios of communication to computation, once. Families rotate,
so that each meets several sizes and clusters; every other instance has consistent durations. Nothing was chosen or
left out by how hard it turned out to be. The files are the suite: should a generator change, they stay.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from instances.clusters.cluster import parse_cluster
from instances.clusters.cost_model import CostModel
from instances.dag.json import dag_instance_to_json
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
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


def main() -> None:
    """Write all files, each on one line."""
    FOLDER.mkdir(exist_ok=True)
    for number in range(len(SIZES) * len(CLUSTERS) * len(RATIOS)):
        instance = make(number)
        text = json.dumps(json.loads(dag_instance_to_json(instance)), separators=(",", ":"))
        (FOLDER / f"{instance.name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{instance.name}: {instance.num_tasks} tasks, {instance.num_gpus} GPUs, {instance.num_edges} edges")


if __name__ == "__main__":
    main()
