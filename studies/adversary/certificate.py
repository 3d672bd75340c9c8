"""Certificates of worst cases: one JSON document and its folder, and the check that computes everything again."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from instances.dag.json import (
    dag_instance_document,
    dag_instance_from_json,
    dag_instance_to_json,
    dag_schedule_document,
    dag_schedule_from_json,
    dag_schedule_to_json,
)
from instances.dag.objective import Objective, objective_value
from instances.dag.verify import verify_dag_schedule
from instances.fields import Fields
from instances.json_document import content_hash, parse_json
from instances.text_file import read_text, whole_file, write_text
from solvers.run.outcome import Status, Termination
from solvers.run.versions import hardware, versions
from solvers.solve import solve
from studies.adversary.random_family import RandomFamily, random_ratios
from studies.adversary.ratio import DEFAULT_LIMIT, Contestant, InterruptedRunError, RatioOracle
from studies.adversary.search_space import InstanceSpace

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import TextIO

    from instances.dag.instance import DagInstance
    from instances.dag.schedule import DagSchedule
    from solvers.confirmation.claim import Confirmation
    from studies.adversary.ratio import WorstCase
    from studies.adversary.search import Step


FORMAT, VERSION = "optgap/adversary-certificate", 1

MEANING = "The largest ratio that this search found: a lower bound on the worst case within the ranges of the search."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Certificate:
    """What is claimed of a worst case.

    Parameters
    ----------
    heuristic, rival
        What was run; the rival is None if the ratio is to the optimum.
    confirmation
        Answer of a second model about the proof of the optimum; None if no model was asked.
    search
        Seeds, ranges, temperatures and counts of the search, as JSON values.
    random_instances
        Ratios on random instances of the same family, as JSON values; None if none were measured.
    other_seeds
        Objectives of a randomised heuristic on the instance with other seeds, None for a run that found no schedule
        within the memory limits; empty for other heuristics.
    """

    worst: WorstCase
    heuristic: Contestant
    rival: Contestant | None
    confirmation: Confirmation | None = None
    search: dict[str, Any] = field(default_factory=dict)
    random_instances: dict[str, Any] | None = None
    other_seeds: tuple[int | None, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document; it holds no time, so that the same search on one machine gives the same bytes."""
        worst = self.worst
        rival = None if self.rival is None else {**self.rival.to_dict(), "objective": worst.rival_value}
        schedules = {"heuristic": worst.heuristic, "optimal": worst.optimal, "rival": worst.rival}
        return {
            "format": FORMAT,
            "version": VERSION,
            "meaning": MEANING,
            "objective_name": str(worst.objective),
            "ratio": worst.ratio,
            "ratio_to_optimum": worst.ratio_to_optimum,
            "heuristic": {
                **self.heuristic.to_dict(),
                "objective": worst.value,
                "objectives_of_other_seeds": list(self.other_seeds),
            },
            "rival": rival,
            "optimum": worst.optimum,
            "proof": {
                "method": worst.bound.method,
                "proof": worst.bound.proof,
                "solver": worst.bound.solver,
                "threads": worst.bound.threads,
                "confirmed_by": worst.bound.confirmed_by,
                "not_confirmed": None if self.confirmation is None else self.confirmation.reason,
            },
            "random_instances": self.random_instances,
            "search": self.search,
            "search_sha256": content_hash(self.search),
            "versions": versions(),
            "hardware": hardware(),
            "instance_sha256": worst.instance.sha256,
            "instance": dag_instance_document(worst.instance),
            "schedules": {
                name: None if schedule is None else dag_schedule_document(worst.instance, schedule)
                for name, schedule in schedules.items()
            },
        }


CERTIFICATE, INSTANCE, TRACE, FIGURE = "certificate.json", "instance.json", "trace.csv", "ratio.png"
SCHEDULES = {"heuristic": "heuristic.json", "optimal": "optimal.json", "rival": "rival.json"}
"""Names of files. The certificate also holds the instance and the schedules; their own files serve other commands."""

COLUMNS = ("start", "step", "change", "temperature", "needed", "ratio", "decision", "current", "best")


