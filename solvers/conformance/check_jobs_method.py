"""The conformance kit for the jobs problem: what every method must do, and a way to hold your own policy to it."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from instances.generators.jobs.generate import generate_jobs
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.servers import JobsServer
from solvers.conformance.check_method import CtrlC, expect, expect_silent, expect_unchanged
from solvers.lower_bound import lower_bound
from solvers.methods import JOBS_METHODS, KINDS_WITH_RUN
from solvers.problem import JOBS
from solvers.run.outcome import Status, Termination
from solvers.solve import solve

if TYPE_CHECKING:
    from instances.jobs.schedule import JobsSchedule
    from solvers.result import Result


def check_jobs_instances(*, with_interference: bool = False) -> list[JobsInstance]:
    """Return the instances of the conformance kit; each fits into a second of exact solving.

    Parameters
    ----------
    with_interference
        Whether to add one whose jobs slow each other down, on racks, for methods that know it.
    """
    pair = [
        JobsServer(kind="F", gpus=2, nic_bytes_per_tick=10),
        JobsServer(kind="S", gpus=2, nic_bytes_per_tick=Fraction(7, 2)),
    ]
    either: dict[str, int | None] = {"F": 2, "S": 3}
    alone = JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)
    first = Stage(times=either, replicas=2, activation_bytes=20, parameter_bytes=10)
    return [
        JobsInstance.from_parts(pair, [], name="no jobs"),
        JobsInstance.from_parts([alone], [_job({"F": 3}, iterations=2)], name="one job, one GPU"),
        JobsInstance.from_parts(pair, [_job(either, iterations=2) for _ in range(5)], name="all ties"),
        JobsInstance.from_parts(
            pair, [_job(either, replicas=4, parameters=9), _job(either, release=1)], name="a job as wide as the cluster"
        ),
        JobsInstance.from_parts(
            pair,
            [_job({"F": 2, "S": None}, iterations=3), _job({"F": None, "S": 4}, replicas=2), _job(either, replicas=3)],
            name="kinds not allowed",
        ),
        JobsInstance.from_parts(
            pair,
            [
                _job(either, iterations=9, weight=1, replicas=2),
                _job(either, release=1, iterations=1, weight=7, replicas=3, parameters=20),
                _job(either, release=1, iterations=4, weight=2),
            ],
            name="weights",
        ),
        JobsInstance.from_parts(
            pair,
            [
                Job(stages=[first, Stage(times=either)], micro_batches=2, iterations=2, release=release)
                for release in (0, 0, 30)
            ],
            name="stages, idle in between",
        ),
        *(generate_jobs("jobs-small", jobs=6, seed=seed, load=1.0) for seed in range(3)),
        *([_interfering()] if with_interference else []),
    ]


def _interfering() -> JobsInstance:
    """Return jobs that slow each other down; every server is a rack."""
    return generate_jobs(
        "jobs-small-co-located", jobs=4, seed=0, load=1.0, servers_per_rack=1, name="jobs that interfere"
    )


def _job(
    times: dict[str, int | None],
    *,
    replicas: int = 1,
    parameters: int = 0,
    iterations: int = 1,
    release: int = 0,
    weight: int = 1,
) -> Job:
    """Return a job of one stage."""
    stage = Stage(times=times, replicas=replicas, parameter_bytes=parameters)
    return Job(stages=[stage], iterations=iterations, release=release, weight=weight)


JobsMethodLike = str | Callable[..., "JobsSchedule | None"]

QUICK_BOUNDS = ("mean-busy-time", "sets-of-kinds")
"""What schedules are held against; the others take longer than a policy."""

LONGER = 3
"""By what the iterations of a job are multiplied to see who knew of them."""


def check_jobs_method(method: JobsMethodLike, **parameters: Any) -> None:
    """Run every check of the kit on one method; `check_is_online` is apart, as oracles are no online policies.

    Parameters
    ----------
    method
        Name of a registered method for jobs, or a function as `solve` takes it.

    Raises
    ------
    ConformanceError
        If a check fails; the message names check, instance and what was expected.
    UnverifiedScheduleError, ContradictionError
        If a schedule does not verify, or is better than a proven bound.
    """
    for check in JOBS_CHECKS.values():
        check(method, **parameters)


def check_jobs_verified(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that schedules verify, for both objectives, and none is below a bound (`solve` raises otherwise)."""
    is_exact = JOBS.resolve_method(method)[0] in KINDS_WITH_RUN
    for instance in _instances(method):
        for objective in JobsObjective:
            bounds = [] if is_exact else lower_bound(instance, objective=objective, methods=QUICK_BOUNDS)
            result = _run(instance, method, objective=objective, seed=1, bounds=bounds, **parameters)
            expect(result.schedule is not None, "verified", instance, "a schedule, as there always is one")
            if is_exact:
                expect(result.status is Status.OPTIMAL, "verified", instance, "a proof on a tiny instance")


