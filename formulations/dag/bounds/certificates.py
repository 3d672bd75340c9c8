"""Certificates of lower bounds: texts from which a checker that shares no code proves the bound again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formulations.dag.ancestor_balls import far_heads_and_tails
from formulations.dag.bounds.assignment_lp import AssignmentLp, Multipliers
from formulations.dag.bounds.last_jobs import completion_proof
from formulations.dag.bounds.paths import join_aware_path
from formulations.dag.bounds.placed_paths import placed_paths_proof
from formulations.dag.bounds.probing_proof import ProbingProof
from formulations.dag.bounds.refutation_proof import MOST_STEPS, RefutationProof
from formulations.dag.bounds.refuted_makespans import MAX_DELAYS, makespans_of_jobs, probing
from formulations.dag.bounds.smith_columns import priced_columns
from formulations.dag.heads_and_tails import heads_and_tails, job_path_bounds
from formulations.dag.probing.refuter import largest_refuted
from formulations.dag.windows import horizon
from formulations.time_left import without_limit
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from instances.dag.instance import DagInstance


class BoundCertificate(NamedTuple):
    """A bound, what kind of proof it has, and the lines of the proof."""

    bound: int
    kind: str
    lines: list[str]

    def text(self, objective: Objective) -> str:
        """Return the file that the checker reads."""
        head = ["optgap-certificate 1", f"objective {objective}", f"bound {self.bound}", f"proof {self.kind}"]
        return "\n".join([*head, *self.lines, "end", ""])


def bound_certificate(
    instance: DagInstance,
    objective: Objective,
    *,
    at_most: int | None = None,
    most_cases: int = 400,
    seconds_left: Callable[[], float] = without_limit,
) -> BoundCertificate:
    """Return the certificate of the largest bound that can be written as one, of one of two kinds.

    These are `smith_columns` with its prices (weighted completion), and a refuted limit on the objective: by paths, by
    the area, by the multipliers of `placed_paths`, as `destructive` and `probing` do by windows of work with
    multipliers, by which job ends last, and in a tree of cases. When no seconds are left, what is proved so far is
    written (docs/bounds.md, section 6.1; ours).

    Parameters
    ----------
    at_most
        A bound, or the objective of a schedule: it is tried before all others, and nothing above it is.
    most_cases
        Number of cases that all attempts together may distinguish.
    """
    found, objective = [_refuted(0, [])], Objective(objective)
    is_makespan = objective == Objective.MAKESPAN
    if instance.num_tasks and (is_makespan or np.isin(instance.job_of_task, np.flatnonzero(instance.weight)).any()):
        found.append(_refuted(join_aware_path(instance, objective), []))
    if instance.num_tasks and is_makespan:
        found.append(_area_certificate(instance, seconds_left))
        if at_most is None or max(found).bound < at_most:
            placed = placed_paths_proof(instance, at_most=at_most, seconds_left=lambda: seconds_left() / 2)
            found += [] if placed is None else [BoundCertificate(placed[0], "refuted", placed[1])]
    elif instance.num_tasks:
        columns = priced_columns(instance, seconds_left=seconds_left)
        if columns is not None:
            rows = {"weight": columns.weight, "price": columns.price}
            lines = [f"fineness 0 {columns.fineness}"]
            lines += [f"{name} {i} {number}" for name, row in rows.items() for i, number in _above_zero(row)]
            found.append(BoundCertificate(columns.bound, "columns", lines))
        found.append(_by_last_jobs(instance, at_most, most_cases, seconds_left))
    if instance.num_tasks:
        refuted = _refutation(instance, objective, max(found).bound, at_most, most_cases, seconds_left)
        found += [] if refuted is None else [refuted]
    return max(found, key=lambda certificate: certificate.bound)


def _above_zero(values: Iterable[int]) -> list[tuple[int, int]]:
    """Return index and value of the entries above zero, as Python's integers."""
    return [(index, int(value)) for index, value in enumerate(values) if value > 0]


def _integers(multipliers: Multipliers) -> tuple[list[int], list[int]]:
    """Return multipliers of rows and prices of bytes in whole numbers of one size."""
    row, memory = np.maximum(multipliers.row, 0.0), np.maximum(multipliers.memory, 0.0)
    scale = (2.0**60 if memory.any() else 2.0**30) / max(float(row.sum()), 1e-200)
    return [int(entry) for entry in row * scale], [int(entry) for entry in memory * scale]


def _refuted(bound: int, loads: list[str]) -> BoundCertificate:
    """Return the certificate that a bound less one is refuted by loads and paths alone; 0 needs no proof."""
    return BoundCertificate(bound, "refuted", [f"deadline {bound - 1}", *loads, "contradiction"] if bound > 0 else [])


