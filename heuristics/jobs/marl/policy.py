"""Multi-agent policy with graph networks (reconstruction): agents that own servers place, forward, or wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.marl.environment import simulate_agents
from heuristics.jobs.marl.network_decider import NetworkDecider
from heuristics.jobs.marl.network_files import AgentNetworks
from heuristics.jobs.marl.partitions import checked_agents
from heuristics.jobs.marl.rounds import MAX_FORWARDS
from heuristics.jobs.marl.shipped_networks import network_from
from heuristics.jobs.policies.run_policy import made_predictor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from heuristics.jobs.marl.environment import AgentsRun
    from heuristics.jobs.marl.network_decider import Watch
    from heuristics.jobs.predictors.predictor import Predictor
    from heuristics.search.progress import Callback
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


def marl(
    instance: JobsInstance,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    training: int | None = None,
    stage: str | None = None,
    weights: str | None = None,
    agents: int | None = None,
    forwards: int = MAX_FORWARDS,
) -> JobsSchedule | None:
    """Let several agents, each with servers of its own, place jobs by a trained network.

    At every arrival and completion each agent walks its queue and takes the slot with the largest score for every job:
    one of up to eight candidate placements, another agent, or to wait (ties: the lowest slot). See `Rounds`. Weights of
    jobs count for nothing: the shipped networks were trained for total completion, all weights 1. Kinds of GPU that the
    network was not trained on have no mark in its observations.

    Parameters
    ----------
    rng
        Source of the random numbers of the predictor; decisions draw none.
    callback
        See `simulate`.
    predictor, predictor_parameters
        See `run_policy`. Agents see predicted durations.
    training
        Number of a shipped training, from 1; None for the one that was best on its validation instances.
    stage
        "trained", or one of the controls: "imitated", the same network before the policy gradient, and "untrained",
        the initial one; None for trained.
    weights
        File of another network than the shipped ones, or of several, one for each agent, see `load_any_network`.
    agents
        A, the number of partitions of the servers; None for the largest of at most 4 under which every job has a home.
        Networks do not depend on it, except a file with a network for each agent: A is their number.
    forwards
        F, the number of times that a job may be forwarded, at least 0.

    Returns
    -------
    JobsSchedule or None
        Not yet verified; None if the callback asked to stop.

    Raises
    ------
    ValueError
        If a name or parameter is unknown or out of range, a training or stage is given with weights, the file holds
        no network, or some job has no home under A.
    OSError
        If the file does not exist.

    References
    ----------
    Zhao and Wu (2022), Large-scale machine learning cluster scheduling via multi-agent graph reinforcement learning,
    IEEE TNSM, arXiv 2112.13354, abstract: several schedulers, hierarchical graph networks, an interference model in
    training. Partitions, actions, observations, networks, rewards and training are a reconstruction of ours, and no
    number of it stands for one of theirs.
    """
    run = marl_run(
        instance,
        rng,
        callback,
        predictor=predictor,
        predictor_parameters=predictor_parameters,
        training=training,
        stage=stage,
        weights=weights,
        agents=agents,
        forwards=forwards,
    )
    return None if run is None else run.simulation.schedule


def marl_run(
    instance: JobsInstance,
    rng: np.random.Generator,
    callback: Callback | None = None,
    *,
    predictor: str | Predictor = "oracle",
    predictor_parameters: Mapping[str, Any] | None = None,
    training: int | None = None,
    stage: str | None = None,
    weights: str | None = None,
    agents: int | None = None,
    forwards: int = MAX_FORWARDS,
    watch: Watch | None = None,
) -> AgentsRun | None:
    """Return the whole run of `marl`: log, number of agents and decisions, and all forwards.

    Parameters and errors are the same; `watch` receives every decision.
    """
    if forwards < 0:
        raise ValueError(f"forwards: expected at least 0, got {forwards}.")
    network = network_from(weights, training, stage)
    if isinstance(network, AgentNetworks):
        if agents not in (None, network.num_agents):
            raise ValueError(f"agents: expected {network.num_agents}, as each has a network, got {agents}.")
        agents = network.num_agents
    decider = NetworkDecider(network.parameters, network.kappa, network.variant, kinds=network.kinds, watch=watch)
    return simulate_agents(
        instance,
        decider,
        made_predictor(predictor, predictor_parameters, instance, rng.spawn(2)[0]),  # the stream of other policies
        num_agents=checked_agents(instance, agents),
        max_forwards=forwards,
        callback=callback,
    )
