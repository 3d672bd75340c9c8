"""One claim put to a second model: what it says, and the alarm where it finds what should not exist."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from heuristics.search.clock import Stopwatch
from instances.dag.objective import objective_value
from instances.dag.verify import verify_dag_schedule
from solvers.backends.second_opinion import second_model, second_opinion
from solvers.run.contradiction import raise_contradiction
from solvers.run.exact_run import ExactRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from instances.dag.contention import Contention
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule
    from solvers.run.bound import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Whether a second model refuted what a claim says does not exist.

    A contradiction is never a `Confirmation`: it raises.

    Parameters
    ----------
    claim
        The claim in words, such as "no makespan below 73".
    asked
        The second model, with solver and version.
    confirmed_by
        What confirms the claim, None where nothing does. Beside `asked` it can be a shorter argument, such as releases
        and durations alone, and it says whether windows were shared with the first model.
    reason
        Why nothing confirms the claim; None if something does.
    time_limit
        Limit in seconds; None for no limit.
    """

    claim: str
    asked: str
    confirmed_by: str | None
    reason: str | None = None
    seconds: float = 0.0
    time_limit: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in one line."""
        if self.confirmed_by is not None:
            return f"{self.claim}: confirmed by {self.confirmed_by} in {self.seconds:.2f} s"
        return f"{self.claim}: not confirmed, {self.reason} (asked: {self.asked})"


CONFIRM_SECONDS = 60.0
"""Time for a confirmation where neither it nor the method was given a limit."""


def check_confirm_time_limit(confirm: bool, time_limit: float | None) -> None:
    """Refuse a time limit of 0 or less, and one for what is not asked for.

    Raises a `ValueError` if it is one of these.
    """
    if time_limit is not None and not (confirm and time_limit > 0):
        expected = "a positive number of seconds" if confirm else "none without confirm"
        raise ValueError(f"confirm_time_limit: expected {expected}, got {time_limit}.")


def confirmation_run(
    *, time_limit: float | None, threads: int, seed: int, should_stop: Callable[[], bool] = lambda: False
) -> ExactRun:
    """Return limits for a second model; it is told nothing of what the first one found."""
    return ExactRun(
        start=None,
        lower_bound=0,
        time_limit=None if time_limit is None or math.isinf(time_limit) else time_limit,
        threads=threads,
        seed=seed,
        watch=Stopwatch(),
        report=lambda objective, bound: None,
        should_stop=should_stop,
    )


def ask_second_model(
    instance: DagInstance,
    objective: Objective,
    bound: Bound | None,
    schedule: DagSchedule | None,
    first: str,
    solver: str | None,
    by_search: bool,
    run: ExactRun,
    contention: Contention,
) -> Confirmation:
    """Ask, and raise where the answer is a schedule that should not exist; `first` is who claims."""
    watch, second = Stopwatch(), second_model(solver)
    value = None if bound is None else bound.value
    claim = "no schedule at all" if value is None else claim_of_bound(objective, value)
    opinion = second_opinion(
        second, instance, objective, value, run, own_windows_only=not by_search, contention=contention
    )
    reason = opinion.reason
    if opinion.schedule is not None:
        found = None
        if not verify_dag_schedule(instance, opinion.schedule, contention):  # a second model may err too
            found = objective_value(instance, opinion.schedule, objective)
        if found is not None and (value is None or found < value):
            answer = f"a schedule with {_words(objective)} {found}"
            raise_contradiction(
                instance,
                f"{first} claims: {claim}. {second.name} finds {answer}.",
                schedule=opinion.schedule,
                other_schedule=schedule,
                claims={first: claim, second.name: answer},
                evidence={
                    "bound": None if bound is None else bound.to_dict(),
                    "objective_name": str(objective),
                    "objective": found,
                    "contention": str(contention),
                    "threads": run.threads,
                    "seed": run.seed,
                    "confirm_time_limit": run.time_limit,
                },
            )
        reason = "what it found is no such schedule"
    return Confirmation(
        claim=claim,
        asked=second.name,
        confirmed_by=opinion.confirmed_by,
        reason=reason,
        seconds=watch.seconds,
        time_limit=run.time_limit,
    )


def claim_of_bound(objective: Objective, value: int) -> str:
    """Say what a bound claims."""
    return f"no {_words(objective)} below {value}"


def _words(objective: Objective) -> str:
    """Name an objective."""
    return str(objective).replace("_", " ")
