"""Task graphs of transformer blocks with parallel heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.generators.graph_builder import GraphBuilder
from instances.generators.layer_work import ELEMENT_BYTES, LayerWork, matrix_product
from instances.generators.parameter_checks import check_integer

if TYPE_CHECKING:
    import numpy as np

    from instances.task_graph import TaskGraph


def transformer(
    rng: np.random.Generator,
    *,
    tasks: int,
    layers: int | None = None,
    heads: int | None = None,
    hidden: int = 1024,
    sequence: int = 1024,
    batch: int = 8,
) -> TaskGraph:
    """Make the forward graph of a stack of transformer blocks whose heads are tasks of their own.

    A block has 2 `heads` + 3 tasks: projections ``qkv<l>.<h>`` and attention ``att<l>.<h>`` of each head, the output
    projection ``out<l>``, and the two products of the feed-forward layer, ``up<l>`` and ``down<l>``.

    Parameters
    ----------
    rng
        Not used: shape and work are fixed.
    tasks
        Wished number of tasks; the number of layers that comes nearest is taken.
    layers
        Number of blocks; overrides `tasks`.
    heads
        Heads per block, a divisor of `hidden`; default 8, fewer where one block would have more than `tasks` tasks.
    hidden, sequence, batch
        Hidden size h, sequence length t, sequences u.

    Returns
    -------
    TaskGraph
        With d = h / heads, in FLOPs: projections 6 u t h d, attention 4 u t^2 d, output 2 u t h^2, feed-forward
        8 u t h^2 each. The attention matrix is neither stored nor moved. Residual connections are edges to ``out`` and
        ``down``, normalisation is part of the product after it. In half precision; a task keeps its parameters and
        output.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

    References
    ----------
    Vaswani and others (2017), Attention is all you need: the block; Shoeybi and others (2019), Megatron-LM: heads as
    units of parallel work. The cut into tasks is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    hidden = check_integer("hidden", hidden, low=1)
    if heads is None:
        heads = max(count for count in (1, 2, 4, 8) if count == 1 or (2 * count + 3 <= tasks and hidden % count == 0))
    heads = check_integer("heads", heads, low=1)
    if hidden % heads:
        raise ValueError(f"heads: expected a divisor of hidden = {hidden}, got {heads}.")
    layers = check_integer("layers", max(round(tasks / (2 * heads + 3)), 1) if layers is None else layers, low=1)
    sequence, batch = check_integer("sequence", sequence, low=1), check_integer("batch", batch, low=1)
    tokens, width = batch * sequence, hidden // heads
    stream_bytes = float(ELEMENT_BYTES * tokens * hidden)
    projection = matrix_product(rows=tokens, inner=hidden, columns=3 * width)
    attention = LayerWork(
        flops=4.0 * tokens * sequence * width,
        moved_bytes=4.0 * ELEMENT_BYTES * tokens * width,
        parameter_bytes=0.0,
        output_bytes=float(ELEMENT_BYTES * tokens * width),
    )
    output = matrix_product(rows=tokens, inner=hidden, columns=hidden)
    up = matrix_product(rows=tokens, inner=hidden, columns=4 * hidden)
    down = matrix_product(rows=tokens, inner=4 * hidden, columns=hidden)
    builder = GraphBuilder()
    stream: list[tuple[int, float]] = []
    for layer in range(layers):
        heads_out = []
        for head in range(heads):
            qkv = builder.add_layer(f"qkv{layer}.{head}", projection, stream)
            attended = builder.add_layer(f"att{layer}.{head}", attention, [(qkv, projection.output_bytes)])
            heads_out.append((attended, attention.output_bytes))
        out = (builder.add_layer(f"out{layer}", output, [*stream, *heads_out]), stream_bytes)
        wide = (builder.add_layer(f"up{layer}", up, [out]), up.output_bytes)
        stream = [(builder.add_layer(f"down{layer}", down, [out, wide]), stream_bytes)]
    return builder.graph("transformer")
