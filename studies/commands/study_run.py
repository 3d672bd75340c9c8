"""Command `study run`: whatever a study still lacks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studies.command_line.bad_input import BadInputError, options, writing
from studies.command_line.option_types import integer
from studies.command_line.output import note, print_json, print_text
from studies.commands import options as opt
from studies.commands.open_study import open_study, read_spec

if TYPE_CHECKING:
    from studies.experiment.executors.dask_executor import DaskExecutor
    from studies.experiment.study_spec import StudySpec


def study_run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="TOML file, or the name of a shipped specification.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the store; what is done there is kept.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show plan and estimate; run and write nothing.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            parser=integer("--workers", low=1, high=opt.MAX_THREADS),
            metavar="N",
            help="Processes that make one run each at a time; default all cores.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Scheduler of a Dask cluster that makes the runs, such as tcp://host:8786.",
        ),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Make runs again that failed.")] = False,
    as_json: opt.AS_JSON = False,
) -> None:
    """Run whatever a study still lacks (Ctrl-C: what is done is kept)."""
    from solvers.versions import available_cores
    from studies.command_line.study_progress import StudyProgress, duration_text
    from studies.command_line.study_texts import state_dict
    from studies.experiment.executors.executor import ExecutorError
    from studies.experiment.run_study import run_study

    name, specification = read_spec(spec)
    if dask is not None and workers is not None:
        raise BadInputError(f"--workers: expected nothing beside --dask, got {workers}.")
    if dry_run:
        _show_plan(name, specification, out, _num_workers(dask, workers), as_json)
        return
    if out is None:
        raise BadInputError("--out: expected a folder for the store, got nothing.")
    workers = (workers or available_cores()) if dask is None else None
    executor = None if dask is None else _cluster(dask)
    try:
        with writing(out), options({}, name), StudyProgress() as progress:
            state = run_study(
                specification,
                out,
                workers=workers,
                executor=executor,
                retry_failed=retry_failed,
                on_state=progress.update,
            )
    except ExecutorError as error:
        raise BadInputError(f"{'--workers' if dask is None else '--dask'}: {error}") from error
    if state.failed:
        note(f"{out}: {state.failed} runs failed; `optgap study table {out}` lists them, --retry-failed repeats them.")
    if as_json:
        print_json({"folder": str(out), **state_dict(state)})
    else:
        elsewhere = f", {state.running} running in another process" if state.running else ""
        done = f"{state.finished} of {state.planned} runs finished, {state.failed} failed{elsewhere}"
        print_text(f"{out}: {done}; {duration_text(state.seconds)}.")


def _cluster(address: str) -> "DaskExecutor":
    """Connect to a cluster."""
    from studies.experiment.executors.dask_executor import DaskExecutor
    from studies.experiment.executors.executor import ExecutorError

    try:
        return DaskExecutor(address)
    except ExecutorError as error:
        raise BadInputError(f"--dask: {error}") from error


def _num_workers(dask: str | None, workers: int | None) -> int:
    """Return how many runs would be made at a time; a cluster is asked."""
    from solvers.versions import available_cores

    if dask is None:
        return workers or available_cores()
    executor = _cluster(dask)
    try:
        return executor.num_threads
    finally:
        executor.close()


def _show_plan(name: str, specification: "StudySpec", out: Path | None, workers: int, as_json: bool) -> None:
    """Print what would be done; nothing is written."""
    from studies.command_line.study_texts import plan_dict, plan_text
    from studies.experiment.expand_instances import expand_instances
    from studies.experiment.study_plan import study_plan
    from studies.experiment.study_store import DATABASE

    done: set[str] = set()
    with options({}, name), writing(name):
        if out is not None and (out / DATABASE).is_file():
            with open_study(out) as store:
                instances = expand_instances(specification, stored=store.stored_instance)
                store.check_same(specification)
                done = store.done_keys()
        else:
            instances = expand_instances(specification)
        plan = study_plan(specification, instances)
    if as_json:
        print_json(plan_dict(plan, workers=workers, done=done))
    else:
        print_text(plan_text(plan, workers=workers, done=done))
