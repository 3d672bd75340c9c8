"""Random graphs: layers, Erdos-Renyi, series-parallel, fork-join, chains, independent tasks, unrelated machines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.task_graph import TaskGraph
from instances.parameters import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


FLOPS_RANGE = (2e8, 2e10)
"""Smallest and largest task in floating-point operations; log-uniform between."""

INTENSITY_RANGE = (8.0, 1024.0)
"""Smallest and largest arithmetic intensity in FLOP per byte; log-uniform between.

The ridges of current GPUs in fp16 lie inside (P100 26, V100 139, A100 201, T4 217, H100 295): some tasks are bound by
arithmetic, some by memory, and kinds of GPU rank differently from task to task.
"""

OUTPUT_SHARE_RANGE = (0.01, 0.04)
"""Output of a task over the bytes it moves; uniform between."""


def random_graph(name: str, task_names: Sequence[str], edges: NDArray[np.int64], rng: np.random.Generator) -> TaskGraph:
    """Give every task random work, and every edge the output of its tail.

    Parameters
    ----------
    edges
        Tail and head of every edge, shape (edges, 2).
    rng
        Source of sizes, intensities and outputs.

    Returns
    -------
    TaskGraph
        FLOPs and intensities are log-uniform; the memory of a task is once to twice its output. All of this is ours.
    """
    num_tasks = len(task_names)
    flops = log_uniform(rng, FLOPS_RANGE, num_tasks)
    moved_bytes = flops / log_uniform(rng, INTENSITY_RANGE, num_tasks)
    output = np.ceil(moved_bytes * rng.uniform(*OUTPUT_SHARE_RANGE, num_tasks)).astype(np.int64)
    memory = np.ceil(output * rng.uniform(1.0, 2.0, num_tasks)).astype(np.int64)
    edge_list = edges.tolist()
    return TaskGraph(
        name=name,
        task_names=list(task_names),
        flops=flops.tolist(),
        moved_bytes=moved_bytes.tolist(),
        memory_bytes=memory.tolist(),
        edges=[(tail, head, data) for (tail, head), data in zip(edge_list, output[edges[:, 0]].tolist(), strict=True)],
    )


def log_uniform(rng: np.random.Generator, bounds: tuple[float, float], size: int) -> NDArray[np.float64]:
    """Draw numbers between two bounds whose logarithm is uniform, shape (size,)."""
    return np.exp(rng.uniform(math.log(bounds[0]), math.log(bounds[1]), size))


def edge_array(edges: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """Return edges as an array of shape (edges, 2), also where there are none."""
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def layered(
    rng: np.random.Generator, *, tasks: int, layers: int | None = None, in_degree: float = 2.5, jump: int = 1
) -> TaskGraph:
    """Make a random layered graph.

    Every task beyond the first layer has a predecessor in the layer before: the longest chain has one task per layer.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    layers
        Number of layers, none of them empty; default the square root of n.
    in_degree
        Mean number of predecessors beyond the first layer, before a small layer caps it.
    jump
        Predecessors come from this many layers before.

    Returns
    -------
    TaskGraph
        Random work; tasks are named by layer and position.

    References
    ----------
    Tobita and Kasahara (2002), A standard task graph set for fair evaluation of multiprocessor scheduling algorithms:
    layered graphs; Topcuoglu, Hariri and Wu (2002): about sqrt(n) layers. The distribution of predecessors is ours:
    one, and a Poisson number of further ones.
    """
    tasks = check_integer("tasks", tasks, low=1)
    layers = check_integer("layers", round(tasks**0.5) if layers is None else layers, low=1, high=tasks)
    in_degree = check_number("in_degree", in_degree, low=1.0)
    jump = check_integer("jump", jump, low=1)
    sizes = 1 + rng.multinomial(tasks - layers, np.full(layers, 1.0 / layers))
    first = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    edges: list[tuple[int, int]] = []
    for layer in range(1, layers):
        pool_start, before = first[max(layer - jump, 0)], first[layer - 1]
        now, after = first[layer], first[layer + 1]
        further = rng.poisson(in_degree - 1.0, size=after - now)
        for head, count in zip(range(now, after), further.tolist(), strict=True):
            direct = int(rng.integers(before, now))
            others = rng.choice(now - pool_start - 1, size=min(count, now - pool_start - 1), replace=False) + pool_start
            others += others >= direct
            edges += [(tail, head) for tail in sorted([direct, *others.tolist()])]
    names = [f"L{layer}.{index}" for layer, size in enumerate(sizes.tolist()) for index in range(size)]
    return random_graph("layered", names, edge_array(edges), rng)


DEFAULT_DEGREE = 3.0
"""Mean number of edges per task where no probability is given."""


def erdos_renyi(rng: np.random.Generator, *, tasks: int, edge_probability: float | None = None) -> TaskGraph:
    """Make a random graph: tasks are in a fixed order, and every forward pair is an edge with one probability.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    edge_probability
        Probability of each of the n (n - 1) / 2 forward pairs; the default gives three edges per task on average.

    References
    ----------
    Erdos and Renyi (1959), On random graphs I; Cordeiro, Mounie, Perarnau, Trystram, Vincent and Wagner (2010), Random
    graph generation for scheduling simulations: the ordered variant.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if edge_probability is None:
        edge_probability = min(1.0, 2.0 * DEFAULT_DEGREE / max(tasks - 1, 1))
    probability = check_number("edge_probability", edge_probability, low=0.0, high=1.0)
    edges: list[tuple[int, int]] = []
    for head in range(1, tasks):
        tails = rng.choice(head, size=int(rng.binomial(head, probability)), replace=False)
        edges += [(tail, head) for tail in sorted(tails.tolist())]
    return random_graph("erdos-renyi", [f"t{task}" for task in range(tasks)], edge_array(edges), rng)


