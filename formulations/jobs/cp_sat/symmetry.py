"""Rows that keep one of schedules that differ by exchanges of like servers or jobs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from formulations.jobs.like_servers import like_jobs, like_servers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.sat.python import cp_model

    from formulations.jobs.pattern_table import PatternTable
    from instances.jobs.jobs_instance import JobsInstance


def break_symmetry(
    model: cp_model.CpModel,
    instance: JobsInstance,
    table: PatternTable,
    weights: Sequence[int],
    start: Sequence[cp_model.IntVar],
    chosen: Sequence[Sequence[cp_model.IntVar]],
) -> list[tuple[cp_model.IntVar, int, int, int]]:
    """Add that the schedule is in normal form (`normal_form`).

    Parameters
    ----------
    model
        To be completed.
    instance, table, weights
        What is scheduled; the table is exact.
    start, chosen
        Start of each job, and a literal for each of its patterns.

    Returns
    -------
    list
        Literals that two neighbouring like servers have equal usage for all jobs below a number, as (literal, server,
        other server, number of jobs): a hint needs their values.
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
