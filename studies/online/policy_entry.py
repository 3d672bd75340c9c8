"""What an online study compares: policies with their parameters, under a name of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyEntry:
    """A policy with its parameters.

    Parameters
    ----------
    label
        Its name in tables and figures.
    method
        Name of a registered method for jobs.
    parameters
        Of the method.
    """

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


PREDICTING = ("spjf", "spwf", "wcs-duration", "wcs-workload", "qssf", "a-srpt")
"""Policies that look at predictions."""

BLIND = ("fifo", "wcs-subtime")
"""Policies that do not."""


def policy_entries(predictor: str = "oracle", **predictor_parameters: Any) -> list[PolicyEntry]:
    """Return every policy, A-SRPT in both modes, all with one predictor, and shortest job first as it knows all."""
    given: dict[str, Any] = {"predictor": predictor}
    if predictor_parameters:
        given["predictor_parameters"] = predictor_parameters
    entries = [PolicyEntry(label=name, method=name) for name in BLIND]
    entries += [PolicyEntry(label=name, method=name, parameters=given) for name in PREDICTING]
    entries.append(
        PolicyEntry(label="a-srpt, work-conserving", method="a-srpt", parameters={**given, "mode": "work_conserving"})
    )
    entries.append(PolicyEntry(label="srtf (oracle)", method="srtf"))
    return entries


def noise_entries(
    factors: Sequence[float] = (1.0, 1.5, 2.0, 4.0, 8.0), methods: Sequence[str] = ("a-srpt", "spjf", "wcs-duration")
) -> list[PolicyEntry]:
    """Return policies whose predictions are wrong by a factor of at most mu, for every mu.

    The predictor draws the same numbers for every mu: only the size of the error changes.
    """
    return [
        PolicyEntry(
            label=f"{method}, mu={mu:g}",
            method=method,
            parameters={"predictor": "noisy-oracle", "predictor_parameters": {"mu": mu}},
        )
        for method in methods
        for mu in factors
    ]


def predictor_entries(
    predictors: Sequence[str] = ("oracle", "random-forest", "running-median", "none"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[PolicyEntry]:
    """Return policies with one predictor after the other."""
    return [
        PolicyEntry(label=f"{method}, {predictor}", method=method, parameters={"predictor": predictor})
        for method in methods
        for predictor in predictors
    ]


def placement_entries(
    placements: Sequence[str] = ("heavy-edge", "consolidated", "stage-order", "random"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[PolicyEntry]:
    """Return policies with one placement rule after the other: what the order gains is kept apart from the rest."""
    return [
        PolicyEntry(label=f"{method}, {placement}", method=method, parameters={"placement": placement})
        for method in methods
        for placement in placements
    ]


def hold_entries(
    taus: Sequence[str] = ("0", "1/10", "1/4", "1/2", "1"), modes: Sequence[str] = ("provable", "work_conserving")
) -> list[PolicyEntry]:
    """Return A-SRPT with longer and longer holds; tau = 0 is none."""
    return [
        PolicyEntry(
            label=f"a-srpt, {mode.replace('_', '-')}, tau={tau}", method="a-srpt", parameters={"mode": mode, "tau": tau}
        )
        for mode in modes
        for tau in taus
    ]