def series_parallel(
    rng: np.random.Generator, *, tasks: int, parallel_probability: float = 0.6, max_branches: int = 4
) -> TaskGraph:
    """Make a random two-terminal series-parallel graph by splitting blocks of tasks.

    A block of four or more tasks becomes, with the given probability, a source, parallel blocks and a sink; else two
    blocks in series. Smaller blocks are chains.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    parallel_probability
        Probability that a block becomes parallel ones.
    max_branches
        Largest number of parallel blocks; their number is uniform from 2.

    Returns
    -------
    TaskGraph
        Random work; the first task is the only source and the last one the only sink.

    References
    ----------
    Valdes, Tarjan and Lawler (1982), The recognition of series parallel digraphs, SIAM Journal on Computing 11(2): the
    class. The random splitting is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    probability = check_number("parallel_probability", parallel_probability, low=0.0, high=1.0)
    max_branches = check_integer("max_branches", max_branches, low=2)
    edges: list[tuple[int, int]] = []
    blocks = [(0, tasks)]
    while blocks:
        first, size = blocks.pop()
        if size == 1:
            continue
        if size >= 4 and rng.random() < probability:
            branches = int(rng.integers(2, min(max_branches, size - 2) + 1))
            sizes, last = _random_parts(rng, size - 2, branches), first + size - 1
            starts = first + 1 + np.concatenate([[0], np.cumsum(sizes)[:-1]])
            for start, part in zip(starts.tolist(), sizes, strict=True):
                edges += [(first, start), (start + part - 1, last)]
                blocks.append((start, part))
        else:
            part = int(rng.integers(1, size))
            edges.append((first + part - 1, first + part))
            blocks += [(first, part), (first + part, size - part)]
    return random_graph("series-parallel", [f"t{task}" for task in range(tasks)], edge_array(sorted(edges)), rng)


def _random_parts(rng: np.random.Generator, total: int, parts: int) -> list[int]:
    """Split a number into positive parts, all ways equally likely."""
    cuts = np.sort(rng.choice(total - 1, size=parts - 1, replace=False) + 1)
    return np.diff(np.concatenate([[0], cuts, [total]])).tolist()  # type: ignore[no-any-return]  # NumPy's stubs


def fork_join(
    rng: np.random.Generator, *, tasks: int, width: int | None = None, phases: int | None = None
) -> TaskGraph:
    """Make a fork-join graph: a single task, parallel tasks, a single task, parallel tasks, and so on.

    Parameters
    ----------
    tasks
        Requested number of tasks; `width` w and `phases` f give f (w + 1) + 1, and f is chosen to come nearest.
    width
        Parallel tasks per phase; default the square root of `tasks`.
    phases
        Number of phases; overrides `tasks`.

    Returns
    -------
    TaskGraph
        Random work; single tasks are named ``S0, S1, ...``, parallel ones by phase and position.

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


