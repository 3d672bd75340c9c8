"""Trained networks in files: NumPy arrays, what is needed to use them, and their hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.hashed_arrays import arrays_in, arrays_sha256, checked_arrays, save_arrays
from heuristics.jobs.marl.observation import ObservationSize
from heuristics.jobs.marl.parameters import Variant, initial_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from heuristics.jobs.marl.parameters import Parameters

FORMAT = "optgap/marl-network 1"
"""First line of what is hashed, and an array of the file."""

_PARAMETER = "parameter "


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedNetwork:
    """Weights and what `NetworkDecider` needs beside them.

    Parameters
    ----------
    parameters
        See `initial_parameters`.
    kappa
        Unit of time in ticks.
    variant
        Of the parameters.
    kinds
        Names of the kinds of GPU that are told apart.
    num_agents
        A, which the critic depends on.

    Raises
    ------
    ValueError
        If kappa is not positive, or the parameters are not those of variant, kinds and agents, or not finite.
    """

    parameters: Parameters
    kappa: float
    variant: Variant
    kinds: tuple[str, ...]
    num_agents: int

    def __post_init__(self) -> None:
        """Check the arrays and take private, read-only copies."""
        if not 0 < self.kappa < float("inf"):
            raise ValueError(f"kappa: expected a finite number of ticks above 0, got {self.kappa}.")
        if self.num_agents < 1:
            raise ValueError(f"num_agents: expected at least 1, got {self.num_agents}.")
        size = ObservationSize(kinds=self.kinds, num_agents=self.num_agents, num_servers=1, num_gpus=1, num_racks=1)
        expected = initial_parameters(np.random.default_rng(0), size, self.variant)
        if set(self.parameters) != set(expected):
            names = ", ".join(sorted(set(self.parameters) ^ set(expected)))
            raise ValueError(f"parameters: expected those of {self.variant}, got more or less: {names}.")
        copies: Parameters = {}
        for name, like in expected.items():
            array = np.array(self.parameters[name], order="C")
            if array.dtype != np.float32 or array.shape != like.shape:
                raise ValueError(f"{name}: expected float32 {like.shape}, got {array.dtype} {array.shape}.")
            if not np.isfinite(array).all():
                raise ValueError(f"{name}: expected finite numbers, got {array[~np.isfinite(array)][0]}.")
            array.flags.writeable = False
            copies[name] = array
        object.__setattr__(self, "parameters", copies)

    @property
    def sha256(self) -> str:
        """SHA-256 of format, names, shapes and values, the same on every machine."""
        return arrays_sha256(_arrays(self))


def save_network(path: str | PathLike[str], network: TrainedNetwork) -> None:
    """Write a network; the same one gives the same bytes."""
    save_arrays(path, _arrays(network))


def load_network(path: str | PathLike[str]) -> TrainedNetwork:
    """Read a network that `save_network` wrote; nothing in the file is executed.

    Raises
    ------
    ValueError
        If the file is no such file, its hash is another, or its arrays do not belong together.
    OSError
        If it cannot be read.
    """
    with arrays_in(path, "network") as arrays:
        return stored_network(arrays)


def stored_network(arrays: Mapping[str, NDArray[np.generic]]) -> TrainedNetwork:
    """Return the network of the arrays that `save_network` wrote.

    Raises
    ------
    KeyError
        If an array is missing.
    ValueError
        If format or hash is another, or they do not belong together.
    """
    return network_of_arrays(checked_arrays(arrays, FORMAT))


def network_of_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> TrainedNetwork:
    """Return the network of `network_arrays`.

    Raises
    ------
    KeyError
        If an array is missing.
    ValueError
        If they do not belong together.
    """
    return TrainedNetwork(
        parameters={name.removeprefix(_PARAMETER): a for name, a in arrays.items() if name.startswith(_PARAMETER)},
        kappa=float(arrays["kappa"]),
        variant=Variant(str(arrays["variant"])),
        kinds=tuple(map(str, arrays["kinds"].tolist())),
        num_agents=int(arrays["num_agents"]),
    )


def network_arrays(network: TrainedNetwork) -> dict[str, NDArray[np.generic]]:
    """Return everything as arrays by name."""
    return {
        "kappa": np.array(network.kappa, dtype=np.float64),
        "variant": np.array(str(network.variant)),
        "kinds": np.array(network.kinds, dtype=np.str_),
        "num_agents": np.array(network.num_agents, dtype=np.int64),
        **{f"{_PARAMETER}{name}": array for name, array in network.parameters.items()},
    }


def _arrays(network: TrainedNetwork) -> dict[str, NDArray[np.generic]]:
    """Return what a file holds."""
    return {"format": np.array(FORMAT), **network_arrays(network)}
