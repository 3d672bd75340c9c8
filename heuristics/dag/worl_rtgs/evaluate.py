"""How good the network's placements are by themselves: greedy, without wish, without whales."""

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

    from heuristics.dag.timeline import Placement, Timeline
    from heuristics.dag.worl_rtgs.network import Weights
    from instances.dag.instance import DagInstance

RANDOM_PLACEMENTS = 20
"""Random placements of which the best one's loads are the wish of RTGS's greedy generator."""

_NO_WISH, _NO_NOISE = np.empty(0), np.empty((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The trained network alone against rivals on the same instances; better and equal are shares of all instances.

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
    """Return (overflow bytes, makespan) of RTGS's greedy generator with the wish that RTGS itself begins with.

    Ours, to be fair to it: the wish is the running loads of the best of 20 random placements, order and insertion are
    those of the network. The random numbers come from the instance's content hash.
    """
    found = [_rtgs_greedy(instance) for instance in instances]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def ratios(fitness: NDArray[np.int64], reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return makespan / the reference's of every instance, and 1 more where memory is exceeded, shape (count,)."""
    return fitness[:, 1] / np.maximum(reference[:, 1], 1) + (fitness[:, 0] > 0)


def compare(instances: Sequence[DagInstance], trained: Weights, untrained: Weights) -> Comparison:
    """Compare the trained network with HEFT, itself untrained, and RTGS's greedy generator.

    Parameters
    ----------
    instances
        At least one.
    trained, untrained
        The network after and before training.
    """
    heft, ours = heft_fitness(instances), network_fitness(instances, trained)
    before, greedy = network_fitness(instances, untrained), rtgs_greedy_fitness(instances)
    ratio = ratios(ours, heft)
    better = {name: _shares(ours, rival) for name, rival in (("heft", heft), ("untrained", before), ("greedy", greedy))}
    return Comparison(
        instances=len(instances),
        mean_ratio=float(ratio.mean()),
        median_ratio=float(np.median(ratio)),
        with_overflow=int((ours[:, 0] > 0).sum()),
        better_than_heft=better["heft"][0],
        equal_to_heft=better["heft"][1],
        mean_ratio_untrained=float(ratios(before, heft).mean()),
        better_than_untrained=better["untrained"][0],
        equal_to_untrained=better["untrained"][1],
        mean_ratio_rtgs_greedy=float(ratios(greedy, heft).mean()),
        better_than_rtgs_greedy=better["greedy"][0],
        equal_to_rtgs_greedy=better["greedy"][1],
    )


def _shares(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> tuple[float, float]:
    """Return the shares of pairs in which ours is better, and equal, by (overflow, makespan)."""
    is_less = (ours[:, 0] < theirs[:, 0]) | ((ours[:, 0] == theirs[:, 0]) & (ours[:, 1] < theirs[:, 1]))
    return float(is_less.mean()), float((ours == theirs).all(axis=1).mean())


def _network(instance: DagInstance, weights: Weights) -> tuple[int, int]:
    """Return the fitness of the greedy placement without a wish."""
    timeline = play(dag_arrays(instance), episode_data(instance), weights, _NO_WISH, 0.0, _NO_NOISE, 0.0)
    return _timed(timeline)


def _rtgs_greedy(instance: DagInstance) -> tuple[int, int]:
    """Return the fitness of the placement that is nearest to the loads of the best of some random ones."""
    arrays, data = dag_arrays(instance), episode_data(instance)
    rng = np.random.default_rng(int(instance.sha256[:16], 16))
    placements = [
        place_by_list(arrays, data.rank, rule=UNIFORM, gpu_keys=rng.random(instance.num_tasks))
        for _ in range(RANDOM_PLACEMENTS)
    ]
    best = min(placements, key=lambda placement: _fitness(instance, placement))
    wish = running_loads(instance.durations, best.gpu, data.order)
    return _timed(place_by_desired_load(arrays, data.order, wish, True, True, np.empty(instance.num_tasks)))


def _fitness(instance: DagInstance, placement: Placement) -> tuple[int, int]:
    """Return (overflow bytes, makespan) of a placement."""
    finish = placement.start + instance.durations[np.arange(instance.num_tasks), placement.gpu]
    return int(placement.overflow), int(finish.max(initial=0))


def _timed(timeline: Timeline) -> tuple[int, int]:
    """Return (overflow bytes, makespan) of a complete timeline."""
    return int(timeline.overflow[0]), int(timeline.finish.max(initial=0))
