"""Every method for the jobs problem by name; resolved on first use, so that listing them is cheap."""

from __future__ import annotations

import difflib

from solvers.methods import METHODS, Method

JOBS_METHODS = {
    "cp-sat": Method(
        path="solvers.jobs.cp_sat_jobs:cp_sat_jobs",
        kind="exact",
        summary="offline optimum: CP-SAT with starts and replica counts per server",
        source="ours, on OR-Tools",
    ),
    "milp-time-indexed": Method(
        path="solvers.jobs.milp_jobs:milp_jobs",
        kind="exact",
        summary="offline optimum: time-indexed MILP in Pyomo with HiGHS, confirmed by CP-SAT",
        source="ours; basic model textbook",
    ),
    "co-location-search": Method(
        path="solvers.jobs.co_location_jobs:co_location_jobs",
        kind="exact",
        summary="offline optimum under interference: every start and placement of a handful of jobs, by replay",
        source="ours",
    ),
    "a-srpt": Method(
        path="heuristics.jobs.policies.a_srpt:a_srpt",
        kind="policy",
        summary="SRPT on a virtual machine fed with predictions decides the order, heavy jobs wait for one place",
        source="reconstruction after Luo, Liu, Lee, Shroff 2025",
    ),
    "fifo": Method(
        path="heuristics.jobs.policies.fifo:fifo",
        kind="policy",
        summary="first come, first served; the head blocks",
        source="textbook",
    ),
    "spjf": Method(
        path="heuristics.jobs.policies.spjf:spjf",
        kind="policy",
        summary="shortest predicted job first; the head blocks",
        source="reconstruction",
    ),
    "spwf": Method(
        path="heuristics.jobs.policies.spwf:spwf",
        kind="policy",
        summary="smallest predicted GPU-ticks first; the head blocks",
        source="reconstruction",
    ),
    "wcs-duration": Method(
        path="heuristics.jobs.policies.wcs_duration:wcs_duration",
        kind="policy",
        summary="shortest predicted job first; whoever fits starts",
        source="reconstruction",
    ),
    "wcs-workload": Method(
        path="heuristics.jobs.policies.wcs_workload:wcs_workload",
        kind="policy",
        summary="smallest predicted GPU-ticks first; whoever fits starts",
        source="reconstruction",
    ),
    "wcs-subtime": Method(
        path="heuristics.jobs.policies.wcs_subtime:wcs_subtime",
        kind="policy",
        summary="first come, first served; whoever fits starts",
        source="reconstruction",
    ),
    "qssf": Method(
        path="heuristics.jobs.policies.qssf:qssf",
        kind="policy",
        summary="quasi-shortest service first: estimated duration times GPUs; the head blocks",
        source="Hu et al. 2021",
    ),
    "srtf": Method(
        path="heuristics.jobs.policies.srtf:srtf",
        kind="policy",
        summary="shortest job first with the true iterations, whatever the predictor",
        source="textbook",
    ),
    "load-balancing": Method(
        path="heuristics.jobs.policies.load_balancing:load_balancing",
        kind="policy",
        summary="first come, first served on the least-loaded servers; whoever fits starts",
        source="reconstruction",
    ),
    "bin-packing": Method(
        path="heuristics.jobs.policies.bin_packing:bin_packing",
        kind="policy",
        summary="first come, first served on the fullest server that holds the job; whoever fits starts",
        source="textbook; rule for gangs reconstruction",
    ),
    "least-interference": Method(
        path="heuristics.jobs.policies.least_interference:least_interference",
        kind="policy",
        summary="first come, first served on the servers with least load of resources; whoever fits starts",
        source="reconstruction",
    ),
    "drf": Method(
        path="heuristics.jobs.policies.drf:drf",
        kind="policy",
        summary="the oldest job of the user with the smallest dominant share first; the head blocks",
        source="Ghodsi et al. 2011; rule for gangs reconstruction",
    ),
    "tetris": Method(
        path="heuristics.jobs.policies.tetris:tetris",
        kind="policy",
        summary="the job that aligns best with what is free first; whoever fits starts",
        source="Grandl et al. 2014; rule for gangs reconstruction",
    ),
    "marl": Method(
        path="heuristics.jobs.policies.marl:marl",
        kind="policy",
        summary="agents that own servers place, forward or wait, by a trained graph network",
        source="reconstruction after Zhao and Wu 2022",
    ),
}
"""Methods for the jobs problem by name."""


def jobs_method_named(name: str) -> Method:
    """Return a registered method for the jobs problem.

    Raises
    ------
    ValueError
        If there is none of that name, or it is one for the DAG problem only.
    """
    if name in JOBS_METHODS:
        return JOBS_METHODS[name]
    if name in METHODS:
        known = ", ".join(JOBS_METHODS)
        raise ValueError(f"method: expected one for jobs ({known}), got {name!r}, which schedules DAGs of tasks.")
    near = difflib.get_close_matches(name, JOBS_METHODS, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise ValueError(f"method: expected one of {', '.join(JOBS_METHODS)}, got {name!r}{hint}.")
