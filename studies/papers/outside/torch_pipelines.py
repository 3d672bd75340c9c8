"""Train a small network with the order of passes in a file, as torch runs it, and compare with torch's own 1F1B.

`python torch_pipelines.py FILE.csv` needs torch and nothing of optgap. One process per line of the file joins a group
over loopback (gloo) and runs `_PipelineScheduleRuntime` with the file on a network of one layer per stage, in double
precision. The same layers are then trained by torch's `Schedule1F1B` on as many processes, consecutive layers
together, and in one process without a pipeline. It prints a line of JSON: versions, date, and the largest difference of
gradients, of losses and of the weights after the last step; the status is 1 where one exceeds the tolerance.

`python torch_pipelines.py FILE.csv --dump ScheduleZBVZeroBubble --ranks 4 --micro-batches 8` writes a schedule of torch
instead, for `optgap convert --from torch-csv`.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import platform
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STEPS, WIDTH, ROWS, RATE = 3, 16, 4, 0.1
"""Steps of gradient descent; size of a layer; rows of a micro-batch; learning rate."""

TOLERANCE = 1e-12
"""On gradients of about 0.01 to 1 in double precision: sums of micro-batches in another order differ by less."""

TWO_STAGES = ("ScheduleZBVZeroBubble", "ScheduleDualPipeV")
CLASSES = ("ScheduleInterleaved1F1B", "ScheduleInterleavedZeroBubble", "ScheduleLoopedBFS", *TWO_STAGES)
"""Schedules of torch that can be dumped."""


def layers_of(stages: int) -> list[Any]:
    """Return the layers of the network, the same in every process."""
    import torch

    torch.manual_seed(7)
    layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()) for _ in range(stages)]
    return [layer.double() for layer in layers]


def batch(micro_batches: int) -> tuple[Any, Any]:
    """Return inputs and targets, the same in every process."""
    import torch

    generator = torch.Generator().manual_seed(11)
    size = (micro_batches * ROWS, WIDTH)
    return tuple(torch.randn(size, generator=generator, dtype=torch.float64) for _ in range(2))


def train(layers: dict[int, Any], one_pass: Any, steps: int) -> dict[str, list[Any]]:
    """Return the gradients of every step and the last weights of layers, by number of layer and name."""
    found: dict[str, list[Any]] = {}
    named = {f"{number}.{name}": each for number, layer in layers.items() for name, each in layer.named_parameters()}
    for _ in range(steps):
        for weight in named.values():
            weight.grad = None
        for position, loss in enumerate(one_pass()):
            found.setdefault(f"loss {position}", []).append(loss)
        for name, weight in named.items():
            found.setdefault(f"gradient {name}", []).append(weight.grad.clone())
            weight.data -= RATE * weight.grad
    return {**found, **{f"weight {name}": [weight.data.clone()] for name, weight in named.items()}}


def by_itself(stages: int, micro_batches: int) -> dict[str, list[Any]]:
    """Train without a pipeline."""
    import torch

    layers, (inputs, targets) = layers_of(stages), batch(micro_batches)
    network, loss_of = torch.nn.Sequential(*layers), torch.nn.MSELoss()

    def one_pass() -> list[Any]:
        losses = []
        for x, y in zip(inputs.chunk(micro_batches), targets.chunk(micro_batches), strict=True):
            loss = loss_of(network(x), y)
            (loss / micro_batches).backward()
            losses.append(loss.detach())
        return losses

    return train(dict(enumerate(layers)), one_pass, STEPS)


def on_rank(rank: int, ranks: int, folder: str, file: str, shape: tuple[int, int, list[list[int]]]) -> None:
    """Train with the file's order and with 1F1B as one process of the group, and store what is found."""
    import torch
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=ranks)
    stages, micro_batches, mine_of_rank = shape
    inputs, targets = batch(micro_batches)

    def passes(schedule: Any, is_first: bool, is_last: bool) -> Any:
        def one_pass() -> list[Any]:
            losses: list[Any] = []
            given = {"target": targets, "losses": losses} if is_last else {}
            schedule.step(*([inputs] if is_first else []), **given)
            return [loss.detach() for loss in losses]

        return one_pass

    layers, mine, cpu = layers_of(stages), mine_of_rank[rank], torch.device("cpu")
    own = [PipelineStage(layers[stage], stage, stages, cpu) for stage in mine]
    schedule = _PipelineScheduleRuntime(own, micro_batches, loss_fn=torch.nn.MSELoss())
    schedule._load_csv(file, "compute_only")  # noqa: SLF001
    is_at = [stage in mine for stage in (0, stages - 1)]
    found = {"file": train({stage: layers[stage] for stage in mine}, passes(schedule, *is_at), STEPS)}
    if micro_batches >= ranks:  # what torch's class demands
        layers, cuts = layers_of(stages), [stages * cut // ranks for cut in range(ranks + 1)]
        together = range(cuts[rank], cuts[rank + 1])
        stage = PipelineStage(torch.nn.Sequential(*(layers[each] for each in together)), rank, ranks, cpu)
        plain = Schedule1F1B(stage, micro_batches, loss_fn=torch.nn.MSELoss())
        one_pass = passes(plain, rank == 0, rank == ranks - 1)
        found["1f1b"] = train({each: layers[each] for each in together}, one_pass, STEPS)
    torch.save(found, f"{folder}/{rank}.pt")
    dist.destroy_process_group()


def dump(rank: int, ranks: int, folder: str, file: str, wanted: tuple[str, int, int]) -> None:
    """Write a schedule of torch, as the only process: torch computes the orders of all ranks on each."""
    import torch
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage, schedules
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=rank, world_size=ranks, store=FakeStore())
    name, micro_batches, chunks = wanted
    count, cpu = chunks * ranks, torch.device("cpu")
    mine = (0, count - 1) if name in TWO_STAGES else range(0, count, ranks)
    own = [PipelineStage(torch.nn.Linear(1, 1), stage, count, cpu) for stage in mine]
    schedule = getattr(schedules, name)(own, micro_batches, loss_fn=torch.nn.MSELoss())
    schedule._dump_csv(file, "compute_only")  # noqa: SLF001
    dist.destroy_process_group()


