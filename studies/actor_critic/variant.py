"""What the study of the actor-critic runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heuristics.jobs.actor_critic.settings import PRINTED, REPAIRED
from heuristics.jobs.actor_critic.simple_spread import LANDMARKS, SimpleSpread

if TYPE_CHECKING:
    from heuristics.jobs.actor_critic.settings import ActorCriticSettings

MIXING, RANDOM = "mixing", "random"
"""Gossip weights: [[.7, .3], [.3, .7]] of two agents, or a random doubly stochastic matrix of a complete graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One row of the study.

    Parameters
    ----------
    name
        Unique.
    settings
        Of the actor-critic; the number of iterations follows from the study's number of steps.
    environment
        Grid world.
    weights
        `MIXING` or `RANDOM`.
    stated_first, stated_last
        Team reward per step at the beginning and the end that somebody else reports; None where nobody does.
    before
        What is trained first, for as many iterations as its settings say; the actors begin with what it leaves. None:
        with random weights.
    """

    name: str
    settings: ActorCriticSettings
    environment: SimpleSpread
    weights: str
    stated_first: float | None = None
    stated_last: float | None = None
    before: Variant | None = None

    def lasting(self, steps: int) -> Variant:
        """Return the variant with as many iterations as fit into a number of steps in the environment."""
        period = self.settings.critic_steps + self.settings.actor_steps
        return replace(self, settings=replace(self.settings, iterations=steps // period))

    @property
    def key(self) -> str:
        """Hash of everything that a run depends on but its seed: 16 hexadecimal digits."""
        said = repr((self.settings, self.environment, self.weights, self.before and self.before.key))
        return hashlib.sha256(said.encode()).hexdigest()[:16]


_LOCAL, _TEAM = SimpleSpread(), SimpleSpread(local_rewards=False)
_V = replace(REPAIRED, last_scale=1.0)
_RESIDUAL = replace(_V, signal="q_residual")


def _derived(
    name: str,
    settings: ActorCriticSettings,
    first: float | None = None,
    last: float | None = None,
    *,
    environment: SimpleSpread = _LOCAL,
) -> Variant:
    """Return a variant beside the numbers that were derived before this software."""
    return Variant(
        name=name, settings=settings, environment=environment, weights=MIXING, stated_first=first, stated_last=last
    )


REPAIRS = (
    _derived("printed sign, restart, restarted target", replace(
        _RESIDUAL, sign="printed", warm_start=False, target="restarted"
    )),
    _derived("printed sign, warm start", replace(_RESIDUAL, sign="printed"), -8.17, -8.04),
    _derived("minus sign, warm start", _RESIDUAL, -7.79, -7.94),
    _derived("minus sign, restart", replace(_RESIDUAL, warm_start=False), -7.81, -8.02),
    _derived("Q advantage, 4 samples", replace(_V, signal="q_advantage"), -8.13, -7.64),
    _derived("V critic", _V, -7.93, -6.51),
    _derived("V critic, b x 0.1", REPAIRED, -7.57, -6.27),
    _derived("V critic, tg = 0", replace(_V, gossip_rounds=0), -7.97, -6.75),
    _derived("V critic, restart", replace(_V, warm_start=False), -7.97, -7.63),
    _derived("V critic, K = M = 1", replace(_V, critic_steps=1, actor_steps=1, alpha=0.005), -7.87, -7.07),
    _derived("V critic, B = 2", replace(_V, radius=2.0), -7.93, -6.49),
    _derived("V critic, team reward, tg = 10", _V, -7.93, -5.85, environment=_TEAM),
    _derived("V critic, team reward, tg = 0", replace(_V, gossip_rounds=0), -7.93, -5.86, environment=_TEAM),
)  # fmt: skip
"""Printed and repaired side by side on local rewards, K = M = 10, gamma 0.9, alpha 0.05, beta 0.003 (ours)."""


_TRAINED = Variant(
    name="trained policy", settings=replace(REPAIRED, iterations=1000), environment=_LOCAL, weights=MIXING
)
_LOUD = SimpleSpread(reward_scale=0.1)
_CENTRED = 3.8
"""About minus the mean local reward of a random policy, not scaled; two agents."""


def _signs(name: str, environment: SimpleSpread, reward_shift: float, before: Variant | None = None) -> list[Variant]:
    """Return the Q residual with the sign as printed and with the other one; all else is the same."""
    residual = replace(REPAIRED, signal="q_residual", warm_start=False, reward_shift=reward_shift)
    return [
        Variant(
            name=f"{text} sign, {name}",
            settings=replace(residual, sign=sign),
            environment=environment,
            weights=MIXING,
            before=before,
        )
        for text, sign in (("printed", "printed"), ("minus", "repaired"))
    ]


SIGNS = tuple(
    variant
    for rows in (
        _signs("heard, first policy", _LOUD, 10 * _CENTRED),
        _signs("heard, trained policy", _LOUD, 10 * _CENTRED, _TRAINED),
        _signs("not centred", _LOUD, 0.0),
        _signs("centred, rewards / 10", _LOCAL, _CENTRED / 10),
    )
    for variant in rows
)
"""When the printed sign makes the reward fall, and the other one does not (ours).

