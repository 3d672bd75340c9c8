"""What a study of online policies compares: named sets of policies with their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studies.experiment.study_spec import StudyMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

PREDICTING = ("spjf", "spwf", "wcs-duration", "wcs-workload", "qssf", "a-srpt")
"""Policies that look at predictions."""

BLIND = ("fifo", "wcs-subtime")
"""Policies that do not."""


GANG_RULES = ("load-balancing", "bin-packing", "least-interference", "drf", "tetris")
"""Policies that differ in where jobs go, or in whose turn it is; none predicts."""


def policy_entries(predictor: str = "oracle", **predictor_parameters: Any) -> list[StudyMethod]:
    """Return every policy, A-SRPT in both modes, all with one predictor, and shortest job first as it knows all."""
    given: dict[str, Any] = {"predictor": predictor}
    if predictor_parameters:
        given["predictor_parameters"] = predictor_parameters
    entries = [StudyMethod(label=name, method=name) for name in BLIND]
    entries += [StudyMethod(label=name, method=name, parameters=given) for name in PREDICTING]
    entries.append(
        StudyMethod(label="a-srpt, work-conserving", method="a-srpt", parameters={**given, "mode": "work_conserving"})
    )
    entries.append(StudyMethod(label="srtf (oracle)", method="srtf"))
    return entries


def noise_entries(
    factors: Sequence[float] = (1.0, 1.5, 2.0, 4.0, 8.0), methods: Sequence[str] = ("a-srpt", "spjf", "wcs-duration")
) -> list[StudyMethod]:
    """Return policies whose predictions are wrong by a factor of at most mu, for every mu.

    The predictor draws the same numbers for every mu: only the size of the error changes.
    """
    return [
        StudyMethod(
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
) -> list[StudyMethod]:
    """Return policies with one predictor after the other."""
    return [
        StudyMethod(label=f"{method}, {predictor}", method=method, parameters={"predictor": predictor})
        for method in methods
        for predictor in predictors
    ]


def placement_entries(
    placements: Sequence[str] = ("heavy-edge", "consolidated", "stage-order", "random"),
    methods: Sequence[str] = ("a-srpt", "wcs-duration"),
) -> list[StudyMethod]:
    """Return policies with one placement rule after the other: what the order gains is kept apart from the rest."""
    return [
        StudyMethod(label=f"{method}, {placement}", method=method, parameters={"placement": placement})
        for method in methods
        for placement in placements
    ]


def gang_rule_entries(predictor: str = "oracle") -> list[StudyMethod]:
    """Return the rivals of learned policies that place jobs, FIFO and shortest predicted job first by load among them.

    Optimus is not among them: it chooses how many GPUs a
    job gets, which a rigid gang does not leave open.
    """
    by_load = {"placement": "load-balance"}
    return [
        *(StudyMethod(label=name, method=name) for name in GANG_RULES),
        StudyMethod(label="fifo, load-balance", method="fifo", parameters=by_load),
        StudyMethod(label="spjf, load-balance", method="spjf", parameters={"predictor": predictor, **by_load}),
    ]


def hold_entries(
    taus: Sequence[str] = ("0", "1/10", "1/4", "1/2", "1"), modes: Sequence[str] = ("provable", "work_conserving")
) -> list[StudyMethod]:
    """Return A-SRPT with longer and longer holds; tau = 0 is none."""
    return [
        StudyMethod(
            label=f"a-srpt, {mode.replace('_', '-')}, tau={tau}", method="a-srpt", parameters={"mode": mode, "tau": tau}
        )
        for mode in modes
        for tau in taus
    ]
