"""Makes the observations of all agents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.marl.agent_summary import agent_summary
from heuristics.jobs.marl.observation import ObservationSize, empty_observation
from heuristics.jobs.marl.topology import agent_graph
from instances.jobs.certified_times import least_iteration_time
from instances.jobs.interference import DEFAULT_RESOURCES, FULL_SPEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.decider import Decision
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.marl.rounds import Rounds
    from heuristics.jobs.marl.topology import AgentGraph


class Observer:
    """Looks at rounds; one per simulation.

    Parameters
    ----------
    rounds
        What it looks at.
    kappa
        Unit of time in ticks, see `time_scale`.
    size
        Sizes of the arrays; the smallest that do if None.

    Raises
    ------
    ValueError
        If the sizes are too small, for another number of agents, or kappa is not positive.
    """

    def __init__(self, rounds: Rounds, kappa: float, size: ObservationSize | None = None) -> None:
        """Make what never changes."""
        if not kappa > 0:
            raise ValueError(f"kappa: expected a number of ticks above 0, got {kappa}.")
        least = ObservationSize.of(rounds.partitions)
        self.size = least if size is None else size
        if self.size.num_agents != least.num_agents:
            raise ValueError(f"size.num_agents: expected {least.num_agents}, got {self.size.num_agents}.")
        for name in ("num_servers", "num_gpus", "num_racks"):
            needed, given = getattr(least, name), getattr(self.size, name)
            if given < needed:
                raise ValueError(f"size.{name}: expected at least {needed}, got {given}.")
        instance = rounds.instance
        self._rounds, self._instance, self._kappa = rounds, instance, kappa
        self._graphs = [agent_graph(rounds.partitions, agent) for agent in range(rounds.num_agents)]
        marks = np.array([[kind == known for known in self.size.kinds] for kind in instance.kinds], dtype=np.float32)
        self._marks: NDArray[np.float32] = marks.reshape(instance.num_kinds, -1)[instance.server_kind]
        nic = instance.nic_numerator / instance.nic_denominator
        self._nic: NDArray[np.float64] = nic / nic.max()
        kind_of_agent = rounds.partitions.agent_of_server * instance.num_kinds + instance.server_kind
        counts = np.bincount(
            kind_of_agent, weights=instance.num_gpus_of, minlength=rounds.num_agents * instance.num_kinds
        )
        self._gpus_of_kind: NDArray[np.int64] = counts.reshape(rounds.num_agents, -1).astype(np.int64)
        self._times: dict[int, tuple[int, NDArray[np.float64]]] = {}
        self._asks = _asks_of_jobs(rounds)
        self._summaries: list[NDArray[np.float32]] = []
        self._fixed: dict[int, dict[str, Any]] = {}  # arrays by name

    def begin_round(self, time: int) -> None:
        """Take the summaries that the agents broadcast; where nobody waits, nobody will look at them."""
        agents = range(self._rounds.num_agents) if any(self._rounds.queues) else ()
        self._summaries = [agent_summary(self._rounds, agent, time, self._kappa) for agent in agents]

    def observe(self, decision: Decision) -> Observation:
        """Return the observation of the agent that takes a decision."""
        agent, graph = decision.agent, self._graphs[decision.agent]
        least, _ = self._time_of(decision.job)
        seen = empty_observation(self.size)._replace(**self._fixed_of(agent))
        count, gpus = graph.has_gpu.shape
        seen.gpus[:count, :gpus] = self._gpus(decision, graph)
        own = self._rounds.partitions.servers_of(agent)
        cpu, pcie, nic = self._rounds.states.load[own].T / FULL_SPEED
        seen.servers[:count] = np.column_stack([self._nic[own], nic, pcie, cpu])
        others = [other for other in range(self._rounds.num_agents) if other != agent]
        seen.summaries[:] = [self._summaries[each] for each in (agent, *others)]
        seen.offers[:, 0] = self._offers(decision.job)[[agent, *others]]
        seen.job[:] = self._job(decision, least)
        gang = self._rounds.gang_size[decision.job]
        for slot, group in enumerate(decision.groups):
            for server, replicas in group.placed:
                seen.group_servers[slot, server - own.start] = replicas / gang
            seen.groups[slot] = (
                float(group.placement.alpha / least),
                group.speed / FULL_SPEED,
                group.loss / FULL_SPEED,
                len(group.placed) / gang,
            )
        seen.mask[:] = decision.mask
        return seen

    def _fixed_of(self, agent: int) -> dict[str, Any]:
        """Return what every observation of an agent shares: its graphs, read-only."""
        if agent not in self._fixed:
            seen, graph = empty_observation(self.size), self._graphs[agent]
            count, gpus = graph.has_gpu.shape
            seen.has_server[:count] = 1
            seen.has_gpu[:count, :gpus] = graph.has_gpu
            seen.on_switch[:count, :, :gpus] = graph.on_switch
            seen.has_socket[:count] = graph.has_socket
            seen.in_rack[:count, : graph.in_rack.shape[1]] = graph.in_rack
            names = ("has_server", "has_gpu", "on_switch", "has_socket", "in_rack")
            self._fixed[agent] = {name: getattr(seen, name) for name in names}
            for array in self._fixed[agent].values():
                array.flags.writeable = False
        return self._fixed[agent]

    def _gpus(self, decision: Decision, graph: AgentGraph) -> NDArray[np.float64]:
        """Return the features of the agent's GPUs, shape (servers, most GPUs, features)."""
        own, states = self._rounds.partitions.servers_of(decision.agent), self._rounds.states
        _, ratios = self._time_of(decision.job)
        on, shape = states.num_on_gpu[own], graph.has_gpu.shape
        ratio = np.broadcast_to(ratios[self._instance.server_kind[own]][:, None], shape)
        ages = (on * decision.time - states.starts[own]) / self._kappa
        features = np.concatenate(
            [
                np.broadcast_to(self._marks[own][:, None], (*shape, self._marks.shape[1])),
                (self._instance.share - on)[..., None],
                ratio[..., None],
                (ratio == 0)[..., None],
                ages[..., None],
                states.use[own] / FULL_SPEED,
                states.sens[own] / FULL_SPEED,
            ],
            axis=2,
        )
        masked: NDArray[np.float64] = features * graph.has_gpu[..., None]
        return masked

    def _job(self, decision: Decision, least: int) -> list[float]:
        """Return the features of the job."""
        job, rounds, instance = decision.job, self._rounds, self._instance
        best = rounds.shapes.least(job)
        return [
            math.log(rounds.gang_size[job]),
            instance.num_stages_of(job),
            int(instance.micro_batches[job]),
            least / self._kappa,
            float(best.alpha / least),
            float(best.comm / least),
            *self._asks[job].tolist(),
            (decision.time - int(instance.release[job])) / self._kappa,
            int(rounds.num_forwards[job]),
            rounds.predicted_ticks[job] / self._kappa,
        ]

    def _offers(self, job: int) -> NDArray[np.float64]:
        """Return ln of the longest time of a stage over T* on the fastest GPUs of every agent, shape (agents,)."""
        _, ratios = self._time_of(job)
        order = np.flatnonzero(ratios > 0)
        order = order[np.argsort(ratios[order], kind="stable")]
        enough = self._gpus_of_kind[:, order].cumsum(axis=1) >= self._rounds.gang_size[job]
        slowest = np.log(np.maximum(ratios[order], 1.0))[enough.argmax(axis=1)]
        offers: NDArray[np.float64] = np.where(enough[:, -1], slowest, 0.0)
        return offers

    def _time_of(self, job: int) -> tuple[int, NDArray[np.float64]]:
        """Return alpha^lb in ticks, and by kind the longest time of a stage over T*, 0 where no stage may run."""
        shape = int(self._rounds.shapes.shape_of[job])
        if shape not in self._times:
            instance = self._instance
            least = least_iteration_time(instance, job)
            slots = int(instance.micro_batches[job]) + instance.num_stages_of(job) - 1
            longest = np.maximum(instance.time_of[instance.stages_of(job)].max(axis=0), 0)
            self._times[shape] = least, longest * slots / least
        return self._times[shape]


def _asks_of_jobs(rounds: Rounds) -> NDArray[np.float64]:
    """Return use and sensitivities of cpu, pcie, nic as the instance has them, shape (jobs, 6), 1 for 1000."""
    interference = rounds.instance.interference
    asks = np.zeros((rounds.instance.num_jobs, 2, len(DEFAULT_RESOURCES)))
    if interference is not None:
        for column, name in enumerate(DEFAULT_RESOURCES):
            if name in interference.resources:
                position = interference.resources.index(name)
                asks[:, 0, column] = interference.use[:, position]
                asks[:, 1, column] = interference.sens[:, position]
    flat: NDArray[np.float64] = asks.reshape(len(asks), 2 * len(DEFAULT_RESOURCES)) / FULL_SPEED
    return flat
