"""Command `study decision-latency`: how long agents take for a decision, by servers and agents."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.bad_input import options
from studies.command_line.option_types import integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_outputs
from studies.command_line.write_output import write_figure, write_text_output
from studies.commands import options as opt

MAX_SERVERS, MAX_AGENTS, MAX_DECISIONS = 10_000, 2_500, 320
"""Horizons of larger clusters leave the integers; the last is that of `measure_decisions`."""


def decision_latency(
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
    from studies.command_line.run_progress import RunProgress
    from studies.decision_latency.decision_latency_figure import decision_latency_figure
    from studies.decision_latency.decision_latency_study import decision_latency_study
    from studies.decision_latency.decision_latency_text import (
        decision_latency_csv,
        decision_latency_markdown,
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
