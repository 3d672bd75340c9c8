"""Command `bound`: proven lower bounds of an instance."""

from studies.command_line.bad_input import reading
from studies.command_line.option_types import bound_methods
from studies.command_line.output import print_json, print_text
from studies.command_line.text_table import text_table
from studies.commands import options as opt


def bound(
    file: opt.INSTANCE,
    methods: opt.BOUND_METHODS = None,
    objective: opt.OBJECTIVE = "makespan",
    time_limit: opt.TIME_LIMIT = None,
    threads: opt.THREADS = None,
    seed: opt.SEED = 0,
    as_json: opt.AS_JSON = False,
) -> None:
    """List lower bounds of an instance and what proves each."""
    from instances.dag_json import read_dag_instance
    from solvers.lower_bound import BOUND_METHODS, best_bound, lower_bound
    from solvers.versions import hardware, versions
    from studies.command_line.live_progress import LiveProgress

    names = list(BOUND_METHODS) if methods is None else bound_methods(methods)
    with reading(file):
        instance = read_dag_instance(file)
    bounds, refuted_by = [], []
    with LiveProgress("bounding") as progress:
        for name in names:
            progress.doing = name
            found = lower_bound(
                instance, objective=objective, methods=[name], time_limit=time_limit, threads=threads, seed=seed
            )
            if not found:  # an exact method keeps the bounds it began with, unless it proves that there is no schedule
                refuted_by.append(name)
            bounds += found
            best = best_bound(bounds)
            progress.lower_bound = None if best is None else best.value
    best = best_bound(bounds)
    if as_json:
        print_json(
            {
                "instance": instance.name,
                "instance_sha256": instance.sha256,
                "objective_name": objective,
                "lower_bound": None if best is None or refuted_by else best.value,
                "is_infeasible": bool(refuted_by),
                "infeasible_by": refuted_by,
                "bounds": [item.to_dict() for item in bounds],
                "seed": seed,
                "versions": versions(),
                "hardware": hardware(),
            }
        )
        return
    caption = "" if best is None else f"best: {best.value}{', the optimum' if best.is_optimum else ''}"
    if refuted_by:
        caption = f"no schedule exists (proved by {', '.join(refuted_by)}): the instance is infeasible"
    print_text(
        text_table(
            ["bound", "method", "proved by", "seconds"],
            [[str(item.value), item.method, item.proof, f"{item.seconds:.3f}"] for item in bounds],
            title=f"Lower bounds on the {objective.replace('_', ' ')} of {instance.name}",
            caption=caption,
            numbers=["bound", "seconds"],
            bold=None if best is None or refuted_by else bounds.index(best),
        )
    )
