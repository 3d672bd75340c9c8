"""Tests that linearising products leaves the integer solutions of a model as they are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo
import pytest

from formulations.dag.milp.linearised_nip import ONE, LinearisedNip, LinearisedProducts, Literal, PolynomialRing
from formulations.dag.milp.nip import Nip
from formulations.dag.probing.windows import windows
from instances.dag.objective import Objective

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


def holds(row: pyo.Constraint) -> bool:
    """Say whether the values of the variables satisfy a row."""
    value = pyo.value(row.body)
    return (row.lower is None or value >= row.lower - 1e-9) and (row.upper is None or value <= row.upper + 1e-9)


def assert_same_solutions(model: pyo.ConcreteModel) -> None:
    """Check for all binaries and a grid of continuous values that old and new rows hold or fail together."""
    old = list(model.component_data_objects(pyo.Constraint, active=True))
    linearised = LinearisedProducts(model)
    new = list(model.component_data_objects(pyo.Constraint, active=True))
    assert all(row.body.polynomial_degree() in (0, 1) for row in new)
    assert all(row.active or row.body.polynomial_degree() > 1 for row in old)
    binaries, others = list(model.x.values()), list(model.s.values())
    seen = set()
    for values in product((0, 1), repeat=len(binaries)):
        for grid in product((-3, -1, 0, 2), repeat=len(others)):
            for variable, value in zip((*binaries, *others), (*values, *grid), strict=True):
                variable.set_value(value)
            if not all(holds(row) for row in old if row.active):
                continue
            linearised.set_values()
            expected = all(holds(row) for row in old)
            assert all(holds(row) for row in new) == expected
            seen.add(expected)
    assert seen == {True, False}


def build() -> pyo.ConcreteModel:
    """Return a model with 5 binaries, the first two of which exclude each other, and 2 continuous variables."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(5), domain=pyo.Binary)
    model.s = pyo.Var(range(2), bounds=(-3, 2))
    model.one = pyo.Constraint(expr=model.x[0] + model.x[1] == 1)
    return model


def test_products_with_constants() -> None:
    """Tests a range of a sum of products of up to three binaries, beside a continuous variable."""
    model = build()
    x, s = model.x, model.s
    model.row = pyo.Constraint(expr=(-4, s[0] + 3 * x[2] * x[3] - 2 * x[0] * x[3] * (1 - x[4]) + x[1] * x[2] * x[3], 4))
    assert_same_solutions(model)


def test_equality_of_products() -> None:
    """Tests that products are pinned from both sides."""
    model = build()
    model.row = pyo.Constraint(expr=model.x[2] * model.x[3] == model.x[0] * model.x[4])
    assert_same_solutions(model)


def test_exclusive_products_with_forms() -> None:
    """Tests a row that holds where all products are 0, and asks one of two things of continuous variables else."""
    model = build()
    x, s = model.x, model.s
    both = x[0] * x[2] + x[1] * x[3]
    model.row = pyo.Constraint(expr=both * x[4] * (s[0] - s[1] + x[0] - 2 * x[1]) <= 0)
    model.other = pyo.Constraint(expr=both * (1 - x[4]) * (s[1] - 2 * s[0] + 1) <= 0)
    assert_same_solutions(model)


def test_random_rows() -> None:
    """Tests random sums of products with random coefficients."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        model = build()
        terms = []
        for _ in range(4):
            chosen = rng.choice(5, size=int(rng.integers(1, 4)), replace=False)
            literals = [model.x[int(i)] if rng.random() < 0.6 else 1 - model.x[int(i)] for i in chosen]
            term = int(rng.integers(-5, 6))
            for literal in literals:
                term = term * literal
            terms.append(term)
        model.row = pyo.Constraint(expr=sum(terms) + 3 * model.x[2] * model.x[3] + model.s[0] - 2 * model.s[1] <= 1)
        assert_same_solutions(model)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x, s: x[2] * s[0] + x[3] * s[1] <= 0, "expected exclusive products that sum to at most 0"),
        (lambda x, s: x[2] * s[0] <= 1, "expected exclusive products that sum to at most 0"),
        (lambda x, s: x[2] * s[0] == 0, "expected exclusive products that sum to at most 0"),
        (lambda x, s: s[0] + x[2] * s[0] <= 0, "expected exclusive products that sum to at most 0"),
        (lambda x, s: s[0] * s[1] <= 0, "expected no product of continuous variables"),
    ],
)
def test_other_rows_are_refused(make: object, message: str) -> None:
    """Tests that a row that the exact switch does not fit is refused, not approximated."""
    model = build()
    model.row = pyo.Constraint(expr=make(model.x, model.s))
    with pytest.raises(ValueError, match=message):
        LinearisedProducts(model)


def test_unbounded_variables_are_refused() -> None:
    """Tests that a form without bounds, which no constant switches off, is named."""
    model = build()
    model.free = pyo.Var()
    model.row = pyo.Constraint(expr=model.x[2] * model.free <= 0)
    with pytest.raises(ValueError, match="free: expected finite bounds in a product"):
        LinearisedProducts(model)


def test_linearised_nip_keeps_the_linear_rows(example_e: DagInstance) -> None:
    """Tests that the NIP's own linear rows stay, its other rows are replaced, and its variables are the same."""
    within = windows(example_e, Objective.MAKESPAN, lower_bound=0, objective_at_most=None)
    nip = Nip(example_e, Objective.MAKESPAN, within).pyomo_model
    linearised = LinearisedNip(example_e, Objective.MAKESPAN, within).pyomo_model
    kept = {row.name for row in linearised.component_data_objects(pyo.Constraint, active=True)}
    for row in nip.component_data_objects(pyo.Constraint, active=True):
        assert (row.name in kept) == (row.body.polynomial_degree() == 1)
    assert {v.name for v in nip.component_data_objects(pyo.Var)} < {
        v.name for v in linearised.component_data_objects(pyo.Var)
    }


