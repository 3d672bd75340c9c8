"""How near placements come to the best of all: `python -m tests.benchmarks.heavy_edge_against_enumeration`.

Random jobs of 1 to 4 stages and 4 to 8 replicas on 4 servers with 0 to 4 free GPUs, activations and parameters
log-uniform in 10**4.5 to 10**8 bytes, 10**6 bytes per tick, 5 to 50 ticks per replica, Q of 1, 4 or 8; with two kinds
every other server is 1.2 to 3 times slower, drawn for every stage. All placements of each job are enumerated, in
integers and by code of its own; a placement above a minimum is compared with it, one below it is an error.

Printed for each rule: alpha over its minimum (mean, 95 % point, share optimal), and the bytes that leave servers per
iteration over their minimum: all jobs together, mean of the ratios of jobs whose minimum is not 0 (a few jobs whose
minimum is tiny make up most of it), share minimal. Rules minimise alpha, where the busiest server counts alone; with
two kinds they pay traffic for speed.
"""

from __future__ import annotations

import argparse
import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from heuristics.jobs.placements.heavy_edge import HeavyEdge
from heuristics.jobs.placements.heavy_edge_kernel import CONTRACT, GROW
from heuristics.jobs.placements.heavy_edge_variants import Consolidated, StageOrder
from heuristics.jobs.placements.random_placement import RandomPlacement
from instances.jobs.instance import Job, JobsInstance, Stage
from instances.jobs.servers import JobsServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heuristics.jobs.placements.placement import Placer

BANDWIDTH = 10**6
NUM_SERVERS = 4

RULES: dict[str, Callable[[JobsInstance, np.random.Generator], Placer]] = {
    "heavy-edge": lambda instance, _: HeavyEdge(instance),
    "grow only": lambda instance, _: HeavyEdge(instance, groupings=GROW),
    "contract only": lambda instance, _: HeavyEdge(instance, groupings=CONTRACT),
    "stage order only": lambda instance, _: StageOrder(instance),
    "consolidated": lambda instance, _: Consolidated(instance),
    "random": RandomPlacement,
}


class Outcome(NamedTuple):
    """What a rule made of a job."""

    alpha: Fraction  # over its minimum
    traffic: Fraction  # bytes that leave servers, summed
    least_traffic: Fraction


class Least(NamedTuple):
    """Minima over all placements of a job."""

    alpha: Fraction
    traffic: Fraction  # bytes that leave servers, summed


def random_job(rng: np.random.Generator, num_kinds: int) -> tuple[JobsInstance, NDArray[np.int64]]:
    """Draw an instance of one job, and free GPUs that hold it."""
    num_stages, gang = int(rng.integers(1, 5)), int(rng.integers(4, 9))
    cuts = np.sort(rng.choice(np.arange(1, gang), size=num_stages - 1, replace=False))
    replicas = np.diff([0, *cuts, gang]).tolist()
    stages = []
    for stage, count in enumerate(replicas):
        ticks = int(rng.integers(5, 51))
        act, par = (10 ** rng.uniform(4.5, 8, size=2)).astype(np.int64).tolist()
        times = {"F": ticks, "S": round(ticks * rng.uniform(1.2, 3))} if num_kinds == 2 else {"F": ticks}
        is_last = stage + 1 == num_stages
        stages.append(Stage(times=times, replicas=count, activation_bytes=0 if is_last else act, parameter_bytes=par))
    servers = [JobsServer(kind="FS"[v % num_kinds], gpus=4, nic_bytes_per_tick=BANDWIDTH) for v in range(NUM_SERVERS)]
    job = Job(stages=stages, micro_batches=int(rng.choice([1, 4, 8])))
    free = rng.integers(0, 5, size=NUM_SERVERS)
    while free.sum() < gang:
        free = rng.integers(0, 5, size=NUM_SERVERS)
    return JobsInstance.from_parts(servers, [job]), free


