"""Command `generate`: one instance from a named family."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from solvers.table import wide_tables
from studies.cli import options as opt
from studies.cli.options import cluster
from studies.cli.output import check_distinct, check_writable, print_json, print_text
from studies.input import BadInputError, options, writing
from studies.options import Names, option

PLANTED, PLANTED_JOBS = "planted", "jobs-planted"
"""Families whose instances come with an optimal schedule."""

DEFAULT_SIZE = 20
"""Number of tasks or jobs where none is given."""


FAMILIES = Names(
    "instances.generators.dag.generate:FAMILIES",
    "instances.generators.dag.generate:BUFFER_FAMILIES",
    PLANTED,
    "instances.generators.jobs.generate:ALL_JOBS_FAMILIES",
    PLANTED_JOBS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """Which instance is made, and where it is written."""

    family: str | None = option(None, "One that --list names.", metavar="FAMILY", is_argument=True, names=FAMILIES)
    output: opt.OUTPUT = None
    tasks: int | None = option(None, "Requested number of tasks; default 20.", low=1, high=opt.MAX_TASKS)
    jobs: int | None = option(None, "Number of jobs, families jobs-... only; default 20.", low=1, high=opt.MAX_TASKS)
    load: float | None = option(
        None,
        "Work of all jobs over what all GPUs can do until the last arrival, families jobs-... only.",
        low=0,
        high=1e6,
    )
    seed: opt.SEED = 0
    gpus: opt.GPUS = None
    set_: opt.SET = None
    schedule_out: Path | None = option(None, "Optimal schedule to write, planted only.")


def generate_command(
    wanted: GenerateOptions,
    cost: opt.CostOptions,
    is_list: Annotated[
        bool, typer.Option("--list", help="List families, cluster presets and kinds of GPU instead.")
    ] = False,
    is_wide: opt.WIDE = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Make one instance of a named family and write it to a file."""
    if is_list:
        from studies.cli.making_instances import generator_list, generator_list_text

        if as_json:
            print_json(generator_list())
        else:
            with wide_tables(is_wide):
                print_text(generator_list_text())
        return
    family, output, schedule_out = wanted.family, wanted.output, wanted.schedule_out
    if family is None:
        raise BadInputError("FAMILY: expected the name of a family (see --list), got nothing.")
    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    from instances.generators.jobs.generate import ALL_JOBS_FAMILIES
    from studies.cli.making_instances import generate_jobs_file, write_made

    if family in (*ALL_JOBS_FAMILIES, PLANTED_JOBS):
        generate_jobs_file(wanted, cost, jobs=DEFAULT_SIZE if wanted.jobs is None else wanted.jobs, as_json=as_json)
        return
    for flag, value in (("--jobs", wanted.jobs), ("--load", wanted.load)):
        if value is not None:
            raise BadInputError(f"{flag}: expected none for {family}; only families jobs-... have jobs that arrive.")
    tasks = DEFAULT_SIZE if wanted.tasks is None else wanted.tasks
    seed, texts = wanted.seed, wanted.set_ or []
    from instances.generators.dag.generate import BUFFER_FAMILIES
    from instances.generators.dag.generate import FAMILIES as DAG_FAMILIES
    from instances.generators.dag.generate import generate as generate_instance
    from studies.cli.progress import LiveProgress
    from studies.parameters import set_parameters

    if schedule_out is not None and family != PLANTED:
        raise BadInputError(f"--schedule-out: expected none for {family}; only {PLANTED} knows a schedule.")
    check_distinct([], [output, schedule_out])
    model = cost.model()
    where = cluster(wanted.gpus)
    check_writable(output)
    check_writable(schedule_out)
    if family == PLANTED:
        from instances.dag.json import write_dag_schedule
        from studies.cli.making_instances import certificate_document, certificate_text, planted

        chosen = {**asdict(cost), "memory_tightness": cost.memory_tightness or None}
        with LiveProgress(f"generating {family}", is_search=False):
            made, parameters = planted(tasks=tasks, seed=seed, cluster=where, cost=chosen, texts=texts)
        known = {"optimum": f"{made.optimum} ticks", "proved by": certificate_text(made)}
        document = {"family": family, "seed": seed, "parameters": parameters, **certificate_document(made)}
        if schedule_out is not None:
            with writing(schedule_out):
                write_dag_schedule(made.instance, made.schedule, schedule_out)
        write_made(made.instance, output, document, before=known, as_json=as_json)
        return
    families = {**DAG_FAMILIES, **BUFFER_FAMILIES}
    if family in BUFFER_FAMILIES and cost.given():
        flag = next(iter(cost.given())).replace("_", "-")
        raise BadInputError(f"--{flag}: expected none for {family}, which has no such option.")
    parameters = set_parameters(family, families[family].load(), texts, without=["tasks", "cluster"])
    option_of_place = {"tasks": "--tasks", "cluster": "--gpus", **{name: f"--set {name}" for name in parameters}}
    with LiveProgress(f"generating {family}", is_search=False), options(option_of_place, family):
        costs = None if family in BUFFER_FAMILIES else model
        instance = generate_instance(family, tasks=tasks, seed=seed, cluster=where, cost=costs, **parameters)
    write_made(instance, output, {"family": family, "seed": seed, "parameters": parameters}, as_json=as_json)