def _area_certificate(instance: DagInstance, seconds_left: Callable[[], float]) -> BoundCertificate:
    """Return the area bound by multipliers of the time of all GPUs and of bytes."""
    lp = AssignmentLp(instance, np.arange(instance.num_tasks), instance.allowed, seconds_left)
    lp.add_area_rows()
    gpus = [int(lp.gpu_of_pair[row.pairs[0]]) for row in lp.rows]
    row, memory = _integers(lp.solve()[0])
    if not sum(row):
        row, memory = [1] * len(gpus), [0] * instance.num_gpus
    load = dict(zip(gpus, row, strict=True))
    value = -sum(y * int(instance.gpu_memory[k]) for k, y in enumerate(memory) if y)
    cost = np.array([load.get(k, 0) for k in range(instance.num_gpus)], dtype=object) * instance.durations
    cost += np.array(memory, dtype=object) * instance.task_memory.astype(object)[:, None]
    value += sum(min(costs[allowed], default=0) for costs, allowed in zip(cost, instance.allowed, strict=True))
    release = int(instance.release[instance.job_of_task].min())
    bound = release + max(0, -(-value // sum(row)))
    lines = [f"window {k} {release} {bound - 1} {u}" for k, u in load.items() if u and release < bound - 1]
    return _refuted(bound, [*lines, *(f"memory {k} {y}" for k, y in _above_zero(memory))])


def _by_last_jobs(
    instance: DagInstance, at_most: int | None, most_cases: int, seconds_left: Callable[[], float]
) -> BoundCertificate:
    """Return the weighted completion refuted job by job, as `probing` does."""
    around = far_heads_and_tails(instance, seconds_left=seconds_left)
    if not around.allowed.any(axis=1).all() or instance.num_edges * instance.num_gpus**2 > MAX_DELAYS:
        return _refuted(0, [])
    found = makespans_of_jobs(instance, around, seconds_left=lambda: seconds_left() / 2)

    def refute(part: DagInstance, makespan: int, takes_time: bool) -> list[str] | None:
        if seconds_left() <= 0:
            return None
        lines = ProbingProof(part, makespan, lambda: seconds_left() / 2, of_jobs=True).lines(most_cases)
        if lines is None and takes_time:
            proof = RefutationProof(
                part, Objective.MAKESPAN, makespan, lambda: seconds_left() / 4, most_cases=most_cases
            )
            lines = proof.lines(PASSES, by_cases=True)
        return lines

    least = job_path_bounds(instance, heads_and_tails(instance)).tolist()
    limit, lines = completion_proof(instance, found, least, refute, at_most=at_most)
    return BoundCertificate(limit + 1, "refuted", [f"deadline {limit}", *lines])


PASSES = 2
"""Passes over all pairs of task and GPU for one limit."""


def _refutation(
    instance: DagInstance,
    objective: Objective,
    proven: int,
    at_most: int | None,
    most_cases: int,
    seconds_left: Callable[[], float],
) -> BoundCertificate | None:
    """Return the certificate of the largest limit on the objective that is refuted, None where none above is.

    The bound of `probing` says how far it is worth to go without cases; with cases any bound may be reached.
    """
    best: BoundCertificate | None = None
    is_makespan = objective == Objective.MAKESPAN
    most = horizon(instance) * (1 if is_makespan else max(1, int(instance.weight.sum())))
    most = most if at_most is None else min(most, at_most - 1)
    if instance.num_edges * instance.num_gpus**2 > MAX_DELAYS or most < proven:
        return None

    def is_refuted(limit: int, passes: int, by_cases: bool = False, keep_back: float = 0.0) -> bool:
        nonlocal best, most_cases
        if seconds_left() <= keep_back or (by_cases and most_cases <= 0):
            return False
        proof = RefutationProof(instance, objective, limit, lambda: seconds_left() - keep_back, most_cases=most_cases)
        before, lines = proof.cases, proof.lines(passes, by_cases=by_cases)
        most_cases -= before - proof.cases if by_cases else 0
        if lines is not None and (best is None or limit >= best.bound):
            best = BoundCertificate(limit + 1, "refuted", [f"deadline {limit}", *lines])
        return lines is not None

    latest = min(most, probing(instance, objective, seconds_left=lambda: seconds_left() / 2) - 1)
    if is_makespan and latest >= proven:
        steps = instance.num_edges * instance.num_gpus**2 + instance.num_tasks * instance.num_gpus
        lines = ProbingProof(instance, latest, lambda: seconds_left() / 2).lines(4 * MOST_STEPS // max(steps, 1))
        if lines is not None:
            best = BoundCertificate(latest + 1, "refuted", [f"deadline {latest}", *lines])
    is_proved = best is not None and best.bound > latest
    if is_proved and latest == most:
        return best
    if at_most is not None and is_refuted(most, PASSES, by_cases=True, keep_back=seconds_left() / 2):
        return best
    if not is_proved and latest >= proven and not is_refuted(latest, 0):
        refuted = largest_refuted(proven - 1, lambda limit: is_refuted(limit, 0), latest=latest)
        if not is_refuted(latest, PASSES):
            largest_refuted(refuted, lambda limit: is_refuted(limit, PASSES), latest=latest)
    refuted = max(proven, 0 if best is None else best.bound) - 1
    if latest > refuted and is_refuted(latest, PASSES, by_cases=True):
        refuted = latest
    largest_refuted(refuted, lambda limit: is_refuted(limit, PASSES, by_cases=True), latest=most)
    return best
