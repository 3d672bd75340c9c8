"""How far rooflines are from measured operators, and how far with an efficiency per class that measurements gave.

`python -m tests.benchmarks.run_roofline_errors` prints the tables of docs/models.md, section 5. It reads NeuSight's
measurements (github sitar-lab/NeuSight @ 6945927: forward times of float32 operators of transformers, TF32 off) and
Vidur's (github microsoft/vidur @ 7d47513: a layer of phi-2 in half precision, and transfers between GPUs) from the
folder of public data sets beside the repository; times of 0.02 ms and less are left out, because the measurements have
a floor. The efficiency of a class on a kind is the median of roofline over measured time, on other kinds the median
over kinds. Errors are cross-validated: a held-out GPU takes the efficiencies of the others,
and a GPU's own efficiencies come from other workloads (NeuSight) or from other numbers of tokens (Vidur, five parts).
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

from instances.clusters.cluster import LATENCY_INSIDE_SECONDS
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
    """One operator on one kind: class, roofline at full peaks and measured time in seconds, and part of the data."""

    what: str
    kind: str
    roofline: float
    seconds: float
    part: str


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


def neusight() -> list[Measured]:
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
                found.append(Measured(cost[0], kind.name, float(seconds[0]), milliseconds * 1e-3, row["workload"]))
    return found


VIDUR_KINDS = {"a40": "A40", "a100": "A100-80GB", "h100": "H100"}


def vidur() -> list[Measured]:
    """Return all measurements of a layer of phi-2, whose cost follows from its width and the number of tokens."""
    found = []
    for name, kind_name in VIDUR_KINDS.items():
        kind = gpu_kind(kind_name)
        with gzip.open(FOLDER / "vidur" / "compute" / name / "phi-2_mlp.csv.gz", "rt") as file:
            for number, row in enumerate(csv.DictReader(file)):
                tokens, narrow, wide = (float(row[key]) for key in ("num_tokens", "n_embd", "n_expanded_embd"))

                def linear(i: float, o: float, n: float = tokens) -> tuple[str, float, float]:
                    return "linear layer", 2.0 * n * i * o, 2.0 * (n * i + n * o + i * o)

                size = tokens * narrow
                costs = {
                    "emb": ("embedding", 0.0, 4.0 * size),
                    "input_layernorm": ("norm", 8.0 * size, 4.0 * size),
                    "attn_pre_proj": linear(narrow, 3.0 * narrow),
                    "attn_rope": ("element-wise", 6.0 * size, 8.0 * size),  # queries and keys
                    "attn_post_proj": linear(narrow, narrow),
                    "mlp_up_proj": linear(narrow, wide),
                    "mlp_act": ("element-wise", tokens * wide, 4.0 * tokens * wide),
                    "mlp_down_proj": linear(wide, narrow),
                    "add": ("element-wise", size, 6.0 * size),
                }
                for operator, (what, flops, moved) in costs.items():
                    milliseconds = float(row[f"time_stats.{operator}.median"])
                    if milliseconds > LEAST_MS:
                        roof = kind.roofline_seconds(np.array([flops]), np.array([moved]), precision="fp16")
                        found.append(Measured(what, kind_name, float(roof[0]), milliseconds * 1e-3, str(number % 5)))
    return found


def on_kinds(measured: list[Measured]) -> dict[str, dict[str, float]]:
    """Return the efficiency of every class on every kind where it was measured."""
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in measured:
        ratios[each.what, each.kind].append(each.roofline / each.seconds)
    classes = dict.fromkeys(what for what, _ in ratios)
    return {what: {kind: median(own) for (of, kind), own in ratios.items() if of == what} for what in classes}


def efficiencies(measured: list[Measured]) -> dict[str, float]:
    """Return the efficiency of every class: the median over kinds."""
    return {what: median(of.values()) for what, of in on_kinds(measured).items()}


def own_efficiency(measured: list[Measured], each: Measured) -> dict[str, float]:
    """Return the efficiencies of a kind without the part of the data in which a measurement is."""
    others = [other for other in measured if other.kind == each.kind and other.part != each.part]
    return {what: of[each.kind] for what, of in on_kinds(others).items()}


def error(measured: list[Measured], efficiency: dict[str, float]) -> float:
    """Return the median relative error."""
    return median(abs(each.roofline / efficiency[each.what] / each.seconds - 1.0) for each in measured)


def own_error(measured: list[Measured], own: list[Measured]) -> float:
    """Return the median relative error with efficiencies of the same kind from other parts of the data."""
    learned = {each.part: own_efficiency(measured, each) for each in {one.part: one for one in own}.values()}
    errors = []
    for each in own:
        reached = learned[each.part].get(each.what)  # None: the class was measured in this part only
        errors += [] if reached is None else [abs(each.roofline / reached / each.seconds - 1.0)]
    return median(errors) if errors else math.nan


def shipped(measured: list[Measured]) -> dict[str, dict[str, float]]:
    """Return what `MEASURED_EFFICIENCY` holds of one precision: by class and kind, rounded, "" for any other kind.

    A kind has its own efficiency where that has a smaller error, cross-validated, than the one of the other kinds, and
    does not beat the roofline, as operators do whose data stay in a cache.
    """
    found: dict[str, dict[str, float]] = {}
    for what, of in on_kinds(measured).items():
        found[what] = {"": round(median(of.values()), 2)}
        for kind, reached in of.items():
            own = [each for each in measured if (each.what, each.kind) == (what, kind)]
            others = efficiencies([each for each in measured if each.what == what and each.kind != kind])
            if reached <= 1.0 and own_error(measured, own) < error(own, others):
                found[what][kind] = round(reached, 2)
    return found


def tables(measured: list[Measured], kinds: list[str]) -> None:
    """Print errors by GPU, errors by class and GPU, and efficiencies."""
    classes = list(dict.fromkeys(each.what for each in measured))
    plain = dict.fromkeys(classes, CostModel().efficiency)
    print("\n| GPU | operators | half of the peaks | class, other GPUs | class and GPU, other parts |")
    print("|---|---|---|---|---|")
    by_class: dict[str, list[str]] = {what: [] for what in classes}
    for kind in kinds:
        own = [each for each in measured if each.kind == kind]
        learned = efficiencies([each for each in measured if each.kind != kind])
        errors = error(own, plain), error(own, learned), own_error(measured, own)
        print(f"| {kind} | {len(own)} | " + " | ".join(f"{100 * each:.0f} %" for each in errors) + " |")
        for what in classes:
            of = [each for each in own if each.what == what]
            errors = (error(of, plain), error(of, learned), own_error(measured, of)) if of else ()
            by_class[what].append(", ".join("-" if math.isnan(each) else f"{100 * each:.0f}" for each in errors) or "-")
    print(f"\n| class | {' | '.join(kinds)} |\n|---|{'---|' * len(kinds)}")
    for what in classes:
        print(f"| {what} | {' | '.join(by_class[what])} |")
    print(f"\n| efficiency | any | {' | '.join(kinds)} |\n|---|---|{'---|' * len(kinds)}")
    for what, of in on_kinds(measured).items():
        kept = shipped(measured)[what]
        shown = [f"{of[kind]:.2f}{'' if kind in kept else ' (not used)'}" if kind in of else "-" for kind in kinds]
        print(f"| {what} | {median(of.values()):.2f} | {' | '.join(shown)} |")


def links() -> None:
    """Print the error of our model of a transfer (latency and bandwidth of the catalogue) against Vidur's send_recv."""
    print("\n| node | transfers | modelled, GB/s | median error |\n|---|---|---|---|")
    inside = {
        "a100_dgx": ("A100-80GB", "nvlink"),
        "h100_dgx": ("H100", "nvlink"),
        "a40_pairwise_nvlink": ("A40", "pcie"),
    }
    for name, (kind_name, link) in inside.items():
        kind = gpu_kind(kind_name)
        speed = kind.pcie_bandwidth if link == "pcie" else float(kind.nvlink_bandwidth or 0.0)
        errors = []
        with gzip.open(FOLDER / "vidur" / "network" / f"{name}_send_recv.csv.gz", "rt") as file:
            for row in csv.DictReader(file):
                if row["devices_per_node"] == "2":
                    seconds = float(row["time_stats.send_recv.median"]) * 1e-3
                    errors.append(abs((LATENCY_INSIDE_SECONDS + float(row["size"]) / speed) / seconds - 1.0))
        print(f"| {name} | {len(errors)} | {speed / 1e9:.0f} | {100 * median(errors):.0f} % |")


def main() -> None:
    """Print all tables."""
    tables(neusight(), list(KINDS.values()))
    tables(vidur(), list(VIDUR_KINDS.values()))
    links()


if __name__ == "__main__":
    main()
