"""Bounds as methods have them and as the ledger has them, and where they come from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from instances.library import KnownBound, Provenance
from solvers.bound import Bound
from solvers.versions import hardware, versions

if TYPE_CHECKING:
    from instances.library import LedgerEntry

NAMED_VERSIONS = ("optgap", "python", "numpy", "ortools", "highspy")
"""Versions that the ledger states."""


def stored_bound(entry: LedgerEntry, objective_name: str) -> Bound:
    """Return the stored bound of an entry as methods take it."""
    known = entry.bound
    if known is None:
        raise ValueError(f"{entry.instance}: expected a bound, got none.")
    return Bound(
        value=known.value,
        method=known.provenance.method,
        proof=known.proof,
        seconds=known.provenance.seconds,
        solver=known.solver,
        confirmed_by=known.confirmed_by,
        objective_name=objective_name,
        threads=known.provenance.threads,
        seed=known.provenance.seed,
        hardware=known.provenance.hardware,
    )


def known_bound(bound: Bound, budget: str | None, threads: int) -> KnownBound:
    """Return a bound as the ledger takes it."""
    return KnownBound(
        value=bound.value,
        proof=bound.proof,
        solver=bound.solver,
        provenance=provenance_now(bound.method, budget, bound.seconds, threads, bound.seed),
        confirmed_by=bound.confirmed_by,
        confirmed_date=None if bound.confirmed_by is None else today(),
    )


def provenance_now(method: str, budget: str | None, seconds: float, threads: int, seed: int | None) -> Provenance:
    """Return where something comes from: this run, here and today."""
    found = versions()
    return Provenance(
        method=method,
        budget=budget,
        seconds=round(seconds, 2),
        threads=threads,
        seed=seed,
        date=today(),
        hardware=hardware(),
        versions={name: found[name] for name in NAMED_VERSIONS},
    )


def seconds_text(time_limit: float | None) -> str | None:
    """Return a time limit as a budget."""
    return None if time_limit is None else f"{time_limit:g} s"


def today() -> str:
    """Return the day in UTC."""
    return datetime.now(UTC).date().isoformat()
