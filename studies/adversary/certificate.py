"""One JSON document that holds a worst case and everything that somebody needs to check it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instances.dag_document import dag_instance_document, dag_schedule_document
from solvers.versions import hardware, versions

if TYPE_CHECKING:
    from solvers.confirmation import Confirmation
    from studies.adversary.contestant import Contestant
    from studies.adversary.worst_case import WorstCase

FORMAT, VERSION = "optgap/adversary-certificate", 1

MEANING = "The largest ratio that this search found: a lower bound on the worst case within the ranges of the search."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Certificate:
    """What is claimed of a worst case.

    Parameters
    ----------
    worst
        Instance and schedules.
    heuristic, rival
        What was run; the rival is None where the ratio is to the optimum.
    confirmation
        What a second model said of the proof of the optimum, None where none was asked.
    search
        Seeds, ranges, temperatures and counts of the search, as JSON values.
    random_instances
        Ratios on random instances of the same family, as JSON values; None where there are none.
    other_seeds
        Of a randomised heuristic: its objectives on the instance with other seeds, None where it ran into a memory
        limit. Empty for others.
    """

    worst: WorstCase
    heuristic: Contestant
    rival: Contestant | None
    confirmation: Confirmation | None = None
    search: dict[str, Any] = field(default_factory=dict)
    random_instances: dict[str, Any] | None = None
    other_seeds: tuple[int | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document, the same from the same search on one machine, byte for byte: it tells no time."""
        worst = self.worst
        rival = None if self.rival is None else {**self.rival.to_dict(), "objective": worst.rival_value}
        schedules = {"heuristic": worst.heuristic, "optimal": worst.optimal, "rival": worst.rival}
        return {
            "format": FORMAT,
            "version": VERSION,
            "meaning": MEANING,
            "objective_name": str(worst.objective),
            "ratio": worst.ratio,
            "ratio_to_optimum": worst.ratio_to_optimum,
            "heuristic": {
                **self.heuristic.to_dict(),
                "objective": worst.value,
                "objectives_of_other_seeds": list(self.other_seeds),
            },
            "rival": rival,
            "optimum": worst.optimum,
            "proof": {
                "method": worst.bound.method,
                "proof": worst.bound.proof,
                "solver": worst.bound.solver,
                "threads": worst.bound.threads,
                "confirmed_by": worst.bound.confirmed_by,
                "not_confirmed": None if self.confirmation is None else self.confirmation.reason,
            },
            "random_instances": self.random_instances,
            "search": self.search,
            "versions": versions(),
            "hardware": hardware(),
            "instance_sha256": worst.instance.sha256,
            "instance": dag_instance_document(worst.instance),
            "schedules": {
                name: None if schedule is None else dag_schedule_document(worst.instance, schedule)
                for name, schedule in schedules.items()
            },
        }
