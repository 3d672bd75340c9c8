"""Content hash of the network that a registered method would use: other weights are another run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENTS = "marl"
"""Method whose networks are those of `heuristics.jobs.marl`; all other methods with weights use those of WORL-RTGS."""

NETWORK_PARAMETERS = ("weights", "training", "stage")
"""Parameters that choose a network; that of WORL-RTGS is chosen by the first alone."""


def network_sha256(method: str, parameters: Mapping[str, Any]) -> str:
    """Return the hash of the network, whatever its file is called.

    Parameters
    ----------
    method
        A registered method with a parameter ``weights``.
    parameters
        Given ones; those that are missing are None.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it holds no network, or there is no such shipped one.
    """
    weights, training, stage = (parameters.get(name) for name in NETWORK_PARAMETERS)
    if method == AGENTS:
        from heuristics.jobs.marl.shipped_networks import network_from

        return network_from(weights, training, stage).sha256
    from heuristics.dag.worl_rtgs.network import weights_sha256
    from heuristics.dag.worl_rtgs.shipped_weights import weights_from

    return weights_sha256(weights_from(weights))