@pytest.fixture
def model() -> pyo.ConcreteModel:
    """Return binaries x[0..3] and continuous s[0..1]."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(4), domain=pyo.Binary)
    model.s = pyo.Var(range(2), bounds=(0, 9))
    return model


def written(ring: PolynomialRing, expression: object) -> dict[str, float]:
    """Return an expanded expression with names of variables, complements with a bar."""
    result = {}
    for (literals, number), factor in ring.expand(expression).items():
        names = [("~" if one.is_complement else "") + ring.variables[one.number].name for one in sorted(literals)]
        names += [] if number is None else [ring.variables[number].name]
        result[" ".join(names) or "1"] = factor
    return result


def test_sums_and_products(model: pyo.ConcreteModel) -> None:
    """Tests an expression with everything: sums, negations, constants, named expressions, a continuous variable."""
    model.both = pyo.Expression(expr=model.x[0] * model.x[1] + 2 * model.x[2])
    expression = -model.both * (3 * model.s[0] - 5) + model.s[1] - 4
    assert written(PolynomialRing(), expression) == {
        "x[0] x[1] s[0]": -3.0, "x[0] x[1]": 5.0, "x[2] s[0]": -6.0, "x[2]": 10.0, "s[1]": 1.0, "1": -4.0,
    }  # fmt: skip


def test_powers_of_binaries(model: pyo.ConcreteModel) -> None:
    """Tests that a binary times itself is the binary, and terms that cancel are gone."""
    x = model.x
    assert written(PolynomialRing(), x[0] * x[1] * x[0] - x[1] * x[0] + x[2] * x[2]) == {"x[2]": 1.0}


def test_complements(model: pyo.ConcreteModel) -> None:
    """Tests that 1 - x is a literal of its own in a product, and excludes x; outside products it is a sum."""
    x, ring = model.x, PolynomialRing()
    assert written(ring, x[0] * (1 - x[1])) == {"x[0] ~x[1]": 1.0}
    assert written(ring, x[1] * (1 - x[1]) + x[0]) == {"x[0]": 1.0}
    assert written(ring, (1 - x[0]) * (1 - x[0])) == {"~x[0]": 1.0}
    assert written(ring, 1 - x[0]) == {"1": 1.0, "x[0]": -1.0}
    assert written(ring, x[0] * (2 - x[1])) == {"x[0]": 2.0, "x[0] x[1]": -1.0}
    assert written(ring, x[0] * (1 - model.s[0])) == {"x[0]": 1.0, "x[0] s[0]": -1.0}


def test_exclusive_binaries(model: pyo.ConcreteModel) -> None:
    """Tests that products of binaries of which at most one is 1 vanish; those of their complements do not."""
    x, ring = model.x, PolynomialRing()
    assert ring.expand(x[0] + x[1] + x[2] + x[3]).keys() == {(frozenset([Literal(i)]), None) for i in range(4)}
    ring.exclude([0, 1])
    assert written(ring, (x[0] + x[2]) * (x[1] + x[3])) == {"x[0] x[3]": 1.0, "x[1] x[2]": 1.0, "x[2] x[3]": 1.0}
    assert written(ring, x[0] * (1 - x[1])) == {"x[0] ~x[1]": 1.0}


def test_constants(model: pyo.ConcreteModel) -> None:
    """Tests numbers, parameters, fixed coefficients, and that 0 is the empty polynomial."""
    model.p = pyo.Param(initialize=4, mutable=True)
    assert PolynomialRing().expand(7) == {ONE: 7.0}
    assert PolynomialRing().expand(0.0) == {}
    assert written(PolynomialRing(), model.p * model.x[0] * 0.5 + model.p) == {"x[0]": 2.0, "1": 4.0}


def test_what_is_refused(model: pyo.ConcreteModel) -> None:
    """Tests that products of continuous variables and other functions are named."""
    with pytest.raises(ValueError, match=r"expected no product of continuous variables, got that of s\[0\] and s\[1\]"):
        PolynomialRing().expand(model.x[0] * (model.s[0] + 1) * model.s[1])
    with pytest.raises(ValueError, match="expected sums and products only, got PowExpression"):
        PolynomialRing().expand(model.s[0] ** 2)
