"""The published tables, made again from the runs that are kept in the package, and the claims that rest on them.

`studies/published` holds the kept runs, ``tables.toml`` (what is kept, and every published table with its page) and
``claims.toml`` (every statement of README.md and studies/README.md that compares, with its table).
"""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.text_file import write_text
from solvers.table import Column, Table, Tabular
from studies.analysis.contrasts import contrast_table, factor_table
from studies.analysis.frames import to_frame
from studies.analysis.gaps import ANY_BUDGET, budgets_of
from studies.analysis.online_summary import (
    gaps_by_load,
    jct_test_table,
    jct_tests,
    online_summary,
    summary_tables,
)
from studies.experiment.kept_runs import kept_rows, restore_store, write_kept_rows, write_kept_runs
from studies.experiment.store import StudyStore
from studies.input import BadInputError, reading, writing
from studies.options import Names, option
from studies.papers.study import PaperStudy
from studies.text import NONE, p_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from studies.papers.study import Monitor


FOLDER = Path(__file__).resolve().parent.parent / "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptStudy:
    """A study, or the rows of another command, whose deterministic columns are in the package.

    Parameters
    ----------
    specification
        Shipped specification that the runs were made from; None where another one was used, which is in the file.
    sha256
        Content hash of the kept document.
    rows_by
        Command that makes the rows, where they are of no study.
    measured
        Whether the runs had a budget in seconds, or the rows say seconds, so that no other run gives them again.
    """

    name: str
    sha256: str
    specification: str | None = None
    rows_by: str | None = None
    measured: bool = False

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / f"{self.name}.json.gz"

    @property
    def command(self) -> str:
        """Command that makes the runs again."""
        return self.rows_by or f"optgap study run {(self.specification or self.name).replace('_', '-')} --out DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A table of a page.

    Parameters
    ----------
    page
        Path in the repository.
    kept
        Name of the kept study; None where the runs are not kept, or the table is made from files of another package.
    make, options
        Key of `MAKERS` with its parameters; None where the table cannot be made.
    columns
        Headings of the columns that the page shows, without notes; empty for all.
    command
        Where `kept` is None: the command that makes the runs.
    cost, heading
        Where the table cannot be made: what the command takes, and how the table begins on the page.
    """

    name: str
    page: str
    kept: str | None = None
    make: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    command: str | None = None
    cost: str | None = None
    heading: str | None = None

    @property
    def way(self) -> str:
        """Command that makes the table again."""
        return (None if self.make else self.command) or f"optgap study published {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement that compares: a piece of the text of its sentence, and the published table behind it."""

    page: str
    text: str
    table: str


def _rows(file: str, key: str) -> list[dict[str, Any]]:
    """Return the entries of a TOML file."""
    rows: list[dict[str, Any]] = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))[key]
    return rows


def kept_studies() -> dict[str, KeptStudy]:
    """Return what is kept, by name."""
    return {row["name"]: KeptStudy(**row) for row in _rows("tables.toml", "kept")}


def published_tables() -> dict[str, PublishedTable]:
    """Return every published table by name."""
    return {row["name"]: PublishedTable(**row) for row in _rows("tables.toml", "tables")}


def claims() -> list[Claim]:
    """Return the statements that compare, in the order of the pages."""
    return [Claim(**row) for row in _rows("claims.toml", "claims")]


def _study_tables(frame: pd.DataFrame, **options: Any) -> Sequence[Tabular]:
    """Return tables of `optgap study table`, at the first budget; `where` has values of columns to keep."""
    from studies.report.study_tables import study_tables

    chosen: list[int] = options.pop("which", [])
    for name, value in options.pop("where", {}).items():
        frame = frame[frame[name] == value]
    tables = study_tables(frame, budgets=(budgets_of(frame) or [ANY_BUDGET])[:1], **options)
    return [tables[index] for index in chosen] if chosen else tables


def _ratios(frame: pd.DataFrame, baseline: str, by: Sequence[str], turned: bool = False) -> Sequence[Tabular]:
    """Return mean JCTs over that of a baseline, with p-values after Holm's correction for all rivals at a place.

    A place is made of the columns `by` of `jct_tests`; places are columns, or rows where the table is turned.
    """
    tests = jct_tests(frame, baseline)
    tests["place"] = _places(tests, by)
    return _ratio_table(tests, "holm_p_value", f"Mean JCT over that of {baseline}, by {' and '.join(by)}", turned)


