"""The loop that all searches on random keys share, the log of its rounds, and DEAP's individuals."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import numpy as np
from deap import base, creator, tools
from numpy.typing import NDArray

from heuristics.dag.random_keys import PointEvaluator, RandomKeys
from heuristics.search.run import SearchRun
from heuristics.search.settings import shown_as
from instances.dag.contention import Contention

if TYPE_CHECKING:
    from heuristics.search.progress import Callback
    from heuristics.search.stop_criteria import StopCriterion
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


KeysRun = SearchRun[NDArray[np.float64]]
Proposals = Generator[NDArray[np.float64], NDArray[np.int64], None]
"""Yields points, shape (count, keys), and receives their fitness (overflow bytes, objective), shape (count, 2)."""

# Fitness is (overflow bytes, objective), both minimised, the first counts more; integer weights keep large objectives
# exact. DEAP makes classes once per process.
creator.create("KeysFitness", base.Fitness, weights=(-1, -1))
creator.create("Whale", np.ndarray, fitness=creator.KeysFitness)
creator.create("Chromosome", np.ndarray, fitness=creator.KeysFitness)
creator.create("Particle", np.ndarray, fitness=creator.KeysFitness, speed=None, best=None)

Whale, Chromosome, Particle = creator.Whale, creator.Chromosome, creator.Particle


def key_search(settings: type, *, logs_rounds: bool = True) -> Callable[[Callable[..., Proposals]], Callable[..., Any]]:
    """Turn a generator of points into a search on random keys; ours.

    The generator takes (settings, keys, rng, run): the settings of the method, among them `decoding`, the decoder, the
    source of all random numbers, and the run, whose used share of the budget may drive a parameter. The search takes
    the fields of the settings as keyword parameters, and `contention`, as in `heft`. It evaluates what the generator
    yields until the stop criterion holds and returns the best schedule, None where all exceed a memory limit.

    Parameters
    ----------
    settings
        A dataclass, whose construction checks the parameters.
    logs_rounds
        Whether the callback receives every batch of points as a round.
    """

    def decorate(propose: Callable[..., Proposals]) -> Callable[..., Any]:
        def search(
            instance: DagInstance,
            objective: Objective,
            rng: np.random.Generator,
            stop: StopCriterion,
            callback: Callback,
            *,
            contention: Contention = Contention.NONE,
            **given: Any,
        ) -> DagSchedule | None:
            chosen = settings(**given)
            keys = RandomKeys(instance, objective, chosen.decoding, contention)
            run: KeysRun = SearchRun(stop, callback)
            evaluate, log = PointEvaluator(keys, run), RoundLog(run, callback)
            proposals = propose(chosen, keys, rng, run)
            points = next(proposals)
            while True:
                fitness = evaluate(points)
                if logs_rounds:
                    log.record(points, fitness)
                if run.stopped:
                    assert run.best_solution is not None  # one evaluation at least
                    return keys.schedule(run.best_solution)
                points = proposals.send(fitness)

        return shown_as(propose, search, settings)

    return decorate


class RoundLog:
    """Writes one row per evaluated population.

    Columns: ``evaluations`` and ``seconds`` so far, ``best`` objective so far, ``mean`` objective of the members that
    keep the memory limits (both None where there is none), and ``at_bounds``, the share of keys that are exactly 0 or
    1: equal keys are ties, which go by index whatever the search prefers.
    """

    def __init__(self, run: KeysRun, callback: Callback) -> None:
        self._run = run
        self._callback = callback
        self.logbook = tools.Logbook()
        self.logbook.header = ["evaluations", "seconds", "best", "mean", "at_bounds"]

    def record(self, points: NDArray[np.float64], fitness: NDArray[np.int64]) -> None:
        """Write a row about points, shape (count, keys), and their fitness, shape (count or fewer, 2)."""
        points = points[: len(fitness)]
        kept = fitness[fitness[:, 0] == 0, 1]
        progress = self._run.progress
        self.logbook.record(
            evaluations=progress.evaluations,
            seconds=progress.seconds,
            best=progress.objective,
            mean=float(kept.mean()) if len(kept) else None,
            at_bounds=float(((points == 0.0) | (points == 1.0)).mean()) if points.size else 0.0,
        )
        self._callback.on_round(self.logbook[-1])
