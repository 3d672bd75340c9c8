"""Tests of reading specifications of studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from instances.dag.objective import Objective
from studies.experiment.read_specification import read_study_spec, shipped_specs, spec_path, study_spec_from_toml
from studies.experiment.specification import (
    ExactReference,
    InstanceFiles,
    InstanceGrid,
    SearchBudget,
    StudyMethod,
    drawn_seed,
)
from tests.studies.experiment.study_specs import SMALL, small_spec

if TYPE_CHECKING:
    from pathlib import Path


def test_every_part_is_read(tmp_path: Path) -> None:
    """Tests that a file becomes the specification that it says."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL + '\n[limits]\nrun_seconds = 5\nmemory_gib = 2.5\n[[instances]]\nfiles = "a/*.json"\n')
    spec = read_study_spec(path)
    assert (spec.name, spec.seed, spec.repetitions, spec.threads) == ("small", 3, 2, 1)
    assert spec.folder == tmp_path
    assert spec.text.startswith(SMALL)
    assert spec.objective is Objective.MAKESPAN
    grid, files = spec.instances
    assert grid == InstanceGrid(families=("layered",), tasks=(6, 8), clusters=("mixed-2",), ccr=(0.5,))
    assert files == InstanceFiles(patterns=("a/*.json",))
    assert spec.methods[0] == StudyMethod(label="heft", method="heft")
    assert spec.methods[2].parameters == {"population": 5, "heft_seed": False}
    assert spec.budgets == (SearchBudget(evaluations=40), SearchBudget(evaluations=80))
    assert spec.bounds == ("critical-path", "area")
    assert spec.exact == (ExactReference(method="cp-sat", time_limit=20.0),)
    assert (spec.run_seconds, spec.memory_gib) == (5.0, 2.5)


def test_seeds_are_drawn_from_a_text() -> None:
    """Tests that every seed changes with the text, that equal ones stay equal, and that the text says so."""
    spec = study_spec_from_toml(f'{SMALL}\n[[instances]]\nfamily = "lu"\ntasks = 9\ncluster = "2xT4"\nseed = 3')
    drawn, other = spec.drawn_from("a"), spec.drawn_from("b")
    first, second = drawn.instances
    assert isinstance(first, InstanceGrid)
    assert isinstance(second, InstanceGrid)
    assert (drawn.seed, first.seed) == (drawn_seed("a", 3), drawn_seed("a", 0))
    assert drawn.seed == second.seed != first.seed
    assert min(drawn.seed, first.seed, other.seed) >= 2**31
    assert max(drawn.seed, first.seed, other.seed) < 2**32
    assert other.seed != drawn.seed
    assert drawn == spec.drawn_from("a")
    assert drawn.text == f"# all seeds drawn from 'a'\n{spec.text}"
    assert study_spec_from_toml(drawn.text).methods == spec.methods


def test_defaults() -> None:
    """Tests what holds where nothing is said."""
    spec = study_spec_from_toml('study.name = "s"\n[[instances]]\nfamily = "lu"\ntasks = 9\ncluster = "2xT4"')
    assert (spec.repetitions, spec.bounds, spec.exact, spec.methods) == (1, ("default",), (), ())
    assert study_spec_from_toml(f"{spec.text}\n[reference]\nbounds = []").bounds == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', 'nam = "small"', "study: expected the key 'name', got the key 'nam' .did you mean name"),
        ("seed = 3", "seeds = 3", r"study: expected .*, got the key 'seeds' \(did you mean seed\?\)."),
        ("seed = 3", "seed = -3", "study.seed: expected an integer of at least 0, got -3."),
        ("repetitions = 2", "repetitions = true", "study.repetitions: expected an integer of at least 1, got True."),
        ("seed = 3", 'objective = "span"', "study.objective: expected one of makespan, .*, got 'span'."),
        ('"layered"', '"layerd"', r"instances\[0\].family: expected one of .*got 'layerd' \(did you mean layered\?\)."),
        ('"layered"', "[]", r"instances\[0\].family: expected at least one value, got none."),
        ("[6, 8]", "[6, 6]", r"instances\[0\].tasks: expected each value once"),
        ("[6, 8]", str(10**12), r"instances\[0\].tasks: expected an integer of at most 1000000, got 1000000000000."),
        (
            "repetitions = 2",
            f"repetitions = {10**18}",
            "study.repetitions: expected an integer of at most 10000, got 10+.",
        ),
        ("ccr = 0.5", f"count = {10**9}", r"instances\[0\].count: expected an integer of at most 10000, got 10+."),
        ("[6, 8]", "[6, 0]", r"instances\[0\].tasks\[1\]: expected an integer of at least 1, got 0."),
        ("ccr = 0.5", "ccr = nan", r"instances\[0\].ccr: expected a finite number, got nan."),
        ("ccr = 0.5", "cost = { ccr = 1 }", r"instances\[0\].cost: expected one of tick_seconds, .*, got 'ccr'."),
        ('"random-search"', '"random-serch"', r"methods\[1\].method: expected one of cp-sat, .*did you mean"),
        ('label = "woa, no HEFT seed"', 'label = "heft"', "methods: expected each label once, got 'heft' twice."),
        (
            "seed = 3",
            "seed = 9223372036854775808",
            r"study.seed: expected an integer of at most 9223372036854775807, got",
        ),
        ("evaluations = 80", "evaluations = 40", "budgets: expected each budget once, got '40 evaluations' twice."),
        ("evaluations = 80", "", r"budgets\[1\].evaluations: expected evaluations, seconds or both, got neither."),
        ("evaluations = 80", "seconds = 0", r"budgets\[1\].seconds: expected a number above 0, got 0."),
        ("evaluations = 80", 'seconds = "1"', r"budgets\[1\].seconds: expected a finite number, got '1'."),
        ('"area"', '"aria"', r"reference.bounds\[1\]: expected one of default, .*did you mean area"),
        ('method = "cp-sat"', 'method = "heft"', r"reference.exact\[0\].method: expected one of cp-sat, .*got 'heft'."),
        ("time_limit = 20", "", r"reference.exact\[0\]: expected the key 'time_limit', got none."),
        ("[reference]", "[referenc]", r"file: expected .*, got the key 'referenc' \(did you mean reference\?\)."),
        ("[[budgets]]", "[budgets]", r"file: expected TOML, got an error"),
        (
            "{ population = 5",
            "{ population = 1979-05-27",
            r"methods\[2\].parameters.population: expected a truth value",
        ),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    """Tests that a broken specification is refused with its place and what was expected there."""
    with pytest.raises(ValueError, match=message):
        small_spec((old, new))


def test_shipped_specifications() -> None:
    """Tests that every shipped specification is found by name and can be read, and that others are refused."""
    assert {"quick", "whales", "authors_setting"} <= set(shipped_specs())
    for name, path in shipped_specs().items():
        assert spec_path(name) == path
        assert read_study_spec(path).name.replace("-", "_") == name
    assert spec_path("authors-setting") == shipped_specs()["authors_setting"]
    with pytest.raises(ValueError, match=r"specification: expected .*got 'wales' \(did you mean whales\?\)."):
        spec_path("wales")
