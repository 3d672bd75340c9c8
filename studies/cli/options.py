"""Arguments and options that several commands share, and how their texts become values."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from instances.spelling import did_you_mean
from studies.input import BadInputError, options, quoted
from studies.options import Names, OptionSpec, integer, number, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from instances.clusters.cluster import Cluster
    from instances.clusters.cost_model import CostModel


def command_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that Typer turns into a command: one parameter per option where `function` takes a dataclass.

    The options of a dataclass are the fields that `studies.options.option` made and those annotated for Typer, such as
    ``seed: SEED = 0``; other fields keep their defaults. Parameters that are no dataclasses stay as they are.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            own = list(_option_parameters(parameter.annotation))
            groups[name] = parameter.annotation, [each.name for each in own]
            parameters += own
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def command(**values: Any) -> Any:
        from studies.cli.progress import CommandProgress

        made = {name: kind(**{each: values.pop(each) for each in own}) for name, (kind, own) in groups.items()}
        with CommandProgress(function.__name__.removesuffix("_command").replace("_", " ")):
            return function(**made, **values)

    command.__doc__, command.__name__ = function.__doc__, function.__name__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what `inspect` looks for
    return command


def _option_parameters(group: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter for every option of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    for each in fields(group):
        annotation, spec = hints[each.name], each.metadata.get("option")
        if spec is not None:
            annotation = Annotated[annotation, _typer_option(each.name, annotation, spec)]
        if get_origin(annotation) is Annotated:
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typer_option(name: str, annotation: Any, spec: OptionSpec) -> Any:
    """Return what Typer calls an option or an argument."""
    flag = flag_of(name, spec)
    kinds = set(get_args(annotation)) or {annotation}
    metavar, parse = spec.metavar, spec.parse
    if parse is None and int in kinds:
        parse = integer(flag, low=spec.low, high=spec.high)
        metavar = metavar or "N"
    elif parse is None and float in kinds:
        low = spec.low if spec.above is None else spec.above
        parse = number(flag, low=low, high=spec.high, low_is_allowed=spec.above is None)
        metavar = metavar or "X"
    elif Path in kinds:
        metavar = metavar or "FILE"
    given: dict[str, Any] = {"metavar": metavar, "help": spec.help, "parser": parse}
    if spec.names is not None:
        given |= spec.names.given(flag)
    if spec.is_argument:
        return typer.Argument(**given)
    return typer.Option(*([flag] if spec.short is None else [flag, spec.short]), **given)


def flag_of(name: str, spec: OptionSpec) -> str:
    """Return an option as it is typed, such as ``--mean-ticks``, or the placeholder of an argument."""
    if spec.is_argument:
        return spec.metavar or name.upper()
    return spec.flag or f"--{name.replace('_', '-')}"


def objective(text: str) -> str:
    """Read the name of an objective of either problem; hyphens stand for underscores."""
    from instances.dag.objective import Objective
    from instances.jobs.objective import JobsObjective

    name = text.replace("-", "_")
    if name not in [*Objective, *JobsObjective]:
        expected = f"one of {', '.join(Objective)}, for jobs {' or '.join(JobsObjective)}"
        hint = did_you_mean(name, [*Objective, *JobsObjective])
        raise BadInputError(f"--objective: expected {expected}, got {quoted(text)}{hint}.")
    return name


def method(text: str) -> str:
    """Read the name of a method of either problem."""
    from solvers.problem import DAG, JOBS

    if text not in JOBS.methods:
        try:
            DAG.method_named(text)
        except ValueError as error:
            raise BadInputError(f"--{error}") from error
    return text


def cluster_text(text: str) -> str:
    """Check the text of a cluster and return it."""
    cluster(text)
    return text


def cluster(text: str | None) -> Cluster | None:
    """Read a cluster: a preset or a text such as ``2xV100-16GB+1xT4,4xP100``; None stays None."""
    from instances.clusters.cluster import parse_cluster

    if text is None:
        return None
    try:
        return parse_cluster(text)
    except ValueError as error:
        _, _, message = str(error).partition(": ")
        raise BadInputError(f"--gpus: {message}") from error


MAX_THREADS = 1024
"""That of `solvers.check_arguments`, which is not imported here: help answers at once."""

MAX_TASKS = 1_000_000
"""Most tasks that may be asked for; more is a slip of the finger."""

INSTANCE = Annotated[
    Path, typer.Argument(metavar="FILE", help="Instance, a JSON file of format optgap/dag or optgap/jobs.")
]
AS_JSON = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
WIDE = Annotated[bool, typer.Option("--wide", help="Show every column of tables, each row on one line.")]
SEED = Annotated[
    int, typer.Option("--seed", parser=integer("--seed", low=0), metavar="N", help="Seed of everything random.")
]
THREADS = Annotated[
    int | None,
    typer.Option(
        "--threads",
        parser=integer("--threads", low=1, high=MAX_THREADS),
        metavar="T",
        help="Threads of exact methods; default all cores; more than 64 and all cores are not used.",
    ),
]
TIME_LIMIT = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        parser=number("--time-limit", low_is_allowed=False),
        metavar="SECONDS",
        help="Time for the method, or for all bounds together; without it an exact method runs until it has a proof.",
    ),
]
OBJECTIVE = Annotated[
    str | None,
    typer.Option(
        "--objective",
        parser=objective,
        autocompletion=Names("instances.dag.objective:Objective", "instances.jobs.objective:JobsObjective").complete,
        metavar="NAME",
        help="makespan (default), weighted_completion or stage_span; for jobs total_completion (default) or "
        "weighted_completion.",
    ),
]
METHOD = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        parser=method,
        autocompletion=Names("solvers.methods:METHODS", "solvers.methods:JOBS_METHODS").complete,
        metavar="NAME",
        help="One that `optgap methods` lists.",
    ),
]
AGAINST = Annotated[
    str | None,
    typer.Option(
        "--against",
        **Names("solvers.problem:DAG.exact_methods").given("--against"),
        metavar="EXACT",
        help="Exact method that bounds the instance first, within the time limit; the gap is to what it proves.",
    ),
]
CERTIFICATE = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="Proof of a bound to write, which check_certificate.py checks without this package.",
    ),
]
BOUND_METHODS = Annotated[
    str | None,
    typer.Option(
        "--methods",
        **Names("solvers.problem:DAG.known_bounds", "solvers.problem:JOBS.known_bounds", separator=",").given(
            "--methods"
        ),
        metavar="A,B",
        help="Bounds and exact methods; default all bounds without search.",
    ),
]
CONFIRM = Annotated[
    bool, typer.Option("--confirm", help="Ask a second model to refute that a schedule below the proven bound exists.")
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
        **Names("instances.dag.contention:Contention").given("--contention"),
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
        parser=cluster_text,
        autocompletion=Names("instances.clusters.cluster:CLUSTER_PRESETS").complete,
        metavar="CLUSTER",
        help="Preset, or servers separated by commas such as 2xV100-16GB+1xT4,4xP100; 64*8xT4 for 64 like ones.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Options of the cost model, see `CostModel`; None leaves a parameter at its default."""

    ccr: float | None = option(None, "Mean transfer delay over mean duration.", low=0, high=1e6)
    heterogeneity: float | None = option(
        None, "Standard deviation of the logarithmic noise on each (task, kind).", low=0, high=10
    )
    consistency: float | None = option(None, "Share of tasks for which the kinds rank alike.", low=0, high=1)
    memory_tightness: float | None = option(
        None, "Memory of all tasks over that of all GPUs, from 0.001; 0 drops the limits.", low=0, high=1
    )
    forbidden: float | None = option(None, "Share of (task, kind) pairs that are not allowed.", low=0, high=1)
    tick_seconds: float | None = option(
        None, "Length of a tick; default from --mean-ticks.", metavar="SECONDS", low=1e-12, high=1e6
    )
    mean_ticks: float | None = option(
        None, "Mean duration in ticks, from which the length of a tick follows.", low=1, high=1e9
    )

    def given(self) -> dict[str, float]:
        """Return the options that were given."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def model(self) -> CostModel | None:
        """Return the cost model, None if no option was given.

        Raises a `BadInputError` if both the tick and the mean number of ticks are given, or a value is out of range.
        """
        if self.tick_seconds is not None and self.mean_ticks is not None:
            raise BadInputError("--mean-ticks: expected nothing beside --tick-seconds, which fixes the tick.")
        if self.memory_tightness is not None and 0.0 < self.memory_tightness < MIN_TIGHTNESS:
            expected = f"0 or a number in {MIN_TIGHTNESS:g}..1"
            raise BadInputError(f"--memory-tightness: expected {expected}, got {self.memory_tightness:g}.")
        given: dict[str, Any] = self.given()
        if not given:
            return None
        from instances.clusters.cost_model import CostModel

        with options({name: f"--{name.replace('_', '-')}" for name in given}, "cost model"):
            return CostModel(**given)


MIN_TIGHTNESS = 1e-3
"""With less, no task would ever feel the limit, and capacities could leave the range of integers."""
