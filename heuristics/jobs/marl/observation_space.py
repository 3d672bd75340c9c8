"""Observations as dictionaries, and the space that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.marl.observation import empty_observation

if TYPE_CHECKING:
    from gymnasium import spaces

    from heuristics.jobs.marl.observation import Observation, ObservationSize


def observation_space(size: ObservationSize) -> spaces.Dict:
    """Return the space of `observation_dict`, which holds no number below 0.

    Parameters
    ----------
    size
        Sizes of the arrays.
    """
    from gymnasium import spaces

    arrays = empty_observation(size)._asdict()
    mask = arrays.pop("mask")
    boxes = {name: spaces.Box(0, np.inf, array.shape, np.float32) for name, array in arrays.items()}
    return spaces.Dict({"observation": spaces.Dict(boxes), "action_mask": spaces.Box(0, 1, mask.shape, np.int8)})


def observation_dict(seen: Observation) -> dict[str, Any]:
    """Return ``observation``, the arrays by name, and ``action_mask``, 1 for slots that may be chosen, int8.

    These names, and the type of the mask, are what PettingZoo looks for.
    """
    arrays = seen._asdict()
    mask = arrays.pop("mask")
    return {"observation": arrays, "action_mask": mask.astype(np.int8)}


def idle_observation(size: ObservationSize) -> Observation:
    """Return what an agent sees that has nothing to decide: zeros, and that it may only wait."""
    seen = empty_observation(size)
    seen.mask[-1] = True
    return seen
