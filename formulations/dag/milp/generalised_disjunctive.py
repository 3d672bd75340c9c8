"""The DAG problem as a generalised disjunctive program, and the MILPs that Pyomo.GDP makes of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal, get_args

import pyomo.environ as pyo
from pyomo.core.expr.visitor import identify_variables
from pyomo.gdp import Disjunct, Disjunction

from formulations.dag.incomparable_pairs import incomparable_pairs
from formulations.dag.milp.core_model import CoreModel, add_load_rows, possible_delays
from formulations.dag.milp.interface import check_model_size
from formulations.model_too_large import ModelTooLargeError
from instances.dag.objective import finish_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from formulations.dag.windows import Windows
    from instances.dag.instance import DagInstance
    from instances.dag.objective import Objective
    from instances.dag.schedule import DagSchedule


Transformation = Literal["bigm", "mbigm", "hull"]
"""How a disjunction becomes rows: a constant per row, one per row and other disjunct, or the convex hull."""

MAX_DISJUNCTS = 5_000
"""Far more than can be solved to proof; building takes between 0.3 (bigm) and 2 (hull) milliseconds per disjunct."""


class GeneralisedDisjunctiveModel(CoreModel):
    """Choices as disjunctions: where a task runs, which of two tasks goes first, which link an edge takes.

    With dur[i] the duration of i, one disjunct of each of these holds:

        task i:       for one k:  dur[i] = p[i,k],  H[i,k] <= s[i] <= D[i,k] - p[i,k],  C >= s[i] + p[i,k] + T[i,k]
        pair h < i:   s[i] >= s[h] + dur[h];  or s[h] >= s[i] + dur[i];  or x[h,k] + x[i,k] <= 1 for all common k
        edge (h, i):  for one (k,l):  x[h,k] = 1,  x[i,l] = 1,  s[i] >= s[h] + dur[h] + c[h,i](k,l)

    where x[i,k] is the indicator of "i on k", pairs are incomparable and common GPUs are those where both take time. An
    indicator of 0 does not negate its disjunct, so "exactly one" is valid. Memory and load rows are outside of the
    disjunctions. The statement follows textbooks of generalised disjunctive programming; shape and constants are ours
    (docs/formulations.md, section 8).

    Parameters
    ----------
    transformation
        "bigm": rows are switched off by the constants of `DisjunctiveModel` (any GPUs) and by those that the other
        disjuncts imply; "mbigm": a constant for every other disjunct, all of them given, so that no solver has to
        compute them; "hull": variables are disaggregated, on edges to what `add_reduced_transfers` states.

    Attributes
    ----------
    pyomo_model
        As in `CoreModel`, with ``duration[i]`` and the transformed disjuncts ``place[i, k]``, ``h_first[h, i]``,
        ``i_first[h, i]``, ``apart[h, i]`` and ``route[e, k, l]``.
    pairs
        Common GPUs of every pair of tasks (h, i) that may compete.
    routes
        Delays in ticks of every edge that has any, by pair of GPUs (from, to).

    Raises
    ------
    ModelTooLargeError
        If there are too many disjuncts, or the horizon is so long that tolerances could switch rows off.
    ValueError
        If there is no such transformation.
    """

    def __init__(
        self, instance: DagInstance, objective: Objective, within: Windows, *, transformation: Transformation = "bigm"
    ) -> None:
        if transformation not in get_args(Transformation):
            choices = ", ".join(get_args(Transformation))
            raise ValueError(f"transformation: expected one of {choices}, got {transformation!r}.")
        check_model_size(instance, within)
        self.pairs = {(h, i): common for h, i, common in incomparable_pairs(instance, within.around.allowed)}
        num_left = within.around.allowed.sum(axis=1)
        num_routes = int((num_left[instance.edges[:, 0]] * num_left[instance.edges[:, 1]]).sum())
        num_disjuncts = int(num_left.sum()) + 3 * len(self.pairs) + num_routes
        if num_disjuncts > MAX_DISJUNCTS:
            raise ModelTooLargeError(f"tasks: expected at most {MAX_DISJUNCTS} disjuncts, got up to {num_disjuncts}.")
        super().__init__(instance, objective, within)
        self.routes = {
            edge: possible_delays(self, edge)
            for edge in range(instance.num_edges)
            if instance.transfer_delays(edge).any()
        }
        self._fill_places()
        self._add_orders()
        self._add_transfers()
        add_load_rows(self)
        self._aggregates: list[tuple[pyo.Var, list[tuple[pyo.Var, pyo.Var]]]] = []
        self._transform(transformation)

    def finish(self, task: int) -> pyo.Expression:
        """Return the finish of a task."""
        return self.pyomo_model.start[task] + self.pyomo_model.duration[task]

    def set_start(self, schedule: DagSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if it lies outside the windows."""
        schedule = self.in_index_order(schedule)
        if not super().set_start(schedule):
            return False
        model, gpu = self.pyomo_model, schedule.gpu.tolist()
        start, finish = schedule.start.tolist(), finish_times(self.instance, schedule).tolist()
        for task, k in enumerate(gpu):
            model.duration[task].set_value(int(self.instance.durations[task, k]))
        for (h, i), common in self.pairs.items():
            shared = gpu[h] == gpu[i] and gpu[h] in common
            model.h_first[h, i].binary_indicator_var.set_value(int(shared and finish[h] <= start[i]))
            model.i_first[h, i].binary_indicator_var.set_value(int(shared and finish[h] > start[i]))
            model.apart[h, i].binary_indicator_var.set_value(int(not shared))
        for edge, k, l in model.route:
            h, i = self.instance.edges[edge].tolist()
            model.route[edge, k, l].binary_indicator_var.set_value(int(gpu[h] == k and gpu[i] == l))
        for part, sources in self._aggregates:
            part.set_value(sum(source.value * indicator.value for source, indicator in sources))
        return True

    def _add_placement(self) -> Mapping[tuple[int, int], pyo.Var]:
        """Give every task one GPU; the disjuncts are filled once starts and completion exist."""
        model, tasks = self.pyomo_model, range(self.instance.num_tasks)
        model.place = Disjunct([(task, k) for task in tasks for k in self.gpus[task]])
        model.one_gpu = Disjunction(tasks, rule=lambda m, task: [m.place[task, k] for k in self.gpus[task]])
        return {pair: model.place[pair].binary_indicator_var for pair in model.place}

    def _add_window_rows(self) -> None:
        """Leave the windows to the disjuncts."""

    def _add_tail_rows(self) -> None:
        """Leave the tails to the disjuncts."""

    def _fill_places(self) -> None:
        """Add the rows that hold for a task on a GPU."""
        model, durations, heads = self.pyomo_model, self.instance.durations, self.within.around.heads
        shortest = [min(int(durations[task, k]) for k in left) for task, left in enumerate(self.gpus)]
        longest = [max(int(durations[task, k]) for k in left) for task, left in enumerate(self.gpus)]
        model.duration = pyo.Var(range(len(self.gpus)), bounds=lambda _, task: (shortest[task], longest[task]))
        for (task, k), place in model.place.items():
            start = model.start[task]
            place.duration = pyo.Constraint(expr=model.duration[task] == int(durations[task, k]))
            place.head = pyo.Constraint(expr=start >= int(heads[task, k]))
            place.latest = pyo.Constraint(expr=start <= int(self.latest_start[task, k]))
            place.tail = pyo.Constraint(expr=self.ends(task) - start >= self.to_the_end(task, k))

    def to_the_end(self, task: int, k: int) -> int:
        """Return the least time from the start of a task on a GPU to the end, p + T."""
        return int(self.instance.durations[task, k] + self.tails[task, k])

    def _add_orders(self) -> None:
        """Let one of two tasks go first, unless they sit apart."""
        model = self.pyomo_model
        model.h_first, model.i_first, model.apart = (Disjunct(list(self.pairs)) for _ in range(3))
        for (h, i), common in self.pairs.items():
            model.h_first[h, i].row = pyo.Constraint(expr=model.start[i] - self.finish(h) >= 0)
            model.i_first[h, i].row = pyo.Constraint(expr=model.start[h] - self.finish(i) >= 0)
            model.apart[h, i].row = pyo.Constraint(
                common, rule=lambda _, k, h=h, i=i: self.on[h, k] + self.on[i, k] <= 1
            )
        model.order = Disjunction(
            list(self.pairs), rule=lambda m, h, i: [m.h_first[h, i], m.i_first[h, i], m.apart[h, i]]
        )

    def _add_transfers(self) -> None:
        """Let data arrive before a task starts, by the link between the two GPUs."""
        model, ends = self.pyomo_model, self.instance.edges.tolist()
        model.route = Disjunct([(edge, k, l) for edge, delays in self.routes.items() for k, l in delays])
        for (edge, k, l), route in model.route.items():
            h, i = ends[edge]
            route.leaves = pyo.Constraint(expr=self.on[h, k] >= 1)
            route.arrives = pyo.Constraint(expr=self.on[i, l] >= 1)
            route.after = pyo.Constraint(expr=model.start[i] - self.finish(h) >= self.routes[edge][k, l])
        possible = [edge for edge, delays in self.routes.items() if delays]
        model.one_route = Disjunction(
            possible, rule=lambda m, edge: [m.route[edge, k, l] for k, l in self.routes[edge]]
        )
        impossible = [edge for edge, delays in self.routes.items() if not delays]  # then no schedule is in the windows
        model.no_route = pyo.Constraint(
            impossible, rule=lambda _, edge: sum(self.on[ends[edge][0], k] for k in self.gpus[ends[edge][0]]) <= 0
        )
        free = [edge for edge in range(self.instance.num_edges) if edge not in self.routes]
        model.after = pyo.Constraint(free, rule=lambda m, edge: m.start[ends[edge][1]] >= self.finish(ends[edge][0]))

    def _transform(self, transformation: Transformation) -> None:
        """Turn the disjunctions into rows."""
        model = self.pyomo_model
        if transformation == "bigm":
            pyo.TransformationFactory("gdp.bigm").apply_to(model, bigM=dict(constants(self)))
        elif transformation == "mbigm":
            pyo.TransformationFactory("gdp.mbigm").apply_to(model, bigM=dict(constants_per_disjunct(self)), threads=1)
        else:
            disjunctions = list(model.component_data_objects(Disjunction, active=True))
            seen = [self._variables(disjunction) for disjunction in disjunctions]
            hull = pyo.TransformationFactory("gdp.hull")
            hull.apply_to(model)
            for disjunction, variables in zip(disjunctions, seen, strict=True):
                self._note_aggregates(hull, disjunction, variables)

    @staticmethod
    def _variables(disjunction: Disjunction) -> list[pyo.Var]:
        """Return the variables in the rows of a disjunction."""
        found = {
            id(variable): variable
            for disjunct in disjunction.disjuncts
            for row in disjunct.component_data_objects(pyo.Constraint, active=True)
            for variable in identify_variables(row.body)
        }
        return list(found.values())

    def _note_aggregates(
        self, hull: pyo.TransformationFactory, disjunction: Disjunction, variables: list[pyo.Var]
    ) -> None:
        """Record in which disjuncts each disaggregated variable equals its source; in the others it is 0."""
        parts: dict[int, tuple[pyo.Var, list[tuple[pyo.Var, pyo.Var]]]] = {}
        for variable, disjunct in product(variables, disjunction.disjuncts):
            part = hull.get_disaggregated_var(variable, disjunct, raise_exception=False)
            if part is not None:
                sources = parts.setdefault(id(part), (part, []))[1]
                sources.append((variable, disjunct.binary_indicator_var))
        self._aggregates += parts.values()


Bounds = tuple[float | None, float | None]
"""The least (or most) that body minus right-hand side can be, for a lower (or an upper) side; None for the other."""


def constants(gdp: GeneralisedDisjunctiveModel) -> Iterator[tuple[pyo.Constraint, Bounds]]:
    """Yield constants that switch a row off whichever other disjunct holds; bounds of variables give the others."""
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
    """Yield constants that switch a row off while a given other disjunct of its disjunction holds, for all of them."""
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
    """Return a lower bound on the gap between the ends of an edge on a pair of GPUs: at least the delay."""
    (h, i), (k, l) = gdp.instance.edges[edge].tolist(), pair
    gap = int(gdp.within.around.heads[i, l] - gdp.within.latest_finish[h, k])
    return max(gdp.routes[edge][pair], gap)
