"""What several agents did beside their schedule: decisions, rounds, forwards."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heuristics.jobs.marl.simulate_agents import AgentsRun


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsFigures:
    """Counts of one run.

    Parameters
    ----------
    num_agents
        A.
    num_decisions
        Decisions with more than one possible action; the only action is taken without asking.
    num_rounds
        Ticks with an arrival or completion, up to the last start.
    forwards_mean
        Forwards per job.
    """

    num_agents: int
    num_decisions: int
    num_rounds: int
    forwards_mean: float

    def to_dict(self) -> dict[str, float]:
        """Return the fields for JSON."""
        return asdict(self)


def agents_figures(run: AgentsRun) -> AgentsFigures | None:
    """Return the counts of a run; None without jobs."""
    forwards = run.rounds.num_forwards
    if not len(forwards):
        return None
    return AgentsFigures(
        num_agents=run.rounds.num_agents,
        num_decisions=run.rounds.num_decisions,
        num_rounds=run.simulation.num_dispatches,
        forwards_mean=float(forwards.mean()),
    )