def chains(rng: np.random.Generator, *, tasks: int, chains: int | None = None) -> TaskGraph:
    """Make chains of random lengths that do not touch each other.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    chains
        Number of chains, none of them empty; default the square root of n.

    Returns
    -------
    TaskGraph
        Random work; tasks are named by chain and position.

    References
    ----------
    Pinedo, Scheduling: Theory, Algorithms, and Systems: precedence by chains. The lengths, one and a multinomial share
    of the rest, are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    count = check_integer("chains", round(tasks**0.5) if chains is None else chains, low=1, high=tasks)
    lengths = (1 + rng.multinomial(tasks - count, np.full(count, 1.0 / count))).tolist()
    names = [f"C{chain}.{index}" for chain, length in enumerate(lengths) for index in range(length)]
    begins = set(np.cumsum(lengths).tolist())
    edges = [(task - 1, task) for task in range(1, tasks) if task not in begins]
    return random_graph("chains", names, edge_array(edges), rng)


def independent(rng: np.random.Generator, *, tasks: int) -> TaskGraph:
    """Make tasks that do not wait for each other.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.

    Returns
    -------
    TaskGraph
        Random work and no edges; tasks are named by their number.

    References
    ----------
    Lenstra, Shmoys and Tardos (1990), Approximation algorithms for scheduling unrelated parallel machines: the problem
    without precedence. The work is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    return random_graph("independent", [f"I{index}" for index in range(tasks)], edge_array([]), rng)


CORRELATED_SPREAD = 20
"""Durations of a task differ by less than this between GPUs where they are correlated."""


def unrelated_machines(
    rng: np.random.Generator,
    *,
    tasks: int,
    shortest: int = 1,
    longest: int = 100,
    correlated: bool = False,
    max_weight: int = 100,
) -> TaskGraph:
    """Make jobs of one task each, with durations in ticks that are drawn for every GPU by itself.

    Parameters
    ----------
    tasks
        Number of tasks n; hit exactly.
    shortest, longest
        Range of the durations, uniform.
    correlated
        Whether a duration is the sum of a number of the task in that range and one of task and GPU in
        1..`CORRELATED_SPREAD`.
    max_weight
        Weights are uniform integers from 1.

    Returns
    -------
    TaskGraph
        Without edges, memory and releases; weights matter for the weighted completion only.

    References
    ----------
    Fanjul-Peyro and Ruiz (2010), Iterated greedy local search methods for unrelated parallel machine scheduling: the
    ranges 1 to 100 (also Hariri and Potts 1991), 10 to 100, 100 to 200 and others, and correlated durations. They
    minimise the makespan; the weights are ours.
    """
    tasks, shortest = check_integer("tasks", tasks, low=1), check_integer("shortest", shortest, low=0)
    longest = check_integer("longest", longest, low=shortest, high=MAX_DRAWN)
    weight = rng.integers(1, check_integer("max_weight", max_weight, low=1, high=MAX_DRAWN) + 1, size=tasks)
    ranges = [(shortest, longest)] * tasks
    if correlated:
        base = rng.integers(shortest, longest + 1, size=tasks).tolist()
        ranges = [(ticks + 1, ticks + CORRELATED_SPREAD) for ticks in base]
    nothing = [0] * tasks
    return TaskGraph(
        name="unrelated-machines",
        task_names=[f"U{index}" for index in range(tasks)],
        flops=nothing,
        moved_bytes=nothing,
        memory_bytes=nothing,
        edges=[],
        job_of_task=list(range(tasks)),
        job_names=[f"j{index}" for index in range(tasks)],
        release_seconds=nothing,
        weight=weight.tolist(),
        drawn_ticks=ranges,
    )


MAX_DRAWN = 10**6
"""Largest duration in ticks and largest weight that are drawn."""
