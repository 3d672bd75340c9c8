"""Racks and interference of a jobs instance, taken from a JSON document that may have neither."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from instances.jobs.interference import FULL_SPEED, NOT_TOGETHER, Interference
from instances.jobs.racks import NO_RACK, Racks
from instances.json_fields import JsonObject, brief, check_entries, is_integer

if TYPE_CHECKING:
    from collections.abc import Sequence


def take_racks(document: JsonObject, servers: Sequence[JsonObject]) -> Racks | None:
    """Take ``racks`` and ``servers[].rack``; None where there are no racks.

    Raises
    ------
    ValueError
        If a value is missing or wrong; the message gives its place.
    """
    listed = document.list("racks", None)
    if listed is None:
        return None
    items = [JsonObject(value, f"racks[{index}]") for index, value in enumerate(listed)]
    names, uplinks = [item.text("name") for item in items], [bandwidth(item, "uplink_bytes_per_tick") for item in items]
    for item in items:
        item.close()
    places = [server.optional_integer("rack", None) for server in servers]
    for server, rack in enumerate(places):
        if rack is not None and rack < 0:
            raise ValueError(f"servers[{server}].rack: expected a rack in 0..{len(items) - 1} or null, got {rack}.")
    return Racks.of([NO_RACK if rack is None else rack for rack in places], uplinks, names)


def take_interference(document: JsonObject, jobs: Sequence[JsonObject]) -> Interference | None:
    """Take ``interference`` and what belongs to it of every job; None where there is none.

    Raises
    ------
    ValueError
        If a value is missing or wrong; the message gives its place.
    """
    value = document.mapping("interference", None)
    if value is None:
        return None
    item = JsonObject(value, "interference")
    resources, classes = item.list("resources"), item.list("classes", ["all"])
    for name, texts in (("resources", resources), ("classes", classes)):
        check_entries(texts, lambda text: isinstance(text, str), "text", f"interference.{name}")
    share, pair = item.integer("share", 1), item.list("pair", None)
    item.close()
    return Interference(
        resources=tuple(resources),
        use=_rows([_row(job, "use", len(resources)) for job in jobs], len(resources)),
        sens=_rows([_row(job, "sens", len(resources)) for job in jobs], len(resources)),
        share=share,
        classes=tuple(classes),
        job_class=np.array([job.integer("class", 0) for job in jobs], dtype=object if jobs else np.int64),
        pair=None if pair is None else _speeds(pair, len(classes)),  # type: ignore[arg-type]  # None: no pair
    )


def bandwidth(item: JsonObject, key: str) -> Fraction:
    """Take a bandwidth in bytes per tick, ``[numerator, denominator]``.

    Raises
    ------
    ValueError
        If it is something else.
    """
    place, value = item.place(key), item.list(key)
    if len(value) != 2:
        raise ValueError(f"{place}: expected [numerator, denominator], got {brief(value)}.")
    check_entries(value, is_integer, "an integer", place)
    if min(value) < 1:
        raise ValueError(f"{place}: expected integers of at least 1, got {brief(value)}.")
    return Fraction(*value)


def _row(job: JsonObject, key: str, length: int) -> list[int]:
    """Take one integer per resource."""
    place, values = job.place(key), job.list(key)
    if len(values) != length:
        raise ValueError(f"{place}: expected {length} entries, one per resource, got {len(values)}.")
    check_entries(values, is_integer, "an integer", place)
    return list(values)


def _rows(rows: list[list[int]], width: int) -> np.ndarray:
    """Return rows as an array of the right width, integers of any size among them."""
    return np.array(rows, dtype=object) if rows and width else np.zeros((len(rows), width), dtype=np.int64)


def _speeds(rows: list[object], size: int) -> np.ndarray:
    """Return the table of pairs; null stands for not allowed."""
    table = []
    for index, row in enumerate(rows):
        place = f"interference.pair[{index}]"
        if not isinstance(row, list) or len(row) != size:
            raise ValueError(f"{place}: expected {size} entries, one per class, got {brief(row)}.")
        check_entries(row, _is_speed, "1 to 1000 or null", place)
        table.append([NOT_TOGETHER if speed is None else speed for speed in row])
    if len(table) != size:
        raise ValueError(f"interference.pair: expected {size} rows, one per class, got {len(table)}.")
    return np.array(table, dtype=object)


def _is_speed(value: object) -> bool:
    """Say whether a JSON value is a speed of a pair, or null."""
    return value is None or (is_integer(value) and 1 <= value <= FULL_SPEED)  # type: ignore[operator]  # an integer
