"""Task graphs of mixture-of-experts networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from instances.generators.graph_builder import GraphBuilder
from instances.generators.layer_work import ELEMENT_BYTES, LayerWork, elementwise, matrix_product
from instances.generators.parameter_checks import check_integer, check_number

if TYPE_CHECKING:
    from instances.task_graph import TaskGraph


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
        Wished number of tasks; the number of layers that comes nearest is taken.
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

    Raises
    ------
    TypeError, ValueError
        If a parameter is not of its kind or out of range.

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
