"""How the network is trained."""

from __future__ import annotations

from dataclasses import dataclass

from heuristics.search.settings import require_at_least, require_between, require_choice

LARGEST_OBEDIENCE = 1000.0
"""Any number is valid; no training beyond 40 was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """Parameters of a training; a step is the placement of one task.

    Parameters
    ----------
    gamma
        Discount, in (0, 1].
    horizon
        Placements from a state to the one whose value is its target (n-step returns); 1 is standard.
    shaping
        Whether rewards are shaped by a lower bound of the final makespan, in units of HEFT's makespan
        (`shaped_rewards`); otherwise they are the growth of the makespan in units of LB.
    learning_rate
        Initial learning rate of Adam; it falls to 0 along a cosine.
    max_norm
        Largest norm of a gradient.
    batch
        Transitions per update.
    replay
        Number of transitions that are kept.
    warm_up
        Steps before the first update.
    steps_per_update
        Steps for each update after the warm-up.
    target_every
        Updates after which the online network is copied to the target network.
    updates_per_call
        Updates that are made with the same acting network; a divisor of `target_every`.
    epsilon_start, epsilon_end, epsilon_share
        Exploration falls linearly from the first to the second over this share of the steps.
    episodes
        Placements of every instance.
    wish_share
        Share of the episodes with desired loads.
    wishes
        Where desired loads come from: "moves" of whales (`training_loads`), which need not be those of any placement,
        or "placements" (`loads_of_placements`), which can be followed in full.
    obedience
        Weight of the term of the desired loads in the reward, times lambda.
    orders
        Order of the tasks in an episode: "rank", or "rank-noise", drawn around the rank (`noisy_ranks`).
    validate_every
        Steps between two measurements on the validation instances.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    steps: int = 800_000
    gamma: float = 1.0
    horizon: int = 1
    shaping: bool = True
    learning_rate: float = 5e-4
    max_norm: float = 10.0
    batch: int = 128
    replay: int = 100_000
    warm_up: int = 2_000
    steps_per_update: int = 4
    target_every: int = 500
    updates_per_call: int = 20
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    epsilon_share: float = 0.2
    episodes: int = 4
    wish_share: float = 0.5
    wishes: str = "moves"
    obedience: float = 1.0
    orders: str = "rank"
    validate_every: int = 20_000

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in (
            "steps", "horizon", "batch", "replay", "steps_per_update", "target_every", "updates_per_call", "episodes",
            "validate_every",
        ):  # fmt: skip
            require_at_least(1, **{name: getattr(self, name)})
        require_at_least(0, warm_up=self.warm_up)
        for name in ("epsilon_start", "epsilon_end", "epsilon_share", "wish_share"):
            require_between(0, 1, **{name: getattr(self, name)})
        if not 0.0 < self.gamma <= 1.0:
            raise ValueError(f"gamma: expected a number above 0, at most 1, got {self.gamma}.")
        require_choice("wishes", self.wishes, ("moves", "placements"))
        require_choice("orders", self.orders, ("rank", "rank-noise"))
        require_between(0, LARGEST_OBEDIENCE, obedience=self.obedience)
        for name in ("learning_rate", "max_norm"):
            if not 0.0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}: expected a finite number above 0, got {getattr(self, name)}.")
        if self.target_every % self.updates_per_call:
            expected = f"a divisor of target_every, {self.target_every}"
            raise ValueError(f"updates_per_call: expected {expected}, got {self.updates_per_call}.")

    @property
    def updates(self) -> int:
        """Number of updates in all."""
        return max(0, self.steps - self.warm_up) // self.steps_per_update

    def epsilon(self, steps: int) -> float:
        """Return the probability of exploring after a number of steps."""
        share = min(1.0, steps / max(1.0, self.epsilon_share * self.steps))
        return self.epsilon_start + share * (self.epsilon_end - self.epsilon_start)
