"""How much of a run's budget is used, and when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.exact_run import ExactRun


class Budget:
    """Iterations, seconds, or whichever of the two is used up first.

    Parameters
    ----------
    run
        With its time limit.
    iterations
        At least 1, None for no limit.
    """

    def __init__(self, run: ExactRun, iterations: int | None = None) -> None:
        self._run, self._iterations = run, iterations
        self._begun = run.watch.seconds

    def share(self, iteration: int) -> float:
        """Return the used share before an iteration, from 0 on; 1 or more where the budget is used up."""
        shares = [0.0]
        if self._iterations is not None:
            shares.append(iteration / self._iterations)
        if self._run.time_limit is not None:
            span = self._run.time_limit - self._begun
            shares.append((self._run.watch.seconds - self._begun) / span if span > 0 else 1.0)
        return max(shares)

    def must_stop(self) -> bool:
        """Whether the time is over or the run was interrupted."""
        return self._run.must_stop()
