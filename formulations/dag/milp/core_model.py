"""What the Pyomo models share: placement, starts, transfers by reduced linearisation, load rows, released memory."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from formulations.dag.bounds.loads import window_load_lp
from formulations.dag.fixed_placement import like_parts
from formulations.dag.incomparable_pairs import reachable
from formulations.dag.left_shift import left_shift
from instances.dag.buffers import units
from instances.dag.objective import Objective, completion_times, finish_times, needs_buffers, objective_value
from instances.dag.schedule import DagSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance


class CoreModel:
    """Placement within memory, starts within windows, completion after every finish; the objective.

    With x[i,k] = 1 if task i sits on GPU k, f[i] = s[i] + sum over k of p[i,k] x[i,k], heads H and tails T, and latest
    finishes D:

        sum over k of x[i,k] = 1,   sum over i of a[i] x[i,k] <= M[k],
        sum over k of H[i,k] x[i,k] <= s[i] <= sum over k of (D[i,k] - p[i,k]) x[i,k],
        C >= f[i] + sum over k of T[i,k] x[i,k],   minimise C,

    or, for weighted completion, CJ[job of i] and its tails in the place of C, minimise sum over j of w[j] CJ[j]. The
    models differ in how they state transfers and non-overlap, which a subclass adds (docs/formulations.md, section
    3.2). Groups, memory that is released and the stage span are rows that all models share (section 3.3 there).

    Parameters
    ----------
    within
        Windows that are not empty; the model contains only schedules within them.
    symmetry
        Whether, with buffers, groups or the stage span, the copies of a task run in the order of the parts
        (`like_parts`).

    Attributes
    ----------
    pyomo_model
        Variables ``on[i, k]`` (binary), ``start[i]``, ``completion`` (the makespan at 0, or per job; for the stage span
        that one at 0, the makespan at 1); objective ``cost``. All variables have finite bounds. Where memory is
        released, ``over[b, i]`` and ``later[h, i]`` (binary), ``live[b, i, k]``; for the stage span ``begun[k]`` and
        ``ended[k]``.
    on
        x[i,k] by task and GPU.
    gpus
        GPUs that are left for every task.
    latest_start
        D - p, shape (n, m); meaningless where a GPU is not left.
    tails
        Tails to the makespan, or to the completion time of the task's own job, shape (n, m).
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows, *, symmetry: bool = True) -> None:
        self.instance, self.objective, self.within = instance, objective, within
        self.gpus = [np.flatnonzero(row).tolist() for row in within.around.allowed]
        self.latest_start = within.latest_finish - instance.durations
        is_weighted = Objective(objective) is Objective.WEIGHTED_COMPLETION
        self.tails = within.around.job_tails if is_weighted else within.around.tails
        self.pyomo_model = pyo.ConcreteModel()
        self.on = self._add_placement()
        self._add_starts()
        self._add_window_rows()
        self._add_memory()
        self._add_completion()
        self._add_tail_rows()
        self._add_groups()
        self._add_buffers()
        self.copies: list[list[int]] = []
        if symmetry and needs_buffers(instance, objective):
            self._add_index_order()
        if Objective(objective) is Objective.STAGE_SPAN:
            self._add_spans()

    def chosen(self, task: int, row: NDArray[np.int64]) -> pyo.Expression:
        """Return the entry of a row of constants, shape (m,), that belongs to the task's GPU."""
        return sum(int(row[k]) * self.on[task, k] for k in self.gpus[task])

    def finish(self, task: int) -> pyo.Expression:
        """Return the finish of a task."""
        return self._end(task)

    def ends(self, task: int) -> pyo.Var:
        """Return the makespan, or the completion time of the task's job."""
        if Objective(self.objective) is Objective.WEIGHTED_COMPLETION:
            return self.pyomo_model.completion[int(self.instance.job_of_task[task])]
        return self.pyomo_model.completion[0 if Objective(self.objective) is Objective.MAKESPAN else 1]

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        schedule = self.in_index_order(schedule)
        gpu, start, finish = schedule.gpu, schedule.start, finish_times(self.instance, schedule)
        tasks, around = np.arange(self.instance.num_tasks), self.within.around
        if not around.allowed[tasks, gpu].all() or (start < around.heads[tasks, gpu]).any():
            return False
        if (finish > self.within.latest_finish[tasks, gpu]).any():
            return False
        model = self.pyomo_model
        for (task, k), variable in self.on.items():
            variable.set_value(int(gpu[task] == k))
        for task in tasks.tolist():
            model.start[task].set_value(int(start[task]))
        self.set_shared(schedule)
        return True

    def schedule(self) -> DagSchedule:
        """Map the values of the variables back to a schedule."""
        model = self.pyomo_model
        gpu = [max(left, key=lambda k: self.on[task, k].value) for task, left in enumerate(self.gpus)]
        start = [model.start[task].value for task in range(self.instance.num_tasks)]
        return self.tidied(np.array(gpu, dtype=np.int64), np.array(start, dtype=np.float64))

    def tidied(self, gpu: NDArray[np.int64], start: NDArray[np.float64]) -> DagSchedule:
        """Return a solution, within a solver's tolerances, as a schedule.

        Where memory is released, or the stage span counts, starts are rounded down, and not shifted to the left: all
        rows between starts have whole numbers, so that a solution stays one.
        """
        if not needs_buffers(self.instance, self.objective):
            return left_shift(self.instance, gpu, start)
        return DagSchedule(gpu=gpu, start=np.floor(start + 1e-3).astype(np.int64), instance=self.instance)

    def set_shared(self, schedule: DagSchedule) -> None:
        """Give completion times, and what belongs to buffers and spans, their values in a schedule."""
        model, ends = self.pyomo_model, completion_times(self.instance, schedule).tolist()
        start, finish = schedule.start.tolist(), finish_times(self.instance, schedule).tolist()
        if Objective(self.objective) is not Objective.WEIGHTED_COMPLETION:
            ends = [objective_value(self.instance, schedule, self.objective), max(finish, default=0)]
        for number, variable in model.completion.items():
            variable.set_value(ends[number])
        buffers, gpu = self.instance.buffers, schedule.gpu.tolist()
        for number, task in model.over:
            ended = max(finish[other] for other in buffers[number].released_by)
            model.over[number, task].set_value(int(ended <= start[task]))
        for owner, task in model.later:
            model.later[owner, task].set_value(int(start[owner] > start[task]))
        for number, task, k in model.live:
            owner = buffers[number].task
            gone = any(one.value for one in self._gone(number, owner, task))
            model.live[number, task, k].set_value(int(gpu[owner] == gpu[task] == k and not gone))
        if Objective(self.objective) is Objective.STAGE_SPAN:
            for k in model.begun:
                tasks = [task for task, place in enumerate(gpu) if place == k]
                model.begun[k].set_value(min((start[task] for task in tasks), default=0))
                model.ended[k].set_value(max((finish[task] for task in tasks), default=0))

    def _add_placement(self) -> Mapping[tuple[int, int], pyo.Var]:
        """Give every task one GPU."""
        model, tasks = self.pyomo_model, range(self.instance.num_tasks)
        model.on = pyo.Var([(task, k) for task in tasks for k in self.gpus[task]], domain=pyo.Binary)
        model.one_gpu = pyo.Constraint(tasks, rule=lambda m, task: sum(m.on[task, k] for k in self.gpus[task]) == 1)
        on: Mapping[tuple[int, int], pyo.Var] = model.on
        return on

    def _add_starts(self) -> None:
        """Give every task a start within the windows of all its GPUs together."""
        heads, tasks = self.within.around.heads, range(self.instance.num_tasks)
        earliest = [min(int(heads[task, k]) for k in self.gpus[task]) for task in tasks]
        last = [max(int(self.latest_start[task, k]) for k in self.gpus[task]) for task in tasks]
        self.pyomo_model.start = pyo.Var(tasks, bounds=lambda _, task: (earliest[task], last[task]))

    def _add_window_rows(self) -> None:
        """Keep every start within the window of the task's own GPU."""
        model, heads, tasks = self.pyomo_model, self.within.around.heads, range(self.instance.num_tasks)
        model.head = pyo.Constraint(tasks, rule=lambda m, task: m.start[task] >= self.chosen(task, heads[task]))
        model.latest = pyo.Constraint(
            tasks, rule=lambda m, task: m.start[task] <= self.chosen(task, self.latest_start[task])
        )

    def _add_memory(self) -> None:
        """Keep the tasks on a GPU within its memory."""
        model, instance, tasks = self.pyomo_model, self.instance, range(self.instance.num_tasks)
        limited = [
            k for k in range(instance.num_gpus) if instance.gpu_memory[k] >= 0 and any(k in left for left in self.gpus)
        ]

        def fits(m: pyo.ConcreteModel, k: int) -> object:
            used = sum(int(instance.task_memory[task]) * self.on[task, k] for task in tasks if k in self.gpus[task])
            return used <= int(instance.gpu_memory[k])

        model.memory = pyo.Constraint(limited, rule=fits)

    def _add_completion(self) -> None:
        """Add the makespan or the completion times, and minimise."""
        model, instance, within = self.pyomo_model, self.instance, self.within
        if Objective(self.objective) is Objective.MAKESPAN:
            model.completion = pyo.Var([0], bounds=(within.at_least, within.at_most))
            cost = model.completion[0]
        elif Objective(self.objective) is Objective.STAGE_SPAN:
            latest = max(int(within.latest_finish[within.around.allowed].max(initial=0)), within.at_most)
            limits = [(within.at_least, within.at_most), (0, latest)]
            model.completion = pyo.Var([0, 1], bounds=lambda _, number: limits[number])
            model.within_makespan = pyo.Constraint(expr=model.completion[0] <= model.completion[1])
            cost = model.completion[0]
        else:
            limits = list(zip(within.completion_at_least.tolist(), within.completion_at_most.tolist(), strict=True))
            model.completion = pyo.Var(range(instance.num_jobs), bounds=lambda _, job: limits[job])
            cost = sum(weight * model.completion[job] for job, weight in enumerate(instance.weight.tolist()))
            model.cost_at_least = pyo.Constraint(expr=cost + 0.0 * model.completion[0] >= within.at_least)
        model.cost = pyo.Objective(expr=cost, sense=pyo.minimize)

    def _add_tail_rows(self) -> None:
        """Let the makespan or the completion time be at least every finish plus its tail."""
        self.pyomo_model.tail = pyo.Constraint(
            range(self.instance.num_tasks),
            rule=lambda _, task: self.ends(task) >= self.finish(task) + self.chosen(task, self.tails[task]),
        )

    def begin(self, task: int) -> pyo.Expression:
        """Return the start of a task."""
        return self.pyomo_model.start[task]

    def _end(self, task: int) -> pyo.Expression:
        """Return the finish of a task in variables that every model has from the beginning."""
        return self.begin(task) + self.chosen(task, self.instance.durations[task])

    def _first_head(self, task: int) -> int:
        """Return the earliest start of a task on any of its GPUs."""
        return min(int(self.within.around.heads[task, k]) for k in self.gpus[task])

    def _last_finish(self, task: int) -> int:
        """Return the latest finish of a task on any of its GPUs."""
        return max(int(self.within.latest_finish[task, k]) for k in self.gpus[task])

    def _add_groups(self) -> None:
        """Keep the tasks of a group together; windows leave all of them the same GPUs or fewer."""
        model = self.pyomo_model
        model.together = pyo.ConstraintList()
        for first, *others in units(self.instance):
            for other in others:
                for k in sorted({*self.gpus[first], *self.gpus[other]}):
                    ends = [self.on[task, k] if k in self.gpus[task] else 0 for task in (first, other)]
                    model.together.add(ends[0] == ends[1])

    def _add_buffers(self) -> None:
        """Keep tasks and live buffers within memory at the start of every task that begins a buffer.

        Memory in use grows at such starts only. For buffer b of task h, released by R, and such a task i, with e = 1
        only if b has been released and y = 1 only if h starts later:

            s[i] >= f[r] - G(r,i) (1 - e)  for r in R,    s[h] >= s[i] + 1 - G (1 - y),
            live[b,i,k] >= x[h,k] + x[i,k] - 1 - e - y,   live[b,i,k] >= 0,
            sum over h of a[h] x[h,k] + sum over b of u[b] live[b,i,k] <= M[k].

        What paths decide has no binary.
        """
        model, instance = self.pyomo_model, self.instance
        every = instance.buffers  # made anew whenever they are asked for
        buffers = [(number, buffer) for number, buffer in enumerate(every) if buffer.size > 0]
        limited = [k for k in range(instance.num_gpus) if instance.gpu_memory[k] >= 0]
        owners = sorted({buffer.task for _, buffer in buffers})
        reaches = reachable(instance) if buffers else np.zeros((0, 0), dtype=bool)
        takes_time = [min(int(instance.durations[task, k]) for k in left) > 0 for task, left in enumerate(self.gpus)]
        shared = {
            (number, task): [k for k in limited if k in self.gpus[buffer.task] and k in self.gpus[task]]
            for number, buffer in buffers
            for task in owners
        }

        def may_meet(number: int, task: int) -> bool:
            owner, _, released_by = every[number]
            is_later = reaches[task, owner] and takes_time[task]
            return bool(shared[number, task]) and not is_later and not all(reaches[r, task] for r in released_by)

        def may_be_over(number: int, task: int) -> bool:
            released_by = every[number].released_by
            return not any((r == task or reaches[task, r]) and (takes_time[task] or takes_time[r]) for r in released_by)

        meet = [pair for pair in shared if may_meet(*pair)]
        model.over = pyo.Var([pair for pair in meet if may_be_over(*pair)], domain=pyo.Binary)
        pairs = {(every[number].task, task) for number, task in meet}
        model.later = pyo.Var(sorted((h, i) for h, i in pairs if h != i and not reaches[h, i]), domain=pyo.Binary)
        model.live = pyo.Var([(*pair, k) for pair in meet for k in shared[pair]], bounds=(0, 1))
        model.released = pyo.ConstraintList()
        for number, task in model.over:
            for r in every[number].released_by:
                far = max(0, self._last_finish(r) - self._first_head(task))
                model.released.add(self.begin(task) >= self._end(r) - far * (1 - model.over[number, task]))
        for h, i in model.later:
            far = max(0, self._last_finish(i) + 1 - self._first_head(h))
            model.released.add(self.begin(h) >= self.begin(i) + 1 - far * (1 - model.later[h, i]))
        model.counted = pyo.ConstraintList()
        used: dict[tuple[int, int], object] = {}
        for number, task, k in model.live:
            owner, size, _ = every[number]
            both = self.on[task, k] if owner == task else self.on[owner, k] + self.on[task, k] - 1
            model.counted.add(model.live[number, task, k] >= both - sum(self._gone(number, owner, task)))
            used[task, k] = used.get((task, k), 0) + size * model.live[number, task, k]
        model.live_memory = pyo.ConstraintList()
        for (_, k), live in used.items():
            held = sum(int(instance.task_memory[i]) * self.on[i, k] for i, left in enumerate(self.gpus) if k in left)
            model.live_memory.add(held + live <= int(instance.gpu_memory[k]))

    def _add_index_order(self) -> None:
        """Let the copies of every task run one after the other, in the order of the parts."""
        for parts in like_parts(self.instance, same_job=Objective(self.objective) is Objective.WEIGHTED_COMPLETION):
            self.copies += [list(copies) for copies in zip(*parts, strict=True)]
        pairs = [pair for copies in self.copies for pair in pairwise(copies)]
        self.pyomo_model.index_order = pyo.Constraint(
            range(len(pairs)), rule=lambda _, number: self.begin(pairs[number][1]) >= self._end(pairs[number][0])
        )

    def in_index_order(self, schedule: DagSchedule) -> DagSchedule:
        """Return a schedule of the same objective in which copies start in the order that the model asks for."""
        if not self.copies:
            return schedule
        start = np.array(schedule.start)
        for copies in self.copies:
            start[copies] = np.sort(start[copies])
        return DagSchedule(gpu=schedule.gpu, start=start, instance=self.instance)

    def _gone(self, number: int, owner: int, task: int) -> list[pyo.Var]:
        """Return what says that a buffer is not held when a task starts: it is over, or begins later."""
        over, later = self.pyomo_model.over, self.pyomo_model.later
        found = [over[number, task]] if (number, task) in over else []
        return found + ([later[owner, task]] if (owner, task) in later else [])

    def _add_spans(self) -> None:
        """Let the stage span be at least the time from the first start to the last finish on every GPU."""
        model, latest = self.pyomo_model, self.pyomo_model.completion[1].ub
        gpus = sorted({k for left in self.gpus for k in left})
        model.begun, model.ended = pyo.Var(gpus, bounds=(0, latest)), pyo.Var(gpus, bounds=(0, latest))
        model.span = pyo.ConstraintList()
        for k in gpus:
            model.span.add(model.completion[0] >= model.ended[k] - model.begun[k])
            for task, left in enumerate(self.gpus):
                if k in left:
                    elsewhere = 1 - self.on[task, k]
                    model.span.add(model.begun[k] <= self.begin(task) + latest * elsewhere)
                    model.span.add(model.ended[k] >= self._end(task) - self._last_finish(task) * elsewhere)


