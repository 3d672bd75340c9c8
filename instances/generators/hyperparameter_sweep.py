"""Task graphs of hyper-parameter sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.combine_jobs import combine_jobs
from instances.generators.graph_builder import GraphBuilder
from instances.generators.parameter_checks import check_integer, check_number
from instances.generators.random_work import log_uniform

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph

PARAMETERS_RANGE = (1e6, 2e7)
"""Smallest and largest model; log-uniform between."""

BATCH_SIZES = (256, 512, 1024, 2048, 4096, 8192)
"""Tokens per training step that a trial chooses from."""

HALF = 2
"""Bytes of a number in half precision."""

STATE_BYTES = 16
"""Bytes per parameter for weights, gradients and optimiser state in mixed-precision training with Adam."""


def hyperparameter_sweep(
    rng: np.random.Generator,
    *,
    tasks: int,
    max_rungs: int = 4,
    reduction: int = 2,
    tokens: int = 2**20,
    load: float = 2.0,
) -> TaskGraph:
    """Make a sweep by successive halving: every trial is a job that trains and is evaluated, rung by rung.

    Rung r of a trial is a task ``T<r>``, which goes on from the state of the rung before once that is evaluated, and an
    evaluation ``E<r>``.

    Parameters
    ----------
    rng
        Source of the trials, their releases and weights.
    tasks
        Number of tasks n over all jobs; hit exactly, if need be by a last trial that is cut short.
    max_rungs
        Largest number of rungs.
    reduction
        Of so many trials in a rung one goes on, and trains so many times longer.
    tokens
        Training tokens in the first rung.
    load
        Mean number of jobs that are released while one job runs on the reference GPU; 0 releases all at time 0.

    Returns
    -------
    TaskGraph
        With N parameters, log-uniform, and steps of b tokens: training takes 6 N FLOPs per token and moves the 16 N
        bytes of state three times per step; an evaluation, on a tenth of the tokens of the first rung, takes 2 N per
        token and moves the weights once per step. Training keeps its state, an evaluation the weights.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Jamieson and Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization: successive
    halving; Kaplan and others (2020), Scaling laws for neural language models: 6 N and 2 N; Rajbhandari and others
    (2020), ZeRO: 16 bytes per parameter. Who survives is random, and moved bytes, releases and weights are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    max_rungs, reduction = check_integer("max_rungs", max_rungs, low=1), check_integer("reduction", reduction, low=2)
    tokens, load = check_integer("tokens", tokens, low=1), check_number("load", load, low=0.0)
    graphs: list[TaskGraph] = []
    left = tasks
    while left > 0:
        rungs = min(int(rng.geometric(1.0 - 1.0 / reduction)), max_rungs)
        graphs.append(_trial(rng, min(2 * rungs, left), reduction, tokens))
        left -= 2 * rungs
    names = [f"trial{trial}" for trial in range(len(graphs))]
    return combine_jobs("hyperparameter-sweep", graphs, names, rng, load=load)


def _trial(rng: np.random.Generator, num_tasks: int, reduction: int, tokens: int) -> TaskGraph:
    """Return a trial: training and evaluation in turn."""
    parameters = float(log_uniform(rng, PARAMETERS_RANGE, 1)[0])
    step = BATCH_SIZES[int(rng.integers(len(BATCH_SIZES)))]
    builder = GraphBuilder()
    inputs: list[tuple[int, float]] = []
    for rung in range((num_tasks + 1) // 2):
        trained = tokens * reduction**rung
        training = builder.add(
            f"T{rung}",
            flops=6 * parameters * trained,
            moved_bytes=3 * STATE_BYTES * parameters * max(trained / step, 1),
            memory_bytes=STATE_BYTES * parameters,
            inputs=inputs,
        )
        if 2 * rung + 1 < num_tasks:
            evaluated = 0.1 * tokens
            evaluation = builder.add(
                f"E{rung}",
                flops=2 * parameters * evaluated,
                moved_bytes=HALF * parameters * max(evaluated / step, 1),
                memory_bytes=HALF * parameters,
                inputs=[(training, HALF * parameters)],
            )
            inputs = [(training, STATE_BYTES * parameters), (evaluation, 8)]
    return builder.graph("trial")
