"""A schedule in Chrome's trace event format, which Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from studies.export.activity import activity

if TYPE_CHECKING:
    from instances.readers.optgap_json import Instance, Schedule
    from studies.export.activity import Activity


NANOSECONDS = 10**9


def chrome_trace(instance: Instance, schedule: Schedule) -> str:
    """Return a schedule that verifies as a trace.

    Servers are processes, GPUs and links are threads, tasks and transfers are complete events (``X``) with their ticks
    as arguments, arrows (``s``, ``f``) lead from a task through its transfer to the task that waits for it, and memory
    is a counter (``C``) per GPU. Times are in microseconds, rounded to whole nanoseconds, so that events that follow
    each other neither overlap nor leave a gap. A tick shorter than a nanosecond is drawn as one; ``otherData`` says so.

    References
    ----------
    Trace Event Format (Duca and Sinclair, Google): the JSON object format.
    """
    shown = activity(instance, schedule)
    per_tick = max(shown.tick_seconds * NANOSECONDS, 1.0)
    processes = {name: number for number, name in enumerate(dict.fromkeys(track.server for track in shown.tracks), 1)}
    events = _names(shown, processes)
    starts: dict[int, int] = {}
    for number, item in enumerate(shown.slices):
        begin, end = round(item.start * per_tick), round((item.start + item.ticks) * per_tick)
        track = shown.tracks[item.track]
        detail: dict[str, Any] = {"start_ticks": item.start, "ticks": item.ticks}
        detail |= {"job": shown.group_names[item.group]} if item.size is None else {"bytes": item.size}
        starts[number] = begin
        events.append(
            {
                "name": item.name,
                "cat": "task" if item.size is None else "transfer",
                "ph": "X",
                "ts": begin / 1000,
                "dur": (end - begin) / 1000,
                "pid": processes[track.server],
                "tid": item.track,
                "args": detail,
            }
        )
    events += _arrows(instance, shown, processes, per_tick)
    for use in shown.memory:
        track = shown.tracks[use.track]
        for tick, size in (*use.steps, (shown.end, use.steps[-1][1])):
            where = {"pid": processes[track.server], "ts": round(tick * per_tick) / 1000, "ph": "C"}
            events.append({"name": f"memory of {track.name}", **where, "args": {"bytes": size}})
    meta = [event for event in events if event["ph"] == "M"]
    timed = sorted((event for event in events if event["ph"] != "M"), key=lambda event: event["ts"])
    scale = {} if per_tick > 1 or shown.tick_seconds * NANOSECONDS == 1 else {"time": "one tick is drawn as 1 ns"}
    other = {"instance": shown.name, "instance_sha256": instance.sha256, "tick_seconds": shown.tick_seconds, **scale}
    lines = ",\n".join(json.dumps(event) for event in (*meta, *timed))
    return f'{{"traceEvents": [\n{lines}\n],\n"displayTimeUnit": "ms", "otherData": {json.dumps(other)}}}\n'


def _names(shown: Activity, processes: dict[str, int]) -> list[dict[str, Any]]:
    """Return the events that name processes and threads, and give their order."""
    events: list[dict[str, Any]] = []
    for server, pid in processes.items():
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": server}})
        events.append({"name": "process_sort_index", "ph": "M", "pid": pid, "args": {"sort_index": pid}})
    for tid, track in enumerate(shown.tracks):
        where = {"ph": "M", "pid": processes[track.server], "tid": tid}
        label = f"link {track.name}" if track.is_link else f"{track.name} ({track.kind})"
        events.append({"name": "thread_name", **where, "args": {"name": label}})
        events.append({"name": "thread_sort_index", **where, "args": {"sort_index": tid}})
    return events


def _arrows(instance: Instance, shown: Activity, processes: dict[str, int], per_tick: float) -> list[dict[str, Any]]:
    """Return the flows from each task through its transfer to the task that waits for it."""
    events: list[dict[str, Any]] = []
    for item in shown.slices:
        if item.size is None:
            continue
        tail, head = instance.edges[item.item].tolist()  # type: ignore[union-attr]  # only DAGs have transfers
        ends = [shown.slices[tail], item, shown.slices[head]]
        for step, (source, target) in enumerate(pairwise(ends)):
            if source.ticks == 0 or target.ticks == 0:
                continue  # an arrow needs an event that lasts to begin and to end in
            for phase, end in (("s", source), ("f", target)):
                where = {"pid": processes[shown.tracks[end.track].server], "tid": end.track}
                time = round(end.start * per_tick) / 1000
                more = {"bp": "e"} if phase == "f" else {}
                events.append(
                    {
                        "name": "data",
                        "cat": "data",
                        "ph": phase,
                        "id": 2 * item.item + step,
                        "ts": time,
                        **where,
                        **more,
                    }
                )
    return events
