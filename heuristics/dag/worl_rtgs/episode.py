"""One placement by the network: every task in rank order to the GPU of highest value (Numba)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from heuristics.dag.timeline import (
    Timeline,
    earliest_free_start,
    least_overflow,
    memory_left,
    new_timeline,
    place,
    ready_times,
)
from heuristics.dag.worl_rtgs.features import NUM_FEATURES, incoming_delays, write_features
from heuristics.dag.worl_rtgs.network import q_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.worl_rtgs.features import EpisodeData
    from heuristics.dag.worl_rtgs.network import Weights


@njit(cache=True)
def play(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    wish: NDArray[np.float64],
    lam: float,
    noise: NDArray[np.float64],
    temperature: float,
) -> Timeline:
    """Place all tasks in rank order, each on the GPU with the largest value plus temperature times noise.

    A task that fits nowhere goes to the allowed GPU with the least overflow. Ties go to the lowest index.

    Parameters
    ----------
    arrays, data, weights
        The instance and the network.
    wish, lam
        Wished loads h in ticks, shape (n,), and their weight lambda in [0, 1]; the wish may be empty where that is 0.
    noise
        Standard Gumbel numbers, shape (n, m); (0, 0) for none. With them a GPU is drawn with probability proportional
        to exp(value / temperature).
    temperature
        In the unit of the values.
    """
    no_uniforms, no_rewards = np.empty((0, 2)), np.empty(0)
    no_rows, no_fits = np.empty((0, 0, NUM_FEATURES), dtype=np.float32), np.empty((0, 0), dtype=np.bool_)
    no_actions = np.empty(0, dtype=np.int64)
    return _episode(
        arrays,
        data,
        weights,
        wish,
        lam,
        noise,
        temperature,
        0.0,
        no_uniforms,
        no_rows,
        no_fits,
        no_actions,
        no_rewards,
    )


@njit(cache=True)
def play_recording(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    wish: NDArray[np.float64],
    lam: float,
    epsilon: float,
    uniforms: NDArray[np.float64],
    rows_out: NDArray[np.float32],
    fits_out: NDArray[np.bool_],
    action_out: NDArray[np.int64],
    reward_out: NDArray[np.float64],
) -> Timeline:
    """Place all tasks epsilon-greedily and write down every step, for training.

    The reward of a step is -(partial objective after - before) / LB - (lambda / n) |feature 1 of the chosen GPU|, and 1
    less where no GPU fitted. The partial objective is that of the tasks placed so far: their makespan, or the sum over
    jobs of weight times the last finish, 0 while nothing of a job is placed. Where no GPU fits, the one with the least
    overflow is the only choice and counts as the one that fits, in the features too.

    Parameters
    ----------
    arrays, data, weights, wish, lam
        As in `play`.
    epsilon
        Probability of a GPU drawn uniformly among those that fit.
    uniforms
        In [0, 1), shape (n, 2): a step explores where the first is below epsilon, and the second says which GPU.
    rows_out
        Features at each step, shape (n, most GPUs, 12), float32; 0 for GPUs that do not fit or do not exist.
    fits_out
        GPUs to choose from at each step, shape (n, most GPUs).
    action_out, reward_out
        Chosen GPU and reward of each step, shape (n,).
    """
    no_noise = np.empty((0, 0))
    return _episode(
        arrays,
        data,
        weights,
        wish,
        lam,
        no_noise,
        0.0,
        epsilon,
        uniforms,
        rows_out,
        fits_out,
        action_out,
        reward_out,
    )


@njit(cache=True)
def _episode(
    arrays: DagArrays,
    data: EpisodeData,
    weights: Weights,
    wish: NDArray[np.float64],
    lam: float,
    noise: NDArray[np.float64],
    temperature: float,
    epsilon: float,
    uniforms: NDArray[np.float64],
    rows_out: NDArray[np.float32],
    fits_out: NDArray[np.bool_],
    action_out: NDArray[np.int64],
    reward_out: NDArray[np.float64],
) -> Timeline:
    """Do what `play` and `play_recording` say; empty arrays where there is no noise, exploration or record."""
    n, m = arrays.durations.shape
    timeline = new_timeline(arrays)
    slot_start, slot_finish, num_slots = timeline.slot_start, timeline.slot_finish, timeline.num_slots
    load, fits = np.zeros(m, dtype=np.int64), np.empty(m, dtype=np.bool_)
    ready, starts, incoming = np.empty(m, dtype=np.int64), np.zeros(m, dtype=np.int64), np.empty(m, dtype=np.int64)
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
        write_features(arrays, data, timeline, load, task, position, wish, lam, fits, ready, starts, incoming, rows)
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


@njit(cache=True, forceinline=True)
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
