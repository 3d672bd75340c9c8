"""Task graphs of forward passes of neural networks: Inception, NASNet, transformers and mixtures of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.dag.graph_builder import (
    ELEMENT_BYTES,
    GraphBuilder,
    LayerWork,
    convolution,
    elementwise,
    matrix_product,
    separable_convolution,
)
from instances.parameters import check_integer, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from instances.dag.task_graph import TaskGraph


CLASSES = 1000
"""Outputs of the classifier."""


def inception(rng: np.random.Generator, *, tasks: int, cells: int | None = None, batch: int = 32) -> TaskGraph:
    """Make the forward graph of a network of Inception cells.

    A cell has eight tasks: branches of one convolution, of 1x1 and 3x3, of 1x1 and 5x5, of pooling and 1x1, and their
    concatenation. With a stem and a head there are 8 `cells` + 2 tasks.

    Parameters
    ----------
    tasks
        Requested number of tasks; the nearest possible number is taken.
    cells
        Number of cells; overrides `tasks`.

    Returns
    -------
    TaskGraph
        Images have 28, 14 and 7 rows in the three thirds of the cells, whose outputs have c = 256, 512 and 1024
        channels; the branches give c/4, c/2, c/8 and c/8 of them, and the 1x1 before 3x3 and 5x5 gives 3c/8 and c/16.
        Work is that of the convolutions in half precision; a task keeps parameters and output.

    References
    ----------
    Szegedy and others (2015), Going deeper with convolutions: the cell, and the widths of the first one, module 3a.
    That all cells have its proportions is ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    cells = check_integer("cells", max(round((tasks - 2) / 8), 1) if cells is None else cells, low=1)
    batch = check_integer("batch", batch, low=1)
    builder = GraphBuilder()
    stem = convolution(batch=batch, height=56, inputs=64, outputs=192, kernel=3)
    below, channels = builder.add_layer("stem", stem, []), 192
    for cell in range(cells):
        third = 3 * cell // cells
        below = _cell(builder, below, cell=cell, batch=batch, height=28 >> third, inputs=channels, outputs=256 << third)
        channels = 256 << third
    head = matrix_product(rows=batch, inner=channels, columns=CLASSES)
    builder.add_layer("head", head, [(below, ELEMENT_BYTES * batch * channels)])
    return builder.graph("inception")


def _cell(builder: GraphBuilder, below: int, *, cell: int, batch: int, height: int, inputs: int, outputs: int) -> int:
    """Add a cell and return its concatenation; a smaller input is pooled on the way."""
    pixels = batch * height**2
    from_below = [(below, ELEMENT_BYTES * pixels * inputs)]

    def conv(name: str, kernel: int, wide: int, source: Sequence[tuple[int, float]], narrow: int = inputs) -> int:
        work = convolution(batch=batch, height=height, inputs=narrow, outputs=wide, kernel=kernel)
        return builder.add_layer(f"{name}.{cell}", work, source)

    def data(channels: int) -> float:
        return ELEMENT_BYTES * pixels * channels

    quarter, half, eighth = outputs // 4, outputs // 2, outputs // 8
    before_3, before_5 = 3 * outputs // 8, outputs // 16
    conv_1 = conv("conv1", 1, quarter, from_below)
    reduce_3 = conv("red3", 1, before_3, from_below)
    conv_3 = conv("conv3", 3, half, [(reduce_3, data(before_3))], before_3)
    reduce_5 = conv("red5", 1, before_5, from_below)
    conv_5 = conv("conv5", 5, eighth, [(reduce_5, data(before_5))], before_5)
    pool = builder.add_layer(f"pool.{cell}", elementwise(elements=pixels * inputs, flops_per_element=9.0), from_below)
    projection = conv("proj", 1, eighth, [(pool, data(inputs))])
    parts = [(conv_1, data(quarter)), (conv_3, data(half)), (conv_5, data(eighth)), (projection, data(eighth))]
    return builder.add_layer(f"cat.{cell}", elementwise(elements=pixels * outputs, flops_per_element=0.0), parts)


KERNEL_OF_OPERATION = {"sep3": 3, "sep5": 5, "sep7": 7, "avg3": 3, "max3": 3}
"""Operations that a block chooses from."""

NASNET_CLASSES = 1000
"""Outputs of the classifier."""


