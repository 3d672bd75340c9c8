"""Actor and critic: their weights and one forward pass, in NumPy for decisions and in JAX for training."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from heuristics.jobs.marl.observation import (
    GROUP_FEATURES,
    JOB_FEATURES,
    OFFER_FEATURES,
    SERVER_FEATURES,
    SUMMARY_FEATURES,
)
from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from types import ModuleType

    from heuristics.jobs.marl.observation import Observation, ObservationSize


WIDTH = 32
"""Length of the vector of a vertex."""

HIDDEN = 64
"""Width of the hidden layer of the scoring networks."""

ROUNDS = 2
"""Rounds of messages in either graph."""

INNER_EDGES = ("gpu_switch", "switch_socket", "socket_socket", "nic_switch")

OUTER_EDGES = ("server_rack", "rack_core", "core_agent")

LAST_SCALE = 0.1
"""Initial scale of the last layer of a score: the first policy is nearly uniform (ours)."""

Parameters = dict[str, Any]
"""Arrays of float32 by name, of NumPy or of JAX; ``*.weight`` has shape (inputs, outputs), ``*.bias`` (outputs,)."""


class Variant(StrEnum):
    """Which graphs the networks use."""

    FLAT = "flat"
    """No graph: a server is a linear map of the mean features of its GPUs and its own features."""
    INNER = "inner"
    """The graph inside servers."""
    INNER_OUTER = "inner-outer"
    """The graph inside servers, and the graph of servers, racks and agents."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"variant: expected one of {', '.join(cls)}, got {value!r}{did_you_mean(value, cls)}.")


def initial_parameters(
    rng: np.random.Generator, size: ObservationSize, variant: Variant = Variant.INNER_OUTER
) -> Parameters:
    """Draw weights: normal with variance 2 over the inputs, biases 0 (ours).

    Parameters
    ----------
    size
        Of the observations; the weights depend on its kinds, and those of the critic on its number of agents.
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


# The forward pass, ours: docs/methods/multi_agent.md, section 5. Amounts enter as ln(1 + x) because durations have
# heavy tails. Functions take the module of arrays, `numpy` or `jax.numpy`, and one observation; JAX maps them over many
# with `vmap`.


Array = Any
"""An array of NumPy or of JAX."""

TOGETHER = 128
"""Servers whose inner graphs are computed at once, so that their arrays stay in the cache of a core."""


class Embedding(NamedTuple):
    """The vectors that the graphs compute from an observation."""

    servers: Array
    """(V, 32)"""
    mean_server: Array
    """(32,): over the agent's servers."""
    agents: Array
    """(A - 1, 32): the other agents."""


def embed(xp: ModuleType, parameters: Parameters, seen: Observation, variant: Variant) -> Embedding:
    """Run the graphs.

    Parameters
    ----------
    xp
        `numpy` or `jax.numpy`.
    parameters
        Of this variant, see `initial_parameters`.
    """
    seen = seen._replace(gpus=xp.log1p(seen.gpus), servers=xp.log1p(seen.servers))
    servers = _flat(parameters, seen) if Variant(variant) is Variant.FLAT else _inner(xp, parameters, seen)
    servers = servers * seen.has_server[:, None]
    agents = _linear(parameters, "input.agent", xp.log1p(seen.summaries[1:]))
    if Variant(variant) is Variant.INNER_OUTER:
        servers, agents = _outer(xp, parameters, seen, servers, agents)
    return Embedding(servers, servers.sum(axis=0) / xp.maximum(seen.has_server.sum(), 1), agents)


def scores(xp: ModuleType, parameters: Parameters, seen: Observation, embedding: Embedding) -> Array:
    """Return the score of every slot, shape (8 + A,), minus infinity where it must not be chosen."""
    job = _linear(parameters, "input.job", xp.log1p(seen.job))
    weighted = seen.group_servers @ embedding.servers
    groups = _score(xp, parameters, "group", [weighted, _repeat(xp, job, len(weighted)), xp.log1p(seen.groups)])
    others = _repeat(xp, job, len(embedding.agents))
    forwards = _score(xp, parameters, "forward", [embedding.agents, others, seen.offers[1:]])
    own = [embedding.mean_server[None], job[None], seen.offers[:1], xp.log1p(seen.summaries[:1])]
    wait = _score(xp, parameters, "wait", own)
    return xp.where(seen.mask, xp.concatenate([groups, forwards, wait]), -xp.inf)


def probabilities(xp: ModuleType, masked: Array) -> Array:
    """Return the softmax of scores, shape (8 + A,): exactly 0 where they are minus infinity."""
    powers = xp.exp(masked - masked.max())
    return powers / powers.sum()


def value(xp: ModuleType, parameters: Parameters, seen: Observation, embedding: Embedding) -> Array:
    """Return the value that the critic of the central trainer gives, a scalar."""
    summaries = xp.log1p(seen.summaries).reshape(1, -1)
    return _score(xp, parameters, "critic", [embedding.mean_server[None], summaries])[0]


def _linear(parameters: Parameters, name: str, inputs: Array) -> Array:
    """Apply a linear map."""
    return inputs @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"]


def _repeat(xp: ModuleType, row: Array, count: int) -> Array:
    """Return a row several times."""
    return xp.broadcast_to(row, (count, *row.shape))


