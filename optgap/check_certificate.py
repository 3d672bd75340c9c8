"""Check a lower bound of a DAG instance by its certificate: `python check_certificate.py INSTANCE CERTIFICATE`.

This file needs nothing but Python and shares no code with the package that wrote the certificate. It prints what is
proved (status 0), or what is wrong (status 1). The format, and why each kind of proof holds, is in docs/bounds.md,
section 6.1: memory, GPUs that run one task at a time, and transfers count. Buffers and groups only forbid schedules.
"""

import gzip
import json
import sys
from copy import copy
from fractions import Fraction
from graphlib import TopologicalSorter
from math import ceil, inf

NEVER = inf  # later than any time, more than any memory; all other numbers but bytes per tick are integers


class RefusedError(Exception):
    """The certificate does not prove what it claims."""


def opened(path):
    """Open a file to be read, compressed if its name ends in .gz."""
    return (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8")


class Instance:
    """The numbers of an instance: tasks i, GPUs k, edges (tail, head, bytes)."""

    def __init__(self, path):
        """Read a file of format optgap/dag."""
        with opened(path) as file:
            twice = []  # how many keys of each object are there again
            hook = lambda pairs: twice.append(len(pairs) - len(dict(pairs))) or dict(pairs)  # noqa: E731
            document = json.load(file, object_pairs_hook=hook)
        if document["format"] != "optgap/dag" or document["version"] not in (1, 2):
            raise RefusedError("the instance is no file of format optgap/dag, version 1 or 2")
        tasks, jobs = document["tasks"], document.get("jobs", [{"release": 0, "weight": 1}])
        self.capacity = [gpu["memory_bytes"] for gpu in document["gpus"]]
        gpus = self.gpus = range(len(self.capacity))
        self.n, self.m = len(tasks), len(gpus)
        self.duration = [task["durations"] for task in tasks]
        self.memory, self.job = ([task.get(key, 0) for task in tasks] for key in ("memory_bytes", "job"))
        self.release, self.weight = [job["release"] for job in jobs], [job["weight"] for job in jobs]
        self.before, self.after = [[] for _ in tasks], [[] for _ in tasks]
        latency, speed = document["links"]["latency_ticks"], document["links"]["bytes_per_tick"]
        edges, pairs = document["edges"], [(k, l) for k in gpus for l in gpus if k != l]
        sizes = [*self.capacity, *self.memory, *self.release, *self.weight, *(data for _, _, data in edges)]
        sizes += [ticks for row in self.duration for ticks in row] + [latency[k][l] for k, l in pairs]
        numbers = [(size, 2**53 + 1) for size in sizes if size is not None] + [(job, len(jobs)) for job in self.job]
        numbers += [(i, self.n) for *ends, _ in edges for i in ends]
        is_whole = all(type(number) is int and 0 <= number < end for number, end in numbers)
        is_once = not any(twice) and len({(tail, head) for tail, head, _ in edges}) == len(edges)
        if not (is_whole and is_once and all(0 < speed[k][l] < NEVER for k, l in pairs)):
            raise RefusedError("the instance: expected integers from 0 to 2**53, speeds above 0, keys and edges once")
        for tail, head, data in edges:
            delay = [[latency[k][l] + ceil(data / speed[k][l]) if k != l and data else 0 for l in gpus] for k in gpus]
            self.before[head].append((tail, delay))
            self.after[tail].append((head, list(zip(*delay))))
        fits = [{k for k in self.gpus if self.capacity[k] is None or size <= self.capacity[k]} for size in self.memory]
        self.allowed = [{k for k in fits[i] if self.duration[i][k] is not None} for i in range(self.n)]


def least_start(items, free):
    """Return when a task can start at the earliest, given (elsewhere, here, duration, memory) of its predecessors.

    Those on its own GPU run there one by one, not before `here`, and fit into the `free` bytes; all others arrive from
    `elsewhere`. Those that arrive after the latest arrival theta are on the GPU: the least value over theta holds.
    """
    best = NEVER
    for theta in {-1, *(item[0] for item in items if item[0] < NEVER)}:
        local = sorted((item[1], item[2]) for item in items if item[0] > theta)
        used = sum(item[3] for item in items if item[0] > theta)
        if (local and local[-1][0] >= NEVER) or used > free:
            continue
        end = 0
        for head, duration in local:
            end = max(end, head) + duration
        best = min(best, max([end, *(item[0] for item in items if item[0] <= theta)]))
    return best


class Known:
    """What holds for all schedules within a limit (or None) by choices made; lists in lists are replaced, not changed.

    Rows are heads, tails to the end, and for the weighted completion tails to the end of the job.
    """

    def __init__(self, instance, objective, limit):
        """Begin with releases and the GPUs that are allowed."""
        one, self.instance, self.limit, self.is_makespan = instance, instance, limit, objective == "makespan"
        self.allowed, self.before, self.after = list(one.allowed), one.before, one.after
        zeros = [[0 if k in gpus else NEVER for k in one.gpus] for gpus in one.allowed]
        heads = [[one.release[job] + ticks for ticks in row] for job, row in zip(one.job, zeros)]
        self.rows = [heads, zeros, list(zeros)][: 2 if self.is_makespan else 3]
        self.settle(range(one.n))

    def settle(self, tasks):
        """Compute again what follows from changes of some tasks, without pairs of a task and a GPU that cannot be."""
        one, stale, fresh, heads = self.instance, set(tasks), set(), self.rows[0]
        order = list(TopologicalSorter({i: [h for h, _ in near] for i, near in enumerate(self.before)}).static_order())
        inside = [[edge for edge in near if one.job[edge[0]] == job] for near, job in zip(self.after, one.job)]
        back, pairs = order[::-1], [(i, k) for i in range(one.n) for k in one.allowed[i]]
        ways = [(order, self.before, self.after), (back, self.after, self.before), (back, inside, self.before)]
        while stale and (self.limit is None or all(self.allowed)):  # else no schedule is left
            for rows, (tasks, near, far) in zip(self.rows, ways):
                late = stale.union(j for i in stale for j, _ in far[i])
                for i in tasks:
                    if i in late and (row := self.row(i, near[i], rows)) != rows[i]:
                        rows[i] = row
                        fresh.add(i)
                        late.update(j for j, _ in far[i])
            fresh, stale, self.least = fresh | stale, set(), [0 if self.is_makespan else r for r in one.release]
            for i, job in enumerate(one.job):
                ends = (heads[i][k] + one.duration[i][k] + self.rows[-1][i][k] for k in self.allowed[i])
                self.least[job] = max(self.least[job], min(ends, default=0))
            self.due = [NEVER if self.limit is None else self.limit] * len(one.weight)
            if self.limit is not None and not self.is_makespan:  # others complete at their least time or later
                spare = self.limit - sum(weight * time for weight, time in zip(one.weight, self.least))
                self.due = [t + spare // w if w else NEVER for t, w in zip(self.least, one.weight)]
            for i, k in [(i, k) for i, k in pairs if k in self.allowed[i]]:
                end = heads[i][k] + one.duration[i][k]
                if end + self.rows[1][i][k] >= NEVER or end + self.rows[-1][i][k] > self.due[one.job[i]]:
                    self.allowed[i] = self.allowed[i] - {k}
                    stale.add(i)
            if not stale:
                stale, fresh = self.take_turns(fresh), set()

    def row(self, i, near, rows):
        """Return when task i can start on each GPU at the earliest, by its neighbours and what was known."""
        one, row = self.instance, [NEVER] * self.instance.m
        ends = [[(l, rows[h][l] + one.duration[h][l]) for l in self.allowed[h]] for h, _ in near]
        for k in self.allowed[i]:
            items = []
            for (h, delay), places in zip(near, ends):
                elsewhere, here = min([end + delay[l][k] for l, end in places if l != k], default=NEVER), rows[h][k]
                items.append((elsewhere, here, one.duration[h][k] if here < NEVER else 0, one.memory[h]))
            free = NEVER if one.capacity[k] is None else one.capacity[k] - one.memory[i]
            row[k] = max(rows[i][k], least_start(items, free))
        return row

    def take_turns(self, fresh):
        """Say that task j waits for task i, or comes first, on the one GPU that i has left, where only that fits."""
        length, changed, (heads, tails) = self.instance.duration, set(), self.rows[:2]
        for i, k in [(i, *gpus) for i, gpus in enumerate(self.allowed) if len(gpus) == 1]:
            for j in range(len(length)) if i in fresh else fresh:
                if j != i and k in self.allowed[j] and length[i][k] * length[j][k] > 0:
                    end, due = length[i][k] + length[j][k] + self.rows[-1][i][k], self.due[self.instance.job[i]]
                    leads = heads[i][k] + length[i][k] + length[j][k] + tails[j][k] > due and self.is_makespan
                    for rows, holds in ((heads, heads[j][k] + end > due), (tails, leads)):
                        if holds and rows[i][k] + length[i][k] > rows[j][k]:
                            rows[j] = [*rows[j][:k], rows[i][k] + length[i][k], *rows[j][k + 1 :]]
                            changed.add(j)
        return changed

    def with_choice(self, kind, i, j, holds=True):
        """Return what holds if task i is on GPU j, before task j on their GPU, or starts before tick j, or not."""
        one, new, new.rows, is_early = self.instance, copy(self), list(map(list, self.rows)), holds == (kind == "early")
        new.allowed, new.before, new.after = list(self.allowed), list(self.before), list(self.after)
        ticks = [one.duration[h][k] for h in (i, j) for k in self.allowed[h]] if kind == "before" else []
        linked = {h for h, _ in self.before[i] + self.after[i]} if ticks else ()  # an order twice would count twice
        if kind == "suppose" and i < one.n and j < one.m:
            new.allowed[i] = self.allowed[i] & {j} if holds else self.allowed[i] - {j}
        elif kind in ("early", "late") and i < one.n and self.is_makespan:
            starts = [self.limit - (duration or 0) - (j - 1) if is_early else j for duration in one.duration[i]]
            new.rows[is_early][i] = list(map(max, self.rows[is_early][i], starts))
        elif len(ticks) == 2 and all(ticks) and i != j not in linked and self.allowed[i] == self.allowed[j]:
            (a, b), zeros = (i, j) if holds else (j, i), [[0] * one.m] * one.m
            new.before[b], new.after[a] = [*self.before[b], (a, zeros)], [*self.after[a], (b, zeros)]
        elif all(self.allowed):  # else anything follows
            raise RefusedError(f"{kind} {i} {j}: expected a task and a GPU, two on one GPU, or a tick of the makespan")
        new.settle({i, j} if kind == "before" else {i})
        return new

    def with_all(self, choices):
        """Return what holds in all cases of some choices that are not refuted; one of the cases holds."""
        every, new = [self.with_choice(*choice) for choice in choices] or [self], copy(self)
        every = [case for case in every if all(case.allowed)] or every[:1]
        new.allowed = [set().union(*gpus) for gpus in zip(*(case.allowed for case in every))]
        new.rows = [[list(map(min, zip(*rows))) for rows in zip(*side)] for side in zip(*(case.rows for case in every))]
        new.settle(range(self.instance.n))
        return new

    def overlap(self, i, k, begin, end):
        """Return how long task i runs at least inside [begin, end] if it is on GPU k: at one end of its window."""
        duration, latest = self.instance.duration[i][k], self.due[self.instance.job[i]] - self.rows[-1][i][k]
        early = min(self.rows[0][i][k] + duration, end) - max(self.rows[0][i][k], begin)
        return max(0, min(early, min(latest, end) - max(latest - duration, begin)))

    def with_loads(self, loads):
        """Return what holds by multipliers u of windows (k, begin, end, u) and bytes (k, u): nothing costs too much."""
        one, slack, costs, new = self.instance, 0, [dict.fromkeys(gpus, 0) for gpus in self.allowed], copy(self)
        new.rows = list(map(list, self.rows))
        for k, *window, u in loads:
            slack += u * (max(0, window[1] - window[0]) if window else one.capacity[k])
            for i in [i for i in range(one.n) if k in costs[i]]:
                costs[i][k] += u * (self.overlap(i, k, *window) if window else one.memory[i])
        slack -= sum(min(cost.values(), default=NEVER) for cost in costs)  # never if a task has no GPU left
        new.allowed = [{k for k in cost if cost[k] - min(cost.values()) <= slack} for cost in costs]
        return new


def integers(line, count):
    """Return the numbers of a line behind its first word."""
    if len(line) != count + 1 or any(not word.isdecimal() or str(int(word)) != word for word in line[1:]):
        raise RefusedError(f"{' '.join(line)}: expected {count} integers of at least 0 after {line[0]}")
    return [int(word) for word in line[1:]]


def check_refuted(instance, objective, lines):
    """Return one more than the limit, once no schedule is left; what a block refutes does not hold outside of it."""
    if not lines:
        return 0
    if lines[0][0] != "deadline":
        raise RefusedError("refuted: expected a deadline first")
    (limit,) = integers(lines[0], 1)
    outer, choice, state, loads = [], None, Known(instance, objective, limit), []
    for line in lines[1:]:
        if state is None:
            raise RefusedError(f"{' '.join(line)}: expected nothing after the last contradiction")
        if line[0] in ("suppose", "before", "early", "late"):
            outer.append((choice, state))
            choice = (line[0], *integers(line, 2))
            state = state.with_choice(*choice)
        elif line[0] in ("window", "memory"):
            loads.append(integers(line, 4 if line[0] == "window" else 2))
        elif line[0] in ("gpus", "times"):
            i, *tick = integers(line, 1 if line[0] == "gpus" else 2)
            on_gpus = [("suppose", i, k) for k in state.allowed[i]]
            state = state.with_all([("early", i, *tick), ("late", i, *tick)] if tick else on_gpus)
        elif line in (["contradiction"], ["reduce"]):
            state, loads = state.with_loads(loads), []
            if line == ["reduce"]:
                state.settle(range(instance.n))
            elif all(state.allowed):
                raise RefusedError(f"contradiction of {choice}: expected more work than there is time")
            else:
                refuted, (choice, state) = choice, outer.pop() if outer else (None, None)
                state = state and state.with_choice(*refuted, False)
        else:
            raise RefusedError(f"{' '.join(line)}: expected a choice, gpus, times, window, memory or an end of a block")
    if state is not None:
        raise RefusedError("refuted: expected a contradiction at the end")
    return limit + 1


def check_columns(instance, objective, lines):
    """Return the bound on the weighted completion by the cheapest set of tasks of every GPU at prices of tasks."""
    values = {(line[0], index): value for line in lines for index, value in [integers(line, 2)]}
    share, price = ([values.get((name, i), 0) for i in range(instance.n)] for name in ("weight", "price"))
    fineness = values.get(("fineness", 0), 0)
    if objective != "weighted_completion" or fineness < 1 or len(lines) != len(values):
        raise RefusedError("columns: expected the weighted completion, one fineness of at least 1, weights and prices")
    jobs = list(zip(instance.weight, instance.release))
    value = fineness * sum(weight * release for j, (weight, release) in enumerate(jobs) if j not in instance.job)
    for j in set(instance.job):
        if sum(share[i] for i in range(instance.n) if instance.job[i] == j) != instance.weight[j]:
            raise RefusedError(f"job {j}: expected the weights of its tasks to sum to {instance.weight[j]}")
    state = Known(instance, objective, None)
    value += sum(reward for reward, part in zip(price, share) if part)
    for k in instance.gpus:
        tasks = [i for i in range(instance.n) if k in state.allowed[i] and share[i]]
        begin, front = min((state.rows[0][i][k] for i in tasks), default=0), [(0, 0)]
        tasks.sort(key=lambda i: Fraction(instance.duration[i][k], share[i]))
        for i in tasks:
            duration, rate = instance.duration[i][k], fineness * share[i]
            tail_from = begin + duration + state.rows[-1][i][k]
            with_it = [(done + duration, cost + rate * (done + tail_from) - price[i]) for done, cost in front]
            merged, front = sorted(front + with_it), []
            for done, cost in merged:  # more work and no less cost is never better
                if not front or cost < front[-1][1]:
                    front.append((done, cost))
        value += min(cost for _, cost in front)
    return max(0, -(-value // fineness))


def check(instance_path, certificate_path):
    """Return objective and bound that a certificate proves of an instance; raises `RefusedError` if it does not."""
    with opened(certificate_path) as file:
        lines = [line.split() for line in file.read().splitlines()]
    top = [line[: 2 if place == 0 else 1] for place, line in enumerate(lines[:4])]
    if top != [["optgap-certificate", "1"], ["objective"], ["bound"], ["proof"]] or lines[-1] != ["end"] or [] in lines:
        raise RefusedError("expected the lines optgap-certificate 1, objective, bound, proof, and at last end")
    objective, (bound,), kind = " ".join(lines[1][1:]), integers(lines[2], 1), " ".join(lines[3][1:])
    if objective not in ("makespan", "weighted_completion") or kind not in ("refuted", "columns"):
        raise RefusedError(f"expected a known objective and kind of proof, got {objective} and {kind}")
    proved = (check_columns if kind == "columns" else check_refuted)(Instance(instance_path), objective, lines[4:-1])
    if proved != bound:
        raise RefusedError(f"bound {bound}: expected {proved}, which is what the proof gives")
    return objective, bound


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python check_certificate.py INSTANCE CERTIFICATE")
    try:
        print("proved: {} at least {}".format(*check(sys.argv[1], sys.argv[2])))
    except Exception as error:  # whatever is wrong with the files, such as compressed data that end too early
        sys.exit(f"refused: {error}")