def least(instance: JobsInstance, free: NDArray[np.int64]) -> Least:
    """Return the minima over all placements of job 0 on free GPUs."""
    k, times = instance.replicas.tolist(), instance.time_of[:, instance.server_kind]
    scale = math.lcm(*k, *(a * b for a, b in itertools.pairwise(k)))
    ring = [2 * (a - 1) * par * scale // a for a, par in zip(k, instance.parameter_bytes.tolist(), strict=True)]
    cut = [act * scale // (a * b) for act, a, b in zip(instance.activation_bytes.tolist(), k, [*k[1:], 1], strict=True)]
    slots = int(instance.micro_batches[0]) + len(k) - 1
    unit = scale * BANDWIDTH
    alpha, traffic = _least(np.array(k), times, np.array(ring), np.array(cut), free, slots * unit)
    return Least(Fraction(int(alpha), unit), Fraction(int(traffic), scale))


@njit(cache=True)
def _least(
    k: NDArray[np.int64],
    times: NDArray[np.int64],
    ring: NDArray[np.int64],
    cut: NDArray[np.int64],
    free: NDArray[np.int64],
    slots: int,
) -> tuple[int, int]:
    """Walk over all placements: cell by cell, stage by stage, each cell from 0 to what is left and has room."""
    num_stages, num_servers = times.shape
    cells = num_stages * num_servers
    x, left, room = np.full(cells, -1), k.copy(), free.copy()
    best_alpha, best_traffic = np.int64(2**62), np.int64(2**62)
    cell = 0
    while cell >= 0:
        if cell == cells:
            slowest, most, total = 0, 0, 0
            for v in range(num_servers):
                sent = 0
                for s in range(num_stages):
                    here = x[s * num_servers + v]
                    if here > 0:
                        slowest = max(slowest, times[s, v])
                    if 0 < here < k[s]:
                        sent += ring[s]
                    if s + 1 < num_stages:
                        there = x[(s + 1) * num_servers + v]
                        sent += cut[s] * (here * (k[s + 1] - there) + there * (k[s] - here))
                most, total = max(most, sent), total + sent
            best_alpha, best_traffic = min(best_alpha, slots * slowest + most), min(best_traffic, total)
            cell -= 1
            continue
        s, v = cell // num_servers, cell % num_servers
        is_last = v + 1 == num_servers
        if x[cell] >= 0:
            left[s] += x[cell]
            room[v] += x[cell]
        value = left[s] if is_last and x[cell] < 0 else x[cell] + 1
        if value > min(left[s], room[v]) or (is_last and x[cell] >= 0):
            x[cell] = -1
            cell -= 1
            continue
        x[cell] = value
        left[s] -= value
        room[v] -= value
        cell += 1
    return best_alpha, best_traffic


def traffic_of(instance: JobsInstance, matrix: NDArray[np.int64]) -> Fraction:
    """Return the bytes that leave servers per iteration, summed, of a placement of job 0."""
    k, x = instance.replicas.tolist(), matrix.tolist()
    total = Fraction(0)
    for s, v in itertools.product(range(len(k)), range(instance.num_servers)):
        if 0 < x[s][v] < k[s]:
            total += Fraction(2 * (k[s] - 1), k[s]) * int(instance.parameter_bytes[s])
        if s + 1 < len(k):
            here, there = Fraction(x[s][v], k[s]), Fraction(x[s + 1][v], k[s + 1])
            total += int(instance.activation_bytes[s]) * (here * (1 - there) + there * (1 - here))
    return total


def measure(num_kinds: int, num_jobs: int, seed: int) -> dict[str, list[Outcome]]:
    """Return the outcomes of each rule, job by job."""
    rng = np.random.default_rng([seed, num_kinds])
    rows: dict[str, list[Outcome]] = {rule: [] for rule in RULES}
    for _ in range(num_jobs):
        instance, free = random_job(rng, num_kinds)
        minimum = least(instance, free)
        for name, rule in RULES.items():
            found = rule(instance, rng).place(0, free)
            assert found is not None
            traffic = traffic_of(instance, found.matrix(len(instance.replicas), NUM_SERVERS))
            assert found.alpha >= minimum.alpha
            assert traffic >= minimum.traffic
            rows[name].append(Outcome(found.alpha / minimum.alpha, traffic, minimum.traffic))
    return rows


def main() -> None:
    """Measure and print one table per number of kinds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for num_kinds in (1, 2):
        rows = measure(num_kinds, options.jobs, options.seed)
        print(f"\n{num_kinds} kind(s), {options.jobs} jobs | alpha: mean, 95 %, optimal | traffic: all, mean, minimal")
        for name, outcomes in rows.items():
            alphas = [float(one.alpha) for one in outcomes]
            ratios = [float(one.traffic / one.least_traffic) for one in outcomes if one.least_traffic]
            together = float(sum(one.traffic for one in outcomes) / sum(one.least_traffic for one in outcomes))
            optimal = np.mean([one.alpha == 1 for one in outcomes])
            minimal = np.mean([one.traffic == one.least_traffic for one in outcomes])
            print(
                f"{name:>17} | {np.mean(alphas):.4f} {np.quantile(alphas, 0.95):.3f} {optimal:6.1%} "
                f"| {together:.3f} {np.mean(ratios):6.2f} {minimal:6.1%}"
            )
        pairs = zip(rows["heavy-edge"], rows["stage order only"], strict=True)
        print(f"heavy-edge worse than stage order: {sum(one.alpha > other.alpha for one, other in pairs)}")


if __name__ == "__main__":
    main()
