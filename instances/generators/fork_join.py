"""Fork-join graphs: phases of parallel tasks between single ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.parameter_checks import check_integer
from instances.generators.random_work import edge_array, random_graph

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def fork_join(
    rng: np.random.Generator, *, tasks: int, width: int | None = None, phases: int | None = None
) -> TaskGraph:
    """Make a fork-join graph: a single task, parallel tasks, a single task, parallel tasks, and so on.

    Parameters
    ----------
    rng
        Source of the work.
    tasks
        Wished number of tasks; with `width` w and `phases` f there are f (w + 1) + 1, and f is chosen to come nearest.
    width
        Parallel tasks per phase; default the square root of `tasks`.
    phases
        Number of phases; overrides `tasks`.

    Returns
    -------
    TaskGraph
        Random work; single tasks are named ``S0, S1, ...``, parallel ones by phase and position.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Valiant (1990), A bridging model for parallel computation, Communications of the ACM 33(8): supersteps between
    barriers have this shape.
    """
    tasks = check_integer("tasks", tasks, low=1)
    width = check_integer("width", max(round(tasks**0.5), 1) if width is None else width, low=1)
    phases = check_integer("phases", max(round((tasks - 1) / (width + 1)), 1) if phases is None else phases, low=1)
    names, edges = ["S0"], list[tuple[int, int]]()
    for phase in range(phases):
        fork = phase * (width + 1)
        join = fork + width + 1
        edges += [(fork, task) for task in range(fork + 1, join)]
        edges += [(task, join) for task in range(fork + 1, join)]
        names += [*(f"P{phase}.{index}" for index in range(width)), f"S{phase + 1}"]
    return random_graph("fork-join", names, edge_array(edges), rng)
