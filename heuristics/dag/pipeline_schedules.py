"""The named schedules of pipeline training, and the best of greedy ones; each for instances that are pipelines.

A schedule is an order of passes on every GPU, from which the starts follow (`OrderedTasks`). Every function returns
None where its order needs more memory than a GPU has, and raises a ValueError for an instance that is no pipeline, or
one for which the schedule is not defined. Where stages may be on any GPU, a named schedule is tried with every
placement of one stage per GPU, and the best is kept; that is ours, as the papers place stages on equal GPUs.
"""

from __future__ import annotations

from itertools import islice, permutations, product
from typing import TYPE_CHECKING

from heuristics.dag.pipeline_orders import OrderedTasks
from instances.dag.buffers import memory_for_buffers
from instances.dag.objective import Objective, best_schedule
from instances.dag.pipeline import Pipeline, gpu_of_stage, pipeline_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


MAX_PLACEMENTS = 120
"""Placements that are tried where stages may be on any GPU: all of five stages on five GPUs."""

Orders = list[list[int]]


def _one_chunk(pipeline: Pipeline, warm_up: Callable[[int], int], hold: Callable[[int], int] | None) -> Orders:
    """Return for every stage: F of the warm-up, then B and F in turn, then the rest.

    Parameters
    ----------
    warm_up
        F before the first B, by stage.
    hold
        Micro-batches by which W waits behind B, by stage; None for W right after B.
    """
    orders, batches = Orders(), pipeline.micro_batches
    for stage in range(pipeline.stages):
        order, begun, ended = list[int](), min(batches, warm_up(stage)), 0
        order += pipeline.forward[stage, :begun].tolist()
        for batch in range(batches):
            order.append(int(pipeline.backward[stage, batch]))
            while pipeline.weight is not None and ended <= batch - (0 if hold is None else hold(stage)):
                order.append(int(pipeline.weight[stage, ended]))
                ended += 1
            if begun < batches:
                order.append(int(pipeline.forward[stage, begun]))
                begun += 1
        orders.append(order + ([] if pipeline.weight is None else pipeline.weight[stage, ended:].tolist()))
    return orders


