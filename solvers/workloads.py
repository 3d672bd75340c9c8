"""What differs by problem behind one name each: generators, readers of public formats, verifiers and methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.clusters.cluster import parse_cluster
from instances.dag.contention import Contention
from instances.fields import one_of
from instances.spelling import did_you_mean
from solvers.check_arguments import check_options
from solvers.methods import resolved
from solvers.problem import PROBLEMS, problem_of

if TYPE_CHECKING:
    from os import PathLike

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from instances.jobs.instance import JobsInstance
    from instances.jobs.schedule import JobsSchedule


def generate_any(family: str, **arguments: Any) -> DagInstance | JobsInstance:
    """Make an instance of a named family, of the problem that the family belongs to.

    Parameters
    ----------
    family
        A name that ``optgap generate --list`` shows.
    **arguments
        For a family of DAGs those of `instances.generators.dag.generate.generate` (``tasks`` and ``seed`` are
        required), for a family of jobs those of `instances.generators.jobs.generate.generate_jobs` (``jobs`` and
        ``seed`` are required). ``cluster`` may be a text, as the command takes it.

    Raises
    ------
    TypeError
        If an argument is missing or of the wrong type.
    ValueError
        If the family or a parameter is unknown, or a value is out of range.

    Examples
    --------
    >>> import optgap
    >>> optgap.generate("layered", tasks=8, seed=1, cluster="mixed-3")
    DagInstance('layered-n8-s1': 8 tasks, 9 edges, 1 job(s), 3 GPUs)
    """
    known: list[str] = []
    for problem in PROBLEMS.values():
        families = resolved(problem.families)
        if family in families:
            made: DagInstance | JobsInstance = resolved(problem.generate)(family, **_with_cluster(arguments))
            return made
        known += families
    raise ValueError(f"family: expected one of {', '.join(known)}, got {family!r}{did_you_mean(family, known)}.")


def convert(format_name: str, path: str | PathLike[str], **options: Any) -> DagInstance | JobsInstance:
    """Read a file of a public format and return it as an instance.

    Parameters
    ----------
    format_name
        A name that ``optgap convert --list`` shows.
    **options
        Options of the format's reader; most formats of DAGs take ``cluster``, which may be a text as the command takes
        it, ``cost`` and ``seed``.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the format or an option is unknown, or the file is not of the format; the message names the place.

    Examples
    --------
    >>> from pathlib import Path
    >>> import optgap
    >>> _ = Path("graph.dot").write_text("digraph { a [weight=3]; b [weight=2]; a -> b [weight=1]; }")
    >>> optgap.convert("dot", "graph.dot", processors=2).durations.tolist()
    [[3, 3], [2, 2]]
    """
    known: list[str] = []
    for problem in PROBLEMS.values():
        readers = resolved(problem.readers)
        if format_name in readers:
            instance: DagInstance | JobsInstance = resolved(problem.read)(format_name, path, **_with_cluster(options))
            return instance
        known += readers
    hint = did_you_mean(format_name, known)
    raise ValueError(f"format: expected one of {', '.join(known)}, got {format_name!r}{hint}.")


def _with_cluster(options: dict[str, Any]) -> dict[str, Any]:
    """Read a cluster that is given as a text."""
    cluster = options.get("cluster")
    return {**options, "cluster": parse_cluster(cluster)} if isinstance(cluster, str) else options


def verify(
    instance: DagInstance | JobsInstance, schedule: DagSchedule | JobsSchedule, contention: str = "none"
) -> list[Any]:
    """Return every violation of a schedule, an empty list if there is none.

    Parameters
    ----------
    contention
        What transfers between tasks of a DAG share: "none", or "nic" for the network interfaces of servers.

    Raises
    ------
    ValueError
        If there is no such rule, or it means nothing for jobs.

    Examples
    --------
    >>> import optgap
    >>> instance = optgap.from_lists([[4, 5], [3, 3]], [(0, 1, 0)])
    >>> optgap.verify(instance, optgap.DagSchedule(gpu=[0, 0], start=[0, 4]))
    []
    >>> [str(violation) for violation in optgap.verify(instance, optgap.DagSchedule(gpu=[0, 0], start=[0, 3]))]
    ['tasks 0 and 1: overlap by 1 ticks on GPU 0.', 'edges[0]: task 1 starts 1 ticks before the data of task 0.']
    """
    problem = problem_of(instance)
    check_options(problem, {"contention": str(Contention(contention))})
    return problem.verify(instance, schedule, Contention(contention))


def methods(problem: str = "dag") -> dict[str, str]:
    """Return the methods for a problem, "dag" or "jobs": name and summary.

    Raises a `ValueError` if there is no such problem.

    Examples
    --------
    >>> import optgap
    >>> optgap.methods("jobs")["fifo"]
    'first come, first served; the head blocks'
    """
    one_of(problem, PROBLEMS, "problem")
    return {name: method.summary for name, method in PROBLEMS[problem].methods.items()}
