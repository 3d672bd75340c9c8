"""Command `study actor-critic`: the decentralised actor-critic, printed and repaired, on its grid world."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import options, reading
from studies.command_line.option_types import integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_figure, write_output, write_text_output
from studies.commands import options as opt

if TYPE_CHECKING:
    import pandas as pd

MAX_SEEDS, MAX_STEPS = 1000, 100_000_000
"""More are a slip of the finger."""


def actor_critic(
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
    from studies.actor_critic.actor_critic_figure import actor_critic_figure
    from studies.actor_critic.actor_critic_study import actor_critic_study
    from studies.actor_critic.actor_critic_text import actor_critic_markdown, actor_critic_text
    from studies.actor_critic.stored_runs import REWARDS, read_runs, write_runs
    from studies.actor_critic.variant import variants_named
    from studies.command_line.run_progress import RunProgress

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
    write_text_output(markdown, lambda: actor_critic_markdown(study))
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
        print_text(actor_critic_text(study))
