"""Instances with a planted optimum, for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.generators.planted import planted_optimum
from studies.command_line.bad_input import BadInputError, options
from studies.command_line.set_parameters import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from instances.cluster import Cluster
    from instances.generators.planted import PlantedOptimum

OWN_OPTIONS = ("tasks", "seed", "cluster", "memory_tightness", "forbidden", "tick_seconds", "name")
"""Parameters that have options of their own, or none."""


def planted(
    *, tasks: int, seed: int, cluster: Cluster | None, cost: Mapping[str, float | None], texts: Sequence[str]
) -> tuple[PlantedOptimum, dict[str, Any]]:
    """Make an instance around an optimal schedule; return it with the parameters that were set.

    Parameters
    ----------
    tasks, seed, cluster
        As for `planted_optimum`.
    cost
        Values of the cost options by name, None where one was not given.
    texts
        ``key=value`` for all other parameters.

    Raises
    ------
    BadInputError
        If an option is none of this family, or out of range.
    """
    parameters = set_parameters("planted", planted_optimum, texts, without=OWN_OPTIONS)
    given: dict[str, Any] = {name: value for name, value in cost.items() if value is not None}
    for name in given:
        if name not in OWN_OPTIONS:
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for planted, which has no such option.")
    places = {"cluster": "--gpus", **{name: f"--{name.replace('_', '-')}" for name in ("tasks", *given)}}
    with options({**places, **{name: f"--set {name}" for name in parameters}}, "planted"):
        made = planted_optimum(tasks=tasks, seed=seed, cluster=cluster, **given, **parameters)
    return made, parameters


def certificate_document(made: PlantedOptimum) -> dict[str, object]:
    """Return optimum and proof as JSON values."""
    return {
        "optimum": made.optimum,
        "certificate": made.certificate,
        "gpu_weights": None if made.gpu_weights is None else made.gpu_weights.tolist(),
        "path": None if made.path is None else made.path.tolist(),
    }


def certificate_text(made: PlantedOptimum) -> str:
    """Say in one line what proves the optimum."""
    if made.gpu_weights is not None:
        return f"area, with the weights {', '.join(map(str, made.gpu_weights.tolist()))} of the GPUs"
    return f"path of {0 if made.path is None else len(made.path)} tasks (--json lists them)"
