"""Tests of tables of bounds of jobs instances."""

from __future__ import annotations

import csv
import io
import re
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import solvers.lower_bound as lower_bound_module
from instances.dag.instance import DagInstance
from instances.dag.objective import Objective
from instances.generators.dag.generate import generate
from instances.generators.jobs.generate import generate_jobs
from instances.jobs.objective import JobsObjective
from solvers.bound_methods import BOUND_METHODS, JOBS_BOUND_METHODS
from solvers.lower_bound import lower_bound
from solvers.lower_bound import lower_bound as front_door
from solvers.methods import JOBS_METHODS
from solvers.problem import DAG, JOBS
from solvers.run.bound import Bound, best_bound
from solvers.run.versions import version_of
from solvers.solve import solve
from studies.analysis.bound_comparison import BoundComparison
from tests.check_latex import check_latex
from tests.jobs_strategies import jobs_instances, worked_example

if TYPE_CHECKING:
    from instances.jobs.instance import JobsInstance


def test_worked_example() -> None:
    """Tests the values of the reference by name, in the order asked for, then the exact method."""
    names = ["release-plus-duration", "virtual-srpt", "mean-busy-time", "cp-sat"]
    table = lower_bound(worked_example(), methods=names, threads=1, time_limit=60)
    assert [(bound.method, bound.value) for bound in table] == list(zip(names, [64, 54, 66, 98], strict=True))
    assert table.best is not None
    assert (table.best.method, table.best.is_optimum) == ("cp-sat", True)
    assert table.caption() == "best: 98, the optimum"


@settings(deadline=None, max_examples=15)
@given(instance=jobs_instances(max_jobs=3, max_gpus=2, max_servers=2))
def test_every_default_bound_is_below_a_schedule(instance: JobsInstance) -> None:
    """Tests that no default bound exceeds the schedule of a policy, for both objectives."""
    for objective in JobsObjective:
        table = lower_bound(instance, objective=objective)
        assert [bound.method for bound in table] == JOBS.default_bounds(instance)
        schedule = solve(instance, "wcs-duration", objective=objective, bounds=[])
        assert schedule.objective is not None
        assert all(0 <= bound.value <= schedule.objective for bound in table)


@pytest.mark.parametrize("name", ["heft", "fifo", "area", "srpt2"])
def test_others_are_no_bounds(name: str) -> None:
    """Tests that a policy, a bound of DAGs and what does not exist are refused."""
    with pytest.raises(ValueError, match=rf"^methods: expected one of virtual-srpt, .*, cp-sat, .*, got '{name}'"):
        lower_bound(worked_example(), methods=[name])


def test_every_registered_bound_and_method_can_be_imported() -> None:
    """Tests that every path leads to a function."""
    for bound in JOBS_BOUND_METHODS.values():
        module, _, function = bound.path.partition(":")
        assert callable(getattr(__import__(module, fromlist=[function]), function))
        assert bound.proof
    for method in JOBS_METHODS.values():
        assert callable(method.resolve())
        assert method.summary
        assert method.source


def test_table_states_the_sizes_of_jobs() -> None:
    """Tests that CSV, frame and LaTeX have jobs, servers and GPUs where tables of DAGs have tasks and edges."""
    instance = worked_example()
    table = lower_bound(instance)
    (first, *_) = csv.DictReader(io.StringIO(table.to_csv()))
    assert (first["num_jobs"], first["num_servers"], first["num_gpus"]) == ("3", "2", "4")
    assert "num_tasks" not in first
    assert table.to_frame()["num_jobs"].tolist() == [3] * len(table)
    assert table.to_dict()["num_servers"] == 2
    head, row = check_latex(BoundComparison([table]).to_latex())
    assert head[:4] == ["instance", "jobs", "servers", "GPUs"]
    assert row[:4] == ["worked", "3", "2", "4"]


