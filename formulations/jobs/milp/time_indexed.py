"""The time-indexed MILP of the jobs problem: a column for every job, pattern and tick at which it may start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyomo.environ as pyo

from formulations.jobs.left_shift import start_times
from formulations.jobs.pattern_table import PatternSchedule
from formulations.model_too_large import ModelTooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formulations.jobs.pattern_table import PatternTable
    from instances.jobs.instance import JobsInstance

MAX_STARTS = 30_000
"""Triples of job, pattern and tick up to which a model is worth building."""

MAX_TICKS = 200_000
"""Horizon up to which starts are listed."""


class TimeIndexedJobsModel:
    """The jobs problem without big-M constants and without durations as variables.

    X[i,p,t] = 1 if job i starts in pattern p at tick t:

        sum over p, t of X[i,p,t] = 1                                                          for every job i
        sum over i, p of usage[p,v] * (sum over t' in (t - d[i,p], t] of X[i,p,t']) <= capacity[v]   for every v and t
        minimise sum over i, p, t of w[i] (t + d[i,p]) X[i,p,t]

    Columns are those of `start_times` within `latest`, rows those of ticks at which something may start
    (docs/formulations.md, section 12.3; Sousa and Wolsey 1992 for one machine, patterns of gangs are ours).

    Parameters
    ----------
    instance
        At least one job.
    table
        Exact table of the instance.
    weights, latest
        Weight and latest completion in ticks of each job.

    Attributes
    ----------
    pyomo_model
        The model, with ``starts[i, p, t]``.

    Raises
    ------
    ModelTooLargeError
        If the horizon is too long or there are too many triples of job, pattern and tick.
    """

    def __init__(
        self, instance: JobsInstance, table: PatternTable, weights: Sequence[int], latest: Sequence[int]
    ) -> None:
        if max(latest) > MAX_TICKS:
            raise ModelTooLargeError(f"horizon: expected at most {MAX_TICKS} ticks, got {max(latest)}.")
        self._table = table
        allowed = start_times(table, instance.release.tolist(), latest)
        triples = [
            (job, number, tick)
            for job, own in enumerate(table.patterns)
            for number, pattern in enumerate(own)
            for tick in allowed[job]
            if tick + pattern.duration <= latest[job]
        ]
        if len(triples) > MAX_STARTS:
            raise ModelTooLargeError(f"jobs: expected at most {MAX_STARTS} triples of start, got {len(triples)}.")
        self.pyomo_model = model = pyo.ConcreteModel()
        model.starts = pyo.Var(triples, domain=pyo.Binary)
        self._add_choice(triples)
        self._add_capacity(triples)
        model.cost = pyo.Objective(
            expr=sum(
                weights[job] * (tick + table.patterns[job][number].duration) * model.starts[job, number, tick]
                for job, number, tick in triples
            )
        )

    def set_start(self, schedule: PatternSchedule) -> bool:
        """Give every variable its value in a schedule; False, with nothing done, if a start is no column."""
        wanted = {
            (job, number, tick) for job, (tick, number) in enumerate(zip(schedule.start, schedule.pattern, strict=True))
        }
        if not all(triple in self.pyomo_model.starts for triple in wanted):
            return False
        for triple in self.pyomo_model.starts:
            self.pyomo_model.starts[triple].set_value(int(triple in wanted))
        return True

    def schedule(self) -> PatternSchedule:
        """Map the values of the variables back to starts and patterns."""
        chosen: dict[int, tuple[float, int, int]] = {}
        for (job, number, tick), variable in self.pyomo_model.starts.items():
            value = variable.value or 0.0
            if job not in chosen or value > chosen[job][0]:
                chosen[job] = (value, number, tick)
        jobs = range(len(self._table.patterns))
        return PatternSchedule(
            start=tuple(chosen[job][2] for job in jobs), pattern=tuple(chosen[job][1] for job in jobs)
        )

    def _add_choice(self, triples: Sequence[tuple[int, int, int]]) -> None:
        """Start every job once."""
        model = self.pyomo_model
        of_job: list[list[tuple[int, int, int]]] = [[] for _ in self._table.patterns]
        for triple in triples:
            of_job[triple[0]].append(triple)
        model.once = pyo.ConstraintList()
        for own in of_job:
            model.once.add(sum(model.starts[triple] for triple in own) == 1)

    def _add_capacity(self, triples: Sequence[tuple[int, int, int]]) -> None:
        """Let no more GPUs be held than there are, at the ticks at which something may start."""
        model, table = self.pyomo_model, self._table
        ticks = sorted({tick for _, _, tick in triples})
        place = {tick: number for number, tick in enumerate(ticks)}
        model.capacity = pyo.ConstraintList()
        for group, capacity in enumerate(table.capacity.tolist()):
            held: list[list[tuple[int, tuple[int, int, int]]]] = [[] for _ in ticks]
            for job, number, tick in triples:
                pattern = table.patterns[job][number]
                count = int(pattern.usage[group])
                if count:
                    where = place[tick]
                    while where < len(ticks) and ticks[where] < tick + pattern.duration:
                        held[where].append((count, (job, number, tick)))
                        where += 1
            for own in held:
                if len({triple[0] for _, triple in own}) > 1:
                    model.capacity.add(sum(count * model.starts[triple] for count, triple in own) <= capacity)
