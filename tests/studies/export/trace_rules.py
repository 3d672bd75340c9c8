"""What Chrome's trace event format asks of a file, checked without the code that writes one."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any


def nanoseconds(microseconds: float) -> int:
    """Return a time of the file as Perfetto keeps it: whole nanoseconds, which it must already be."""
    exact = microseconds * 1000
    assert abs(exact - round(exact)) < 1e-3, microseconds
    return round(exact)


def checked_trace(text: str) -> dict[str, Any]:
    """Return a trace that obeys the format, and whose tracks hold slices that follow each other."""
    document: dict[str, Any] = json.loads(text)
    assert set(document) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    events = document["traceEvents"]
    assert {event["ph"] for event in events} <= set("MXCsf")
    names = {
        (event["pid"], event.get("tid")): event["args"]["name"] for event in events if event["name"].endswith("_name")
    }
    slices: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    flows: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    last = 0
    for event in events:
        if event["ph"] == "M":
            assert last == 0, "names come before what they name"
            continue
        time = nanoseconds(event["ts"])
        assert 0 <= last <= time, "events are in order of time"
        last = time
        assert (event["pid"], None) in names
        if event["ph"] == "C":
            assert all(isinstance(value, int) and value >= 0 for value in event["args"].values())
            continue
        track = (event["pid"], event["tid"])
        assert track in names
        if event["ph"] == "X":
            slices[track].append((time, time + nanoseconds(event["dur"])))
            continue
        flows[event["id"]][event["ph"]] = event
    for begin_and_end in slices.values():
        lasting = sorted(item for item in begin_and_end if item[1] > item[0])
        assert all(before[1] <= after[0] for before, after in pairwise(lasting)), "slices overlap"
    for ends in flows.values():
        assert set(ends) == {"s", "f"}
        assert ends["f"]["bp"] == "e"
        assert ends["s"]["ts"] <= ends["f"]["ts"]
        for end in ends.values():
            assert any(begin <= nanoseconds(end["ts"]) < finish for begin, finish in slices[end["pid"], end["tid"]]), (
                "an arrow begins and ends in a slice"
            )
    return document
