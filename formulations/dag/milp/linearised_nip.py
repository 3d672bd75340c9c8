"""The nonlinear integer program, exactly linearised: products of binaries as polynomials, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, Any

import pyomo.environ as pyo
from pyomo.core.expr import value
from pyomo.core.expr.numeric_expr import NegationExpression, ProductExpression, SumExpression

from formulations.dag.milp.nip import Nip

if TYPE_CHECKING:
    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


class LinearisedNip(Nip):
    """The order form of the NIP as a MILP: the same rows, every product replaced by `LinearisedProducts`.

    Attributes
    ----------
    pyomo_model
        As in `Nip`, with the block ``linearised`` in the place of the rows with products, which are deactivated.

    Raises
    ------
    ModelTooLargeError
        As `Nip`.
    """

    def __init__(self, instance: DagInstance, objective: Objective, within: Windows) -> None:
        super().__init__(instance, objective, within, form="order")
        self._products = LinearisedProducts(self.pyomo_model)

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        if not super().set_start(schedule):
            return False
        self._products.set_values()
        return True


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A binary by its number, or its complement, 1 minus it."""

    number: int
    is_complement: bool = False


Monomial = tuple[frozenset[Literal], int | None]
"""Literals that are multiplied, and the number of at most one continuous variable."""

Polynomial = dict[Monomial, float]
"""Coefficient of every monomial; those of 0 are left out."""

ONE: Monomial = (frozenset(), None)
"""The monomial of constants."""


class PolynomialRing:
    """Expands expressions, and numbers the variables in the order in which they are met.

    A power of a literal is the literal; the product of a binary and its complement is 0, and so is that of two binaries
    of which at most one can be 1. `variables` has the Pyomo variable of every number.
    """

    def __init__(self) -> None:
        self.variables: list[pyo.Var] = []
        self._number_of: dict[int, int] = {}
        self._groups_of: dict[int, set[int]] = {}
        self._num_groups = 0

    def exclude(self, numbers: list[int]) -> None:
        """Record that at most one of some binaries can be 1."""
        for number in numbers:
            self._groups_of.setdefault(number, set()).add(self._num_groups)
        self._num_groups += 1

    def is_zero(self, literals: frozenset[Literal]) -> bool:
        """Say whether two literals exclude each other, so that their product is 0."""
        seen: set[int] = set()
        for literal in literals:
            if Literal(literal.number, not literal.is_complement) in literals:
                return True
            groups = set() if literal.is_complement else self._groups_of.get(literal.number, set())
            if groups & seen:
                return True
            seen |= groups
        return False

    def expand(self, expression: Any) -> Polynomial:
        """Expand an expression.

        Raises a `ValueError` if it multiplies two continuous variables, or contains anything but sums, products and
        named expressions.
        """
        if isinstance(expression, int | float) or not expression.is_potentially_variable():
            return _sum([{ONE: float(value(expression))}])
        if expression.is_variable_type():
            return self._variable(expression)
        if expression.is_named_expression_type():
            return self.expand(expression.expr)
        if isinstance(expression, NegationExpression):
            return {monomial: -factor for monomial, factor in self.expand(expression.args[0]).items()}
        if isinstance(expression, SumExpression):
            return _sum([self.expand(term) for term in expression.args])
        if isinstance(expression, ProductExpression):
            first, second = (_with_complement(self.expand(factor)) for factor in expression.args)
            return self._times(first, second)
        raise ValueError(f"expression: expected sums and products only, got {type(expression).__name__}.")

    def _variable(self, variable: pyo.Var) -> Polynomial:
        """Return a variable as a polynomial."""
        number = self._number_of.setdefault(id(variable), len(self.variables))
        if number == len(self.variables):
            self.variables.append(variable)
        return {(frozenset([Literal(number)]), None) if variable.is_binary() else (frozenset(), number): 1.0}

    def _times(self, first: Polynomial, second: Polynomial) -> Polynomial:
        """Multiply."""
        terms = []
        for ((ones, scaled), a), ((others, other), b) in product(first.items(), second.items()):
            if self.is_zero(ones | others):
                continue
            if scaled is not None and other is not None:
                names = f"{self.variables[scaled].name} and {self.variables[other].name}"
                raise ValueError(f"expression: expected no product of continuous variables, got that of {names}.")
            terms.append({(ones | others, other if scaled is None else scaled): a * b})
        return _sum(terms)


def _sum(polynomials: list[Polynomial]) -> Polynomial:
    """Add, and drop monomials with coefficient 0."""
    result: Polynomial = {}
    for polynomial in polynomials:
        for monomial, factor in polynomial.items():
            result[monomial] = result.get(monomial, 0.0) + factor
    return {monomial: factor for monomial, factor in result.items() if factor}


def _with_complement(factor: Polynomial) -> Polynomial:
    """Return 1 - y, for a binary y, as one literal; any other factor as it is."""
    if len(factor) == 2 and factor.get(ONE) == 1.0:
        (literals, scaled), coefficient = next(item for item in factor.items() if item[0] != ONE)
        if scaled is None and coefficient == -1.0 and len(literals) == 1:
            (literal,) = literals
            return {(frozenset([Literal(literal.number, not literal.is_complement)]), None): 1.0}
    return factor


Literals = frozenset[Literal]


class LinearisedProducts:
    """Replaces every row that multiplies variables by linear rows; integer solutions stay exactly as they were.

    Every body is expanded and sorted by products of binaries (and complements 1 - x) to the sum over S of z_S L_S, with
    z_S = product of the literals of S and L_S linear in continuous variables. Every z_S of two literals or more becomes
    a continuous variable (Fortet; Glover and Woolsey):

        z_S <= each literal of S,   z_S >= sum of the literals of S - (|S| - 1),   0 <= z_S <= 1.

    If every L_S is a constant, the row is then linear in z. A row sum over S of z_S L_S <= 0 whose products exclude
    each other requires L_S <= 0 where z_S = 1; with L_S <= hi_S from the bounds of its variables

        L_S <= hi_S (1 - z_S)   for every S,

    which is exact for z_S in {0, 1}. Binaries that sum to 1 in some row of the model exclude each other. The
    linearisations are textbook; the expansion over exclusive products, one row each, is ours (docs/formulations.md,
    section 9.2).

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
        """Record binaries that sum to 1."""
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
        """Add the linear rows that replace a row."""
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
        """Return the expression that replaces a product."""
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
    """Sort a polynomial by products of literals: return the factor of each of them."""
    parts: dict[Literals, Polynomial] = {}
    for (literals, number), factor in polynomial.items():
        parts.setdefault(literals, {})[frozenset(), number] = factor
    return parts