def nasnet(
    rng: np.random.Generator,
    *,
    tasks: int,
    cells: int | None = None,
    blocks: int = 5,
    filters: int = 168,
    batch: int = 32,
) -> TaskGraph:
    """Make the forward graph of a network of randomly wired cells as in the NASNet search space.

    A block applies two operations to two hidden states and adds the results; a hidden state is the output of one of
    the two cells before or of an earlier block. A last task concatenates the blocks that no other block uses and
    squeezes them to the channels of one. One random cell is drawn and repeated. With a stem and a head there are
    `cells` (3 `blocks` + 1) + 2 tasks.

    Parameters
    ----------
    rng
        Source of the cell.
    tasks
        Requested number of tasks; the nearest possible number is taken.
    cells
        Number of cells; overrides `tasks`.
    blocks
        Blocks per cell.
    filters
        Channels of a block in the first third of the cells.

    Returns
    -------
    TaskGraph
        Images have 28, 14 and 7 rows in the three thirds of the cells, and channels double with each. A separable
        convolution is applied twice; pooling takes 9 FLOPs per element. In half precision; a task keeps its
        parameters and output.

    References
    ----------
    Zoph, Vasudevan, Shlens and Le (2018), Learning transferable architectures for scalable image recognition: cells,
    blocks, operations and 168 filters (NASNet-A 6 @ 4032). Deviations: no identity and no factorised convolutions;
    the squeeze stands at the end of a cell instead of the beginning of the next; an operation that reads a larger image
    shrinks it; the wiring is uniform instead of learned.
    """
    tasks = check_integer("tasks", tasks, low=1)
    blocks = check_integer("blocks", blocks, low=1)
    default_cells = max(round((tasks - 2) / (3 * blocks + 1)), 1)
    cells = check_integer("cells", default_cells if cells is None else cells, low=1)
    batch, filters = check_integer("batch", batch, low=1), check_integer("filters", filters, low=1)
    operations = list(KERNEL_OF_OPERATION)
    wiring = [
        [(int(rng.integers(block + 2)), operations[int(rng.integers(len(operations)))]) for _ in range(2)]
        for block in range(blocks)
    ]
    used = {state - 2 for block in wiring for state, _ in block if state >= 2}
    unused = [block for block in range(blocks) if block not in used]
    builder = GraphBuilder()
    stem = separable_convolution(batch=batch, height=28, channels=filters, kernel=3)
    outputs = [(builder.add_layer("stem", stem), stem.output_bytes)] * 2
    for cell in range(cells):
        third = 3 * cell // cells
        channels, height = filters << third, 28 >> third
        elements = batch * height**2 * channels
        addition = elementwise(elements=elements, inputs=2)
        states = list(outputs)
        for block, choices in enumerate(wiring):
            results: list[tuple[int, float]] = []
            for side, (state, operation) in zip("lr", choices, strict=True):
                work = _operation(operation, batch=batch, height=height, channels=channels)
                task = builder.add_layer(f"{operation}.{cell}.{block}{side}", work, [states[state]])
                results.append((task, work.output_bytes))
            states.append((builder.add_layer(f"add.{cell}.{block}", addition, results), addition.output_bytes))
        squeeze = convolution(batch=batch, height=height, inputs=channels * len(unused), outputs=channels, kernel=1)
        joined = builder.add_layer(f"cat.{cell}", squeeze, [states[block + 2] for block in unused])
        outputs = [outputs[1], (joined, squeeze.output_bytes)]
    head = matrix_product(rows=batch, inner=channels, columns=NASNET_CLASSES)
    builder.add_layer("head", head, [(outputs[1][0], 2.0 * batch * channels)])
    return builder.graph("nasnet")


def _operation(operation: str, *, batch: int, height: int, channels: int) -> LayerWork:
    """Return the work of an operation of a block."""
    kernel = KERNEL_OF_OPERATION[operation]
    if not operation.startswith("sep"):
        return elementwise(elements=batch * height**2 * channels, flops_per_element=kernel**2)
    once = separable_convolution(batch=batch, height=height, channels=channels, kernel=kernel)
    return LayerWork(
        flops=2 * once.flops,
        moved_bytes=2 * once.moved_bytes,
        parameter_bytes=2 * once.parameter_bytes,
        output_bytes=once.output_bytes,
    )


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
    tasks
        Requested number of tasks; the nearest possible number is taken.
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


