"""Reads a placement out of a matrix of counts with a column for every server (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

from heuristics.jobs.exact_alpha import slowest_time, traffic
from heuristics.jobs.placements.write_entries import write_entries

if TYPE_CHECKING:
    from heuristics.jobs.jobs_arrays import JobsArrays
    from heuristics.jobs.placements.workspace import Workspace


@njit(cache=True)
def gather(arrays: JobsArrays, ws: Workspace, job: int, num_servers: int) -> tuple[int, int, int, int]:
    """Return the number of entries, comp(x), and numerator and denominator of comm(x) of the job in ``ws.counts``.

    The entries are left in ``ws.entry_*``; the counts are moved together. Without a denominator of the job's bytes the
    times are not computed.
    """
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    size = 0
    for server in range(num_servers):
        is_used = False
        for s in range(end - base):
            is_used |= ws.counts[s, server] > 0
        if not is_used:
            continue
        for s in range(end - base):
            ws.counts[s, size] = ws.counts[s, server]
        ws.chosen[size] = server
        size += 1
    num_entries = write_entries(ws.chosen, ws.counts, size, end - base, ws.entry_stage, ws.entry_server, ws.entry_count)
    if arrays.denominator[job] == 0:
        return num_entries, 0, 0, 1
    slowest = slowest_time(ws.counts, ws.chosen, size, arrays.time_of[base:end], arrays.server_kind)
    numerator, denominator = traffic(
        ws.counts,
        ws.chosen,
        size,
        arrays.replicas[base:end],
        arrays.ring_bytes[base:end],
        arrays.cut_bytes[base:end],
        arrays.nic_numerator,
        arrays.nic_denominator,
        arrays.uplinks,
    )
    return num_entries, arrays.slots[job] * slowest, numerator, denominator * arrays.denominator[job]
