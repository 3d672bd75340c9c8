"""Running HiGHS on a compiled MILP: gaps that mean a proof, incumbents and bounds as they come, interrupts."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.stopwatch import Stopwatch
from solvers.silenced import silenced

if TYPE_CHECKING:
    from collections.abc import Callable

    import highspy
    from numpy.typing import NDArray

    from solvers.compiled_milp import CompiledMilp


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HighsAnswer:
    """What HiGHS found: a solution or None, its dual bound or None, and how it ended.

    `is_finished` says that HiGHS itself believes its answer to be final, `is_infeasible` that it believes there is no
    solution; neither is a proof. `is_failed` says that it gave up with an error: version 1.12 does so where its own
    best solution misses its own tolerance by a hair. Then solution and bound are the last ones that it had reported.
    """

    solution: NDArray[np.float64] | None
    dual_bound: float | None
    is_finished: bool
    is_infeasible: bool
    seconds: float
    is_failed: bool = False


def run_highs(
    milp: CompiledMilp,
    *,
    absolute_gap: float,
    time_limit: float,
    threads: int,
    seed: int,
    presolve: bool = True,
    report: Callable[[float | None, float | None], None] = lambda objective, bound: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> HighsAnswer:
    """Solve a MILP.

    Parameters
    ----------
    milp
        What is solved; its start is handed over.
    absolute_gap
        Gap between solution and bound that ends the run: just below the least step of the objective. The relative gap
        is 0, for HiGHS's default of 1e-4 is no proof.
    time_limit
        Seconds, infinite for none.
    threads, seed
        Of HiGHS.
    presolve
        Whether to presolve; off for a second opinion (wrong answers of HiGHS have been presolve's).
    report
        Told of better objectives and bounds, from another thread.
    should_stop
        Asked about twenty times a second.
    """
    highs, watch = _load(milp), Stopwatch()
    for name, value in (
        ("output_flag", False),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", absolute_gap),
        ("threads", threads),
        ("random_seed", seed % 2**31),
        ("presolve", "choose" if presolve else "off"),
    ):
        highs.setOptionValue(name, value)
    if np.isfinite(time_limit):
        highs.setOptionValue("time_limit", float(time_limit))
    stopping = threading.Event()
    heard = _Heard()

    def on_improvement(event: highspy.HighsCallbackEvent) -> None:
        heard.solution = np.array(event.data_out.mip_solution)
        report(event.data_out.objective_function_value, None)

    def on_interrupt(event: highspy.HighsCallbackEvent) -> None:
        heard.dual_bound = event.data_out.mip_dual_bound
        report(None, event.data_out.mip_dual_bound)
        if stopping.is_set():
            event.interrupt()

    highs.cbMipImprovingSolution.subscribe(on_improvement)
    highs.cbMipInterrupt.subscribe(on_interrupt)
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with silenced():
                highs.run()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="highs", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if should_stop():
                stopping.set()
    except BaseException:  # a second Ctrl-C, say: no search goes on unseen
        stopping.set()
        thread.join()
        raise
    if errors:
        raise errors[0]
    return _answer(highs, watch.seconds, heard)


class _Heard:
    """The last solution and dual bound that callbacks were told."""

    def __init__(self) -> None:
        self.solution: NDArray[np.float64] | None = None
        self.dual_bound = -np.inf


def _load(milp: CompiledMilp) -> highspy.Highs:
    """Give HiGHS the model and the start."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(milp.cost), len(milp.row_lower)
    lp.col_cost_, lp.offset_ = milp.cost, milp.offset
    lp.col_lower_, lp.col_upper_ = milp.lower, milp.upper
    lp.row_lower_, lp.row_upper_ = milp.row_lower, milp.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = (
        milp.column_starts,
        milp.row_indices,
        milp.entries,
    )
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(is_integer)] for is_integer in milp.is_integer]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.passModel(lp)
    if milp.start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = list(milp.start)
        solution.value_valid = True
        highs.setSolution(solution)
    return highs


def _answer(highs: highspy.Highs, seconds: float, heard: _Heard) -> HighsAnswer:
    """Read the outcome of a run."""
    import highspy

    info, status = highs.getInfo(), highs.getModelStatus()
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    solution = np.array(highs.getSolution().col_value) if feasible else None
    bound, is_failed = info.mip_dual_bound, status == highspy.HighsModelStatus.kSolveError
    if highs.getNumCol() and info.mip_node_count < 0:  # no integer column: an LP, whose value is its bound
        bound = info.objective_function_value if status == highspy.HighsModelStatus.kOptimal else -np.inf
    if is_failed:
        bound = heard.dual_bound
        if heard.solution is not None and len(heard.solution) == highs.getNumCol():
            solution = heard.solution
    return HighsAnswer(
        solution=solution,
        dual_bound=float(bound) if np.isfinite(bound) else None,
        is_finished=status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible),
        is_infeasible=status == highspy.HighsModelStatus.kInfeasible,
        seconds=seconds,
        is_failed=is_failed,
    )
