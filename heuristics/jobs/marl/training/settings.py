"""How the multi-agent policy is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heuristics.jobs.marl.network import Variant
from heuristics.jobs.marl.reward import DISCOUNT
from heuristics.jobs.marl.rounds import MAX_FORWARDS
from heuristics.jobs.predictors.predictor import PREDICTORS
from instances.clusters.cluster import parse_cluster
from instances.fields import one_of

FAMILIES = ("jobs-co-located", "jobs-shared-gpus")
"""Families of training instances."""

SPEEDS = ("predicted", "true", "none")
"""Speeds in the training simulator: by the interference predictor, by the true model, or without interference."""

REWARDS = ("jct", "dl2")
"""Minus the unfinished jobs, or the progress of every job."""

REFERENCE = {
    "jobs": 200,
    "imitation_entropy": 0.0,
    "updates": 500,
    "same_instance": 1,
    "passes": 1,
    "entropy_start": 0.02,
    "learning_rate": 3e-4,
    "learning_rate_end": 3e-4,
    "offers": False,
    "starts": 1,
}
"""Settings of the plain form in docs/methods/multi_agent.md, section 8, where they differ from the defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The numbers of a training, see docs/methods/multi_agent.md, section 8; with the defaults it takes minutes.

    Parameters
    ----------
    family, cluster, jobs, load, max_gang, spread, strength
        Parameters of the instances, see `training_instance`; ours.
    num_agents, max_forwards, variant
        A, F (0 for no forwarding) and the graphs; see `Partitions`, `Rounds` and `Variant`.
    speeds
        Speeds of training instances and in groups: ``predicted``, ``true``, or ``none`` for no interference. Every
        evaluation uses true speeds.
    durations
        Name of the predictor of iterations, see `PREDICTORS`.
    co_locations
        Number of co-locations of training jobs to which the interference predictor is fitted.
    predictor_epochs
        Epochs of the network of the interference predictor.
    imitation_episodes, imitation_epochs, imitation_learning_rate
        Numbers of the imitation of the teacher; 0 episodes for none.
    imitation_entropy
        Weight of the entropy in imitation (ours): the teacher never forwards, and actions that it never takes are hard
        to find later.
    updates, episodes
        Updates by the policy gradient, 0 for imitation only, and episodes per update.
    same_instance
        Number of episodes of an update on one instance, see `mean_of_others`; ours, 1 is the plain form.
    passes, clip
        Number of passes of an update over its decisions, in steps of `chunk` decisions in random order, and the limit
        on the change of the probability of a slot, see `decision_losses`; ours. One pass is one step on all decisions,
        the plain policy gradient.
    reward
        ``jct``: minus the unfinished jobs; ``dl2``: the progress of every job, see `progress_rewards`.
    starts, give_up_after, give_up_above
        After `give_up_after` updates a start whose best validation exceeds `give_up_above` times the teacher's JCT is
        given up for one with other weights, up to `starts` in all; ours.
    gamma
        Discount per kappa ticks, in (0, 1].
    trace_decay
        Lambda of generalised advantage estimates, in [0, 1].
    value_weight
        Weight of the squared error of the critic.
    entropy_start, entropy_end
        Weight of the entropy at the first and after the last update, linear between.
    learning_rate, learning_rate_end, max_norm
        Learning rate of Adam at the first and after the last update, linear between, and largest norm of a gradient.
    offers
        Whether agents see the offers of others for a job, see `Observation`; False is an ablation.
    validate_every
        Updates between two evaluations on the validation instances.
    chunk
        Decisions that are computed at once; the last ones are padded so that only one shape is compiled. Imitation
        takes one step per chunk.

    Raises
    ------
    ValueError
        If a number is out of range, or a name unknown.
    """

    family: str = "jobs-co-located"
    cluster: str = "mixed-64"
    jobs: int = 60
    load: float = 0.9
    max_gang: int = 8
    spread: float = 1.5
    strength: float = 1.5
    num_agents: int = 4
    max_forwards: int = MAX_FORWARDS
    variant: str = "inner-outer"
    speeds: Literal["predicted", "true", "none"] = "predicted"
    durations: str = "oracle"
    co_locations: int = 5000
    predictor_epochs: int = 200
    imitation_episodes: int = 20
    imitation_epochs: int = 5
    imitation_learning_rate: float = 1e-3
    imitation_entropy: float = 1.0
    updates: int = 200
    episodes: int = 8
    same_instance: int = 4
    passes: int = 4
    clip: float = 0.2
    reward: Literal["jct", "dl2"] = "jct"
    starts: int = 3
    give_up_after: int = 80
    give_up_above: float = 0.8
    gamma: float = DISCOUNT
    trace_decay: float = 0.95
    value_weight: float = 0.5
    entropy_start: float = 0.01
    entropy_end: float = 0.001
    learning_rate: float = 5e-4
    learning_rate_end: float = 5e-5
    max_norm: float = 0.5
    offers: bool = True
    validate_every: int = 10
    validation_instances: int = 20
    chunk: int = 512

    def __post_init__(self) -> None:
        """Check the ranges."""
        Variant(self.variant)
        for name, known in (
            ("family", FAMILIES), ("durations", PREDICTORS), ("speeds", SPEEDS), ("reward", REWARDS),
        ):  # fmt: skip
            one_of(getattr(self, name), known, name)
        try:
            parse_cluster(self.cluster)
        except ValueError as error:
            raise ValueError(f"cluster: expected servers, got {self.cluster!r}: {error}") from error
        least = {"max_forwards": 0, "imitation_episodes": 0, "updates": 0}
        for name in (
            "jobs", "max_gang", "num_agents", "max_forwards", "co_locations", "predictor_epochs", "imitation_episodes",
            "imitation_epochs", "updates", "episodes", "same_instance", "passes", "starts", "give_up_after",
            "validate_every",
            "validation_instances", "chunk",
        ):  # fmt: skip
            if getattr(self, name) < least.get(name, 1):
                raise ValueError(f"{name}: expected at least {least.get(name, 1)}, got {getattr(self, name)}.")
        for name in (
            "load",
            "spread",
            "strength",
            "value_weight",
            "imitation_entropy",
            "give_up_above",
            "entropy_start",
            "entropy_end",
        ):
            if not 0.0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name}: expected a finite number of at least 0, got {getattr(self, name)}.")
        if self.episodes % self.same_instance:
            raise ValueError(
                f"same_instance: expected a divisor of episodes, {self.episodes}, got {self.same_instance}."
            )
        for name in ("imitation_learning_rate", "learning_rate", "learning_rate_end", "max_norm", "clip"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}: expected a finite number above 0, got {getattr(self, name)}.")
        if not 0.0 < self.gamma <= 1.0:
            raise ValueError(f"gamma: expected a number above 0, at most 1, got {self.gamma}.")
        if not 0.0 <= self.trace_decay <= 1.0:
            raise ValueError(f"trace_decay: expected a number in 0..1, got {self.trace_decay}.")

    def entropy_weight(self, updates: int) -> float:
        """Return the weight of the entropy after a number of updates."""
        return self._between(self.entropy_start, self.entropy_end, updates)

    def rate(self, updates: int) -> float:
        """Return the learning rate after a number of updates."""
        return self._between(self.learning_rate, self.learning_rate_end, updates)

    def _between(self, start: float, end: float, updates: int) -> float:
        """Return a number on the line from the first update to the last one."""
        return start + min(1.0, updates / max(1, self.updates)) * (end - start)
