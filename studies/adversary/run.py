"""A search for a worst case: settings, certificate in a folder, figure, and text for the terminal."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from instances.dag.objective import Objective
from instances.text_file import whole_file
from solvers.confirm import confirm_bound
from solvers.confirmation.claim import confirmation_run
from solvers.run.exact_run import Interrupt
from studies.adversary.certificate import FIGURE, TRACE, AdversaryFolder, Certificate
from studies.adversary.random_family import STARTS, RandomFamily, random_ratios
from studies.adversary.ratio import DEFAULT_LIMIT, Contestant, InterruptedRunError, RatioOracle
from studies.adversary.search import Cooling, Step, adversary_search
from studies.adversary.search_space import DEFAULT_CHANGES, InstanceSpace
from studies.report.figure_style import COLOURS, OPTIMUM, QUIET, lines_only, new_axes
from studies.text import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from instances.dag.instance import DagInstance
    from studies.adversary.ratio import WorstCase


OTHER_SEEDS = 10
"""Further runs of a randomised heuristic on the worst instance, which tell a weakness from an unlucky seed."""

RESOLUTION = 150
"""Dots per inch of the figure."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AdversarySettings:
    """Everything that a search depends on.

    Parameters
    ----------
    heuristic, rival
        Numerator and denominator of the ratio; None as rival for the proven optimum.
    family
        Random instances to start from and to compare with.
    start
        An instance to start from instead; None for random ones.
    changes
        What is changed, some of `search_space.CHANGES`.
    max_duration
        Longest duration in ticks; None for that of the family, or the longest of `start`.
    searches
        Number of searches, each from another random instance, or with other changes from the same one.
    limit
        Deterministic time of each proof.
    random_count
        Number of random instances of the family that the worst case is compared with; unused if `start` is given.
    confirm_seconds
        Time for a second model to confirm the optimum of the worst case; 0 asks no second model.
    """

    heuristic: Contestant
    rival: Contestant | None = None
    objective: Objective = Objective.MAKESPAN
    family: RandomFamily = field(default_factory=RandomFamily)
    start: DagInstance | None = None
    changes: tuple[str, ...] = DEFAULT_CHANGES
    max_duration: int | None = None
    searches: int = 1
    cooling: Cooling = field(default_factory=Cooling)
    seed: int = 0
    limit: float = DEFAULT_LIMIT
    random_count: int = 30
    confirm_seconds: float = 60.0

    def starts(self) -> list[DagInstance]:
        """Return the instances that searches begin with, before they are brought inside the ranges."""
        if self.start is not None:
            return [self.start] * self.searches
        return [self.family.instance(self.seed, STARTS, number) for number in range(self.searches)]

    def space(self) -> InstanceSpace:
        """Return the ranges of all searches."""
        longest = self.max_duration
        if longest is None and self.start is None:
            longest = self.family.max_duration
        return InstanceSpace.around(self.starts(), max_duration=longest, changes=self.changes)

    def to_dict(self) -> dict[str, object]:
        """Return all settings but those of the heuristics, as JSON values."""
        return {
            "seed": self.seed,
            "searches": self.searches,
            "steps_of_each": self.cooling.steps,
            "temperatures": [self.cooling.hot, self.cooling.cold],
            "deterministic_limit": self.limit,
            "family": self.family.to_dict() if self.start is None else None,
            "start_sha256": None if self.start is None else self.start.sha256,
            "ranges": self.space().to_dict(),
        }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AdversaryOutcome:
    """How a search ended.

    Parameters
    ----------
    certificate
        Certificate that was stored last; None if no start has a ratio.
    decisions
        Number of steps for each outcome of a candidate.
    is_interrupted
        Whether Ctrl-C ended the search.
    """

    certificate: Certificate | None
    decisions: dict[str, int]
    is_interrupted: bool


