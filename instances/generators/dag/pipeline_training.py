"""Task graphs of pipeline-parallel training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.dag.graph_builder import GraphBuilder
from instances.parameters import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.dag.task_graph import TaskGraph


HALF = 2
"""Bytes of a number in half precision."""

ACTIVATION_BYTES = 34
"""Bytes that a transformer layer keeps for its backward pass, per token and unit of hidden size."""

STATE_BYTES = 16
"""Bytes per parameter for weights, gradients and optimiser state in mixed-precision training with Adam."""


def pipeline_training(
    rng: np.random.Generator,
    *,
    tasks: int,
    stages: int | None = None,
    micro_batches: int | None = None,
    gradient_accumulation: bool = False,
    all_reduce: bool = False,
    replicas: int = 1,
    max_layers: int = 4,
    hidden: int = 1024,
    sequence: int = 512,
    micro_batch: int = 1,
) -> TaskGraph:
    """Make the graph of one iteration of pipeline-parallel training of a transformer.

    ``F<s>.<b>`` is the forward and ``B<s>.<b>`` the backward pass of stage s on micro-batch b. Activations flow to the
    next stage and, stashed, to the backward pass of the same stage; gradients flow to the stage before.

    Parameters
    ----------
    rng
        Source of the number of layers of each stage, uniform from 1 to `max_layers`.
    tasks
        Requested number of tasks; without the two options below there are 2 `replicas` `stages` `micro_batches`, and
        `micro_batches` is chosen to come nearest.
    stages
        Number of stages; by default such that there are about four micro-batches per stage.
    micro_batches
        Number of micro-batches; overrides `tasks`.
    gradient_accumulation
        Whether a task ``G<s>`` per stage and replica adds up the gradients of all micro-batches.
    all_reduce
        Whether a task ``R<s>`` per stage averages the gradients over the replicas.
    replicas
        Number of pipelines side by side; with more than one, names end in ``/<replica>``.
    max_layers
        Largest number of transformer layers in a stage.
    hidden, sequence, micro_batch
        Hidden size h, sequence length t and sequences per micro-batch u.

    Returns
    -------
    TaskGraph
        A layer has 12 h^2 parameters and takes 24 u t h^2 + 4 u t^2 h FLOPs forward, twice that backward. It moves its
        parameters and the activations that it keeps, twice that backward. Boundaries carry 2 u t h bytes, a stash
        34 u t h per layer, gradients 2 bytes per parameter. A forward task keeps its stash. The 16 bytes per
        parameter of weights, gradients and optimiser state are shared equally by the backward tasks of a stage,
        as nothing ties tasks of a stage to one GPU.

    References
    ----------
    Huang and others (2019), GPipe: the pipeline, and four micro-batches per stage. Narayanan and others (2021),
    Efficient large-scale language model training on GPU clusters: FLOPs. Korthikanti and others (2022), Reducing
    activation recomputation in large transformer models: 34 u t h, here without the attention matrix. Rajbhandari and
    others (2020), ZeRO: 16 bytes per parameter. Sharing the state among tasks and the moved bytes are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    replicas = check_integer("replicas", replicas, low=1)
    if stages is None:
        stages = max(round((tasks / (8 * replicas)) ** 0.5), 1)
    stages = check_integer("stages", stages, low=1)
    single_tasks = stages * (replicas * gradient_accumulation + all_reduce)
    if micro_batches is None:
        micro_batches = max(round((tasks - single_tasks) / (2 * stages * replicas)), 1)
    micro_batches = check_integer("micro_batches", micro_batches, low=1)
    hidden, sequence = check_integer("hidden", hidden, low=1), check_integer("sequence", sequence, low=1)
    tokens = check_integer("micro_batch", micro_batch, low=1) * sequence
    layers = rng.integers(1, check_integer("max_layers", max_layers, low=1) + 1, size=stages).tolist()
    boundary_bytes = HALF * tokens * hidden
    builder = GraphBuilder()
    gradients: list[list[int]] = [[] for _ in range(stages)]
    for replica in range(replicas):
        suffix = f"/{replica}" if replicas > 1 else ""
        forward: dict[tuple[int, int], int] = {}
        backward: dict[tuple[int, int], int] = {}
        for batch in range(micro_batches):
            for stage in range(stages):
                parameters = 12 * hidden**2 * layers[stage]
                stash = ACTIVATION_BYTES * tokens * hidden * layers[stage]
                forward[stage, batch] = builder.add(
                    f"F{stage}.{batch}{suffix}",
                    flops=layers[stage] * _forward_flops(tokens, sequence, hidden),
                    moved_bytes=HALF * parameters + stash,
                    memory_bytes=stash,
                    inputs=[(forward[stage - 1, batch], boundary_bytes)] if stage else [],
                )
        for batch in range(micro_batches):
            for stage in reversed(range(stages)):
                parameters = 12 * hidden**2 * layers[stage]
                stash = ACTIVATION_BYTES * tokens * hidden * layers[stage]
                after = [(backward[stage + 1, batch], boundary_bytes)] if stage + 1 < stages else []
                backward[stage, batch] = builder.add(
                    f"B{stage}.{batch}{suffix}",
                    flops=2 * layers[stage] * _forward_flops(tokens, sequence, hidden),
                    moved_bytes=2 * (HALF * parameters + stash),
                    memory_bytes=STATE_BYTES * parameters / micro_batches,
                    inputs=[(forward[stage, batch], stash), *after],
                )
        for stage in range(stages):
            tails = [backward[stage, batch] for batch in range(micro_batches)]
            if gradient_accumulation:
                tails = [_reduction(builder, f"G{stage}{suffix}", tails, 12 * hidden**2 * layers[stage])]
            gradients[stage] += tails
    if all_reduce:
        for stage in range(stages):
            _reduction(builder, f"R{stage}", gradients[stage], 12 * hidden**2 * layers[stage])
    return builder.graph("pipeline-training")


def _forward_flops(tokens: int, sequence: int, hidden: int) -> int:
    """Return the FLOPs of one transformer layer."""
    return 24 * tokens * hidden**2 + 4 * tokens * sequence * hidden


def _reduction(builder: GraphBuilder, name: str, tails: list[int], parameters: int) -> int:
    """Add a task that sums gradients."""
    data = HALF * parameters
    return builder.add(
        name,
        flops=parameters * len(tails),
        moved_bytes=data * (len(tails) + 1),
        memory_bytes=data,
        inputs=[(tail, data) for tail in tails],
    )
