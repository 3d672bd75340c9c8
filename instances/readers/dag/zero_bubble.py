"""Reader of pipeline profiles of Zero Bubble: times and memory of F, B and W per stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.dag.pipeline import pipeline_instance
from instances.fields import Fields, is_integer
from instances.json_document import parse_json
from instances.parameters import check_integer
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance


LISTS = ("instances", "profiles")
"""Keys under which a file has several profiles."""

MAX_COUNT = 4096
"""More stages or micro-batches are taken as a mistake."""


def read_zero_bubble(
    path: str | PathLike[str], *, profile: int = 0, limit: int | None = None, unlimited: bool = False
) -> DagInstance:
    """Read one profile of stages and micro-batches.

    Its fields are `stages`, `micro_batches`, `cost_f`, `cost_b`, `cost_w`, `cost_comm`, `mem_f`, `mem_b` and `mem_w`.
    A cost or a size is one number for all stages or a list with one per stage. F takes `mem_f`, of which B gives back
    ``-mem_b`` and W ``-mem_w``. With `chunks_per_stage` 2 the chunks stand in a V, and costs and sizes are those of a
    chunk. Times are measured where the file says so; links of `cost_comm` ticks between neighbours are modelled.

    Parameters
    ----------
    profile
        Number of the profile in a file with several.
    limit
        Memory of every GPU in the file's unit; by default `limit` of the profile, or `limit_zb2p`.
    unlimited
        Whether memory has no limits, whatever the file says.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it has another form; the message gives the place.
    """
    document = Fields(parse_json(read_text(path)))
    unit = _time_unit(document)
    key = next((key for key in LISTS if document.has(key)), None)
    if key is not None:
        several = document.each(key)
        if not 0 <= profile < len(several):
            raise ValueError(f"profile: expected a number in 0..{len(several) - 1}, got {profile}.")
        document = several[profile]
    elif profile != 0:
        raise ValueError(f"profile: expected 0, as the file has one, got {profile}.")
    stages, batches = (_count(document, name) for name in ("stages", "micro_batches"))
    chunks = int(document.integer("chunks_per_stage", 1))
    if chunks not in (1, 2):
        raise ValueError(f"{document.place('chunks_per_stage')}: expected 1 or 2, got {chunks}.")
    forward, backward, weight, takes, until_backward, until_weight = (
        _per_stage(document, name, sign, stages, chunks)
        for name, sign in (("cost_f", 1), ("cost_b", 1), ("cost_w", 1), ("mem_f", 1), ("mem_b", -1), ("mem_w", -1))
    )
    for stage, (taken, *given) in enumerate(zip(takes, until_backward, until_weight, strict=True)):
        if taken != sum(given):
            raise ValueError(
                f"{document.place('mem_f')}[{stage}]: expected {sum(given)}, what B and W free, got {taken}."
            )
    limits: list[int | None] = [None] * stages
    if limit is not None:
        limits = [check_integer("limit", limit, low=0)] * stages
    elif document.has("limit") or document.has("limit_zb2p"):
        name = "limit" if document.has("limit") else "limit_zb2p"
        limits = [*_per_stage(document, name, 1, stages, 1)]
    return pipeline_instance(
        micro_batches=batches,
        forward=forward,
        backward=backward,
        weight=weight,
        transfer=int(document.integer("cost_comm")),
        until_backward=until_backward,
        until_weight=until_weight,
        limits=[None] * stages if unlimited else limits,
        gpus=stages,
        layout="v",
        tick_seconds=1e-6 if (unit or _time_unit(document)).startswith("microseconds") else 1.0,
        name=str(document.text("name", "zero-bubble")),
    )


def _time_unit(document: Fields) -> str:
    """Return the unit of times that a file or a profile states, empty where it states none."""
    return str(document.mapping("units", {}).get("time", ""))


def _count(document: Fields, key: str) -> int:
    """Take a number of stages or micro-batches."""
    count: int = document.integer(key)
    if not 1 <= count <= MAX_COUNT:
        raise ValueError(f"{document.place(key)}: expected 1 to {MAX_COUNT}, got {count}.")
    return count


def _per_stage(document: Fields, key: str, sign: int, stages: int, chunks: int) -> list[int]:
    """Take one number for all stages, or a list with one per stage, of one sign; return one per chunk."""
    values = document.take(key, None, "an integer, or one per stage", lambda value: value is not None)
    entries = [values] * stages if is_integer(values) else values
    if not isinstance(entries, list) or len(entries) != stages or not all(map(is_integer, entries)):
        raise ValueError(f"{document.place(key)}: expected an integer, or {stages} of them, one per stage.")
    for stage, value in enumerate(entries):
        if sign * value < 0:
            raise ValueError(f"{document.place(key)}[{stage}]: expected {'at least' if sign > 0 else 'at most'} 0.")
    signed = [sign * value for value in entries]
    return signed if chunks == 1 else signed + signed[::-1]  # the second chunks stand on the GPUs in reverse order
