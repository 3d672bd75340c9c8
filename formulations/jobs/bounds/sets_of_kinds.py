"""Jobs that may use some kinds only, on the GPUs of those kinds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from formulations.jobs.bounds.mean_busy_time import mean_busy_value
from formulations.jobs.bounds.rank_wise import rank_wise_value
from formulations.jobs.bounds.release_plus_duration import head_value
from formulations.jobs.bounds.virtual_machine_jobs import VirtualMachineJobs, work_per_gpu
from formulations.jobs.bounds.virtual_srpt import srpt_value
from instances.jobs.certified_times import gpus_of_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.jobs_objective import JobsObjective

MAX_SETS = 64
"""Once so many unions of allowed sets of kinds were found, no larger ones are looked for."""


def sets_of_kinds(instance: JobsInstance, objective: JobsObjective) -> int:
    """Return a lower bound on sum w C in ticks from jobs that are confined to some kinds.

    For a set Z of kinds let J_Z be the jobs all of whose stages may use kinds of Z only, and G_Z the GPUs of those
    kinds. While jobs of J_Z run they hold GPUs of Z, so at most G_Z are busy with them, and L1, L3 and the rank-wise
    bound of these jobs alone hold with G_Z in the place of G. To the best of them is added the best bound of all other
    jobs alone on all GPUs; the sum is a bound as the two sets of jobs are disjoint. The largest over all Z that are
    unions of sets that some job may use is returned. (The reference's refinement takes L2 for the other jobs; more is
    ours.)
    Where two jobs may share a GPU, those of Z do at most Phi times as much, too: see `VirtualMachineJobs`.
    With all kinds allowed Z is the set of all kinds only, and this is the best of L1, L2, L3 and `rank_wise`.

    Parameters
    ----------
    instance
        What is scheduled.
    objective
        What is minimised.
    """
    everything = VirtualMachineJobs.of(instance, objective)
    capacity = (gpus_of_kind(instance) * work_per_gpu(instance)[0]).tolist()
    usable = _usable_kinds(instance)
    best = _best(everything)
    for kinds in _unions(set(usable)):
        inside = [job for job, own in enumerate(usable) if own <= kinds]
        others = [job for job, own in enumerate(usable) if not own <= kinds]
        confined = everything.part(inside, num_gpus=sum(capacity[kind] for kind in kinds))
        best = max(best, _best(confined) + _best(everything.part(others)))
    return best


def _best(jobs: VirtualMachineJobs) -> int:
    """Return the best bound of some jobs on their machine."""
    if not jobs.release:
        return 0
    fractions = max(srpt_value(jobs), mean_busy_value(jobs))
    return max(math.ceil(fractions), head_value(jobs), rank_wise_value(jobs))


def _usable_kinds(instance: JobsInstance) -> list[frozenset[int]]:
    """Return the kinds that the stages of each job may use."""
    found = []
    for job in range(instance.num_jobs):
        allowed = (instance.time_of[instance.stages_of(job)] > 0).any(axis=0)
        found.append(frozenset(np.flatnonzero(allowed).tolist()))
    return found


def _unions(sets: set[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Yield unions of sets, each once; not all of them where they are many."""
    seen = set(sets)
    yield from sorted(seen, key=sorted)
    frontier = seen
    while frontier and len(seen) <= MAX_SETS:
        frontier = {one | other for one in frontier for other in sets} - seen
        seen |= frontier
        yield from sorted(frontier, key=sorted)
