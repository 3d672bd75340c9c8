"""Tests of results of jobs and of the figures in them."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import numpy as np
import pytest

from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.dag.schedule import DagSchedule
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.objective import JobsObjective
from instances.jobs.schedule import JobsSchedule
from instances.jobs.servers import JobsServer
from solvers.result import Result, UnverifiedScheduleError
from solvers.run.bound import Bound
from solvers.run.outcome import Status, Termination
from solvers.run.recorder import TracePoint
from solvers.run.versions import versions


def _twenty() -> JobsInstance:
    """Twenty jobs of one GPU that take 1 to 20 ticks, arriving at tick 10, on twenty GPUs."""
    server = JobsServer(kind="F", gpus=20, nic_bytes_per_tick=1)
    jobs = [Job(stages=[Stage(times={"F": 1})], iterations=ticks, release=10, weight=2) for ticks in range(1, 21)]
    return JobsInstance.from_parts([server], jobs, name="twenty")


def _result(instance: JobsInstance, start: int, **options: Any) -> Result:
    """Return the result with all jobs starting at one tick."""
    schedule = JobsSchedule.from_placements(
        instance, np.full(instance.num_jobs, start), [np.ones((1, 1), dtype=np.int64)] * instance.num_jobs
    )
    given: dict[str, Any] = {"objective_name": JobsObjective.TOTAL_COMPLETION, "bound": None, **options}
    return Result(
        instance=instance,
        method="mine",
        schedule=schedule,
        termination=Termination.FINISHED,
        runtime_seconds=1.0,
        parameters={},
        seed=0,
        threads=1,
        **given,
    )


def test_figures_by_hand() -> None:
    """Tests every figure on twenty jobs that start two ticks late."""
    result = _result(_twenty(), 12)
    assert result.objective == 20 * 12 + 210
    assert result.jct is not None
    assert result.jct.tolist() == [2 + ticks for ticks in range(1, 21)]
    figures = result.statistics
    assert figures is not None
    assert (figures.jct_p50, figures.jct_p95, figures.jct_p99, figures.jct_max) == (12, 21, 22, 22)
    assert figures.jct_mean == pytest.approx(12.5)
    assert (figures.queueing_mean, figures.queueing_max) == (2.0, 2)
    assert (figures.stretch_mean, figures.stretch_max, figures.makespan) == (1.0, 1.0, 32)
    assert figures.utilisation == pytest.approx(210 / (20 * 22))


def test_weights_count_for_their_objective_only() -> None:
    """Tests that the objective that is named is the one that is computed."""
    instance = _twenty()
    total = _result(instance, 10).objective
    weighted = _result(instance, 10, objective_name=JobsObjective.WEIGHTED_COMPLETION).objective
    assert (total, weighted) == (410, 820)


def test_unverified_schedule_is_refused() -> None:
    """Tests that a result with a schedule that starts before the arrivals cannot be made."""
    with pytest.raises(UnverifiedScheduleError, match=r"^mine: schedule with 20 violations\. "):
        _result(_twenty(), 9)


def test_bound_above_the_objective_is_refused() -> None:
    """Tests that a result with a negative gap cannot be made, and one with a gap of 0 can."""
    with pytest.raises(ValueError, match=r"^bound: expected at most the objective 410, got 411\.$"):
        _result(_twenty(), 10, bound=Bound(value=411, method="b", proof="p"))
    met = _result(_twenty(), 10, bound=Bound(value=410, method="b", proof="p"))
    assert (met.gap, met.gap_kind, str(met.status)) == (0.0, "optimality gap", "optimal")
    open_gap = _result(_twenty(), 10, bound=Bound(value=205, method="b", proof="p"))
    assert (open_gap.gap, open_gap.gap_kind) == (1.0, "gap to lower bound")


def test_no_jobs() -> None:
    """Tests that an instance without jobs has objective 0 and no figures."""
    instance = JobsInstance.from_parts([JobsServer(kind="F", gpus=1, nic_bytes_per_tick=1)], [])
    result = _result(instance, 0, bound=Bound(value=0, method="b", proof="p"))
    assert (result.objective, result.statistics, result.gap, str(result.status)) == (0, None, None, "optimal")


HEFT = DagSchedule(gpu=[0, 0, 0, 1, 0], start=[0, 7, 4, 15, 10])  # 18 on example E


def result(instance: DagInstance, **fields: Any) -> Result:
    """Return a result with defaults for what a test does not care about."""
    defaults = {
        "method": "heft",
        "objective_name": Objective.MAKESPAN,
        "schedule": HEFT,
        "bound": Bound(value=15, method="area", proof="by hand"),
        "termination": Termination.FINISHED,
        "runtime_seconds": 0.25,
        "parameters": {},
        "seed": 3,
        "threads": 1,
    }
    return Result(instance=instance, **{**defaults, **fields})


def bound(value: int, *, is_optimum: bool = False) -> Bound:
    """Return a bound of some value."""
    return Bound(value=value, method="area", proof="by hand", is_optimum=is_optimum)


def test_gap_is_relative_to_the_bound(example_e: DagInstance) -> None:
    """Tests (18 - 15) / 15, and that the objective is recomputed from the schedule."""
    made = result(example_e)
    assert (made.objective, made.lower_bound, made.gap) == (18, 15, 0.2)


@pytest.mark.parametrize(
    ("fields", "objective", "lower_bound", "status"),
    [
        ({"schedule": None}, None, 15, Status.UNKNOWN),
        ({"bound": None}, 18, None, Status.FEASIBLE),
        ({"bound": bound(0)}, 18, 0, Status.FEASIBLE),
        ({"schedule": None, "bound": None}, None, None, Status.UNKNOWN),
        ({"schedule": None, "bound": None, "is_infeasible": True}, None, None, Status.INFEASIBLE),
    ],
)
def test_gap_is_none_where_unknown(
    example_e: DagInstance, fields: dict[str, Any], objective: int | None, lower_bound: int | None, status: Status
) -> None:
    """Tests that without schedule, without bound or with a bound of 0 there is no gap, and never a stand-in."""
    made = result(example_e, **fields)
    assert (made.objective, made.lower_bound, made.status) == (objective, lower_bound, status)
    assert (made.gap, made.gap_kind) == (None, None)
    assert made.summary()["gap"] == "not defined"


def test_objective_zero_is_optimal() -> None:
    """Tests that objective 0 with bound 0 is optimal although its gap is not defined."""
    instance = DagInstance.from_lists([[0]])
    made = result(instance, schedule=DagSchedule(gpu=[0], start=[0]), bound=bound(0))
    assert (made.status, made.objective, made.gap) == (Status.OPTIMAL, 0, None)


@pytest.mark.parametrize(
    ("given", "kind", "status"),
    [
        (bound(15), "gap to lower bound", Status.FEASIBLE),
        (bound(15, is_optimum=True), "optimality gap", Status.FEASIBLE),
        (bound(18), "optimality gap", Status.OPTIMAL),
    ],
)
def test_kind_of_gap(example_e: DagInstance, given: Bound, kind: str, status: Status) -> None:
    """Tests that a gap is an optimality gap only where the bound is the optimum, and that the result says so."""
    made = result(example_e, bound=given)
    assert (made.gap_kind, made.status) == (kind, status)
    assert made.summary()["gap"].endswith(f"% ({kind})")


def test_negative_gap_is_refused(example_e: DagInstance) -> None:
    """Tests that a bound above the objective makes no result."""
    with pytest.raises(ValueError, match=r"^bound: expected at most the objective 18, got 19\.$"):
        result(example_e, bound=bound(19))


def test_negative_gap_at_objective_zero_is_refused() -> None:
    """Tests the same where the objective is 0."""
    with pytest.raises(ValueError, match=r"^bound: expected at most the objective 0, got 1\.$"):
        result(DagInstance.from_lists([[0]]), schedule=DagSchedule(gpu=[0], start=[0]), bound=bound(1))


def test_unverified_schedule_is_refused_result(example_e: DagInstance) -> None:
    """Tests that a schedule with violations makes no result; the message counts all and shows three."""
    with pytest.raises(UnverifiedScheduleError) as caught:
        result(example_e, schedule=DagSchedule(gpu=[0] * 5, start=[0] * 5))
    text = str(caught.value)
    assert text.startswith("heft: schedule with 15 violations. tasks 0 and 1: overlap by 3 ticks on GPU 0.")
    assert text.count("overlap") == 3


def test_views_agree(example_e: DagInstance) -> None:
    """Tests that text, HTML and dictionary show the same fields with the same values."""
    trace = (TracePoint(seconds=0.1, evaluations=1, objective=18, lower_bound=None),)
    made = result(example_e, parameters={"insertion": True}, trace=trace)
    summary, fields = made.summary(), made.to_dict()
    assert dict(line.strip().split(": ", 1) for line in str(made).splitlines()) == summary
    assert {line.index(": ") for line in str(made).splitlines()} == {14}
    shown = re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", made._repr_html_())
    assert {label: html.unescape(text) for label, text in shown} == summary
    assert made._repr_html_().count("<svg") == 1
    assert summary == {
        "instance": fields["instance"],
        "method": fields["method"],
        "minimised": fields["objective_name"],
        "objective": str(fields["objective"]),
        "lower bound": f"{fields['lower_bound']} ({fields['lower_bound_from']['method']}: by hand)",
        "gap": f"{100 * fields['gap']:.2f} % ({fields['gap_kind']})",
        "status": fields["status"],
        "termination": fields["termination"],
        "run time": f"{fields['runtime_seconds']:.3f} s",
        "seed, threads": f"{fields['seed']}, {fields['threads']}",
    }
    assert summary["gap"] == "20.00 % (gap to lower bound)"


def test_dictionary_is_json(example_e: DagInstance) -> None:
    """Tests that the dictionary survives JSON, keeps None, and names what the result was made with."""
    trace = (TracePoint(seconds=0.1, evaluations=1, objective=18, lower_bound=None),)
    made = result(example_e, schedule=None, bound=None, trace=trace, parameters={"population": 5})
    fields = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert fields == made.to_dict()
    assert (fields["objective"], fields["lower_bound"], fields["lower_bound_from"], fields["gap"]) == (None,) * 4
    assert (fields["status"], fields["termination"]) == ("unknown", "finished")
    assert (fields["instance_sha256"], fields["parameters"]) == (example_e.sha256, {"population": 5})
    assert fields["trace"] == [[0.1, 18, None]]
    assert fields["versions"] == versions()
    assert fields["hardware"]


def test_html_without_schedule(example_e: DagInstance) -> None:
    """Tests that without a schedule there is no chart."""
    assert "<svg" not in result(example_e, schedule=None)._repr_html_()


def test_bound_as_dictionary() -> None:
    """Tests that a bound shows all its fields."""
    made = Bound(value=7, method="area", proof="LP", seconds=0.5, solver="highspy 1.12.0", is_optimum=True)
    assert made.to_dict() == {
        "value": 7,
        "method": "area",
        "proof": "LP",
        "seconds": 0.5,
        "solver": "highspy 1.12.0",
        "confirmed_by": None,
        "is_optimum": True,
        "objective_name": None,
        "threads": None,
        "seed": None,
        "hardware": None,
        "contention": "none",
    }
