"""The multi-agent jobs problem as a PettingZoo environment, so that others can train policies of their own."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from heuristics.jobs.marl.rounds import MAX_FORWARDS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from heuristics.jobs.marl.jobs_environment import JobsEnvironment
    from heuristics.jobs.marl.observation import ObservationSize
    from instances.jobs.jobs_instance import JobsInstance

    Sampler = Callable[[np.random.Generator], JobsInstance]
    """Draws the instance of an episode."""


def parallel_env(
    source: JobsInstance | Sampler,
    *,
    num_agents: int = 4,
    max_forwards: int = MAX_FORWARDS,
    predictor: str = "oracle",
    size: ObservationSize | None = None,
    kappa: float | None = None,
    is_weighted: bool = False,
    is_strict: bool = False,
    max_steps: int | None = None,
) -> JobsEnvironment:
    """Return an environment with PettingZoo's parallel interface, in which an episode schedules one instance; ours.

    Agents ``agent_0``, ``agent_1``, ... own the partitions of `Partitions`; rules, slots, observations and rewards are
    those of `Rounds`, `Observation` and `RoundRewards`, sections 3.1, 3.2 and 3.5 of the reference. In a step every
    agent takes its next decision of the pass; as agents of one pass do not influence each other (argued in
    `Rounds.passes`), an episode has exactly the schedule of `simulate_agents` with the same decisions. Nobody is asked
    where only one action is possible, and time passes until somebody is.

    **Actions** are slots: 8 groups of GPUs, forwards to the other agents in order of number, wait.

    **Observations** hold ``observation``, the arrays of `Observation` by name, and ``action_mask``. An agent without a
    decision sees zeros and may only wait, so all live agents act in every step.

    **Masked actions** count as the lowest slot that may be chosen (the first group if there is one), and the next
    information of the agent says so; with `is_strict` they are an error. Others than 0..7 + A always are.

    **Rewards** are minus the unfinished jobs of the agent for every tick until the next step, over kappa. Time that
    passes before the first step counts to it. Summed over agents and steps, minus kappa times the rewards is the total
    JCT, weighted if `is_weighted`.

    **Infos** of every agent: ``time``, now in ticks; ``ticks``, how many the step took, for discounts gamma^(ticks /
    kappa); ``job_ticks``, minus kappa times the reward, an integer; ``job``, whom the agent decides on, None for
    nobody; ``is_replaced``, whether its action was masked. At the end also ``total_jct`` as above and ``mean_jct``, of
    all jobs alike, in ticks (None without jobs).

    **Ends.** All agents terminate together when all jobs have started, for nothing is left to decide; the last rewards
    reach to the last completion, and ``simulation`` of the environment has schedule and log. Where nobody ever has a
    choice the first step ends it. Episodes end by themselves; with `max_steps` they are truncated before.

    **Seeds.** ``reset(seed=...)`` begins a stream of random numbers from which this episode's instance (from a sampler)
    and predictor are drawn; a reset without a seed goes on with the stream, at first with that of seed 0. ``options``
    are not looked at.

    Parameters
    ----------
    source
        The instance of every episode, or a function that draws one with the generator it is given.
    num_agents
        A; see `Partitions`.
    max_forwards
        F; see `Rounds`.
    predictor
        A name in `PREDICTORS`: who predicts the durations that agents see.
    size
        Sizes of the padded arrays; the smallest for an instance if None, needed with a sampler.
    kappa
        Unit of time in ticks, see `time_scale`; that of an instance if None, needed with a sampler.
    is_weighted
        Whether jobs count with their weights.
    is_strict
        Whether masked actions are an error.
    max_steps
        Steps after which an unfinished episode is truncated, at least 1; None for never.

    Raises
    ------
    ValueError
        If PettingZoo is not installed, size or kappa is needed and None, kappa is not positive, `max_steps` is below 1,
        the predictor is unknown, or as `Partitions`; a reset raises what `Episode` does for an instance drawn.
    """
    for package in ("pettingzoo", "gymnasium"):
        if find_spec(package) is None:
            raise ValueError(
                f"{package}: expected the packages of the extra marl (pip install 'optgap[marl]'), got none."
            )
    from heuristics.jobs.marl.jobs_environment import JobsEnvironment

    return JobsEnvironment(
        source,
        num_agents=num_agents,
        max_forwards=max_forwards,
        predictor=predictor,
        size=size,
        kappa=kappa,
        is_weighted=is_weighted,
        is_strict=is_strict,
        max_steps=max_steps,
    )