def check_jobs_repeatable(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that the same seed gives the same schedule, bit for bit."""
    for instance in _instances(method):
        first, second = (_run(instance, method, seed=7, **parameters).schedule for _ in range(2))
        expect(_same(first, second), "repeatable", instance, "the same schedule from the same seed")


def check_jobs_interrupt(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that Ctrl-C ends the run in order: a result, never an exception."""
    if threading.current_thread() is not threading.main_thread():
        return  # Python delivers signals to the main thread only
    for instance in _instances(method):
        result = _run(instance, method, callback=CtrlC(), **parameters)
        allowed = (Termination.INTERRUPTED, Termination.FINISHED)
        expect(result.termination in allowed, "interrupt", instance, f"interrupted, got {result.termination}")


def check_jobs_instance_unchanged(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that the instance is the same after the run."""
    for instance in _instances(method):
        expect_unchanged(instance, partial(_run, instance, method, **parameters))


def check_jobs_silent(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that nothing is printed, not even by libraries below Python."""
    for instance in _instances(method):
        expect_silent(instance, partial(_run, instance, method, **parameters))


def check_is_online(method: JobsMethodLike, **parameters: Any) -> None:
    """Check that a policy does not know how long a job runs before it ends.

    The iterations of one job are multiplied: until its end in the first run, the second must decide the same.

    Raises a `ConformanceError` if a start before that end has moved.
    """
    for instance in _instances(method):
        first = _run(instance, method, seed=3, **parameters)
        if first.schedule is None or first.completion is None:
            continue
        for job in range(instance.num_jobs):
            iterations = instance.iterations.copy()
            iterations[job] *= LONGER
            longer = dataclasses.replace(instance, iterations=iterations)
            second = _run(longer, method, seed=3, **parameters)
            expect(second.schedule is not None, "is online", instance, "a schedule of the longer instance too")
            assert second.schedule is not None  # just looked at
            end = int(first.completion[job])
            early = np.minimum(first.schedule.start, second.schedule.start) < end
            same = all(
                first.schedule.start[other] == second.schedule.start[other]
                and np.array_equal(
                    first.schedule.placement(instance, other), second.schedule.placement(instance, other)
                )
                for other in np.flatnonzero(early).tolist()
            )
            what = f"the same decisions before tick {end}, where job {job} ends"
            expect(same, "is online", instance, what)


JOBS_CHECKS: dict[str, Callable[..., None]] = {
    "verified": check_jobs_verified,
    "repeatable": check_jobs_repeatable,
    "interrupt": check_jobs_interrupt,
    "instance-unchanged": check_jobs_instance_unchanged,
    "silent": check_jobs_silent,
}
"""The checks by name; each takes a method and its parameters."""


def _instances(method: JobsMethodLike) -> list[JobsInstance]:
    """Return the instances that a method must do right: exact methods may not know interference, policies need not."""
    is_exact = JOBS.resolve_method(method)[0] in KINDS_WITH_RUN
    knows = method in JOBS_METHODS and JOBS_METHODS[str(method)].knows_interference
    return check_jobs_instances(with_interference=knows or not is_exact)


def _run(instance: JobsInstance, method: JobsMethodLike, **options: Any) -> Result:
    """Solve with one thread, without bounds that would do an exact method's work; `check_jobs_verified` gives some."""
    options.setdefault("bounds", [])
    return solve(instance, method, threads=1, **options)


def _same(first: JobsSchedule | None, second: JobsSchedule | None) -> bool:
    """Say whether two schedules are the same bytes."""
    if first is None or second is None:
        return first is second
    names = ("start", "entry_offsets", "entry_server", "entry_count", "gpu")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)
