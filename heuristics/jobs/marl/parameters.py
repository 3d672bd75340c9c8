"""The weights of actor and critic, as a flat dictionary of arrays."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from heuristics.jobs.marl.observation import (
    GROUP_FEATURES,
    JOB_FEATURES,
    OFFER_FEATURES,
    SERVER_FEATURES,
    SUMMARY_FEATURES,
)

if TYPE_CHECKING:
    from heuristics.jobs.marl.observation import ObservationSize

WIDTH = 32
"""Of every vertex."""

HIDDEN = 64
"""Of the networks that score."""

ROUNDS = 2
"""Of messages in either graph."""

INNER_EDGES = ("gpu_switch", "switch_socket", "socket_socket", "nic_switch")

OUTER_EDGES = ("server_rack", "rack_core", "core_agent")

LAST_SCALE = 0.1
"""Of the last layer of a score at first: the first policy is nearly uniform (ours)."""

Parameters = dict[str, Any]
"""Arrays of float32 by name, of NumPy or of JAX; ``*.weight`` has shape (inputs, outputs), ``*.bias`` (outputs,)."""


class Variant(StrEnum):
    """Which graphs the networks use."""

    FLAT = "flat"
    """None: a server is a linear map of the mean features of its GPUs and its own features."""
    INNER = "inner"
    """The graph inside servers."""
    INNER_OUTER = "inner-outer"
    """That, and the graph of servers, racks and agents."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"variant: expected one of {', '.join(cls)}, got {value!r}.")


def initial_parameters(
    rng: np.random.Generator, size: ObservationSize, variant: Variant = Variant.INNER_OUTER
) -> Parameters:
    """Draw weights: normal with variance 2 over the inputs, biases 0 (ours).

    Parameters
    ----------
    rng
        Source of the numbers.
    size
        Of the observations; the weights depend on its kinds, and those of the critic on its number of agents.
    variant
        Which weights there are.
    """
    variant = Variant(variant)
    drawn: Parameters = {}

    def layer(name: str, inputs: int, outputs: int, *, scale: float = 1.0, has_bias: bool = True) -> None:
        """Draw a linear map."""
        deviation = scale * (2 / inputs) ** 0.5
        drawn[f"{name}.weight"] = (deviation * rng.standard_normal((inputs, outputs))).astype(np.float32)
        if has_bias:
            drawn[f"{name}.bias"] = np.zeros(outputs, dtype=np.float32)

    def messages(graph: str, edges: tuple[str, ...]) -> None:
        """Draw the rounds of a graph."""
        for number in range(ROUNDS):
            layer(f"{graph}{number}.self", WIDTH, WIDTH)
            for edge in edges:
                layer(f"{graph}{number}.{edge}", WIDTH, WIDTH, has_bias=False)

    if variant is Variant.FLAT:
        layer("server", size.gpu_features + SERVER_FEATURES, WIDTH)
    else:
        layer("input.gpu", size.gpu_features, WIDTH)
        layer("input.nic", 2, WIDTH)
        layer("input.switch", 1, WIDTH)
        layer("input.socket", 1, WIDTH)
        messages("inner", INNER_EDGES)
        layer("server", 2 * WIDTH, WIDTH)
    layer("input.agent", SUMMARY_FEATURES, WIDTH)
    layer("input.job", JOB_FEATURES, WIDTH)
    if variant is Variant.INNER_OUTER:
        layer("input.rack", 1, WIDTH)  # of the constant 1: racks and core have no features
        layer("input.core", 1, WIDTH)
        messages("outer", OUTER_EDGES)
    for name, inputs in (
        ("group", 2 * WIDTH + GROUP_FEATURES),
        ("forward", 2 * WIDTH + OFFER_FEATURES),
        ("wait", 2 * WIDTH + OFFER_FEATURES + SUMMARY_FEATURES),
        ("critic", WIDTH + size.num_agents * SUMMARY_FEATURES),
    ):
        layer(f"{name}.hidden", inputs, HIDDEN)
        layer(f"{name}.score", HIDDEN, 1, scale=LAST_SCALE)
    return drawn
