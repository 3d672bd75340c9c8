"""Reader of the schedule files of torch.distributed.pipelining: the passes of every rank in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instances.dag.pipeline import pipeline_instance
from instances.fields import brief
from instances.text_file import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from instances.dag.instance import DagInstance


_CELL = re.compile(r"(\d{1,6})([FIWB])(\d{1,6})")
_NO_PASS = re.compile(r"\d{1,6}((SEND|RECV)_[FB]\d{1,6}|UNSHARD|RESHARD|REDUCE_GRAD)")
_OVERLAP = re.compile(r"\(([^()]*)\)OVERLAP_F_B")

MAX_PASSES = 1_000_000
"""More passes are taken as a mistake."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TorchOrders:
    """The passes of a file.

    Parameters
    ----------
    orders
        Stage, letter and micro-batch of every pass of every rank; letters are F, B and W, or F and B alone.
    rank_of_stage
        Rank of every stage.
    is_split
        Whether backward passes are split into B (torch: I) and W.
    """

    orders: Sequence[Sequence[tuple[int, str, int]]]
    rank_of_stage: Sequence[int]
    micro_batches: int
    is_split: bool


def parse_torch_csv(text: str) -> TorchOrders:
    """Read a file: a line per rank, and cells such as ``0F3``, ``1I0``, ``1W0``, ``1B0`` or ``(0F3;1B0)OVERLAP_F_B``.

    Empty cells, sends, receives and what concerns weights of sharded stages are no passes and are left out. Where some
    backward passes are split, a full one is both parts, one right after the other.

    Raises
    ------
    ValueError
        If a cell has another form, a pass is missing or there twice, or a stage is on two ranks; the message gives the
        place in the file.
    """
    cells = [list(_passes(number, line)) for number, line in enumerate(text.splitlines(), start=1)]
    is_split = any(letter in "IW" for rank in cells for _, _, letter, _ in rank)
    rank_of_stage: dict[int, int] = {}
    seen: dict[tuple[int, str, int], str] = {}
    orders: list[list[tuple[int, str, int]]] = []
    for rank, row in enumerate(cells):
        orders.append([])
        for place, stage, letter, batch in row:
            if rank_of_stage.setdefault(stage, rank) != rank:
                raise ValueError(f"{place}: expected stage {stage} on rank {rank_of_stage[stage]}, got rank {rank}.")
            for each in {"I": "B", "B": "BW" if is_split else "B"}.get(letter, letter):
                if (stage, each, batch) in seen:
                    first = seen[stage, each, batch]
                    raise ValueError(f"{place}: expected each pass once, got that of {first} again.")
                seen[stage, each, batch] = place
                orders[-1].append((stage, each, batch))
    stages, batches = len(rank_of_stage), 1 + max((batch for _, _, batch in seen), default=-1)
    if not seen:
        raise ValueError("line 1: expected passes, got none.")
    for stage in range(1 + max(rank_of_stage)):
        for batch in range(batches):
            for letter in "FBW" if is_split else "FB":
                if (stage, letter, batch) not in seen:
                    raise ValueError(f"stage {stage}: expected {letter} of micro-batch {batch}, got none.")
    return TorchOrders(
        orders=orders,
        rank_of_stage=[rank_of_stage[stage] for stage in range(stages)],
        micro_batches=batches,
        is_split=is_split,
    )


def _passes(number: int, line: str) -> Iterator[tuple[str, int, str, int]]:
    """Yield place, stage, letter and micro-batch of every pass of a line."""
    for column, cell in enumerate(line.split(","), start=1):
        overlap = _OVERLAP.fullmatch(cell.strip())
        for part in [cell] if overlap is None else overlap[1].split(";"):
            text, place = part.strip(), f"line {number}, cell {column}"
            if not text or _NO_PASS.fullmatch(text):
                continue
            found = _CELL.fullmatch(text)
            if found is None:
                raise ValueError(f"{place}: expected a stage, one of F, I, W, B and a micro-batch, got {brief(text)}.")
            if column > MAX_PASSES or int(found[3]) > MAX_PASSES or int(found[1]) > MAX_PASSES:
                raise ValueError(f"{place}: expected numbers up to {MAX_PASSES}, got {brief(text)}.")
            yield place, int(found[1]), found[2], int(found[3])


def read_torch_csv(
    path: str | PathLike[str],
    *,
    forward: int = 10,
    backward: int = 12,
    weight: int = 8,
    transfer: int = 1,
    limit: int | None = None,
) -> DagInstance:
    """Read stages, ranks and micro-batches of a schedule of torch.distributed.pipelining; the file has no times.

    `studies.export.torch_csv.schedule_of_torch_csv` makes the schedule from the order in the file.

    Parameters
    ----------
    forward, backward, weight, transfer
        Modelled ticks of F, B and W of every stage, and of a transfer between neighbours on different ranks.
    limit
        Memory of every rank; a forward pass holds 1 until B and 1 until W. None for no limit.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has another form; the message gives the place.
    """
    found = parse_torch_csv(read_text(path))
    stages = len(found.rank_of_stage)
    return pipeline_instance(
        micro_batches=found.micro_batches,
        forward=[forward] * stages,
        backward=[backward] * stages,
        weight=[weight] * stages,
        transfer=transfer,
        limits=limit,
        gpus=len(found.orders),
        places=found.rank_of_stage,
        fused=not found.is_split,
        name="torch schedule",
    )
