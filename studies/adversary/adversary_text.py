"""What a search found, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from studies.command_line.aligned import aligned

if TYPE_CHECKING:
    from pathlib import Path

    from studies.adversary.certificate import Certificate
    from studies.adversary.run_adversary import AdversaryOutcome
    from studies.adversary.search_space import SearchSpace


def adversary_text(certificate: Certificate, outcome: AdversaryOutcome, space: SearchSpace, folder: Path) -> str:
    """Return the ratio, what it is to, and how it was found, in aligned lines."""
    worst = certificate.worst
    rows = {"heuristic": certificate.heuristic.method, "largest ratio found": _ratio_text(certificate)}
    if certificate.rival is not None:
        optimum = f"{worst.ratio_to_optimum:.4g} ({worst.value} over the proven optimum {worst.optimum})"
        rows["ratio to the optimum there"] = optimum
    seeds = [value for value in certificate.other_seeds if value is not None]
    if seeds:
        denominator = worst.optimum if worst.rival_value is None else worst.rival_value
        ratios = np.array(seeds) / denominator
        rows[f"with {len(seeds)} other seeds there"] = f"median {np.median(ratios):.4g}, largest {ratios.max():.4g}"
    given = certificate.random_instances
    if given is not None and given["with_ratio"]:
        spread = f"mean {given['mean']:.4g}, median {given['median']:.4g}, largest {given['largest']:.4g}"
        rows[f"on {given['with_ratio']} random instances"] = spread
    rows["instance"] = (
        f"{worst.instance.num_tasks} tasks, {worst.instance.num_edges} edges, {worst.instance.num_gpus} GPUs"
    )
    rows["ranges"] = str(space)
    rows["steps"] = ", ".join(f"{count} {decision}" for decision, count in sorted(outcome.decisions.items()))
    rows["optimum proved by"] = f"{worst.bound.method}, {worst.bound.proof}"
    if certificate.confirmation is not None:
        by = worst.bound.confirmed_by
        rows["confirmed by"] = f"nothing: {certificate.confirmation.reason}" if by is None else by
    if outcome.is_interrupted:
        rows["interrupted"] = "yes; what was found until then is kept"
    rows["stored in"] = str(folder)
    return f"{aligned(rows)}\nA search finds a lower bound on the worst case: there may be worse instances."


def _ratio_text(certificate: Certificate) -> str:
    """Say the ratio and what it is of."""
    worst = certificate.worst
    if worst.rival_value is None or certificate.rival is None:
        return f"{worst.ratio:.4g} ({worst.value} over the proven optimum {worst.optimum})"
    return f"{worst.ratio:.4g} ({worst.value} over {worst.rival_value} of {certificate.rival.method})"
