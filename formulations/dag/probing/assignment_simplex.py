"""A small simplex method for fractional placements, one GPU per row, that minimises the largest load over all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.kernels import inner_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 1e-9
OPTIMAL, ENOUGH, GAVE_UP = 1, 2, 0

_SLACK, _LOAD = -1, -2
"""Codes for a basic variable that is no task's share of a GPU."""


class Tableau(NamedTuple):
    """Scratch for the basis, with one column per row of the linear program."""

    inverse: NDArray[np.float64]  # (rows, rows)
    value: NDArray[np.float64]  # (rows,)
    task: NDArray[np.int64]  # (rows,), task of the basic variable, _SLACK or _LOAD
    which: NDArray[np.int64]  # (rows,), its GPU, or the row of the slack


def new_tableau(rows: int) -> Tableau:
    """Return a tableau for so many rows."""
    return Tableau(
        inverse=np.zeros((rows, rows)),
        value=np.zeros(rows),
        task=np.zeros(rows, dtype=np.int64),
        which=np.zeros(rows, dtype=np.int64),
    )


@inner_kernel
def least_largest_load(
    allowed: NDArray[np.bool_],
    num_rows: NDArray[np.int64],
    share: NDArray[np.float64],
    key: NDArray[np.int64],
    placement: NDArray[np.float64],
    price: NDArray[np.float64],
    tableau: Tableau,
    enough: float,
    max_pivots: int,
    work: NDArray[np.int64],
) -> tuple[float, int]:
    """Minimise L: sum_k x[i,k] = 1 for all tasks; sum_i share[k,i,r] x[i,k] <= L for all rows r of all GPUs; x >= 0.

    Primal simplex with one key variable per task, so that the basis has one column per load row and none per task
    (generalised upper bounding, Dantzig and Van Slyke 1967). It works in floating point, and its results are not
    trusted: callers prove in integers what the prices are worth.

    Parameters
    ----------
    allowed
        Which pairs count, shape (n, m); at least one GPU per task.
    num_rows
        Rows of each GPU, shape (m,).
    share
        Coefficients, shape (m, n, most rows), at least 0.
    key
        A GPU of each task to begin with, shape (n,); changed.
    placement, price
        Results: x, shape (n, m), and the multipliers of the rows, shape (m, most rows), which sum to 1.
    enough
        Stop as soon as the largest load is at most this.
    work
        Elementary steps so far, and the number from which on nothing more is begun, shape (2,).

    Returns
    -------
    tuple[float, int]
        The largest load, and OPTIMAL, ENOUGH or GAVE_UP.
    """
    n, m = allowed.shape
    inverse, value, basic_task, which = tableau.inverse, tableau.value, tableau.task, tableau.which
    offset = np.zeros(m + 1, dtype=np.int64)
    for k in range(m):
        offset[k + 1] = offset[k] + num_rows[k]
    size = int(offset[m])
    column, change = np.empty(size), np.zeros(n)
    key_value, others = np.ones(n), np.zeros(n, dtype=np.int64)
    has_choice = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        for k in range(m):
            has_choice[i] |= allowed[i, k] and k != key[i]
    top = _begin(num_rows, offset, share, key, tableau)
    status, quiet, position = GAVE_UP, 0, 0
    # Invariant: the basis is feasible up to rounding; `inverse` is its inverse, `value` the basic variables with the
    # largest load at `top`, key_value[i] = 1 - the other basic shares of task i, and others[i] how many these are. No
    # cheaper GPU was found for the last `quiet` tasks before `position`.
    for _ in range(max_pivots):
        if work[0] > work[1]:
            break
        if value[top] <= enough:
            status = ENOUGH
            break
        # The entering variable: a slack whose price is negative, else a cheaper GPU for the next task that has one.
        task, entering = _LOAD, -1
        most = TOLERANCE
        for row in range(size):
            if inverse[top, row] > most:
                most, task, entering = inverse[top, row], _SLACK, row
        while task == _LOAD and quiet < n:
            candidate = position
            position = (position + 1) % n
            quiet += 1
            work[0] += size
            if has_choice[candidate]:
                entering = _cheaper(candidate, allowed, num_rows, offset, share, key, inverse[top])
                if entering >= 0:
                    task = candidate
        if task == _LOAD:
            status = OPTIMAL
            break
        quiet = 0
        work[0] += size * (size + 8)
        # The column of the entering variable in terms of the basis.
        for row in range(size):
            if task == _SLACK:
                column[row] = inverse[row, entering]
                continue
            total = 0.0
            for r in range(num_rows[entering]):
                total += inverse[row, offset[entering] + r] * share[entering, task, r]
            for r in range(num_rows[key[task]]):
                total -= inverse[row, offset[key[task]] + r] * share[key[task], task, r]
            column[row] = total
        # The largest step that keeps all basic variables and all key variables at 0 or above.
        for row in range(size):
            if basic_task[row] >= 0:
                change[basic_task[row]] = 0.0
        if task >= 0:
            change[task] = -1.0
        for row in range(size):
            if basic_task[row] >= 0:
                change[basic_task[row]] += column[row]
        step, leaving, leaving_key = np.inf, -1, -1
        for row in range(size):
            if basic_task[row] != _LOAD and column[row] > TOLERANCE:
                limit = max(value[row], 0.0) / column[row]
                if limit < step - 1e-12 or (limit <= step and column[row] > column[leaving]):
                    step, leaving = limit, row
        if task >= 0 and others[task] == 0 and key_value[task] < step:
            step, leaving, leaving_key = key_value[task], -1, task
        for row in range(size):
            owner = basic_task[row]
            if owner >= 0 and change[owner] < -TOLERANCE:
                limit = max(key_value[owner], 0.0) / -change[owner]
                if limit < step - 1e-12:
                    step, leaving, leaving_key = limit, -1, owner
        if leaving < 0 and leaving_key < 0:
            break  # unbounded, which only rounding errors can cause
        if leaving_key >= 0 and others[leaving_key] == 0:  # the task moves as a whole: same basis
            for row in range(size):
                value[row] -= step * column[row]
            key[task] = entering
        else:
            if leaving_key >= 0:
                leaving = _swap_key(leaving_key, task, size, key, key_value, column, tableau)
            if basic_task[leaving] >= 0:
                others[basic_task[leaving]] -= 1
                key_value[basic_task[leaving]] = 1.0
            _pivot(leaving, step, size, column, tableau)
            basic_task[leaving], which[leaving] = task, entering
            if task >= 0:
                others[task] += 1
        for row in range(size):
            if basic_task[row] >= 0:
                key_value[basic_task[row]] = 1.0
        for row in range(size):
            if basic_task[row] >= 0:
                key_value[basic_task[row]] -= value[row]
    placement[:] = 0.0
    for i in range(n):
        placement[i, key[i]] = max(key_value[i], 0.0)
    for row in range(size):
        if basic_task[row] >= 0:
            placement[basic_task[row], which[row]] = max(value[row], 0.0)
    for k in range(m):
        for r in range(num_rows[k]):
            price[k, r] = max(-inverse[top, offset[k] + r], 0.0)
    return value[top], status


