"""Ablations of the multi-agent policy: trainings with one change, measured on common and on other instances.

See docs/methods/multi_agent.md, section 8.
"""

from __future__ import annotations

import json
import multiprocessing
import re
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from heuristics.jobs.marl.network_files import load_network
from heuristics.jobs.marl.partitions import most_agents
from heuristics.jobs.marl.policy import marl_run
from heuristics.jobs.marl.training.instances import held_out_set, jobs_instances_sha256
from heuristics.jobs.marl.training.run_episodes import mean_jcts
from heuristics.jobs.marl.training.settings import TrainingSettings
from instances.spelling import did_you_mean
from instances.text_file import write_text
from solvers.run.exact_run import leave_signals_to_parent
from solvers.table import Table
from studies.analysis.intervals import seed_interval
from studies.analysis.online_summary import LEVEL, jct_tests
from studies.input import writing
from studies.options import option
from studies.papers.study import PaperStudy, StudyCsv, StudyFigure, seeds_option
from studies.papers.training import provenance_path, train_marl, write_marl_training
from studies.parameters import set_parameters
from studies.report.figure_style import line_styles, lines_only, new_axes
from studies.text import number_text, p_text, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from instances.jobs.instance import JobsInstance
    from studies.papers.study import Monitor


MORE_SERVERS = "4*4xA100-40GB,4*4xV100-32GB,4*4xT4,4*4xP100"
"""As many GPUs as the default cluster on twice as many servers, so that 8 agents can each own a rack of two."""

DEFAULT = "default"
"""Name of the training without any change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """One change.

    Parameters
    ----------
    changes
        Settings that differ from those of the default.
    rival
        Name of the ablation on the same instances that this one is compared with.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    rival: str = DEFAULT

    @property
    def stem(self) -> str:
        """Beginning of the names of its files."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def settings(self, base: TrainingSettings) -> TrainingSettings:
        """Return the settings of its trainings.

        Raises a `ValueError` if the change cannot be made to these settings.
        """
        return replace(base, **self.changes)


def _agents(count: int) -> Ablation:
    """Return a training with so many agents on the servers that 8 can share."""
    return Ablation(name=f"A = {count}", changes={"num_agents": count, "cluster": MORE_SERVERS}, rival="A = 4")


ABLATIONS = (
    Ablation(name=DEFAULT),
    Ablation(name="inner graph only", changes={"variant": "inner"}),
    Ablation(name="flat", changes={"variant": "flat"}),
    Ablation(name="true speeds", changes={"speeds": "true"}),
    Ablation(name="no interference", changes={"speeds": "none"}),
    Ablation(name="no forwards", changes={"max_forwards": 0}),
    Ablation(name="no offers", changes={"offers": False}),
    Ablation(name="DL2 reward", changes={"reward": "dl2"}),
    Ablation(name="one pass", changes={"passes": 1}),
    Ablation(name="no common instances", changes={"same_instance": 1}),
    Ablation(name="imitation only", changes={"updates": 0}),
    _agents(1),
    _agents(2),
    _agents(4),
    _agents(8),
    Ablation(name="shared GPUs", changes={"family": "jobs-shared-gpus"}, rival="shared GPUs"),
)
"""Ablations of docs/methods/multi_agent.md, section 8: graphs; predicted, true or no interference in training; no
forwards; reward; imitation only; numbers of agents on the same servers; and another topology to train on. Their
settings are ours, and so are the ablations of what our training adds: offers, several passes, several episodes of one
instance."""


def ablations_named(text: str) -> tuple[Ablation, ...]:
    """Return ablations by name, separated by semicolons, in the order of `ABLATIONS`.

    Raises a `ValueError` if a name is unknown.
    """
    return named(ABLATIONS, text, "only: expected some of")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Servers that networks play on.

    Parameters
    ----------
    changes
        Settings of the instances that differ from those of the default training.
    has_racks
        Whether the instances keep their racks.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    has_racks: bool = True

    def instances(self, base: TrainingSettings, count: int) -> list[JobsInstance]:
        """Return so many instances, which no training saw."""
        made = held_out_set(replace(base, **self.changes), count)
        return made if self.has_racks else [replace(instance, racks=None) for instance in made]


TOPOLOGIES = (
    Topology(name="as trained"),
    Topology(name="no racks", has_racks=False),
    Topology(name="16 servers", changes={"cluster": MORE_SERVERS}),
    Topology(name="two jobs per GPU", changes={"family": "jobs-shared-gpus"}),
)
"""Topologies; ``as trained`` is that of the default training, also for ablations that were trained on another."""


def topologies_named(text: str) -> tuple[Topology, ...]:
    """Return topologies by name, separated by semicolons, in the order of `TOPOLOGIES`; ``all`` for all.

    Raises a `ValueError` if a name is unknown.
    """
    return TOPOLOGIES if text.strip() == "all" else named(TOPOLOGIES, text, "topologies: expected all or some of")


class _HasName(Protocol):
    """Something with a unique name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


