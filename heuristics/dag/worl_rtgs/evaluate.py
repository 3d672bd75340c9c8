"""Quality of the network's placements alone: greedy, without desired loads and without a population search."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.dag.arrays import dag_arrays
from heuristics.dag.greedy_generator import place_by_desired_load
from heuristics.dag.list_scheduling import UNIFORM, place_by_list
from heuristics.dag.load_vector import running_loads
from heuristics.dag.worl_rtgs.episode import play
from heuristics.dag.worl_rtgs.features import episode_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.dag.arrays import DagArrays
    from heuristics.dag.timeline import Placement, Timeline
    from heuristics.dag.worl_rtgs.network import Weights
    from instances.dag.instance import DagInstance

RANDOM_PLACEMENTS = 20
"""Number of random placements; the loads of the best are the desired loads of RTGS's greedy generator."""

_NO_LOADS, _NO_NOISE = np.empty(0), np.empty((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The trained network compared with rivals on the same instances; better and equal are shares of all instances.

    A placement with overflow is worse than any without.
    """

    instances: int
    mean_ratio: float  # makespan / HEFT's, plus 1 for a placement with overflow
    median_ratio: float
    with_overflow: int
    better_than_heft: float
    equal_to_heft: float
    mean_ratio_untrained: float
    better_than_untrained: float
    equal_to_untrained: float
    mean_ratio_rtgs_greedy: float
    better_than_rtgs_greedy: float
    equal_to_rtgs_greedy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a JSON object."""
        return asdict(self)


def network_fitness(instances: Sequence[DagInstance], weights: Weights) -> NDArray[np.int64]:
    """Return (overflow bytes, makespan) of the network's greedy placement of every instance, shape (count, 2)."""
    return np.array([_network(instance, weights) for instance in instances], dtype=np.int64).reshape(-1, 2)


def heft_fitness(instances: Sequence[DagInstance]) -> NDArray[np.int64]:
    """Return (overflow bytes, makespan) of HEFT, shape (count, 2)."""
    found = [_fitness(instance, place_by_list(dag_arrays(instance))) for instance in instances]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def rtgs_greedy_fitness(instances: Sequence[DagInstance]) -> NDArray[np.int64]:
    """Return (overflow bytes, makespan) of RTGS's greedy generator for the desired loads that RTGS begins with.

    Ours, for a fair comparison: the desired loads are the running loads of the best of 20 random placements; order and
    insertion are those of the network. The instance's content hash seeds the random numbers.
    """
    found = [_rtgs_greedy(instance) for instance in instances]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def ratios(fitness: NDArray[np.int64], reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the makespan ratio of every instance, plus 1 where memory is exceeded, shape (count,)."""
    return fitness[:, 1] / np.maximum(reference[:, 1], 1) + (fitness[:, 0] > 0)


def compare(instances: Sequence[DagInstance], trained: Weights, untrained: Weights) -> Comparison:
    """Compare the network with HEFT, its untrained self and RTGS's greedy generator on one or more instances."""
    heft, ours = heft_fitness(instances), network_fitness(instances, trained)
    return compare_fitness(ours, network_fitness(instances, untrained), rtgs_greedy_fitness(instances), heft)


def compare_fitness(
    ours: NDArray[np.int64], before: NDArray[np.int64], greedy: NDArray[np.int64], heft: NDArray[np.int64]
) -> Comparison:
    """Compare the fitness of the network with that of itself untrained, the greedy generator and HEFT, (count, 2)."""
    ratio, shares = ratios(ours, heft), {}
    for name, rival in (("heft", heft), ("untrained", before), ("rtgs_greedy", greedy)):
        shares[f"better_than_{name}"], shares[f"equal_to_{name}"] = _shares(ours, rival)
    return Comparison(
        instances=len(ours),
        mean_ratio=float(ratio.mean()),
        median_ratio=float(np.median(ratio)),
        with_overflow=int((ours[:, 0] > 0).sum()),
        mean_ratio_untrained=float(ratios(before, heft).mean()),
        mean_ratio_rtgs_greedy=float(ratios(greedy, heft).mean()),
        **shares,
    )


def near_heft(
    arrays: DagArrays, heft: NDArray[np.int64], rng: np.random.Generator, share: float | None = None
) -> NDArray[np.int64]:
    """Return HEFT's placement with tasks on GPUs drawn anew where these are allowed and fit, shape (n,); ours.

    A task is drawn with probability `share`; without one the share is itself drawn uniformly from [0, 1).
    """
    n, m = arrays.durations.shape
    uniforms = rng.random(n)
    is_drawn = uniforms < (rng.random() if share is None else share)
    placed: NDArray[np.int64] = place_by_list(arrays, pinned=np.where(is_drawn, rng.integers(m, size=n), heft)).gpu
    return placed


def obedience(instances: Sequence[DagInstance], weights: Weights) -> NDArray[np.float64]:
    """Measure how far the network follows desired loads that can be followed in full; ours.

    Desired loads are the running loads of eight placements per instance: HEFT's with three tasks in ten drawn anew
    where these are allowed and fit (seed 1). The network answers with lambda 1 and without noise, in rank order.

    Returns
    -------
    NDArray[np.float64]
        Shape (count, 2), for each instance: the share of the tasks that come back on the GPU of the placement whose
        loads were desired, and the same share for the loads of the seven other placements.
    """
    shares = []
    for instance in instances:
        arrays, data, rng = dag_arrays(instance), episode_data(instance), np.random.default_rng(1)
        heft = place_by_list(arrays).gpu
        gpus = np.array([near_heft(arrays, heft, rng, 0.3) for _ in range(8)])
        desired = running_loads(instance.durations, gpus, data.order)
        answers = np.array([play(arrays, data, weights, row, 1.0, _NO_NOISE, 0.0).gpu for row in desired])
        others = [(np.roll(answers, shift, axis=0) == gpus).mean() for shift in range(1, len(gpus))]
        shares.append(((answers == gpus).mean(), np.mean(others)))
    return np.array(shares)


def _shares(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[float, float]:
    """Return the shares of pairs in which ours is better, and equal, by (overflow, makespan)."""
    is_less = (ours[:, 0] < theirs[:, 0]) | ((ours[:, 0] == theirs[:, 0]) & (ours[:, 1] < theirs[:, 1]))
    return float(is_less.mean()), float((ours == theirs).all(axis=1).mean())


def _network(instance: DagInstance, weights: Weights) -> tuple[int, int]:
    """Return the fitness of the greedy placement without desired loads."""
    timeline = play(dag_arrays(instance), episode_data(instance), weights, _NO_LOADS, 0.0, _NO_NOISE, 0.0)
    return _timed(timeline)


def _rtgs_greedy(instance: DagInstance) -> tuple[int, int]:
    """Return the fitness of the greedy placement for the loads of the best of some random placements."""
    arrays, data = dag_arrays(instance), episode_data(instance)
    rng = np.random.default_rng(int(instance.sha256[:16], 16))
    placements = [
        place_by_list(arrays, data.rank, rule=UNIFORM, gpu_keys=rng.random(instance.num_tasks))
        for _ in range(RANDOM_PLACEMENTS)
    ]
    best = min(placements, key=lambda placement: _fitness(instance, placement))
    desired = running_loads(instance.durations, best.gpu, data.order)
    return _timed(place_by_desired_load(arrays, data.order, desired, True, True, np.empty(instance.num_tasks)))


def _fitness(instance: DagInstance, placement: Placement) -> tuple[int, int]:
    """Return (overflow bytes, makespan) of a placement."""
    finish = placement.start + instance.durations[np.arange(instance.num_tasks), placement.gpu]
    return int(placement.overflow), int(finish.max(initial=0))


def _timed(timeline: Timeline) -> tuple[int, int]:
    """Return (overflow bytes, makespan) of a complete timeline."""
    return int(timeline.overflow[0]), int(timeline.finish.max(initial=0))
