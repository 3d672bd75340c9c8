"""HiGHS on a compiled MILP: gaps that mean a proof, incumbents and bounds as they come, interrupts, silence."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import numpy as np

from heuristics.search.clock import Stopwatch
from solvers.run.exact_run import in_second_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import highspy
    import pyomo.environ as pyo
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompiledMilp:
    """Minimise cost x + offset, row_lower <= A x <= row_upper, lower <= x <= upper, some columns integer.

    Parameters
    ----------
    cost, lower, upper, is_integer, start
        Per column; `start` is a complete solution to begin with, or None.
    offset
        Constant of the objective.
    column_starts, row_indices, entries
        A by columns, as in SciPy's CSC format.
    """

    cost: NDArray[np.float64]
    offset: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    is_integer: NDArray[np.bool_]
    start: NDArray[np.float64] | None
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    column_starts: NDArray[np.int32]
    row_indices: NDArray[np.int32]
    entries: NDArray[np.float64]


def compile_milp(model: pyo.ConcreteModel, *, has_start: bool) -> tuple[CompiledMilp, list[pyo.Var]]:
    """Turn a linear Pyomo model with one objective into arrays.

    Parameters
    ----------
    model
        All constraints linear; variables continuous or binary.
    has_start
        Whether the variables hold a complete solution to begin with.

    Returns
    -------
    tuple
        The arrays, and the Pyomo variable of every column.
    """
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    kind = np.array([bound for _, bound in form.rows])  # -1: >=, 0: =, 1: <=
    matrix = form.A.tocsc()
    columns = form.columns
    milp = CompiledMilp(
        cost=np.asarray(form.c.todense(), dtype=np.float64).reshape(-1),
        offset=float(form.c_offset[0]),
        lower=np.array([-np.inf if column.lb is None else column.lb for column in columns], dtype=np.float64),
        upper=np.array([np.inf if column.ub is None else column.ub for column in columns], dtype=np.float64),
        is_integer=np.array([column.is_integer() for column in columns], dtype=np.bool_),
        start=np.array([column.value for column in columns], dtype=np.float64) if has_start else None,
        row_lower=np.where(kind <= 0, form.rhs, -np.inf),
        row_upper=np.where(kind >= 0, form.rhs, np.inf),
        column_starts=matrix.indptr.astype(np.int32),
        row_indices=matrix.indices.astype(np.int32),
        entries=matrix.data.astype(np.float64),
    )
    return milp, columns


_lock = threading.Lock()
_silences: list[_Silence] = []
_count = 0


@contextmanager
def silenced() -> Iterator[None]:
    """Send what C code writes to standard output nowhere; what Python prints still goes where it went.

    HiGHS 1.12 prints a line now and then although its output is switched off (ERGO-Code/HiGHS#2783), which would break
    the JSON document on standard output. Several threads may be inside at the same time.
    """
    global _count
    with _lock:
        if _count == 0:
            _silences.append(_Silence())
        _count += 1
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if _count == 0:
                _silences.pop().end()


class _Silence:
    """Descriptor 1 points nowhere until `end`; nothing is done where there is no such descriptor."""

    def __init__(self) -> None:
        self._saved: int | None = None
        self._python: TextIO | None = None
        _flush()
        try:
            self._saved = os.dup(1)
        except OSError:
            return
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        if _is_descriptor_1(sys.stdout):
            self._python = sys.stdout
            sys.stdout = open(  # noqa: SIM115  # closed by `end`
                self._saved, "w", buffering=1, encoding=self._python.encoding, errors=self._python.errors, closefd=False
            )

    def end(self) -> None:
        """Undo everything."""
        if self._saved is None:
            return
        _flush()
        if self._python is not None:
            ours, sys.stdout = sys.stdout, self._python
            ours.close()
        os.dup2(self._saved, 1)
        os.close(self._saved)


def _is_descriptor_1(stream: TextIO | None) -> bool:
    """Say whether a stream writes to descriptor 1."""
    try:
        return stream is not None and stream.fileno() == 1
    except (OSError, ValueError, AttributeError):  # a notebook's or a test's
        return False


def _flush() -> None:
    """Write out what Python and the C library have buffered for descriptor 1."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError, TypeError):  # no C library of that kind: nothing of it is buffered
        ctypes.CDLL(None).fflush(None)


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
    absolute_gap
        Gap between solution and bound that ends the run: just below the least step of the objective. The relative gap
        is 0, for HiGHS's default of 1e-4 is no proof.
    time_limit
        Limit in seconds; infinite for no limit.
    presolve
        Whether to presolve; off for a second opinion (wrong answers of HiGHS have been presolve's).
    report
        Receives every better objective and bound; called from another thread.
    should_stop
        Called about twenty times a second; True ends the search.
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

    def work() -> None:
        with silenced():
            highs.run()

    in_second_thread(work, should_stop, stopping.set)
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
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = (milp.column_starts, milp.row_indices, milp.entries)
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
