"""Command `bound`: proven lower bounds of an instance."""

from studies.command_line.bad_input import reading
from studies.command_line.option_types import bound_methods
from studies.command_line.output import note, print_json, print_text
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
    bounds = []
    with LiveProgress("bounding") as progress:
        for name in names:
            progress.doing = name
            found = lower_bound(
                instance, objective=objective, methods=[name], time_limit=time_limit, threads=threads, seed=seed
            )
            if not found:
                note(f"{name}: proved nothing within its time limit.")
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
                "lower_bound": None if best is None else best.value,
                "bounds": [item.to_dict() for item in bounds],
                "seed": seed,
                "versions": versions(),
                "hardware": hardware(),
            }
        )
        return
    print_text(
        text_table(
            ["bound", "method", "proved by", "seconds"],
            [[str(item.value), item.method, item.proof, f"{item.seconds:.3f}"] for item in bounds],
            title=f"Lower bounds on the {objective.replace('_', ' ')} of {instance.name}",
            caption="" if best is None else f"best: {best.value}{', the optimum' if best.is_optimum else ''}",
            numbers=["bound", "seconds"],
            bold=None if best is None else bounds.index(best),
        )
    )
