"""Commands for the experiments of single papers: `study actor-critic`, `interference` and others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import options, reading, writing
from studies.cli.options import integer
from studies.cli.output import (
    check_outputs,
    note,
    print_json,
    print_text,
    write_figure,
    write_output,
    write_text_output,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from instances.dag.instance import DagInstance


MAX_SEEDS, MAX_STEPS = 1000, 100_000_000
"""More are a slip of the finger."""


def actor_critic_command(
    variants: Annotated[
        str,
        typer.Option(
            "--variants",
            metavar="A;B",
            help="repairs, signs, published or names of variants, separated by semicolons.",
        ),
    ] = "repairs",
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", parser=integer("--seeds", low=1, high=MAX_SEEDS), metavar="N", help="Seeds 0 to N - 1."
        ),
    ] = 16,
    steps: Annotated[
        int,
        typer.Option(
            "--steps", parser=integer("--steps", low=1, high=MAX_STEPS), metavar="N", help="Steps of each run."
        ),
    ] = 40_000,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv", metavar="FILE", help="CSV, a row per variant and seed; runs that it holds are not repeated."
        ),
    ] = None,
    markdown: opt.MARKDOWN = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Curves to draw: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Train decentralised actor-critics on a grid, as printed and as repaired."""
    check_outputs([], [csv, markdown], figure=figure)
    from studies.cli.progress import RunProgress
    from studies.papers.actor_critic import (
        REWARDS,
        actor_critic_figure,
        actor_critic_study,
        actor_critic_table,
        read_runs,
        variants_named,
        write_runs,
    )

    stored = None
    if csv is not None and csv.exists():
        with reading(csv):
            stored = read_runs(csv)

    def keep(runs: "pd.DataFrame") -> None:
        """Write what there is, so that a run that is broken off goes on from there."""
        write_output(csv, lambda path: write_runs(path, runs))

    with options({"variants": "--variants", "steps": "--steps"}, "actor-critic"), RunProgress() as progress:
        study = actor_critic_study(
            variants_named(variants),
            seeds=seeds,
            steps=steps,
            stored=stored,
            on_variant=progress.update,
            on_runs=keep,
        )
    write_text_output(markdown, lambda: actor_critic_table(study).to_markdown())
    write_figure(figure, lambda: actor_critic_figure(study))
    if as_json:
        import json
        from dataclasses import asdict

        print_json(
            {
                "steps": study.steps,
                "seeds": seeds,
                "summaries": [asdict(summary) for summary in study.summaries()],
                "runs": json.loads(
                    study.frame.drop(columns=list(REWARDS)).to_json(orient="records", double_precision=15)
                ),
            }
        )
    else:
        print_text(actor_critic_table(study).to_text())


MAX_INTERFERENCE_SEEDS, MAX_COUNT, MAX_EPOCHS = 1000, 1_000_000, 100_000
"""More are a slip of the finger."""

DEFAULT_PAIRS = Path("../shared/data/gavel/colocated.csv.gz")
"""Measured pairs where no file is named."""


