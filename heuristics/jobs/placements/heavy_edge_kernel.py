"""Heavy-Edge as one kernel: the choice of servers, then the best grouping on them (Numba)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.placements.groupings import contract, fill_in_order, grow
from heuristics.jobs.placements.hall import TOO_MANY, count_free_of_kind, demand_of, list_unions, supply_of
from heuristics.jobs.placements.kernel_placer import (
    NONE,
    UNIONS_EXCEEDED,
    compare_fractions,
    slowest_time,
    traffic,
    write_entries,
)
from instances.kernels import inner_kernel, kernel, overwrite, sort_by

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.placements.arrays import JobsArrays
    from heuristics.jobs.placements.kernel_placer import PlacementWorkspace


@inner_kernel
def choose_servers(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    usable_kinds: int,
    unions: NDArray[np.int64],
    slack: NDArray[np.int64],
    free_of_kind: NDArray[np.int64],
    order: NDArray[np.int64],
    bucket: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> int:
    """Write the chosen servers and return their number, 0 if the job fits nowhere.

    Parameters
    ----------
    free, server_kind, free_of_kind
        Free GPUs of each server, its kind, and free GPUs of each kind.
    usable_kinds
        Kinds that some stage may use, a mask.
    unions, slack
        Unions of sets of allowed kinds; the slack is minus the demand on entry, that of the chosen servers at the end.
    order, bucket
        Scratch.
    """
    for index in range(len(unions)):
        if supply_of(unions[index], free_of_kind) + slack[index] < 0:
            return 0
    usable = _sort(free, server_kind, usable_kinds, order, bucket)
    length = 0
    while _lowest(slack) < 0:
        _add(unions, slack, server_kind[order[length]], free[order[length]])
        chosen[length] = order[length]
        length += 1
    last = chosen[length - 1]
    _add(unions, slack, server_kind[last], -free[last])
    best = last
    for place in range(usable - 1, length - 2, -1):  # fewest free GPUs first, and the highest index among equals
        server = order[place]
        if best != last and free[server] > free[best]:
            break
        if (free[server] < free[best] or server < best) and _suffices(unions, slack, server_kind[server], free[server]):
            best = server
    chosen[length - 1] = best
    _add(unions, slack, server_kind[best], free[best])
    return length


@inner_kernel
def _sort(
    free: NDArray[np.int64],
    server_kind: NDArray[np.int64],
    usable_kinds: int,
    order: NDArray[np.int64],
    bucket: NDArray[np.int64],
) -> int:
    """Write the usable servers by free GPUs, descending, then index, and return their number."""
    size, most = 0, 0
    for server in range(len(free)):
        most = max(most, free[server])
    if most >= len(bucket):
        negative, by_free, scratch = np.empty_like(free), np.empty_like(free), np.empty_like(free)
        for server in range(len(free)):
            negative[server] = -free[server]
        sort_by(negative, len(free), by_free, scratch)
        for server in by_free:
            if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
                order[size] = server
                size += 1
        return size
    bucket[:] = 0
    for server in range(len(free)):
        if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
            bucket[free[server]] += 1
    for gpus in range(most, 0, -1):
        bucket[gpus], size = size, size + bucket[gpus]
    for server in range(len(free)):
        if free[server] > 0 and usable_kinds >> server_kind[server] & 1:
            order[bucket[free[server]]] = server
            bucket[free[server]] += 1
    return size


@inner_kernel
def _lowest(slack: NDArray[np.int64]) -> int:
    """Return the smallest slack."""
    lowest: int = slack[0]
    for index in range(1, len(slack)):
        lowest = min(lowest, slack[index])
    return lowest


@inner_kernel
def _add(unions: NDArray[np.int64], slack: NDArray[np.int64], kind: int, gpus: int) -> None:
    """Raise the slacks for GPUs of a kind."""
    for index in range(len(unions)):
        if unions[index] >> kind & 1:
            slack[index] += gpus


@inner_kernel
def _suffices(unions: NDArray[np.int64], slack: NDArray[np.int64], kind: int, gpus: int) -> bool:
    """Say whether no slack is negative after GPUs of a kind are added."""
    for index in range(len(unions)):  # noqa: SIM110 (Numba compiles no generators)
        if slack[index] + (gpus if unions[index] >> kind & 1 else 0) < 0:
            return False
    return True


GROW, CONTRACT, STAGE_ORDER = 1, 2, 4
"""Groupings, to be added up."""


@kernel
def heavy_edge_kernel(
    arrays: JobsArrays, ws: PlacementWorkspace, job: int, free: NDArray[np.int64], groupings: int, only_last: bool
) -> tuple[int, int, int, int]:
    """Place a job whose bytes have a denominator; steps are numbered as in docs/methods/a_srpt.md, section 3.2.

    Parameters
    ----------
    arrays, ws
        The instance and scratch; the entries of the placement are left in ``ws.entry_*``.
    job, free
        What is placed, and free GPUs of each server, shape (servers,).
    groupings
        Which groupings compete.
    only_last
        Whether only the last threshold counts, with all kinds allowed.

    Returns
    -------
    tuple[int, int, int, int]
        Number of entries (or `NONE`, or `UNIONS_EXCEEDED`), comp(x), and numerator and denominator of comm(x).

    Notes
    -----
    Two shortcuts that change nothing. On a single server there is but one placement. A job of one stage needs all
    chosen servers (without any one of them the others are too few), so that all groupings have the same alpha and
    number of servers, and the first one, which fills server after server, wins.
    """
    base, end = arrays.stage_offsets[job], arrays.stage_offsets[job + 1]
    num_stages, scale, slots = end - base, arrays.denominator[job], arrays.slots[job]
    replicas, time_of = arrays.replicas[base:end], arrays.time_of[base:end]
    ring_bytes, cut_bytes = arrays.ring_bytes[base:end], arrays.cut_bytes[base:end]
    ring_weight, cut_weight = arrays.ring_weight[base:end], arrays.cut_weight[base:end]
    masks, left = ws.masks[:num_stages], ws.left[:num_stages]
    best_size, best_used, best_comp, best_numerator, best_denominator = 0, 0, 0, 0, 1
    count_free_of_kind(free, arrays.server_kind, ws.free_of_kind)
    ws.first_vertex[0] = 0
    for s in range(num_stages):
        ws.first_vertex[s + 1] = ws.first_vertex[s] + replicas[s]
    first, last = arrays.threshold_offsets[job], arrays.threshold_offsets[job + 1]
    for place in range(last - 1 if only_last else first, last):  # step 1
        threshold = arrays.thresholds[place]
        if best_size > 0 and slots * threshold - best_comp >= -(-best_numerator // best_denominator):  # step 2
            break
        usable, is_hopeless = 0, False  # step 3
        for s in range(num_stages):
            masks[s], left[s] = 0, replicas[s]
            for kind in range(time_of.shape[1]):
                if 0 < time_of[s, kind] <= threshold:
                    masks[s] |= 1 << kind
            usable |= masks[s]
            is_hopeless |= masks[s] == 0
        if is_hopeless:
            continue
        num_unions = list_unions(masks, ws.unions)
        if num_unions == TOO_MANY:
            return UNIONS_EXCEEDED, 0, 0, 1
        unions, slack = ws.unions[:num_unions], ws.slack[:num_unions]
        for index in range(num_unions):
            slack[index] = -demand_of(unions[index], masks, left)
        size = choose_servers(  # step 4
            free, arrays.server_kind, usable, unions, slack, ws.free_of_kind, ws.order, ws.bucket,
            ws.chosen,
        )  # fmt: skip
        if size == 0:
            continue
        overwrite(ws.first_slack, slack)
        chosen_kind, free_gpus = ws.order[:size], ws.free_gpus[:size]  # the order has served its turn
        for c in range(size):
            chosen_kind[c] = arrays.server_kind[ws.chosen[c]]
        competing = groupings
        if size == 1 or (num_stages == 1 and groupings != CONTRACT):
            competing = STAGE_ORDER
        for grouping in (GROW, CONTRACT, STAGE_ORDER):  # step 5
            if not competing & grouping:
                continue
            for c in range(size):
                free_gpus[c] = free[ws.chosen[c]]
            for s in range(num_stages):
                left[s] = replicas[s]
                ws.counts[s, :size] = 0
            overwrite(slack, ws.first_slack[:num_unions])
            ws.where[: ws.first_vertex[num_stages]] = -1
            if grouping == GROW:
                grow(ws, chosen_kind, free_gpus, masks, left, unions, slack, ring_weight, cut_weight)
            elif grouping == CONTRACT:
                contract(ws, chosen_kind, free_gpus, masks, left, unions, slack, ring_weight, cut_weight)
            else:
                fill_in_order(chosen_kind, free_gpus, ws.counts, masks, left, unions, slack)
            used = 0
            for c in range(size):
                used += 1 if free_gpus[c] < free[ws.chosen[c]] else 0
            comp = slots * slowest_time(ws.counts, ws.chosen, size, time_of, arrays.server_kind)
            numerator, denominator = traffic(
                ws.counts, ws.chosen, size, replicas, ring_bytes, cut_bytes, arrays.nic_numerator,
                arrays.nic_denominator, arrays.uplinks,
            )  # fmt: skip
            denominator *= scale
            sign = -1
            if best_size > 0:  # step 6
                sign = _compare(comp, numerator, denominator, best_comp, best_numerator, best_denominator)
            if sign < 0 or (sign == 0 and used < best_used):
                best_size, best_used = size, used
                best_comp, best_numerator, best_denominator = comp, numerator, denominator
                overwrite(ws.best_chosen, ws.chosen[:size])
                for s in range(num_stages):
                    overwrite(ws.best_counts[s], ws.counts[s, :size])
    if best_size == 0:
        return NONE, 0, 0, 1
    num_entries = write_entries(
        ws.best_chosen, ws.best_counts, best_size, num_stages, ws.entry_stage, ws.entry_server, ws.entry_count
    )
    return num_entries, best_comp, best_numerator, best_denominator


@inner_kernel
def _compare(comp: int, a: int, b: int, other_comp: int, c: int, d: int) -> int:
    """Return the sign of comp + a / b - (other_comp + c / d)."""
    whole, other = comp + a // b, other_comp + c // d
    if whole != other:
        return -1 if whole < other else 1
    return compare_fractions(a % b, b, c % d, d)
