"""What switches the rows of the generalised disjunctive program off, from the windows."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyomo.environ as pyo
    from pyomo.gdp import Disjunct

    from formulations.dag.milp.generalised_disjunctive import GeneralisedDisjunctiveModel

Bounds = tuple[float | None, float | None]
"""The least (or most) that body minus right-hand side can be, for a lower (or an upper) side; None for the other."""


def constants(gdp: GeneralisedDisjunctiveModel) -> Iterator[tuple[pyo.Constraint, Bounds]]:
    """Yield what switches a row off, whichever other disjunct holds; the rest follows from bounds of variables."""
    model = gdp.pyomo_model
    for (task, k), place in model.place.items():
        others = [gdp.to_the_end(task, l) for l in gdp.gpus[task] if l != k]
        yield place.tail, (min(others, default=0) - gdp.to_the_end(task, k), None)
    for h, i in gdp.pairs:
        yield model.h_first[h, i].row, (min(0, _least_gap(gdp, h, i)), None)
        yield model.i_first[h, i].row, (min(0, _least_gap(gdp, i, h)), None)
    for (edge, k, l), route in model.route.items():
        others = [_least_gap_on(gdp, edge, pair) for pair in gdp.routes[edge] if pair != (k, l)]
        yield route.after, (min(others, default=0) - gdp.routes[edge][k, l], None)


def constants_per_disjunct(
    gdp: GeneralisedDisjunctiveModel,
) -> Iterator[tuple[tuple[pyo.Constraint, Disjunct], Bounds]]:
    """Yield what switches a row off while another disjunct of its disjunction holds, for all rows and disjuncts."""
    model = gdp.pyomo_model
    for (task, k), place in model.place.items():
        for l in gdp.gpus[task]:
            if l != k:
                surplus = gdp.to_the_end(task, l) - gdp.to_the_end(task, k)
                yield (place.tail, model.place[task, l]), (surplus, None)
    for (h, i), common in gdp.pairs.items():
        h_first, i_first, apart = model.h_first[h, i], model.i_first[h, i], model.apart[h, i]
        yield (h_first.row, i_first), (_least_gap(gdp, h, i), None)
        yield (i_first.row, h_first), (_least_gap(gdp, i, h), None)
        yield (h_first.row, apart), (_least_gap(gdp, h, i, not_both_on=common), None)
        yield (i_first.row, apart), (_least_gap(gdp, i, h, not_both_on=common), None)
        for k in common:
            for other in (h_first, i_first):
                yield (apart.row[k], other), (None, 1)
    for (edge, k, l), route in model.route.items():
        for pair in gdp.routes[edge]:
            if pair != (k, l):
                surplus = _least_gap_on(gdp, edge, pair) - gdp.routes[edge][k, l]
                yield (route.after, model.route[edge, *pair]), (surplus, None)


def _least_gap(
    gdp: GeneralisedDisjunctiveModel, before: int, later: int, *, not_both_on: list[int] | None = None
) -> int:
    """Return a lower bound on start of one task minus finish of another, in ticks, from their windows."""
    heads, latest = gdp.within.around.heads, gdp.within.latest_finish
    apart = not_both_on or []
    return min(
        (
            int(heads[later, l] - latest[before, k])
            for k, l in product(gdp.gpus[before], gdp.gpus[later])
            if k != l or k not in apart
        ),
        default=0,  # they cannot sit apart, so that no row needs switching off
    )


def _least_gap_on(gdp: GeneralisedDisjunctiveModel, edge: int, pair: tuple[int, int]) -> int:
    """Return the same for the ends of an edge on a pair of GPUs: at least the delay."""
    (h, i), (k, l) = gdp.instance.edges[edge].tolist(), pair
    gap = int(gdp.within.around.heads[i, l] - gdp.within.latest_finish[h, k])
    return max(gdp.routes[edge][pair], gap)
