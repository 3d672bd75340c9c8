"""How the multi-agent policy is trained by a decentralised actor-critic with gossip."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from heuristics.jobs.actor_critic.gossip import default_rounds, gossip_graph, metropolis_weights
from heuristics.jobs.actor_critic.settings import ActorCriticSettings
from heuristics.jobs.marl.training.settings import TrainingSettings
from instances.fields import one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SHARED = (
    "family", "cluster", "jobs", "load", "max_gang", "spread", "strength", "num_agents", "max_forwards", "variant",
    "speeds", "durations", "co_locations", "predictor_epochs", "imitation_episodes", "imitation_epochs",
    "imitation_learning_rate", "imitation_entropy", "updates", "gamma", "entropy_start", "entropy_end",
    "learning_rate", "max_norm", "validate_every", "validation_instances", "chunk",
)  # fmt: skip
"""Settings of the central trainer that also apply here."""

CENTRAL_ONLY = tuple(field.name for field in fields(TrainingSettings) if field.name not in SHARED)
"""The other settings of the central trainer, which must keep their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GossipSettings(TrainingSettings):
    """The numbers and variants of docs/methods/multi_agent.md, section 9.

    They are ours and do not have the guarantee of the paper's theorem.

    A step in the environment is a round, see `Rounds`; the action of an agent in it is the sequence of its decisions,
    whose log probabilities are summed. The defaults are the repaired algorithm; `printed` returns the printed one.

    Parameters
    ----------
    updates
        T, steps of the actors.
    learning_rate, max_norm, entropy_start, entropy_end
        Numbers of the practical update.
    graph
        Graph of the agents that exchange messages, see `gossip_graph`; weights are those of Metropolis. On a complete
        graph one exchange gives the exact mean, like infinitely many on any other graph.
    gossip_rounds
        tg, exchanges of critics and of signals per update: 0 for independent learners; None for the fewest that leave a
        tenth of the distance to consensus, at least 10, see `default_rounds`.
    critic_steps, actor_steps
        K and M, rounds per update.
    width, depth
        m and D of the critics, whose first and last layer are fixed and common.
    critic
        ``deep``, or for comparison ``linear``, see `linear_critic`, with the same gossip.
    is_centred
        Whether V(s; W) is the network at W minus the network at the first weights (ours), so that values begin at 0
        with the same gradients. Printed: False; the first critic is then a random function as large as the values to be
        learned, and actors follow it until the values have been learned.
    beta, radius
        Step of the critics, and B of their projection, per layer around the first weights.
    signal
        ``v`` (ours): the score of an action is weighted with r_i + gamma_l V(s'; W_i) - V(s; W_i). ``q_residual``
        (printed): with r_i + gamma_l Q(s', a'; W_i) - Q(s, a; W_i) up to its sign, whose mean is 0 at the exact critic.
    sign
        Of ``q_residual``: ``printed`` descends, ``repaired`` ascends.
    warm_start
        Whether critics continue from the gossiped weights (ours) or begin every update with the first ones (printed).
    target
        State after the last round of an episode: ``true`` (ours): none, with value 0; ``restarted`` (printed): the
        first round of the next instance, discounted as any other.
    update
        ``practical`` (ours): Adam on the direction, its norm limited, with a bonus for entropy. ``theorem``: the
        direction is scaled to length alpha / (t + 1).
    alpha
        Step of the theorem's update.
    rewards
        ``own``: those of each agent, see `RoundRewards`. ``team``: the mean over the agents for all of them, which
        makes gossip vacuous.
    unit_rewards
        Whether rewards of rounds are shifted by 1 and cut to 0..1, which the theorem asks for.
    actor_chunk
        Decisions of an agent whose gradients are computed at once.

    Raises
    ------
    ValueError
        If a number is out of range, a name is unknown, or a setting is given that only the central trainer has.

    Notes
    -----
    *Printed* here means Algorithms 1 and 2 of Zhang et al. (2025) with K = M = 1: theta + alpha d / ||d|| in the
    direction that descends, the residual of a Q critic as signal, a critic that restarts at every update from a random
    function, and a target across the end of an episode. The input of its critic is xi(s, a) = the summaries after the
    round, when all agents have acted (ours: joint actions are sequences of placements, of no fixed length, and the
    paper has no such case); a' is the next action of the agents. Not carried over: the restart kernel, because
    instances end by themselves and the next begins; the actor's network, which is that of the policy after imitation;
    alpha / t from t = 0, which is not defined. Rewards are below 0 unless `unit_rewards`.

    Signals are not normalised. Therefore the practical update nearly always has the largest allowed norm, and M = 32
    rounds are few: measured with 60 jobs, 4 agents, true speeds and seed 0, the mean JCT on 12 validation instances is
    1.16 of the teacher's after imitation, 0.82 after 40 updates, and 2.2 after 160. Only the best networks are kept. On
    6 instances it is 0.80 after 40 updates, and 2.69 with critics that are not centred.
    """

    updates: int = 2000
    entropy_start: float = 0.02
    learning_rate: float = 3e-4
    validate_every: int = 50
    graph: str = "ring"
    gossip_rounds: int | None = None
    critic_steps: int = 32
    actor_steps: int = 32
    width: int = 64
    depth: int = 3
    critic: Literal["deep", "linear"] = "deep"
    is_centred: bool = True
    beta: float = 1e-3
    radius: float = 20.0
    signal: Literal["v", "q_residual"] = "v"
    sign: Literal["printed", "repaired"] = "repaired"
    warm_start: bool = True
    target: Literal["true", "restarted"] = "true"
    update: Literal["practical", "theorem"] = "practical"
    alpha: float = 0.5
    rewards: Literal["own", "team"] = "own"
    unit_rewards: bool = False
    actor_chunk: int = 32

    def __post_init__(self) -> None:
        """Check the ranges, most of them by `ActorCriticSettings`."""
        TrainingSettings.__post_init__(self)
        for field in fields(TrainingSettings):
            if field.name in CENTRAL_ONLY and getattr(self, field.name) != field.default:
                raise ValueError(f"{field.name}: expected none, as only the central trainer has it, got another one.")
        for name, allowed in (
            ("critic", ("deep", "linear")), ("signal", ("v", "q_residual")), ("update", ("practical", "theorem")),
            ("rewards", ("own", "team")),
        ):  # fmt: skip
            one_of(getattr(self, name), allowed, name)
        if self.actor_chunk < 1:
            raise ValueError(f"actor_chunk: expected at least 1, got {self.actor_chunk}.")
        gossip_graph(self.graph, self.num_agents)
        _ = self.actor_critic

    @classmethod
    def printed(cls, **changes: Any) -> GossipSettings:
        """Return the printed variant, as far as it can be carried over, with changes."""
        return cls(**{**PRINTED, **changes})

    @property
    def actor_critic(self) -> ActorCriticSettings:
        """The same choices as settings of the grid world."""
        practical = self.update == "practical"
        return ActorCriticSettings(
            iterations=max(1, self.updates),
            critic_steps=self.critic_steps,
            actor_steps=self.actor_steps,
            width=self.width,
            depth=self.depth,
            gamma=self.gamma,
            gossip_rounds=self.num_gossip_rounds,
            signal=self.signal,
            sign=self.sign,
            warm_start=self.warm_start,
            target=self.target,
            alpha=self.learning_rate if practical else self.alpha,
            alpha_schedule="constant" if practical else "harmonic",
            update="adam" if practical else "normalised",
            max_norm=self.max_norm,
            beta=self.beta,
            radius=self.radius,
        )

    @property
    def weights(self) -> NDArray[np.float64]:
        """Am, the weights of one exchange, shape (A, A)."""
        return metropolis_weights(gossip_graph(self.graph, self.num_agents))

    @property
    def num_gossip_rounds(self) -> int:
        """Number of exchanges tg, with the default computed."""
        return default_rounds(self.weights) if self.gossip_rounds is None else self.gossip_rounds


PRINTED: dict[str, Any] = {
    "critic_steps": 1,
    "actor_steps": 1,
    "signal": "q_residual",
    "sign": "printed",
    "warm_start": False,
    "is_centred": False,
    "target": "restarted",
    "update": "theorem",
}
"""Settings of the printed variant."""