Thing = TypeVar("Thing", bound=_HasName)


def named(things: Sequence[Thing], text: str, expected: str) -> tuple[Thing, ...]:
    """Return the things that a text names, separated by semicolons (names may contain commas), in their own order.

    `expected` begins a message, such as ``only: expected some of``. Raises a `ValueError` if a name is unknown.
    """
    names = [part.strip() for part in text.split(";")]
    known = [thing.name for thing in things]
    for name in names:
        if name not in known:
            raise ValueError(f"{expected} {'; '.join(known)}, got {name!r}{did_you_mean(name, known)}.")
    return tuple(thing for thing in things if thing.name in names)


CONTROLS = ("imitated", "untrained")
"""Stages of the default training that are reported as controls."""

AS_TRAINED = "as trained"
"""Topology whose instances are the held-out set of the default training."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MarlAblations:
    """Result of the study.

    Parameters
    ----------
    frame
        One row per topology (`setting`), training (`label`), seed (`repetition`) and instance: number of agents, and
        mean JCT in ticks of the network (`jct_mean`), of the teacher with as many agents, and of the teacher with one;
        with the columns that `jct_tests` needs.
    curves
        For each training the updates at which it was validated, and the validation (mean JCT over the teacher's), shape
        (seeds, points).
    seconds
        Mean wall time of a seed for each training.
    """

    frame: pd.DataFrame
    curves: dict[str, tuple[list[int], NDArray[np.float64]]]
    seconds: dict[str, float]
    ablations: tuple[Ablation, ...]

    @property
    def rivals(self) -> dict[str, str]:
        """The label that each label is compared with."""
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
    """Train every ablation for seeds 0, 1, ... and measure it on all topologies; trainings in the folder are kept.

    Parameters
    ----------
    folder
        Folder of networks and documents; it is created if it does not exist.
    base
        Settings of the default training.
    seeds, held_out
        Trainings of each ablation, and instances of each topology.
    workers
        Processes, each of which uses one core.
    on_run
        Receives the name of every training that ended, how many there are, and how many there will be.

    Raises
    ------
    OSError
        If the folder cannot be written.
    ValueError
        If a number is too small, or a change does not fit the settings.
    KeyboardInterrupt
        At Ctrl-C; finished trainings are kept.
    """
    for name, number in (("seeds", seeds), ("held_out", held_out), ("workers", workers)):
        if number < 1:
            raise ValueError(f"{name}: expected at least 1, got {number}.")
    folder.mkdir(parents=True, exist_ok=True)
    runs = [
        AblationRun(
            ablation=ablation, base=base, seed=seed, topologies=tuple(topologies), held_out=held_out, folder=folder
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
    with context.Pool(min(workers, len(runs)), initializer=leave_signals_to_parent) as pool:
        yield from pool.imap_unordered(_numbered, enumerate(runs))  # left early, the pool ends its processes


def _numbered(order: tuple[int, AblationRun]) -> tuple[int, dict[str, Any]]:
    """Make a run in a process of a pool."""
    return order[0], make_run(order[1])


def _gathered(
    ablations: Sequence[Ablation], runs: Sequence[AblationRun], documents: Sequence[dict[str, Any]]
) -> MarlAblations:
    """Combine the documents of all runs."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRun:
    """One training and its evaluation.

    Parameters
    ----------
    base
        Settings that the ablation changes.
    topologies, held_out
        Where the network is measured, and on how many instances of each topology.
    """

    ablation: Ablation
    base: TrainingSettings
    seed: int
    topologies: tuple[Topology, ...]
    held_out: int
    folder: Path

    @property
    def settings(self) -> TrainingSettings:
        """Settings of the training."""
        return self.ablation.settings(self.base)

    @property
    def weights(self) -> Path:
        """File of the network, next to which the document of the training is stored."""
        return self.folder / f"{self.ablation.stem}-seed{self.seed}.npz"

    @property
    def measured(self) -> Path:
        """File of the evaluation."""
        return self.folder / f"{self.ablation.stem}-seed{self.seed}-topologies.json"


def make_run(run: AblationRun) -> dict[str, Any]:
    """Train and measure what the folder lacks; return the documents of both.

    Returns
    -------
    dict
        ``training`` as of `train_marl`; ``topologies`` by name: hash of the instances, agents and mean JCT of every
        instance in ticks, of the network, of the teacher with as many agents, and of the teacher with one.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; a training that was cut short is not kept.
    """
    training = _trained(run)
    known = _read(run.measured)
    measured: dict[str, Any] = known if known.get("weights_sha256") == training["weights_sha256"] else {}
    measured = {"weights_sha256": training["weights_sha256"], "topologies": dict(measured.get("topologies", {}))}
    for topology in run.topologies:
        instances = topology.instances(run.base, run.held_out)
        sha256 = jobs_instances_sha256(instances)
        if measured["topologies"].get(topology.name, {}).get("instances_sha256") != sha256:
            measured["topologies"][topology.name] = {"instances_sha256": sha256, **_measured(run, instances)}
            write_text(run.measured, f"{json.dumps(measured, indent=1)}\n")
    wanted = {topology.name for topology in run.topologies}
    kept = {name: entry for name, entry in measured["topologies"].items() if name in wanted}
    return {"training": training, "topologies": kept}


def is_trained(run: AblationRun) -> bool:
    """Say whether the folder has the files of a training with these settings and this seed."""
    document = _read(provenance_path(run.weights))
    is_same = document.get("settings") == json.loads(json.dumps(asdict(run.settings)))
    if not is_same or document.get("seed") != run.seed or document.get("interrupted"):
        return False
    if document["held_out"]["instances"] != run.held_out:
        return False
    try:
        return bool(load_network(run.weights).sha256 == document["weights_sha256"])
    except (OSError, ValueError):
        return False


def _trained(run: AblationRun) -> dict[str, Any]:
    """Return the document of the training, after training if there is none."""
    if not is_trained(run):
        command = f"optgap study marl-ablations --only '{run.ablation.name}'"
        network, imitated, document = train_marl(run.settings, seed=run.seed, command=command, held_out=run.held_out)
        if document["interrupted"]:
            raise KeyboardInterrupt
        write_marl_training(run.weights, network, document, imitated)
    return _read(provenance_path(run.weights))


def _measured(run: AblationRun, instances: list[JobsInstance]) -> dict[str, Any]:
    """Return the mean JCTs on some instances; racks and jobs may allow fewer agents than in training."""
    settings = run.settings
    agents = min(most_agents(instance, settings.num_agents) for instance in instances)
    jcts = []
    for instance in instances:
        played = marl_run(
            instance,
            np.random.default_rng(0),
            predictor=settings.durations,
            weights=str(run.weights),
            agents=agents,
            forwards=settings.max_forwards,
        )
        assert played is not None  # no stop criterion is given
        jcts.append(float((played.simulation.completion - instance.release).mean()))
    return {
        "agents": agents,
        "jct": jcts,
        "teacher": mean_jcts(replace(settings, num_agents=agents), instances, None).tolist(),
        "central_teacher": mean_jcts(replace(settings, num_agents=1), instances, None).tolist(),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return a document, an empty one if none can be read."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document


HEADINGS = ("training", "A", "of teacher", "over seeds", "of A = 1", "of rival", "interval", "p Holm")


def ablations_summary(study: MarlAblations) -> pd.DataFrame:
    """Return one row per topology and training.

    Returns
    -------
    DataFrame
        Seeds and agents; the geometric mean over seeds and instances of mean JCT over that of the teacher with as many
        agents (``of_teacher``) with Student's interval over seeds (of the mean over instances), the same against the
        teacher with one agent (``of_central``); against the rival the geometric mean ratio of JCTs, its intervals and
        tests as in `jct_tests`, Holm's correction over all that have the same rival; mean seconds of a training.
    """
    import pandas as pd

    tests = _tests(study)
    rows: list[dict[str, Any]] = []
    for (topology, label), group in study.frame.groupby(["setting", "label"], sort=False):
        row: dict[str, Any] = {"topology": topology, "training": label, "rival": study.rivals[label]}
        row |= {"seeds": group["repetition"].nunique(), "agents": int(group["agents"].iloc[0])}
        for name, teacher in (("of_teacher", "teacher"), ("of_central", "central_teacher")):
            logarithms = np.log(group["jct_mean"] / group[teacher]).groupby(group["repetition"]).mean().to_numpy()
            interval = seed_interval(logarithms, level=LEVEL)
            low, high = (None, None) if interval is None else np.exp(interval)
            row |= {name: float(np.exp(logarithms.mean())), f"{name}_low": low, f"{name}_high": high}
        row |= tests.get((topology, label), {})
        rows.append({**row, "seconds": study.seconds.get(label)})
    known = ["ratio", "low", "high", "seeds_low", "seeds_high", "pairs", "shorter", "p_value", "holm_p_value"]
    columns = [*dict.fromkeys(name for row in rows for name in row if name not in (*known, "seconds"))]
    frame = pd.DataFrame(rows, columns=[*columns, *known, "seconds"])
    return frame.astype({name: np.float64 for name in known})


def _tests(study: MarlAblations) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the tests of `jct_tests` of each label against its rival, by topology and label."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    there = set(study.frame["label"])
    for rival in dict.fromkeys(study.rivals.values()):
        family = {label for label, other in study.rivals.items() if other == rival} | {rival}
        if rival not in there or len(family & there) < 2:
            continue
        for record in jct_tests(study.frame[study.frame["label"].isin(family)], rival).to_dict("records"):
            topology, label = record["setting"], record["label"]
            found[topology, label] = {
                name: record[name]
                for name in record
                if name not in ("family", "cluster", "setting", "jobs", "load", "label")
            }
    return found


def ablations_tables(study: MarlAblations) -> list[Table]:
    """Return the table of `ablations_summary` for each topology."""
    summary = ablations_summary(study)
    return [
        Table(
            name="marl_ablations",
            title=f"Ablations of the multi-agent policy: {topology}",
            records=part.to_dict("records"),
            headings=HEADINGS,
            rows=tuple(_row(record) for record in part.to_dict("records")),
            notes=_notes(part),
        )
        for topology, part in summary.groupby("topology", sort=False)
    ]


def _notes(part: pd.DataFrame) -> tuple[str, ...]:
    """Explain the columns."""
    seeds = " or ".join(str(number) for number in sorted(set(part["seeds"])))
    return (
        f"{seeds} trainings each. Ratios of mean JCT on held-out instances under true speeds, geometric means; less "
        "than 1 is shorter. of teacher: the teacher with as many agents, over seeds and instances, with Student's "
        f"{100 * LEVEL:.0f} % interval over seeds. of A = 1: the teacher with one agent.",
        "of rival: over instances, means over seeds first, with its bootstrap interval over instances; the rival is "
        "the default, or A = 4 for numbers of agents. p: two-sided Wilcoxon signed-rank test over instances after "
        "Holm's correction for all that have the same rival.",
    )


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of a training on a topology."""
    known = {name: None if value != value else value for name, value in record.items()}
    return (
        str(known["training"]),
        str(known["agents"]),
        number_text(known["of_teacher"]),
        _between(known, "of_teacher_low", "of_teacher_high"),
        number_text(known["of_central"]),
        number_text(known["ratio"]),
        _between(known, "low", "high"),
        p_text(known["holm_p_value"]),
    )


def _between(known: dict[str, Any], low: str, high: str) -> str:
    """Return an interval."""
    return within(number_text(known[low]), number_text(known[high]))


def ablations_figure(study: MarlAblations, ax: Axes | None = None) -> Axes:
    """Draw the mean validation over the updates, with a band of one standard error where there are seeds.

    Trainings without updates (imitation only) are left out; so is what comes before the updates.
    """
    ax = ax or new_axes(9.5, 2.2 + 0.2 * max(12, len(study.curves)))
    ax.axhline(1.0, color="0.6", linewidth=1.0, linestyle=":")
    curves = {name: curve for name, curve in study.curves.items() if curve[0][-1] > 0}
    for name, style in line_styles(curves).items():
        updates, values = curves[name]
        first = len(updates) - 1 - updates[::-1].index(0)  # the last measurement before any update
        steps, shown = updates[first:], values[:, first:]
        mean = shown.mean(axis=0)
        ax.plot(steps, mean, color=style.colour, linestyle=style.dashes, linewidth=1.5, label=name)
        if len(shown) > 1:
            error = shown.std(axis=0, ddof=1) / np.sqrt(len(shown))
            ax.fill_between(steps, mean - error, mean + error, color=style.colour, alpha=0.12, linewidth=0)
    lines_only(ax)
    ax.set_xlim(left=0)
    ax.set_xlabel("updates")
    ax.set_ylabel("validation: mean JCT over the teacher's")
    if curves:
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


@dataclass(frozen=True, slots=True, kw_only=True)
class MarlAblationsOptions:
    """What `optgap study marl-ablations` asks for."""

    out: Path = option(..., "Folder of networks and documents; what is there is not repeated.", metavar="DIR")
    seeds: int = seeds_option(5)
    updates: int | None = option(
        None, "Updates of every training; default that of `train marl`.", low=1, high=1_000_000
    )
    only: str | None = option(None, "Names of ablations, separated by semicolons; default all.", metavar="A;B")
    topologies: str = option(
        "all", "Topologies on which the networks play; the table shows their names.", metavar="A;B"
    )
    held_out: int = option(20, "Instances of each topology.", low=1, high=100_000)
    workers: int = option(1, "Processes, each of which uses one core.", low=1, high=1024)
    set_: list[str] | None = option(
        None,
        "Setting of `train marl` beyond the options; may be given several times.",
        metavar="KEY=VALUE",
        flag="--set",
    )


def _run(chosen: MarlAblationsOptions, monitor: Monitor) -> MarlAblations:
    """Train and measure."""
    given = set_parameters("marl", TrainingSettings, chosen.set_ or [], without=["updates"])
    if chosen.updates is not None:
        given["updates"] = chosen.updates
    base = TrainingSettings(**given)
    ablations = ABLATIONS if chosen.only is None else ablations_named(chosen.only)
    topologies = topologies_named(chosen.topologies)
    with writing(chosen.out):
        return marl_ablations(
            ablations,
            topologies,
            chosen.out,
            base=base,
            seeds=chosen.seeds,
            held_out=chosen.held_out,
            workers=chosen.workers,
            on_run=monitor.update,
        )


def _document(study: MarlAblations, chosen: MarlAblationsOptions) -> dict[str, Any]:
    """Return tables, times and runs as JSON values."""
    return {
        "tables": [table.to_dict() for table in ablations_tables(study)],
        "seconds": study.seconds,
        "runs": json.loads(study.frame.to_json(orient="records", double_precision=15)),
    }


MARL_ABLATIONS = PaperStudy(
    options=MarlAblationsOptions,
    run=_run,
    tables=ablations_tables,
    document=_document,
    has_markdown=True,
    csv=StudyCsv(rows="a row per training and instance", make=lambda study: study.frame.to_csv(index=False)),
    figure=StudyFigure(help="Curves to draw", draw=ablations_figure, save={"bbox_inches": "tight"}),
)
