"""Trains ablations of the multi-agent policy for several seeds and measures them on common instances."""

from __future__ import annotations

import multiprocessing
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.marl_ablations.ablation import DEFAULT
from studies.marl_ablations.ablation_run import AblationRun, is_trained, make_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from heuristics.jobs.marl.training.training_settings import TrainingSettings
    from studies.marl_ablations.ablation import Ablation
    from studies.marl_ablations.topology import Topology

CONTROLS = ("imitated", "untrained")
"""Stages of the default training that are reported beside it."""

AS_TRAINED = "as trained"
"""Topology whose instances are the held-out set of the default training."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MarlAblations:
    """Result of the study.

    Parameters
    ----------
    frame
        One row per topology, training (`label`), seed (`repetition`) and instance: number of agents, and mean JCT in
        ticks of the network (`jct_mean`), of the teacher with as many agents, and of the teacher with one. Its places
        are those of `jct_tests`, the topology as `setting`.
    curves
        Per training the updates of its validations, and validation (mean JCT over the teacher's), shape (seeds,
        points).
    seconds
        Per training the mean wall time of a seed.
    ablations
        What was trained.
    """

    frame: pd.DataFrame
    curves: dict[str, tuple[list[int], NDArray[np.float64]]]
    seconds: dict[str, float]
    ablations: tuple[Ablation, ...]

    @property
    def rivals(self) -> dict[str, str]:
        """What each label is held against."""
        own = {ablation.name: ablation.rival for ablation in self.ablations}
        return own | {f"{DEFAULT}, {stage}": DEFAULT for stage in CONTROLS}


def marl_ablations(
    ablations: Sequence[Ablation],
    topologies: Sequence[Topology],
    folder: Path,
    *,
    base: TrainingSettings,
    seeds: int = 5,
    held_out: int = 20,
    workers: int = 1,
    on_run: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> MarlAblations:
    """Train every ablation for seeds 0, 1, ... and measure it on all topologies; what the folder has is kept.

    Parameters
    ----------
    ablations, topologies
        What to train, and where to play.
    folder
        Of networks and documents; made where it does not exist.
    base
        Settings of the default training.
    seeds, held_out
        Trainings of each ablation, and instances of each topology, at least 1.
    workers
        Processes; one core each.
    on_run
        Told of every training that was found or ended: its name, how many there are, of how many.

    Raises
    ------
    OSError
        If the folder cannot be written.
    ValueError
        If a number is too small, or a change cannot be made to the settings.
    KeyboardInterrupt
        At Ctrl-C; trainings that ended are kept.
    """
    for name, number in (("seeds", seeds), ("held_out", held_out), ("workers", workers)):
        if number < 1:
            raise ValueError(f"{name}: expected at least 1, got {number}.")
    folder.mkdir(parents=True, exist_ok=True)
    runs = [
        AblationRun(
            ablation=ablation,
            base=base,
            seed=seed,
            topologies=tuple(topologies),
            held_out=held_out,
            folder=folder,
        )
        for seed in range(seeds)  # a seed of all ablations before the next one: what is there early can be compared
        for ablation in ablations
    ]
    for run in runs:
        assert run.settings  # made once, so that a change that cannot be made is refused before anything is trained
    on_run(f"{sum(map(is_trained, runs))} trainings are there", 0, len(runs))
    documents = {}
    for number, document in _made(runs, workers):
        documents[number] = document
        on_run(f"{runs[number].ablation.name}, seed {runs[number].seed}", len(documents), len(runs))
    return _gathered(ablations, runs, [documents[number] for number in range(len(runs))])


def _made(runs: Sequence[AblationRun], workers: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbers and documents of the runs as they end."""
    if workers == 1:
        for number, run in enumerate(runs):
            yield number, make_run(run)
        return
    context = multiprocessing.get_context("spawn")  # JAX must not be forked
    with context.Pool(min(workers, len(runs)), initializer=_ignore_interrupts) as pool:
        yield from pool.imap_unordered(_numbered, enumerate(runs))  # left early, the pool ends its processes


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _numbered(order: tuple[int, AblationRun]) -> tuple[int, dict[str, Any]]:
    """Make a run in a process of a pool."""
    return order[0], make_run(order[1])


def _gathered(
    ablations: Sequence[Ablation], runs: Sequence[AblationRun], documents: Sequence[dict[str, Any]]
) -> MarlAblations:
    """Put the documents of all runs together."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for run, document in zip(runs, documents, strict=True):
        for topology, found in document["topologies"].items():
            rows += _rows(run, topology, run.ablation.name, found, found["jct"])
            if run.ablation.name == DEFAULT and topology == AS_TRAINED:
                ticks = document["training"]["held_out"]["mean_jct_ticks"]
                for stage in CONTROLS:
                    if stage in ticks:
                        rows += _rows(run, topology, f"{DEFAULT}, {stage}", found, ticks[stage])
    curves, seconds = {}, {}
    for ablation in ablations:
        mine = [one["training"] for run, one in zip(runs, documents, strict=True) if run.ablation is ablation]
        seconds[ablation.name] = float(np.mean([one["seconds"] for one in mine]))
        values = np.array([[point["validation"] for point in one["curve"]] for one in mine])
        curves[ablation.name] = ([point["updates"] for point in mine[0]["curve"]], values)
    return MarlAblations(frame=pd.DataFrame(rows), curves=curves, seconds=seconds, ablations=tuple(ablations))


def _rows(
    run: AblationRun, topology: str, label: str, found: dict[str, Any], jcts: Sequence[float]
) -> list[dict[str, Any]]:
    """Return a row per instance."""
    settings = run.base
    place: dict[str, Any] = {"family": settings.family, "cluster": settings.cluster, "setting": topology}
    place |= {"jobs": settings.jobs, "load": settings.load}
    return [
        {
            **place,
            "label": label,
            "repetition": run.seed,
            "instance": str(number),
            "agents": found["agents"],
            "jct_mean": jct,
            "teacher": found["teacher"][number],
            "central_teacher": found["central_teacher"][number],
        }
        for number, jct in enumerate(jcts)
    ]