class AdversaryFolder:
    """Files of one search, as a context manager: every improvement and every step is written to disk at once.

    Raises a `ValueError` if the folder already holds a search, which is not overwritten, and an `OSError` if it cannot
    be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (CERTIFICATE, TRACE):
            if (folder / name).exists():
                raise ValueError(f"out: expected a folder without a search, got one with {name}.")
        self._trace: TextIO | None = None

    def __enter__(self) -> Self:
        """Begin the trace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._trace = (self.folder / TRACE).open("w", encoding="utf-8", newline="")
        csv.writer(self._trace).writerow(COLUMNS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the trace."""
        if self._trace is not None:
            self._trace.close()

    def add_step(self, step: Step) -> None:
        """Add a row to the trace."""
        assert self._trace is not None
        csv.writer(self._trace).writerow([getattr(step, column) for column in COLUMNS])
        self._trace.flush()

    def write(self, certificate: Certificate) -> None:
        """Replace the last certificate and the files next to it once all of them are written.

        The old files of instance and schedules are removed before the certificate is replaced, and the new ones put in
        their places after it. Whenever the process dies, a certificate is therefore never accompanied by files of
        another instance.
        """
        worst = certificate.worst
        schedules = {"heuristic": worst.heuristic, "optimal": worst.optimal, "rival": worst.rival}
        texts = {INSTANCE: dag_instance_to_json(worst.instance)}
        for name, schedule in schedules.items():
            if schedule is not None:
                texts[SCHEDULES[name]] = dag_schedule_to_json(worst.instance, schedule)
        texts[CERTIFICATE] = json.dumps(certificate.to_dict(), indent=1, allow_nan=False) + "\n"
        with ExitStack() as files:  # the last one to be entered, the certificate, is the first one to be replaced
            for name, text in texts.items():
                write_text(files.enter_context(whole_file(self.folder / name)), text)
            for name in (INSTANCE, *SCHEDULES.values()):
                (self.folder / name).unlink(missing_ok=True)


DEFAULT_SECONDS = 60.0
"""Time for proving the optimum again."""


def check_certificate(folder: Path, *, time_limit: float = DEFAULT_SECONDS) -> list[str]:
    """Check a certificate: compute everything in it again that can be computed.

    That is: schedules, objectives, ratios, ranges, the proof of the optimum and its confirmation by a second model, the
    runs of the heuristic with its own seed and the others, and the ratios on random instances. The search is not
    repeated.

    Parameters
    ----------
    time_limit
        Seconds for proving the optimum again, and the same for the second model.

    Returns
    -------
    list of str
        What does not hold, each as ``place: expected what, got value.``; empty if everything holds.

    Raises
    ------
    OSError
        If the certificate cannot be read.
    ValueError
        If the file is no certificate.
    InterruptedRunError
        If Ctrl-C ended a run.
    """
    document = _document(parse_json(read_text(folder / CERTIFICATE)))
    problems: list[str] = []
    try:
        instance = dag_instance_from_json(json.dumps(document["instance"]))
        objective = Objective(document["objective_name"])
    except ValueError as error:
        return [f"instance: {error}"]
    _expect(problems, "instance_sha256", instance.sha256, document["instance_sha256"])
    values = _check_schedules(problems, document, instance, objective)
    _check_numbers(problems, document, values)
    _check_ranges(problems, document, instance)
    _check_search(problems, folder, document)
    _check_optimum(problems, document, instance, objective, time_limit)
    contestants = {
        name: _check_run(problems, name, document[name], instance, objective)
        for name in ("heuristic", "rival")
        if document[name] is not None
    }
    if document["random_instances"] is not None and None not in contestants.values():
        oracle = RatioOracle(
            heuristic=contestants["heuristic"],  # type: ignore[arg-type]  # none is None
            rival=contestants.get("rival"),
            objective=objective,
            limit=document["search"].get("deterministic_limit", DEFAULT_LIMIT),
        )
        _check_random(problems, document, oracle)
    _check_files(problems, folder, document)
    return problems


def _document(value: object) -> dict[str, Any]:
    """Take the fields of a certificate."""
    fields = Fields(value)
    fields.check_format(FORMAT, VERSION)
    document: dict[str, Any] = {
        "objective_name": fields.text("objective_name"),
        "instance_sha256": fields.text("instance_sha256"),
        "optimum": fields.integer("optimum"),
        **{name: fields.number(name) for name in ("ratio", "ratio_to_optimum")},
        "search_sha256": fields.text("search_sha256"),
        **{name: fields.mapping(name) for name in ("heuristic", "proof", "search", "instance", "schedules")},
    }
    assert isinstance(value, dict)
    rival = value.get("rival")
    document["rival"] = None if rival is None else fields.mapping("rival")
    document["random_instances"] = fields.optional_mapping("random_instances")
    return document


def _expect(problems: list[str], place: str, expected: object, got: object) -> None:
    """Add a problem where two values differ."""
    if expected != got:
        problems.append(f"{place}: expected {expected}, got {got}.")


def _check_schedules(
    problems: list[str], document: dict[str, Any], instance: DagInstance, objective: Objective
) -> dict[str, int]:
    """Verify all schedules and return their objectives."""
    values: dict[str, int] = {}
    for name, stored in document["schedules"].items():
        if stored is None:
            continue
        try:
            schedule: DagSchedule = dag_schedule_from_json(json.dumps(stored), instance)
        except ValueError as error:
            problems.append(f"schedules.{name}.{error}")
            continue
        violations = verify_dag_schedule(instance, schedule)
        problems += [f"schedules.{name}: expected no violation, got {violation}." for violation in violations]
        if not violations:
            values[name] = objective_value(instance, schedule, objective)
    return values


def _check_numbers(problems: list[str], document: dict[str, Any], values: dict[str, int]) -> None:
    """Hold objectives and ratios against the schedules."""
    given = {"heuristic": document["heuristic"].get("objective"), "optimal": document["optimum"]}
    if document["rival"] is not None:
        given["rival"] = document["rival"].get("objective")
    for name, value in given.items():
        if name not in values:
            problems.append(f"schedules.{name}: expected a schedule that verifies, got none.")
        else:
            _expect(problems, f"objective of {name}", values[name], value)
    if "heuristic" in values and values.get("optimal"):
        _expect(problems, "ratio_to_optimum", values["heuristic"] / values["optimal"], document["ratio_to_optimum"])
        against = "optimal" if document["rival"] is None else "rival"
        if values.get(against):
            _expect(problems, "ratio", values["heuristic"] / values[against], document["ratio"])


def _space(document: dict[str, Any]) -> InstanceSpace:
    """Return the ranges of the search."""
    ranges = document["search"]["ranges"]
    return InstanceSpace(**{**ranges, "changes": tuple(ranges["changes"])})


def _check_ranges(problems: list[str], document: dict[str, Any], instance: DagInstance) -> None:
    """Check that the instance is inside the ranges of the search."""
    try:
        space = _space(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problems.append(f"search.ranges: expected ranges, got an error: {error}")
        return
    if not space.contains(instance):
        problems.append(f"instance: expected one inside the ranges ({space}), got another one.")


def _check_search(problems: list[str], folder: Path, document: dict[str, Any]) -> None:
    """Check that nobody altered what is said of the search, and that the trace shows the steps that are counted."""
    search = document["search"]
    _expect(problems, "search_sha256", content_hash(search), document["search_sha256"])
    try:
        rows = list(csv.DictReader(read_text(folder / TRACE).splitlines()))
        found = Counter(row["decision"] for row in rows[: sum(search["decisions"].values())])
        _expect(problems, "search.decisions", dict(sorted(found.items())), search["decisions"])
    except OSError as error:
        problems.append(f"{TRACE}: expected a file that can be read, got: {error.strerror}.")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problems.append(f"{TRACE}: expected the steps of the search, got an error: {error}")


def _check_optimum(
    problems: list[str], document: dict[str, Any], instance: DagInstance, objective: Objective, time_limit: float
) -> None:
    """Prove the optimum again without the stored one, and ask a second model if the certificate claims one."""
    limits: dict[str, Any] = {"time_limit": time_limit, "threads": 1}
    if document["proof"].get("confirmed_by") is not None:
        limits |= {"confirm": True, "confirm_time_limit": time_limit}
    result = solve(instance, "cp-sat", objective=objective, **limits)
    second = result.confirmation
    if Termination.INTERRUPTED in (result.termination, second and second.reason):
        raise InterruptedRunError("cp-sat")
    if result.status is not Status.OPTIMAL:
        problems.append(f"optimum: expected a proof within {time_limit:g} s, got none ({result.termination}).")
    else:
        _expect(problems, "optimum", result.objective, document["optimum"])
    if second is not None and second.confirmed_by is None:
        problems.append(f"proof.confirmed_by: expected a second model that does, got {second.reason}.")


def _check_run(
    problems: list[str], name: str, given: dict[str, Any], instance: DagInstance, objective: Objective
) -> Contestant | None:
    """Run a heuristic again, also with the other seeds; return None if that is impossible."""
    try:
        contestant = Contestant(
            method=given["method"],
            seed=given["seed"],
            evaluations=given["evaluations"] or 1,
            parameters=given["parameters"],
        )
        objective_again = contestant.run(instance, objective).objective
        others = given.get("objectives_of_other_seeds", [])
        seeds = range(contestant.seed + 1, contestant.seed + 1 + len(others))
        others_again = [contestant.run(instance, objective, seed=seed).objective for seed in seeds]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problems.append(f"{name}: expected a run that can be repeated, got an error: {error}")
        return None
    _expect(problems, f"{name}, run again", objective_again, given.get("objective"))
    _expect(problems, f"{name}, run with other seeds", others_again, others)
    return contestant


def _check_random(problems: list[str], document: dict[str, Any], oracle: RatioOracle) -> None:
    """Measure the random instances again."""
    given, search = document["random_instances"], document["search"]
    try:
        family = RandomFamily(**search["family"])
        again = random_ratios(family, _space(document), oracle, given["count"], search["seed"]).to_dict()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problems.append(f"random_instances: expected some that can be made again, got an error: {error}")
        return
    for name, value in again.items():
        _expect(problems, f"random_instances.{name}", value, given.get(name))


def _check_files(problems: list[str], folder: Path, document: dict[str, Any]) -> None:
    """Check that the files in the folder hold what the certificate holds; those of schedules may be missing."""
    stored = {INSTANCE: document["instance"]}
    stored |= {SCHEDULES[name]: schedule for name, schedule in document["schedules"].items() if name in SCHEDULES}
    for name, expected in stored.items():
        path = folder / name
        if not path.exists() and name != INSTANCE:
            continue
        try:
            is_same = parse_json(read_text(path)) == expected
        except OSError as error:
            problems.append(f"{name}: expected a file that can be read, got: {error.strerror}.")
            continue
        except ValueError:
            is_same = False
        if not is_same:
            problems.append(f"{name}: expected what the certificate holds, got something else.")