def shape_of(file: Path) -> tuple[int, int, list[list[int]]]:
    """Return the numbers of stages and of micro-batches in a file, and the stages of every rank."""
    with file.open(newline="", encoding="utf-8") as text:
        cells = [[re.findall(r"(\d+)F(\d+)", cell) for cell in row] for row in csv.reader(text)]
    passes = [[(int(s), int(m)) for found in row for s, m in found] for row in cells]
    mine = [sorted({stage for stage, _ in row}) for row in passes]
    if not all(mine):
        raise SystemExit(f"{file}: expected a stage on every line, as torch demands it, got {mine}.")
    return 1 + max(map(max, mine)), 1 + max(m for row in passes for _, m in row), mine


def differences_of(file: Path, seconds: float) -> dict[str, Any]:
    """Train in all ways and return the largest differences.

    Raises `SystemExit` if the processes do not end in time, as they would where passes wait for each other.
    """
    import torch

    shape = stages, micro_batches, mine = shape_of(file)
    expected = by_itself(stages, micro_batches)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        arguments = (len(mine), folder, str(file), shape)
        context = torch.multiprocessing.spawn(on_rank, arguments, nprocs=len(mine), join=False)
        end = time.monotonic() + seconds
        while not context.join(timeout=1.0):  # it returns whenever one of them ends, and raises what that one raised
            if time.monotonic() > end:
                for process in context.processes:
                    process.kill()
                raise SystemExit(f"{file}: expected processes that end within {seconds:g} s, got some that did not.")
        found: dict[str, dict[str, list[Any]]] = {}
        for rank in range(len(mine)):
            for how, own in torch.load(f"{folder}/{rank}.pt").items():
                found.setdefault(how, {}).update(own)

    def difference(one: str, other: dict[str, list[Any]], what: str) -> float:
        names = [name for name in expected if name.startswith(what)]
        pairs = [pair for name in names for pair in zip(found[one][name], other[name], strict=True)]
        return max(float((a - b).abs().max()) for a, b in pairs)

    others = {"one process": expected, **({"torch 1F1B": found["1f1b"]} if "1f1b" in found else {})}
    whats = ("gradient", "loss", "weight")
    return {
        "file": file.name,
        "ranks": len(mine),
        "stages": stages,
        "micro_batches": micro_batches,
        "steps": STEPS,
        "parameters": len([name for name in expected if name.startswith("gradient")]),
        "largest_gradient": max(float(each.abs().max()) for n in expected if n[0] == "g" for each in expected[n]),
        "differences": {
            how: {what: difference("file", other, what) for what in whats} for how, other in others.items()
        },
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
    }


def _main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="CSV file to run, or with --dump to write")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of the processes")
    parser.add_argument("--dump", choices=CLASSES, help="class of torch whose schedule is written")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--chunks", type=int, default=2, help="stages per rank")
    given = parser.parse_args()
    if given.dump is not None:
        dump(0, given.ranks, "", str(given.file), (given.dump, given.micro_batches, given.chunks))
        return
    answer = differences_of(given.file, given.seconds)
    print(json.dumps(answer))
    if not all(each <= TOLERANCE for part in answer["differences"].values() for each in part.values()):
        sys.exit(1)


if __name__ == "__main__":
    _main()
