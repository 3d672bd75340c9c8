"""Tests of the register of methods."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from solvers.bound_methods import BOUND_METHODS
from solvers.methods import KINDS_WITH_RUN, METHODS
from solvers.problem import DAG

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", METHODS)
def test_path_leads_to_a_function_of_its_kind(name: str) -> None:
    """Tests that a method resolves to a documented function whose parameters fit its kind."""
    method = METHODS[name]
    function = method.resolve()
    wanted = inspect.signature(function).parameters
    assert next(iter(wanted)) == "instance"
    assert ("run" in wanted) == (method.kind in KINDS_WITH_RUN)
    assert ("stop" in wanted) == (method.kind == "search")
    assert function.__doc__
    assert method.summary
    assert method.source
    assert DAG.resolve_method(name)[0] == method.kind
    if method.kind not in KINDS_WITH_RUN:
        assert DAG.resolve_method(function)[0] == method.kind


@pytest.mark.parametrize("name", METHODS)
def test_names_are_those_of_the_command_line(name: str) -> None:
    """Tests that names are lower case with hyphens."""
    assert name == name.lower().replace("_", "-").strip()
    assert " " not in name


def test_bounds_have_names_of_their_own() -> None:
    """Tests that no bound is called like a method, as both are chosen by name."""
    assert not set(METHODS) & set(BOUND_METHODS)


def test_warm_starts_are_constructions() -> None:
    """Tests that exact methods start from registered constructions that need nothing but the instance."""
    for name in DAG.warm_starts:
        assert METHODS[name].kind == "construction"
        required = [
            parameter
            for parameter in inspect.signature(METHODS[name].resolve()).parameters.values()
            if parameter.default is inspect.Parameter.empty
        ]
        assert [parameter.name for parameter in required] == ["instance"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("heftt", " (did you mean heft?)"), ("cpsat", " (did you mean cp-sat?)"), ("gurobi-xyz", ""), ("", "")],
)
def test_unknown_name(name: str, hint: str) -> None:
    """Tests that an unknown name lists the known ones and suggests a close one, if there is one."""
    with pytest.raises(ValueError) as caught:
        DAG.method_named(name)
    assert str(caught.value) == f"method: expected one of {', '.join(DAG.methods)}, got {name!r}{hint}."


def test_listing_imports_no_solver() -> None:
    """Tests that the register alone loads none of the heavy packages."""
    heavy = ["ortools", "numba", "highspy", "deap", "matplotlib", "networkx"]
    program = f"import sys, solvers.methods; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout.strip() == "[]"
