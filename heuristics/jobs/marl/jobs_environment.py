"""The environment that `parallel_env` makes, and its spaces; importing this needs the extra `marl`."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from heuristics.jobs.marl.environment import Episode
from heuristics.jobs.marl.observation import ObservationSize, empty_observation
from heuristics.jobs.marl.partitions import Partitions
from heuristics.jobs.marl.reward import time_scale
from heuristics.jobs.predictors.predictor import predictor_class, predictor_named
from instances.jobs.instance import JobsInstance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heuristics.jobs.marl.environment import Sampler
    from heuristics.jobs.marl.observation import Observation
    from heuristics.jobs.simulator import Simulation


def observation_space(size: ObservationSize) -> spaces.Dict:
    """Return the space of `observation_dict`, which holds no number below 0."""
    from gymnasium import spaces

    arrays = empty_observation(size)._asdict()
    mask = arrays.pop("mask")
    boxes = {name: spaces.Box(0, np.inf, array.shape, np.float32) for name, array in arrays.items()}
    return spaces.Dict({"observation": spaces.Dict(boxes), "action_mask": spaces.Box(0, 1, mask.shape, np.int8)})


def observation_dict(seen: Observation) -> dict[str, Any]:
    """Return ``observation``, the arrays by name, and ``action_mask``, 1 for slots that may be chosen, int8.

    These names, and the type of the mask, are what PettingZoo looks for.
    """
    arrays = seen._asdict()
    mask = arrays.pop("mask")
    return {"observation": arrays, "action_mask": mask.astype(np.int8)}


def idle_observation(size: ObservationSize) -> Observation:
    """Return the observation of an agent without a decision: zeros and a mask under which it may only wait."""
    seen = empty_observation(size)
    seen.mask[-1] = True
    return seen


class JobsEnvironment(ParallelEnv):
    """See `parallel_env`.

    Attributes
    ----------
    possible_agents, agents
        Names of all agents, and of the live ones: all or none.
    size
        Sizes of the padded arrays.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "optgap_jobs_v0", "render_modes": [], "is_parallelizable": True}
    render_mode = None

    def __init__(
        self,
        source: JobsInstance | Sampler,
        *,
        num_agents: int,
        max_forwards: int,
        predictor: str,
        size: ObservationSize | None,
        kappa: float | None,
        is_weighted: bool,
        is_strict: bool,
        max_steps: int | None,
    ) -> None:
        if isinstance(source, JobsInstance):
            size = ObservationSize.of(Partitions(source, num_agents)) if size is None else size
            kappa = time_scale([source]) if kappa is None else kappa
        if size is None or kappa is None:
            name = "size" if size is None else "kappa"
            raise ValueError(f"{name}: expected one, as instances are drawn, got None.")
        if not kappa > 0:
            raise ValueError(f"kappa: expected a number of ticks above 0, got {kappa}.")
        if size.num_agents != num_agents:
            raise ValueError(f"size.num_agents: expected {num_agents}, got {size.num_agents}.")
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps: expected at least 1, got {max_steps}.")
        predictor_class(predictor)
        self.possible_agents = [f"agent_{agent}" for agent in range(num_agents)]
        self.agents: list[str] = []
        self.size, self.kappa = size, kappa
        self._source, self._predictor, self._max_forwards = source, predictor, max_forwards
        self._is_weighted, self._is_strict, self._max_steps = is_weighted, is_strict, max_steps
        self.observation_spaces = {agent: observation_space(size) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(size.num_slots) for agent in self.possible_agents}
        self._rng = np.random.default_rng(0)
        self._episode: Episode | None = None

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, always the same object."""
        return self.action_spaces[agent]

    @property
    def simulation(self) -> Simulation | None:
        """Schedule and log of the episode; None until its end."""
        return None if self._episode is None else self._episode.simulation

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin an episode and return observations and infos."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        for_source, for_predictor = self._rng.spawn(2)
        instance = self._source if isinstance(self._source, JobsInstance) else self._source(for_source)
        self._episode = Episode(
            instance,
            predictor_named(self._predictor, instance, for_predictor),
            self.kappa,
            num_agents=len(self.possible_agents),
            max_forwards=self._max_forwards,
            size=self.size,
            is_weighted=self._is_weighted,
        )
        # Time before the first decision counts to the first step because a reset returns no rewards.
        self._early_ticks, self._early_job_ticks = self._episode.ticks, self._episode.job_ticks
        self._num_steps = 0
        self._mask = np.zeros((len(self.possible_agents), self.size.num_slots), dtype=np.int8)
        self.agents = list(self.possible_agents)
        nothing = np.zeros_like(self._early_job_ticks)
        return self._observations(self._episode), self._infos(self._episode, 0, nothing, [False] * len(self.agents))

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take a slot of every agent; return observations, rewards, terminations, truncations and infos."""
        episode = self._episode
        if episode is None or not self.agents:
            raise RuntimeError("step: expected a reset before, got none since the episode ended.")
        slots, is_replaced = self._slots(actions)
        ticks, job_ticks = self._early_ticks, self._early_job_ticks
        if episode.simulation is None:
            episode.step({agent: slots[agent] for agent in episode.asked})
            ticks, job_ticks = ticks + episode.ticks, job_ticks + episode.job_ticks
        self._early_ticks, self._early_job_ticks = 0, np.zeros_like(job_ticks)
        self._num_steps += 1
        is_over = episode.simulation is not None
        is_cut = not is_over and self._max_steps is not None and self._num_steps >= self._max_steps
        observations, names = self._observations(episode), self.possible_agents
        rewards = {name: -int(job_ticks[agent]) / self.kappa for agent, name in enumerate(names)}
        infos = self._infos(episode, ticks, job_ticks, is_replaced)
        if is_over or is_cut:
            self.agents = []
        return observations, rewards, dict.fromkeys(names, is_over), dict.fromkeys(names, is_cut), infos

    def close(self) -> None:
        """Drop the episode; a reset begins another one."""
        self._episode = None
        self.agents = []

    def _slots(self, actions: Mapping[str, int]) -> tuple[list[int], list[bool]]:
        """Return slots that may be chosen, and which of them replace a masked action."""
        if set(actions) != set(self.agents):
            raise ValueError(f"actions: expected one of each of {self.agents}, got {sorted(actions)}.")
        slots, is_replaced = [], []
        for agent, name in enumerate(self.possible_agents):
            slot, possible = index(actions[name]), np.flatnonzero(self._mask[agent]).tolist()
            if not 0 <= slot < self.size.num_slots:
                raise ValueError(f"actions[{name}]: expected 0..{self.size.num_slots - 1}, got {slot}.")
            if self._is_strict and slot not in possible:
                raise ValueError(f"actions[{name}]: expected one of {possible}, got {slot}.")
            slots.append(slot if slot in possible else possible[0])
            is_replaced.append(slot not in possible)
        return slots, is_replaced

    def _observations(self, episode: Episode) -> dict[str, Any]:
        """Return the observations of all agents and store their masks."""
        found = {}
        for agent, name in enumerate(self.possible_agents):
            seen = episode.observe(agent) if agent in episode.asked else idle_observation(self.size)
            self._mask[agent] = seen.mask
            found[name] = observation_dict(seen)
        return found

    def _infos(
        self, episode: Episode, ticks: int, job_ticks: np.ndarray, is_replaced: list[bool]
    ) -> dict[str, dict[str, Any]]:
        """Return the infos of all agents."""
        found: dict[str, dict[str, Any]] = {}
        for agent, name in enumerate(self.possible_agents):
            found[name] = {
                "time": episode.time,
                "ticks": ticks,
                "job_ticks": int(job_ticks[agent]),
                "job": episode.asked[agent].job if agent in episode.asked else None,
                "is_replaced": is_replaced[agent],
            }
        if episode.simulation is not None and self._num_steps:
            instance = episode.rounds.instance
            jct = episode.simulation.completion - instance.release
            for info in found.values():
                info["total_jct"] = int((jct * instance.weight if self._is_weighted else jct).sum())
                info["mean_jct"] = float(jct.mean()) if len(jct) else None
        return found
