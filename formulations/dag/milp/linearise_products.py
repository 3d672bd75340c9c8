"""From a Pyomo model with products of binaries to an equivalent linear one, row by row."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import pyomo.environ as pyo

from formulations.dag.milp.polynomial import ONE, Literal, PolynomialRing

if TYPE_CHECKING:
    from formulations.dag.milp.polynomial import Polynomial

Literals = frozenset[Literal]


class LinearisedProducts:
    """Replaces every row that multiplies variables by linear ones; integer solutions stay exactly as they were.

    Every body is expanded and sorted by products of binaries (and complements 1 - x) to the sum over S of z_S L_S, with
    z_S = product of the literals of S and L_S linear in continuous variables. Every z_S of two literals or more becomes
    a continuous variable (Fortet; Glover and Woolsey):

        z_S <= each literal of S,   z_S >= sum of the literals of S - (|S| - 1),   0 <= z_S <= 1.

    Where every L_S is a constant that is all: the row is linear in z. A row that says sum over S of z_S L_S <= 0 with
    products that exclude each other asks that L_S <= 0 where z_S = 1; with L_S <= hi_S from the bounds of its variables

        L_S <= hi_S (1 - z_S)   for every S,

    which is exact for z_S in {0, 1}. Binaries of which a row of the model says that they sum to 1 exclude each other.
    The linearisations are textbook; to expand over exclusive products, one row each, is ours.

    Parameters
    ----------
    model
        Changed in place: rows with products are deactivated, the block ``linearised`` is added.

    Raises
    ------
    ValueError
        If a row with products is of neither kind, or a continuous variable in a product has no finite bounds.
    """

    def __init__(self, model: pyo.ConcreteModel) -> None:
        self._ring = PolynomialRing()
        self._products: dict[Literals, int] = {}
        rows = list(model.component_data_objects(pyo.Constraint, active=True))
        for row in rows:
            self._note_exclusive(row)
        nonlinear = [row for row in rows if row.body.polynomial_degree() not in (0, 1)]
        sorted_rows = [_by_product(self._ring.expand(row.body)) for row in nonlinear]
        for parts in sorted_rows:
            for literals in parts:
                if len(literals) > 1:
                    self._products.setdefault(literals, len(self._products))
        model.linearised = pyo.Block()
        self._block = model.linearised
        self._add_products()
        self._block.rows = pyo.ConstraintList()
        for row, parts in zip(nonlinear, sorted_rows, strict=True):
            self._add_row(row, parts)
            row.deactivate()

    def set_values(self) -> None:
        """Give the new variables the values that follow from those of the model."""
        for literals, index in self._products.items():
            self._block.product[index].set_value(prod(pyo.value(self._literal(literal)) for literal in literals))

    def _note_exclusive(self, row: pyo.Constraint) -> None:
        """Take note of binaries that sum to 1."""
        if not row.equality or row.body.polynomial_degree() != 1:
            return
        polynomial = self._ring.expand(row.body - row.upper)
        constant = polynomial.pop(ONE, 0.0)
        numbers = [literal.number for literals, _ in polynomial for literal in literals]
        if constant and len(numbers) == len(polynomial) and all(a == -constant for a in polynomial.values()):
            self._ring.exclude(numbers)

    def _add_products(self) -> None:
        """Add z = product of literals."""
        block = self._block
        block.product = pyo.Var(range(len(self._products)), bounds=(0, 1))
        block.product_rows = pyo.ConstraintList()
        for literals, index in self._products.items():
            factors = [self._literal(literal) for literal in sorted(literals)]
            for factor in factors:
                block.product_rows.add(block.product[index] <= factor)
            block.product_rows.add(block.product[index] >= sum(factors) - (len(factors) - 1))

    def _add_row(self, row: pyo.Constraint, parts: dict[Literals, Polynomial]) -> None:
        """Add what stands for a row."""
        if all(set(part) == {ONE} for literals, part in parts.items() if literals):
            body = sum(self._product(literals) * self._linear(part) for literals, part in parts.items())
            self._block.rows.add((row.lower, body, row.upper))
            return
        exclusive = all(self._ring.is_zero(first | second) for first, second in combinations(parts, 2))
        if not exclusive or row.lower is not None or row.upper != 0:
            raise ValueError(f"{row.name}: expected exclusive products that sum to at most 0, got another row.")
        for literals, part in parts.items():
            most = sum(
                factor if monomial == ONE else self._most(monomial[1], factor) for monomial, factor in part.items()
            )
            self._block.rows.add(self._linear(part) <= most * (1 - self._product(literals)))

    def _literal(self, literal: Literal) -> pyo.Expression:
        """Return a binary or its complement."""
        variable = self._ring.variables[literal.number]
        return 1 - variable if literal.is_complement else variable

    def _product(self, literals: Literals) -> pyo.Expression | int:
        """Return what stands for a product."""
        if len(literals) > 1:
            return self._block.product[self._products[literals]]
        return self._literal(next(iter(literals))) if literals else 1

    def _linear(self, part: Polynomial) -> pyo.Expression | float:
        """Write a linear form."""
        return sum(
            factor if number is None else factor * self._ring.variables[number] for (_, number), factor in part.items()
        )

    def _most(self, number: int | None, factor: float) -> float:
        """Return the largest value of a factor times a continuous variable."""
        assert number is not None  # constants are the caller's
        variable = self._ring.variables[number]
        if variable.lb is None or variable.ub is None:
            raise ValueError(f"{variable.name}: expected finite bounds in a product, got {variable.bounds}.")
        return float(max(factor * variable.lb, factor * variable.ub))


def _by_product(polynomial: Polynomial) -> dict[Literals, Polynomial]:
    """Sort by products of literals: what each of them is multiplied with."""
    parts: dict[Literals, Polynomial] = {}
    for (literals, number), factor in polynomial.items():
        parts.setdefault(literals, {})[frozenset(), number] = factor
    return parts
