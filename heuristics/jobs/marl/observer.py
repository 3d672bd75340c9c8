"""Makes the observations of all agents, including the summaries that agents send each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.marl.observation import SUMMARY_FEATURES, ObservationSize, agent_graph, empty_observation
from instances.jobs.interference import DEFAULT_RESOURCES, FULL_SPEED
from instances.jobs.iteration_time import least_iteration_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heuristics.jobs.marl.observation import AgentGraph, Observation
    from heuristics.jobs.marl.rounds import Decision, Rounds


_MANY_JOBS = 10


def agent_summary(rounds: Rounds, agent: int, time: int, kappa: float) -> NDArray[np.float32]:
    """Return the summary of an agent, shape (12,); ours: docs/methods/multi_agent.md, section 4.

    With G the GPUs of the agent: jobs in the queue / 10; GPUs they ask for / G; oldest wait / kappa; running jobs / 10;
    GPUs without any job / G; most of them on one server / most GPUs of any server; share of servers without any job;
    mean load of cpu, pcie, nic / 1000; mean speed / 1000 (1 if nothing runs); predicted remaining work / (G kappa).
    """
    instance, own = rounds.instance, rounds.partitions.servers_of(agent)
    queue, running = rounds.queues[agent], rounds.running_on[agent]
    num_gpus = int(rounds.partitions.num_gpus_of[agent])
    gang_size, idle = rounds.gang_size, rounds.cluster.free[own]
    work = float(sum(gang_size[job] * rounds.predicted_ticks[job] for _, job in queue))
    for job in running:
        age = time - rounds.states.started_at(job)
        work += gang_size[job] * max(1.0, rounds.predicted_run[job] - age)
    speeds = [FULL_SPEED if rounds.together is None else rounds.together.speed(job) for job in running]
    return np.array(
        [
            len(queue) / _MANY_JOBS,
            sum(gang_size[job] for _, job in queue) / num_gpus,
            (time - queue[0][0]) / kappa if queue else 0.0,
            len(running) / _MANY_JOBS,
            idle.sum() / num_gpus,
            idle.max() / instance.num_gpus_of.max(),
            (rounds.states.num_jobs_on[own] == 0).mean(),
            *(rounds.states.load[own].mean(axis=0) / FULL_SPEED),
            (sum(speeds) / len(speeds) if speeds else FULL_SPEED) / FULL_SPEED,
            work / (num_gpus * kappa),
        ],
        dtype=np.float32,
    )


def summary_traffic(num_agents: int) -> tuple[int, int]:
    """Return messages and bytes per round: every agent sends its summary, numbers of 4 bytes, to every other one."""
    messages = num_agents * (num_agents - 1)
    return messages, messages * SUMMARY_FEATURES * np.dtype(np.float32).itemsize


class Observer:
    """Makes the observations of one simulation.

    Parameters
    ----------
    kappa
        Unit of time in ticks, see `time_scale`.
    size
        Sizes of the arrays; the smallest possible if None.

    Raises
    ------
    ValueError
        If the sizes are too small, for another number of agents, or kappa is not positive.
    """

    def __init__(self, rounds: Rounds, kappa: float, size: ObservationSize | None = None) -> None:
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
        """Make the summaries that the agents broadcast, unless no job waits and none is needed."""
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
