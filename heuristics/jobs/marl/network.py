"""Actor and critic: one forward pass, in NumPy for decisions and in JAX for training.

Section 3.3 of the reference, ours; beyond it, forwarding and waiting see what the agent they lead to could do for the
job, waiting sees the agent's own summary, as forwarding sees the others', and amounts enter as ln(1 + x), for durations
have heavy tails. Functions take the module of arrays, `numpy` or `jax.numpy`, and one observation; JAX maps them over
many with `vmap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from heuristics.jobs.marl.parameters import INNER_EDGES, OUTER_EDGES, ROUNDS, Variant

if TYPE_CHECKING:
    from types import ModuleType

    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.parameters import Parameters

Array = Any
"""Of NumPy or of JAX."""

TOGETHER = 128
"""Servers whose inner graphs run at once: what they need stays in the cache of a core."""


class Embedding(NamedTuple):
    """What the graphs make of an observation."""

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
    seen
        One observation.
    variant
        Which graphs there are.
    """
    seen = seen._replace(gpus=xp.log1p(seen.gpus), servers=xp.log1p(seen.servers))
    servers = _flat(parameters, seen) if variant is Variant.FLAT else _inner(xp, parameters, seen)
    servers = servers * seen.has_server[:, None]
    agents = _linear(parameters, "input.agent", xp.log1p(seen.summaries[1:]))
    if variant is Variant.INNER_OUTER:
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
