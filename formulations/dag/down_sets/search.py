"""The search over down-sets, layer by layer: exact if nothing is dropped, otherwise a beam search."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.down_sets.expand import expand
from formulations.dag.down_sets.labels import DROPPED, begin, bytes_per_label, clear, new_labels
from formulations.dag.down_sets.load_filter import filter_by_loads, new_filter_scratch
from formulations.dag.down_sets.search_space import NOWHERE, SearchSpace, search_space
from formulations.dag.left_shift import left_shift
from formulations.dag.probing.load_refutation import Effort
from formulations.dag.probing.load_rows import new_loads
from formulations.dag.probing.network import network
from formulations.dag.probing.refuter import NO_LIMIT, PRICE, settle_or_probe
from formulations.dag.probing.windows import MAX_PAIRS_FOR_PROBING, windows
from instances.dag.objective import Objective, best_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from formulations.dag.probing.load_rows import Loads
    from formulations.dag.probing.network import Network
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Found:
    """Result of a search.

    Parameters
    ----------
    schedule
        A schedule within the objective that was asked for, None if none was found.
    is_complete
        Whether nothing was dropped: if no schedule was found, there is none within that objective.
    width
        Largest number of labels per layer that memory allowed.
    exact_depth
        Number of layers in which nothing had been dropped.
    num_labels
        Number of labels that were kept in all layers.
    widest
        Labels in the widest layer of a search that drops none, as `predicted_width` foresees it.
    """

    schedule: DagSchedule | None
    is_complete: bool
    width: int = 0
    exact_depth: int = 0
    num_labels: int = 0
    widest: float = math.inf


class DownSetSearch:
    """Looks for schedules within an objective by dynamic programming over down-sets.

    A label is the part of a partial schedule in order of starts that matters: the down-set of tasks that have started,
    the earliest start of every waiting task on every GPU, the memory that is used, and for weighted completion the
    completion times so far. Layer by layer one more task starts, on each GPU, as early as it can. Labels are removed if
    they are dominated (`keep`), if they cannot end in time (`extend`), and if their waiting tasks do not fit on the
    GPUs (`filter_by_loads`). If no more than `width` labels are left in every layer, nor more than fit into memory
    before loads are examined, the search is complete; otherwise the labels of the best estimates go on, as in a beam
    search.

    It rests on windows that hold for every schedule within the objective; windows that hold for some of the optimal
    schedules only, as from symmetry breaking, must not be used (docs/formulations.md, section 10).

    References
    ----------
    Held and Karp (1962), Schrage and Baker (1978): dynamic programming over feasible subsets. Zhang (1998): complete
    beam search by growing widths. Labels, dominance and bounds for unrelated GPUs with transfers are ours.
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
        settles: bool = False,
        threads: int = 1,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Look for a schedule within windows, and return it left-shifted; it may be better than asked for.

        Parameters
        ----------
        within
            Windows from `DownSetSearch.windows`.
        width
            Largest number of labels per layer; fewer if memory does not allow so many.
        backwards
            Whether to search from the end, for the makespan only. Often one direction needs far fewer labels.
        until_dropped
            Whether to stop as soon as the search can no longer be complete.
        settles
            Whether every label is tested as a makespan is in `probing`. A label then takes three to ten times as long;
            there may be a hundredth of them, or nearly as many.
        should_stop
            Called about twenty times a second; a search that is stopped finds nothing.

        Raises
        ------
        ValueError
            If the search is to go backwards for another objective than the makespan.
        """
        if within.is_empty:
            return Found(schedule=None, is_complete=True)
        if backwards and Objective(self._objective) is not Objective.MAKESPAN:
            raise ValueError(f"backwards: expected only for the makespan, got {self._objective}.")
        latest = int(within.latest_finish[within.around.allowed].max(initial=0))
        if max(latest, int(within.completion_at_least.max(initial=0))) >= NOWHERE // 2:
            return Found(schedule=None, is_complete=False)
        net = self._network
        if backwards:
            net = net._replace(before=net.after, after=net.before)
        space = search_space(self._instance, self._objective, within, net, backwards=backwards)
        layers = Layers(space, net, width, threads, settles=settles)
        ended = layers.run(should_stop, until_dropped=until_dropped)
        schedules = [self._schedule(space, heads, backwards=backwards) for heads in layers.complete()] if ended else []
        return Found(
            schedule=best_schedule(self._instance, self._objective, schedules),
            is_complete=ended and not layers.has_dropped,
            width=layers.width,
            exact_depth=len(layers.exact_sizes),
            num_labels=layers.num_labels,
            widest=predicted_width(layers.exact_sizes, self._instance.num_tasks),
        )

    def _schedule(self, space: SearchSpace, heads: NDArray[np.int32], *, backwards: bool) -> DagSchedule:
        """Return the schedule of a label that has started all tasks."""
        gpu = heads.argmin(axis=1).astype(np.int64)
        tasks = np.arange(len(heads))
        start = heads[tasks, gpu].astype(np.int64)
        if backwards:
            start = space.deadline - start - space.durations[tasks, gpu]
        return left_shift(self._instance, gpu, start)


LAYERS_OF_GROWTH = 3
"""Layers whose growth is taken for that of the next one."""


def predicted_width(sizes: list[int], num_tasks: int) -> float:
    """Foresee how many labels the widest layer has, from the first layers.

    This assumes that the logarithm of the growth from layer to layer falls evenly to 0 in the middle layer. For an fft
    of 39 and a stencil of 64 tasks it foresees 24,000 and 18,000 labels from layers of up to 10,000, where there are
    14,000 and 16,000; in the other direction of time it foresees 43 and 122 million.
    """
    if not sizes:
        return math.inf
    if sizes[-1] == 0:
        return max(sizes)
    before = sizes[-1 - LAYERS_OF_GROWTH] if len(sizes) > LAYERS_OF_GROWTH else 1
    growth = (sizes[-1] / before) ** (1.0 / min(len(sizes), LAYERS_OF_GROWTH))
    layers = max(num_tasks / 2 - len(sizes), 0.0)
    return max(*sizes, sizes[-1] * max(growth, 1.0) ** (layers / 2))


SPREAD = 4
"""Places for the children of a layer, as a multiple of the width, because loads refute most of them."""

MOST_BYTES = 800_000_000
"""Largest memory of the labels of two layers."""

BRIEF = Effort(rounds=8, enough=0.98, is_thorough=False)
"""Effort of the test of every label. More rounds hardly remove more. Prices refute pairs where they are nearly enough
to refute a label: a stencil of 64 tasks takes 150,000 instead of 224,000 labels and half of the time if linear programs
that fit go on to a largest load of 0.98, and as many labels if all go on to the end. On a NASNet of 96 tasks, where
prices refute nothing, that takes a tenth and three fifths more time."""

LOOK = 0.05
"""Seconds between two calls of `should_stop`."""


class Layers:
    """Labels layer by layer; memory holds the layer that is expanded and the next one.

    Parameters
    ----------
    width
        Largest number of labels per layer; the attribute is what memory allows of it.
    settles
        As in `DownSetSearch.search`.
    threads
        Number of parts of a layer, by the hash of the down-set, so that each is filled by a thread of its own.

    Attributes
    ----------
    depth
        Layers that are done: tasks that have started.
    num_labels
        As in `Found`.
    exact_sizes
        Number of labels in each layer before the first that has dropped one.
    """

    def __init__(self, space: SearchSpace, net: Network, width: int, threads: int, *, settles: bool) -> None:
        self.depth, self.num_labels = 0, 0
        self.exact_sizes: list[int] = []
        # A copy for every further thread, because threads would contend for the reference counts of shared arrays.
        self._spaces = [space, *(_copy(space) for _ in range(threads - 1))]
        self._network, self._settles = net, settles
        places = max(min(SPREAD * width, MOST_BYTES // 2 // bytes_per_label(space)), 2 * threads)
        self.width = min(width, places // 2)
        self._now, self._next = ([new_labels(space, places // threads) for _ in range(threads)] for _ in range(2))
        self._sequence = [np.zeros(0, dtype=np.int64) for _ in range(threads)]
        self._halt = np.zeros(1, dtype=np.bool_)
        self._survivors = [np.empty(places // threads, dtype=np.int64) for _ in range(threads)]
        self._kept = [0 for _ in range(threads)]
        self._root = new_loads(net)
        self._scratch = [new_filter_scratch(space, net) for _ in range(threads)]

    def run(self, should_stop: Callable[[], bool], *, until_dropped: bool = False) -> bool:
        """Go through all layers, or to the first that has no label or has dropped one; False if stopped before."""
        space, threads = self._spaces[0], len(self._now)
        scratch = self._scratch[0]
        workspace = scratch.workspace._replace(loads=self._root)
        if settle_or_probe(PRICE, self._network, scratch.state, space.deadline, workspace, scratch.work, NO_LIMIT)[0]:
            return True
        begin(self._now[0], space)
        self._sequence[0] = np.zeros(1, dtype=np.int64)
        price = price_of_time(self._root)
        with ThreadPoolExecutor(threads, thread_name_prefix="down-sets") as pool:
            while self.depth < len(space.order) and any(len(sequence) for sequence in self._sequence):
                jobs = [pool.submit(self._fill, part, price) for part in range(threads)]
                try:
                    while wait(jobs, timeout=LOOK).not_done:
                        self._halt[0] = self._halt[0] or should_stop()
                except BaseException:  # such as a second Ctrl-C: the threads must not go on to the end of the layer
                    self._halt[0] = True
                    raise
                for job in jobs:
                    job.result()
                if self._halt[0]:
                    return False
                self._advance()
                if until_dropped and self.has_dropped:
                    return False
        return True

    @property
    def has_dropped(self) -> bool:
        """Whether a label was dropped that was neither dominated nor refuted."""
        return len(self.exact_sizes) < self.depth

    def complete(self) -> Iterator[NDArray[np.int32]]:
        """Yield the starts of every label that has started all tasks, shape (n, m); `NOWHERE` on all other GPUs."""
        if self.depth == len(self._spaces[0].order):
            for labels, sequence in zip(self._now, self._sequence, strict=True):
                for place in sequence:
                    yield labels.heads[place]

    def _fill(self, part: int, price: NDArray[np.float64]) -> None:
        """Fill one part of the next layer."""
        children = self._next[part]
        clear(children)
        for labels, sequence in zip(self._now, self._sequence, strict=True):
            expand(self._spaces[part], labels, sequence, children, part, len(self._now), self._halt)
        self._kept[part] = filter_by_loads(
            self._spaces[part],
            self._network,
            children,
            self._scratch[part],
            self._root,
            BRIEF,
            price,
            self._settles,
            self._survivors[part],
            self._halt,
        )

    def _advance(self) -> None:
        """Go on to the next layer, with no more labels than its width."""
        self._now, self._next = self._next, self._now
        self.depth += 1
        has_dropped = any(labels.counts[DROPPED] for labels in self._now)
        survivors = [places[:kept] for places, kept in zip(self._survivors, self._kept, strict=True)]
        part = np.repeat(np.arange(len(survivors)), self._kept)
        places = np.concatenate(survivors)
        estimates = [labels.estimate[places] for labels, places in zip(self._now, survivors, strict=True)]
        best = np.argsort(np.concatenate(estimates), kind="stable")
        if len(best) > self.width:
            has_dropped = True
            best = best[: self.width]
        if len(self.exact_sizes) == self.depth - 1 and not has_dropped:
            self.exact_sizes.append(len(best))
        self.num_labels += len(best)
        self._sequence = [places[best[part[best] == number]] for number in range(len(survivors))]


def _copy(space: SearchSpace) -> SearchSpace:
    """Return a space with arrays of its own."""
    return SearchSpace._make(np.array(field) if isinstance(field, np.ndarray) else field for field in space)


def price_of_time(loads: Loads) -> NDArray[np.float64]:
    """Return the price of a tick on every GPU, shape (m,); they sum to 1."""
    price = np.zeros(len(loads.num_rows))
    for k, rows in enumerate(loads.num_rows):
        is_time = (loads.opens[k, :rows] >= 0) & (loads.limit[k, :rows] > 0)
        price[k] = (loads.price[k, :rows] / np.maximum(loads.limit[k, :rows], 1))[is_time].sum()
    if not 0.0 < price.sum() < np.inf:
        price[:] = 1.0
    return price / price.sum()
