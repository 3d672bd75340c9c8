"""Search with counts for a pipeline with one stage per GPU, whose micro-batches are copies of each other.

What is special about pipelines makes labels few: only micro-batches under way have a time of their own, the next pass
is one of the GPU that can end one first, and every number is raised to what it means for what follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formulations.dag.down_sets.counts import Counted, CountSearch
from formulations.dag.fixed_placement import FixedPlacement, like_parts
from formulations.dag.windows import horizon
from instances.dag.buffers import memory_for_buffers
from instances.dag.objective import Objective
from instances.dag.pipeline import Pipeline, is_pipeline, pipeline_of
from instances.dag.schedule import DagSchedule
from instances.kernels import brief_kernel, inner_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


FAR = 2**60
"""Later than everything; a deadline of a GPU that has none."""

MOST_BYTES = 2**31
"""Memory of one search, which bounds how wide its layers may be."""

BOXES = 100
"""Ranges of first starts that a question about a span may look at."""

PASSES = 3
"""F, B and W."""


class PipelineCounts:
    """Labels of one placement, layer by layer; ours (docs/formulations.md, section 10.5).

    For the stage span, ranges of the first starts are split until each has a schedule, or is searched to the end. After
    `BOXES` ranges `CountSearch` decides.

    Parameters
    ----------
    gpu
        GPU of every task; `takes` says what is needed of it.

    Attributes
    ----------
    widest
        Labels per layer that `MOST_BYTES` hold: about 500,000 for 8 stages with 16 micro-batches.
    """

    def __init__(self, instance: DagInstance, objective: Objective, gpu: Sequence[int]) -> None:
        self._instance, self._objective, self._gpu = instance, Objective(objective), list(gpu)
        self._pipeline = pipeline_of(instance)
        fixed, pipeline = FixedPlacement(instance, gpu), self._pipeline
        stages, self._has_weight = pipeline.stages, pipeline.weight is not None
        self._passes = [*_passes(pipeline)]
        ticks = np.array(fixed.duration, dtype=np.int64)
        self._ticks = np.zeros((stages, PASSES), dtype=np.int64)
        for letter, tasks in enumerate(self._passes):
            self._ticks[:, letter] = ticks[tasks[:, 0]]
        self._lags = np.zeros((stages, 2), dtype=np.int64)  # behind F to the next stage, behind B to the one before
        for stage in range(stages - 1):
            for letter, tail, head in ((0, stage, stage + 1), (1, stage + 1, stage)):
                one, other = (int(self._passes[letter][each, 0]) for each in (tail, head))
                self._lags[tail, letter] = dict(fixed.after[one])[other] - fixed.duration[one]
        self._takes = np.zeros((stages, PASSES), dtype=np.int64)
        letter_of = {int(task): letter for letter, tasks in enumerate(self._passes) for task in tasks[:, 0]}
        stage_of = {int(task): stage for tasks in self._passes for stage, task in enumerate(tasks[:, 0])}
        for owner, size, released_by in instance.buffers:
            if owner in stage_of:
                self._takes[stage_of[owner], 0] += size
                self._takes[stage_of[owner], letter_of[released_by[0]]] -= size
        room = memory_for_buffers(instance, gpu)
        limits = [room[self._gpu[int(task)]] for task in pipeline.forward[:, 0]]
        batches = pipeline.micro_batches
        held = self._takes[:, 0]
        self._room = np.array([FAR if limit is None else limit for limit in limits], dtype=np.int64)
        self._most = np.minimum(batches, np.where(held > 0, self._room // np.maximum(held, 1), batches))
        down = np.concatenate([[0], np.cumsum(self._ticks[:-1, 1] + self._lags[1:, 1])])
        self._down = down.astype(np.int64)  # from the end of B on a stage to the end of B on the first one
        self._heads = np.concatenate([[0], np.cumsum(self._ticks[:-1, 0] + self._lags[:-1, 0])]).astype(np.int64)
        through = np.cumsum((self._ticks[:, :2].sum(axis=1) + self._lags.sum(axis=1))[::-1])[::-1]
        self._through = (through - self._lags[:, 1]).astype(np.int64)  # from F to the end of B of a stage, both in it
        self._num_layers = batches * stages * (PASSES if self._has_weight else PASSES - 1)
        row = 8 * ((PASSES + 1) * stages + int(self._most[0]))
        # a label, up to `PASSES` children with what sorts them, and where the label of every layer came from
        self.widest = MOST_BYTES // (row + PASSES * (row + 41) + 6 * self._num_layers)

    @staticmethod
    def takes(instance: DagInstance, objective: Objective, gpu: Sequence[int]) -> bool:
        """Say whether this is a pipeline for this search.

        It needs one stage per GPU, copies of one micro-batch that are released at 0, passes that take a tick at least,
        and buffers of forward passes only. The weighted completion has another order of copies.
        """
        if Objective(objective) is Objective.WEIGHTED_COMPLETION or not is_pipeline(instance):
            return False
        pipeline = pipeline_of(instance)
        classes = like_parts(instance)
        if len(classes) != 1 or len(classes[0]) != pipeline.micro_batches or instance.release.max() > 0:
            return False
        forward = pipeline.forward[:, 0].tolist()
        owners = set(pipeline.forward.ravel().tolist())
        is_alone = len({gpu[task] for task in forward}) == pipeline.stages
        takes_time = all(instance.durations[task, k] > 0 for task, k in enumerate(gpu))
        return is_alone and takes_time and all(buffer.task in owners for buffer in instance.buffers)

    def search(self, at_most: int | None, width: int, should_stop: Callable[[], bool]) -> Counted:
        """Look for a schedule with an objective up to a value, None for any, with so many labels per layer."""
        found = self.search_fast(at_most, width, should_stop)
        if found is not None:
            return found
        return CountSearch(self._instance, self._objective, self._gpu).search(at_most, width, should_stop)

    def search_fast(self, at_most: int | None, width: int, should_stop: Callable[[], bool]) -> Counted | None:
        """Do as `search`; None where a span is left open by the ranges of first starts that were looked at."""
        if width > self.widest:
            return Counted(None, False)
        most = horizon(self._instance) if at_most is None else at_most
        latest = np.full_like(self._heads, FAR)
        latest[0] = 0  # the first GPU begins at 0
        if self._objective is Objective.MAKESPAN:
            return self._search(0 * self._heads, np.full_like(self._heads, most), width, should_stop)
        found = self._search(self._heads, self._heads + most, width, should_stop)
        if found.schedule is not None:
            return Counted(found.schedule, False)
        boxes = [(0 * self._heads, latest)]
        for _ in range(BOXES):
            if not boxes:
                return Counted(None, True)
            early, late = boxes.pop()
            late = self._latest(late, most)
            if (late < early).any():
                continue
            found = self._search(self._heads + early, np.minimum(self._heads + late + most, FAR), width, should_stop)
            if found.schedule is None and not found.is_complete:
                return Counted(None, False)
            if found.schedule is None:
                continue
            first, last = self._ends(found.schedule)
            over = last - first - most
            stage = int(over.argmax())
            if over[stage] <= 0:
                return Counted(found.schedule, False)
            cut = last[stage] - most - self._heads[stage]  # had it begun there, it would have kept the span
            for box in (
                (np.maximum(early, np.where(np.arange(len(first)) >= stage, cut, 0)), late),
                (early, late.copy()),
            ):
                boxes.append(box)
            boxes[-1][1][: stage + 1] = np.minimum(late[: stage + 1], cut - 1)
        return None

    def _latest(self, late: NDArray[np.int64], span: int) -> NDArray[np.int64]:
        """Lower how much later than `heads` the first passes start at most, given that of the first GPU.

        Before the first B of a stage runs nothing but F, as many as are held; all else is behind it, within the span.
        """
        batches, late = self._pipeline.micro_batches, late.copy()
        behind = batches * self._ticks.sum(axis=1) - self._most * self._ticks[:, 0] - self._ticks[:, 1]
        for stage in range(1, len(late)):
            way = self._heads[stage] + self._through[stage] + self._down[stage]
            slack = late[:stage] + self._heads[:stage] + span - behind[:stage] + self._down[:stage] - way
            late[stage] = min(late[stage], slack.min())
        return late

    def _ends(self, schedule: DagSchedule) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first start and the last finish of every stage."""
        start = np.stack([schedule.start[tasks] for tasks in self._passes])
        ends = start + self._ticks.T[: len(start), :, None]
        return start.min(axis=(0, 2)), ends.max(axis=(0, 2))

    def _search(
        self, release: NDArray[np.int64], deadline: NDArray[np.int64], width: int, should_stop: Callable[[], bool]
    ) -> Counted:
        """Look for a schedule within releases and deadlines of the stages, of those found the one that ends first."""
        stages, batches = self._pipeline.stages, self._pipeline.micro_batches
        open_at_most = int(self._most[0])
        mixed = np.random.default_rng(0).integers(1, 2**63, size=PASSES * stages, dtype=np.uint64)
        layer = np.zeros((1, (PASSES + 1) * stages + open_at_most), dtype=np.int64)
        layer[0, PASSES * stages : (PASSES + 1) * stages] = release
        low, is_complete = np.zeros((stages, PASSES), dtype=np.int64), True
        history: list[tuple[NDArray[np.int32], NDArray[np.int16]]] = []
        for _ in range(self._num_layers):
            if should_stop():
                return Counted(None, False)
            children = np.zeros((PASSES * len(layer), layer.shape[1]), dtype=np.int64)
            origin = np.zeros((len(children), 2), dtype=np.int64)
            rank = np.zeros(len(children))
            size = _expand(
                layer,
                self._ticks,
                self._lags,
                self._takes,
                np.column_stack([self._room, self._most, self._through, self._down, deadline]),
                np.array([batches, PASSES if self._has_weight else PASSES - 1]),
                low,
                children,
                origin,
                rank,
            )
            mix = children[:size, : PASSES * stages].view(np.uint64) @ mixed
            order = np.argsort(mix, kind="stable")
            alive = np.ones(size, dtype=np.bool_)
            _drop_dominated(children[:size], mix, order, PASSES * stages, alive)
            kept = np.flatnonzero(alive)
            if len(kept) > width:
                is_complete, kept = False, np.sort(kept[np.argsort(rank[kept], kind="stable")[:width]])
            layer = children[kept]
            history.append((origin[kept, 0].astype(np.int32), origin[kept, 1].astype(np.int16)))
            if len(kept) == 0:
                return Counted(None, is_complete)
        ends = layer[:, PASSES * stages : (PASSES + 1) * stages].max(axis=1)
        return Counted(self._schedule(history, int(ends.argmin()), release), is_complete)

    def _schedule(
        self,
        history: Sequence[tuple[NDArray[np.int32], NDArray[np.int16]]],
        number: int,
        release: NDArray[np.int64],
    ) -> DagSchedule:
        """Return the earliest starts of the order that led to a label of the last layer."""
        steps: list[int] = []
        for parents, passes in reversed(history):
            steps.append(int(passes[number]))
            number = int(parents[number])
        begun = np.zeros(self._ticks.shape, dtype=np.int64)
        free, start = release.tolist(), np.zeros(self._instance.num_tasks, dtype=np.int64)
        arrived = [0] * self._pipeline.micro_batches
        for step in reversed(steps):
            stage, letter = divmod(step, PASSES)
            batch = int(begun[stage, letter])
            begun[stage, letter] += 1
            begin = free[stage] if letter == PASSES - 1 else max(free[stage], arrived[batch])
            start[self._passes[letter][stage, batch]] = begin
            free[stage] = begin + int(self._ticks[stage, letter])
            if letter < PASSES - 1:
                arrived[batch] = free[stage] + int(self._lags[stage, letter])
        return DagSchedule(gpu=np.array(self._gpu, dtype=np.int64), start=start, instance=self._instance)


