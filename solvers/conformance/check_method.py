"""The conformance kit: what every method must do, and a way to hold your own to it."""

from __future__ import annotations

import io
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.search.progress import Callback
from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.instance import DagInstance
from instances.dag.objective import FINISH_OBJECTIVES, Objective
from instances.dag.pipeline import pipeline_instance
from instances.json_document import content_hash
from instances.readers.optgap_json import codec_of
from solvers.lower_bound import lower_bound
from solvers.methods import KINDS_WITH_RUN
from solvers.problem import DAG
from solvers.result import AlteredInstanceError, UnverifiedScheduleError
from solvers.run.contradiction import ContradictionError
from solvers.run.outcome import Status, Termination
from solvers.solve import solve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heuristics.search.progress import Progress
    from instances.dag.schedule import DagSchedule
    from instances.readers.optgap_json import Instance
    from solvers.methods import Kind
    from solvers.result import Result
    from solvers.run.bound import Bound


class ConformanceError(AssertionError):
    """A method does not do what every method must."""


class CtrlC(Callback):
    """Presses Ctrl-C as soon as the run begins."""

    def on_start(self) -> None:
        """Press."""
        signal.raise_signal(signal.SIGINT)


@contextmanager
def captured_output() -> Iterator[Callable[[], str]]:
    """Catch what is written to Python's two streams and to the two descriptors below them."""
    stream = io.StringIO()
    with tempfile.TemporaryFile() as file, redirect_stdout(stream), redirect_stderr(stream):

        def read() -> str:
            file.seek(0)
            return stream.getvalue() + str(file.read().decode(errors="replace"))

        saved = [(number, os.dup(number)) for number in (1, 2)]
        try:
            for number, _ in saved:
                os.dup2(file.fileno(), number)
            yield read
        finally:
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)


@cache
def check_instances() -> tuple[DagInstance, ...]:
    """Return the instances of the conformance kit; all have schedules, and each fits into a second of exact solving."""
    return (
        DagInstance.from_lists([], num_gpus=2, name="no tasks"),
        DagInstance.from_lists([[3]], name="one task, one GPU"),
        DagInstance.from_lists([[0, 0], [0, 0], [0, 0]], [(0, 1, 5), (1, 2, 0)], name="all durations 0"),
        DagInstance.from_lists([[2], [3], [4]], [(0, 2, 9)], name="one GPU"),
        DagInstance.from_lists([[2, 2]] * 5, name="all ties, no edges"),
        DagInstance.from_lists(
            [[2, 4], [4, 2], [3, 3], [1, 5]], [(0, 1, 4), (2, 3, 4)], latency=2, name="two components"
        ),
        DagInstance.from_lists(
            [[1, None, 9], [None, 2, 2], [3, None, None], [4, 4, None]], [(0, 3, 7), (1, 3, 7)], name="not allowed"
        ),
        DagInstance.from_lists(
            [[2, 3], [2, 3], [5, 1], [5, 1]],
            [(0, 2, 3), (1, 3, 3)],
            task_memory=[4, 4, 4, 4],
            gpu_memory=[8, 8],
            name="memory exactly full",
        ),
        DagInstance.from_lists(
            [[4, 5], [3, 3], [3, 8], [8, 3], [6, None]],
            [(0, 1, 6), (0, 2, 2), (1, 3, 8), (2, 3, 8), (2, 4, 2)],
            latency=1,
            bytes_per_tick=2.0,
            task_memory=[4] * 5,
            gpu_memory=[12, None],
            name="one GPU without a limit",
        ),
        DagInstance.from_lists(
            [[3, 2], [2, 2], [4, 4], [1, 1]],
            [(0, 1, 2), (2, 3, 2)],
            job_of_task=[0, 0, 1, 2],
            release=[5, 0, 3],
            weight=[1, 3, 0],
            name="jobs with releases and weights",
        ),
        *(_random_instance(seed) for seed in range(4)),
    )


@cache
def buffered_check_instances() -> tuple[DagInstance, ...]:
    """Return two small instances whose tasks hold memory until others release it: one with a group, and a pipeline."""
    return (
        DagInstance.from_lists(
            [[2, 3], [3, 2], [2, 2], [1, 4], [2, 1]],
            [(0, 2, 2), (1, 3, 2), (2, 4, 0), (3, 4, 0)],
            task_memory=[1] * 5,
            gpu_memory=[9, 9],
            buffers=[(0, 3, [2]), (1, 3, [3]), (2, 2, [4])],
            groups=[0, None, 0, None, None],
            name="buffers and a group",
        ),
        pipeline_instance(
            micro_batches=2, forward=[2, 3], backward=[3, 2], weight=[1, 2], transfer=1, fused=True, limits=[2, 2]
        ),
    )


