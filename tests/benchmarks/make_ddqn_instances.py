"""Makes the instances on which learned placements are chosen and reported: run once, the files are stored.

`python -m tests.benchmarks.make_ddqn_instances --into FOLDER`. Another version of a generator may make other instances,
which is why the files are stored and not only the seeds; instances that HEFT cannot schedule within the memory limits
are left out, for makespans are compared with HEFT's.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heuristics.dag.list_scheduling import heft
from heuristics.dag.worl_rtgs.training_instances import (
    HELD_OUT,
    VALIDATION,
    dag_instances_sha256,
    training_stream,
    write_instances,
)

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance

SETS = {VALIDATION: ("validation", 64, (20_251_122, 101)), HELD_OUT: ("held-out", 200, (20_251_122, 202))}
"""Name, number of instances and entropy of each file; trainings draw from spawned seeds, which are never these."""


def make(name: str, count: int, entropy: tuple[int, ...]) -> list[DagInstance]:
    """Return the first instances of a stream that HEFT can schedule."""
    stream = training_stream(np.random.default_rng(np.random.SeedSequence(entropy)))
    feasible = (instance for instance in stream if heft(instance) is not None)
    return [replace(instance, name=f"{name}-{index:03d}") for index, instance in enumerate(islice(feasible, count))]


def main() -> None:
    """Write both files and print their hashes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, required=True)
    folder = parser.parse_args().into
    for file, (name, count, entropy) in SETS.items():
        instances = make(name, count, entropy)
        write_instances(folder / file, instances)
        print(file, dag_instances_sha256(instances))


if __name__ == "__main__":
    main()
