"""Durations of named operators from traces of Chrome's format, such as those of PyTorch's profiler (Kineto)."""

from __future__ import annotations

import math
import re
from statistics import median
from typing import TYPE_CHECKING, Any

from instances.clusters.gpu_kinds import GPU_KINDS
from instances.json_document import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping


CATEGORIES = ("gpu_user_annotation", "kernel", "task")
"""Categories of events that last as long as a GPU works: ranges of `record_function`, kernels, and our own export."""


def trace_durations(text: str) -> dict[tuple[str, str], float]:
    """Return the median duration in seconds of every event that ran on a GPU, by its name and the kind of GPU.

    The kind is that of the catalogue whose name the trace's description of the device contains (``deviceProperties``),
    or the one in parentheses behind the name of the event's thread, as our own export writes it. Events on the host are
    left out, because they do not last as long as the GPU works.

    Raises a `ValueError` if the text is no such trace, or no event ran on a GPU whose kind is known.
    """
    document = parse_json(text)
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ValueError("traceEvents: expected a list of events, got something else.")
    devices = _devices(document if isinstance(document, dict) else {})
    threads: dict[tuple[str, str], str] = {}
    for event in events:
        name = event.get("args", {}).get("name") if isinstance(event.get("args"), dict) else None
        if event.get("ph") == "M" and event.get("name") == "thread_name" and isinstance(name, str):
            found = re.search(r"\(([^()]+)\)$", name)
            if found is not None:
                threads[str(event.get("pid")), str(event.get("tid"))] = found[1]
    found_times: dict[tuple[str, str], list[float]] = {}
    for index, event in enumerate(events):
        if event.get("ph") != "X" or event.get("cat") not in CATEGORIES:
            continue
        arguments = event.get("args") if isinstance(event.get("args"), dict) else {}
        device = str(arguments.get("device", event.get("pid")))
        kind = devices.get(device) or threads.get((str(event.get("pid")), str(event.get("tid"))))
        if kind is None:
            continue
        micros, name = event.get("dur"), event.get("name")
        if isinstance(micros, bool) or not isinstance(micros, int | float) or not 0 <= micros < math.inf:
            raise ValueError(f"traceEvents[{index}].dur: expected microseconds of at least 0, got {micros!r}.")
        if not isinstance(name, str):
            raise ValueError(f"traceEvents[{index}].name: expected a text, got {name!r}.")
        found_times.setdefault((name, kind), []).append(micros * 1e-6)
    if not found_times:
        known = ", ".join(CATEGORIES)
        raise ValueError(f"traceEvents: expected events ({known}) on a GPU whose kind is known, got none.")
    return {pair: median(times) for pair, times in found_times.items()}


def _devices(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the kind of every device that the trace describes and the catalogue has, by its number."""
    listed = document.get("deviceProperties")
    found = {}
    for place, device in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(device, dict):
            kind = catalogue_kind(str(device.get("name", "")))
            if kind is not None:
                found[str(device.get("id", place))] = kind
    return found


def catalogue_kind(device: str) -> str | None:
    """Return the kind of the catalogue that a driver's name means, such as ``NVIDIA A100-SXM4-40GB``; None if none."""
    words = set(re.split(r"[\s-]+", device.upper()))
    fitting = [name for name in GPU_KINDS if set(name.upper().split("-")) <= words]
    return max(fitting, key=len, default=None)
