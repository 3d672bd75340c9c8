"""Tests of expanding Pyomo expressions to polynomials."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from formulations.dag.milp.polynomial import ONE, Literal, PolynomialRing


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
