"""Check a lower bound of a DAG instance by its certificate: `python check_certificate.py INSTANCE CERTIFICATE`.

This file needs nothing but Python and shares no code with the package that wrote the certificate. It prints what is
proved (status 0), or what is wrong (status 1). docs/bounds.md, section 6.1, has the format and says why proofs hold.
"""

import gzip
import json
import sys
from copy import copy
from fractions import Fraction
from graphlib import TopologicalSorter
from math import ceil, inf

NEVER = inf  # later than any time, more than any memory; all other numbers but bytes per tick are integers


def text_of(path):
    """Return the text of a file, compressed if its name ends in .gz."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read()


class Instance:
    """The numbers of an instance: tasks i, GPUs k, edges (tail, head, bytes); all else only forbids schedules."""

    def __init__(self, path):
        """Read a file of format optgap/dag."""
        twice = []  # how many keys of each object are there again
        hook = lambda pairs: twice.append(len(pairs) - len(dict(pairs))) or dict(pairs)  # noqa: E731
        document = json.loads(text_of(path), object_pairs_hook=hook)
        if document["format"] != "optgap/dag" or document["version"] not in (1, 2):
            raise ValueError("the instance is no file of format optgap/dag, version 1 or 2")
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
        sizes = [*self.memory, *self.release, *self.weight, *[b for *_, b in edges], *[latency[k][l] for k, l in pairs]]
        sizes += [size for row in (self.capacity, *self.duration) for size in row if size is not None]
        numbers = [(size, 2**53 + 1) for size in sizes] + [(job, len(jobs)) for job in self.job]
        numbers += [(i, self.n) for *ends, _ in edges for i in ends]
        numbers += [(len(row) - self.m, 1) for row in (latency, speed, *latency, *speed, *self.duration)]
        is_whole = all(type(number) is int and 0 <= number < end for number, end in numbers)
        is_once = not any(twice) and len({(tail, head) for tail, head, _ in edges}) == len(edges)
        if not (is_whole and is_once and all(0 < speed[k][l] < NEVER for k, l in pairs)):
            raise ValueError("the instance: expected integers from 0 to 2**53, speeds above 0, keys and edges once")
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
        local = sorted(item[1:] for item in items if item[0] > theta)  # heads may be NEVER
        end = 0 if sum(memory for _, _, memory in local) <= free else NEVER
        for head, duration, _ in local:
            end = max(end, head) + duration
        best = min(best, max([end, *(item[0] for item in items if item[0] <= theta)]))
    return best


class Known:
    """What holds of schedules within a limit (or None) by choices made; lists in lists are replaced, not changed."""

    def __init__(self, instance, objective, limit):
        """Begin with releases and the GPUs that are allowed."""
        one, self.instance, self.limit, self.is_makespan = instance, instance, limit, objective == "makespan"
        self.allowed, self.before, self.after = list(one.allowed), one.before, one.after
        zeros = [[0 if k in gpus else NEVER for k in one.gpus] for gpus in one.allowed]
        heads = [[one.release[job] + ticks for ticks in row] for job, row in zip(one.job, zeros)]
        self.rows = [heads, zeros, list(zeros)][: 2 if self.is_makespan else 3]  # tails to the end, and of the job
        self.settle(range(one.n))

    def settle(self, tasks):
        """Compute again what follows from changes of some tasks, without pairs of a task and a GPU that cannot be."""
        one, stale, fresh, heads = self.instance, set(tasks), set(), self.rows[0]
        order = list(TopologicalSorter({i: [h for h, _ in near] for i, near in enumerate(self.before)}).static_order())
        inside = [[edge for edge in near if one.job[edge[0]] == job] for near, job in zip(self.after, one.job)]
        back = [(order[::-1], near, self.before) for near in (self.after, inside)]
        while stale and (self.limit is None or all(self.allowed)):  # else no schedule is left
            for rows, (tasks, near, far) in zip(self.rows, [(order, self.before, self.after), *back]):
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
            for i, k in [(i, k) for i, gpus in enumerate(self.allowed) for k in gpus]:
                end = heads[i][k] + one.duration[i][k]
                if max(rows[i][k] for rows in self.rows) >= NEVER or end + self.rows[-1][i][k] > self.due[one.job[i]]:
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
            raise ValueError(f"{kind} {i} {j}: expected a task and a GPU, two on one GPU, or a tick of the makespan")
        new.settle({i, j} if kind == "before" else {i})
        return new

    def keep_common(self, choices):
        """Keep what holds in all cases of some choices that are not refuted; one of the cases holds."""
        every = [self.with_choice(*choice) for choice in choices] or [self]
        every = [case for case in every if all(case.allowed)] or every[:1]
        self.allowed = [set().union(*gpus) for gpus in zip(*(case.allowed for case in every))]
        sides = zip(*(case.rows for case in every))
        self.rows = [[list(map(min, zip(*rows))) for rows in zip(*side)] for side in sides]
        self.settle(range(self.instance.n))

    def overlap(self, i, k, begin, end):
        """Return how long task i runs at least inside [begin, end] if it is on GPU k: at one end of its window."""
        duration, latest = self.instance.duration[i][k], self.due[self.instance.job[i]] - self.rows[-1][i][k]
        early = min(self.rows[0][i][k] + duration, end) - max(self.rows[0][i][k], begin)
        return max(0, min(early, min(latest, end) - max(latest - duration, begin)))

    def weigh(self, loads):
        """Remove GPUs on which a task costs too much by multipliers u of windows, bytes, tasks and edges."""
        one, slack, costs = self.instance, 0, [dict.fromkeys(gpus, 0) for gpus in self.allowed]
        alone, flow = [0] * one.n, [0] * one.n
        for word, first, *rest, u in loads:
            if word in ("window", "memory"):
                slack += u * (max(0, rest[1] - rest[0]) if rest else one.capacity[first])
                for i in [i for i in range(one.n) if first in costs[i]]:
                    costs[i][first] += u * (self.overlap(i, first, *rest) if rest else one.memory[i])
            elif word == "task":
                alone[first] += u
            else:  # the tail of the edge pays a share of its delay, one per GPU, and the head the least that is left
                i, *share = rest
                delay, flow[first], flow[i] = dict(self.before[i]).get(first), flow[first] - u, flow[i] + u
                if delay is None:
                    raise ValueError(f"edge {first} {i}: expected an edge of the instance or a chosen order")
                for k in costs[i]:
                    costs[i][k] += min((u * delay[l][k] - share[l] for l in costs[first]), default=0)
                for k in costs[first]:
                    costs[first][k] += u * one.duration[first][k] + share[k]
        for i, (both, u) in enumerate(zip(alone, flow)):
            starts, ends = both + max(0, -u), both + max(0, u)
            slack += ends * self.due[one.job[i]] if ends else 0
            for k in costs[i]:
                costs[i][k] += starts * self.rows[0][i][k] + ends * (one.duration[i][k] + self.rows[-1][i][k])
        slack -= sum(min(cost.values(), default=NEVER) for cost in costs)  # never if a task has no GPU left
        self.allowed = [{k for k in cost if cost[k] - min(cost.values()) <= slack} for cost in costs]


def integers(line, counts):
    """Return the numbers of a line behind its first word, one of those that are counted."""
    if len(line) != counts.get(line[0], -1) + 1 or any(not w.isdecimal() or str(int(w)) != w for w in line[1:]):
        raise ValueError(f"{' '.join(line)}: expected a word and so many integers of at least 0: {counts}")
    return [int(word) for word in line[1:]]


def check_refuted(instance, objective, lines):
    """Return one more than the limit, once no schedule is left; what a block refutes does not hold outside of it."""
    if not lines:
        return 0
    (limit,) = integers(lines[0], {"deadline": 1})
    outer, state, loads = [], Known(instance, objective, limit), []
    counts = {"suppose": 2, "before": 2, "early": 2, "late": 2, "gpus": 1, "times": 2, "reduce": 0, "contradiction": 0}
    counts |= {"window": 4, "memory": 2, "task": 2, "edge": 3 + instance.m}
    for line in lines[1:]:
        word, numbers = line[0], integers(line, counts)
        if word in ("suppose", "before", "early", "late"):
            outer.append((state, (word, *numbers)))
            state = state.with_choice(word, *numbers)
        elif word in ("gpus", "times"):
            on_gpus = [("suppose", numbers[0], k) for k in state.allowed[numbers[0]]]
            state.keep_common(on_gpus if word == "gpus" else [("early", *numbers), ("late", *numbers)])
        elif word in ("window", "memory", "task", "edge"):
            loads.append((word, *numbers))
        else:
            state.weigh(loads)
            loads = []
            if word == "reduce":
                state.settle(range(instance.n))
            elif all(state.allowed):
                raise ValueError(f"in {[choice for _, choice in outer]}: expected more work than there is time")
            elif outer:
                state, refuted = outer.pop()
                state = state.with_choice(*refuted, False)
            elif line is lines[-1]:
                return limit + 1
            else:
                break
    raise ValueError("refuted: expected a contradiction outside of all blocks, and nothing after it")


def check_columns(instance, objective, lines):
    """Return the bound on the weighted completion by the cheapest set of tasks of every GPU at prices of tasks."""
    numbers = [(line[0], *integers(line, {"fineness": 2, "weight": 2, "price": 2})) for line in lines]
    values = {(word, i): value for word, i, value in numbers}
    share, price = ([values.get((name, i), 0) for i in range(instance.n)] for name in ("weight", "price"))
    fineness = values.get(("fineness", 0), 0)
    if objective != "weighted_completion" or fineness < 1 or len(lines) != len(values):
        raise ValueError("columns: expected the weighted completion, one fineness of at least 1, weights and prices")
    value, state = sum(reward for reward, part in zip(price, share) if part), Known(instance, objective, None)
    for j, weight in enumerate(instance.weight):
        if j not in instance.job:
            value += fineness * weight * instance.release[j]
        elif sum(share[i] for i in range(instance.n) if instance.job[i] == j) != weight:
            raise ValueError(f"job {j}: expected the weights of its tasks to sum to {weight}")
    for k in instance.gpus:
        tasks = [i for i in range(instance.n) if k in state.allowed[i] and share[i]]
        begin, front = min((state.rows[0][i][k] for i in tasks), default=0), [(0, 0)]
        for i in sorted(tasks, key=lambda i: Fraction(instance.duration[i][k], share[i])):
            duration, rate, rest = instance.duration[i][k], fineness * share[i], begin + state.rows[-1][i][k]
            with_it = [(done + duration, cost + rate * (done + duration + rest) - price[i]) for done, cost in front]
            merged, front = sorted(front + with_it), []
            for done, cost in merged:  # more work and no less cost is never better
                if not front or cost < front[-1][1]:
                    front.append((done, cost))
        value += min(cost for _, cost in front)
    return max(0, -(-value // fineness))


def check(instance_path, certificate_path):
    """Return objective and bound that a certificate proves of an instance; raises an error if it does not."""
    lines = [line.split() for line in text_of(certificate_path).splitlines()]
    top = [line[: 2 if place == 0 else 1] for place, line in enumerate(lines[:4])]
    if top != [["optgap-certificate", "1"], ["objective"], ["bound"], ["proof"]] or lines[-1] != ["end"] or [] in lines:
        raise ValueError("expected the lines optgap-certificate 1, objective, bound, proof, and at last end")
    objective, (bound,), kind = " ".join(lines[1][1:]), integers(lines[2], {"bound": 1}), " ".join(lines[3][1:])
    if objective not in ("makespan", "weighted_completion") or kind not in ("refuted", "columns"):
        raise ValueError(f"expected a known objective and kind of proof, got {objective} and {kind}")
    proved = (check_columns if kind == "columns" else check_refuted)(Instance(instance_path), objective, lines[4:-1])
    if proved != bound:
        raise ValueError(f"bound {bound}: expected {proved}, which is what the proof gives")
    return objective, bound


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python check_certificate.py INSTANCE CERTIFICATE")
    try:
        print("proved: {} at least {}".format(*check(sys.argv[1], sys.argv[2])))
    except Exception as error:  # whatever is wrong with the files, such as compressed data that end too early
        sys.exit(f"refused: {error}")
