"""The models that prove a schedule, as files for other solvers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from formulations.dag.probing.windows import windows
from instances.dag.contention import Contention
from instances.dag.objective import Objective, objective_value

if TYPE_CHECKING:
    from pathlib import Path

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule


def write_milp(
    instance: DagInstance, schedule: DagSchedule | None, path: Path, *, objective: str = Objective.MAKESPAN
) -> None:
    """Write the pairwise disjunctive MILP (docs/formulations.md) as ``.lp`` or ``.mps``; its optimum is the instance's.

    With a schedule the model contains only schedules that are not worse. Its variables are named after the numbers of
    tasks and GPUs, ``on(3_1)``: task 3 on GPU 1.

    Raises a `ValueError` if the schedule, or every schedule, is impossible, or the model would be too large.
    """
    from pyomo.opt import ProblemFormat

    from formulations.dag.milp.disjunctive import DisjunctiveModel
    from formulations.model_too_large import ModelTooLargeError

    within = _windows(instance, schedule, Objective(objective), Contention.NONE)
    try:
        model = DisjunctiveModel(instance, Objective(objective), within).pyomo_model
    except ModelTooLargeError as error:
        raise ValueError(str(error)) from error
    kind = ProblemFormat.mps if path.suffix.lower() == ".mps" else ProblemFormat.cpxlp
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model.write(str(path), format=kind, io_options={"symbolic_solver_labels": True})


def write_cp_sat(
    instance: DagInstance,
    schedule: DagSchedule | None,
    path: Path,
    *,
    objective: str = Objective.MAKESPAN,
    contention: str = Contention.NONE,
) -> None:
    """Write the model of CP-SAT, text as ``.pbtxt`` or binary as ``.pb`` (``CpModelProto`` of OR-Tools).

    With a schedule the model contains only schedules that are not worse, and the schedule is its hint.

    Raises a `ValueError` if the schedule, or every schedule, is impossible.
    """
    from formulations.dag.cp_sat.model import CpSatModel

    within = _windows(instance, schedule, Objective(objective), Contention(contention))
    model = CpSatModel(instance, Objective(objective), within, contention=Contention(contention))
    if schedule is not None:
        model.hint(schedule)
    model.proto_model.export_to_file(str(path))  # as text where the name ends in txt


def _windows(
    instance: DagInstance, schedule: DagSchedule | None, objective: Objective, contention: Contention
) -> Windows:
    """Return windows that contain every schedule that is not worse."""
    at_most = None if schedule is None else objective_value(instance, schedule, objective)
    within = windows(instance, objective, lower_bound=0, objective_at_most=at_most, contention=contention)
    if within.is_empty:
        raise ValueError("instance: expected one that has a schedule, got one whose windows are empty.")
    return within
