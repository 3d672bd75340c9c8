"""Every method by name; resolved on first use, so that listing them is cheap."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["exact", "improvement", "construction", "search", "policy"]

KINDS_WITH_RUN: tuple[Kind, ...] = ("exact", "improvement")
"""Kinds whose functions take instance, objective and an `ExactRun`, and return an `Outcome`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method: where its function stands and what it is.

    Parameters
    ----------
    path
        ``module:function``.
    kind
        "exact" proves bounds, "improvement" makes a given schedule better and proves nothing, "construction" builds one
        schedule, "search" builds many within a budget; a "policy" decides online, and schedules jobs.
    summary
        One line.
    source
        Paper, or "ours".
    needs
        Package of an extra without which it refuses to run, None where the installation has all.
    tiny_tasks
        Number of tasks up to which an exact method proves instances by the hundred: the size for property tests.
    """

    path: str
    kind: Kind
    summary: str
    source: str
    needs: str | None = None
    tiny_tasks: int = 7

    def resolve(self) -> Callable[..., Any]:
        """Import and return the function."""
        module, function = self.path.split(":")
        resolved: Callable[..., Any] = getattr(import_module(module), function)
        return resolved


METHODS = {
    "cp-sat": Method(
        path="solvers.cp_sat:cp_sat",
        kind="exact",
        summary="CP-SAT model with windows from heads and tails, warm-started, two phases",
        source="ours, on OR-Tools",
    ),
    "down-sets": Method(
        path="solvers.down_sets:down_sets",
        kind="exact",
        summary="dynamic programming over down-sets with dominance and loads, as a beam search of growing width",
        source="ours, after Held, Karp 1962 and Zhang 1998",
    ),
    "milp-disjunctive": Method(
        path="solvers.milp:milp_disjunctive",
        kind="exact",
        summary="pairwise disjunctive MILP in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours, after Moirai's program",
    ),
    "milp-gdp": Method(
        path="solvers.milp:milp_gdp",
        kind="exact",
        summary="generalised disjunctive program: big-M, multiple big-M or hull MILP with HiGHS, confirmed by CP-SAT",
        source="ours, on Pyomo.GDP",
    ),
    "milp-time-indexed": Method(
        path="solvers.milp:milp_time_indexed",
        kind="exact",
        summary="time-indexed MILP with strong transfer rows in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours; basic model textbook",
    ),
    "nip": Method(
        path="solvers.nip:nip",
        kind="exact",
        summary="nonlinear integer program in Pyomo as it stands with SCIP, confirmed by CP-SAT",
        source="ours",
        needs="pyscipopt",
        tiny_tasks=6,  # with 7, one in a hundred takes seconds: spatial branch and bound on a full GPU
    ),
    "nip-linearised": Method(
        path="solvers.nip:nip_linearised",
        kind="exact",
        summary="the nonlinear integer program, exactly linearised, with HiGHS, confirmed by CP-SAT",
        source="ours; linearisation textbook",
    ),
    "lns": Method(
        path="solvers.lns.lns:lns",
        kind="improvement",
        summary="annealed reinsertion and windows repaired by CP-SAT: best schedules of hundreds to thousands of tasks",
        source="ours, on OR-Tools",
    ),
    "heft": Method(
        path="heuristics.dag.heft:heft",
        kind="construction",
        summary="highest upward rank first, earliest finish, insertion",
        source="Topcuoglu, Hariri, Wu 2002",
    ),
    "cpop": Method(
        path="heuristics.dag.cpop:cpop",
        kind="construction",
        summary="critical path on one GPU, earliest finish for the rest",
        source="Topcuoglu, Hariri, Wu 2002",
    ),
    "peft": Method(
        path="heuristics.dag.peft:peft",
        kind="construction",
        summary="earliest finish plus optimistic cost table",
        source="Arabnejad, Barbosa 2014",
    ),
    "etf": Method(
        path="heuristics.dag.etf:etf",
        kind="construction",
        summary="pair of task and GPU with the earliest start",
        source="Hwang, Chow, Anger, Lee 1989",
    ),
    "min-min": Method(
        path="heuristics.dag.min_min:min_min",
        kind="construction",
        summary="ready task with the smallest best finish",
        source="Ibarra, Kim 1977",
    ),
    "max-min": Method(
        path="heuristics.dag.max_min:max_min",
        kind="construction",
        summary="ready task with the largest best finish",
        source="Ibarra, Kim 1977",
    ),
    "round-robin": Method(
        path="heuristics.dag.round_robin:round_robin",
        kind="construction",
        summary="floor: the next GPU that fits",
        source="textbook",
    ),
    "random": Method(
        path="heuristics.dag.random_placement:random_placement",
        kind="construction",
        summary="floor: a random GPU that fits",
        source="textbook",
    ),
    "random-search": Method(
        path="heuristics.dag.random_search:random_search",
        kind="search",
        summary="best of many random keys, HEFT's schedule first",
        source="textbook",
    ),
    "woa": Method(
        path="heuristics.dag.woa:woa",
        kind="search",
        summary="whale optimisation algorithm on random keys",
        source="Mirjalili, Lewis 2016; keys and decoder ours",
    ),
    "ga": Method(
        path="heuristics.dag.genetic_algorithm:ga",
        kind="search",
        summary="genetic algorithm on random keys: tournaments, uniform crossover, mutation",
        source="Bean 1994; decoder ours",
    ),
    "pso": Method(
        path="heuristics.dag.particle_swarm:pso",
        kind="search",
        summary="particle swarm optimisation on random keys, with constriction",
        source="Clerc, Kennedy 2002; keys and decoder ours",
    ),
    "sa": Method(
        path="heuristics.dag.simulated_annealing:sa",
        kind="search",
        summary="simulated annealing on random keys",
        source="Kirkpatrick, Gelatt, Vecchi 1983; keys and decoder ours",
    ),
    "rtgs": Method(
        path="heuristics.dag.rtgs.rtgs:rtgs",
        kind="search",
        summary="whales that wish for loads, placements greedily made of the wishes",
        source="Du, Ji, Wu, Hou, Nie 2025; on unrelated GPUs with transfers and memory: ours",
    ),
    "worl-rtgs": Method(
        path="heuristics.dag.worl_rtgs.worl_rtgs:worl_rtgs",
        kind="search",
        summary="whales that wish for loads, placements made of the wishes by a trained Double-DQN",
        source="ours, an interpretation of Du, Wu, Hou, Nie, Song 2025",
    ),
    "ddqn-sampling": Method(
        path="heuristics.dag.worl_rtgs.ddqn_sampling:ddqn_sampling",
        kind="search",
        summary="best of many placements drawn from the trained Double-DQN, no whales",
        source="ours",
    ),
    "ddqn": Method(
        path="heuristics.dag.worl_rtgs.ddqn:ddqn",
        kind="construction",
        summary="the trained Double-DQN alone: one placement, greedy",
        source="ours, an interpretation of Du, Wu, Hou, Nie, Song 2025",
    ),
}
"""Methods for the DAG problem by name."""

WARM_START_METHODS = ("heft", "cpop", "peft", "etf", "min-min", "max-min")
"""Constructions whose best schedule is where exact methods start."""


def method_named(name: str) -> Method:
    """Return a registered method.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    if name not in METHODS:
        from solvers.jobs.jobs_methods import JOBS_METHODS

        if name in JOBS_METHODS:
            known = ", ".join(METHODS)
            raise ValueError(f"method: expected one for DAGs of tasks ({known}), got {name!r}, which schedules jobs.")
        near = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {name!r}{hint}.")
    return METHODS[name]
