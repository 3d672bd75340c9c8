"""Tests of simulations at predicted speeds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.jobs.interference_predictor.features import RunningJob, server_rows, slowness
from heuristics.jobs.interference_predictor.models import ConstantModel
from heuristics.jobs.interference_predictor.predicted_co_location import PredictedCoLocation, predicted_jobs
from heuristics.jobs.interference_predictor.predictor import InterferencePredictor
from heuristics.jobs.placements.running_jobs import InterferingJobs
from instances.jobs.co_location import CoLocation, resource_demand, running_speed, slowdown
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.interference import Interference
from instances.jobs.servers import JobsServer
from tests.heuristics.jobs.interference_predictor.worlds import space_of, three_jobs
from tests.interference_strategies import two_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Truth:
    """Predicts the truth of every server."""

    def predict(
        self, instance: JobsInstance, server: int, running_jobs_on_server: Sequence[RunningJob]
    ) -> NDArray[np.float64]:
        """Return y of each job by the true model."""
        interference = instance.interference
        assert interference is not None
        rows = server_rows(space_of(instance), instance, server, running_jobs_on_server)
        y = np.zeros(len(running_jobs_on_server))
        for position, partner in zip(rows.position.tolist(), rows.partner, strict=True):
            one = running_jobs_on_server[position]
            pairs = [] if partner is None else [int(interference.pair[interference.job_class[one.job], partner])]
            speed = running_speed([slowdown(one.own, rows.load, one.sens)], pairs)
            y[position] = max(y[position], float(slowness(speed)))
        return y


def both(instance: JobsInstance) -> tuple[CoLocation, PredictedCoLocation]:
    """Return the true model, and the one that predicts the truth."""
    return CoLocation(instance), PredictedCoLocation(instance, Truth())  # type: ignore[arg-type]  # a stand-in


def constant(instance: JobsInstance, y: float) -> InterferencePredictor:
    """Return a predictor of one y."""
    return InterferencePredictor(space=space_of(instance), model=ConstantModel(value=np.array(y)))


def test_worked_example_under_the_truth() -> None:
    """Tests that perfect predictions give 769 per mille and completions at 11 and 12, as the true model does."""
    for together in both(two_jobs()):
        for job, time, ticks in ((0, 0, 10), (1, 4, 5)):
            together.start(job, time, ticks, resource_demand(two_jobs(), job, [0], [[2]]))
        assert [together.speed(job) for job in (0, 1)] == [769, 769]
        assert together.next_completion() == 11
        assert together.complete(11) == [1]
        assert together.speed(0) == 1000
        assert together.next_completion() == 12


def test_shared_gpus_and_what_if_under_the_truth() -> None:
    """Tests speeds, and speeds that would be, of a gang across servers with a partner on a GPU."""
    instance = three_jobs()
    gang = resource_demand(instance, 0, [0, 1], [[1, 1]])
    one, two = (resource_demand(instance, job, [0], [[1]]) for job in (1, 2))
    answers = []
    for together in both(instance):
        together.start(0, 0, 80, gang, [(0, 0), (1, 0)])
        together.start(2, 0, 70, two, [(0, 1)])
        asked = together.what_if(1, one, [(0, 0)])
        together.start(1, 0, 50, one, [(0, 0)])
        assert asked == (together.speed(1), {0: (1000, together.speed(0))})
        assert together.speed(2) == 1000
        # the gang: slow 1000 + 500 (1500 / 1000 - 1) = 1250 and pair 700; job 1: 1000 + 300 / 2 = 1150 and pair 800
        assert [together.speed(job) for job in (0, 1)] == [560, 695]
        answers.append([together.next_completion(), *asked[1].items()])
    assert answers[0] == answers[1]


def test_constant_predictions() -> None:
    """Tests that jobs beside others run at clip(floor(1000 exp(-y))) and a job alone at full speed."""
    instance = two_jobs()
    jobs = predicted_jobs(instance, constant(instance, float(np.log(1.25))))
    assert isinstance(jobs, InterferingJobs)
    together = jobs.together
    demands = [resource_demand(instance, job, [0], [[2]]) for job in (0, 1)]
    together.start(0, 0, 10, demands[0])
    assert together.speed(0) == 1000
    assert together.what_if(1, demands[1]) == (800, {0: (1000, 800)})
    together.start(1, 4, 5, demands[1])
    assert [together.speed(job) for job in (0, 1)] == [800, 800]
    assert together.next_completion() == 11  # job 1: ceil(5000 / 800) = 7 ticks; job 0 has 6000 - 5600 = 400 left
    assert together.complete(11) == [1]
    assert together.next_completion() == 12


def test_replicas_as_in_training() -> None:
    """Tests that the feature of replicas is the number on the server, with and without named GPUs."""
    heard: list[list[tuple[int, int, tuple[int, ...]]]] = []

    class Listener:
        """Remembers what it is asked."""

        def predict(
            self, instance: JobsInstance, server: int, running_jobs_on_server: Sequence[RunningJob]
        ) -> NDArray[np.float64]:
            """Return full speed."""
            heard.append([(one.job, one.replicas, one.partners) for one in running_jobs_on_server])
            return np.zeros(len(running_jobs_on_server))

    for instance, gpus in ((two_jobs((3, 1)), ()), (two_jobs((3, 1), pair=700), [(0, 0), (0, 1), (0, 2)])):
        together = PredictedCoLocation(instance, Listener())  # type: ignore[arg-type]  # a stand-in
        together.start(0, 0, 10, resource_demand(instance, 0, [0], [[3]]), gpus)
        together.start(1, 0, 10, resource_demand(instance, 1, [0], [[1]]), gpus[:1])
    assert heard == [[(0, 3, ())], [(0, 3, ()), (1, 1, ())], [(0, 3, ())], [(0, 3, (0,)), (1, 1, (0,))]]


def test_replicas_of_a_job_that_asks_for_nothing() -> None:
    """Tests that a gang of four without demands is taken to be spread evenly over its two servers."""
    servers = [JobsServer(kind="F", gpus=3, nic_bytes_per_tick=1)] * 2
    nothing = np.zeros((1, 1), dtype=np.int64)
    interference = Interference(resources=("cpu",), use=nothing, sens=nothing)
    instance = JobsInstance.from_parts(servers, [Job(stages=[Stage(times=3, replicas=4)])], interference=interference)
    heard: list[int] = []

    class Listener:
        """Remembers replicas."""

        def predict(
            self, instance: JobsInstance, server: int, running_jobs_on_server: Sequence[RunningJob]
        ) -> NDArray[np.float64]:
            """Return full speed."""
            heard.extend(one.replicas for one in running_jobs_on_server)
            return np.zeros(len(running_jobs_on_server))

    together = PredictedCoLocation(instance, Listener())  # type: ignore[arg-type]  # a stand-in
    together.start(0, 0, 3, resource_demand(instance, 0, [0, 1], [[2, 2]]))
    assert heard == [2, 2]


def test_without_interference() -> None:
    """Tests that an instance without interference is refused."""
    instance = two_jobs()
    with pytest.raises(ValueError, match=r"^interference: expected an instance with interference, got one without\.$"):
        predicted_jobs(dataclasses.replace(instance, interference=None), constant(instance, 0.0))
