"""A way to a bound without search, and what it proves."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heuristics.stopwatch import Stopwatch
from instances.contention import Contention
from solvers.bound import Bound
from solvers.versions import hardware, version_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundMethod:
    """What bounds of both problems have.

    Parameters
    ----------
    path
        ``module:function`` of instance and objective.
    proof
        What proves it.
    distribution
        The solver that it asks for help, None for none.
    """

    path: str
    proof: str
    distribution: str | None = None

    def resolve(self) -> Callable[..., int]:
        """Import and return the function."""
        module, function = self.path.split(":")
        resolved: Callable[..., int] = getattr(import_module(module), function)
        return resolved

    def bound(self, name: str, instance: object, objective: object, **rule: Any) -> Bound:
        """Compute the bound and time it.

        Parameters
        ----------
        name
            Of the method.
        instance, objective
            What is bounded.
        rule
            ``contention`` where the function knows it.
        """
        watch = Stopwatch()
        value = int(self.resolve()(instance, objective, **rule))
        return Bound(
            value=value,
            method=name,
            proof=self.proof,
            seconds=watch.seconds,
            solver=None if self.distribution is None else f"{self.distribution} {version_of(self.distribution)}",
            objective_name=str(objective),
            threads=1,
            hardware=hardware(),
            contention=rule.get("contention", Contention.NONE),
        )
