"""Command `solve`: one method on one instance."""

from pathlib import Path
from typing import Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import options, reading, writing
from studies.cli.options import dag_method, dag_objective, integer
from studies.cli.output import check_outputs, check_suffix, note, print_json, print_text
from studies.text import aligned


def solve_command(
    file: opt.INSTANCE,
    method: opt.METHOD = "cp-sat",
    objective: opt.OBJECTIVE = None,
    time_limit: opt.TIME_LIMIT = None,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
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
    confirm: opt.CONFIRM = False,
    confirm_time_limit: opt.CONFIRM_TIME_LIMIT = None,
    contention: opt.CONTENTION = "none",
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
    from studies.cli.input import is_jobs_file

    if is_jobs_file(file):
        from studies.cli.running_methods import solve_jobs_file

        solve_jobs_file(
            file,
            method,
            objective=objective,
            time_limit=time_limit,
            threads=threads,
            seed=seed,
            against=against,
            for_dags={
                "evaluations": evaluations,
                "confirm": confirm or None,
                "confirm_time_limit": confirm_time_limit,
                "contention": None if contention == "none" else contention,
            },
            texts=set_ or [],
            schedule_out=schedule_out,
            gantt=gantt,
            as_json=as_json,
        )
        return
    from instances.dag.json import read_dag_instance, write_dag_schedule
    from studies.cli.running_methods import check_confirm_options, method_parameters, run_method

    dag_method(method)
    parameters = method_parameters(method, set_ or [], evaluations=evaluations)
    check_confirm_options(method, confirm, confirm_time_limit)
    check_suffix(gantt, (".svg", ".png"))
    check_outputs([file], [schedule_out, gantt])
    with reading(file):
        instance = read_dag_instance(file)
    with options({"contention": "--contention"} | {name: f"--set {name}" for name in parameters}, method):
        result = run_method(
            instance,
            method,
            objective=dag_objective(objective),
            time_limit=time_limit,
            evaluations=evaluations,
            threads=threads,
            seed=seed,
            parameters=parameters,
            against=against,
            confirm=confirm,
            confirm_time_limit=confirm_time_limit,
            contention=contention,
        )
    if result.schedule is None:
        for path in (schedule_out, gantt):
            if path is not None:
                note(f"{path}: not written, as no schedule was found.")
    else:
        if schedule_out is not None:
            with writing(schedule_out):
                write_dag_schedule(instance, result.schedule, schedule_out)
        if gantt is not None:
            from studies.cli.running_methods import write_gantt

            with writing(gantt):
                write_gantt(instance, result.schedule, gantt)
    if as_json:
        print_json(result.to_dict())
    else:
        print_text(aligned(result.summary()))
