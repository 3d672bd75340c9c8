"""Command `study adversary`: small instances on which a heuristic does worst."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.cli import options as opt
from studies.cli.output import note, print_json, print_text
from studies.cli.running_methods import chosen_objective
from studies.input import BadInputError, options, reading, writing
from studies.options import Names, option

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from studies.adversary.ratio import Contestant
    from studies.adversary.run import AdversarySettings


MAX_STEPS, MAX_TASKS, MAX_DURATION = 1_000_000, 30, 10**6
"""With more, nobody waits for the end, optima are not proven in a moment, or weights leave the integers."""


HEURISTICS = Names("solvers.methods:METHODS", is_open=True)
"""Registered methods; a function of one's own may be named too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestOptions:
    """What is measured, and against what."""

    method: str | None = option(
        None,
        "Heuristic: a registered name, or MODULE:FUNCTION.",
        metavar="[METHOD]",
        is_argument=True,
        names=HEURISTICS,
    )
    against: str | None = option(
        None, "Another heuristic to be worse than; default the optimum.", metavar="METHOD", names=HEURISTICS
    )
    objective: opt.OBJECTIVE = None
    evaluations: int = option(50, "Budget of methods that search, in schedules built.", metavar="E", low=1)
    set_: opt.SET = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """Instances that the search starts from."""

    start: Path | None = option(None, "Instance to start from; default random ones.", file="read")
    family: str = option(
        "layered",
        "Family of the random instances; see `optgap generate --list`.",
        metavar="NAME",
        names=Names("instances.generators.dag.generate:FAMILIES"),
    )
    tasks: int = option(8, "Number of tasks of the random instances.", low=1, high=MAX_TASKS)
    gpus: opt.GPUS = None
    ccr: float | None = option(None, "Mean transfer delay over mean duration.", low=0, high=1e6)
    max_duration: int | None = option(
        None, "Durations are 1 to this; default 20, or the longest of FILE.", metavar="TICKS", low=1, high=MAX_DURATION
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How the search goes."""

    changes: str = option(
        "durations,data,edges",
        "What is changed: durations, data, edges, links, memory.",
        metavar="A,B",
        names=Names("studies.adversary.search_space:CHANGES", separator=","),
    )
    steps: int = option(1000, "Steps of each search.", low=1, high=MAX_STEPS)
    searches: int = option(1, "Number of searches, each from a start of its own.", low=1, high=MAX_STEPS)
    hot: float = option(0.1, "First temperature, in units of the ratio.", metavar="T", above=0)
    cold: float = option(0.005, "Last temperature; geometric between the two.", metavar="T", above=0)
    seed: opt.SEED = 0
    limit: float = option(
        20.0, "Deterministic time of each proof; an instance whose optimum takes longer is turned down.", above=0
    )
    random: int = option(30, "Number of random instances to compare with.", low=0, high=MAX_STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateOptions:
    """Where the worst case is stored, and how it is checked."""

    out: Path | None = option(None, "Folder for certificate, schedules, trace and figure.", metavar="DIR")
    confirm_time_limit: float = option(
        60.0,
        "Time for a second model at the end, or for the proof with --verify; 0 asks no second model.",
        metavar="SECONDS",
        low=0,
    )
    verify: Path | None = option(None, "Check the certificate in this folder instead.", metavar="DIR")


def adversary_command(
    contest: ContestOptions,
    start: StartOptions,
    search: SearchOptions,
    certificate: CertificateOptions,
    as_json: opt.AS_JSON = False,
) -> int:
    """Search small instances on which a heuristic does worst."""
    method, out = contest.method, certificate.out
    if certificate.verify is not None:
        if method is not None or out is not None:
            raise BadInputError("--verify: expected neither METHOD nor --out with it.")
        return _verify(certificate.verify, certificate.confirm_time_limit, as_json)
    rival = None
    if contest.against is not None:
        rival = _contestant(contest.against, "--against", search.seed, contest.evaluations, [])
    if method is None:
        raise BadInputError("METHOD: expected one, got nothing.")
    heuristic = _contestant(method, "METHOD", search.seed, contest.evaluations, contest.set_ or [])
    if out is None:
        raise BadInputError("--out: expected one, got nothing.")
    from studies.adversary.run import adversary_text, run_adversary
    from studies.cli.progress import RunProgress

    instance = None
    if start.start is not None:
        from instances.dag.json import read_dag_instance

        with reading(start.start):
            instance = read_dag_instance(start.start)
    flags = {name: f"--{name}" for name in ("changes", "family", "tasks", "hot", "cold")}
    flags |= {"out": str(out), "cluster": "--gpus", "max_duration": "--max-duration"}
    with writing(out), options(flags, method):
        settings = _settings(heuristic, rival, instance, contest.objective, start, search, certificate)
        with RunProgress() as progress:
            outcome = run_adversary(settings, out, progress.update)
    if outcome.certificate is None and outcome.is_interrupted:
        raise KeyboardInterrupt
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


def _settings(
    heuristic: "Contestant",
    rival: "Contestant | None",
    instance: "DagInstance | None",
    objective: str | None,
    start: StartOptions,
    search: SearchOptions,
    certificate: CertificateOptions,
) -> "AdversarySettings":
    """Return the settings that the options describe."""
    from instances.dag.objective import Objective
    from solvers.problem import DAG
    from studies.adversary.random_family import RandomFamily
    from studies.adversary.run import AdversarySettings
    from studies.adversary.search import Cooling

    given = {"gpus": start.gpus, "ccr": start.ccr, "max_duration": start.max_duration}
    family: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return AdversarySettings(
        heuristic=heuristic,
        rival=rival,
        objective=Objective(chosen_objective(DAG, objective)),
        family=RandomFamily(family=start.family, tasks=start.tasks, **family),
        start=instance,
        changes=tuple(name.strip() for name in search.changes.split(",")),
        max_duration=start.max_duration,
        searches=search.searches,
        cooling=Cooling(hot=search.hot, cold=search.cold, steps=search.steps),
        seed=search.seed,
        limit=search.limit,
        random_count=search.random,
        confirm_seconds=certificate.confirm_time_limit,
    )


def _contestant(method: str, place: str, seed: int, evaluations: int, texts: list[str]) -> "Contestant":
    """Return a heuristic with the parameters that are given as texts."""
    from solvers.problem import DAG
    from studies.adversary.ratio import Contestant
    from studies.experiment.checked_method import method_of
    from studies.parameters import set_parameters

    with options({"method": place}, place):
        parameters: dict[str, Any] = {}
        if texts:
            function = DAG.resolve_method(method_of(method))[1]
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
