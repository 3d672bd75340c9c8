"""Prints a table of public graphs that memory limits force onto several GPUs, and of DOPPLER's graphs.

`python -m tests.benchmarks.run_memory_table SECONDS THREADS` puts PipeDream's profiles on the preset
`v100-t4-p100-pair` with memory 80 % full, reads the graphs of Tarnawski et al. with the devices and limits of their
files, and DOPPLER's with their cost model, and runs HEFT and `cp-sat` on each, and `lns` where `cp-sat` proves no
optimum. The files are where the tests expect them.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from instances.clusters.cluster import parse_cluster
from instances.readers.dag.measured_graph import READER_COST
from instances.readers.dag.read import read_instance
from solvers.solve import solve
from tests.real_data import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.dag.instance import DagInstance

DOPPLER_GPUS = {"gdp_chain_mm_112nodes": 4, "gdp_ffnn_192nodes": 4, "8gpu_transformer_block": 8}
"""The sound files, and the numbers of GPUs that they are for."""


def public_graphs() -> Iterator[tuple[str, str, DagInstance]]:
    """Yield set, name and instance of every graph."""
    for name, gpus in DOPPLER_GPUS.items():
        yield "doppler", name, read_instance("doppler", FOLDER / f"doppler/{name}.txt", num_gpus=gpus)
    cluster, cost = parse_cluster("v100-t4-p100-pair"), replace(READER_COST, memory_tightness=0.8)
    for path in sorted((FOLDER / "pipedream").glob("*.txt")):
        if not path.name.startswith("LICENSE"):
            yield "pipedream", path.stem, read_instance("pipedream", path, cluster=cluster, cost=cost)
    for path in sorted((FOLDER / "dnn-partitioning").glob("*/*/*.json")):
        name = f"{path.stem.removesuffix('_inference')} ({path.parent.name.removesuffix('Graphs').lower()}s)"
        yield "dnn-partitioning", name, read_instance("dnn-partitioning", path)


def main(seconds: float, threads: int) -> None:
    """Print the table, a row when it is done."""
    print("| set | graph | tasks | GPUs | HEFT | `lns` | `cp-sat` | bound | gap |\n" + "|---" * 9 + "|")
    for origin, name, instance in public_graphs():
        heft = solve(instance, "heft", bounds=[]).objective
        result = solve(instance, "cp-sat", time_limit=seconds, threads=threads, seed=1)
        lns = None
        if result.status != "optimal":
            lns = solve(instance, "lns", time_limit=seconds, threads=threads, seed=1, bounds=[]).objective
        gap = "-" if result.gap is None else f"{100 * result.gap:.2f} %"
        sizes = f"{instance.num_tasks} | {instance.num_gpus}"
        shown = [("-" if value is None else str(value)) for value in (heft, lns, result.objective, result.lower_bound)]
        print(f"| {origin} | {name} | {sizes} | {' | '.join(shown)} | {gap} |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
