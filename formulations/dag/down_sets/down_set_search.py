"""The search over down-sets, layer by layer: exact where nothing is dropped, a beam search where something is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.down_sets.layers import Layers
from formulations.dag.down_sets.search_space import NOWHERE, search_space
from formulations.dag.left_shift import left_shift
from formulations.dag.probing.network import network
from formulations.dag.windows import MAX_PAIRS_FOR_PROBING, windows
from instances.objective import Objective, objective_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from formulations.dag.down_sets.search_space import SearchSpace
    from formulations.dag.windows import Windows
    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """What a search found.

    Parameters
    ----------
    schedule
        A schedule within the objective that was asked for, None if it met none.
    is_complete
        Whether nothing was dropped: then there is no schedule within that objective if it met none.
    width
        Labels per layer at most, after memory.
    exact_depth
        In how many layers nothing had been dropped.
    num_labels
        How many labels it kept in all layers.
    """

    schedule: DagSchedule | None
    is_complete: bool
    width: int = 0
    exact_depth: int = 0
    num_labels: int = 0


class DownSetSearch:
    """Looks for schedules within an objective by dynamic programming over down-sets.

    A label is a partial schedule in order of starts, of which only matters: the down-set of tasks that have started,
    the earliest start of every waiting task on every GPU, the memory that is used, and for weighted completion the
    completion times so far. Layer by layer one more task starts, on each GPU, as early as it can. Labels that are
    dominated go (`keep`), those that cannot end in time (`extend`), and those whose waiting tasks do not fit on the
    GPUs (`filter_by_loads`). If no more than `width` labels are left in every layer, nor more than there is room for
    before loads are looked at, the search is complete; else those of the best estimates go on, as in a beam search.

    It rests on windows that hold for every schedule within the objective; ones that hold for some of the optimal
    schedules only, as symmetry breaking would give, must not be used.

    Dynamic programming over feasible subsets of partially ordered tasks is due to Held and Karp (1962) and to Schrage
    and Baker (1978), complete beam search by growing widths to Zhang (1998). Labels, dominance and bounds for unrelated
    GPUs with transfers are our own.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """

    def __init__(self, instance: DagInstance, objective: Objective) -> None:
        self._instance = instance
        self._objective = objective
        self._network = network(instance)

    def windows(self, at_most: int | None, lower_bound: int) -> Windows:
        """Return the windows of all schedules within an objective; None for the horizon."""
        probe = self._instance.num_tasks * self._instance.num_gpus <= MAX_PAIRS_FOR_PROBING
        return windows(self._instance, self._objective, lower_bound=lower_bound, objective_at_most=at_most, probe=probe)

    def search(
        self,
        within: Windows,
        *,
        width: int,
        backwards: bool = False,
        until_dropped: bool = False,
        threads: int = 1,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Look for a schedule within windows.

        Parameters
        ----------
        within
            From `windows`.
        width
            Labels per layer at most; fewer where memory does not allow so many.
        backwards
            Whether to search from the end, for the makespan only. Often one direction needs far fewer labels.
        until_dropped
            Whether to stop as soon as the search can no longer be complete.
        threads
            How many work at the same time.
        should_stop
            Asked about twenty times a second; what was found so far would be nothing.

        Returns
        -------
        Found
            The schedule is left-shifted, and may be better than asked for.
        """
        if within.is_empty:
            return Found(schedule=None, is_complete=True)
        if backwards and self._objective is not Objective.MAKESPAN:
            raise ValueError(f"backwards: expected only for the makespan, got {self._objective}.")
        latest = int(within.latest_finish[within.around.allowed].max(initial=0))
        if max(latest, int(within.completion_at_least.max(initial=0))) >= NOWHERE // 2:
            return Found(schedule=None, is_complete=False)
        space = search_space(self._instance, self._objective, within, self._network, backwards=backwards)
        layers = Layers(space, self._network, width, threads)
        ended = layers.run(should_stop, until_dropped=until_dropped)
        schedules = [self._schedule(space, heads, backwards=backwards) for heads in layers.complete()] if ended else []
        best = min(
            schedules, key=lambda schedule: objective_value(self._instance, schedule, self._objective), default=None
        )
        return Found(
            schedule=best,
            is_complete=ended and not layers.has_dropped,
            width=layers.width,
            exact_depth=layers.exact_depth,
            num_labels=layers.num_labels,
        )

    def _schedule(self, space: SearchSpace, heads: NDArray[np.int32], *, backwards: bool) -> DagSchedule:
        """Return the schedule of a label that has started all tasks."""
        gpu = heads.argmin(axis=1).astype(np.int64)
        tasks = np.arange(len(heads))
        start = heads[tasks, gpu].astype(np.int64)
        if backwards:
            start = space.deadline - start - space.durations[tasks, gpu]
        return left_shift(self._instance, gpu, start)