def _score(xp: ModuleType, parameters: Parameters, name: str, parts: list[Array]) -> Array:
    """Return one number per row of the parts side by side, from a network with one hidden layer."""
    hidden = xp.maximum(_linear(parameters, f"{name}.hidden", xp.concatenate(parts, axis=-1)), 0)
    return _linear(parameters, f"{name}.score", hidden)[:, 0]


def _mean_gpu(seen: Observation, values: Array) -> Array:
    """Return the mean over the GPUs of each server, 0 where there is no server; `values` are 0 where no GPU is."""
    return values.sum(axis=1) / (seen.has_gpu.sum(axis=1) + (1 - seen.has_server))[:, None]


def _flat(parameters: Parameters, seen: Observation) -> Array:
    """Return the vectors of the servers without any graph."""
    mean = _mean_gpu(seen, seen.gpus)
    inputs = len(mean[0])
    weight, bias = parameters["server.weight"], parameters["server.bias"]
    return mean @ weight[:inputs] + seen.servers @ weight[inputs:] + bias


def _inner(xp: ModuleType, parameters: Parameters, seen: Observation) -> Array:
    """Return the vectors of the servers after the rounds inside them; servers do not see each other."""
    if len(seen.gpus) <= TOGETHER:
        return _inner_of(xp, parameters, seen)
    names = ("gpus", "servers", "has_server", "has_gpu", "on_switch", "has_socket")
    parts = []
    for first in range(0, len(seen.gpus), TOGETHER):
        rows = {name: getattr(seen, name)[first : first + TOGETHER] for name in names}
        parts.append(_inner_of(xp, parameters, seen._replace(**rows)))
    return xp.concatenate(parts)


def _inner_of(xp: ModuleType, parameters: Parameters, seen: Observation) -> Array:
    """Return the same of servers that are taken together.

    Vertices and messages are 0 where there is no vertex. A switch has its socket, and the first one the NIC.
    """
    has_gpu, has_socket, on_switch = seen.has_gpu[..., None], seen.has_socket[..., None], seen.on_switch
    gpus = _linear(parameters, "input.gpu", seen.gpus) * has_gpu
    nics = _linear(parameters, "input.nic", seen.servers[:, :2])
    switches = _linear(parameters, "input.switch", seen.servers[:, None, 2:3]) * has_socket
    sockets = _linear(parameters, "input.socket", seen.servers[:, None, 3:4]) * has_socket
    size = xp.maximum(on_switch.sum(axis=2), 1)[..., None]
    for number in range(ROUNDS):
        to = {edge: parameters[f"inner{number}.{edge}.weight"] for edge in INNER_EDGES}
        name = f"inner{number}.self"
        from_switch = xp.matmul(xp.swapaxes(on_switch, 1, 2), switches @ to["gpu_switch"])
        from_gpus = xp.matmul(on_switch, gpus) / size @ to["gpu_switch"]
        from_nic = (nics @ to["nic_switch"])[:, None]
        from_nic = xp.concatenate([from_nic, 0 * from_nic], axis=1)
        steps = (
            _linear(parameters, name, gpus) + from_switch,
            _linear(parameters, name, nics) + switches[:, 0] @ to["nic_switch"],
            _linear(parameters, name, switches) + from_gpus + sockets @ to["switch_socket"] + from_nic,
            _linear(parameters, name, sockets)
            + switches @ to["switch_socket"]
            + sockets[:, ::-1] @ to["socket_socket"],
        )
        gpus = gpus + xp.maximum(steps[0], 0) * has_gpu
        nics = nics + xp.maximum(steps[1], 0)
        switches = switches + xp.maximum(steps[2], 0) * has_socket
        sockets = sockets + xp.maximum(steps[3], 0) * has_socket
    return _linear(parameters, "server", xp.concatenate([_mean_gpu(seen, gpus), nics], axis=1))


def _outer(
    xp: ModuleType, parameters: Parameters, seen: Observation, servers: Array, agents: Array
) -> tuple[Array, Array]:
    """Return the vectors of servers and of other agents after the rounds between them."""
    in_rack = seen.in_rack
    size = in_rack.sum(axis=0)[:, None]
    has_rack = xp.minimum(size, 1)
    racks = _linear(parameters, "input.rack", has_rack) * has_rack
    core = _linear(parameters, "input.core", xp.ones(1, dtype=in_rack.dtype))
    for number in range(ROUNDS):
        to = {edge: parameters[f"outer{number}.{edge}.weight"] for edge in OUTER_EDGES}
        name = f"outer{number}.self"
        from_servers = in_rack.T @ servers / xp.maximum(size, 1) @ to["server_rack"]
        from_racks = racks.sum(axis=0) / xp.maximum(has_rack.sum(), 1) @ to["rack_core"]
        from_agents = agents.sum(axis=0) / max(len(agents), 1) @ to["core_agent"]
        steps = (
            _linear(parameters, name, servers) + in_rack @ (racks @ to["server_rack"]),
            _linear(parameters, name, racks) + from_servers + core @ to["rack_core"],
            _linear(parameters, name, core) + from_racks + from_agents,
            _linear(parameters, name, agents) + core @ to["core_agent"],
        )
        servers = servers + xp.maximum(steps[0], 0) * seen.has_server[:, None]
        racks = racks + xp.maximum(steps[1], 0) * has_rack
        core = core + xp.maximum(steps[2], 0)
        agents = agents + xp.maximum(steps[3], 0)
    return servers, agents