def test_problems_are_not_mixed_in_a_table() -> None:
    """Tests that a table of bounds of both problems is refused, although they share an objective."""
    tables = [
        lower_bound(DagInstance.from_lists([[3]]), objective="weighted_completion"),
        lower_bound(worked_example(), objective="weighted_completion"),
    ]
    with pytest.raises(ValueError, match=r"^tables: expected instances of one problem, got DAGs of tasks and jobs\.$"):
        BoundComparison(tables)


def test_many_jobs_are_bounded() -> None:
    """Tests that the default bounds of a thousand jobs exist and order as they must."""
    values = {bound.method: bound.value for bound in lower_bound(generate_jobs("jobs-poisson", jobs=1000, seed=1))}
    assert values["rank-wise"] >= max(values["virtual-srpt"], values["release-plus-duration"])
    assert values["sets-of-kinds"] >= max(values.values())


def test_published_example(heft_example: DagInstance) -> None:
    """Tests the published values by name, in the order in which they were asked for, with who helped."""
    names = ["area", "critical-path", "join-aware-path", "transfer-aware-path"]
    bounds = lower_bound(heft_example, methods=names)
    assert [(bound.method, bound.value) for bound in bounds] == list(zip(names, [31, 41, 63, 54], strict=True))
    assert bounds[0].solver == f"highspy {version_of('highspy')}"
    assert [bound.solver for bound in bounds[1:]] == [None] * 3
    assert [bound.proof for bound in bounds] == [BOUND_METHODS[name].proof for name in names]
    assert not any(bound.is_optimum for bound in bounds)
    assert all(bound.seconds > 0 for bound in bounds)


@pytest.mark.parametrize("objective", ["makespan", Objective.WEIGHTED_COMPLETION])
def test_default_contains_the_best_without_search(window_example: DagInstance, objective: str) -> None:
    """Tests that no registered bound, but those that take a second, is above the default ones, listed in order."""
    default = lower_bound(window_example, objective=objective)
    quick = [name for name in BOUND_METHODS if name != "time-indexed"]
    everything = lower_bound(window_example, objective=objective, methods=quick)
    assert best_bound(default).value == best_bound(everything).value
    names = [bound.method for bound in default]
    assert names == [name for name in BOUND_METHODS if name in names]


