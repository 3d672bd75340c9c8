"""The verifier's checks of GPUs that a schedule names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.jobs.jobs_violations import GpuOverbooked, GpuTwice, JobsViolation, PairNotAllowed, UnknownGpu

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from instances.jobs.jobs_instance import JobsInstance

Gpus = dict[int, list[int]]
"""GPUs of a job by server."""


def misnamed(instance: JobsInstance, job: int, gpus: Gpus) -> Iterator[JobsViolation]:
    """Find GPUs that a server does not have, and two replicas of a job on one GPU."""
    for server, numbers in gpus.items():
        count = int(instance.num_gpus_of[server])
        for gpu in numbers:
            if not 0 <= gpu < count:
                yield UnknownGpu(job=job, server=server, gpu=gpu, num_gpus=count)
        for gpu in sorted({gpu for gpu in numbers if numbers.count(gpu) > 1}):
            yield GpuTwice(job=job, server=server, gpu=gpu)


def overbooked(
    instance: JobsInstance, start: Sequence[int], end: Sequence[int], gpus: Sequence[Mapping[int, Sequence[int]]]
) -> Iterator[JobsViolation]:
    """Find stretches of time with more jobs on a GPU than may share it, or with two that may not share it."""
    users: dict[tuple[int, int], list[int]] = {}
    for job, own in enumerate(gpus):
        for server, numbers in own.items():
            for gpu in numbers:
                users.setdefault((server, gpu), []).append(job)
    for (server, gpu), jobs in sorted(users.items()):
        there: list[int] = []
        for job in sorted(jobs, key=lambda job: (start[job], job)):
            begin = start[job]
            there = [other for other in there if end[other] > begin]
            for other in there:
                if not _may_share(instance, job, other):
                    pair, until = (min(job, other), max(job, other)), min(end[job], end[other])
                    yield PairNotAllowed(server=server, gpu=gpu, begin=begin, end=until, jobs=pair)
            there.append(job)
            if len(there) > instance.share:
                until = sorted(end[other] for other in there)[-instance.share - 1]
                together = tuple(sorted(there))
                yield GpuOverbooked(server=server, gpu=gpu, begin=begin, end=until, jobs=together, share=instance.share)


def _may_share(instance: JobsInstance, one: int, other: int) -> bool:
    """Say whether the classes of two jobs may share a GPU."""
    if instance.interference is None or instance.share == 1:
        return True  # that they share at all is a violation of its own
    classes = instance.interference.job_class
    return int(instance.interference.pair[classes[one], classes[other]]) >= 1
