"""Command `generate`: one instance from a named family."""

from pathlib import Path
from typing import Annotated

import typer

from studies.cli import options as opt
from studies.cli.input import BadInputError, options, writing
from studies.cli.options import cluster, cost_model, integer, number
from studies.cli.output import check_distinct, check_writable, instance_summary, print_json, print_text
from studies.text import aligned

PLANTED = "planted"
"""Family whose instances come with an optimal schedule."""

DEFAULT_SIZE = 20
"""Number of tasks or jobs where none is given."""


def generate_command(
    family: Annotated[str | None, typer.Argument(metavar="FAMILY", help="One that --list names.")] = None,
    output: opt.OUTPUT = None,
    tasks: Annotated[
        int | None,
        typer.Option(
            "--tasks",
            parser=integer("--tasks", low=1, high=opt.MAX_TASKS),
            metavar="N",
            help="Wished number of tasks; default 20.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            parser=integer("--jobs", low=1, high=opt.MAX_TASKS),
            metavar="N",
            help="Number of jobs, families jobs-... only; default 20.",
        ),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(
            "--load",
            parser=number("--load", high=1e6),
            metavar="X",
            help="Work of all jobs over what all GPUs can do until the last arrival, families jobs-... only.",
        ),
    ] = None,
    seed: opt.SEED = 0,
    gpus: opt.GPUS = None,
    ccr: opt.CCR = None,
    heterogeneity: opt.HETEROGENEITY = None,
    consistency: opt.CONSISTENCY = None,
    memory_tightness: opt.MEMORY_TIGHTNESS = None,
    forbidden: opt.FORBIDDEN = None,
    tick_seconds: opt.TICK_SECONDS = None,
    mean_ticks: opt.MEAN_TICKS = None,
    set_: opt.SET = None,
    schedule_out: Annotated[
        Path | None, typer.Option("--schedule-out", metavar="FILE", help="Optimal schedule to write, planted only.")
    ] = None,
    is_list: Annotated[
        bool, typer.Option("--list", help="List families, cluster presets and kinds of GPU instead.")
    ] = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Make one instance of a named family and write it to a file."""
    if is_list:
        from studies.cli.making_instances import generator_list, generator_list_text

        if as_json:
            print_json(generator_list())
        else:
            print_text(generator_list_text())
        return
    if family is None:
        raise BadInputError("FAMILY: expected the name of a family (see --list), got nothing.")
    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    from instances.generators.jobs.generate import ALL_JOBS_FAMILIES
    from studies.cli.making_instances import PLANTED_JOBS, generate_jobs_file

    if family in (*ALL_JOBS_FAMILIES, PLANTED_JOBS):
        generate_jobs_file(
            family,
            jobs=DEFAULT_SIZE if jobs is None else jobs,
            load=load,
            seed=seed,
            cluster=cluster(gpus),
            tick_seconds=tick_seconds,
            forbidden=forbidden,
            others={
                "tasks": tasks,
                "ccr": ccr,
                "heterogeneity": heterogeneity,
                "consistency": consistency,
                "memory_tightness": memory_tightness,
                "mean_ticks": mean_ticks,
            },
            texts=set_ or [],
            output=output,
            schedule_out=schedule_out,
            as_json=as_json,
        )
        return
    for option, value in (("--jobs", jobs), ("--load", load)):
        if value is not None:
            raise BadInputError(f"{option}: expected none for {family}; only families jobs-... have jobs that arrive.")
    tasks = DEFAULT_SIZE if tasks is None else tasks
    from instances.dag.json import write_dag_instance
    from instances.generators.dag.generate import FAMILIES
    from instances.generators.dag.generate import generate as generate_instance
    from studies.cli.parameters import set_parameters
    from studies.cli.progress import LiveProgress

    if family not in (*FAMILIES, PLANTED):
        choices = ", ".join([*FAMILIES, PLANTED, *ALL_JOBS_FAMILIES, PLANTED_JOBS])
        raise BadInputError(f"FAMILY: expected one of {choices}, got {family!r}.")
    if schedule_out is not None and family != PLANTED:
        raise BadInputError(f"--schedule-out: expected none for {family}; only {PLANTED} knows a schedule.")
    check_distinct([], [output, schedule_out])
    cost = cost_model(
        tick_seconds=tick_seconds,
        mean_ticks=mean_ticks,
        heterogeneity=heterogeneity,
        consistency=consistency,
        ccr=ccr,
        memory_tightness=memory_tightness,
        forbidden=forbidden,
    )
    where = cluster(gpus)
    check_writable(output)
    check_writable(schedule_out)
    if family == PLANTED:
        from instances.dag.json import write_dag_schedule
        from studies.cli.making_instances import certificate_document, certificate_text, planted

        chosen = {
            "tick_seconds": tick_seconds,
            "mean_ticks": mean_ticks,
            "heterogeneity": heterogeneity,
            "consistency": consistency,
            "ccr": ccr,
            "memory_tightness": memory_tightness or None,
            "forbidden": forbidden,
        }
        with LiveProgress(f"generating {family}", is_search=False):
            made, parameters = planted(tasks=tasks, seed=seed, cluster=where, cost=chosen, texts=set_ or [])
        with writing(output):
            write_dag_instance(made.instance, output)
        if schedule_out is not None:
            with writing(schedule_out):
                write_dag_schedule(made.instance, made.schedule, schedule_out)
        if as_json:
            summary = {**instance_summary(made.instance, output), "family": family, "seed": seed}
            print_json({**summary, "parameters": parameters, **certificate_document(made)})
        else:
            known = {"optimum": f"{made.optimum} ticks", "proved by": certificate_text(made)}
            print_text(aligned({**made.instance.summary(), **known, "written to": str(output)}))
        return
    parameters = set_parameters(family, FAMILIES[family].load(), set_ or [], without=["tasks"])
    option_of_place = {"tasks": "--tasks", "cluster": "--gpus", **{name: f"--set {name}" for name in parameters}}
    with LiveProgress(f"generating {family}", is_search=False), options(option_of_place, family):
        instance = generate_instance(family, tasks=tasks, seed=seed, cluster=where, cost=cost, **parameters)
    with writing(output):
        write_dag_instance(instance, output)
    if as_json:
        print_json({**instance_summary(instance, output), "family": family, "seed": seed, "parameters": parameters})
    else:
        print_text(aligned({**instance.summary(), "written to": str(output)}))