def _places(frame: pd.DataFrame, by: Sequence[str]) -> list[str]:
    """Return the values of some columns in one text for each row, without those that are missing."""
    values = frame[list(by)].astype(object).where(frame[list(by)].notna(), None).to_numpy().tolist()
    return [", ".join(str(value) for value in row if value not in (None, "")) for row in values]


def _factors(frame: pd.DataFrame, headings: Sequence[str], by: str | Sequence[str]) -> Sequence[Tabular]:
    """Return `factor_table`, by one column or by several together; what needs no budget counts under every one."""
    import pandas as pd

    if isinstance(by, str):
        return [factor_table(frame, headings, by)]
    if "budget" in by:
        built = frame["budget"] == ANY_BUDGET
        budgets = frame.loc[~built, ["budget"]].drop_duplicates()
        frame = pd.concat([frame[~built], frame[built].drop(columns="budget").merge(budgets, how="cross")])
    return [factor_table(frame.assign(world=_places(frame, by)), headings, "world")]


def _trainings(frame: pd.DataFrame, baseline: str, load: float) -> Sequence[Tabular]:
    """Return mean JCTs over that of each training of a baseline at a load, with p-values without correction."""
    import pandas as pd

    frame = frame[frame["load"] == load]
    counts = frame.groupby("label")["repetition"].transform("nunique")
    found = [
        jct_tests(frame[(counts == 1) | (frame["repetition"] == number)], baseline).assign(
            place=f"training {number + 1}"
        )
        for number in sorted(frame.loc[frame["label"] == baseline, "repetition"].unique())
    ]
    return _ratio_table(pd.concat(found), "p_value", f"Mean JCT over that of {baseline} at load {load}", turned=False)


def _ratio_table(tests: pd.DataFrame, p_value: str, title: str, turned: bool) -> Sequence[Tabular]:
    """Return a table of ratios with p-values in brackets, from rows of `jct_tests` with a place each."""
    tests["cell"] = [f"{ratio:.2f} ({p_text(p)})" for ratio, p in zip(tests["ratio"], tests[p_value], strict=True)]
    across, down, heading = ("label", "place", "instances") if turned else ("place", "label", "method")
    table = tests.pivot(index=down, columns=across, values="cell").loc[tests[down].unique(), tests[across].unique()]
    columns = [Column(heading, down), *(Column(name, name, is_number=True) for name in table.columns)]
    return [Table.of(columns, table.reset_index().to_dict("records"), title=title)]


def _library(frame: pd.DataFrame, objective: str) -> Sequence[Tabular]:
    """Return the tables of `optgap library gaps`: against the ledger as it is today."""
    from instances.library.library import read_library
    from studies.library.gaps import library_gaps

    return library_gaps(frame, read_library(), objective_name=objective).tables()


