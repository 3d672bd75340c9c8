"""Measured pairs of jobs that share one GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heuristics.jobs.interference_predictor.co_location_sample import CoLocationSample, Pair, class_pairs
from heuristics.jobs.interference_predictor.feature_space import FeatureSpace
from heuristics.jobs.interference_predictor.held_out_pairs import held_out_classes, split_by_classes
from heuristics.jobs.interference_predictor.resident import Resident, server_rows
from instances.jobs.interference import NOT_TOGETHER
from instances.jobs.job import Job, Stage
from instances.jobs.jobs_instance import JobsInstance
from instances.jobs.jobs_server import JobsServer
from studies.interference.world import WorldParts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from instances.jobs.pair_table import PairTable

SEEN_SHARE = 0.2
"""Of the co-locations of seen pairs, kept for testing where the pair is in training on another kind of GPU."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MeasuredWorld:
    """All pairs that fit on a GPU, once per kind: nothing is drawn but what is held out.

    Nothing but class, partner and kind is known of a job: what it asks of resources was not measured.

    Parameters
    ----------
    tables
        Speeds of pairs by kind of GPU, of the same classes.
    name
        As in tables.
    """

    tables: Mapping[str, PairTable]
    name: str = "gavel"

    @property
    def origin(self) -> str:
        """What is measured and what is modelled."""
        sources = "; ".join(table.source for table in self.tables.values())
        return f"{sources}; all measured, one GPU, no resources known"

    def sample(self) -> CoLocationSample:
        """Return all pairs of all kinds."""
        instances = {kind: two_of_each(kind, table) for kind, table in self.tables.items()}
        space = FeatureSpace.of(instances.values())
        features, speeds, numbers = [], [], []
        pairs: list[frozenset[Pair]] = []
        for kind, table in self.tables.items():
            allowed = np.argwhere(np.triu(table.pair != NOT_TOGETHER)).tolist()
            for first, second in allowed:
                residents = [
                    Resident(job=2 * own + (own == second), replicas=1, own=(), sens=(), partners=(other,))
                    for own, other in ((first, second), (second, first))
                ]
                features.append(server_rows(space, instances[kind], 0, residents).features)
                speeds += [int(table.pair[first, second]), int(table.pair[second, first])]
                numbers += [len(pairs)] * 2
                pairs.append(class_pairs([table.classes[first], table.classes[second]]))
        return CoLocationSample(
            space=space,
            features=np.concatenate(features),
            speed=np.array(speeds, dtype=np.int64),
            co_location=np.array(numbers, dtype=np.int64),
            pairs=tuple(pairs),
        )

    def parts(self, seed: int, count: int) -> WorldParts:
        """Return training and test co-locations; see `World`. `count` means nothing here."""
        whole, rng = self.sample(), np.random.default_rng(seed)
        held_out = held_out_classes([name for pair in whole.all_pairs() for name in pair], rng)
        known, unseen = split_by_classes(whole, held_out)
        is_test = rng.random(len(known.pairs)) < SEEN_SHARE
        trained = known.take(~is_test).all_pairs()
        again = np.array([pair <= trained for pair in known.pairs], dtype=bool)
        return WorldParts(
            train=known.take(~is_test), seen=known.take(is_test & again), unseen=unseen, held_out=held_out
        )


def two_of_each(kind: str, table: PairTable) -> JobsInstance:
    """Return an instance of one server and two jobs of each class, 2 c and 2 c + 1, for the features of its pairs."""
    job_class = np.repeat(np.arange(len(table.classes)), 2)
    nothing = np.zeros((len(job_class), 0), dtype=np.int64)
    return JobsInstance.from_parts(
        [JobsServer(kind=kind, gpus=1, nic_bytes_per_tick=1)],
        [Job(stages=[Stage(times=1)]) for _ in job_class],
        interference=table.interference(job_class, nothing, nothing, ()),
    )
