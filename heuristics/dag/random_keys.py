"""Random keys: points of a unit cube, how they become schedules, and their evaluation in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.arrays import DagArrays, dag_arrays
from heuristics.dag.buffer_keys import BufferKeys
from heuristics.dag.buffer_lists import buffer_list
from heuristics.dag.greedy_generator import GreedyGenerator, place_by_desired_load
from heuristics.dag.list_scheduling import (
    DIRECT,
    EARLIEST,
    NO_BIAS,
    NO_PINS,
    NOT_PLACED,
    RANKED,
    evaluate_keys,
    place_by_list,
    schedule_of,
    within_memory,
)
from heuristics.dag.load_vector import running_loads
from heuristics.dag.network_interfaces import Nics, new_nics
from heuristics.dag.priorities import optimistic_costs, placement_order, upward_ranks, weighted_priorities
from heuristics.dag.timeline import Placement
from heuristics.search.clock import Stopwatch
from instances.dag.contention import Contention
from instances.dag.objective import Objective, is_for_smiths_rule, needs_buffers, objective_value
from instances.fields import one_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.search.run import SearchRun
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


_NO_DRAWS = np.random.default_rng(0)  # the greedy generator takes random numbers like any other, but draws none


class LoadKeys:
    """The decoder "load" of `RandomKeys`; ours, after RTGS, whose whale positions encode desired GPU loads.

    Key i times HEFT's makespan is the desired load of the GPU of task i right after i was placed. Tasks are placed in
    order of their upward rank, each on the GPU whose load comes nearest to the desired one (`place_by_desired_load`).
    In every schedule that is at most as long as HEFT's all loads are at most 1 on this scale.

    HEFT's own running loads stand for HEFT's schedule by definition (`RandomKeys`): where two GPUs come to the same
    load, no desired load distinguishes them, and the generator may choose the other one.
    """

    def __init__(self, instance: DagInstance, objective: Objective) -> None:
        arrays = dag_arrays(instance)
        self._instance = instance
        self._generator = GreedyGenerator(instance, objective, upward_ranks(arrays))
        heft = place_by_list(arrays)
        finish = heft.start + arrays.durations[np.arange(instance.num_tasks), heft.gpu]
        self._scale = max(1, int(finish.max(initial=0)))
        loads = running_loads(instance.durations, heft.gpu, self._generator.order)
        self.heft_keys: NDArray[np.float64] = loads / self._scale
        """HEFT's running loads over its makespan, shape (n,)."""

    def evaluate_many(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of points, (overflow bytes, objective), shape (count, 2)."""
        return self._generator.generate(points * self._scale, _NO_DRAWS, 0.0).fitness

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        generator = self._generator
        timeline = place_by_desired_load(
            dag_arrays(self._instance), generator.order, keys * self._scale, True, True, np.empty(len(keys))
        )
        return schedule_of(self._instance, Placement(timeline.gpu, timeline.start, int(timeline.overflow[0])))


_RULES = {"ranked": RANKED, "eft": EARLIEST, "direct": DIRECT, "look-ahead": EARLIEST}

LOOK_AHEAD_WEIGHTS = (0.0, 0.5, 1.0)
"""Weights of the optimistic cost table that the last key of the decoder "look-ahead" chooses from."""

DECODINGS = (*_RULES, "load")


def weight_levels(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions in `LOOK_AHEAD_WEIGHTS` that the last keys of points choose."""
    count = len(LOOK_AHEAD_WEIGHTS)
    return np.minimum((count * points[..., -1]).astype(np.int64), count - 1)


@dataclass(frozen=True, slots=True, eq=False)
class RandomKeys:
    """The decoder of one instance; our own design.

    The first n keys are priorities: among the ready tasks the highest key goes first, ties by index, so that every
    point gives a schedule that keeps the precedences. The other n keys choose GPUs (absent with decoding "eft"; one
    key with "look-ahead"). Where HEFT keeps to the memory limits only after its repair (`within_memory`), its point
    stands for the repaired schedule by definition, because no other point is repaired.

    With buffers, groups or the stage span `BufferKeys` decodes.

    Parameters
    ----------
    decoding
        "ranked": position min(c - 1, floor(c u^2)) among the c GPUs that fit, sorted by earliest finish; "eft": always
        the first of them; "direct": position min(c - 1, floor(c u)) among the GPUs whose memory holds the task alone,
        but earliest finish where the chosen GPU is full; "look-ahead": where the finish plus a weight times the
        optimistic cost is smallest, as in `peft`, and one key u of the point takes the weight at position
        min(2, floor(3 u)) of `LOOK_AHEAD_WEIGHTS`; "load": n keys that are desired loads, no priorities, see
        `LoadKeys`.
    contention
        What transfers share; as in `heft`. Under contention two threads must not share a decoder, because every point
        books the network interfaces of the decoder anew.

    Raises
    ------
    ValueError
        If the decoding is unknown, "load" under contention, or "load" or "look-ahead" with buffers, groups or the
        stage span.
    """

    instance: DagInstance
    objective: Objective
    decoding: str = "ranked"
    contention: Contention = Contention.NONE
    _nics: Nics | None = field(init=False, repr=False)
    _loads: LoadKeys | None = field(init=False, repr=False)
    _buffers: BufferKeys | None = field(init=False, repr=False)
    _heft: DagSchedule | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the decoding."""
        one_of(self.decoding, DECODINGS, "decoding")
        has_buffers = needs_buffers(self.instance, self.objective)
        if has_buffers and self.decoding == "look-ahead":
            raise ValueError("decoding: expected one of ranked, eft, direct with buffers or groups, got 'look-ahead'.")
        buffers = BufferKeys(self.instance, self.objective, self.decoding) if has_buffers else None
        object.__setattr__(self, "_buffers", buffers)
        nics = new_nics(self.instance, self.contention)
        by_load = self.decoding == "load"
        if by_load and nics is not None:
            raise ValueError(f"decoding: expected one of {', '.join(_RULES)} under contention, got 'load'.")
        object.__setattr__(self, "_nics", nics)
        object.__setattr__(self, "_loads", LoadKeys(self.instance, self.objective) if by_load else None)
        object.__setattr__(self, "_heft", None if has_buffers else self._heft_by_definition())

    def _heft_by_definition(self) -> DagSchedule | None:
        """Return HEFT's schedule where its point would decode to another one; None elsewhere, or where it has none."""
        rank = None if self._loads is not None else self.rank
        arrays, nics = self.arrays, self._nics
        if self._loads is None and place_by_list(arrays, rank, nics=nics).overflow == 0:
            return None
        return within_memory(self.instance, lambda arrays: place_by_list(arrays, rank, nics=nics), nics)

    @property
    def repairs_heft(self) -> bool:
        """Whether the point of `heft_keys`, and no other one of the same priorities, is HEFT's schedule."""
        return self._heft is not None

    @property
    def num_keys(self) -> int:
        """Number of keys of a point."""
        if self.decoding == "look-ahead":
            return self.instance.num_tasks + 1
        return self.instance.num_tasks * (1 if self.decoding in ("eft", "load") else 2)

    def evaluate(self, keys: NDArray[np.float64]) -> tuple[int, int]:
        """Return the fitness of a point: (overflow bytes, objective)."""
        overflow, objective = self.evaluate_many(keys[None, :])[0].tolist()
        return overflow, objective

    def evaluate_many(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness (overflow bytes, objective), shape (count, 2), of points, shape (count, `num_keys`)."""
        return self.evaluator(np.ascontiguousarray(points, dtype=np.float64))

    @property
    def evaluator(self) -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
        """What `evaluate_many` calls with contiguous points: the kernel with all its other arguments."""
        if self._heft is None:
            return self._kernel
        kernel, seed = self._kernel, self.heft_keys()
        value = objective_value(self.instance, self._heft, self.objective)

        def evaluate_with_heft(points: NDArray[np.float64]) -> NDArray[np.int64]:
            fitness = kernel(points)
            fitness[(points == seed).all(axis=1)] = 0, value
            return fitness

        return evaluate_with_heft

    @property
    def _kernel(self) -> Callable[[NDArray[np.float64]], NDArray[np.int64]]:
        """Every point decoded as the rules say, without what stands by definition."""
        if self._buffers is not None:
            return self._buffers.evaluate_many
        if self._loads is not None:
            return self._loads.evaluate_many
        weighted = Objective(self.objective) is Objective.WEIGHTED_COMPLETION
        rest: dict[str, Any] = {
            "rule": _RULES[self.decoding],
            "bias": NO_BIAS,
            "pinned": NO_PINS,
            "insertion": True,
            "weighted": weighted,
            "nics": self._nics,
            "placed": NOT_PLACED,
        }
        if self.decoding != "look-ahead":
            return partial(evaluate_keys, self.arrays, **rest)
        biases = [self.bias(level) for level in range(len(LOOK_AHEAD_WEIGHTS))]

        def evaluate_by_weight(points: NDArray[np.float64]) -> NDArray[np.int64]:
            fitness, levels = np.empty((len(points), 2), dtype=np.int64), weight_levels(points)
            for level in np.unique(levels):
                chosen = levels == level
                fitness[chosen] = evaluate_keys(self.arrays, points[chosen], **(rest | {"bias": biases[level]}))
            return fitness

        return evaluate_by_weight

    def bias(self, level: int) -> NDArray[np.float64]:
        """Return the ticks that "look-ahead" adds at a level of the weight; shape (n, m), or (0, 0) for none."""
        return LOOK_AHEAD_WEIGHTS[level] * optimistic_costs(self.arrays) if level else NO_BIAS

    @property
    def rank(self) -> NDArray[np.float64]:
        """The priorities of `heft_keys` without buffers, shape (n,), at least 0."""
        by_weight = is_for_smiths_rule(self.instance, self.objective)
        return weighted_priorities(self.arrays) if by_weight else upward_ranks(self.arrays)

    def schedule(self, keys: NDArray[np.float64]) -> DagSchedule | None:
        """Return the schedule of a point, None where it exceeds a memory limit."""
        if self._heft is not None and np.array_equal(keys, self.heft_keys()):
            return self._heft
        if self._buffers is not None:
            return self._buffers.schedule(keys)
        if self._loads is not None:
            return self._loads.schedule(keys)
        n = self.instance.num_tasks
        rule, nics = _RULES[self.decoding], self._nics
        bias = self.bias(int(weight_levels(keys))) if self.decoding == "look-ahead" else None
        placement = place_by_list(self.arrays, keys[:n], rule=rule, gpu_keys=keys[n:], bias=bias, nics=nics)
        return schedule_of(self.instance, placement, nics)

    def sample(self, rng: np.random.Generator, count: int, *, heft_seed: bool) -> NDArray[np.float64]:
        """Return uniform points, shape (count, `num_keys`), the first of them HEFT's if `heft_seed` is True."""
        points = rng.random((count - heft_seed, self.num_keys))
        return np.concatenate([self.heft_keys()[None, :], points]) if heft_seed else points

    def heft_keys(self) -> NDArray[np.float64]:
        """Return a point that decodes to exactly HEFT's schedule.

        With buffers it has the GPUs and the order of `buffer_list`, from which no task then starts later. For single
        independent tasks and the weighted completion it is that of earliest finishes in Smith's order
        (`weighted_priorities`), except with decoding "load".
        """
        if self._buffers is not None:
            return self._buffers.keys_of(buffer_list(self.instance, self.objective))
        if self._loads is not None:
            return self._loads.heft_keys.copy()
        arrays, n, rank = self.arrays, self.instance.num_tasks, self.rank
        keys = np.zeros(self.num_keys)
        for position, task in enumerate(placement_order(arrays, rank)):
            keys[task] = 1.0 - (position + 0.5) / n
        if self.decoding == "direct":
            placement = place_by_list(arrays, rank, nics=self._nics)
            for task in range(n):
                allowed = np.flatnonzero(arrays.allowed[task])
                keys[n + task] = (np.searchsorted(allowed, placement.gpu[task]) + 0.5) / len(allowed)
        return keys

    @property
    def arrays(self) -> DagArrays:
        """The instance as arrays for the kernels, without its buffers."""
        return dag_arrays(self.instance) if self._buffers is None else self._buffers.arrays


BATCH_SECONDS = 0.02
"""Aim for the duration of one call of the kernel, and so for how late a search may stop."""

_FIRST_BATCH = 200_000
"""Pairs of task and GPU in the first call, about as many as the kernel tries in that time."""

MOST_POINTS = 256
"""Points per call at most; larger calls are no faster per point."""


class PointEvaluator:
    """Evaluates points in order, counts each in a run, and stops where the run does.

    The size of the batches has no influence on what is counted and found, only on when the clock is read.
    """

    def __init__(self, keys: RandomKeys, run: SearchRun[NDArray[np.float64]]) -> None:
        self._evaluate = keys.evaluator
        self._run = run
        pairs = max(1, keys.instance.num_tasks * keys.instance.num_gpus)
        self.batch = max(1, min(MOST_POINTS, _FIRST_BATCH // pairs))
        """Most points of the next call of the kernel."""

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the fitness of points, shape (count, keys), shape (count, 2); fewer rows where the run was stopped."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        fitness = np.empty((len(points), 2), dtype=np.int64)
        done = 0
        while done < len(points) and not self._run.stopped:
            chosen = slice(done, done + self.batch)
            watch = Stopwatch()
            fitness[chosen] = self._evaluate(points[chosen])
            seconds_per_point = watch.seconds / len(fitness[chosen])
            self.batch = max(1, min(MOST_POINTS, int(BATCH_SECONDS / max(seconds_per_point, 1e-9))))
            done += self._run.record_many(fitness[chosen], points[chosen])
        return fitness[:done]
