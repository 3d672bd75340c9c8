"""Command `generate`: one instance from a named family."""

from typing import Annotated

import typer

from studies.command_line.aligned import aligned
from studies.command_line.bad_input import BadInputError, options, writing
from studies.command_line.cost_model import cost_model
from studies.command_line.instance_summary import instance_summary
from studies.command_line.option_types import cluster, integer
from studies.command_line.output import print_json, print_text
from studies.command_line.output_file import check_writable
from studies.commands import options as opt


def generate(
    family: Annotated[str | None, typer.Argument(metavar="FAMILY", help="One that --list names.")] = None,
    output: opt.OUTPUT = None,
    tasks: Annotated[
        int, typer.Option("--tasks", parser=integer("--tasks", low=1), metavar="N", help="Wished number of tasks.")
    ] = 20,
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
    is_list: Annotated[
        bool, typer.Option("--list", help="List families, cluster presets and kinds of GPU instead.")
    ] = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Make one instance of a named family and write it to a file."""
    if is_list:
        from studies.command_line.generator_list import generator_list, generator_list_text

        if as_json:
            print_json(generator_list())
        else:
            print_text(generator_list_text())
        return
    if family is None:
        raise BadInputError("FAMILY: expected the name of a family (see --list), got nothing.")
    if output is None:
        raise BadInputError("--output: expected a file to write, got nothing.")
    from instances.dag_json import write_dag_instance
    from instances.generators.families import FAMILIES
    from instances.generators.generate import generate as generate_instance
    from studies.command_line.set_parameters import set_parameters

    if family not in FAMILIES:
        raise BadInputError(f"FAMILY: expected one of {', '.join(FAMILIES)}, got {family!r}.")
    parameters = set_parameters(family, FAMILIES[family].load(), set_ or [], without=["tasks"])
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
    option_of_place = {"tasks": "--tasks", "cluster": "--gpus", **{name: f"--set {name}" for name in parameters}}
    with options(option_of_place, family):
        instance = generate_instance(family, tasks=tasks, seed=seed, cluster=where, cost=cost, **parameters)
    with writing(output):
        write_dag_instance(instance, output)
    if as_json:
        print_json({**instance_summary(instance, output), "family": family, "seed": seed, "parameters": parameters})
    else:
        print_text(aligned({**instance.summary(), "written to": str(output)}))