def interference_command(
    worlds: Annotated[
        str, typer.Option("--worlds", metavar="A,B", help="Of co-located, shared-gpus and gavel.")
    ] = "co-located,shared-gpus,gavel",
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help=f"Gavel's colocated.csv.gz; default {DEFAULT_PAIRS}."),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds",
            parser=integer("--seeds", low=1, high=MAX_INTERFERENCE_SEEDS),
            metavar="N",
            help="Seeds 0 to N - 1.",
        ),
    ] = 5,
    count: Annotated[
        int,
        typer.Option(
            "--co-locations",
            parser=integer("--co-locations", low=10, high=MAX_COUNT),
            metavar="N",
            help="Generated ones to train on.",
        ),
    ] = 5000,
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs", parser=integer("--epochs", low=1, high=MAX_EPOCHS), metavar="N", help="Of the network."
        ),
    ] = 200,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per world, seed, part and model.")
    ] = None,
    markdown: opt.MARKDOWN = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Measure interference predictors on seen and on unseen pairs of classes."""
    check_outputs([pairs], [csv, markdown])
    from studies.cli.progress import RunProgress
    from studies.papers.interference import (
        generated_worlds,
        interference_study,
        interference_table,
        measured_world,
        names_measured,
    )

    skipped = {}
    with options({"worlds": "--worlds"}, "interference"):
        chosen = generated_worlds(worlds)
        if names_measured(worlds):
            if pairs is None and not DEFAULT_PAIRS.exists():
                skipped["gavel"] = f"{DEFAULT_PAIRS} is not there; name the table by --pairs"
                note(f"gavel: skipped, for {skipped['gavel']}.")
            else:
                path = pairs or DEFAULT_PAIRS
                with reading(path):
                    chosen.append(measured_world(path))
        with RunProgress() as progress:
            study = interference_study(chosen, seeds=seeds, count=count, epochs=epochs, on_run=progress.update)
    write_output(csv, lambda path: study.frame.to_csv(path, index=False))
    write_text_output(markdown, lambda: interference_table(study).to_markdown())
    if as_json:
        import json
        from dataclasses import asdict

        print_json(
            {
                "co_locations": study.count,
                "epochs": epochs,
                "seeds": seeds,
                "worlds": study.origins,
                "skipped": skipped,
                "summaries": [asdict(summary) for summary in study.summaries()],
                "notes": study.notes(),
                "runs": json.loads(study.frame.to_json(orient="records", double_precision=15)),
            }
        )
    else:
        print_text(interference_table(study).to_text())


MAX_ABLATION_SEEDS, MAX_UPDATES, MAX_HELD_OUT, MAX_WORKERS = 1000, 1_000_000, 100_000, 1024
"""More are a slip of the finger."""


def marl_ablations_command(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of networks and documents; what is there is not repeated."),
    ],
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", parser=integer("--seeds", low=1, high=MAX_ABLATION_SEEDS), metavar="N", help="Seeds 0 to N - 1."
        ),
    ] = 5,
    updates: Annotated[
        int | None,
        typer.Option(
            "--updates",
            parser=integer("--updates", low=1, high=MAX_UPDATES),
            metavar="N",
            help="Of every training; default that of `train marl`.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="A;B", help="Names of ablations, separated by semicolons; default all."),
    ] = None,
    topologies: Annotated[
        str, typer.Option("--topologies", metavar="A;B", help="Where networks play, or all; see the table's names.")
    ] = "all",
    held_out: Annotated[
        int,
        typer.Option(
            "--held-out",
            parser=integer("--held-out", low=1, high=MAX_HELD_OUT),
            metavar="N",
            help="Instances of each topology.",
        ),
    ] = 20,
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            parser=integer("--workers", low=1, high=MAX_WORKERS),
            metavar="N",
            help="Processes, a core each.",
        ),
    ] = 1,
    set_: opt.SET = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per training and instance.")
    ] = None,
    markdown: opt.MARKDOWN = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Curves to draw: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Train ablations of the multi-agent policy: 80 trainings unless told otherwise, a day or more."""
    check_outputs([], [csv, markdown], figure=figure)
    from heuristics.jobs.marl.training.settings import TrainingSettings
    from studies.cli.parameters import set_parameters
    from studies.cli.progress import RunProgress
    from studies.papers.marl_ablations import (
        ABLATIONS,
        ablations_figure,
        ablations_named,
        ablations_tables,
        topologies_named,
    )
    from studies.papers.marl_ablations import marl_ablations as run_ablations

    given = set_parameters("marl", TrainingSettings, set_ or [], without=["updates"])
    places = {"updates": "--updates", "only": "--only", "topologies": "--topologies"}
    with options(places | {name: f"--set {name}" for name in given}, "marl-ablations"):
        base = TrainingSettings(**{**given, **({} if updates is None else {"updates": updates})})
        chosen = ABLATIONS if only is None else ablations_named(only)
        where = topologies_named(topologies)
    with options({}, "marl-ablations"), writing(out), RunProgress() as progress:
        study = run_ablations(
            chosen,
            where,
            out,
            base=base,
            seeds=seeds,
            held_out=held_out,
            workers=workers,
            on_run=progress.update,
        )
    tables = ablations_tables(study)
    write_output(csv, lambda path: study.frame.to_csv(path, index=False))
    write_text_output(markdown, lambda: "\n".join(table.to_markdown() for table in tables))
    write_figure(figure, lambda: ablations_figure(study), bbox_inches="tight")
    if as_json:
        import json

        runs = json.loads(study.frame.to_json(orient="records", double_precision=15))
        print_json({"tables": [table.to_dict() for table in tables], "seconds": study.seconds, "runs": runs})
    else:
        print_text("\n\n".join(table.to_text() for table in tables))


MAX_SERVERS, MAX_AGENTS, MAX_DECISIONS = 10_000, 2_500, 320
"""Horizons of larger clusters leave the integers; the last is that of `measure_decisions`."""


