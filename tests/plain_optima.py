"""Optima of tiny instances from their JSON documents alone, in plain Python that imports nothing of the packages.

DAG: some optimal schedule is left-shifted. Taken in order of start, every task then begins at its release, when its
data arrive or when its GPU becomes free, whichever is last, and starts never fall. All such sequences are enumerated;
one is given up where what has started cannot end below the best schedule so far.

Jobs without interference: in a left-shifted schedule every job begins at its release or when another one ends. With
interference nothing is assumed of good starts: all ticks are tried, and the schedule is replayed tick by tick.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def optimum_of(document: dict, objective: str) -> int | None:
    """Return the least objective of an instance, given as its document; None where nothing fits into memory."""
    if document["format"] == "optgap/dag":
        return _Dag(document, objective).optimum()
    jobs = _Jobs(document, objective)
    return jobs.replayed_optimum() if "interference" in document else jobs.optimum()


class _Dag:
    def __init__(self, document: dict, objective: str) -> None:
        self.tasks, self.gpus, self.jobs = document["tasks"], document["gpus"], document["jobs"]
        self.is_makespan = {"makespan": True, "weighted_completion": False}[objective]
        latency, speed = document["links"]["latency_ticks"], document["links"]["bytes_per_tick"]
        self.before: list[list[tuple[int, list[list[int]]]]] = [[] for _ in self.tasks]
        self.least = [min(ticks for ticks in task["durations"] if ticks is not None) for task in self.tasks]
        self.tail = list(self.least)  # of the longest path that begins with the task, without transfers
        for tail, head, data in document["edges"]:
            numbers = range(len(self.gpus))
            delay = [
                [0 if k == l or data == 0 else latency[k][l] + math.ceil(data / speed[k][l]) for l in numbers]
                for k in numbers
            ]
            self.before[head].append((tail, delay))
        for _ in self.tasks:
            for tail, head, _data in document["edges"]:
                self.tail[tail] = max(self.tail[tail], self.least[tail] + self.tail[head])
        self.placed: dict[int, tuple[int, int]] = {}  # GPU and end
        self.free = [0] * len(self.gpus)
        self.room = [math.inf if gpu["memory_bytes"] is None else gpu["memory_bytes"] for gpu in self.gpus]
        self.best: int | None = None

    def optimum(self) -> int | None:
        self._extend(0)
        return self.best

    def _least_cost(self, now: int) -> int:
        """Return what the objective is at least if all tasks that are left start now or later."""
        ends = [job["release"] for job in self.jobs]
        longest = 0
        for number, task in enumerate(self.tasks):
            end = self.placed[number][1] if number in self.placed else now + self.least[number]
            longest = max(longest, end if number in self.placed else now + self.tail[number])
            ends[task["job"]] = max(ends[task["job"]], end)
        return (
            longest if self.is_makespan else sum(job["weight"] * end for job, end in zip(self.jobs, ends, strict=True))
        )

    def _extend(self, now: int) -> None:
        """Start one more task, now or later."""
        cost = self._least_cost(now)
        if self.best is not None and cost >= self.best:
            return
        if len(self.placed) == len(self.tasks):
            self.best = cost
            return
        for number, task in enumerate(self.tasks):
            if number in self.placed or any(other not in self.placed for other, _ in self.before[number]):
                continue
            for k, ticks in enumerate(task["durations"]):
                if ticks is None or self.room[k] < task["memory_bytes"]:
                    continue
                arrivals = [
                    self.placed[other][1] + delay[self.placed[other][0]][k] for other, delay in self.before[number]
                ]
                free = self.free[k]
                start = max(self.jobs[task["job"]]["release"], free if ticks else 0, *arrivals, 0)
                if start < now:
                    continue
                self.placed[number] = (k, start + ticks)
                self.free[k] = start + ticks if ticks else free
                self.room[k] -= task["memory_bytes"]
                self._extend(start)
                self.room[k] += task["memory_bytes"]
                self.free[k] = free
                del self.placed[number]


class _Jobs:
    def __init__(self, document: dict, objective: str) -> None:
        self.document, self.servers, self.jobs = document, document["servers"], document["jobs"]
        names = {"total_completion": False, "weighted_completion": True}
        self.weight = [job["weight"] if names[objective] else 1 for job in self.jobs]
        self.places = [list(self._placements(job)) for job in self.jobs]

    def _placements(self, job: dict):
        """Yield replicas by stage and server, the iteration time's parts, and the duration alone."""
        options = []
        for stage in job["stages"]:
            may = [stage["times"][server["kind"]] is not None for server in self.servers]
            counts = (
                range(min(stage["replicas"], s["gpus"]) + 1) if ok else (0,)
                for ok, s in zip(may, self.servers, strict=True)
            )
            options.append([split for split in itertools.product(*counts) if sum(split) == stage["replicas"]])
        for x in itertools.product(*options):
            held = [sum(column) for column in zip(*x, strict=True)]
            if all(count <= server["gpus"] for count, server in zip(held, self.servers, strict=True)):
                times = [
                    stage["times"][server["kind"]]
                    for stage, row in zip(job["stages"], x, strict=True)
                    for server, count in zip(self.servers, row, strict=True)
                    if count
                ]
                comp = (job["micro_batches"] + len(x) - 1) * max(times)
                out = [self._bytes(job, x, [v]) for v in range(len(self.servers))]
                links = [
                    data / Fraction(*server["nic_bytes_per_tick"])
                    for data, server in zip(out, self.servers, strict=True)
                ]
                for number, rack in enumerate(self.document.get("racks", ())):
                    inside = [v for v, server in enumerate(self.servers) if server["rack"] == number]
                    links.append(self._bytes(job, x, inside) / Fraction(*rack["uplink_bytes_per_tick"]))
                alpha = comp + max(links)
                yield held, out, max(links), alpha, math.ceil(job["iterations"] * alpha)

    def _bytes(self, job: dict, x: tuple, inside: list[int]) -> Fraction:
        """Return the bytes that leave a server or a rack per iteration."""
        stages, total = job["stages"], Fraction(0)
        part = [Fraction(sum(row[v] for v in inside), stage["replicas"]) for row, stage in zip(x, stages, strict=True)]
        for s, stage in enumerate(stages):
            if 0 < part[s] < 1:
                total += Fraction(2 * (stage["replicas"] - 1), stage["replicas"]) * stage["parameter_bytes"]
            if s + 1 < len(stages):
                here, there = part[s], part[s + 1]
                total += stage["activation_bytes"] * (here * (1 - there) + there * (1 - here))
        return total

    def optimum(self) -> int:
        """Return the least objective where jobs do not slow each other down."""
        self.best = math.inf
        shortest = [min(ticks for *_, ticks in own) for own in self.places]
        choices = []  # for equal GPUs held the shortest duration
        for own in self.places:
            by_usage: dict[tuple[int, ...], int] = {}
            for held, *_, ticks in own:
                by_usage[tuple(held)] = min(ticks, by_usage.get(tuple(held), ticks))
            choices.append(by_usage)

        def extend(now: int, running: list, cost: int, left: frozenset) -> None:
            least = sum(self.weight[j] * (max(now, self.jobs[j]["release"]) + shortest[j]) for j in left)
            if cost + least >= self.best:
                return
            if not left:
                self.best = cost
            for j in left:
                release = self.jobs[j]["release"]
                for start in {release, *(end for end, _ in running if end > release)}:
                    if start < now:
                        continue
                    busy = [held for end, held in running if end > start]
                    for held, ticks in choices[j].items():
                        used = [sum(column) for column in zip(held, *busy, strict=True)]
                        if all(count <= server["gpus"] for count, server in zip(used, self.servers, strict=True)):
                            more = self.weight[j] * (start + ticks)
                            extend(start, [*running, (start + ticks, held)], cost + more, left - {j})

        extend(0, [], 0, frozenset(range(len(self.jobs))))
        return int(self.best)

    def replayed_optimum(self) -> int:
        """Return the least objective where jobs slow each other down; for two or three jobs of a few ticks."""
        numbers, share = range(len(self.jobs)), self.document["interference"]["share"]
        chosen = []
        for own in self.places:
            ways = []
            for place in own:
                sets = [
                    itertools.combinations(range(s["gpus"]), c if share > 1 else 0)
                    for s, c in zip(self.servers, place[0], strict=True)
                ]
                ways += [
                    (place, {(v, g) for v, gpus in enumerate(some) for g in gpus}) for some in itertools.product(*sets)
                ]
            chosen.append(ways)
        release = [job["release"] for job in self.jobs]
        latest = max(release) + sum(max(place[4] for place, _ in ways) for ways in chosen)
        best = sum(self.weight) * latest + 1
        heads = lambda ways: sum(self.weight[j] * (release[j] + ways[j][0][4]) for j in numbers)  # noqa: E731
        for ways in sorted(itertools.product(*chosen), key=heads):
            if heads(ways) >= best:
                break
            speeds: dict[frozenset[int], dict[int, int] | None] = {}
            for delays in self._delays(best - heads(ways) - 1, len(self.jobs)):
                starts = [release[j] + delays[j] for j in numbers]
                value = self._replay(ways, starts, speeds)
                best = best if value is None else min(best, value)
        return best

    def _delays(self, budget: int, count: int):
        """Yield all delays of the first jobs whose weighted sum is within a budget."""
        if count == 0:
            yield ()
            return
        for delay in range(budget // self.weight[count - 1] + 1):
            for others in self._delays(budget - delay * self.weight[count - 1], count - 1):
                yield (*others, delay)

    def _replay(self, ways: tuple, starts: list[int], speeds: dict) -> int | None:
        """Return the objective of starts, tick by tick; None where jobs do not fit beside each other."""
        left = [1000 * place[4] for place, _ in ways]
        value, tick = 0, 0
        while any(left):
            running = frozenset(j for j, start in enumerate(starts) if start <= tick and left[j])
            if running not in speeds:
                speeds[running] = self._speeds(ways, running)
            if speeds[running] is None:
                return None
            tick += 1
            for j, speed in speeds[running].items():
                left[j] = max(0, left[j] - speed)
                value += 0 if left[j] else self.weight[j] * tick
        return value

    def _speeds(self, ways: tuple, running: frozenset) -> dict[int, int] | None:
        """Return the speed of every running job in per mille, None where they do not fit."""
        rule = self.document["interference"]
        beside: dict[int, list[int]] = {j: [1000] for j in running}
        for v, server in enumerate(self.servers):
            if rule["share"] == 1 and sum(ways[j][0][0][v] for j in running) > server["gpus"]:
                return None
        for i, j in itertools.combinations(sorted(running), 2):
            if shared := ways[i][1] & ways[j][1]:
                if any(gpu in ways[other][1] for gpu in shared for other in running - {i, j}):
                    return None
                classes = self.jobs[i]["class"], self.jobs[j]["class"]
                pair = rule["pair"][classes[0]][classes[1]], rule["pair"][classes[1]][classes[0]]
                if None in pair:
                    return None
                beside[i].append(pair[0])
                beside[j].append(pair[1])
        asked = {j: self._asked(self.jobs[j], *ways[j][0]) for j in running}
        speeds = {}
        for j in running:
            slow = []
            for v, count in enumerate(ways[j][0][0]):
                if count:
                    terms = [
                        sens
                        * (
                            max(1000, sum(asked[i][0][v][z] for i in running)) / max(Fraction(1000), asked[j][0][v][z])
                            - 1
                        )
                        for z, sens in enumerate(asked[j][1])
                    ]
                    slow.append(1000 + sum(terms))
            speeds[j] = max(1, math.floor(Fraction(10**6) / max(slow) * min(beside[j]) / 1000))
        return speeds

    def _asked(self, job: dict, held: list, out: list, comm: Fraction, alpha: Fraction, ticks: int) -> tuple:
        """Return what a job asks of every server and resource, and its sensitivities, in per mille."""
        names, sens = self.document["interference"]["resources"], [Fraction(value) for value in job["sens"]]
        own = [[Fraction(use * count) for use in job["use"]] for count in held]
        if "nic" in names:
            z, rest = names.index("nic"), sum(sens)
            for v, server in enumerate(self.servers):
                own[v][z] = 1000 * out[v] / (Fraction(*server["nic_bytes_per_tick"]) * alpha)
            share = 1000 * comm / alpha
            if share + rest > 1000:
                sens = [value * (1000 - share) / rest for value in sens]
            sens[z] = share
        return own, sens