def _random_instance(seed: int) -> DagInstance:
    """Return a random instance of 5 to 9 tasks on 2 or 3 GPUs with links of several speeds."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    durations: list[list[int | None]] = [[int(ticks) for ticks in row] for row in rng.integers(0, 12, size=(n, m))]
    for task in range(n):
        if rng.random() < 0.3:
            durations[task][int(rng.integers(m))] = None
    edges = [(tail, head, int(rng.integers(0, 20))) for head in range(n) for tail in range(head) if rng.random() < 0.3]
    return DagInstance.from_lists(
        durations,
        edges,
        latency=rng.integers(0, 3, size=(m, m)).tolist(),
        bytes_per_tick=rng.choice([0.5, 2.0, 3.0], size=(m, m)).tolist(),
        job_of_task=rng.integers(2, size=n).tolist(),
        release=[0, int(rng.integers(6))],
        weight=[1, 2],
        name=f"random {seed}",
    )


MethodLike = str | Callable[..., "DagSchedule | None"]

BUDGET = 45
"""Evaluations given to searches by the checks."""


def check_method(method: MethodLike) -> None:
    """Run every check of the kit on one method.

    Parameters
    ----------
    method
        Name of a registered method, or a function as `solve` takes it.

    Raises
    ------
    ConformanceError
        If a check fails; the message names check, instance and what was expected.
    UnverifiedScheduleError, ContradictionError
        If a schedule does not verify, or is better than a proven bound.

    Examples
    --------
    >>> import optgap
    >>> optgap.check_method("heft")
    """
    for check in CHECKS.values():
        check(method)


def _run(instance: DagInstance, method: MethodLike, **options: Any) -> Result:
    """Solve with one thread and no bounds but those that are given; searches get the kit's budget."""
    if kind_of(method) == "search":
        options.setdefault("stop", MaxEvaluations(BUDGET))
    options.setdefault("bounds", [])
    try:
        return solve(instance, method, threads=1, **options)
    except (UnverifiedScheduleError, ContradictionError) as error:
        error.add_note(f"The instance is {instance.name!r}, one of check_instances() in {__name__}.")
        raise


def _bounds(instance: DagInstance, method: MethodLike, objective: Objective) -> list[Bound]:
    """Return what a schedule is held against; nothing for methods with a run, whose work bounds would do."""
    return [] if kind_of(method) in KINDS_WITH_RUN else _known_bounds(instance, objective)


@cache
def _known_bounds(instance: DagInstance, objective: Objective) -> list[Bound]:
    return list(lower_bound(instance, objective=objective))


def kind_of(method: MethodLike) -> Kind:
    """Return the kind of a method for DAGs."""
    return DAG.resolve_method(method)[0]


def expect(holds: bool, check: str, instance: Instance, expected: str) -> None:
    """Raise where something does not hold."""
    if not holds:
        raise ConformanceError(f"{check}, instance {instance.name!r}: expected {expected}.")


def expect_unchanged(instance: Instance, run: Callable[[], object]) -> None:
    """Raise where a run changes the instance."""
    document = codec_of(instance).instance_document
    before = content_hash(document(instance))
    try:
        run()
    except AlteredInstanceError as error:
        raise ConformanceError(f"instance unchanged, instance {instance.name!r}: {error}") from error
    after = content_hash(document(instance))
    expect(before == after, "instance unchanged", instance, "the same content hash after the run")


def expect_silent(instance: Instance, run: Callable[[], object]) -> None:
    """Raise where a run prints something."""
    with captured_output() as read:
        run()
        printed = read()
    expect(not printed, "silent", instance, f"nothing printed, got {printed[:60]!r}")


def check_verified(method: MethodLike) -> None:
    """Check that schedules verify, for both objectives, and none is below a bound (`solve` raises otherwise)."""
    for instance in check_instances():
        for objective in FINISH_OBJECTIVES:
            bounds = _bounds(instance, method, objective)
            result = _run(instance, method, objective=objective, seed=1, bounds=bounds)
            limited = bool((instance.gpu_memory >= 0).any())
            found = result.schedule is not None
            expect(found or limited, "verified", instance, "a schedule where there are no memory limits")
            if kind_of(method) == "exact":
                expect(result.status is Status.OPTIMAL, "verified", instance, "a proof on a tiny instance")


