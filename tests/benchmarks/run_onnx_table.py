"""The table of docs/models.md: networks that come with onnx, on two servers of three kinds of GPU.

`python -m tests.benchmarks.run_onnx_table SECONDS [training]` prints it, with CP-SAT on one thread for so many seconds
per network. Needs the extra onnx.
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx

import optgap
from instances.readers.dag.onnx_models import onnx_operators
from instances.units import duration_text

CLUSTER = "v100-t4-p100-pair"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def main(seconds: float, *, training: bool) -> None:
    """Print a row per network."""
    print("| network | GFLOP | tasks | edges | best GPU alone | HEFT | best | bound | gap |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in sorted(LIGHT.glob("*.onnx")):
        instance = optgap.convert("onnx", path, training=training, cluster=optgap.parse_cluster(CLUSTER))
        heft = optgap.solve(instance, "heft").objective
        result = optgap.solve(instance, "cp-sat", time_limit=seconds, threads=1, seed=1)
        flops = sum(each.flops for each in onnx_operators(path.read_bytes(), dimensions={}))
        alone = int(instance.durations.sum(axis=0).min())
        times = [
            duration_text(ticks * instance.tick_seconds)
            for ticks in (alone, heft, result.objective, result.lower_bound)
        ]
        sizes = f"{instance.num_tasks} | {instance.num_edges}"
        print(f"| {path.stem.removeprefix('light_')} | {flops / 1e9:.2f} | {sizes} | {' | '.join(times)} |", end="")
        print(f" {100 * result.gap:.1f} % |", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), training="training" in sys.argv[2:])