def _passes(pipeline: Pipeline) -> list[NDArray[np.int64]]:
    """Return the tasks of F, B and, where there are any, W."""
    return [pipeline.forward, pipeline.backward] + ([] if pipeline.weight is None else [pipeline.weight])


@inner_kernel
def _begin(row, ticks, takes, limits, sizes, stage: int, letter: int) -> int:  # type: ignore[no-untyped-def]
    """Return when the next pass of a kind can start on a stage; `FAR` where something before it has not."""
    stages, at = len(ticks), PASSES * stage
    batch = row[at + letter]
    free = row[PASSES * stages + stage]
    if letter == PASSES - 1:
        return free if batch < row[at + 1] else FAR
    if letter == 0:
        held = takes[stage, 0] * (batch + 1) + takes[stage, 1] * row[at + 1] + takes[stage, 2] * row[at + 2]
        if batch == sizes[0] or held > limits[stage, 0] or (stage > 0 and row[at - PASSES] <= batch):
            return FAR
        if stage == 0:
            return free
    elif batch == row[at] or (stage < stages - 1 and row[at + PASSES + 1] <= batch):
        return FAR
    arrived = row[(PASSES + 1) * stages + batch % limits[0, 1]]
    return max(free, arrived)


@inner_kernel
def _walk(row, ticks, lags, limits, sizes, low, batch: int, place: int, arrived: int) -> int:  # type: ignore[no-untyped-def]
    """Send a micro-batch on from a pass, behind those sent before it, and return how late it makes a stage at least.

    Lowers the first columns of `low` to its earliest starts; the others hold when F and B of each stage end.
    """
    stages, late = len(ticks), -FAR
    left = sizes[0] - batch
    for number in range(place, 2 * stages):
        stage = number if number < stages else 2 * stages - 1 - number
        letter = 0 if number < stages else 1
        begin = max(arrived, row[PASSES * stages + stage], low[stage, 1 + letter])
        low[stage, 0] = min(low[stage, 0], begin)
        arrived = begin + ticks[stage, letter]
        low[stage, 1 + letter] = arrived
        work = left * (ticks[stage, 1] + ticks[stage, 2])  # what cannot run before, beginning with this pass
        work += (left if letter == 0 else max(0, left - limits[stage, 1])) * ticks[stage, 0]
        late = max(late, begin + work - limits[stage, 4])
        arrived += lags[stage, letter]
    return late