def check_released_memory(method: MethodLike) -> None:
    """Check that a registered method keeps buffers and groups under every objective, or refuses them with a reason."""
    if not isinstance(method, str):
        return  # what a function of one's own returns is verified in every run
    for instance in buffered_check_instances():
        for objective in Objective:
            try:
                bounds = _bounds(instance, method, objective)
                result = _run(instance, method, objective=objective, seed=1, bounds=bounds)
            except ValueError as error:
                expect(": expected " in str(error), "buffers", instance, f"a reason for the refusal, got {error}")
                continue
            if kind_of(method) == "exact":
                expect(result.status is Status.OPTIMAL, "buffers", instance, "a proof on a tiny instance")


def check_repeatable(method: MethodLike) -> None:
    """Check that the same seed gives the same schedule, bit for bit."""
    for instance in check_instances():
        first, second = (_run(instance, method, seed=7).schedule for _ in range(2))
        same = (first is None and second is None) or (
            first is not None
            and second is not None
            and np.array_equal(first.gpu, second.gpu)
            and np.array_equal(first.start, second.start)
        )
        expect(same, "repeatable", instance, "the same schedule from the same seed")


def check_budget(method: MethodLike) -> None:
    """Check that a search uses its budget of evaluations to the unit."""
    if kind_of(method) != "search":
        return
    for instance in check_instances():
        counter = _Counter()
        result = _run(instance, method, stop=MaxEvaluations(37), callback=counter)
        expect(counter.evaluations == 37, "budget", instance, f"37 evaluations, got {counter.evaluations}")
        expect(
            result.termination is Termination.EVALUATIONS, "budget", instance, f"evaluations, got {result.termination}"
        )


def check_callback_stops(method: MethodLike) -> None:
    """Check that a callback that wants to stop is obeyed at once; what was found is kept."""
    for instance in check_instances():
        counter = _Counter(stop_after=5)
        result = _run(instance, method, callback=counter)
        if kind_of(method) == "search":
            expect(counter.evaluations == 5, "callback stops", instance, f"5 evaluations, got {counter.evaluations}")
            expect(result.termination is Termination.INTERRUPTED, "callback stops", instance, "termination interrupted")


def check_interrupt(method: MethodLike) -> None:
    """Check that Ctrl-C ends the run in order: a result, never an exception, with the best so far."""
    if threading.current_thread() is not threading.main_thread():
        return  # Python delivers signals to the main thread only
    for instance in check_instances():
        result = _run(instance, method, callback=CtrlC())
        expect(
            result.termination in (Termination.INTERRUPTED, Termination.FINISHED),
            "interrupt",
            instance,
            f"termination interrupted (or finished before it was heard), got {result.termination}",
        )
        if kind_of(method) == "search":
            expect(result.termination is Termination.INTERRUPTED, "interrupt", instance, "termination interrupted")


def check_instance_unchanged(method: MethodLike) -> None:
    """Check that the instance is the same after the run."""
    for instance in check_instances():
        expect_unchanged(instance, partial(_run, instance, method))


def check_silent(method: MethodLike) -> None:
    """Check that nothing is printed, not even by libraries below Python."""
    for instance in check_instances():
        expect_silent(instance, partial(_run, instance, method))


def check_time_limit(method: MethodLike) -> None:
    """Check that a time limit ends in a result."""
    for instance in check_instances():
        result = solve(instance, method, threads=1, time_limit=0.02)
        allowed = (Termination.TIME_LIMIT, Termination.FINISHED)
        expect(result.termination in allowed, "time limit", instance, f"time_limit, got {result.termination}")


CHECKS: dict[str, Callable[[MethodLike], None]] = {
    "verified": check_verified,
    "buffers": check_released_memory,
    "repeatable": check_repeatable,
    "budget": check_budget,
    "callback-stops": check_callback_stops,
    "interrupt": check_interrupt,
    "instance-unchanged": check_instance_unchanged,
    "silent": check_silent,
    "time-limit": check_time_limit,
}
"""The checks by name; each takes a method."""


class _Counter(Callback):
    """Counts evaluations and may stop after a number of them."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.evaluations = 0
        self._stop_after = stop_after

    def on_evaluation(self, progress: Progress) -> None:
        """Count."""
        self.evaluations += 1
        if progress.evaluations != self.evaluations:
            raise ConformanceError(f"budget: expected evaluation {self.evaluations}, got {progress.evaluations}.")
        if self._stop_after is not None and self.evaluations >= self._stop_after:
            self.wants_stop = True
