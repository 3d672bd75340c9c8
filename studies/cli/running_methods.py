"""What `solve`, `bound` and `verify` do once the problem is known."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from heuristics.search.stop_criteria import MaxEvaluations
from instances.dag.gantt import gantt_svg, plot_gantt
from instances.jobs.gantt import jobs_gantt_svg, plot_jobs_gantt
from instances.jobs.json import read_jobs_instance, read_jobs_schedule, write_jobs_schedule
from instances.jobs.objective import JobsObjective, jobs_objective_value
from instances.jobs.verify import verify_jobs_schedule
from solvers.lower_bound import lower_bound
from solvers.problem import DAG, JOBS
from solvers.run.bound import best_bound
from solvers.solve import solve
from solvers.table import printable
from studies.analysis.bound_comparison import BoundComparison
from studies.cli.input import BadInputError, options, quoted, reading, writing
from studies.cli.options import check_confirm_time_option
from studies.cli.output import check_outputs, check_suffix, note, print_json, print_text, write_text_output
from studies.cli.parameters import set_parameters
from studies.cli.progress import JobsProgress, LiveProgress
from studies.text import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule
    from solvers.bound_table import BoundTable
    from solvers.result import Result


def method_parameters(method: str, texts: Sequence[str], *, evaluations: int | None) -> dict[str, Any]:
    """Return a method's parameters from ``key=value`` texts.

    Raises
    ------
    BadInputError
        If it has no such parameter, or a budget of evaluations is given to what is no search.
    """
    registered = DAG.method_named(method)
    if evaluations is not None and registered.kind != "search":
        raise BadInputError(f"--evaluations: expected none for {method}, which is no search; got {evaluations}.")
    return set_parameters(method, registered.resolve(), texts, without=["contention"]) if texts else {}


def check_confirm_options(method: str, confirm: bool, time_limit: float | None) -> None:
    """Refuse to confirm what proves nothing, and time for a confirmation that is not asked for.

    Raises
    ------
    BadInputError
        If one of them was asked for.
    """
    check_confirm_time_option(confirm, time_limit)
    if confirm and DAG.method_named(method).kind != "exact":
        raise BadInputError(f"--confirm: expected none for {method}, which is no exact method and proves no bound.")


def run_method(
    instance: DagInstance,
    method: str,
    *,
    objective: str,
    time_limit: float | None,
    evaluations: int | None,
    threads: int | None,
    seed: int,
    parameters: Mapping[str, Any],
    against: str | None = None,
    confirm: bool = False,
    confirm_time_limit: float | None = None,
    contention: str = "none",
) -> Result[DagInstance, DagSchedule]:
    """Bound and solve an instance, with a line on the terminal once it takes longer; see `solve`.

    Where `against` names an exact method, that one proves the bound first, within the same time limit.
    """
    with LiveProgress("bounding") as progress:
        bounds = lower_bound(instance, objective=objective, contention=contention)
        if against is not None:
            progress.doing = against
            proven = lower_bound(
                instance,
                objective=objective,
                methods=[against],
                time_limit=time_limit,
                threads=threads,
                seed=seed,
                contention=contention,
            )
            if proven.infeasible_by:
                note(f"{against}: no schedule exists, the instance is infeasible.")
            bounds += proven
        best = best_bound(bounds)
        progress.lower_bound = None if best is None else best.value
        progress.doing, progress.then = method, "confirmation" if confirm else None
        return solve(
            instance,
            method,
            objective=objective,
            time_limit=time_limit,
            stop=None if evaluations is None else MaxEvaluations(evaluations),
            threads=threads,
            seed=seed,
            callback=progress,
            bounds=bounds,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit,
            contention=contention,
            **parameters,
        )


OWN_ARGUMENTS = ("objective", "rng", "callback", "run")
"""What `solve_jobs` gives to a method itself."""


def solve_jobs_file(
    file: Path,
    method: str,
    *,
    objective: str | None,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    against: str | None,
    for_dags: Mapping[str, object],
    texts: Sequence[str],
    schedule_out: Path | None,
    gantt: Path | None,
    as_json: bool,
) -> None:
    """Read, solve, write and print.

    Parameters
    ----------
    file
        The instance.
    method, objective, time_limit, threads, seed, against
        As the options of the command; None for the default.
    for_dags
        Options that only DAG instances have, by name; None where one was not given.
    texts
        ``key=value`` each.
    schedule_out, gantt
        Files to write.
    as_json
        Whether to print JSON.

    Raises
    ------
    BadInputError
        If the file is broken, the method is none for jobs, or an option is none for jobs or out of range.
    """
    objective = jobs_objective(objective)
    refuse(for_dags)
    try:
        function = JOBS.method_named(method).resolve()
    except ValueError as error:
        raise BadInputError(f"--{error}") from error
    parameters = set_parameters(method, function, texts, without=OWN_ARGUMENTS) if texts else {}
    check_suffix(gantt, (".svg", ".png"))
    check_outputs([file], [schedule_out, gantt])
    with reading(file):
        instance = read_jobs_instance(file)
    with options({name: f"--set {name}" for name in parameters}, method):
        result = _run(instance, method, objective, time_limit, threads, seed, against, parameters)
    if result.schedule is None:
        for path in (schedule_out, gantt):
            if path is not None:
                note(f"{path}: not written, as no schedule was found.")
    else:
        _write(instance, result.schedule, schedule_out, gantt)
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(aligned(result.summary()))


def jobs_objective(text: str | None) -> str:
    """Return the objective of jobs that is meant; None for the default.

    Raises
    ------
    BadInputError
        If it is one of DAG instances only.
    """
    from instances.jobs.objective import JobsObjective

    if text is None:
        return str(JobsObjective.TOTAL_COMPLETION)
    if text not in list(JobsObjective):
        raise BadInputError(f"--objective: expected {' or '.join(JobsObjective)} for jobs, got {text!r}.")
    return text


def refuse(for_dags: Mapping[str, object]) -> None:
    """Refuse options that no jobs instance has.

    Raises
    ------
    BadInputError
        If one was given.
    """
    for name, value in for_dags.items():
        if value is not None:
            given = "it" if value is True else value
            raise BadInputError(f"--{name.replace('_', '-')}: expected none for a jobs instance, got {given}.")


def _run(
    instance: JobsInstance,
    method: str,
    objective: str,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    against: str | None,
    parameters: Mapping[str, Any],
) -> Result[JobsInstance, JobsSchedule]:
    """Bound and solve, with a line on the terminal once it takes longer."""
    with JobsProgress("bounding") as progress:
        bounds = lower_bound(instance, objective=objective)
        if against is not None:
            progress.doing = against
            bounds += lower_bound(
                instance, objective=objective, methods=[against], time_limit=time_limit, threads=threads, seed=seed
            )
        best = best_bound(bounds)
        progress.lower_bound = None if best is None else best.value
        progress.doing = method
        return solve(
            instance,
            method,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            callback=progress,
            bounds=bounds,
            **parameters,
        )


def _write(instance: JobsInstance, schedule: JobsSchedule, schedule_out: Path | None, gantt: Path | None) -> None:
    """Write what was asked for."""
    if schedule_out is not None:
        with writing(schedule_out):
            write_jobs_schedule(instance, schedule, schedule_out)
    if gantt is not None:
        with writing(gantt):
            write_jobs_gantt(instance, schedule, gantt)


def bound_jobs_file(
    file: Path,
    methods: str | None,
    *,
    objective: str | None,
    time_limit: float | None,
    threads: int | None,
    seed: int,
    for_dags: Mapping[str, object],
    csv: Path | None,
    latex: Path | None,
    as_json: bool,
) -> None:
    """Read, bound, write and print; the parameters are those of the command.

    Raises
    ------
    BadInputError
        If the file is broken, a method is none for jobs, or an option is none for jobs or out of range.
    """
    objective = jobs_objective(objective)
    refuse(for_dags)
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or []:
        if name not in JOBS.known_bounds:
            raise BadInputError(
                f"--methods: expected some of {', '.join(JOBS.known_bounds)} for jobs, got {quoted(name)}."
            )
    check_outputs([file], [csv, latex])
    with reading(file):
        instance = read_jobs_instance(file)
    with options({}, "bound"), JobsProgress("bounding") as progress:

        def on_method(name: str, so_far: BoundTable) -> None:
            progress.doing = name
            progress.lower_bound = None if so_far.best is None else so_far.best.value

        table = lower_bound(
            instance,
            objective=objective,
            methods=JOBS.default_bounds(instance) if names is None else names,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            on_method=on_method,
        )
    write_text_output(csv, table.to_csv)
    write_text_output(latex, lambda: BoundComparison([table]).to_latex())
    if as_json:
        print_json({**table.to_dict(), "seed": seed})
    else:
        print_text(table.to_text())


def verify_jobs(instance_file: Path, schedule_file: Path, *, contention: str, as_json: bool) -> int:
    """Check a schedule and print what is wrong with it; return the exit status.

    Raises
    ------
    BadInputError
        If a file is broken, or contention is asked for: in the jobs problem it is part of the iteration time.
    """
    if contention != "none":
        raise BadInputError(f"--contention: expected none for jobs, got {contention}.")
    with reading(instance_file):
        instance = read_jobs_instance(instance_file)
    with reading(schedule_file):
        schedule = read_jobs_schedule(schedule_file, instance)
    violations = verify_jobs_schedule(instance, schedule)
    values = {} if violations else {str(name): jobs_objective_value(instance, schedule, name) for name in JobsObjective}
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
                "verifies": not violations,
                "objectives": values or None,
                "violations": [
                    {"kind": type(violation).__name__, **asdict(violation), "message": str(violation)}
                    for violation in violations
                ],
            }
        )
    elif violations:
        print_text("\n".join(printable(str(violation)) for violation in violations))
        print_text(f"{len(violations)} violation{'s' if len(violations) > 1 else ''}: the schedule does not verify.")
    else:
        objectives = {name.replace("_", " "): str(value) for name, value in values.items()}
        print_text(aligned({"instance": instance.name, "schedule": "verifies", **objectives}))
    return 1 if violations else 0


def write_gantt(instance: DagInstance, schedule: DagSchedule, path: Path) -> None:
    """Write a chart as SVG or PNG, whichever the name of the file says."""
    if path.suffix.lower() == ".svg":
        path.write_text(gantt_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    _save(plot_gantt(instance, schedule), path)


def write_jobs_gantt(instance: JobsInstance, schedule: JobsSchedule, path: Path) -> None:
    """Write a chart of jobs in the same way."""
    if path.suffix.lower() == ".svg":
        path.write_text(jobs_gantt_svg(instance, schedule), encoding="utf-8", errors="xmlcharrefreplace")
        return
    _save(plot_jobs_gantt(instance, schedule), path)


def _save(ax: Axes, path: Path) -> None:
    """Write the figure of axes as PNG."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # the axes were just made with one
    figure.savefig(path, format="png", dpi=150)
