"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from studies.command_line.option_types import contention, exact_method, integer, method, number, objective

MAX_THREADS = 1024
"""That of `solvers.check_arguments`, which is not imported here: help answers at once."""

MAX_TASKS = 1_000_000
"""Most tasks that may be asked for; more is a slip of the finger."""

INSTANCE = Annotated[
    Path, typer.Argument(metavar="FILE", help="Instance, a JSON file of format optgap/dag or optgap/jobs.")
]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
SEED = Annotated[
    int, typer.Option("--seed", parser=integer("--seed", low=0), metavar="N", help="Seed of everything random.")
]
THREADS = Annotated[
    int | None,
    typer.Option(
        "--threads",
        parser=integer("--threads", low=1, high=MAX_THREADS),
        metavar="T",
        help="Threads of exact methods; default all cores.",
    ),
]
TIME_LIMIT = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=number("--time-limit", low_is_allowed=False),
        metavar="SECONDS",
        help="Time for the method; without it an exact method runs until it has a proof.",
    ),
]
OBJECTIVE = Annotated[
    str | None,
    typer.Option(
        "--objective",
        parser=objective,
        metavar="NAME",
        help="makespan (default) or weighted_completion; for jobs total_completion (default) or weighted_completion.",
    ),
]
METHOD = Annotated[
    str, typer.Option("--method", "-m", parser=method, metavar="NAME", help="One that `optgap methods` lists.")
]
AGAINST = Annotated[
    str | None,
    typer.Option(
        "--against",
        parser=exact_method,
        metavar="EXACT",
        help="Exact method that bounds the instance first, within the time limit; the gap is to what it proves.",
    ),
]
BOUND_METHODS = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="A,B",
        help="Bounds and exact methods; default all bounds without search.",
    ),
]
CONFIRM = Annotated[
    bool,
    typer.Option("--confirm", help="Ask a second model to refute that a schedule below the proven bound exists."),
]
CONFIRM_TIME_LIMIT = Annotated[
    float | None,
    typer.Option(
        "--confirm-time-limit",
        parser=number("--confirm-time-limit", low_is_allowed=False),
        metavar="SECONDS",
        help="Time for that; default that of --time-limit, 60 without it.",
    ),
]
CONTENTION = Annotated[
    str,
    typer.Option(
        "--contention",
        parser=contention,
        metavar="RULE",
        help="none, or nic: transfers between servers go one after the other on each side of their interfaces.",
    ),
]
MARKDOWN = Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="Markdown table to write.")]
OUTPUT = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Instance to write.")]
SET = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Parameter beyond the options; may be given several times."),
]
GPUS = Annotated[
    str | None,
    typer.Option(
        "--gpus",
        metavar="CLUSTER",
        help="Preset, or servers separated by commas such as 2xV100-16GB+1xT4,4xP100; 64*8xT4 for 64 like ones.",
    ),
]
CCR = Annotated[
    float | None,
    typer.Option(
        "--ccr", parser=number("--ccr", high=1e6), metavar="X", help="Mean transfer delay over mean duration."
    ),
]
HETEROGENEITY = Annotated[
    float | None,
    typer.Option(
        "--heterogeneity",
        parser=number("--heterogeneity", high=10.0),
        metavar="X",
        help="Deviation of the noise on each (task, kind) in logarithms.",
    ),
]
CONSISTENCY = Annotated[
    float | None,
    typer.Option(
        "--consistency",
        parser=number("--consistency", high=1.0),
        metavar="X",
        help="Share of tasks for which the kinds rank alike.",
    ),
]
MEMORY_TIGHTNESS = Annotated[
    float | None,
    typer.Option(
        "--memory-tightness",
        parser=number("--memory-tightness", high=1.0),
        metavar="X",
        help="Memory of all tasks over that of all GPUs, from 0.001; 0 drops the limits.",
    ),
]
FORBIDDEN = Annotated[
    float | None,
    typer.Option(
        "--forbidden",
        parser=number("--forbidden", high=1.0),
        metavar="X",
        help="Share of (task, kind) pairs that are not allowed.",
    ),
]
TICK_SECONDS = Annotated[
    float | None,
    typer.Option(
        "--tick-seconds",
        parser=number("--tick-seconds", low=1e-12, high=1e6),
        metavar="SECONDS",
        help="Length of a tick; default from --mean-ticks.",
    ),
]
MEAN_TICKS = Annotated[
    float | None,
    typer.Option(
        "--mean-ticks",
        parser=number("--mean-ticks", low=1.0, high=1e9),
        metavar="X",
        help="Mean duration in ticks, from which the tick follows.",
    ),
]
