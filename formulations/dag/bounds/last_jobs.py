"""Weighted completion by which job ends last: what the makespans of sets of jobs add to bounds on single jobs."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.probing.refuter import largest_refuted
from formulations.dag.subproblem import part_of
from formulations.time_left import without_limit
from instances.dag.graph import within_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance

Jobs = tuple[int, ...]
"""Some jobs, by number."""

MOST_SETS = 30
"""Sets of jobs whose makespan is asked for."""


class LastJobs(NamedTuple):
    """Lower bounds on the completion times of all jobs, shape (jobs,), and on the makespans of some sets of jobs."""

    completion: list[int]
    makespan: dict[Jobs, int]

    def bound(self, weight: Sequence[int]) -> int:
        """Return the bound on the weighted completion that follows."""
        known: dict[Jobs, int] = {}

        def excess(jobs: Jobs) -> int:
            """Return by how much the weighted completion of these jobs exceeds that of their least times."""
            if jobs not in self.makespan:
                return 0
            if jobs not in known:
                known[jobs] = min(self.cost(weight, jobs, j) + excess(without(jobs, j)) for j in jobs)
            return known[jobs]

        alone = sum(w * time for w, time in zip(weight, self.completion, strict=True))
        return alone + excess(all_jobs(weight))

    def cost(self, weight: Sequence[int], jobs: Jobs, job: int) -> int:
        """Return what it adds if the last of some jobs is this one."""
        return weight[job] * max(0, self.makespan[jobs] - self.completion[job])


def all_jobs(weight: Sequence[int]) -> Jobs:
    """Return the jobs of positive weight."""
    return tuple(job for job, w in enumerate(weight) if w > 0)


def without(jobs: Jobs, job: int) -> Jobs:
    """Return the other jobs."""
    return tuple(other for other in jobs if other != job)


def last_jobs(
    weight: Sequence[int],
    completion: Sequence[int],
    makespan_of: Callable[[Jobs], int],
    *,
    seconds_left: Callable[[], float] = without_limit,
) -> LastJobs:
    """Find sets of jobs whose makespans raise the bound on the weighted completion.

    Let the jobs of a set S end at c[j] or later, and the last of them at T or later. If j is that last one, its part of
    the weighted completion is at least w[j] (T - c[j]) above that of c[j], and the same argument holds for the others.
    Therefore the weighted completion is at least sum w[j] c[j] + f(all), with

        f(S) = min over j in S of ( w[j] max(0, T - c[j]) + f(S without j) ),

    and 0 for sets that were not asked for. The sets are asked for in the order of the least cost by which they are
    reached, as in a shortest path, until the cheapest one tells nothing or `MOST_SETS` were asked for (ours;
    docs/bounds.md, section 3.9).

    Parameters
    ----------
    weight, completion
        Weights and lower bounds on the completion times of the jobs, shape (jobs,).
    makespan_of
        Lower bound on the makespan of some jobs.
    seconds_left
        Seconds that are left; when there are none, what was found so far counts.
    """
    found = LastJobs(list(completion), {})
    reached, done = [(0, all_jobs(weight))], set[Jobs]()
    while reached and len(found.makespan) < MOST_SETS and seconds_left() > 0:
        cost, jobs = heapq.heappop(reached)
        if jobs in done:
            continue
        done.add(jobs)
        makespan = makespan_of(jobs) if len(jobs) > 1 else 0
        if makespan <= max((completion[job] for job in jobs), default=0):
            break
        found.makespan[jobs] = makespan
        for job in jobs:
            heapq.heappush(reached, (cost + found.cost(weight, jobs, job), without(jobs, job)))
    return found


def completion_proof(
    instance: DagInstance,
    found: LastJobs,
    least: Sequence[int],
    refute: Callable[[DagInstance, int, bool], list[str] | None],
    *,
    at_most: int | None,
) -> tuple[int, list[str]]:
    """Return the largest limit on the weighted completion that is refuted by which job ends last, and the lines.

    Parameters
    ----------
    found
        Bounds on the makespans of jobs and sets of jobs; where they cannot be proved, smaller ones are.
    least
        What paths say about the completion times of the jobs.
    refute
        Takes an instance of some jobs without edges between them, and a makespan, and returns lines that refute it, or
        None; only if the third argument holds, which says that there is one job, it may take its time.
    at_most
        As in `bound_certificate`.
    """
    weight, proofs, proved = instance.weight.tolist(), dict[Jobs, list[str]](), LastJobs(list(least), {})
    alone = [((job,), time) for job, time in enumerate(found.completion) if weight[job] > 0]
    for jobs, time in [*alone, *found.makespan.items()]:
        early = max(proved.completion[job] for job in jobs)
        makespan, lines = _refuted(instance, jobs, early, time, refute)
        if makespan > early:
            proofs[jobs] = lines
            if len(jobs) == 1:
                proved.completion[jobs[0]] = makespan
            else:
                proved.makespan[jobs] = makespan
    bound = proved.bound(weight) if at_most is None else min(at_most, proved.bound(weight))
    together = sum(w * time for w, time in zip(weight, proved.completion, strict=True))

    def by_last(jobs: Jobs, spent: int) -> list[str]:
        """Return lines that refute what is assumed, if the jobs outside of a set add so much."""
        if together + spent >= bound:
            return ["contradiction"]
        lines = [*(f"finish {job} {proved.makespan[jobs]}" for job in jobs), *proofs[jobs]]
        for job in jobs[::-1]:  # each time the innermost job is the last one, which leaves the others
            lines += by_last(without(jobs, job), spent + proved.cost(weight, jobs, job))
        return lines

    of_jobs = [(jobs[0], lines) for jobs, lines in proofs.items() if len(jobs) == 1]
    lines = [line for job, lines in of_jobs for line in (f"finish {job} {proved.completion[job]}", *lines)]
    return bound - 1, [*lines, *by_last(all_jobs(weight), 0)]


def _refuted(
    instance: DagInstance,
    jobs: Jobs,
    early: int,
    time: int,
    refute: Callable[[DagInstance, int, bool], list[str] | None],
) -> tuple[int, list[str]]:
    """Return the largest bound on the makespan of some jobs, up to a time, that has a proof, and its lines.

    It is `early` where there is none.
    """
    tasks = np.flatnonzero(np.isin(instance.job_of_task, jobs))
    within = within_jobs(instance)
    inside = replace(instance, edges=instance.edges[within], edge_bytes=instance.edge_bytes[within])
    part, lines = part_of(inside, tasks), list[str]()

    def is_refuted(makespan: int, takes_time: bool = False) -> bool:
        nonlocal lines
        made = refute(part, makespan, takes_time)
        lines = lines if made is None else [_renumbered(line, tasks) for line in made]
        return made is not None

    if time <= early or is_refuted(time - 1, takes_time=len(jobs) == 1):
        return max(early, time), lines
    return largest_refuted(early - 1, is_refuted, latest=time - 2) + 1, lines


def _renumbered(line: str, tasks: NDArray[np.int64]) -> str:
    """Return a line about tasks of a part of an instance as one about the same tasks of the whole."""
    word, *numbers = line.split()
    count = {"suppose": 1, "gpus": 1, "ancestors": 1, "descendants": 1, "before": 2}.get(word, 0)
    return " ".join([word, *(str(tasks[int(number)]) for number in numbers[:count]), *numbers[count:]])