@inner_kernel
def _begin(
    num_rows: NDArray[np.int64],
    offset: NDArray[np.int64],
    share: NDArray[np.float64],
    key: NDArray[np.int64],
    tableau: Tableau,
) -> int:
    """Make the basis with all tasks on their keys: slacks, and the load in the fullest row, which is returned."""
    size = offset[-1]
    load = np.zeros(size)
    for task in range(len(key)):
        k = key[task]
        for r in range(num_rows[k]):
            load[offset[k] + r] += share[k, task, r]
    top = 0
    for row in range(1, size):
        if load[row] > load[top]:
            top = row
    for row in range(size):
        tableau.inverse[row, :size] = 0.0
        tableau.inverse[row, top] = -1.0
        if row == top:
            tableau.task[row], tableau.which[row], tableau.value[row] = _LOAD, 0, load[top]
        else:
            tableau.inverse[row, row] = 1.0
            tableau.task[row], tableau.which[row], tableau.value[row] = _SLACK, row, load[top] - load[row]
    return top


@inner_kernel
def _cheaper(
    task: int,
    allowed: NDArray[np.bool_],
    num_rows: NDArray[np.int64],
    offset: NDArray[np.int64],
    share: NDArray[np.float64],
    key: NDArray[np.int64],
    negative_price: NDArray[np.float64],
) -> int:
    """Return the cheapest GPU of a task at the prices of the rows if it is cheaper than its key, else -1."""
    best, least, of_key = -1, np.inf, 0.0
    for k in range(allowed.shape[1]):
        if not allowed[task, k]:
            continue
        cost = 0.0
        for r in range(num_rows[k]):
            cost -= negative_price[offset[k] + r] * share[k, task, r]
        if k == key[task]:
            of_key = cost
        elif cost < least:
            best, least = k, cost
    return best if best >= 0 and least < of_key - TOLERANCE else -1


@inner_kernel
def _swap_key(
    leaving_key: int,
    task: int,
    size: int,
    key: NDArray[np.int64],
    key_value: NDArray[np.float64],
    column: NDArray[np.float64],
    tableau: Tableau,
) -> int:
    """Make the largest other share of a task its key, and the key a basic variable in that place; return the place."""
    place, total = -1, 0.0
    for row in range(size):
        if tableau.task[row] == leaving_key:
            total += column[row]
            if place < 0 or tableau.value[row] > tableau.value[place]:
                place = row
    for other in range(size):
        together = 0.0
        for row in range(size):
            if tableau.task[row] == leaving_key:
                together += tableau.inverse[row, other]
        tableau.inverse[place, other] = -together
    column[place] = (1.0 if leaving_key == task else 0.0) - total
    tableau.value[place], key_value[leaving_key] = key_value[leaving_key], tableau.value[place]
    tableau.which[place], key[leaving_key] = key[leaving_key], tableau.which[place]
    return place


@inner_kernel
def _pivot(leaving: int, step: float, size: int, column: NDArray[np.float64], tableau: Tableau) -> None:
    """Exchange one column of the basis."""
    inverse, value = tableau.inverse, tableau.value
    for row in range(size):
        value[row] -= step * column[row]
    value[leaving] = step
    factor = 1.0 / column[leaving]
    for other in range(size):
        inverse[leaving, other] *= factor
    for row in range(size):
        if row != leaving and column[row] != 0.0:
            factor = column[row]
            for other in range(size):
                inverse[row, other] -= factor * inverse[leaving, other]