def add_load_rows(core: CoreModel) -> None:
    """Add the rows ``window_load`` of the window-load program, which are redundant; for the makespan only."""
    if Objective(core.objective) is not Objective.MAKESPAN or not core.instance.num_tasks:
        return
    model = core.pyomo_model
    lp = window_load_lp(core.instance, core.within.around, core.within.at_least)[1]
    pair = list(zip(lp.task_of_pair.tolist(), lp.gpu_of_pair.tolist(), strict=True))
    model.window_load = pyo.ConstraintList()
    for row in lp.rows:
        terms = zip(row.pairs.tolist(), row.ticks.tolist(), strict=True)
        model.window_load.add(
            sum(ticks * core.on[pair[index]] for index, ticks in terms) + row.base <= model.completion[0]
        )


def add_reduced_transfers(core: CoreModel) -> None:
    """Let data arrive before a task starts: variables ``both[edge, k, l]``, rows ``leaves``, ``arrives`` and ``after``.

    Per edge (h, i), with z[k,l] >= 0 continuous, k = l included:

        sum over l of z[k,l] = x[h,k],   sum over k of z[k,l] = x[i,l],
        s[i] >= f[h] + sum over k, l of c[h,i](k,l) z[k,l].

    Then z[k,l] = x[h,k] x[i,l] for integer x, and z <= x[h,k], z <= x[i,l], z >= x[h,k] + x[i,l] - 1 follow: 2m + 1
    rows instead of 3m^2 (textbook). Pairs of GPUs that the windows leave no time for have no z, so none of their delays
    becomes a huge coefficient (ours).
    """
    model, instance, gpus = core.pyomo_model, core.instance, core.gpus
    delays = {edge: possible_delays(core, edge) for edge in range(instance.num_edges)}
    delayed = [edge for edge in delays if instance.transfer_delays(edge).any()]
    model.both = pyo.Var([(edge, k, l) for edge in delayed for k, l in delays[edge]], bounds=(0, 1))
    ends = instance.edges.tolist()

    def leaves(m: pyo.ConcreteModel, edge: int, k: int) -> object:
        h, i = ends[edge]
        return sum(m.both[edge, k, l] for l in gpus[i] if (k, l) in delays[edge]) == core.on[h, k]

    def arrives(m: pyo.ConcreteModel, edge: int, l: int) -> object:
        h, i = ends[edge]
        return sum(m.both[edge, k, l] for k in gpus[h] if (k, l) in delays[edge]) == core.on[i, l]

    def after(m: pyo.ConcreteModel, edge: int) -> object:
        h, i = ends[edge]
        transfer = sum(ticks * m.both[edge, k, l] for (k, l), ticks in delays[edge].items() if ticks)
        return m.start[i] >= core.finish(h) + transfer

    model.leaves = pyo.Constraint([(edge, k) for edge in delayed for k in gpus[ends[edge][0]]], rule=leaves)
    model.arrives = pyo.Constraint([(edge, l) for edge in delayed for l in gpus[ends[edge][1]]], rule=arrives)
    model.after = pyo.Constraint(list(delays), rule=after)