def _gaps_to_optima(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return a row per method with its gaps to the proven optima; rows have instance, method, objective and bound."""
    groups = frame.groupby("instance")
    optimum = groups["objective"].transform("min")
    own = frame.assign(gap=100 * (frame["objective"] / optimum - 1))[optimum == groups["bound"].transform("max")]
    means = own.groupby("method", sort=False)["gap"].agg(["mean", "max", "count"]).sort_values("mean", kind="stable")
    columns = (
        Column("method", "method"),
        Column("gap to the optimum, mean %", "mean", "{:.1f}".format, True),
        Column("at most %", "max", "{:.1f}".format, True),
        Column("optima", "count", str, True),
    )
    return [Table.of(columns, means.reset_index().to_dict("records"))]


def _gaps_by_instance(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return a row per instance with its optimum (a bound where it says so) and every method's gap in percent."""
    records = []
    for instance, rows in frame.groupby("instance", sort=False):
        gaps = rows.set_index("label")["gap"]
        optimum = f"{rows['bound'].max():.0f}{'' if rows['is_optimum'].all() else ' (bound)'}"
        shown = {label: f"{100 * gap:.1f}" if gap >= 0 else NONE for label, gap in gaps.items()}
        records.append({"instance": instance, "optimum": optimum, **shown})
    return [Table.of([Column(name, name, is_number=name != "instance") for name in records[0]], records)]


HEFT, GREEDY, UNTRAINED = "heft", "rtgs greedy", ", untrained"
"""Names of contestants in the rows of `network_shares`, and how that of a network before its training ends."""


def network_shares(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return on which share of the instances each network is better than its rivals, from rows of contestants.

    Rows have contestant, instance, overflow in bytes and makespan in ticks.
    """
    from heuristics.dag.worl_rtgs.evaluate import compare_fitness

    fitness = {
        str(name): rows.sort_values("instance")[["overflow", "makespan"]].to_numpy()
        for name, rows in frame.groupby("contestant", sort=False)
    }
    networks = [name for name in fitness if f"{name}{UNTRAINED}" in fitness]
    records = [
        {
            "network": name,
            **compare_fitness(fitness[name], fitness[f"{name}{UNTRAINED}"], fitness[GREEDY], fitness[HEFT]).to_dict(),
        }
        for name in networks
    ]
    columns = (
        Column("network", "network"),
        Column("instances", "instances", str, True),
        Column("better than itself untrained", "better_than_untrained", "{:.1%}".format, True),
        Column("than RTGS's greedy generator", "better_than_rtgs_greedy", "{:.1%}".format, True),
        Column("than HEFT", "better_than_heft", "{:.1%}".format, True),
        Column("equal to HEFT", "equal_to_heft", "{:.1%}".format, True),
        Column("mean makespan / HEFT's", "mean_ratio", "{:.3f}".format, True),
    )
    return [Table.of(columns, records)]


def worst_ratios(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return a row per heuristic with the worst ratio that a search found, and the ratios on random instances.

    Rows are those of ``tests.benchmarks.run_adversary_table``.
    """
    numbers = frame.assign(other_seeds=frame["other_seeds"].astype("float64"))
    records = numbers.sort_values("ratio", ascending=False, kind="stable").to_dict("records")
    columns = (
        Column("method", "method"),
        Column("largest ratio found", lambda row: f"{row['ratio']:.2f} ({row['value']} / {row['optimum']})", str, True),
        Column("confirmed by", lambda row: (row["confirmed_by"] or NONE).partition(",")[0]),
        Column("median of ten other seeds", "other_seeds", lambda ratio: f"{ratio:.2f}" if ratio > 0 else NONE, True),
        *(Column(f"random: {name}", name, "{:.3f}".format, True) for name in ("mean", "median", "largest")),
    )
    return [Table.of(columns, records)]


def _outside(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the table of `studies.papers.outside.compare`, without times where the rows have none."""
    from studies.papers.outside.compare import summary

    return [summary(frame.to_dict("records"))]


def _interference(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the table of `optgap study interference`, from its rows."""
    from heuristics.jobs.interference_predictor.samples import CO_LOCATIONS
    from studies.papers.interference import GENERATED, InterferenceStudy, generated_worlds, interference_table

    origins = {world.name: world.origin for world in generated_worlds(",".join(GENERATED))}
    measured = "Gavel's measured pairs, one GPU, no resources known"
    numbers = frame.assign(rank_correlation=frame["rank_correlation"].astype("float64"))
    worlds = {name: origins.get(name, measured) for name in frame["world"].unique()}
    return [interference_table(InterferenceStudy(frame=numbers, origins=worlds, count=CO_LOCATIONS))]


def _actor_critic(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the table of `optgap study actor-critic`, from its rows."""
    from studies.papers.actor_critic import ActorCriticStudy, actor_critic_table, variants_named

    variants = variants_named(";".join(frame["variant"].unique()))
    return [actor_critic_table(ActorCriticStudy(frame=frame, steps=int(frame["steps"].max()), variants=variants))]


def signs_of_settings(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return a row per published setting with the rewards under both signs and their paired difference at the end."""
    from studies.papers.actor_critic import PUBLISHED as VARIANTS

    stated = {variant.name: variant.stated_last for variant in VARIANTS}
    runs = {str(name): rows.set_index("seed") for name, rows in frame.groupby("variant", sort=False)}
    signs = ("printed sign", "printed: change", "minus sign", "minus: change")
    rows = []
    for name, printed in runs.items():
        minus = runs.get(f"{name}{MINUS_SIGN}")
        if not name.endswith(MINUS_SIGN):
            difference = NONE if minus is None else _mean_with_error(minus["last"] - printed["last"], "+.2f")
            cells = [cell for each in (printed, minus) for cell in _reward_cells(each)]
            rows.append([name.removeprefix("published "), str(stated[name]), *cells, difference])
    return [Table(headings=("factor", "published", *signs, "minus less printed, at the end"), rows=rows)]


MINUS_SIGN = ", minus sign"
"""End of the names of published variants with the other sign than the printed one."""


def _reward_cells(runs: pd.DataFrame | None) -> tuple[str, str]:
    """Return the team reward at the beginning and at the end, and its change; of no runs nothing."""
    if runs is None:
        return NONE, NONE
    ends = f"{_mean_with_error(runs['first'])} -> {_mean_with_error(runs['last'])}"
    return ends, _mean_with_error(runs["rise"], "+.2f")


def _mean_with_error(values: pd.Series, form: str = ".2f") -> str:
    """Return a mean with its standard error."""
    return f"{values.mean():{form}} ± {values.sem():.2f}"


def _marl_ablations(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the tables of `optgap study marl-ablations`, from its rows."""
    from studies.papers.marl_ablations import ABLATIONS, MarlAblations, ablations_tables

    ablations = tuple(each for each in ABLATIONS if each.name in set(frame["label"]))
    return ablations_tables(MarlAblations(frame=frame, curves={}, seconds={}, ablations=ablations))


ONE_QUEUE, QUEUES = "one queue for all servers", "a queue for every agent"
"""The teacher of the multi-agent policy with one agent, and with as many as the default training has."""


def _marl_queues(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the teacher that sees its agent's servers only against the one that sees all, from rows of ablations."""
    import pandas as pd

    rows = frame[(frame["label"] == "default") & (frame["repetition"] == 0)].assign(budget=ANY_BUDGET)
    teachers = [rows.assign(label=QUEUES, jct_mean=rows["teacher"])]
    teachers += [rows.assign(label=ONE_QUEUE, jct_mean=rows["central_teacher"])]
    return [jct_test_table(pd.concat(teachers), ONE_QUEUE, ANY_BUDGET)]


def _marl_training(_: None) -> Sequence[Tabular]:
    """Return a row per shipped training, from the document of its networks: mean ratios of JCT to the teacher's."""
    from heuristics.jobs.marl.shipped_networks import shipped_document, shipped_trainings

    def held_out(stage: str) -> Column:
        """Return the column of a stage."""
        return Column(stage, lambda row: row["held_out"]["mean_ratio"][stage], "{:.3f}".format, True)

    columns = (
        Column("training", "training"),
        Column("starts", lambda row: 1 + len(row["abandoned_curves"]), is_number=True),
        Column("validation", lambda row: row["validation"]["mean_ratio"], "{:.3f}".format, True),
        *map(held_out, ("untrained", "imitated", "trained")),
        Column("minutes", lambda row: row["seconds"] / 60, "{:.1f}".format, True),
    )
    return [Table.of(columns, [{"training": number, **shipped_document(number)} for number in shipped_trainings()])]


def _marl_gossip(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return a row per training without a centre: ratios of JCTs to the teacher's, gaps of weights, traffic."""

    def ratios(*names: str) -> Any:
        """Return a function from a row to the values in its columns."""
        return lambda row: ", ".join(f"{float(row[name]):.2f}" for name in names)

    columns = (
        Column("trainer", "trainer"),
        Column("imitated", ratios("imitated"), str, True),
        Column("best network", ratios("trained"), str, True),
        Column("validation: imitated, best, last", ratios("first", "best", "last"), str, True),
        Column(
            "weight gap before, after gossip",
            lambda row: f"{float(row['gap_before']):.1e}, {float(row['gap_after']):.1e}",
            str,
            True,
        ),
        Column("MB of gossip per update", lambda row: f"{int(row['gossip_bytes']) / 1e6:.3f}", str, True),
        Column("bytes of summaries", lambda row: int(row["summary_bytes"]), str, True),
    )
    return [Table.of(columns, _records(frame))]


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return rows with None for what is unknown."""
    records: list[dict[Any, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return records


def _decision_latency(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the table of `optgap study decision-latency` with all columns, from its rows."""
    from studies.papers.decision_latency import DecisionLatency, DecisionLatencyStudy, decision_latency_table

    rows = tuple(DecisionLatency(**{str(name): value for name, value in row.items()}) for row in _records(frame))
    return [decision_latency_table(DecisionLatencyStudy(rows=rows, seed=0))]


def _plan_distance(frame: pd.DataFrame) -> Sequence[Tabular]:
    """Return the table of `optgap study plan-distance` with its default options, from its rows."""
    from studies.papers.plan_distance import PlanDistanceOptions, PlanDistanceRow, PlanDistanceTable, summary_table

    rows = tuple(PlanDistanceRow(**{str(name): value for name, value in row.items()}) for row in _records(frame))
    chosen = PlanDistanceOptions()
    options = {name: getattr(chosen, name) for name in ("seed", "placements", "pairs", "resamples", "order")}
    return [summary_table(PlanDistanceTable(rows=rows, insertion=True, **options))]


MAKERS: Mapping[str, Any] = {
    "actor-critic": _actor_critic,
    "actor-critic-published": signs_of_settings,
    "adversary": worst_ratios,
    "decision-latency": _decision_latency,
    "interference": _interference,
    "jct-tests": lambda frame, baseline: [jct_test_table(frame.assign(budget=ANY_BUDGET), baseline, ANY_BUDGET)],
    "library": _library,
    "gaps-by-instance": _gaps_by_instance,
    "gaps-to-optima": _gaps_to_optima,
    "marl-ablations": _marl_ablations,
    "marl-gossip": _marl_gossip,
    "marl-queues": _marl_queues,
    "marl-training": _marl_training,
    "network-shares": network_shares,
    "outside": _outside,
    "plan-distance": _plan_distance,
    "ratios": _ratios,
    "trainings": _trainings,
    "online": lambda frame: summary_tables(online_summary(frame)),
    "online-by-load": lambda frame: [gaps_by_load(online_summary(frame))],
    "study": _study_tables,
    "contrasts": lambda frame, pairs, by=None, budget=None: [
        contrast_table(frame, [(one, other) for one, other in pairs], by, budget)
    ],
    "factors": _factors,
}
"""Functions from the frame of the runs (None where no runs are kept), and options, to tables."""


def published_table(name: str) -> Sequence[Tabular]:
    """Make a published table from the kept runs.

    Raises a `ValueError` if there is no such table, its runs are not kept, or their file was changed.
    """
    table = published_tables().get(name)
    if table is None or table.make is None:
        raise ValueError(f"table: expected one whose runs are kept ({', '.join(table_names())}), got {name!r}.")
    frame = None if table.kept is None else _kept_frame(kept_studies()[table.kept])
    made: Sequence[Tabular] = MAKERS[table.make](frame, **table.options)
    return [_some_columns(each.table(), table.columns) for each in made] if table.columns else made


def _kept_frame(kept: KeptStudy) -> pd.DataFrame:
    """Return the kept rows, or the runs of a kept study."""
    if kept.rows_by is not None:
        return kept_rows(kept.path, kept.sha256)
    with tempfile.TemporaryDirectory(prefix="optgap-published-") as folder:
        restore_store(kept.path, Path(folder), kept.sha256)
        with StudyStore(Path(folder)) as store:
            return to_frame(store)


def _some_columns(table: Table, headings: Sequence[str]) -> Table:
    """Return the columns of a table that have one of these headings, without notes."""
    chosen = [number for number, heading in enumerate(table.headings) if heading in headings]
    names = [table.headings[number] for number in chosen]
    rows = [[row[number] for number in chosen] for row in table.rows]
    return Table(headings=names, rows=rows, numbers=table.numbers, title=table.title, records=table.records)


def table_names() -> list[str]:
    """Return the names of the tables that can be made."""
    return [name for name, table in published_tables().items() if table.make]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedOptions:
    """What `optgap study published` asks for."""

    table: str | None = option(
        None,
        "Table to make again from the kept runs; without a name all tables are listed.",
        metavar="NAME",
        is_argument=True,
        names=Names("studies.papers.published:table_names"),
    )
    claims: bool = option(False, "List the statements that compare, each with its table and command.")
    restore: Path | None = option(None, "Folder for a store, or a CSV, with the kept runs of the table.", metavar="DIR")
    keep: Path | None = option(
        None, "Folder of a finished study, or file of rows (CSV or JSON), to keep in the file of --out.", metavar="DIR"
    )
    out: Path | None = option(None, "File that ends in .json.gz, for --keep.", metavar="FILE", file="written")
    measured: bool = option(
        False, "With --keep: keep seconds of rows, or only runs of a budget in seconds, as measured."
    )


def _run(chosen: PublishedOptions, monitor: Monitor) -> Sequence[Tabular]:
    """Make, list or keep."""
    if (chosen.keep is None) != (chosen.out is None):
        raise BadInputError("--keep: expected a folder together with the file of --out, got one of the two.")
    if chosen.measured and chosen.keep is None:
        raise BadInputError("--measured: expected --keep with it, got none.")
    if chosen.keep is not None and chosen.out is not None:
        if not chosen.out.name.endswith(".json.gz"):
            raise BadInputError(f"--out: expected a name that ends in .json.gz, got {chosen.out.name}.")
        with reading(chosen.keep), writing(chosen.out):
            write = write_kept_runs if chosen.keep.is_dir() else write_kept_rows
            sha256 = write(chosen.keep, chosen.out, measured=chosen.measured)
        row = {"file": str(chosen.out), "bytes": str(chosen.out.stat().st_size), "sha256": sha256}
        return [Table(headings=list(row), rows=[list(row.values())], numbers=["bytes"], records=[row])]
    if chosen.restore is not None and (chosen.table is None or published_tables()[chosen.table].kept is None):
        expected = "expected the name of a table with it, whose runs are kept"
        raise BadInputError(f"--restore: {expected}, got {chosen.table or 'none'}.")
    if chosen.claims:
        return [claims_table()]
    if chosen.table is None:
        return [list_of_tables()]
    if chosen.restore is not None:
        kept = kept_studies()[published_tables()[chosen.table].kept or ""]
        with writing(chosen.restore):
            if kept.rows_by is None:
                restore_store(kept.path, chosen.restore, kept.sha256)
            else:
                write_text(chosen.restore, kept_rows(kept.path, kept.sha256).to_csv(index=False))
    return published_table(chosen.table)


def _state(table: PublishedTable, kept: Mapping[str, KeptStudy]) -> str:
    """Say whether the runs behind a table are kept."""
    if table.kept is None:
        return f"not kept: {table.cost}" if table.make is None else "in the documents of the networks"
    return "kept as measured" if kept[table.kept].measured else "kept"


def list_of_tables() -> Table:
    """Return the list of published tables with what makes each of them again."""
    kept = kept_studies()
    columns = (
        Column("table", "name"),
        Column("runs", "state"),
        Column("page", "page"),
        Column("made by", "way"),
        Column("runs made by", "runs"),
    )
    rows = [
        {
            "name": table.name,
            "state": _state(table, kept),
            "page": table.page,
            "way": table.way,
            "runs": kept[table.kept].command if table.kept else (table.make and table.command) or NONE,
        }
        for table in published_tables().values()
    ]
    return Table.of(columns, rows, name="tables", title="Published tables", records=rows)


def claims_table() -> Table:
    """Return the list of statements that compare."""
    tables = published_tables()
    columns = (
        Column("page", "page"),
        Column("claim", "text"),
        Column("table", "table"),
        Column("command", "command"),
    )
    rows = [
        {"page": each.page, "text": each.text, "table": each.table, "command": tables[each.table].way}
        for each in claims()
    ]
    return Table.of(columns, rows, name="claims", title="Statements that compare", records=rows)


PUBLISHED = PaperStudy(
    options=PublishedOptions,
    run=_run,
    tables=lambda result: [each.table() for each in result],
    document=lambda result, chosen: {"tables": [each.to_dict() for each in result]},
    has_markdown=True,
    markdown_tables=lambda result: result,
    description="The runs are in studies/published: what the same command gives again, and times as measured once.",
)
