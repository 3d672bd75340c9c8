"""A job on one server beside others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heuristics.jobs.interference_predictor.feature_space import FeatureSpace
    from instances.jobs.jobs_instance import JobsInstance
    from instances.jobs.resource_demand import Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """One job on one server.

    Parameters
    ----------
    job
        Which one.
    replicas
        How many it has there.
    own, sens
        What it asks there of each resource, and its sensitivities under its placement, in per mille; see
        `resource_demand`.
    partners
        Classes of the jobs that share a GPU with it there, each once.
    """

    job: int
    replicas: int
    own: tuple[Amount, ...]
    sens: tuple[Amount, ...]
    partners: tuple[int, ...] = ()


class ServerRows(NamedTuple):
    """What a predictor is asked about one server; a job has a row per class of partner, one if it has no partner.

    The largest y over the rows of a job is that of the job: sharing slows by the slowest partner, resources add to it.
    """

    resident: NDArray[np.int64]  # (rows,), positions in the list of residents
    partner: tuple[int | None, ...]  # class of the partner
    features: NDArray[np.float64]  # (rows, features)
    load: tuple[Amount, ...]  # of the server, in per mille


def server_rows(space: FeatureSpace, instance: JobsInstance, server: int, residents: Sequence[Resident]) -> ServerRows:
    """Return the rows of all jobs on a server.

    Parameters
    ----------
    space
        Which features.
    instance
        With interference.
    server
        Which one.
    residents
        All jobs on it.
    """
    load = tuple(map(sum, zip(*(resident.own for resident in residents), strict=True)))
    positions, partners, features = [], [], []
    for position, resident in enumerate(residents):
        for partner in resident.partners or (None,):
            positions.append(position)
            partners.append(partner)
            features.append(space.row(instance, server, resident, load, partner))
    return ServerRows(
        resident=np.array(positions, dtype=np.int64),
        partner=tuple(partners),
        features=np.array(features).reshape(len(features), space.num_features),
        load=load,
    )
