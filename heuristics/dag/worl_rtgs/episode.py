"""One placement by the network: every task, in rank order, goes to the GPU of highest value (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristics.dag.timeline import (
    Timeline,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    place,
    ready_times,
)
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, GpuStates, incoming_delays, write_features
from heuristics.dag.worl_rtgs.network import q_values
from instances.kernels import inlined_kernel, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.worl_rtgs.features import EpisodeData
    from heuristics.dag.worl_rtgs.network import Weights


class EpisodeRecord(NamedTuple):
    """What every step of an episode writes down for training; empty arrays record nothing."""

    rows: NDArray[np.float32]  # (n, most GPUs, 12), features; 0 for GPUs that do not fit or do not exist
    fits: NDArray[np.bool_]  # (n, most GPUs), GPUs to choose from
    action: NDArray[np.int64]  # (n,), chosen GPU
    reward: NDArray[np.float64]  # (n,)


NO_UNIFORMS = np.empty((0, 2))
NO_RECORD = EpisodeRecord(
    rows=np.empty((0, 0, NUM_FEATURES), dtype=np.float32),
    fits=np.empty((0, 0), dtype=np.bool_),
    action=np.empty(0, dtype=np.int64),
    reward=np.empty(0),
)


def play(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    desired: NDArray[np.float64],
    lam: float,
    noise: NDArray[np.float64],
    temperature: float,
) -> Timeline:
    """Place all tasks in rank order, each on the GPU with the largest value plus temperature times noise.

    A task that fits nowhere goes to the allowed GPU with the least overflow. Ties go to the lowest index.

    Parameters
    ----------
    desired, lam
        Desired loads h in ticks, shape (n,), and their weight lambda in [0, 1]; with weight 0 the loads may be empty.
    noise
        Standard Gumbel numbers, shape (n, m); (0, 0) for none. With them a GPU is drawn with probability proportional
        to exp(value / temperature).
    temperature
        In the unit of the values.
    """
    return play_episode(arrays, data, weights, desired, lam, noise, temperature, 0.0, NO_UNIFORMS, NO_RECORD)


def play_recording(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    desired: NDArray[np.float64],
    lam: float,
    epsilon: float,
    uniforms: NDArray[np.float64],
    record: EpisodeRecord,
) -> Timeline:
    """Place all tasks epsilon-greedily and record every step for training; other parameters as in `play`.

    The reward of a step is -(partial objective after - before) / LB - (lambda / n) |feature 1 of the chosen GPU|, and 1
    less where no GPU fitted. The partial objective is that of the tasks placed so far: their makespan, or the sum over
    jobs of weight times the last finish, 0 while no task of a job is placed. Where no GPU fits, the one with the least
    overflow is the only choice and counts as fitting, in the features too.

    Parameters
    ----------
    epsilon
        Probability of a GPU drawn uniformly among those that fit.
    uniforms
        In [0, 1), shape (n, 2): a step explores where the first is below epsilon, and the second determines the GPU.
    """
    return play_episode(arrays, data, weights, desired, lam, np.empty((0, 0)), 0.0, epsilon, uniforms, record)


@kernel
def play_episode(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    desired: NDArray[np.float64],
    lam: float,
    noise: NDArray[np.float64],
    temperature: float,
    epsilon: float,
    uniforms: NDArray[np.float64],
    record: EpisodeRecord,
) -> Timeline:
    """Implement `play` and `play_recording`; arrays are empty where there is no noise, exploration or record."""
    rows_out, fits_out, action_out, reward_out = record
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    slot_start, slot_finish, num_slots = timeline.slot_start, timeline.slot_finish, timeline.num_slots
    load, fits = np.zeros(m, dtype=np.int64), np.empty(m, dtype=np.bool_)
    ready, starts, incoming = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    gpus = GpuStates(load, fits, ready, starts, incoming)
    rows, values = np.zeros((m, NUM_FEATURES), dtype=np.float32), np.empty(m, dtype=np.float32)
    completion = np.zeros(len(arrays.weight) if data.weighted else 1, dtype=np.int64)
    for position in range(n):
        task = data.order[position]
        ready_times(arrays, timeline, task, ready)
        count = 0
        for k in range(m):
            fits[k] = arrays.allowed[task, k] and memory_left(arrays, timeline, task, k) >= 0
            count += fits[k]
        if count == 0:
            fits[least_overflow(arrays, timeline, task)] = True
        for k in range(m):
            if fits[k]:
                starts[k] = earliest_free_start(
                    slot_start[k], slot_finish[k], num_slots[k], ready[k], arrays.durations[task, k], True
                )
        incoming_delays(arrays, timeline, task, incoming)
        write_features(arrays, data, timeline, gpus, task, position, desired, lam, rows)
        if len(uniforms) and uniforms[position, 0] < epsilon:
            chosen = _nth_that_fits(fits, math.floor(uniforms[position, 1] * max(count, 1)))
        else:
            q_values(weights, rows, fits, values)
            chosen, best = -1, -np.inf
            for k in range(m):
                if fits[k]:
                    value = np.float64(values[k])
                    if len(noise):
                        value += temperature * noise[task, k]
                    if chosen < 0 or value > best:
                        chosen, best = k, value
        place(arrays, timeline, task, chosen, starts[chosen])
        load[chosen] += arrays.durations[task, chosen]
        if len(action_out):
            job = arrays.job_of_task[task] if data.weighted else 0
            later = max(0, timeline.finish[task] - completion[job])
            completion[job] += later
            cost = np.float64(later * arrays.weight[job]) if data.weighted else np.float64(later)
            reward = -cost / data.lower_bound - lam / n * abs(rows[chosen, 0])
            reward_out[position] = reward if count > 0 else reward - 1.0
            action_out[position] = chosen
            rows_out[position] = 0.0
            fits_out[position] = False
            for k in range(m):
                if fits[k]:
                    fits_out[position, k] = True
                    rows_out[position, k] = rows[k]
    return timeline


@inlined_kernel
def _nth_that_fits(fits: NDArray[np.bool_], position: int) -> int:
    """Return the GPU at a position among those that fit, the last one if there are fewer."""
    chosen = -1
    for k in range(len(fits)):
        if fits[k]:
            chosen = k
            if position == 0:
                break
            position -= 1
    return chosen
