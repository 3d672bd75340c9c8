"""The decentralised actor-critic on its grid world: variants x seeds, compared with published rewards.

See docs/methods/actor_critic.md.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heuristics.jobs.actor_critic.gossip import gossip_graph, random_weights
from heuristics.jobs.actor_critic.settings import PRINTED, REPAIRED
from heuristics.jobs.actor_critic.train import TrainingRuns, actor_critic
from instances.spelling import did_you_mean
from instances.text_file import whole_file
from solvers.table import Table
from studies.input import reading, writing
from studies.options import Names, option
from studies.papers.simple_spread import LANDMARKS, SimpleSpread
from studies.papers.study import PaperStudy, StudyFigure, entropy_option, seeds_of, seeds_option
from studies.report.figure_style import line_styles, lines_only, new_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from heuristics.jobs.actor_critic.critic import DeepNetwork
    from heuristics.jobs.actor_critic.settings import ActorCriticSettings
    from studies.papers.study import Monitor


MIXING, RANDOM = "mixing", "random"
"""Gossip weights: [[.7, .3], [.3, .7]] of two agents, or a random doubly stochastic matrix of a complete graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorCriticVariant:
    """One row of the study.

    Parameters
    ----------
    settings
        Settings of the actor-critic; the number of iterations follows from the study's number of steps.
    weights
        `MIXING` or `RANDOM`.
    stated_first, stated_last
        Team reward per step at the beginning and the end as somebody else reports it; None if unreported.
    before
        Variant that is trained first, for as many iterations as its settings say; the actors begin with its networks.
        None starts from random weights.
    """

    name: str
    settings: ActorCriticSettings
    environment: SimpleSpread
    weights: str
    stated_first: float | None = None
    stated_last: float | None = None
    before: ActorCriticVariant | None = None

    def lasting(self, steps: int) -> ActorCriticVariant:
        """Return the variant with as many iterations as fit into a number of steps in the environment."""
        period = self.settings.critic_steps + self.settings.actor_steps
        return replace(self, settings=replace(self.settings, iterations=steps // period))

    @property
    def key(self) -> str:
        """Hash of everything that a run depends on but its seed: 16 hexadecimal digits."""
        said = repr((self.settings, self.environment, self.weights, self.before and self.before.key))
        return hashlib.sha256(said.encode()).hexdigest()[:16]


_LOCAL, _TEAM = SimpleSpread(), SimpleSpread(local_rewards=False)
_V = replace(REPAIRED, last_scale=1.0)
_RESIDUAL = replace(_V, signal="q_residual")


def _derived(
    name: str,
    settings: ActorCriticSettings,
    first: float | None = None,
    last: float | None = None,
    *,
    environment: SimpleSpread = _LOCAL,
) -> ActorCriticVariant:
    """Return a variant with the rewards that were derived before this software."""
    return ActorCriticVariant(
        name=name, settings=settings, environment=environment, weights=MIXING, stated_first=first, stated_last=last
    )


REPAIRS = (
    _derived("printed sign, restart, restarted target", replace(
        _RESIDUAL, sign="printed", warm_start=False, target="restarted"
    )),
    _derived("printed sign, warm start", replace(_RESIDUAL, sign="printed"), -8.17, -8.04),
    _derived("minus sign, warm start", _RESIDUAL, -7.79, -7.94),
    _derived("minus sign, restart", replace(_RESIDUAL, warm_start=False), -7.81, -8.02),
    _derived("Q advantage, 4 samples", replace(_V, signal="q_advantage"), -8.13, -7.64),
    _derived("V critic", _V, -7.93, -6.51),
    _derived("V critic, b x 0.1", REPAIRED, -7.57, -6.27),
    _derived("V critic, tg = 0", replace(_V, gossip_rounds=0), -7.97, -6.75),
    _derived("V critic, restart", replace(_V, warm_start=False), -7.97, -7.63),
    _derived("V critic, K = M = 1", replace(_V, critic_steps=1, actor_steps=1, alpha=0.005), -7.87, -7.07),
    _derived("V critic, B = 2", replace(_V, radius=2.0), -7.93, -6.49),
    _derived("V critic, team reward, tg = 10", _V, -7.93, -5.85, environment=_TEAM),
    _derived("V critic, team reward, tg = 0", replace(_V, gossip_rounds=0), -7.93, -5.86, environment=_TEAM),
)  # fmt: skip
"""Printed and repaired side by side on local rewards, K = M = 10, gamma 0.9, alpha 0.05, beta 0.003 (ours)."""


_TRAINED = ActorCriticVariant(
    name="trained policy", settings=replace(REPAIRED, iterations=1000), environment=_LOCAL, weights=MIXING
)
_LOUD = SimpleSpread(reward_scale=0.1)
_CENTRED = 3.8
"""About minus the mean local reward of a random policy, not scaled; two agents."""


def _signs(
    name: str, environment: SimpleSpread, reward_shift: float, before: ActorCriticVariant | None = None
) -> list[ActorCriticVariant]:
    """Return the Q residual with the sign as printed and with the other one; all else is the same."""
    residual = replace(REPAIRED, signal="q_residual", warm_start=False, reward_shift=reward_shift)
    return [
        ActorCriticVariant(
            name=f"{text} sign, {name}",
            settings=replace(residual, sign=sign),
            environment=environment,
            weights=MIXING,
            before=before,
        )
        for text, sign in (("printed", "printed"), ("minus", "repaired"))
    ]


SIGNS = tuple(
    variant
    for rows in (
        _signs("heard, first policy", _LOUD, 10 * _CENTRED),
        _signs("heard, trained policy", _LOUD, 10 * _CENTRED, _TRAINED),
        _signs("not centred", _LOUD, 0.0),
        _signs("centred, rewards / 10", _LOCAL, _CENTRED / 10),
    )
    for variant in rows
)
"""When the printed sign makes the reward fall, and the other sign does not (ours).

With an untrained critic, minus the printed residual is about r plus a constant. The actor *hears* the reward if rewards
are large compared with the differences of the critic's random outputs (here: times 10, not divided by 10) and have both
signs (here: centred, by adding 3.8 per step and agent); critics begin anew at every iteration. Each of the last two
pairs lacks one of these conditions.
"""


def _published(name: str, last: float, landmarks: int = 2, **changes: object) -> list[ActorCriticVariant]:
    """Return a row of the paper's plots under its settings, with the sign as printed and with the other sign."""
    environment = SimpleSpread(landmarks=LANDMARKS[landmarks], local_rewards=False, reward_scale=1.0)
    signs = ("printed",) if changes.get("signal") == "q_value" else ("printed", "repaired")
    return [
        ActorCriticVariant(
            name=f"published {name}{', minus sign' if sign == 'repaired' else ''}",
            settings=replace(PRINTED, sign=sign, **changes),  # type: ignore[arg-type]  # fields of different types
            environment=environment,
            weights=RANDOM,
            stated_last=last,
        )
        for sign in signs
    ]


PUBLISHED = tuple(
    variant
    for rows in (
        _published("defaults", -4.85),
        _published("tg = 0", -5.2, gossip_rounds=0),
        _published("tg = 20", -4.1, gossip_rounds=20),
        _published("m = 10", -4.95, width=10),
        _published("m = 40", -5.05, width=40),
        _published("D = 20", -4.5, depth=20),
        _published("D = 40", -3.7, depth=40),
        _published("N = 3", -7.5, landmarks=3),
        _published("N = 4", -9.1, landmarks=4),
        _published("K = 1, M = 5", -4.0, actor_steps=5),
        _published("K = 5, M = 1", -3.8, critic_steps=5),
        _published("Q value as signal", -7.8, signal="q_value"),
    )
    for variant in rows
)
"""Experiment A of Zhang et al. (2025): values read from its plots at episode 4000, within 0.1.

Their defaults: T = 20000, K = M = 1, gamma 0.99, m = 20, D = 5, tg = 10. Positions of landmarks and B are not given, so
levels cannot be compared, only directions.
"""

SETS = {"repairs": REPAIRS, "signs": SIGNS, "published": PUBLISHED}
"""Sets of variants by the names that `--variants` takes."""


def variants_named(text: str) -> tuple[ActorCriticVariant, ...]:
    """Return the variants of sets and single variants, separated by semicolons (names of variants contain commas).

    Raises a `ValueError` if a name is unknown.
    """
    single = {variant.name: variant for variants in SETS.values() for variant in variants}
    chosen: dict[str, ActorCriticVariant] = {}
    for part in (part.strip() for part in text.split(";")):
        if part not in SETS and part not in single:
            hint = did_you_mean(part, [*SETS, *single])
            raise ValueError(f"variants: expected {', '.join(SETS)} or the name of a variant, got {part!r}{hint}.")
        chosen |= {variant.name: variant for variant in SETS.get(part) or (single[part],)}
    return tuple(chosen.values())


FIRST, LAST = 0.025, 0.1
"""Shares of the steps over which rewards are averaged at the beginning and at the end."""

MIXING_WEIGHTS = ((0.7, 0.3), (0.3, 0.7))
"""Gossip weights Am of two agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """Rewards of one variant.

    Parameters
    ----------
    runs
        Number of seeds.
    first, last, rise
        Means over runs of the team reward per step at the beginning, at the end, and of the difference.
    first_error, last_error, rise_error
        Standard errors of these means; None for one run.
    weight_gap
        Mean over runs of the largest max ||W_i - mean W|| of any iteration, after gossip.
    projection_hits
        Share of projections that changed their argument.
    direction_norm
        Mean ||d_i||.
    messages, bytes
        Gossip per iteration.
    stated_first, stated_last
        Rewards that others report; None if unreported.
    """

    variant: str
    runs: int
    first: float
    first_error: float | None
    last: float
    last_error: float | None
    rise: float
    rise_error: float | None
    weight_gap: float
    projection_hits: float
    direction_norm: float
    messages: int
    bytes: int
    stated_first: float | None
    stated_last: float | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ActorCriticStudy:
    """Result of the study.

    Parameters
    ----------
    frame
        One row per variant and seed, with the columns `COLUMNS`.
    steps
        Steps in the environment per run.
    """

    frame: pd.DataFrame
    steps: int
    variants: tuple[ActorCriticVariant, ...]

    @property
    def curves(self) -> dict[str, NDArray[np.float64]]:
        """Team reward over steps for each variant, shape (runs, points)."""
        columns = list(REWARDS)
        return {
            one.name: self.frame.loc[self.frame["variant"] == one.name, columns].to_numpy() for one in self.variants
        }

    def summaries(self) -> list[VariantSummary]:
        """Summarise every variant over its seeds."""
        rows = []
        for variant in self.variants:
            mine = self.frame[self.frame["variant"] == variant.name]
            numbers: dict[str, Any] = {}
            for name in ("first", "last", "rise"):
                numbers[name] = float(mine[name].mean())
                numbers[f"{name}_error"] = float(mine[name].sem()) if len(mine) > 1 else None
            rows.append(
                VariantSummary(
                    variant=variant.name,
                    runs=len(mine),
                    weight_gap=float(mine["weight_gap"].mean()),
                    projection_hits=float(mine["projection_hits"].mean()),
                    direction_norm=float(mine["direction_norm"].mean()),
                    messages=int(mine["messages"].iloc[0]),
                    bytes=int(mine["bytes"].iloc[0]),
                    stated_first=variant.stated_first,
                    stated_last=variant.stated_last,
                    **numbers,
                )
            )
        return rows


def actor_critic_study(
    variants: Sequence[ActorCriticVariant],
    *,
    seeds: int = 16,
    steps: int = 40_000,
    stored: pd.DataFrame | None = None,
    entropy: str | None = None,
    on_variant: Callable[[str, int, int], None] = lambda name, done, total: None,
    on_runs: Callable[[pd.DataFrame], None] = lambda frame: None,
) -> ActorCriticStudy:
    """Train every variant for seeds 0, 1, ...

    Seeds that are trained together give the same bytes whatever the other seeds are; a seed that is trained alone gives
    the same numbers up to rounding.

    Parameters
    ----------
    seeds
        Runs of each variant; all variants have the same seeds.
    steps
        Steps in the environment per run: T = steps / (K + M), rounded down, at least `POINTS`.
    stored
        Existing runs of any variants, which are not repeated. Steps and settings are compared, versions of the software
        are not.
    entropy
        Text that the seeds are drawn from instead; None for 0, 1, ...
    on_variant
        Receives the name of every variant that begins, how many are done, and how many there are.
    on_runs
        Receives all runs, stored and new, whenever some were added.

    Raises
    ------
    ValueError
        If there are too few seeds or steps.
    """
    if seeds < 1:
        raise ValueError(f"seeds: expected at least 1, got {seeds}.")
    import pandas as pd

    for variant in variants:
        period = variant.settings.critic_steps + variant.settings.actor_steps
        if steps < POINTS * period:
            raise ValueError(f"steps: expected at least {POINTS * period} for {variant.name}, got {steps}.")
    held = with_runs(stored, [])
    wanted = seeds_of(seeds, entropy)
    chosen = []
    trained: dict[tuple[str, tuple[int, ...]], DeepNetwork] = {}
    for done, variant in enumerate(variants):
        on_variant(variant.name, done, len(variants))
        lasting = variant.lasting(steps)
        missing = tuple(seed for seed in wanted if seed not in set(_of(held, lasting)["seed"]))
        if missing:
            before = lasting.before
            if before is not None and (before.key, missing) not in trained:
                trained[before.key, missing] = _train(before, missing).actors
            actors = None if before is None else trained[before.key, missing]
            held = with_runs(held, _rows(lasting, _train(lasting, missing, actors)))
            on_runs(held)
        mine = _of(held, lasting)
        chosen.append(mine[mine["seed"].isin(wanted)].sort_values("seed"))
    return ActorCriticStudy(frame=pd.concat(chosen, ignore_index=True), steps=steps, variants=tuple(variants))


def _of(held: pd.DataFrame, variant: ActorCriticVariant) -> pd.DataFrame:
    """Return the runs of a variant."""
    return held[(held["variant"] == variant.name) & (held["settings"] == variant.key)]


def _train(variant: ActorCriticVariant, seeds: Sequence[int], actors: DeepNetwork | None = None) -> TrainingRuns:
    """Train as the variant says."""
    return actor_critic(variant.environment, variant.settings, gossip_weights(variant), seeds=seeds, actors=actors)


def gossip_weights(variant: ActorCriticVariant) -> NDArray[np.float64]:
    """Return Am; random weights connect all agents and are the same for all runs (ours)."""
    if variant.weights == RANDOM:
        edges = gossip_graph("complete", variant.environment.num_agents)
        return random_weights(np.random.default_rng(0), edges)
    return np.array(MIXING_WEIGHTS)


def _rows(variant: ActorCriticVariant, runs: TrainingRuns) -> list[dict[str, Any]]:
    """Return a row per run."""
    reward = runs.curves.team_reward.astype(np.float64)
    iterations = reward.shape[1]
    first = reward[:, : max(1, round(FIRST * iterations))].mean(axis=1)
    last = reward[:, -max(1, round(LAST * iterations)) :].mean(axis=1)
    points = np.stack([part.mean(axis=1) for part in np.array_split(reward, POINTS, axis=1)], axis=1)
    return [
        {
            "variant": variant.name,
            "settings": variant.key,
            "steps": variant.settings.num_steps,
            "seed": seed,
            "first": float(first[run]),
            "last": float(last[run]),
            "rise": float(last[run] - first[run]),
            "weight_gap": float(runs.curves.weight_gap[run].max()),
            "projection_hits": float(runs.curves.projection_hits[run].mean()),
            "direction_norm": float(runs.curves.direction_norm[run].mean()),
            "td_error_last": float(runs.curves.td_error[run, -max(1, round(LAST * iterations)) :].mean()),
            "messages": runs.traffic.messages,
            "bytes": runs.traffic.bytes,
            **dict(zip(REWARDS, points[run].tolist(), strict=True)),
        }
        for run, seed in enumerate(runs.seeds)
    ]


POINTS = 40
"""Number of points of a curve."""

REWARDS = tuple(f"reward_{point}" for point in range(1, POINTS + 1))
"""Columns of the curve: mean team reward per step over each fortieth of the run."""

TEXTS = ("variant", "settings")
"""Name and `ActorCriticVariant.key`; with the seed they identify a run."""

COUNTS = ("steps", "seed", "messages", "bytes")
"""Steps in the environment; messages and bytes of gossip per iteration."""

COLUMNS = (
    *TEXTS, "steps", "seed", "first", "last", "rise", "weight_gap", "projection_hits", "direction_norm",
    "td_error_last", "messages", "bytes", *REWARDS,
)  # fmt: skip
"""Columns of the file of runs."""


def with_runs(runs: pd.DataFrame | None, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Append rows to runs; None stands for no runs."""
    import pandas as pd

    if runs is None:
        runs = pd.DataFrame(columns=list(COLUMNS))
    if not rows:
        return runs
    added = pd.DataFrame(rows, columns=list(COLUMNS))
    return pd.concat([runs, added], ignore_index=True) if len(runs) else added


def read_runs(path: Path) -> pd.DataFrame | None:
    """Return the runs in a file; None if there is no file or it is empty.

    Raises a `ValueError` if it is not a file of such runs.
    """
    import pandas as pd

    if not path.exists() or not path.stat().st_size:
        return None
    with path.open(newline="", encoding="utf-8") as file:
        heading, *lines = csv.reader(file)
    if tuple(heading) != COLUMNS:
        given = ", ".join(heading[:5])
        raise ValueError(f"columns: expected variant, settings, steps, seed, first and others, got {given}.")
    for row, line in enumerate(lines):
        if len(line) != len(COLUMNS):
            raise ValueError(f"rows[{row}]: expected {len(COLUMNS)} columns, got {len(line)}.")
    columns = zip(*lines, strict=True) if lines else ((),) * len(COLUMNS)
    runs = pd.DataFrame({name: _values(name, texts) for name, texts in zip(COLUMNS, columns, strict=True)})
    repeated = runs.duplicated([*TEXTS, "seed"])
    if repeated.any():
        row = int(repeated.to_numpy().argmax())
        raise ValueError(f"rows[{row}]: expected every run once, got seed {runs['seed'].iloc[row]} again.")
    return runs


def _values(name: str, texts: Sequence[str]) -> list[Any]:
    """Return the values of a column."""
    if name in TEXTS:
        return list(texts)
    values: list[Any] = []
    for row, text in enumerate(texts):
        try:
            value = int(text) if name in COUNTS else float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            kind = "an integer" if name in COUNTS else "a finite number"
            raise ValueError(f"{name}[{row}]: expected {kind}, got {text!r}.")
        values.append(value)
    return values


def write_runs(path: Path, runs: pd.DataFrame) -> None:
    """Write runs; a reader sees either the old file or the new one."""
    with whole_file(path) as partial:
        runs.to_csv(partial, index=False)


HEADINGS = ("variant", "first", "last", "rise", "gap", "stated")
"""Columns of the table; `stated` is what others report: first -> last, or the level at the end."""


def actor_critic_table(study: ActorCriticStudy) -> Table:
    """Return the table of all variants."""
    summaries = study.summaries()
    notes = [
        f"Team reward per step of {study.steps} steps; mean ± standard error of {summaries[0].runs} seeds.",
        "first: first 2.5 % of steps, last: last 10 %. gap: largest max ||W_i - mean W|| after gossip.",
        "stated: derived before this software, or published (plots, ±0.1).",
        "Published levels are of unknown landmarks: only directions compare.",
    ]
    return Table(
        headings=HEADINGS, rows=_cells(study), title="Decentralised actor-critic, printed and repaired", notes=notes
    )


def _cells(study: ActorCriticStudy) -> list[list[str]]:
    """Return the table's texts."""
    return [
        [
            row.variant,
            _with_error(row.first, row.first_error),
            _with_error(row.last, row.last_error),
            _with_error(row.rise, row.rise_error),
            f"{row.weight_gap:.1e}",
            _stated(row.stated_first, row.stated_last),
        ]
        for row in study.summaries()
    ]


def _with_error(value: float, error: float | None) -> str:
    """Return a mean and its standard error."""
    return f"{value:.2f}" if error is None else f"{value:.2f}±{error:.2f}"


def _stated(first: float | None, last: float | None) -> str:
    """Return what others report as text."""
    if last is None:
        return "-"
    return f"{last:.2f}" if first is None else f"{first:.2f} -> {last:.2f}"


def actor_critic_figure(study: ActorCriticStudy, ax: Axes | None = None) -> Axes:
    """Draw the mean team reward per step over the steps, with a band of one standard error where there are seeds."""
    ax = ax or new_axes(9.5, 2.2 + 0.2 * max(12, len(study.variants)))
    for name, style in line_styles(study.curves).items():
        curve = study.curves[name]
        points = curve.shape[1]
        steps = (np.arange(points) + 0.5) * study.steps / points
        mean = curve.mean(axis=0)
        ax.plot(steps, mean, color=style.colour, linestyle=style.dashes, linewidth=1.5, label=name)
        if len(curve) > 1:
            error = curve.std(axis=0, ddof=1) / np.sqrt(len(curve))
            ax.fill_between(steps, mean - error, mean + error, color=style.colour, alpha=0.12, linewidth=0)
    lines_only(ax)
    ax.set_xlim(0, study.steps)
    ax.set_xlabel("steps in the environment")
    ax.set_ylabel("team reward per step, mean and standard error over seeds")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorCriticOptions:
    """What `optgap study actor-critic` asks for."""

    variants: str = option(
        "repairs",
        "repairs, signs, published or names of variants, separated by semicolons.",
        metavar="A;B",
        names=Names(*SETS, separator=";", is_open=True),
    )
    seeds: int = seeds_option(16)
    steps: int = option(40_000, "Steps of each run.", low=1, high=100_000_000)
    entropy: str | None = entropy_option()
    csv: Path | None = option(
        None, "CSV, a row per variant and seed; runs that it holds are not repeated.", file="written"
    )


def _run(chosen: ActorCriticOptions, monitor: Monitor) -> ActorCriticStudy:
    """Train what the file of runs does not hold yet; the file is written after each variant."""
    stored, file = None, chosen.csv
    if file is not None and file.exists():
        with reading(file):
            stored = read_runs(file)

    def keep(runs: pd.DataFrame) -> None:
        """Write what there is, so that a study that is broken off goes on from there."""
        if file is not None:
            with writing(file):
                write_runs(file, runs)

    return actor_critic_study(
        variants_named(chosen.variants),
        seeds=chosen.seeds,
        steps=chosen.steps,
        stored=stored,
        entropy=chosen.entropy,
        on_variant=monitor.update,
        on_runs=keep,
    )


def _document(study: ActorCriticStudy, chosen: ActorCriticOptions) -> dict[str, Any]:
    """Return summaries and runs, without the curves, as JSON values."""
    runs = study.frame.drop(columns=list(REWARDS)).to_json(orient="records", double_precision=15)
    return {
        "steps": study.steps,
        "seeds": chosen.seeds,
        "summaries": [asdict(summary) for summary in study.summaries()],
        "runs": json.loads(runs),
    }


ACTOR_CRITIC = PaperStudy(
    options=ActorCriticOptions,
    run=_run,
    tables=lambda study: [actor_critic_table(study)],
    document=_document,
    has_markdown=True,
    figure=StudyFigure(help="Curves to draw", draw=actor_critic_figure),
)
