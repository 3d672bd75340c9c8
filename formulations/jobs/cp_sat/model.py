"""The CP-SAT model of the jobs problem: built from patterns, with symmetry breaking, mapped back to a schedule."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from formulations.jobs.interchangeable import jobs_normal_form, like_jobs, like_servers
from formulations.jobs.pattern_table import PatternSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ortools.sat.python import cp_model

    from formulations.jobs.pattern_table import PatternTable
    from instances.jobs.instance import JobsInstance


class JobsCpSatModel:
    """Jobs in CP-SAT: a start and a choice of pattern per job, an optional interval per pattern, a resource per group.

        sum over patterns p of y[i,p] = 1,   r[i] <= s[i],   s[i] + sum_p d[i,p] y[i,p] <= latest[i]
        cumulative over (i, p) with y[i,p] of usage[p, v] within capacity[v]        for every group v
        cumulative over i of g[i] within G                                          (redundant; strengthens the bound)
        minimise sum_i w[i] (s[i] + sum_p d[i,p] y[i,p]) >= lower_bound

    With an exact table its schedules are those of the problem within `latest`; with a relaxation its bound is a bound
    on the problem (docs/formulations.md, section 12.2).

    Parameters
    ----------
    latest
        Latest completion of each job in ticks, see `latest_completions`.
    lower_bound
        Proven bound on the schedules of the table, which becomes a row of the model.
    at_most
        If given, schedules of at most this objective only.
    symmetry
        Whether to keep normal forms only; ignored unless the table is exact.
    """

    def __init__(
        self,
        instance: JobsInstance,
        table: PatternTable,
        weights: Sequence[int],
        latest: Sequence[int],
        *,
        lower_bound: int = 0,
        at_most: int | None = None,
        symmetry: bool = True,
    ) -> None:
        from ortools.sat.python import cp_model

        self.proto_model = model = cp_model.CpModel()
        self._instance, self._table, self._weights = instance, table, tuple(weights)
        self._has_symmetry = symmetry and table.is_exact
        release = instance.release.tolist()
        least = table.least_durations.tolist()
        self._start = [
            model.new_int_var(release[job], max(release[job], latest[job] - least[job]), f"start[{job}]")
            for job in range(instance.num_jobs)
        ]
        self._chosen: list[list[cp_model.IntVar]] = []
        whole, on_group = [], [[] for _ in range(table.num_groups)]  # type: ignore[var-annotated]  # pairs
        ends = []
        for job, own in enumerate(table.patterns):
            literals = [model.new_bool_var(f"pattern[{job},{number}]") for number in range(len(own))]
            self._chosen.append(literals)
            model.add_exactly_one(literals)
            longest = max(pattern.duration for pattern in own)
            duration = model.new_int_var(least[job], longest, f"duration[{job}]")
            head = release[job] + least[job]
            end = model.new_int_var(head, max(latest[job], head), f"end[{job}]")
            if latest[job] < head:
                model.add_bool_or([])  # no schedule is within the limits
            model.add(duration == sum(p.duration * literal for p, literal in zip(own, literals, strict=True)))
            whole.append(model.new_interval_var(self._start[job], duration, end, f"run[{job}]"))
            ends.append(end)
            for number, (pattern, literal) in enumerate(zip(own, literals, strict=True)):
                interval = model.new_optional_fixed_size_interval_var(
                    self._start[job], pattern.duration, literal, f"run[{job},{number}]"
                )
                for group, count in enumerate(pattern.usage.tolist()):
                    if count:
                        on_group[group].append((interval, count))
        for group, capacity in enumerate(table.capacity.tolist()):
            if on_group[group]:
                intervals, demands = zip(*on_group[group], strict=True)
                model.add_cumulative(intervals, demands, capacity)
        if instance.num_jobs:
            model.add_cumulative(whole, instance.gang_size.tolist(), instance.num_gpus)
        objective = sum(weight * end for weight, end in zip(self._weights, ends, strict=True))
        if instance.num_jobs:
            model.add(objective >= lower_bound)
            if at_most is not None:
                model.add(objective <= at_most)
        self._ends = ends
        self._equal = (
            break_jobs_symmetry(model, instance, table, self._weights, self._start, self._chosen)
            if self._has_symmetry
            else []
        )
        model.minimize(objective)

    def hint(self, schedule: PatternSchedule) -> None:
        """Hint a complete solution."""
        if self._has_symmetry:
            schedule = jobs_normal_form(self._instance, self._table, self._weights, schedule)
        model = self.proto_model
        model.clear_hints()
        for job, (start, number) in enumerate(zip(schedule.start, schedule.pattern, strict=True)):
            model.add_hint(self._start[job], start)
            model.add_hint(self._ends[job], start + self._table.patterns[job][number].duration)
            for own, literal in enumerate(self._chosen[job]):
                model.add_hint(literal, own == number)
        usages = [self._table.patterns[job][own].usage for job, own in enumerate(schedule.pattern)]
        for literal, v, u, count in self._equal:
            model.add_hint(literal, all(usage[v] == usage[u] for usage in usages[:count]))

    def schedule(self, value: Callable[[cp_model.IntVar], int]) -> PatternSchedule:
        """Map a solution, given as a function from variable to value, back to starts and patterns."""
        chosen = [next(n for n, literal in enumerate(own) if value(literal)) for own in self._chosen]
        return PatternSchedule(start=tuple(value(start) for start in self._start), pattern=tuple(chosen))


def break_jobs_symmetry(
    model: cp_model.CpModel,
    instance: JobsInstance,
    table: PatternTable,
    weights: Sequence[int],
    start: Sequence[cp_model.IntVar],
    chosen: Sequence[Sequence[cp_model.IntVar]],
) -> list[tuple[cp_model.IntVar, int, int, int]]:
    """Require that the schedule is in normal form (`jobs_normal_form`); the table is exact.

    Parameters
    ----------
    start, chosen
        Start of each job, and a literal for each of its patterns.

    Returns
    -------
    list
        Literals that two neighbouring like servers have equal usage for all jobs below a number, as (literal, server,
        other server, number of jobs); a hint needs their values.
    """
    for jobs in like_jobs(instance, weights):
        for earlier, later in itertools.pairwise(jobs):
            model.add(start[earlier] <= start[later])
    equal_so_far = []
    for servers in like_servers(instance):
        for v, u in itertools.pairwise(servers):
            equal: cp_model.IntVar | None = None  # None: true, before the first job
            for job, own in enumerate(table.patterns):
                following = model.new_bool_var(f"equal[{v},{u},{job}]")
                equal_so_far.append((following, v, u, job + 1))
                for literal, pattern in zip(chosen[job], own, strict=True):
                    clause = [literal.negated()] if equal is None else [equal.negated(), literal.negated()]
                    if pattern.usage[v] < pattern.usage[u]:
                        model.add_bool_or(clause)
                    elif pattern.usage[v] == pattern.usage[u]:
                        model.add_bool_or([*clause, following])
                equal = following
    return equal_so_far
