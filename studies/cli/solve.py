"""Command `solve`: one method on one instance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.cli import options as opt
from studies.cli.output import check_outputs, check_suffix, note, print_json, print_text
from studies.cli.running_methods import (
    ProofOptions,
    RunOptions,
    chosen_objective,
    note_unused_threads,
    problem_of_file,
    refuse_given,
    write_certificate,
)
from studies.input import BadInputError, options, reading, writing
from studies.options import integer
from studies.text import aligned

if TYPE_CHECKING:
    from solvers.problem import Problem


def solve_command(
    *,
    file: opt.INSTANCE,
    method: opt.METHOD = "cp-sat",
    run: RunOptions,
    evaluations: Annotated[
        int | None,
        typer.Option(
            "--evaluations",
            parser=integer("--evaluations", low=1),
            metavar="E",
            help="Budget of a search in schedules built; runs with it can be repeated bit for bit.",
        ),
    ] = None,
    against: opt.AGAINST = None,
    proof: ProofOptions,
    set_: opt.SET = None,
    schedule_out: Annotated[
        Path | None, typer.Option("--schedule-out", metavar="FILE", help="Schedule to write, as JSON.")
    ] = None,
    gantt: Annotated[
        Path | None, typer.Option("--gantt", metavar="FILE", help="Gantt chart to write, .svg or .png.")
    ] = None,
    as_json: opt.AS_JSON = False,
) -> None:
    """Run one method on one instance (Ctrl-C: best so far)."""
    from heuristics.search.stop_criteria import MaxEvaluations
    from solvers.check_arguments import check_parameters
    from solvers.lower_bound import lower_bound
    from solvers.run.bound import best_bound
    from solvers.solve import solve
    from studies.cli.progress import LiveProgress

    problem = problem_of_file(file)
    note_unused_threads(run.threads)
    common: dict[str, Any] = {"objective": chosen_objective(problem, run.objective), "contention": proof.contention}
    limits: dict[str, Any] = {"time_limit": run.time_limit, "threads": run.threads, "seed": run.seed}
    parameters = _parameters(problem, method, set_ or [], evaluations, proof)
    check_suffix(gantt, (".svg", ".png"))
    check_outputs([file], [schedule_out, gantt, proof.certificate])
    with reading(file):
        instance = problem.codec.read_instance(file)
    registered = problem.method_named(method)
    places = {"contention": "--contention"} | {name: f"--set {name}" for name in parameters}
    with options(places, method), LiveProgress("bounding") as progress:
        check_parameters(registered.resolve(), method, parameters)
        names = problem.bounds_beside(registered.kind, instance, **common)
        bounds = lower_bound(instance, methods=names, time_limit=run.time_limit, **common).unless_interrupted()
        if against is not None:  # an exact method proves the bound first
            progress.doing = against
            proven = lower_bound(instance, methods=[against], **common, **limits)
            if proven.infeasible_by:
                note(f"{against}: no schedule exists, the instance is infeasible.")
            for name, why in proven.failures.items():
                note(f"{name}: failed. {why}")
            bounds += proven.unless_interrupted()
        best = best_bound(bounds)
        progress.lower_bound = None if best is None else best.value
        progress.doing, progress.then = method, "confirmation" if proof.confirm else None
        result = solve(
            instance,
            method,
            stop=None if evaluations is None else MaxEvaluations(evaluations),
            callback=progress,
            bounds=bounds,
            confirm=proof.confirm,
            confirm_time_limit=proof.confirm_time_limit,
            **common,
            **limits,
            **parameters,
        )
    if (
        result.schedule is None
        and not result.is_infeasible
        and registered.kind in ("construction", "search")
        and result.termination in ("finished", "evaluations")
    ):
        note(f"{method}: found no schedule within the memory limits; cp-sat says whether one exists.")
    for path, write in ((schedule_out, problem.codec.write_schedule), (gantt, problem.write_gantt)):
        if path is not None and result.schedule is None:
            note(f"{path}: not written, as no schedule was found.")
        elif path is not None:
            with writing(path):
                write(instance, result.schedule, path)
    write_certificate(proof.certificate, instance, common["objective"], run.time_limit)
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(aligned(result.summary()))


def _parameters(
    problem: "Problem", method: str, texts: list[str], evaluations: int | None, proof: ProofOptions
) -> dict[str, Any]:
    """Return the method's parameters from ``key=value`` texts; refuse a method or option that does not fit."""
    from solvers.check_arguments import GIVEN_BY_SOLVE
    from studies.parameters import set_parameters

    if "stop" not in problem.options:
        refuse_given(problem, evaluations=evaluations)
    proof.check(problem)
    try:
        registered = problem.method_named(method)
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    if evaluations is not None and registered.kind != "search":
        raise BadInputError(f"--evaluations: expected none for {method}, which is no search; got {evaluations}.")
    if proof.confirm and registered.kind != "exact":
        raise BadInputError(f"--confirm: expected none for {method}, which is no exact method and proves no bound.")
    return set_parameters(method, registered.resolve(), texts, without=GIVEN_BY_SOLVE) if texts else {}
