"""How far rooflines are from measured operators, and how far with an efficiency per class that other GPUs gave.

`python -m tests.benchmarks.run_roofline_errors` prints the tables of docs/models.md, section 5. It reads NeuSight's
measurements (github sitar-lab/NeuSight @ 6945927) from the folder of public data sets beside the repository. Forward
times of float32 operators of transformers (TF32 off) above 0.02 ms; below that the measurement has a floor. The
efficiency of a class is the median, over GPUs, of the GPU's median of roofline over measured time; for the error of a
GPU it is taken from the other GPUs only.
"""

from __future__ import annotations

import ast
import csv
import gzip
import math
from collections import defaultdict
from statistics import median
from typing import NamedTuple

import numpy as np

from instances.clusters.cost_model import CostModel
from instances.clusters.gpu_kinds import gpu_kind
from tests.real_data import FOLDER

KINDS = {
    "Tesla_P100-PCIE-16GB": "P100",
    "Tesla_V100-PCIE-32GB": "V100-32GB",
    "Tesla_T4": "T4",
    "NVIDIA_A100-PCIE-40GB": "A100-40GB",
    "NVIDIA_A100_80GB_PCIe": "A100-80GB",
    "NVIDIA_L4": "L4",
    "NVIDIA_H100_80GB_HBM3": "H100",
}
"""Devices whose kind is in the catalogue."""

LEAST_MS = 0.02


class Measured(NamedTuple):
    """One operator on one kind: its class, the roofline at full peaks and the measured time in seconds."""

    what: str
    kind: str
    roofline: float
    seconds: float


def work(row: dict[str, str]) -> tuple[str, float, float] | None:
    """Return class, FLOPs and moved bytes of an operator; None where its cost does not follow from its shapes."""
    inputs = [tuple(shape) for shape in ast.literal_eval(row["input_shapes"])]
    output = ast.literal_eval(row["output_shape"])
    if row["dtype"] != "torch.float32" or not inputs or not isinstance(output, tuple):
        return None
    target, size = row["target"], math.prod(output)
    moved = 4.0 * (sum(map(math.prod, inputs)) + size)
    if "matmul" in target or "bmm" in target:
        return "matrix product", 2.0 * size * inputs[0][-1], moved
    if row["op"] == "call_module":
        if len(inputs) == 1 and "norm" not in target.lower() and inputs[0][:-1] == output[:-1] and is_linear(target):
            return "linear layer", 2.0 * size * inputs[0][-1], moved + 4.0 * inputs[0][-1] * output[-1]
        if "norm" in target.lower() or target.endswith(("ln_1", "ln_2", "ln_f")):
            return "norm", 8.0 * size, moved
        if "act" in target:
            return "element-wise", float(size), moved
        return None
    if "softmax" in target:
        return "softmax", 5.0 * size, moved
    if any(f"function {name}>" in target for name in ("add", "mul", "truediv", "sub", "gelu", "relu", "tanh", "pow")):
        return "element-wise", float(size), moved
    return None


def is_linear(target: str) -> bool:
    """Tell whether a module's name is that of a matrix of weights."""
    last = target.rsplit(".", 1)[-1]
    return last in (
        "query",
        "key",
        "value",
        "dense",
        "c_attn",
        "c_proj",
        "c_fc",
        "q_proj",
        "k_proj",
        "v_proj",
        "out_proj",
        "fc1",
        "fc2",
        "lm_head",
        "q",
        "k",
        "v",
        "o",
        "wi",
        "wo",
    )


def read() -> list[Measured]:
    """Return all measurements of classes whose cost follows from shapes."""
    with gzip.open(FOLDER / "neusight" / "op_graphs.csv.gz", "rt") as file:
        graph = {(row["workload"], row["idx"]): work(row) for row in csv.DictReader(file) if row["vendor"] == "nvidia"}
    found = []
    with gzip.open(FOLDER / "neusight" / "op_latency_ms.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            cost, milliseconds = graph.get((row["workload"], row["idx"])), float(row["fw_ms"])
            if row["device"] in KINDS and cost is not None and milliseconds > LEAST_MS:
                kind = gpu_kind(KINDS[row["device"]])
                seconds = kind.roofline_seconds(np.array([cost[1]]), np.array([cost[2]]), precision="fp32")
                found.append(Measured(cost[0], kind.name, float(seconds[0]), milliseconds * 1e-3))
    return found


def efficiencies(measured: list[Measured]) -> dict[str, float]:
    """Return the efficiency of every class: the median over kinds of the median on a kind."""
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in measured:
        ratios[each.what, each.kind].append(each.roofline / each.seconds)
    classes = dict.fromkeys(what for what, _ in ratios)
    return {what: median(median(own) for (of, _), own in ratios.items() if of == what) for what in classes}


def error(measured: list[Measured], efficiency: dict[str, float]) -> float:
    """Return the median relative error."""
    return median(abs(each.roofline / efficiency[each.what] / each.seconds - 1.0) for each in measured)


def main() -> None:
    """Print both tables."""
    measured = read()
    classes = list(dict.fromkeys(each.what for each in measured))
    plain = dict.fromkeys(classes, CostModel().efficiency)
    print("| GPU held out | operators | half of the peaks | efficiency per class, from the other GPUs |")
    print("|---|---|---|---|")
    for kind in KINDS.values():
        own = [each for each in measured if each.kind == kind]
        learned = efficiencies([each for each in measured if each.kind != kind])
        print(f"| {kind} | {len(own)} | {100 * error(own, plain):.0f} % | {100 * error(own, learned):.0f} % |")
    print("\n| class | operators | efficiency | smallest and largest on a GPU |\n|---|---|---|---|")
    for what, share in efficiencies(measured).items():
        own = [each for each in measured if each.what == what]
        on = [median(e.roofline / e.seconds for e in own if e.kind == k) for k in dict.fromkeys(e.kind for e in own)]
        print(f"| {what} | {len(own)} | {share:.2f} | {min(on):.2f} to {max(on):.2f} |")


if __name__ == "__main__":
    main()
