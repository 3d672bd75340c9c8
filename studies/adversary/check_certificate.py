"""Checking a stored certificate from the beginning: nothing in it is believed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from instances.dag_json import dag_instance_from_json, dag_schedule_from_json
from instances.json_fields import JsonObject, parse_json
from instances.objective import Objective, objective_value
from instances.text_file import read_text
from instances.verify_dag_schedule import verify_dag_schedule
from solvers.solve import solve
from solvers.status import Status
from studies.adversary.adversary_folder import CERTIFICATE, INSTANCE, SCHEDULES
from studies.adversary.certificate import FORMAT, VERSION
from studies.adversary.contestant import Contestant
from studies.adversary.proven_optimum import DEFAULT_LIMIT
from studies.adversary.random_family import RandomFamily
from studies.adversary.random_ratios import random_ratios
from studies.adversary.ratio_oracle import RatioOracle
from studies.adversary.search_space import SearchSpace

if TYPE_CHECKING:
    from pathlib import Path

    from instances.dag_instance import DagInstance
    from instances.dag_schedule import DagSchedule

DEFAULT_SECONDS = 60.0
"""Time for proving the optimum again."""


def check_certificate(folder: Path, *, time_limit: float = DEFAULT_SECONDS) -> list[str]:
    """Check a certificate: everything in it that can be computed again is.

    Schedules, objectives, ratios, ranges, the proof of the optimum and that a second model confirms it, the heuristic
    with its own seed and the others, the ratios on random instances. The search is not repeated.

    Parameters
    ----------
    folder
        Of a search.
    time_limit
        Seconds for proving the optimum again, and the same for the second model.

    Returns
    -------
    list of str
        What does not hold, ``place: expected what, got value.`` each; empty where everything does.

    Raises
    ------
    OSError
        If the certificate cannot be read.
    ValueError
        If the file is no certificate.
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
    fields = JsonObject(value)
    found, version = fields.text("format"), fields.integer("version")
    if (found, version) != (FORMAT, VERSION):
        raise ValueError(f'format: expected "{FORMAT}" version {VERSION}, got "{found}" {version}.')
    document: dict[str, Any] = {
        "objective_name": fields.text("objective_name"),
        "instance_sha256": fields.text("instance_sha256"),
        "optimum": fields.integer("optimum"),
        **{name: fields.number(name) for name in ("ratio", "ratio_to_optimum")},
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


def _space(document: dict[str, Any]) -> SearchSpace:
    """Return the ranges of the search."""
    ranges = document["search"]["ranges"]
    return SearchSpace(**{**ranges, "changes": tuple(ranges["changes"])})


def _check_ranges(problems: list[str], document: dict[str, Any], instance: DagInstance) -> None:
    """Check that the instance is inside the ranges of the search."""
    try:
        space = _space(document)
    except (KeyError, TypeError, ValueError) as error:
        problems.append(f"search.ranges: expected ranges, got an error: {error}")
        return
    if not space.contains(instance):
        problems.append(f"instance: expected one inside the ranges ({space}), got another one.")


def _check_optimum(
    problems: list[str], document: dict[str, Any], instance: DagInstance, objective: Objective, time_limit: float
) -> None:
    """Prove the optimum again, told nothing of the stored one, and ask a second model where one is claimed."""
    limits: dict[str, Any] = {"time_limit": time_limit, "threads": 1}
    if document["proof"].get("confirmed_by") is not None:
        limits |= {"confirm": True, "confirm_time_limit": time_limit}
    result = solve(instance, "cp-sat", objective=objective, **limits)
    if result.status is not Status.OPTIMAL:
        problems.append(f"optimum: expected a proof within {time_limit:g} s, got none ({result.termination}).")
    else:
        _expect(problems, "optimum", result.objective, document["optimum"])
    if result.confirmation is not None and result.confirmation.confirmed_by is None:
        problems.append(f"proof.confirmed_by: expected a second model that does, got {result.confirmation.reason}.")


def _check_run(
    problems: list[str], name: str, given: dict[str, Any], instance: DagInstance, objective: Objective
) -> Contestant | None:
    """Run a heuristic again, with the other seeds too; None where that cannot be done."""
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
    except (KeyError, TypeError, ValueError) as error:
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
    except (KeyError, TypeError, ValueError) as error:
        problems.append(f"random_instances: expected some that can be made again, got an error: {error}")
        return
    for name, value in again.items():
        _expect(problems, f"random_instances.{name}", value, given.get(name))


def _check_files(problems: list[str], folder: Path, document: dict[str, Any]) -> None:
    """Check that the files beside the certificate hold what it holds; those that are gone are no problem."""
    stored = {INSTANCE: document["instance"]}
    stored |= {SCHEDULES[name]: schedule for name, schedule in document["schedules"].items() if name in SCHEDULES}
    for name, expected in stored.items():
        path = folder / name
        if not path.exists():
            continue
        try:
            is_same = parse_json(read_text(path)) == expected
        except ValueError:
            is_same = False
        if not is_same:
            problems.append(f"{name}: expected what the certificate holds, got something else.")