def run_adversary(
    settings: AdversarySettings,
    folder: Path,
    on_progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> AdversaryOutcome:
    """Search, and store each improvement at once.

    Parameters
    ----------
    folder
        A folder without a search.
    on_progress
        Receives what begins, how much is done, and how much there is.

    Raises
    ------
    ValueError
        If the folder already holds a search, or the settings make no instance.
    OSError
        If the folder cannot be written.
    """
    space, starts = settings.space(), settings.starts()
    total = settings.searches * (settings.cooling.steps + 1)
    with AdversaryFolder(folder) as files, Interrupt() as interrupt:
        decisions: Counter[str] = Counter()

        def certificate(worst: WorstCase) -> Certificate:
            search = {**settings.to_dict(), "decisions": dict(sorted(decisions.items()))}
            return Certificate(worst=worst, heuristic=settings.heuristic, rival=settings.rival, search=search)

        def on_step(step: Step) -> None:
            decisions[str(step.decision)] += 1
            files.add_step(step)
            on_progress(_state_text(step), decisions.total(), total)

        oracle = RatioOracle(
            heuristic=settings.heuristic,
            rival=settings.rival,
            objective=settings.objective,
            limit=settings.limit,
            should_stop=lambda: interrupt.heard,
        )
        worst, is_complete = adversary_search(
            starts,
            space,
            oracle,
            settings.cooling,
            settings.seed,
            on_step=on_step,
            on_worst=lambda worst: files.write(certificate(worst)),
            should_stop=lambda: interrupt.heard,
        )
        if worst is None:
            return AdversaryOutcome(certificate=None, decisions=dict(decisions), is_interrupted=not is_complete)
        final = certificate(worst)
        files.write(final)
        if is_complete:
            try:
                for final in _completed(final, settings, space, oracle, on_progress):
                    files.write(final)
            except InterruptedRunError:
                is_complete = False
    _draw(final, folder)
    return AdversaryOutcome(certificate=final, decisions=dict(decisions), is_interrupted=not is_complete)


def _completed(
    certificate: Certificate,
    settings: AdversarySettings,
    space: InstanceSpace,
    oracle: RatioOracle,
    on_progress: Callable[[str, int, int], None],
) -> Iterator[Certificate]:
    """Add, one by one, what is computed only at the end: other seeds, random instances, a second model."""
    worst, seeds = certificate.worst, range(settings.heuristic.seed + 1, settings.heuristic.seed + 1 + OTHER_SEEDS)
    if settings.heuristic.is_random:
        runs = [settings.heuristic.run(worst.instance, worst.objective, [worst.bound], seed=seed) for seed in seeds]
        certificate = replace(certificate, other_seeds=tuple(run.objective for run in runs))
        yield certificate
    if settings.start is None and settings.random_count:
        count = settings.random_count
        ratios = random_ratios(
            settings.family,
            space,
            oracle,
            count,
            settings.seed,
            lambda number: on_progress("random instances", number, count),
        )
        certificate = replace(certificate, random_instances=ratios.to_dict())
        yield certificate
    if settings.confirm_seconds > 0:
        on_progress("confirmation", 0, 1)
        run = confirmation_run(time_limit=settings.confirm_seconds, threads=1, seed=0, should_stop=oracle.should_stop)
        bound, confirmation = confirm_bound(
            worst.instance, worst.objective, worst.bound, schedule=worst.optimal, run=run
        )
        yield replace(certificate, worst=replace(worst, bound=bound), confirmation=confirmation)
    if oracle.should_stop():
        raise InterruptedRunError("the end")


def _state_text(step: Step) -> str:
    """Describe the state of a search."""
    if step.best is None or step.current is None:
        return str(step.decision)
    return f"largest ratio {step.best:.3f}, current {step.current:.3f}"


def _draw(certificate: Certificate, folder: Path) -> None:
    """Draw the ratio over the steps."""
    name = certificate.heuristic.method
    against = "optimum" if certificate.rival is None else certificate.rival.method
    random_mean = (certificate.random_instances or {}).get("mean")
    ax = ratio_figure(folder / TRACE, f"{name} over {against}", against=against, mean=random_mean)
    figure = ax.get_figure(root=True)
    assert figure is not None
    with whole_file(folder / FIGURE) as partial:
        figure.savefig(partial, dpi=RESOLUTION)


def ratio_figure(
    trace: Path, title: str, *, against: str = "optimum", mean: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the ratio of the instance that is being changed, and the largest so far.

    Parameters
    ----------
    trace
        CSV file of a search (`AdversaryFolder`).
    title
        Label of the ratio.
    against
        Label of a ratio of 1.
    mean
        Mean ratio on random instances; None if unknown.
    """
    ax = ax or new_axes(8.0, 4.5)
    current: list[float] = []
    best: list[float] = []
    begins: list[int] = []
    with trace.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["current"] == "" or row["best"] == "":
                continue
            if row["step"] == "0":
                begins.append(len(current))
            current.append(float(row["current"]))
            best.append(float(row["best"]))
    for begin, end in zip(begins, [*begins[1:], len(current)], strict=True):
        label = "current instance" if begin == begins[0] else None
        steps = range(begin, end)
        ax.step(steps, current[begin:end], where="post", color=COLOURS[0], linewidth=1.0, label=label)
    ax.step(range(len(best)), best, where="post", color=COLOURS[1], linewidth=1.8, label="largest so far")
    ax.axhline(1.0, color=OPTIMUM, linewidth=1.2, label=against)
    if mean is not None:
        ax.axhline(mean, color=QUIET, linestyle=(0, (4, 2)), linewidth=1.2, label="mean of random instances")
    lines_only(ax)
    ax.set_xlabel("step" if len(begins) < 2 else f"step ({len(begins)} searches, one after the other)")
    ax.set_ylabel(title, parse_math=False)
    ax.set_ylim(bottom=min(0.95, *current) if current else 0.95)
    ax.legend(frameon=False, loc="upper left")
    return ax


def adversary_text(certificate: Certificate, outcome: AdversaryOutcome, space: InstanceSpace, folder: Path) -> str:
    """Return the ratio, its denominator, and how it was found, in aligned lines."""
    worst = certificate.worst
    rows = {"heuristic": certificate.heuristic.method, "largest ratio found": _ratio_text(certificate)}
    if certificate.rival is not None:
        optimum = f"{worst.ratio_to_optimum:.4g} ({worst.value} over the proven optimum {worst.optimum})"
        rows["ratio to the optimum there"] = optimum
    seeds = [value for value in certificate.other_seeds if value is not None]
    if seeds:
        denominator = worst.optimum if worst.rival_value is None else worst.rival_value
        ratios = np.array(seeds) / denominator
        rows[f"with {len(seeds)} other seeds there"] = f"median {np.median(ratios):.4g}, largest {ratios.max():.4g}"
    given = certificate.random_instances
    if given is not None and given["with_ratio"]:
        spread = f"mean {given['mean']:.4g}, median {given['median']:.4g}, largest {given['largest']:.4g}"
        rows[f"on {given['with_ratio']} random instances"] = spread
    rows["instance"] = (
        f"{worst.instance.num_tasks} tasks, {worst.instance.num_edges} edges, {worst.instance.num_gpus} GPUs"
    )
    rows["ranges"] = str(space)
    rows["steps"] = ", ".join(f"{count} {decision}" for decision, count in sorted(outcome.decisions.items()))
    rows["optimum proved by"] = f"{worst.bound.method}, {worst.bound.proof}"
    if certificate.confirmation is not None:
        by = worst.bound.confirmed_by
        rows["confirmed by"] = f"nothing: {certificate.confirmation.reason}" if by is None else by
    if outcome.is_interrupted:
        rows["interrupted"] = "yes; what was found until then is kept"
    rows["stored in"] = str(folder)
    return f"{aligned(rows)}\nA search finds a lower bound on the worst case: there may be worse instances."


def _ratio_text(certificate: Certificate) -> str:
    """Return the ratio with its numerator and denominator."""
    worst = certificate.worst
    if worst.rival_value is None or certificate.rival is None:
        return f"{worst.ratio:.4g} ({worst.value} over the proven optimum {worst.optimum})"
    return f"{worst.ratio:.4g} ({worst.value} over {worst.rival_value} of {certificate.rival.method})"