@inner_kernel
def _raise(row, ticks, lags, limits, sizes, low) -> int:  # type: ignore[no-untyped-def]
    """Raise the times of a label to the earliest that matter, and return by how much it misses a deadline at least."""
    stages, late = len(ticks), -FAR
    times, arrivals = PASSES * stages, (PASSES + 1) * stages
    low[:, 0], low[:, 1:] = FAR, 0
    for batch in range(row[1], row[0]):
        place = 0
        while place < stages and row[PASSES * place] > batch:
            place += 1
        if place == stages:
            while row[PASSES * (2 * stages - 1 - place) + 1] > batch:
                place += 1
        stage, letter = (place, 0) if place < stages else (2 * stages - 1 - place, 1)
        slot = arrivals + batch % limits[0, 1]
        row[slot] = max(row[slot], row[times + stage], low[stage, 1 + letter])
        late = max(late, _walk(row, ticks, lags, limits, sizes, low, batch, place, row[slot]))
    if row[0] < sizes[0]:
        late = max(late, _walk(row, ticks, lags, limits, sizes, low, row[0], 0, 0))
    for stage in range(stages):
        at = PASSES * stage
        if sizes[1] == PASSES and row[at + 2] < row[at + 1]:
            low[stage, 0] = min(low[stage, 0], row[times + stage])
        if low[stage, 0] < FAR:
            row[times + stage] = max(row[times + stage], low[stage, 0])
    for stage in range(stages):
        at, free = PASSES * stage, row[times + stage]
        work = 0
        for letter in range(sizes[1]):
            work += (sizes[0] - row[at + letter]) * ticks[stage, letter]
        late = max(late, free + work - limits[stage, 4])
        left = sizes[0] - row[at]
        if left > 0:  # copy j + q of F waits for copy j of B
            rounds = (left - 1) // limits[stage, 1]
            rest = left - 1 - rounds * limits[stage, 1]
            end = free + (rounds + 1) * limits[stage, 2] + rest * ticks[stage, 1]
            late = max(late, end + ticks[stage, 2] - limits[stage, 4])
            late = max(late, end + limits[stage, 3] + ticks[0, 2] - limits[0, 4])
    return late


