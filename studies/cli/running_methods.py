"""What `solve`, `bound` and `verify` share: the problem of a file, and options that both problems may have."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from instances.spelling import did_you_mean
from studies.cli import options as opt
from studies.cli.input import is_jobs_file
from studies.cli.output import note, write_text_output
from studies.input import BadInputError, quoted

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance
    from solvers.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What is minimised, and the limits and seed of the methods that run."""

    objective: opt.OBJECTIVE = None
    time_limit: opt.TIME_LIMIT = None
    threads: opt.THREADS = None
    seed: opt.SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """Whether a second model is asked, and what transfers share."""

    confirm: opt.CONFIRM = False
    confirm_time_limit: opt.CONFIRM_TIME_LIMIT = None
    contention: opt.CONTENTION = "none"
    certificate: opt.CERTIFICATE = None

    def check(self, problem: "Problem") -> None:
        """Refuse options that mean nothing for the problem, and time for a confirmation that is not asked for.

        Raises a `BadInputError` if there is one of these.
        """
        contention = None if self.contention == "none" else self.contention
        refuse_given(problem, confirm=self.confirm or None, confirm_time_limit=self.confirm_time_limit)
        refuse_given(problem, contention=contention)
        if self.certificate is not None and problem.name != "dag":
            raise BadInputError(f"--certificate: expected none for a {problem.name} instance, got {self.certificate}.")
        if self.confirm_time_limit is not None and not self.confirm:
            expected = "expected none without --confirm"
            raise BadInputError(f"--confirm-time-limit: {expected}, got {self.confirm_time_limit:g}.")


def bound_names(problem: "Problem", text: str, option: str = "--methods") -> list[str]:
    """Read names of bounds and exact methods, separated by commas; a `BadInputError` says where one is unknown."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in problem.known_bounds:
            of_problem = f" for {problem.noun}" if problem.name == "jobs" else ""
            expected = f"one of {', '.join(problem.known_bounds)}{of_problem}"
            hint = did_you_mean(name, problem.known_bounds)
            raise BadInputError(f"{option}: expected {expected}, got {quoted(name)}{hint}.")
    return names


CERTIFICATE_SECONDS = 30.0
"""Time for finding a proof that can be written, where no time limit is given."""


def write_certificate(path: Path | None, instance: "DagInstance", objective: str, time_limit: float | None) -> None:
    """Write the proof of the best bound that can be written as one, and say which; None stands for no file.

    Raises a `BadInputError` if the file cannot be written, or no such proof is known for the objective.
    """
    from formulations.dag.bounds.certificates import bound_certificate
    from formulations.dag.bounds.refutation_proof import MOST_CASES
    from heuristics.search.clock import Stopwatch
    from instances.dag.objective import FINISH_OBJECTIVES, Objective

    if path is None:
        return
    if objective not in FINISH_OBJECTIVES:
        raise BadInputError(f"--certificate: expected none for {objective}, got {path}.")
    watch, limit = Stopwatch(), CERTIFICATE_SECONDS if time_limit is None else time_limit
    made = bound_certificate(
        instance.without_buffers(),
        Objective(objective),
        most_cases=MOST_CASES,
        seconds_left=lambda: max(0.0, limit - watch.seconds),
    )
    write_text_output(path, lambda: made.text(Objective(objective)))
    note(f"{path}: {objective} at least {made.bound}, proof of kind {made.kind}.")


def note_unused_threads(threads: int | None) -> None:
    """Say where fewer threads are used than were asked for."""
    from solvers.run.versions import usable_threads

    if threads is not None and usable_threads(threads) < threads:
        note(f"--threads: {usable_threads(threads)} are used, more than these and the cores do not help.")


def chosen_objective(problem: "Problem", name: str | None) -> str:
    """Return the objective that is meant: for None the default of the problem.

    Raises a `BadInputError` if it is an objective of another problem only.
    """
    if name is None:
        return str(problem.default_objective)
    if name not in list(problem.objectives):
        expected = f"{' or '.join(problem.objectives)} for {problem.noun}"
        raise BadInputError(f"--objective: expected {expected}, got {name!r}{did_you_mean(name, problem.objectives)}.")
    return name


def refuse_given(problem: "Problem", **given: object) -> None:
    """Refuse options that mean nothing for a problem; None stands for one that was not given.

    Raises a `BadInputError` if one was given.
    """
    for name, value in given.items():
        if value is not None and name not in problem.options:
            shown = "it" if value is True else value
            option = name.replace("_", "-")
            raise BadInputError(f"--{option}: expected none for a {problem.name} instance, got {shown}.")


def problem_of_file(path: Path) -> "Problem":
    """Return the problem of an instance file; that of DAGs, whose reader says what is wrong, for any other file."""
    from solvers.problem import DAG, JOBS

    return JOBS if is_jobs_file(path) else DAG
