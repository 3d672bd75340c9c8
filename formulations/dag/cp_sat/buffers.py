"""CP-SAT models for memory that is released, groups and the stage span: with free GPUs, and with given ones."""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from formulations.dag.fixed_placement import FixedPlacement, like_parts
from formulations.dag.windows import horizon
from instances.dag.buffers import connected_parts, place_of_task, units
from instances.dag.objective import Objective, objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ortools.sat.python import cp_model

    from instances.dag.instance import DagInstance


Expression = Any
"""A variable, a literal, a sum of them or a number: what CP-SAT takes in a row."""


class BufferModel:
    """Intervals on GPUs, one cumulative constraint per GPU for its live buffers, and one place per group.

    With given GPUs, where every buffer is released on its own GPU, starts are relative: the start of a task is the
    offset of its GPU plus a variable of its own, so that the order on a GPU can be searched without its place in time.

    Parameters
    ----------
    at_least, at_most
        Bound that is proved, and the largest objective of interest; None for no limit.
    gpu
        GPU of every task; None where the model chooses.
    kept
        GPUs whose tasks the model has, with `gpu` only; tasks of other GPUs are replaced by the longest paths through
        them, so that the model is a relaxation. None for all.
    symmetry
        Whether the copies of a task start in the order of the connected parts (`like_parts`).
    """

    def __init__(
        self,
        instance: DagInstance,
        objective: Objective,
        *,
        at_least: int = 0,
        at_most: int | None = None,
        gpu: Sequence[int] | None = None,
        kept: Collection[int] | None = None,
        symmetry: bool = True,
    ) -> None:
        from ortools.sat.python import cp_model

        self.proto_model = cp_model.CpModel()
        self._instance, self._objective = instance, Objective(objective)
        self._fixed = None if gpu is None else FixedPlacement(instance, gpu)
        self._is_relative = self._has_relative_starts()
        self._kept = range(instance.num_gpus) if kept is None else kept
        self._tasks = [task for task in range(instance.num_tasks) if gpu is None or gpu[task] in self._kept]
        self._horizon = horizon(instance)
        self._most = self._largest_start(at_most)
        self._add_places()
        self._add_starts(at_most)
        self._add_orders(symmetry)
        if self._is_relative:
            for k in self._kept:
                self._begin_at_once([task for task in self._tasks if (task, k) in self._on])
        self._add_precedence()
        self._add_gpus()
        self._add_buffers()
        self._add_objective(at_least, at_most)

    def _largest_start(self, at_most: int | None) -> int:
        """Return the largest time that matters: some optimal schedule ends by the horizon."""
        return (
            self._horizon if at_most is None or self._objective != Objective.MAKESPAN else min(self._horizon, at_most)
        )

    def _has_relative_starts(self) -> bool:
        """Say whether starts are relative to offsets of the GPUs."""
        if self._fixed is None:
            return False
        gpu = self._fixed.gpu
        return all(gpu[buffer.task] == gpu[other] for buffer in self._instance.buffers for other in buffer.released_by)

    def _add_places(self) -> None:
        """Add one literal per group and GPU, shared by all tasks of the group; constants where GPUs are given."""
        place = place_of_task(self._instance)
        self._on: dict[tuple[int, int], Expression] = {}
        self._gpus: list[list[int]] = [[] for _ in range(self._instance.num_tasks)]
        self._unit_of = [0] * self._instance.num_tasks
        for number, unit in enumerate(units(self._instance)):
            gpus = np.flatnonzero(place[unit[0]]).tolist() if self._fixed is None else [self._fixed.gpu[unit[0]]]
            literals: list[Expression] = [True]
            if len(gpus) != 1:
                literals = [self.proto_model.new_bool_var(f"on[{number},{k}]") for k in gpus]
                self.proto_model.add_exactly_one(literals)
            for task in unit:
                self._gpus[task], self._unit_of[task] = gpus, number
                for k, literal in zip(gpus, literals, strict=True):
                    self._on[task, k] = literal

    def _add_starts(self, at_most: int | None) -> None:
        """Add starts (relative ones where possible), offsets of GPUs, and finishes."""
        model, instance, fixed = self.proto_model, self._instance, self._fixed
        release = instance.release[instance.job_of_task].tolist()
        heads, on_gpu, tails, most = release, [0] * instance.num_tasks, [0] * instance.num_tasks, self._most
        if fixed is not None:
            heads, on_gpu = fixed.heads(), fixed.heads_on_gpu()
            is_span = self._objective == Objective.STAGE_SPAN
            tails = fixed.tails_on_gpu() if is_span else fixed.tails()
            if is_span and self._is_relative and at_most is not None:
                most = min(most, at_most)
        begin = [0] * instance.num_gpus
        self._offset: list[Expression] = [0] * instance.num_gpus
        self._rel: dict[int, Expression] = {}
        self._finish_rel: dict[int, Expression] = {}
        if fixed is not None and self._is_relative:
            for k in self._kept:
                first = min((heads[task] for task in fixed.tasks_of_gpu[k]), default=0)
                begin[k] = first if self._objective == Objective.MAKESPAN else 0
                self._offset[k] = model.new_int_var(min(first, self._most), self._most, f"offset[{k}]")
        for task in self._tasks:
            if fixed is not None:
                k, duration = fixed.gpu[task], fixed.duration[task]
                low = on_gpu[task] if self._is_relative else heads[task]
                late = begin[k] + duration + (tails[task] if self._objective != Objective.WEIGHTED_COMPLETION else 0)
                high = max(most - late, low)
                self._rel[task] = model.new_int_var(low, high, f"start[{task}]")
                self._finish_rel[task] = self._rel[task] + duration
                if self._is_relative and heads[task] > 0:
                    model.add(self._offset[k] + self._rel[task] >= heads[task])
                continue
            self._rel[task] = model.new_int_var(min(release[task], self._most), self._most, f"start[{task}]")
            taken = sum(int(instance.durations[task, k]) * self._on[task, k] for k in self._gpus[task])
            self._finish_rel[task] = self._rel[task] + taken

    def _start(self, task: int) -> Expression:
        """Return the start of a task in time."""
        return self._rel[task] if self._fixed is None else self._rel[task] + self._offset[self._fixed.gpu[task]]

    def _finish(self, task: int) -> Expression:
        """Return the finish of a task in time."""
        if self._fixed is None:
            return self._finish_rel[task]
        return self._finish_rel[task] + self._offset[self._fixed.gpu[task]]

    def _add_orders(self, symmetry: bool) -> None:
        """Start the copies of every task in the order of the parts, one after the other on their GPU."""
        self._chains: list[list[int]] = []
        is_weighted = self._objective == Objective.WEIGHTED_COMPLETION
        for parts in like_parts(self._instance, same_job=is_weighted) if symmetry else ():
            self._chains += [list(copies) for copies in zip(*parts, strict=True) if copies[0] in self._rel]
        for copies in self._chains:
            for one, other in pairwise(copies):
                self.proto_model.add(self._rel[other] >= self._finish_rel[one])

    def _add_precedence(self) -> None:
        """Start a task after its predecessors and their transfers; paths through tasks that are left out stay."""
        instance, fixed = self._instance, self._fixed
        if fixed is not None:
            kept = set(self._tasks)
            for part in connected_parts(instance):
                among = [task for task in fixed.order if task in set(part)] if len(kept) < instance.num_tasks else part
                for task in part:
                    if task in kept:
                        self._add_lags(task, among, kept)
            return
        delays: dict[tuple[int, int, int], Expression] = {}
        for edge, (tail, head) in enumerate(instance.edges.tolist()):
            one, other, data = self._unit_of[tail], self._unit_of[head], int(instance.edge_bytes[edge])
            after = self._finish(tail)
            if one != other and data > 0:
                if (one, other, data) not in delays:
                    delays[one, other, data] = self._delay(edge, tail, head)
                after = after + delays[one, other, data]  # not in place: the finish belongs to the task
            self.proto_model.add(self._start(head) >= after)

    def _add_lags(self, task: int, among: Sequence[int], kept: Collection[int]) -> None:
        """Let the tasks behind a task wait for it: its neighbours, or the next kept tasks behind those left out."""
        fixed = self._fixed
        assert fixed is not None  # the caller has given GPUs
        lags: dict[int, int] = dict(fixed.after[task])
        if len(kept) < self._instance.num_tasks:
            start = [-1] * self._instance.num_tasks
            start[task] = 0
            lags = {}
            for each in among:
                if start[each] >= 0 and (each == task or each not in kept):
                    for head, ticks in fixed.after[each]:
                        start[head] = max(start[head], start[each] + ticks)
                elif start[each] >= 0:
                    lags[each] = start[each]
        k = fixed.gpu[task]
        for head, ticks in lags.items():
            if fixed.gpu[head] == k:
                self.proto_model.add(self._rel[head] >= self._rel[task] + ticks)
            else:
                self.proto_model.add(self._start(head) >= self._start(task) + ticks)

    def _delay(self, edge: int, tail: int, head: int) -> cp_model.IntVar:
        """Return a variable of at least the transfer delay between the places of two groups."""
        pairs = {(k, l): self._instance.transfer_delay(edge, k, l) for k in self._gpus[tail] for l in self._gpus[head]}
        delay = self.proto_model.new_int_var(min(pairs.values()), max(pairs.values()), f"delay[{edge}]")
        for (k, l), ticks in pairs.items():
            if ticks > min(pairs.values()):
                self.proto_model.add(delay >= ticks).only_enforce_if(self._on[tail, k], self._on[head, l])
        return delay

    def _add_gpus(self) -> None:
        """Let no two tasks overlap on a GPU; a task of duration 0 occupies nothing."""
        for k in self._kept:
            intervals = []
            for task in self._tasks:
                duration = int(self._instance.durations[task, k])
                if (task, k) in self._on and duration > 0:
                    start, literal = self._rel[task], self._on[task, k]
                    intervals.append(
                        self.proto_model.new_optional_fixed_size_interval_var(
                            start, duration, literal, f"run[{task},{k}]"
                        )
                    )
            if len(intervals) > 1:
                self.proto_model.add_no_overlap(intervals)

    def _add_buffers(self) -> None:
        """Keep the memory of tasks and live buffers on every GPU within its limit."""
        instance, model = self._instance, self.proto_model
        ends = [self._end(*buffer) if buffer.task in self._rel else None for buffer in instance.buffers]
        for k in self._kept:
            limit = int(instance.gpu_memory[k])
            if limit < 0:
                continue
            held = [
                (int(instance.task_memory[task]), self._on[task, k])
                for task in self._tasks
                if (task, k) in self._on and instance.task_memory[task] > 0
            ]
            certain = sum(size for size, literal in held if literal is True)
            free = limit - certain - sum(size * literal for size, literal in held if literal is not True)
            if any(literal is not True for _, literal in held):
                model.add(free >= 0)
            intervals, demands = [], []
            for buffer, end in zip(instance.buffers, ends, strict=True):
                if end is None or (buffer.task, k) not in self._on or buffer.size == 0:
                    continue
                size = model.new_int_var(0, self._most, "")
                start, literal = self._rel[buffer.task], self._on[buffer.task, k]
                live = self._live(buffer.task, literal, end)
                intervals.append(model.new_optional_interval_var(start, size, end, live, ""))
                demands.append(buffer.size)
            if not intervals:
                continue
            capacity: Expression
            if isinstance(free, int):
                unit = gcd(*demands)
                capacity, demands = free // unit, [demand // unit for demand in demands]
            else:
                capacity = model.new_int_var(0, limit, f"free[{k}]")
                model.add(capacity == free)
            model.add_cumulative(intervals, demands, capacity)

    def _end(self, task: int, size: int, released_by: Sequence[int]) -> Expression:
        """Return when a buffer is released, in the time of its task's GPU, and add the least time until then."""
        if len(released_by) == 1 and self._fixed is not None:
            end = self._finish_rel[released_by[0]]
        else:
            end = self.proto_model.new_int_var(0, self._most, "")
            for other in released_by:
                self.proto_model.add(end >= self._finish_rel[other])
        if self._fixed is not None and self._is_relative:
            for other in released_by:
                if self._fixed.gpu[other] == self._fixed.gpu[task] and other != task:
                    lag = self._lag(task, other)
                    self.proto_model.add(self._rel[other] >= self._rel[task] + lag)
        return end

    def _lag(self, task: int, other: int) -> int:
        """Return the longest path from the start of a task to that of another one."""
        fixed = self._fixed
        assert fixed is not None  # the caller has given GPUs
        if not hasattr(self, "_position"):
            self._position = {task: number for number, task in enumerate(fixed.order)}
            self._part_of = {
                task: sorted(part, key=self._position.__getitem__)
                for part in connected_parts(self._instance)
                for task in part
            }
        return fixed.path(task, other, self._part_of[task])

    def _live(self, task: int, literal: Expression, end: Expression) -> Expression:
        """Return whether a buffer occupies memory: its task is on the GPU, and it is held for a tick at least."""
        if int(self._instance.durations[task][self._gpus[task]].min()) > 0:
            return literal
        live = self.proto_model.new_bool_var("")
        on = [] if literal is True else [literal]
        for each in on:
            self.proto_model.add_implication(live, each)
        self.proto_model.add(end <= self._rel[task]).only_enforce_if(~live, *on)
        return live

    def _add_objective(self, at_least: int, at_most: int | None) -> None:
        """Minimise the last finish, the completion times by weight, or the longest time between ends of a GPU."""
        model, instance, objective = self.proto_model, self._instance, self._objective
        total = max(int(instance.weight.sum()), 1) if objective == Objective.WEIGHTED_COMPLETION else 1
        high = total * self._horizon if at_most is None else at_most
        self._value = model.new_int_var(min(at_least, high), high, "objective")
        tails = [0] * instance.num_tasks if self._fixed is None else self._fixed.tails()
        if objective == Objective.MAKESPAN:
            for task in self._tasks:
                model.add(self._value >= self._finish(task) + tails[task])
        elif objective == Objective.WEIGHTED_COMPLETION:
            completion = [model.new_int_var(int(r), max(int(r), self._horizon), "") for r in instance.release]
            for task in self._tasks:
                model.add(completion[int(instance.job_of_task[task])] >= self._finish(task))
            model.add(self._value >= sum(int(w) * c for w, c in zip(instance.weight, completion, strict=True)))
        else:
            self._add_spans()
        if at_least > high:
            model.add_bool_or([])
        model.minimize(self._value)

    def _add_spans(self) -> None:
        """Let the objective be at least the time from the first start to the last finish on every GPU."""
        model = self.proto_model
        for k in self._kept:
            mine = [task for task in self._tasks if (task, k) in self._on]
            if self._fixed is not None and self._is_relative and mine:
                for task in mine:
                    model.add(self._value >= self._finish_rel[task])
                continue
            first, last = (model.new_int_var(0, self._most, f"{end}[{k}]") for end in ("first", "last"))
            for task in mine:
                literal = self._on[task, k]
                model.add(first <= self._start(task)).only_enforce_if(literal)
                model.add(last >= self._finish(task)).only_enforce_if(literal)
            model.add(self._value >= last - first)

    def _begin_at_once(self, tasks: Sequence[int]) -> None:
        """Let the first task of a GPU begin at its offset where it is known which one that is (redundant)."""
        fixed = self._fixed
        if fixed is None or not tasks:
            return
        chain_after = {one: other for copies in self._chains for one, other in pairwise(copies)}
        first = min(tasks, key={task: number for number, task in enumerate(fixed.order)}.__getitem__)
        reached, stack = {first}, [first]
        while stack:
            task = stack.pop()
            behind = [head for head, _ in fixed.after[task]] + ([chain_after[task]] if task in chain_after else [])
            stack += [head for head in behind if head not in reached]
            reached |= set(behind)
        if set(tasks) <= reached:
            self.proto_model.add(self._rel[first] == 0)

    def require_at_most(self, value: int) -> None:
        """Look for schedules of at most this objective only."""
        self.proto_model.add(self._value <= value)

    def in_index_order(self, schedule: DagSchedule) -> DagSchedule:
        """Return a schedule of the same objective in which copies start in the order that the model asks for."""
        start = np.array(schedule.start)
        for copies in self._chains:
            start[copies] = np.sort(start[copies])
        return DagSchedule(gpu=schedule.gpu, start=start, instance=self._instance)

    def free_only(self, schedule: DagSchedule, order: Sequence[int], first: int, last: int) -> None:
        """Leave the orders of one stretch free; later tasks keep their orders.

        Earlier ones keep their starts relative to the first task of their GPU; where some buffer is released on another
        GPU, their starts.

        Parameters
        ----------
        schedule
            With the GPUs that were given, in index order.
        order
            All tasks by their starts in it; positions `first` to `last`, without that one, are free.
        """
        assert self._fixed is not None  # the caller has given GPUs
        model, start, ticks = self.proto_model, schedule.start.tolist(), self._fixed.duration
        begun: dict[int, int] = {}
        for task in order:
            begun.setdefault(self._fixed.gpu[task], start[task])
        before: dict[int, int] = {}  # the last task of every GPU whose place in the order is fixed
        free: dict[int, list[int]] = {}  # those that were passed since
        for position, task in enumerate(order):
            k = self._fixed.gpu[task]
            if position < first:
                model.add(self._rel[task] == start[task] - (begun[k] if self._is_relative else 0))
                before[k] = task
                continue
            is_free = position < last
            for one in ([] if is_free else free.get(k, [])) + ([before[k]] if k in before else []):
                is_apart = start[one] + ticks[one] <= start[task]  # a task without duration may run beside another one
                model.add(self._rel[task] >= (self._finish_rel[one] if is_apart else self._rel[one]))
            if is_free:
                free.setdefault(k, []).append(task)
            else:
                before[k], free[k] = task, []

    def hint(self, schedule: DagSchedule) -> None:
        """Hint a schedule with the given GPUs, or any one where the model chooses."""
        schedule = self.in_index_order(schedule)
        model, gpu, start = self.proto_model, schedule.gpu.tolist(), schedule.start.tolist()
        model.clear_hints()
        first = dict.fromkeys(self._kept, 0)
        if self._fixed is not None and self._is_relative:
            first = {k: min((start[t] for t in self._tasks if gpu[t] == k), default=0) for k in self._kept}
            for k in self._kept:
                model.add_hint(self._offset[k], first[k])
        for task in self._tasks:
            model.add_hint(self._rel[task], start[task] - first.get(gpu[task], 0))
        seen = set[int]()
        for (task, k), literal in self._on.items():
            if literal is not True and literal.index not in seen:
                seen.add(literal.index)
                model.add_hint(literal, gpu[task] == k)
        if len(self._tasks) == self._instance.num_tasks:
            model.add_hint(self._value, objective_value(self._instance, schedule, self._objective))

    def schedule(self, value: Callable[[Expression], int]) -> DagSchedule:
        """Map a solution, given as a function from variable to value, back to a schedule."""
        instance = self._instance
        gpu = [
            next((k for k in gpus if self._on[task, k] is True or value(self._on[task, k])), gpus[0])
            for task, gpus in enumerate(self._gpus)
        ]
        offset = [value(each) if not isinstance(each, int) else each for each in self._offset]
        start = [value(self._rel[task]) + offset[gpu[task]] for task in range(instance.num_tasks)]
        return DagSchedule(gpu=np.array(gpu, dtype=np.int64), start=np.array(start, dtype=np.int64), instance=instance)