def decision_latency_command(
    servers: Annotated[
        str, typer.Option("--servers", metavar="M,N", help="Numbers of servers of 8 GPUs, 4 to a rack.")
    ] = "100,1000,1250,10000",
    agents: Annotated[
        str, typer.Option("--agents", metavar="A,B", help="Numbers of agents; each owns at least a rack.")
    ] = "1,2,4,8,16",
    decisions: Annotated[
        int,
        typer.Option(
            "--decisions",
            parser=integer("--decisions", low=1, high=MAX_DECISIONS),
            metavar="N",
            help="Decisions to measure of each pair.",
        ),
    ] = 200,
    seed: opt.SEED = 0,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per pair with all measures.")
    ] = None,
    markdown: opt.MARKDOWN = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Figure to draw: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Measure how long the multi-agent policy takes for a decision."""
    check_outputs([], [csv, markdown], figure=figure)
    read_servers = integer("--servers", low=1, high=MAX_SERVERS)
    read_agents = integer("--agents", low=1, high=MAX_AGENTS)
    sizes = [read_servers(part.strip()) for part in servers.split(",")]
    numbers = [read_agents(part.strip()) for part in agents.split(",")]
    from studies.cli.progress import RunProgress
    from studies.papers.decision_latency import (
        decision_latency_csv,
        decision_latency_figure,
        decision_latency_markdown,
        decision_latency_study,
        decision_latency_text,
    )

    places = {"servers": "--servers", "agents": "--agents", "decisions": "--decisions"}
    with options(places, "decision-latency"), RunProgress() as progress:
        study = decision_latency_study(sizes, numbers, decisions=decisions, seed=seed, on_size=progress.update)
    write_text_output(csv, lambda: decision_latency_csv(study))
    write_text_output(markdown, lambda: decision_latency_markdown(study))
    write_figure(figure, lambda: decision_latency_figure(study))
    if as_json:
        from dataclasses import asdict

        print_json(
            {"seed": seed, "is_within_limit": study.is_within_limit, "rows": [asdict(row) for row in study.rows]}
        )
    else:
        print_text(decision_latency_text(study))


MAX_PLACEMENTS, MAX_PAIRS, MAX_RESAMPLES = 5_000, 10_000_000, 100_000
"""Beyond, tables of distances fill the memory, or nobody waits for the end."""


def plan_distance_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Instances; default 40 generated ones, see --gpus."),
    ] = None,
    gpus: Annotated[
        str,
        typer.Option("--gpus", metavar="KIND", help="Of generated instances: clusters (of four kinds) or unrelated."),
    ] = "clusters",
    seed: opt.SEED = 0,
    placements: Annotated[
        int,
        typer.Option(
            "--placements",
            parser=integer("--placements", low=2, high=MAX_PLACEMENTS),
            metavar="N",
            help="Per instance.",
        ),
    ] = 300,
    pairs: Annotated[
        int,
        typer.Option("--pairs", parser=integer("--pairs", low=2, high=MAX_PAIRS), metavar="N", help="Per instance."),
    ] = 4000,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            parser=integer("--resamples", low=1, high=MAX_RESAMPLES),
            metavar="N",
            help="For intervals and control.",
        ),
    ] = 200,
    order: Annotated[str, typer.Option("--order", metavar="ORDER", help="Of placing: rank or index.")] = "rank",
    no_insertion: Annotated[
        bool, typer.Option("--no-insertion", help="Append tasks; with --order index the published timing.")
    ] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="CSV to write, a row per instance and distance.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Figure to write: .png, .pdf or .svg.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Correlate plan distance and finish time gap of random placements."""
    check_outputs(files or [], [csv], figure=figure)
    from studies.cli.progress import RunProgress
    from studies.papers.plan_distance import (
        plan_distance_figure,
        plan_distance_instances,
        plan_distance_study,
        plan_distance_text,
    )

    def instances() -> "Iterator[DagInstance]":
        from instances.dag.json import read_dag_instance

        for file in files or []:
            with reading(file):
                yield read_dag_instance(file)

    with options({"gpus": "--gpus", "order": "--order"}, "plan-distance"), RunProgress() as progress:
        chosen = list(instances() if files else plan_distance_instances(gpus, seed))
        begun: list[str] = []

        def on_instance(name: str) -> None:
            progress.update(name, len(begun), len(chosen))
            begun.append(name)

        table = plan_distance_study(
            chosen,
            seed=seed,
            placements=placements,
            pairs=pairs,
            resamples=resamples,
            order=order,
            insertion=not no_insertion,
            on_instance=on_instance,
        )
    write_output(csv, lambda path: table.to_frame().to_csv(path, index=False))
    write_figure(figure, lambda: plan_distance_figure(table), dpi=200)
    if as_json:
        print_json(table.to_dict())
    else:
        print_text(plan_distance_text(table))
