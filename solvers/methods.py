"""Every method of both problems by name; resolved on first use, so that listing them is cheap."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable


Kind = Literal["exact", "improvement", "construction", "search", "policy"]

KINDS_WITH_RUN: tuple[Kind, ...] = ("exact", "improvement")
"""Kinds whose functions take instance, objective and an `ExactRun`, and return an `Outcome`."""


def resolved(path: str) -> Any:
    """Import and return the object of a path ``module:name``."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def knows_contention(function: Callable[..., Any]) -> bool:
    """Say whether a method or bound models contention, that is whether its signature names `contention`."""
    return "contention" in inspect.signature(function).parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method: where its function stands and what it is.

    Parameters
    ----------
    path
        ``module:function``.
    kind
        An "exact" method proves bounds. An "improvement" makes a given schedule better and proves nothing. A
        "construction" builds one schedule, a "search" builds many within a budget. A "policy" schedules jobs online.
    source
        Paper, or "ours".
    needs
        Optional package without which the method refuses to run; None where the plain installation is enough.
    tiny_tasks
        Largest number of tasks for which an exact method proves hundreds of instances quickly: the size for property
        tests.
    knows_interference
        Whether an exact method for jobs models that jobs slow each other down.
    knows_buffers
        Whether a method for DAGs knows memory that is released, groups, and the objective `stage_span`; the others are
        refused where an instance or a call has one of these.
    """

    path: str
    kind: Kind
    summary: str
    source: str
    needs: str | None = None
    tiny_tasks: int = 7
    knows_interference: bool = False
    knows_buffers: bool = False

    def resolve(self) -> Callable[..., Any]:
        """Import and return the function."""
        function: Callable[..., Any] = resolved(self.path)
        return function


METHODS = {
    "cp-sat": Method(
        path="solvers.backends.cp_sat:cp_sat",
        kind="exact",
        summary="CP-SAT model with windows from heads and tails, warm-started, two phases",
        source="ours, on OR-Tools",
        knows_buffers=True,
    ),
    "down-sets": Method(
        path="solvers.backends.down_sets:down_sets",
        kind="exact",
        summary="dynamic programming over down-sets with dominance and loads, as a beam search of growing width",
        source="ours, after Held, Karp 1962 and Zhang 1998",
        knows_buffers=True,
    ),
    "milp-disjunctive": Method(
        path="solvers.backends.milp:milp_disjunctive",
        kind="exact",
        summary="pairwise disjunctive MILP in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours, after Moirai's program",
        knows_buffers=True,
    ),
    "milp-gdp": Method(
        path="solvers.backends.milp:milp_gdp",
        kind="exact",
        summary="generalised disjunctive program: big-M, multiple big-M or hull MILP with HiGHS, confirmed by CP-SAT",
        source="ours, on Pyomo.GDP",
        knows_buffers=True,
    ),
    "milp-time-indexed": Method(
        path="solvers.backends.milp:milp_time_indexed",
        kind="exact",
        summary="time-indexed MILP with strong transfer rows in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours; basic model textbook",
        knows_buffers=True,
    ),
    "nip": Method(
        path="solvers.backends.nip:nip",
        kind="exact",
        summary="nonlinear integer program in Pyomo as it stands with SCIP, confirmed by CP-SAT",
        source="ours",
        needs="pyscipopt",
        tiny_tasks=6,  # with 7, one in a hundred takes seconds: spatial branch and bound on a full GPU
        knows_buffers=True,
    ),
    "nip-linearised": Method(
        path="solvers.backends.nip:nip_linearised",
        kind="exact",
        summary="the nonlinear integer program, exactly linearised, with HiGHS, confirmed by CP-SAT",
        source="ours; linearisation textbook",
        knows_buffers=True,
    ),
    "lns": Method(
        path="solvers.backends.lns:lns",
        kind="improvement",
        summary="annealed reinsertion and windows repaired by CP-SAT: best schedules of hundreds to thousands of tasks",
        source="ours, on OR-Tools",
        knows_buffers=True,
    ),
    "heft": Method(
        path="heuristics.dag.list_scheduling:heft",
        kind="construction",
        summary="highest upward rank first, earliest finish, insertion",
        source="Topcuoglu, Hariri, Wu 2002",
    ),
    "cpop": Method(
        path="heuristics.dag.list_scheduling:cpop",
        kind="construction",
        summary="critical path on one GPU, earliest finish for the rest",
        source="Topcuoglu, Hariri, Wu 2002",
    ),
    "peft": Method(
        path="heuristics.dag.list_scheduling:peft",
        kind="construction",
        summary="earliest finish plus optimistic cost table",
        source="Arabnejad, Barbosa 2014",
    ),
    "etf": Method(
        path="heuristics.dag.dynamic_list_scheduling:etf",
        kind="construction",
        summary="pair of task and GPU with the earliest start",
        source="Hwang, Chow, Anger, Lee 1989",
    ),
    "min-min": Method(
        path="heuristics.dag.dynamic_list_scheduling:min_min",
        kind="construction",
        summary="ready task with the smallest best finish",
        source="Ibarra, Kim 1977",
    ),
    "max-min": Method(
        path="heuristics.dag.dynamic_list_scheduling:max_min",
        kind="construction",
        summary="ready task with the largest best finish",
        source="Ibarra, Kim 1977",
    ),
    "wspt": Method(
        path="heuristics.dag.wspt:wspt",
        kind="construction",
        summary="jobs by weight over work; single independent tasks are then shifted and swapped",
        source="Smith 1956; jobs of several tasks and local search ours",
    ),
    "round-robin": Method(
        path="heuristics.dag.list_scheduling:round_robin",
        kind="construction",
        summary="floor: the next GPU that fits",
        source="textbook",
    ),
    "random": Method(
        path="heuristics.dag.list_scheduling:random_placement",
        kind="construction",
        summary="floor: a random GPU that fits",
        source="textbook",
    ),
    "random-search": Method(
        path="heuristics.dag.random_search:random_search",
        kind="search",
        summary="best of many random keys, HEFT's schedule first",
        source="textbook",
        knows_buffers=True,
    ),
    "woa": Method(
        path="heuristics.dag.whale_optimisation:woa",
        kind="search",
        summary="whale optimisation algorithm on random keys",
        source="Mirjalili, Lewis 2016; keys and decoder ours",
        knows_buffers=True,
    ),
    "ga": Method(
        path="heuristics.dag.genetic_algorithm:ga",
        kind="search",
        summary="genetic algorithm on random keys: tournaments, uniform crossover, mutation",
        source="Bean 1994; decoder ours",
        knows_buffers=True,
    ),
    "pso": Method(
        path="heuristics.dag.particle_swarm:pso",
        kind="search",
        summary="particle swarm optimisation on random keys, with constriction",
        source="Clerc, Kennedy 2002; keys and decoder ours",
        knows_buffers=True,
    ),
    "sa": Method(
        path="heuristics.dag.simulated_annealing:sa",
        kind="search",
        summary="simulated annealing on random keys",
        source="Kirkpatrick, Gelatt, Vecchi 1983; keys and decoder ours",
        knows_buffers=True,
    ),
    "rtgs": Method(
        path="heuristics.dag.rtgs.search:rtgs",
        kind="search",
        summary="whale optimisation of desired GPU loads, from which placements are made greedily",
        source="Du, Ji, Wu, Hou, Nie 2025; on unrelated GPUs with transfers and memory: ours",
    ),
    "worl-rtgs": Method(
        path="heuristics.dag.worl_rtgs.search:worl_rtgs",
        kind="search",
        summary="whale optimisation of desired GPU loads, from which a trained Double-DQN makes placements",
        source="ours, an interpretation of Du, Wu, Hou, Nie, Song 2025",
    ),
    "ddqn-sampling": Method(
        path="heuristics.dag.worl_rtgs.ddqn:ddqn_sampling",
        kind="search",
        summary="best of many placements drawn from the trained Double-DQN, without a population search",
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

PIPELINE_METHODS = {
    "gpipe": Method(
        path="heuristics.dag.pipeline_schedules:gpipe",
        kind="construction",
        summary="pipelines: all forward passes, then all backward passes",
        source="Huang et al. 2019",
        knows_buffers=True,
    ),
    "1f1b": Method(
        path="heuristics.dag.pipeline_schedules:one_f_one_b",
        kind="construction",
        summary="pipelines: a warm-up, then one forward and one backward pass in turn",
        source="Narayanan et al. 2019; Fan et al. 2021",
        knows_buffers=True,
    ),
    "interleaved-1f1b": Method(
        path="heuristics.dag.pipeline_schedules:interleaved",
        kind="construction",
        summary="pipelines: 1F1B over several chunks per GPU in a loop",
        source="Narayanan et al. 2021",
        knows_buffers=True,
    ),
    "zb-h1": Method(
        path="heuristics.dag.pipeline_schedules:zb_h1",
        kind="construction",
        summary="pipelines: 1F1B whose gradients of the weights fill idle time, at the memory of 1F1B",
        source="Qi, Wan, Huang, Lin 2024",
        knows_buffers=True,
    ),
    "zb-h2": Method(
        path="heuristics.dag.pipeline_schedules:zb_h2",
        kind="construction",
        summary="pipelines: as ZB-H1 with a longer warm-up, at about twice the memory",
        source="Qi, Wan, Huang, Lin 2024; how long gradients of the weights wait: ours",
        knows_buffers=True,
    ),
    "zb-v": Method(
        path="heuristics.dag.pipeline_schedules:zb_v",
        kind="construction",
        summary="pipelines: two chunks per GPU in a V, at the memory of 1F1B",
        source="reconstruction after Qi et al. 2024",
        knows_buffers=True,
    ),
    "v-half": Method(
        path="heuristics.dag.pipeline_schedules:v_half",
        kind="construction",
        summary="pipelines: two chunks per GPU in a V, at about half of the memory of 1F1B",
        source="reconstruction after Qi et al. 2024",
        knows_buffers=True,
    ),
    "pipeline-greedy": Method(
        path="heuristics.dag.pipeline_schedules:best_greedy",
        kind="construction",
        summary="pipelines: the best of 27 greedy schedules within the memory limits",
        source="ours, after the heuristic of Qi, Wan, Huang, Lin 2024",
        knows_buffers=True,
    ),
}
"""Methods for DAGs that are pipelines (`instances.dag.pipeline`), by name; they refuse any other DAG."""

BUFFER_METHODS = {
    "buffer-list": Method(
        path="heuristics.dag.buffer_lists:buffer_list",
        kind="construction",
        summary="any DAG with buffers and groups: the best of five lists that keep the memory limits",
        source="ours",
        knows_buffers=True,
    ),
}
"""Methods for any DAG that are made for buffers and groups, by name."""

JOBS_METHODS = {
    "cp-sat": Method(
        path="solvers.backends.cp_sat_jobs:cp_sat_jobs",
        kind="exact",
        summary="offline optimum: CP-SAT with starts and replica counts per server",
        source="ours, on OR-Tools",
    ),
    "milp-time-indexed": Method(
        path="solvers.backends.milp_jobs:milp_jobs",
        kind="exact",
        summary="offline optimum: time-indexed MILP in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours; basic model textbook",
    ),
    "co-location-search": Method(
        path="solvers.backends.co_location_jobs:co_location_jobs",
        kind="exact",
        summary="offline optimum under interference: every start and placement of a handful of jobs, by replay",
        source="ours",
        knows_interference=True,
    ),
    "a-srpt": Method(
        path="heuristics.jobs.policies.a_srpt:a_srpt",
        kind="policy",
        summary="SRPT on a virtual machine fed with predictions decides the order, heavy jobs wait for one place",
        source="reconstruction after Luo, Liu, Lee, Shroff 2025",
    ),
    "fifo": Method(
        path="heuristics.jobs.policies.key_policies:fifo",
        kind="policy",
        summary="first come, first served; the head blocks",
        source="textbook",
    ),
    "spjf": Method(
        path="heuristics.jobs.policies.key_policies:spjf",
        kind="policy",
        summary="shortest predicted job first; the head blocks",
        source="reconstruction",
    ),
    "spwf": Method(
        path="heuristics.jobs.policies.key_policies:spwf",
        kind="policy",
        summary="smallest predicted GPU-ticks first; the head blocks",
        source="reconstruction",
    ),
    "wcs-duration": Method(
        path="heuristics.jobs.policies.key_policies:wcs_duration",
        kind="policy",
        summary="shortest predicted job first; whoever fits starts",
        source="reconstruction",
    ),
    "wcs-workload": Method(
        path="heuristics.jobs.policies.key_policies:wcs_workload",
        kind="policy",
        summary="smallest predicted GPU-ticks first; whoever fits starts",
        source="reconstruction",
    ),
    "wcs-subtime": Method(
        path="heuristics.jobs.policies.key_policies:wcs_subtime",
        kind="policy",
        summary="first come, first served; whoever fits starts",
        source="reconstruction",
    ),
    "qssf": Method(
        path="heuristics.jobs.policies.key_policies:qssf",
        kind="policy",
        summary="quasi-shortest service first: estimated duration times GPUs; the head blocks",
        source="Hu et al. 2021",
    ),
    "srtf": Method(
        path="heuristics.jobs.policies.key_policies:srtf",
        kind="policy",
        summary="shortest job first with the true iterations, whatever the predictor",
        source="textbook",
    ),
    "load-balancing": Method(
        path="heuristics.jobs.policies.key_policies:load_balancing",
        kind="policy",
        summary="first come, first served on the least-loaded servers; whoever fits starts",
        source="reconstruction",
    ),
    "bin-packing": Method(
        path="heuristics.jobs.policies.key_policies:bin_packing",
        kind="policy",
        summary="first come, first served on the fullest server that holds the job; whoever fits starts",
        source="textbook; rule for gangs reconstruction",
    ),
    "least-interference": Method(
        path="heuristics.jobs.policies.key_policies:least_interference",
        kind="policy",
        summary="first come, first served on the servers with least load of resources; whoever fits starts",
        source="reconstruction",
    ),
    "drf": Method(
        path="heuristics.jobs.policies.resource_policies:drf",
        kind="policy",
        summary="the oldest job of the user with the smallest dominant share first; the head blocks",
        source="Ghodsi et al. 2011; rule for gangs reconstruction",
    ),
    "tetris": Method(
        path="heuristics.jobs.policies.resource_policies:tetris",
        kind="policy",
        summary="the job that aligns best with what is free first; whoever fits starts",
        source="Grandl et al. 2014; rule for gangs reconstruction",
    ),
    "marl": Method(
        path="heuristics.jobs.marl.policy:marl",
        kind="policy",
        summary="agents that own servers place, forward or wait, by a trained graph network",
        source="reconstruction after Zhao and Wu 2022",
    ),
}
"""Methods for the jobs problem by name."""
