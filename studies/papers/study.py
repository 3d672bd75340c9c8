"""What an experiment of a single paper offers to `optgap study NAME`, and the list of these experiments.

A new experiment is one module with a `PaperStudy` and one row of `PAPER_STUDIES`.
"""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from studies.options import option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from solvers.table import Table


PAPER_STUDIES = {
    "online": (
        "studies.papers.online_policies:ONLINE",
        "Hold online policies for jobs against the offline optimum or a bound.",
    ),
    "published": (
        "studies.papers.published:PUBLISHED",
        "List the published tables and claims; make a table again from the runs that are kept.",
    ),
    "plan-distance": (
        "studies.papers.plan_distance:PLAN_DISTANCE",
        "Correlate plan distance and finish time gap of random placements.",
    ),
    "actor-critic": (
        "studies.papers.actor_critic:ACTOR_CRITIC",
        "Train decentralised actor-critics on a grid, as printed and as repaired.",
    ),
    "interference": (
        "studies.papers.interference:INTERFERENCE",
        "Measure interference predictors on seen and on unseen pairs of classes.",
    ),
    "marl-ablations": (
        "studies.papers.marl_ablations:MARL_ABLATIONS",
        "Train ablations of the multi-agent policy: 80 trainings by default, which takes a day or more.",
    ),
    "prediction": (
        "studies.papers.prediction:PREDICTION",
        "Compare predictors of run times on recorded traces, in order of time.",
    ),
    "decision-latency": (
        "studies.papers.decision_latency:DECISION_LATENCY",
        "Measure how long the multi-agent policy takes for a decision.",
    ),
}
"""Every experiment by the name of its command: where its `PaperStudy` is, and the line about it in help."""


MAX_SEEDS = 1000
"""Most seeds that may be asked for; more is a slip of the finger."""


def seeds_option(default: int) -> Any:
    """Return the option that says for how many seeds something is repeated."""
    return option(default, "Seeds 0 to N - 1.", low=1, high=MAX_SEEDS)


def entropy_option() -> Any:
    """Return the option that draws the seeds from a text."""
    return option(None, "Draw all seeds from this text instead.", metavar="TEXT")


def seeds_of(count: int, entropy: str | None) -> list[int]:
    """Return the seeds 0 to count - 1, or as many that are drawn from a text."""
    from studies.experiment.specification import drawn_seed

    return [seed if entropy is None else drawn_seed(entropy, seed) for seed in range(count)]


def seed_option() -> Any:
    """Return the option of the seed."""
    return option(0, "Seed of everything random.", low=0)


def rows_csv(rows: Sequence[Any]) -> str:
    """Return a CSV with a line for each dataclass of one kind, at least one, with all fields."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [each.name for each in fields(rows[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    return text.getvalue()


class Monitor(Protocol):
    """Receives what a study has to say while it runs."""

    def update(self, doing: str, done: int, total: int) -> None:
        """Receive what begins now, how many parts are done, and how many there are."""
        ...

    def note(self, text: str) -> None:
        """Receive a line that the user should read."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFigure:
    """A figure of a study.

    Parameters
    ----------
    help
        What is drawn.
    save
        Options of `Figure.savefig`.
    """

    help: str
    draw: Callable[[Any], Axes]
    save: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCsv:
    """A CSV file of a study.

    Parameters
    ----------
    rows
        What each row holds.
    make
        Makes the text of the file from the result of the study.
    """

    rows: str
    make: Callable[[Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperStudy:
    """An experiment of one paper, from its options to its tables.

    Parameters
    ----------
    options
        Dataclass whose fields are options of the command (`studies.options.option`).
    run
        Makes the result from the options and a monitor. A `ValueError` whose message begins with the name of an
        option's field is reported with that option.
    document
        Result as JSON values, from the result and the options.
    has_markdown
        Whether the command can write the tables in Markdown.
    markdown_tables
        Tables of the result in Markdown where they differ from those on the terminal.
    csv, figure
        Files that the command can write; None where the study has no such file.
    description
        What help says of the command below its first line.
    """

    options: type[Any]
    run: Callable[[Any, Monitor], Any]
    tables: Callable[[Any], Sequence[Table]]
    document: Callable[[Any, Any], dict[str, Any]]
    has_markdown: bool = False
    markdown_tables: Callable[[Any], Sequence[Table]] | None = None
    csv: StudyCsv | None = None
    figure: StudyFigure | None = None
    description: str = ""
