"""Random search: the least a search must beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.dag.random_keys import PointEvaluator, RandomKeys
from heuristics.search.run import SearchRun
from instances.dag.contention import Contention

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


def random_search(
    instance: DagInstance,
    objective: Objective,
    rng: np.random.Generator,
    stop: StopCriterion,
    callback: Callback,
    *,
    decoding: str = "ranked",
    heft_seed: bool = True,
    contention: Contention = Contention.NONE,
) -> DagSchedule | None:
    """Draw random keys uniformly and keep the best; None where all exceed a memory limit.

    Parameters
    ----------
    instance, objective, rng, stop, callback
        As in `woa`, with which it shares decoder, first member and evaluation count.
    decoding
        As in `RandomKeys`.
    heft_seed
        Whether the first point is HEFT's schedule.
    contention
        What transfers share, as in `heft`.
    """
    keys = RandomKeys(instance, objective, decoding, contention)
    run: SearchRun[NDArray[np.float64]] = SearchRun(stop, callback)
    evaluate = PointEvaluator(keys, run)
    points = keys.sample(rng, 1, heft_seed=heft_seed)
    while True:
        evaluate(points)
        if run.stopped:
            break
        points = keys.sample(rng, evaluate.batch, heft_seed=False)
    assert run.best_solution is not None  # one evaluation at least
    return keys.schedule(run.best_solution)