def gpipe(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run all forward passes before the first backward pass.

    References
    ----------
    Huang et al. (2019), GPipe. Where backward passes are split, W follows its B.
    """
    pipeline = pipeline_of(instance)
    return _best_placement(instance, pipeline, objective, _one_chunk(pipeline, lambda _: pipeline.micro_batches, None))


def one_f_one_b(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run as many forward passes as stages follow and one more, then one backward and one forward pass in turn.

    References
    ----------
    Narayanan et al. (2019), PipeDream; Fan et al. (2021), DAPPLE: 1F1B with a flush. Where backward passes are split, W
    follows its B.
    """
    pipeline = pipeline_of(instance)
    return _best_placement(
        instance, pipeline, objective, _one_chunk(pipeline, lambda stage: pipeline.stages - stage, None)
    )


def zb_h1(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run 1F1B with split backward passes; stage s holds its W back by s micro-batches.

    References
    ----------
    Qi, Wan, Huang, Lin (2024), Zero bubble pipeline parallelism: ZB-H1.
    """
    pipeline = _split(instance, "zb-h1")
    orders = _one_chunk(pipeline, lambda stage: pipeline.stages - stage, lambda stage: stage)
    return _best_placement(instance, pipeline, objective, orders)


def zb_h2(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run 2 (p - s) - 1 forward passes on stage s before the first backward pass, and hold W back by 2 s micro-batches.

    References
    ----------
    Qi, Wan, Huang, Lin (2024): ZB-H2. The paper shows the order in a figure; holding 2 s is what gives its bubble of
    (p - 1)(f + b - 2w), holding s gives that of ZB-H1 (ours).
    """
    pipeline = _split(instance, "zb-h2")
    orders = _one_chunk(pipeline, lambda stage: 2 * (pipeline.stages - stage) - 1, lambda stage: 2 * stage)
    return _best_placement(instance, pipeline, objective, orders)


def interleaved(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run 1F1B over several chunks per GPU, in groups of as many micro-batches as there are GPUs.

    GPU r begins with 2 (p - r - 1) + (v - 1) p forward passes, then runs a forward and a backward pass in turn. Stage s
    is on GPU s modulo p, and the number of micro-batches is a multiple of p.

    References
    ----------
    Narayanan et al. (2021), Efficient large-scale language model training on GPU clusters: interleaved 1F1B. Where
    backward passes are split, W follows its B.
    """
    pipeline = pipeline_of(instance)
    gpus = instance.num_gpus
    _check_chunks(pipeline, gpus, "interleaved", "loop", chunks=None)
    if pipeline.micro_batches % gpus:
        raise ValueError(f"micro-batches: expected a multiple of {gpus} for interleaved, got {pipeline.micro_batches}.")
    chunks, total = pipeline.stages // gpus, pipeline.micro_batches * (pipeline.stages // gpus)
    orders = Orders()
    for place in range(gpus):
        units = [(*divmod(number // gpus, chunks), number % gpus) for number in range(total)]
        forward = [(chunk, group * gpus + rest) for group, chunk, rest in units]
        backward = [(chunks - 1 - chunk, batch) for chunk, batch in forward]
        warm_up = min(total, 2 * (gpus - place - 1) + (chunks - 1) * gpus)
        order, begun = list[int](), 0
        for step in range(warm_up + total):
            if begun < total:
                chunk, batch = forward[begun]
                order.append(int(pipeline.forward[chunk * gpus + place, batch]))
                begun += 1
            if step >= warm_up:
                chunk, batch = backward[step - warm_up]
                order.append(int(pipeline.backward[chunk * gpus + place, batch]))
                if pipeline.weight is not None:
                    order.append(int(pipeline.weight[chunk * gpus + place, batch]))
        orders.append(order)
    return OrderedTasks(instance, orders).schedule(objective)


def zb_v(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run two chunks per GPU in a V, as many micro-batches at a time as the memory of 1F1B holds.

    References
    ----------
    Qi et al. (2024), Pipeline parallelism with controllable memory: ZB-V. A reconstruction: the paper gives the pattern
    of one micro-batch; here it fixes the order of F and B, and W fills the time in which neither can run, or in which F
    would hold more than the activations of p micro-batches.
    """
    return _v_schedule(instance, objective, "zb-v", (4, 2, 4, 2), instance.num_gpus)


def v_half(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Run two chunks per GPU in a V with about half of the memory of 1F1B.

    References
    ----------
    Qi et al. (2024), Pipeline parallelism with controllable memory: V-Half. A reconstruction, as `zb_v`.
    """
    return _v_schedule(instance, objective, "v-half", (2, 1, 2, 1), instance.num_gpus // 2 + 1)


def _v_schedule(
    instance: DagInstance, objective: Objective, name: str, steps: tuple[int, int, int, int], most: int
) -> DagSchedule | None:
    """Order F and B by a pattern that repeats every 6 units, and let W fill the gaps.

    Parameters
    ----------
    steps
        Units from one GPU to the next for F of the first chunk, F of the second, B of the second and B of the first.
    most
        Micro-batches whose activations a GPU may hold.
    """
    pipeline = _split(instance, name)
    gpus = instance.num_gpus
    _check_chunks(pipeline, gpus, name, "v", chunks=2)
    down, up, back, home = steps
    ranked: list[list[tuple[int, int, int, bool]]] = [[] for _ in range(gpus)]
    for place in range(gpus):
        to_turn = (gpus - 1) * down + 1
        to_end = to_turn + (gpus - 1) * up + 1
        to_back = to_end + (gpus - 1) * back + 1
        first = place * down
        second = to_turn + (gpus - 1 - place) * up
        second_back = to_end + place * back
        first_back = to_back + (gpus - 1 - place) * home
        far = 2 * gpus - 1 - place
        for batch in range(pipeline.micro_batches):
            for unit, stage, is_forward in (
                (first, place, True),
                (second, far, True),
                (second_back, far, False),
                (first_back, place, False),
            ):
                ranked[place].append((6 * batch + unit, stage, batch, is_forward))
    sequences = [[(stage, batch, is_forward) for _, stage, batch, is_forward in sorted(rows)] for rows in ranked]
    return _filled(instance, pipeline, sequences, objective, most)


def _filled(
    instance: DagInstance,
    pipeline: Pipeline,
    sequences: Sequence[Sequence[tuple[int, int, bool]]],
    objective: Objective,
    most: int,
) -> DagSchedule | None:
    """Keep the given order of F and B on every GPU, and run a W wherever the next of them cannot begin yet."""
    assert pipeline.weight is not None  # checked by the caller
    line = _Line(instance, pipeline, [gpus[0] for gpus in pipeline.gpus_of_stage])
    for k, stages in enumerate(line.stages_of):
        kept, left = most * sum(line.takes(stage, 0) for stage in stages), line.memory[k]
        line.memory[k] = kept if left is None else min(left, kept)
    position = [0] * len(sequences)
    while line.left:
        for k, sequence in enumerate(sequences):
            while line.free_at[k] <= line.time:
                entry = sequence[position[k]] if position[k] < len(sequence) else None
                arrival = None if entry is None else line.arrival("F" if entry[2] else "B", entry[0], entry[1])
                is_due = arrival is not None and arrival <= line.time
                if entry is not None and is_due and line.has_memory("F" if entry[2] else "B", entry[0]):
                    line.run(k, "F" if entry[2] else "B", entry[0], entry[1])
                    position[k] += 1
                    continue
                waiting = line.waiting_weight(k)
                if waiting is None:
                    break
                line.run(k, "W", *waiting)
        if not line.advance():
            return None
    return OrderedTasks(instance, line.orders).schedule(objective)


class _Line:
    """A pipeline in time: what has run on every GPU, what has arrived, and how much memory is left."""

    def __init__(self, instance: DagInstance, pipeline: Pipeline, place: Sequence[int]) -> None:
        self.instance, self.pipeline, self.place = instance, pipeline, list(place)
        self.passes = {"F": pipeline.forward.tolist(), "B": pipeline.backward.tolist()}
        if pipeline.weight is not None:
            self.passes["W"] = pipeline.weight.tolist()
        self.stages_of = [[s for s, k in enumerate(self.place) if k == gpu] for gpu in range(instance.num_gpus)]
        self.orders: Orders = [[] for _ in range(instance.num_gpus)]
        self.free_at = [0] * instance.num_gpus
        self.time, self.left = 0, instance.num_tasks
        self.done = {letter: [0] * pipeline.stages for letter in "FBW"}
        self.finish: dict[int, int] = {}
        stages_of_task = {task: stage for stage in range(pipeline.stages) for task in pipeline.tasks_of_stage(stage)}
        self._task_gpu = {task: self.place[stage] for task, stage in stages_of_task.items()}
        self._delay = {}
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            ends = self._task_gpu[tail], self._task_gpu[head]
            self._delay[tail, head] = instance.transfer_delay(edge, *ends)
        self._before: dict[int, list[int]] = {task: [] for task in range(instance.num_tasks)}
        for tail, head in instance.edges.tolist():
            self._before[head].append(tail)
        self.memory = memory_for_buffers(instance, [self._task_gpu[task] for task in range(instance.num_tasks)])
        self._takes: list[int] = [0] * instance.num_tasks
        self._gives = [0] * instance.num_tasks
        for task, size, released_by in instance.buffers:
            self._takes[task] += size
            self._gives[released_by[0]] += size

    def arrival(self, letter: str, stage: int, batch: int) -> int | None:
        """Return when a pass may begin, None while something before it has not begun."""
        task = self.passes[letter][stage][batch]
        times = [self.finish.get(tail) for tail in self._before[task]]
        if None in times:
            return None
        release = int(self.instance.release[self.instance.job_of_task[task]])
        tails = self._before[task]
        return max([release, *(self.finish[tail] + self._delay[tail, task] for tail in tails)])

    def has_memory(self, letter: str, stage: int) -> bool:
        """Say whether the next pass of a stage fits into what is left."""
        left = self.memory[self.place[stage]]
        done = self.done[letter][stage]
        return left is None or self._takes[self.passes[letter][stage][done]] <= left

    def takes(self, stage: int, batch: int) -> int:
        """Return the bytes that a forward pass takes."""
        return self._takes[int(self.passes["F"][stage][batch])]

    def waiting_weight(self, k: int) -> tuple[int, int] | None:
        """Return stage and micro-batch of the oldest W that may run on a GPU now, None where there is none."""
        for stage in reversed(self.stages_of[k]):
            batch = self.done["W"][stage]
            if "W" in self.passes and batch < self.pipeline.micro_batches:
                begins = self.arrival("W", stage, batch)
                if begins is not None and begins <= self.time and self.has_memory("W", stage):
                    return stage, batch
        return None

    def run(self, k: int, letter: str, stage: int, batch: int) -> None:
        """Run a pass on its GPU, which is free, from now on; memory that it gives back is free at its end."""
        task = self.passes[letter][stage][batch]
        self.finish[task] = self.free_at[k] = self.time + int(self.instance.durations[task, k])
        self.orders[k].append(task)
        self.done[letter][stage] += 1
        self.left -= 1
        left = self.memory[k]
        if left is not None:  # the GPU is busy until then, so that nobody can use it before
            self.memory[k] = left - self._takes[task] + self._gives[task]

    def advance(self) -> bool:
        """Go to the next time at which something ends or arrives; False where nothing will."""
        arrivals = [free for free in self.free_at if free > self.time]
        for letter, done in self.done.items():
            for stage, batch in enumerate(done):
                if letter in self.passes and batch < self.pipeline.micro_batches:
                    begins = self.arrival(letter, stage, batch)
                    if begins is not None and begins > self.time:
                        arrivals.append(begins)
        if not arrivals:
            return self.left == 0
        self.time = min(arrivals)
        return True


PRIORITIES = ("BFW", "FBW", "BWF")
"""Which pass a free GPU tries first."""

WAITS = (0.0, 0.5, 1.0)
"""W is left out if a known arrival comes within this share of its duration."""

OPEN = ("any", "stages", "twice")
"""How many micro-batches may be open on stage s: any number, p - s, or 2 (p - s) - 1."""


def best_greedy(instance: DagInstance, objective: Objective = Objective.MAKESPAN) -> DagSchedule | None:
    """Return the best of greedy schedules: a free GPU takes the first pass, by a priority, that it can begin.

    Tried are three priorities, three shares for which a W waits for a known arrival, and three limits on open
    micro-batches. A forward pass needs its memory; with several stages on a GPU the first of them sets aside the memory
    of all, so that no micro-batch is stuck half-way.

    References
    ----------
    Ours, after the heuristic of Qi, Wan, Huang, Lin (2024), which takes the best of eight variants.
    """
    pipeline = pipeline_of(instance)
    found: list[DagSchedule] = []
    for place in _placements(instance, pipeline):
        for priority in PRIORITIES if pipeline.weight is not None else PRIORITIES[:2]:
            for wait in WAITS if pipeline.weight is not None else WAITS[:1]:
                for limit in OPEN:
                    orders = _greedy(instance, pipeline, place, priority, wait, limit)
                    schedule = None if orders is None else OrderedTasks(instance, orders).schedule(objective)
                    found += [] if schedule is None else [schedule]
    return best_schedule(instance, objective, found)


def _greedy(
    instance: DagInstance, pipeline: Pipeline, place: Sequence[int], priority: str, wait: float, limit: str
) -> Orders | None:
    """Return the orders of one greedy schedule; None where it is stuck."""
    line = _Line(instance, pipeline, place)
    batches, stages = pipeline.micro_batches, pipeline.stages
    most = {"any": [batches] * stages, "stages": [stages - s for s in range(stages)]}
    most["twice"] = [2 * (stages - s) - 1 for s in range(stages)]

    def may_begin(letter: str, stage: int, batch: int) -> bool:
        if letter != "F" or not line.has_memory("F", stage):
            return line.has_memory(letter, stage)
        k = place[stage]
        left = line.memory[k]
        if left is None:
            return True
        kept = 0  # what micro-batches that are open on this GPU still take, this one included
        for other in line.stages_of[k]:
            first = line.done["F"][line.stages_of[k][0]] + (1 if stage == line.stages_of[k][0] else 0)
            kept += sum(line.takes(other, number) for number in range(line.done["F"][other], first))
        return stage != line.stages_of[k][0] or kept <= left

    while line.left:
        for k in reversed(range(instance.num_gpus)):
            if line.free_at[k] > line.time:
                continue
            chosen = None
            for letter in priority:
                for stage in reversed(line.stages_of[k]):
                    batch = line.done[letter][stage]
                    if (
                        letter not in line.passes
                        or batch >= batches
                        or (letter == "B" and batch >= line.done["F"][stage])
                    ):
                        continue
                    if letter == "F" and batch - line.done["B"][stage] >= most[limit][stage]:
                        continue
                    begins = line.arrival(letter, stage, batch)
                    if begins is None or begins > line.time or not may_begin(letter, stage, batch):
                        continue
                    if (
                        letter == "W"
                        and wait
                        and _is_worth_waiting(line, k, stage, batch, wait, most[limit], may_begin)
                    ):
                        continue
                    chosen = chosen or (letter, stage, batch)
                if chosen is not None:
                    break
            if chosen is not None:
                line.run(k, *chosen)
        if not line.advance():
            return None
    return line.orders


def _is_worth_waiting(
    line: _Line,
    k: int,
    stage: int,
    batch: int,
    wait: float,
    most: Sequence[int],
    may_begin: Callable[[str, int, int], bool],
) -> bool:
    """Say whether an F or a B that could run arrives on a GPU within a share of a W's duration."""
    until = line.time + wait * int(line.instance.durations[line.passes["W"][stage][batch], k])
    for letter in "BF":
        for other in line.stages_of[k]:
            number = line.done[letter][other]
            if number >= line.pipeline.micro_batches:
                continue
            if letter == "F" and (number - line.done["B"][other] >= most[other] or not may_begin("F", other, number)):
                continue
            begins = line.arrival(letter, other, number)
            if begins is not None and line.time < begins < until:
                return True
    return False


def _split(instance: DagInstance, name: str) -> Pipeline:
    """Return the pipeline of an instance; raises a `ValueError` if its backward passes are fused."""
    pipeline = pipeline_of(instance)
    if pipeline.weight is None:
        raise ValueError(f"tasks: expected backward passes that are split into B and W for {name}, got fused ones.")
    return pipeline


def _check_chunks(pipeline: Pipeline, gpus: int, name: str, layout: str, chunks: int | None) -> None:
    """Check that every stage is on the one GPU of a layout with equally many stages on each GPU."""
    expected = [(k,) for k in gpu_of_stage(pipeline.stages, gpus, layout)]
    is_right = pipeline.stages % gpus == 0 and (chunks is None or pipeline.stages == chunks * gpus)
    if not is_right or list(pipeline.gpus_of_stage) != expected:
        count = "as many" if chunks is None else str(chunks)
        raise ValueError(f"tasks: expected {count} stages on each GPU in a {layout} for {name}, got another placement.")


def _placements(instance: DagInstance, pipeline: Pipeline) -> Iterator[tuple[int, ...]]:
    """Yield GPUs of all stages: the one placement where it is fixed, else one stage per GPU where possible."""
    allowed = pipeline.gpus_of_stage
    if any(not gpus for gpus in allowed):
        return
    if all(len(gpus) == 1 for gpus in allowed):
        yield tuple(gpus[0] for gpus in allowed)
        return
    if pipeline.stages <= instance.num_gpus:
        found = permutations(range(instance.num_gpus), pipeline.stages)
    else:
        found = product(*allowed)  # type: ignore[assignment]  # tuples of GPUs either way
    seen = set[tuple[object, ...]]()
    for place in islice((place for place in found if all(map(_is_in, place, allowed))), 50 * MAX_PLACEMENTS):
        kind = tuple((instance.gpu_kinds[k], instance.gpu_servers[k], int(instance.gpu_memory[k])) for k in place)
        if kind not in seen or len(set(place)) < len(place):
            seen.add(kind)
            yield place
        if len(seen) >= MAX_PLACEMENTS:
            return


def _is_in(k: int, gpus: tuple[int, ...]) -> bool:
    """Say whether a GPU is one of these."""
    return k in gpus


def _best_placement(
    instance: DagInstance, pipeline: Pipeline, objective: Objective, orders: Orders
) -> DagSchedule | None:
    """Put the stage orders of a schedule of one chunk per GPU on GPUs, and return the best schedule that fits."""
    found: list[DagSchedule] = []
    is_placed = False
    for place in _placements(instance, pipeline):
        if len(set(place)) < len(place):
            continue
        is_placed = True
        by_gpu: Orders = [[] for _ in range(instance.num_gpus)]
        for stage, k in enumerate(place):
            by_gpu[k] = orders[stage]
        schedule = OrderedTasks(instance, by_gpu).schedule(objective)
        found += [] if schedule is None else [schedule]
    if not is_placed:
        raise ValueError("tasks: expected one stage per GPU, got more stages than that.")
    return best_schedule(instance, objective, found)
