"""The features of jobs that share a server, for training and for use, and the slowness y that is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from instances.jobs.co_location import Amount
    from instances.jobs.instance import JobsInstance


def slowness(speed: ArrayLike) -> NDArray[np.float64]:
    """Return y = ln(1000 / speed) of speeds in per mille: 0 at full speed."""
    return np.log(FULL_SPEED / np.asarray(speed, dtype=np.float64))


def predicted_speed(y: ArrayLike) -> NDArray[np.int64]:
    """Return clip(floor(1000 exp(-y)), 1, 1000), speeds in per mille; docs/methods/multi_agent.md, section 6.

    An exact y must not lose a unit to rounding: what is within 1e-9 below an integer counts as it (ours).
    """
    raw = FULL_SPEED * np.exp(-np.clip(np.asarray(y, dtype=np.float64), 0.0, 50.0))  # beyond, the ends are reached
    return np.clip(np.floor(raw + 1e-9), 1, FULL_SPEED).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJob:
    """One job on one server.

    Parameters
    ----------
    replicas
        Number of its replicas there.
    own, sens
        Its demand there for each resource, and its sensitivities under its placement, in per mille; see
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
    """The inputs of a predictor for one server; a job has a row per class of partner, one if it has no partner.

    The y of a job is the largest over its rows: sharing slows it down by the slowest partner, resources add to that.
    """

    position: NDArray[np.int64]  # (rows,), of the job in the list of jobs on the server
    partner: tuple[int | None, ...]  # class of the partner
    features: NDArray[np.float64]  # (rows, features)
    load: tuple[Amount, ...]  # of the server, in per mille


def server_rows(space: FeatureSpace, instance: JobsInstance, server: int, running: Sequence[RunningJob]) -> ServerRows:
    """Return the rows of all jobs on a server."""
    load = tuple(map(sum, zip(*(one.own for one in running), strict=True)))
    positions, partners, features = [], [], []
    for position, one in enumerate(running):
        for partner in one.partners or (None,):
            positions.append(position)
            partners.append(partner)
            features.append(space.row(instance, server, one, load, partner))
    return ServerRows(
        position=np.array(positions, dtype=np.int64),
        partner=tuple(partners),
        features=np.array(features).reshape(len(features), space.num_features),
        load=load,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSpace:
    """Which features there are; a reconstruction of ours: docs/methods/multi_agent.md, section 6.

    Of a job on one server: class (one-hot), use of one replica, sens, replicas there, own demand there, demand of the
    others there, class of the partner on a shared GPU (one-hot, zeros for none), kind of GPU (one-hot). Demands and
    sensitivities are in units of 1000 per mille. Classes, resources and kinds are known by name: an instance may have
    fewer or in another order. Those that the space does not know are zeros.
    """

    classes: tuple[str, ...]
    resources: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, instances: Iterable[JobsInstance]) -> FeatureSpace:
        """Return the space of all classes, resources and kinds of instances, in order of appearance.

        Raises a `ValueError` if an instance has no interference.
        """
        classes: dict[str, None] = {}
        resources: dict[str, None] = {}
        kinds: dict[str, None] = {}
        for instance in instances:
            if instance.interference is None:
                raise ValueError("interference: expected instances with interference, got one without.")
            classes |= dict.fromkeys(instance.interference.classes)
            resources |= dict.fromkeys(instance.interference.resources)
            kinds |= dict.fromkeys(instance.kinds)
        return cls(classes=tuple(classes), resources=tuple(resources), kinds=tuple(kinds))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, in order."""
        return (
            *(f"class {name}" for name in self.classes),
            *(f"use {name}" for name in self.resources),
            *(f"sens {name}" for name in self.resources),
            "replicas",
            *(f"own {name}" for name in self.resources),
            *(f"others {name}" for name in self.resources),
            *(f"partner {name}" for name in self.classes),
            *(f"kind {name}" for name in self.kinds),
        )

    @property
    def num_features(self) -> int:
        """Number of features."""
        return 2 * len(self.classes) + 4 * len(self.resources) + 1 + len(self.kinds)

    def row(
        self, instance: JobsInstance, server: int, running: RunningJob, load: Sequence[Amount], partner: int | None
    ) -> NDArray[np.float64]:
        """Return the features of a job on a server with others.

        Parameters
        ----------
        load
            What all jobs on the server ask of each resource together, the job among them, in per mille.
        partner
            Class of the job that shares a GPU with it; None for none.

        Returns
        -------
        NDArray
            Shape (features,), float64, in the order of `names`.
        """
        interference = instance.interference
        assert interference is not None  # a running job has demands
        classes, resources = interference.classes, interference.resources
        use = dict(zip(resources, interference.use[running.job].tolist(), strict=True))
        sens = dict(zip(resources, running.sens, strict=True))
        own = dict(zip(resources, running.own, strict=True))
        others = {name: whole - own[name] for name, whole in zip(resources, load, strict=True)}
        return np.array(
            [
                *_one_hot(classes[interference.job_class[running.job]], self.classes),
                *(float(part.get(name, 0)) / FULL_SPEED for part in (use, sens) for name in self.resources),
                float(running.replicas),
                *(float(part.get(name, 0)) / FULL_SPEED for part in (own, others) for name in self.resources),
                *_one_hot(None if partner is None else classes[partner], self.classes),
                *_one_hot(instance.kinds[instance.server_kind[server]], self.kinds),
            ]
        )


def _one_hot(name: str | None, names: Sequence[str]) -> list[float]:
    """Return 1 at a name and 0 elsewhere."""
    return [float(name == known) for known in names]
