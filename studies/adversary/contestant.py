"""A heuristic with everything that its run depends on."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heuristics.stop.max_evaluations import MaxEvaluations
from solvers.resolve_method import resolve_method
from solvers.solve import solve
from solvers.status import Termination
from studies.experiment.checked_method import method_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from instances.dag_instance import DagInstance
    from instances.objective import Objective
    from solvers.bound import Bound
    from solvers.result import Result


class InterruptedRunError(Exception):
    """Ctrl-C was heard inside a run, whose answer is not the one that it would have given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A heuristic whose ratio is measured, or the one that it is measured against.

    Parameters
    ----------
    method
        A registered name, or ``module:function``.
    seed
        Of every run. The adversary knows it: of a randomised heuristic it finds what is bad for this seed.
    evaluations
        Budget of a search; others have none.
    parameters
        Of the method.

    Raises
    ------
    ValueError
        If there is no such method.
    """

    method: str
    seed: int = 0
    evaluations: int = 50
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look the method up once."""
        method_of(self.method)
        if self.evaluations < 1:
            raise ValueError(f"evaluations: expected at least 1, got {self.evaluations}.")

    @property
    def is_search(self) -> bool:
        """Whether it has a budget."""
        return resolve_method(method_of(self.method))[0] == "search"

    @property
    def is_random(self) -> bool:
        """Whether its result depends on the seed."""
        return "rng" in inspect.signature(resolve_method(method_of(self.method))[1]).parameters

    def run(
        self,
        instance: DagInstance,
        objective: Objective,
        bounds: Sequence[Bound] | None = None,
        *,
        seed: int | None = None,
    ) -> Result:
        """Return the verified result of one run, the same every time.

        Parameters
        ----------
        instance, objective
            What is scheduled and minimised.
        bounds
            That are known; the objective is held against them.
        seed
            Another one than its own.

        Raises
        ------
        InterruptedRunError
            If Ctrl-C ended the run.
        ContradictionError, UnverifiedScheduleError
            As `solve`.
        """
        result = solve(
            instance,
            method_of(self.method),
            objective=objective,
            stop=MaxEvaluations(self.evaluations) if self.is_search else None,
            threads=1,
            seed=self.seed if seed is None else seed,
            bounds=bounds,
            **self.parameters,
        )
        if result.termination is Termination.INTERRUPTED:
            raise InterruptedRunError(self.method)
        return result

    def to_dict(self) -> dict[str, object]:
        """Return what a run depends on, as JSON values."""
        return {
            "method": self.method,
            "parameters": {key: _json_value(value) for key, value in self.parameters.items()},
            "seed": self.seed,
            "evaluations": self.evaluations if self.is_search else None,
        }


def _json_value(value: object) -> object:
    """Return what JSON can hold as it is, everything else as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
