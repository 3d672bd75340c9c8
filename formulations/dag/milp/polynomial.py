"""Pyomo expressions as polynomials in binaries, their complements, and continuous variables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from pyomo.core.expr import value
from pyomo.core.expr.numeric_expr import NegationExpression, ProductExpression, SumExpression

if TYPE_CHECKING:
    import pyomo.environ as pyo


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A binary by its number, or 1 minus it."""

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
    of which at most one can be 1.

    Attributes
    ----------
    variables
        Pyomo variable of every number.
    """

    def __init__(self) -> None:
        self.variables: list[pyo.Var] = []
        self._number_of: dict[int, int] = {}
        self._groups_of: dict[int, set[int]] = {}
        self._num_groups = 0

    def exclude(self, numbers: list[int]) -> None:
        """Take note that at most one of some binaries can be 1."""
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

        Raises
        ------
        ValueError
            If it multiplies two continuous variables, or holds anything but sums, products and named expressions.
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
    """Read 1 - y, for a binary y, as one literal."""
    if len(factor) == 2 and factor.get(ONE) == 1.0:
        (literals, scaled), coefficient = next(item for item in factor.items() if item[0] != ONE)
        if scaled is None and coefficient == -1.0 and len(literals) == 1:
            (literal,) = literals
            return {(frozenset([Literal(literal.number, not literal.is_complement)]), None): 1.0}
    return factor