def set_reduced_transfers(core: CoreModel, schedule: DagSchedule) -> None:
    """Give the variables of the transfers their values in a schedule within the windows."""
    gpu = schedule.gpu.tolist()
    for edge, k, l in core.pyomo_model.both:
        h, i = core.instance.edges[edge].tolist()
        core.pyomo_model.both[edge, k, l].set_value(float(gpu[h] == k and gpu[i] == l))


def set_orders(core: CoreModel, schedule: DagSchedule) -> None:
    """Give the order binaries ``first[h, i]`` their values in a schedule."""
    finish = finish_times(core.instance, schedule)
    for h, i in core.pyomo_model.first:
        core.pyomo_model.first[h, i].set_value(int(finish[h] <= schedule.start[i]))


def possible_delays(core: CoreModel, edge: int) -> dict[tuple[int, int], int]:
    """Return the delays of an edge in ticks for the pairs of GPUs (from, to) that the windows leave time for."""
    h, i = core.instance.edges[edge].tolist()
    delays, durations = core.instance.transfer_delays(edge), core.instance.durations
    leaves = core.within.around.heads[h] + durations[h]
    due = core.within.latest_finish[i] - durations[i]
    pairs = product(core.gpus[h], core.gpus[i])
    return {(k, l): int(delays[k, l]) for k, l in pairs if leaves[k] + delays[k, l] <= due[l]}