With a critic that knows nothing, minus the printed residual is about r plus a constant. That is *heard* where rewards
are large beside the differences of the critic's random outputs (here: times 10, not over 10) and have both signs (here:
centred, 3.8 a step and agent are added); critics begin anew at every iteration. Of the last two pairs each lacks one.
"""


def _published(name: str, last: float, landmarks: int = 2, **changes: object) -> list[Variant]:
    """Return a row of the paper's plots, under its settings with the sign as printed and with the other one."""
    environment = SimpleSpread(landmarks=LANDMARKS[landmarks], local_rewards=False, reward_scale=1.0)
    signs = ("printed",) if changes.get("signal") == "q_value" else ("printed", "repaired")
    return [
        Variant(
            name=f"published {name}{', minus sign' if sign == 'repaired' else ''}",
            settings=replace(PRINTED, sign=sign, **changes),  # type: ignore[arg-type]  # fields of different types
            environment=environment,
            weights=RANDOM,
            stated_last=last,
        )
        for sign in signs
    ]


PUBLISHED = tuple(
    variant
    for rows in (
        _published("defaults", -4.85),
        _published("tg = 0", -5.2, gossip_rounds=0),
        _published("tg = 20", -4.1, gossip_rounds=20),
        _published("m = 10", -4.95, width=10),
        _published("m = 40", -5.05, width=40),
        _published("D = 20", -4.5, depth=20),
        _published("D = 40", -3.7, depth=40),
        _published("N = 3", -7.5, landmarks=3),
        _published("N = 4", -9.1, landmarks=4),
        _published("K = 1, M = 5", -4.0, actor_steps=5),
        _published("K = 5, M = 1", -3.8, critic_steps=5),
        _published("Q value as signal", -7.8, signal="q_value"),
    )
    for variant in rows
)
"""Experiment A of Zhang et al. (2025): values read from plots at episode 4000, within 0.1.

Their defaults: T = 20000, K = M = 1, gamma 0.99, m = 20, D = 5, tg = 10. Positions of landmarks and B are not given, so
levels cannot be compared, only directions.
"""

SETS = {"repairs": REPAIRS, "signs": SIGNS, "published": PUBLISHED}
"""Variants by what `--variants` names them."""


def variants_named(text: str) -> tuple[Variant, ...]:
    """Return the variants of sets or single ones, separated by semicolons (names of variants hold commas).

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    single = {variant.name: variant for variants in SETS.values() for variant in variants}
    chosen: dict[str, Variant] = {}
    for part in (part.strip() for part in text.split(";")):
        if part not in SETS and part not in single:
            raise ValueError(f"variants: expected {', '.join(SETS)} or the name of a variant, got {part!r}.")
        chosen |= {variant.name: variant for variant in SETS.get(part) or (single[part],)}
    return tuple(chosen.values())