@pytest.mark.parametrize("tasks", [100, 400])
def test_costly_bounds_are_cut_short_instead_of_left_out(tasks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that costly bounds are there at any size, in the seconds that are theirs unless they are named."""
    instance = DagInstance.from_lists([[1] * 10] * tasks)
    costly = {
        name for name, method in BOUND_METHODS.items() if method.is_costly and method.is_default and method.only is None
    }
    assert costly
    assert costly <= {bound.method for bound in lower_bound(instance)}
    monkeypatch.setattr(lower_bound_module, "COSTLY_SECONDS", 0.0)
    proofs = {bound.method: bound.proof for bound in lower_bound(instance)}
    assert all("cut short" in proofs[name] for name in costly)
    assert all("cut short" not in bound.proof for bound in lower_bound(instance, methods=sorted(costly)))


def test_exact_method_as_bound(example_e: DagInstance) -> None:
    """Tests that an exact method gives its proof as a bound that is known to be the optimum."""
    bounds = lower_bound(example_e, methods=["critical-path", "cp-sat"], threads=1)
    assert [(bound.method, bound.value) for bound in bounds] == [("critical-path", 13), ("cp-sat", 15)]
    assert bounds[1].is_optimum


def test_infeasible_instance_has_no_exact_bound() -> None:
    """Tests that an exact method that proves infeasibility is left out."""
    instance = DagInstance.from_lists([[1, 1]] * 3, task_memory=[2, 2, 2], gpu_memory=[3, 3])
    assert lower_bound(instance, methods=["cp-sat"], threads=1) == []


@pytest.mark.parametrize("name", ["heft", "woa", "area2"])
def test_heuristics_are_no_bounds(example_e: DagInstance, name: str) -> None:
    """Tests that a method that proves nothing, and an unknown one, list what there is."""
    with pytest.raises(ValueError, match=rf"^methods: expected one of critical-path, .*, cp-sat.*, got '{name}'"):
        front_door(example_e, methods=[name])


def test_unknown_objective(example_e: DagInstance) -> None:
    """Tests that an unknown objective is refused."""
    with pytest.raises(
        ValueError, match="objective: expected one of makespan, weighted_completion, stage_span, got 'cost'"
    ):
        lower_bound(example_e, objective="cost")


def test_best_bound() -> None:
    """Tests that the largest bound wins, ties go to an optimum, then to the first, and none has none."""
    weak, first, second = (Bound(value=value, method=name, proof="") for value, name in ((3, "a"), (5, "b"), (5, "c")))
    proof = Bound(value=5, method="d", proof="", is_optimum=True)
    assert best_bound([weak, first, second]) is first
    assert best_bound([weak, first, proof]) is proof
    assert best_bound([]) is None


class TickingWatch:
    """A clock on which every look takes 10 ms."""

    def __init__(self) -> None:
        self.looks = 0

    @property
    def seconds(self) -> float:
        """Return the time, which is later than the last time."""
        self.looks += 1
        return self.looks / 100


DAG_OF_40 = generate("chains", tasks=40, seed=1)


@pytest.mark.parametrize("problem", ["dag", "jobs"])
def test_time_limit_is_for_the_whole_call(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that cheap bounds come first, costly ones share what is left, and the table keeps the order asked for."""
    monkeypatch.setattr("solvers.lower_bound.Stopwatch", TickingWatch)
    instance = DAG_OF_40 if problem == "dag" else generate_jobs("jobs-small", jobs=5, seed=1)
    bounds = {"jobs": JOBS, "dag": DAG}[problem].bounds
    names = [name for name, bound in bounds.items() if not bound.knows_buffers][::-1]
    begun: list[str] = []
    table = lower_bound(instance, methods=names, time_limit=2.0, on_method=lambda name, so_far: begun.append(name))
    expected = {"dag": "join-aware-path", "jobs": "mean-busy-time"}[problem]
    assert expected in begun[:4]
    assert [bound.method for bound in table] == [name for name in names if name not in table.left_out]
    assert not table.is_interrupted
    none = lower_bound(instance, methods=names, time_limit=1e-9)
    assert ([bound.method for bound in none], len(none.left_out)) == ([begun[0]], len(names) - 1)
    assert f"time limit reached; left out: {', '.join(none.left_out)}" in str(none).replace("\n", " ")


def test_name_instead_of_a_list_and_limits() -> None:
    """Tests that one name is a method, not a list of letters, and that limits are checked for jobs too."""
    jobs = generate_jobs("jobs-small", jobs=3, seed=1)
    table = lower_bound(jobs, methods="rank-wise", objective="weighted_completion")
    assert [bound.method for bound in table] == ["rank-wise"]
    for arguments, message in (
        ({"time_limit": -1.0}, "time_limit: expected a positive number of seconds, got -1.0."),
        ({"threads": 0}, "threads: expected an integer in 1..1024, got 0."),
        ({"seed": -1}, "seed: expected an integer of at least 0, got -1."),
        (
            {"objective": "makespan"},
            "objective: expected one of total_completion, weighted_completion, got 'makespan'.",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            lower_bound(jobs, **arguments)


def test_ctrl_c_between_bounds_keeps_those_that_are_there(heft_example: DagInstance) -> None:
    """Tests that Ctrl-C in a bound without search ends the table, and that `unless_interrupted` passes it on."""
    press = {"energetic": lambda: signal.raise_signal(signal.SIGINT)}
    table = lower_bound(
        heft_example,
        methods=["critical-path", "energetic", "area"],
        on_method=lambda name, so_far: press.get(name, lambda: None)(),
    )
    assert (table.left_out, table.is_interrupted) == (["area"], True)
    assert [bound.proof.endswith("cut short") for bound in table] == [False, True]
    with pytest.raises(KeyboardInterrupt):
        table.unless_interrupted()