def mixture_of_experts(
    rng: np.random.Generator,
    *,
    tasks: int,
    layers: int | None = None,
    experts: int | None = None,
    top: int = 2,
    balance: float = 2.0,
    hidden: int = 1024,
    sequence: int = 1024,
    batch: int = 8,
) -> TaskGraph:
    """Make the forward graph of transformer blocks whose feed-forward layer is a mixture of experts.

    A block has `experts` + 3 tasks: attention ``att<l>``, the router ``gate<l>``, the experts ``exp<l>.<e>``, and
    ``mix<l>``, which adds up what they return.

    Parameters
    ----------
    rng
        Source of the tokens that each expert gets.
    tasks
        Requested number of tasks; the nearest possible number is taken.
    layers
        Number of blocks; overrides `tasks`.
    experts
        Experts per block; default 8, fewer where one block would have more than `tasks` tasks.
    top
        Experts per token, at most all of them.
    balance
        Concentration of the Dirichlet distribution of tokens on experts; the larger, the more even.
    hidden, sequence, batch
        Hidden size h, sequence length t, sequences u.

    Returns
    -------
    TaskGraph
        In FLOPs: attention 8 u t h^2 + 4 u t^2 h, router 2 u t h per expert, an expert 16 h^2 per token that it gets.
        Edges to and from experts carry the tokens that it gets. In half precision; a task keeps its parameters and
        output.

    References
    ----------
    Shazeer and others (2017), Outrageously large neural networks: the layer and its uneven loads; Lepikhin and others
    (2021), GShard: two experts per token. The Dirichlet loads are ours.
    """
    tasks = check_integer("tasks", tasks, low=1)
    if experts is None:
        experts = min(8, max(tasks - 3, 2))
    experts = check_integer("experts", experts, low=1)
    layers = check_integer("layers", max(round(tasks / (experts + 3)), 1) if layers is None else layers, low=1)
    top = min(check_integer("top", top, low=1), experts)
    balance = check_number("balance", balance, low=1e-3)
    hidden, sequence = check_integer("hidden", hidden, low=1), check_integer("sequence", sequence, low=1)
    tokens = check_integer("batch", batch, low=1) * sequence
    token_bytes = float(ELEMENT_BYTES * hidden)
    projections = matrix_product(rows=tokens, inner=hidden, columns=4 * hidden)
    attention = LayerWork(
        flops=projections.flops + 4.0 * tokens * sequence * hidden,
        moved_bytes=projections.moved_bytes + token_bytes * tokens,
        parameter_bytes=projections.parameter_bytes,
        output_bytes=token_bytes * tokens,
    )
    router = matrix_product(rows=tokens, inner=hidden, columns=experts)
    mixing = elementwise(elements=tokens * hidden, inputs=top, flops_per_element=2.0 * top)
    builder = GraphBuilder()
    stream: list[tuple[int, float]] = []
    for layer in range(layers):
        attended = (builder.add_layer(f"att{layer}", attention, stream), token_bytes * tokens)
        gate = builder.add_layer(f"gate{layer}", router, [attended])
        shares = rng.dirichlet(np.full(experts, balance))
        loads = np.minimum(np.maximum(np.rint(shares * tokens * top), 1), tokens).astype(int).tolist()
        answers = [attended]
        for expert, load in enumerate(loads):
            work = _expert(load, hidden)
            task = builder.add_layer(f"exp{layer}.{expert}", work, [(gate, token_bytes * load)])
            answers.append((task, token_bytes * load))
        stream = [(builder.add_layer(f"mix{layer}", mixing, answers), token_bytes * tokens)]
    return builder.graph("mixture-of-experts")


def _expert(tokens: int, hidden: int) -> LayerWork:
    """Return the work of an expert's two products on so many tokens."""
    up = matrix_product(rows=tokens, inner=hidden, columns=4 * hidden)
    down = matrix_product(rows=tokens, inner=4 * hidden, columns=hidden)
    return LayerWork(
        flops=up.flops + down.flops,
        moved_bytes=up.moved_bytes + down.moved_bytes,
        parameter_bytes=up.parameter_bytes + down.parameter_bytes,
        output_bytes=down.output_bytes,
    )
