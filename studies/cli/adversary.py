"""Command `study adversary`: small instances on which a heuristic does worst."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.cli import options as opt
from studies.cli.input import BadInputError, options, reading, writing
from studies.cli.options import dag_objective, integer, number
from studies.cli.output import note, print_json, print_text

if TYPE_CHECKING:
    from studies.adversary.ratio import Contestant


MAX_STEPS, MAX_TASKS, MAX_DURATION = 1_000_000, 30, 10**6
"""Beyond, nobody waits for the end, optima are not proven in a moment, or weights leave the integers."""


def adversary_command(
    method: Annotated[
        str | None, typer.Argument(metavar="[METHOD]", help="Heuristic: a registered name, or MODULE:FUNCTION.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for certificate, schedules, trace and figure.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="METHOD", help="Another heuristic to be worse than; default the optimum."),
    ] = None,
    objective: opt.OBJECTIVE = None,
    start: Annotated[
        Path | None, typer.Option("--start", metavar="FILE", help="Instance to start from; default random ones.")
    ] = None,
    family: Annotated[
        str, typer.Option("--family", metavar="NAME", help="Of the random ones; see `optgap generate --list`.")
    ] = "layered",
    tasks: Annotated[
        int, typer.Option("--tasks", parser=integer("--tasks", low=1, high=MAX_TASKS), metavar="N", help="Of these.")
    ] = 8,
    gpus: opt.GPUS = None,
    ccr: opt.CCR = None,
    changes: Annotated[
        str,
        typer.Option("--changes", metavar="A,B", help="What is changed: durations, data, edges, links, memory."),
    ] = "durations,data,edges",
    max_duration: Annotated[
        int | None,
        typer.Option(
            "--max-duration",
            parser=integer("--max-duration", low=1, high=MAX_DURATION),
            metavar="TICKS",
            help="Durations are 1 to this; default 20, or the longest of FILE.",
        ),
    ] = None,
    steps: Annotated[
        int,
        typer.Option(
            "--steps", parser=integer("--steps", low=1, high=MAX_STEPS), metavar="N", help="Steps of each search."
        ),
    ] = 1000,
    searches: Annotated[
        int,
        typer.Option(
            "--searches",
            parser=integer("--searches", low=1, high=MAX_STEPS),
            metavar="N",
            help="One per start.",
        ),
    ] = 1,
    hot: Annotated[
        float,
        typer.Option(
            "--hot", parser=number("--hot", low_is_allowed=False), metavar="T", help="First temperature, as a ratio."
        ),
    ] = 0.1,
    cold: Annotated[
        float,
        typer.Option(
            "--cold", parser=number("--cold", low_is_allowed=False), metavar="T", help="Last one; geometric between."
        ),
    ] = 0.005,
    evaluations: Annotated[
        int,
        typer.Option("--evaluations", parser=integer("--evaluations", low=1), metavar="E", help="Budget of searches."),
    ] = 50,
    set_: opt.SET = None,
    seed: opt.SEED = 0,
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            parser=number("--limit", low_is_allowed=False),
            metavar="X",
            help="Deterministic time of each proof; what is not proven within is turned down.",
        ),
    ] = 20.0,
    random: Annotated[
        int,
        typer.Option(
            "--random", parser=integer("--random", low=0, high=MAX_STEPS), metavar="N", help="Random ones to compare."
        ),
    ] = 30,
    confirm_time_limit: Annotated[
        float,
        typer.Option(
            "--confirm-time-limit",
            parser=number("--confirm-time-limit"),
            metavar="SECONDS",
            help="For a second model at the end, or for the proof with --verify; 0 asks no second model.",
        ),
    ] = 60.0,
    verify: Annotated[
        Path | None, typer.Option("--verify", metavar="DIR", help="Check a stored certificate instead.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> int:
    """Search small instances on which a heuristic does worst."""
    if verify is not None:
        if method is not None or out is not None:
            raise BadInputError("--verify: expected neither METHOD nor --out beside it.")
        return _verify(verify, confirm_time_limit, as_json)
    if method is None or out is None:
        raise BadInputError(f"{'METHOD' if method is None else '--out'}: expected one, got nothing.")
    from instances.dag.objective import Objective
    from studies.adversary.random_family import RandomFamily
    from studies.adversary.run import AdversarySettings, adversary_text, run_adversary
    from studies.adversary.search import Cooling
    from studies.cli.options import cluster
    from studies.cli.progress import RunProgress

    cluster(gpus)
    heuristic = _contestant(method, "METHOD", seed, evaluations, set_ or [])
    rival = None if against is None else _contestant(against, "--against", seed, evaluations, [])
    instance = None
    if start is not None:
        from instances.dag.json import read_dag_instance

        with reading(start):
            instance = read_dag_instance(start)
    names = {
        "out": str(out),
        "changes": "--changes",
        "family": "--family",
        "tasks": "--tasks",
        "hot": "--hot",
        "cold": "--cold",
    }
    with writing(out), options({**names, "cluster": "--gpus", "max_duration": "--max-duration"}, method):
        given = RandomFamily()
        settings = AdversarySettings(
            heuristic=heuristic,
            rival=rival,
            objective=Objective(dag_objective(objective)),
            family=RandomFamily(
                family=family,
                tasks=tasks,
                gpus=gpus or given.gpus,
                ccr=given.ccr if ccr is None else ccr,
                max_duration=max_duration or given.max_duration,
            ),
            start=instance,
            changes=tuple(name.strip() for name in changes.split(",")),
            max_duration=max_duration,
            searches=searches,
            cooling=Cooling(hot=hot, cold=cold, steps=steps),
            seed=seed,
            limit=limit,
            random_count=random,
            confirm_seconds=confirm_time_limit,
        )
        with RunProgress() as progress:
            outcome = run_adversary(settings, out, progress.update)
    if outcome.certificate is None:
        raise BadInputError(f"{method}: expected a start with a schedule and a proven optimum, got none; see {out}.")
    if outcome.is_interrupted:
        note(f"{out}: interrupted; what was found until then is kept.")
    if as_json:
        document = outcome.certificate.to_dict()
        for name in ("instance", "schedules"):
            del document[name]
        print_json({"folder": str(out), "is_interrupted": outcome.is_interrupted, **document})
    else:
        print_text(adversary_text(outcome.certificate, outcome, settings.space(), out))
    return 0


def _contestant(method: str, place: str, seed: int, evaluations: int, texts: list[str]) -> "Contestant":
    """Return a heuristic with the parameters that are given as texts."""
    from solvers.methods import resolve_method
    from studies.adversary.ratio import Contestant
    from studies.cli.parameters import set_parameters
    from studies.experiment.checked_method import method_of

    with options({"method": place}, place):
        parameters: dict[str, Any] = {}
        if texts:
            function = resolve_method(method_of(method))[1]
            parameters = set_parameters(method, function, texts, without=["contention"])
        return Contestant(method=method, seed=seed, evaluations=evaluations, parameters=parameters)


def _verify(folder: Path, time_limit: float, as_json: bool) -> int:
    """Check a certificate; exit status 1 where something in it does not hold."""
    from studies.adversary.certificate import CERTIFICATE, DEFAULT_SECONDS, check_certificate

    path = folder / CERTIFICATE
    with reading(path):
        problems = check_certificate(folder, time_limit=time_limit or DEFAULT_SECONDS)
    if as_json:
        print_json({"folder": str(folder), "holds": not problems, "problems": problems})
    else:
        print_text(
            "\n".join(problems)
            if problems
            else f"{folder}: everything in the certificate that can be computed again holds."
        )
    return 1 if problems else 0