@brief_kernel()
def _expand(layer, ticks, lags, takes, limits, sizes, low, children, origin, rank) -> int:  # type: ignore[no-untyped-def]
    """Write the children of all labels that may keep the deadlines; return how many there are.

    A row holds how many F, B and W of every stage have started, when every stage is free, and when each open
    micro-batch arrives. Columns of `limits`: memory, open micro-batches, ticks from F to the end of B, from there to
    the end of B on the first stage, and the deadline.
    """
    stages, count = len(ticks), 0
    for number in range(len(layer)):
        row = layer[number]
        first, chosen = FAR, -1
        for stage in range(stages):
            for letter in range(sizes[1]):
                begin = _begin(row, ticks, takes, limits, sizes, stage, letter)
                if begin < FAR and begin + ticks[stage, letter] < first:
                    first, chosen = begin + ticks[stage, letter], stage
        if chosen < 0:
            continue
        for letter in range(sizes[1]):
            begin = _begin(row, ticks, takes, limits, sizes, chosen, letter)
            if begin >= first:
                continue
            child = children[count]
            child[:] = row
            end = begin + ticks[chosen, letter]
            batch = row[PASSES * chosen + letter]
            child[PASSES * chosen + letter] = batch + 1
            child[PASSES * stages + chosen] = end
            if letter < PASSES - 1:
                slot = (PASSES + 1) * stages + batch % limits[0, 1]
                child[slot] = 0 if letter == 1 and chosen == 0 else end + lags[chosen, letter]
            late = _raise(child, ticks, lags, limits, sizes, low)
            if late <= 0:
                total = 0
                for stage in range(stages):
                    total += child[PASSES * stages + stage]
                rank[count] = late + 1e-3 * total
                origin[count, 0], origin[count, 1] = number, PASSES * chosen + letter
                count += 1
    return count


@brief_kernel()
def _drop_dominated(children, mix, order, counts: int, alive) -> None:  # type: ignore[no-untyped-def]
    """Clear `alive` where another child with the same counts is nowhere later; `order` puts equal hashes together."""
    first = 0
    for number in range(len(order)):
        child = order[number]
        if mix[child] != mix[order[first]]:
            first = number
        for before in range(first, number):
            other = order[before]
            if not alive[other]:
                continue
            is_same, is_later, is_earlier = True, True, True
            for column in range(children.shape[1]):
                difference = children[child, column] - children[other, column]
                if column < counts:
                    is_same = is_same and difference == 0
                is_later = is_later and difference >= 0
                is_earlier = is_earlier and difference <= 0
                if not is_same or not (is_later or is_earlier):
                    break
            if is_same and is_later:
                alive[child] = False
                break
            if is_same and is_earlier:
                alive[other] = False
