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
from pathlib import Path


class Instance:
    """The numbers of an instance: tasks i, GPUs k, edges (tail, head, bytes); all else only forbids schedules."""

    def __init__(self, text):
        """Read the text of a file of format optgap/dag."""
        twice = []  # how many keys of each object are there again
        document = json.loads(text, object_pairs_hook=lambda a: twice.append(len(a) - len(dict(a))) or dict(a))
        if document["format"] != "optgap/dag" or document["version"] not in (1, 2):
            raise ValueError("the instance is no file of format optgap/dag, version 1 or 2")
        tasks, jobs = document["tasks"], document.get("jobs", [{"release": 0, "weight": 1}])
        self.capacity = [gpu["memory_bytes"] for gpu in document["gpus"]]
        self.n, self.m, self.gpus = len(tasks), len(self.capacity), range(len(self.capacity))
        self.duration = [task["durations"] for task in tasks]
        self.memory, self.job = ([task.get(key, 0) for task in tasks] for key in ("memory_bytes", "job"))
        self.release, self.weight = [job["release"] for job in jobs], [job["weight"] for job in jobs]
        self.before, self.after = [{} for _ in tasks], [{} for _ in tasks]  # delays from GPU to GPU by neighbours
        latency, speed = document["links"]["latency_ticks"], document["links"]["bytes_per_tick"]
        edges, pairs, gpus = document["edges"], [(k, l) for k in self.gpus for l in self.gpus if k != l], self.gpus
        sizes = [*self.memory, *self.release, *self.weight, *[b for *_, b in edges], *[latency[k][l] for k, l in pairs]]
        sizes += [size for row in (self.capacity, *self.duration) for size in row if size is not None]
        numbers = [(size, 2**53 + 1) for size in sizes] + [(job, len(jobs)) for job in self.job]
        numbers += [(i, self.n) for *ends, _ in edges for i in ends]
        numbers += [(len(row) - self.m, 1) for row in (latency, speed, *latency, *speed, *self.duration)]
        is_whole = all(type(number) is int and 0 <= number < end for number, end in numbers)
        is_once = not any(twice) and len({(tail, head) for tail, head, _ in edges}) == len(edges)
        if not (is_whole and is_once and all(0 < speed[k][l] < inf for k, l in pairs)):
            raise ValueError("the instance: expected integers from 0 to 2**53, speeds above 0, keys and edges once")
        for tail, head, data in edges:
            delay = [[latency[k][l] + ceil(data / speed[k][l]) if k != l and data else 0 for l in gpus] for k in gpus]
            self.before[head][tail] = delay
            self.after[tail][head] = list(zip(*delay))
        fits = [{k for k in self.gpus if self.capacity[k] is None or size <= self.capacity[k]} for size in self.memory]
        self.allowed = [{k for k in fits[i] if self.duration[i][k] is not None} for i in range(self.n)]


def least_start(items, free):
    """Return when a task can start, given (arrival from elsewhere, start here, duration, memory) of tasks before it."""
    best = inf  # if theta is the latest arrival, all that would arrive later are here, one by one
    for theta in {-1, *(item[0] for item in items if item[0] < inf)}:
        local = sorted(item[1:] for item in items if item[0] > theta)  # heads may be inf
        end = 0 if sum(memory for _, _, memory in local) <= free else inf
        for head, duration, _ in local:
            end = max(end, head) + duration
        best = min(best, max(end, theta))
    return best


class Known:
    """What holds of schedules within a limit by choices made; lists in lists are replaced, not changed."""

    def __init__(self, instance, objective, limit):
        """Begin with releases and the GPUs that are allowed."""
        one, self.instance, self.limit, self.is_makespan = instance, instance, limit, objective == "makespan"
        self.allowed, self.before, self.after = list(one.allowed), one.before, one.after
        self.team, self.floor = ([0] * one.n, [0] * len(one.weight)) if self.is_makespan else (one.job, one.release)
        self.cap = [limit if self.is_makespan else inf] * len(one.weight)  # and floor: of the completions of jobs
        zeros = [[0 if k in gpus else inf for k in one.gpus] for gpus in one.allowed]
        heads = [[one.release[job] + ticks for ticks in row] for job, row in zip(one.job, zeros)]
        self.rows = [heads, zeros, list(zeros)][: 2 if self.is_makespan else 3]  # tails to the end, and of the job
        self.settle(range(one.n))

    def settle(self, tasks):
        """Compute again what follows from changes of some tasks, without pairs of a task and a GPU that cannot be."""
        one, stale, fresh, heads = self.instance, set(tasks), set(), self.rows[0]
        order = self.order = list(TopologicalSorter(dict(enumerate(self.before))).static_order())
        inside = [{j: near[j] for j in near if self.team[j] == team} for near, team in zip(self.after, self.team)]
        back = [(order[::-1], near, self.before) for near in (self.after, inside)]
        while stale and all(self.allowed):  # else no schedule is left
            for rows, (tasks, near, far) in zip(self.rows, [(order, self.before, self.after), *back]):
                late = stale.union(*(far[i] for i in stale))
                for i in tasks:
                    if i in late and (row := self.row(i, near[i], rows)) != rows[i]:
                        rows[i] = row
                        fresh.add(i)
                        late.update(far[i])
            fresh, stale, self.due, self.least = fresh | stale, set(), self.cap, list(self.floor)
            for i, job in enumerate(one.job):
                ends = (heads[i][k] + one.duration[i][k] + self.rows[-1][i][k] for k in self.allowed[i])
                self.least[job] = max(self.least[job], min(ends, default=0))
            if not self.is_makespan and self.limit < inf:  # others complete at their least time or later
                spare = self.limit - sum(weight * time for weight, time in zip(one.weight, self.least))
                self.due = [min(d, t + spare // w) if w else d for d, t, w in zip(self.cap, self.least, one.weight)]
            is_over = any(least > due for least, due in zip(self.least, self.due))
            for i, k in [(i, k) for i, gpus in enumerate(self.allowed) for k in gpus]:
                end = heads[i][k] + one.duration[i][k] + self.rows[-1][i][k]
                if is_over or max(rows[i][k] for rows in self.rows) >= inf or end > self.due[one.job[i]]:
                    self.allowed[i] = self.allowed[i] - {k}
                    stale.add(i)
            stale, fresh = (stale, fresh) if stale else (self.take_turns(fresh), set())

    def row(self, i, near, rows):
        """Return when task i can start on each GPU at the earliest, by its neighbours and what was known."""
        one, row = self.instance, [inf] * self.instance.m
        ends = [[(l, rows[h][l] + one.duration[h][l]) for l in self.allowed[h]] for h in near]
        for k in self.allowed[i]:
            items = []
            for (h, delay), places in zip(near.items(), ends):
                elsewhere, here = min([end + delay[l][k] for l, end in places if l != k], default=inf), rows[h][k]
                if elsewhere > rows[i][k]:  # else it is there by the start that is known
                    items.append((elsewhere, here, one.duration[h][k] if here < inf else 0, one.memory[h]))
            free = inf if one.capacity[k] is None else one.capacity[k] - one.memory[i]
            row[k] = max(rows[i][k], least_start(items, free))
        return row

    def look_far(self, i, is_head):
        """Compute the head of task i by all h before it, or its tail by its team behind, as far away as `row` says."""
        one, near, apart, rows = self.instance, self.after if is_head else self.before, {}, {}
        for k in self.allowed[i]:
            rows = apart[k] = {i: [0 if l == k else inf for l in one.gpus]}  # from the end of h on l to that of i on k
            for h in self.order[:: -1 if is_head else 1]:
                if these := {j: near[h][j] for j in near[h] if j in rows and (is_head or self.team[h] == self.team[i])}:
                    rows[h] = [0] * one.m
                    rows[h] = self.row(h, these, rows)
        far = {h: [{k: apart[k][h][l] - one.duration[i][k] for k in apart} for l in one.gpus] for h in rows if h != i}
        self.rows[is_head - 1][i] = self.row(i, far, self.rows[is_head - 1])
        self.settle({i})

    def take_turns(self, fresh):
        """Say that task j waits for task i, or comes first, on the one GPU that i has left, where only that fits."""
        length, changed, (heads, tails) = self.instance.duration, set(), (self.rows[0], self.rows[-1])
        for i, k in [(i, *gpus) for i, gpus in enumerate(self.allowed) if len(gpus) == 1]:
            for j in range(len(length)) if i in fresh else fresh:
                if j != i and k in self.allowed[j] and length[i][k] * length[j][k] > 0:
                    both, due = length[i][k] + length[j][k], self.due[self.instance.job[i]]
                    leads = heads[i][k] + both + tails[j][k] > due and self.team[i] == self.team[j]
                    for rows, holds in ((heads, heads[j][k] + both + tails[i][k] > due), (tails, leads)):
                        if holds and rows[i][k] + length[i][k] > rows[j][k]:
                            rows[j] = [*rows[j][:k], rows[i][k] + length[i][k], *rows[j][k + 1 :]]
                            changed.add(j)
        return changed

    def with_choice(self, kind, i, j, holds=True):
        """Return what holds if task i is on GPU j, before task j, or starts before tick j, or job i ends so, or not."""
        one, new, new.rows, is_early = self.instance, copy(self), list(map(list, self.rows)), holds == (kind == "early")
        new.allowed, new.before, new.after = list(self.allowed), list(self.before), list(self.after)
        gpus = self.allowed[i] | self.allowed[j] if kind == "before" else ()
        if kind == "suppose" and i < one.n and j < one.m:
            new.allowed[i] = self.allowed[i] & {j} if holds else self.allowed[i] - {j}
        elif kind in ("early", "late") and i < one.n and self.is_makespan:
            starts = [self.limit - (duration or 0) - (j - 1) if is_early else j for duration in one.duration[i]]
            new.rows[is_early][i] = list(map(max, self.rows[is_early][i], starts))
        elif kind == "finish" and i < len(one.weight) and not self.is_makespan:
            new.cap = [min(t, j - 1) if holds and q == i else t for q, t in enumerate(self.cap)]
            new.floor = [t if holds or q != i else max(t, j) for q, t in enumerate(self.floor)]
        elif len(gpus) == 1 and all(one.duration[h][k] for h in (i, j) for k in gpus) and i != j:
            (a, b), zeros = (i, j) if holds else (j, i), [[0] * one.m] * one.m
            new.before[b], new.after[a] = {**self.before[b], a: zeros}, {**self.after[a], b: zeros}
        elif all(self.allowed):  # else anything follows
            raise ValueError(f"{kind} {i} {j}: expected a task and a GPU, two on one GPU, or one, or a job, and a tick")
        mates = [h for h in range(one.n) if one.job[h] == i] or range(one.n)  # all, if job i has no task
        new.settle({"before": {i, j}, "finish": mates}.get(kind, {i}))
        return new

    def keep_common(self, choices):
        """Keep what holds in all cases of some choices that are not refuted; one of the cases holds."""
        every = [self.with_choice(*choice) for choice in choices] or [self]
        every = [case for case in every if all(case.allowed)] or every[:1]
        self.allowed = [set().union(*gpus) for gpus in zip(*(case.allowed for case in every))]
        self.rows = [[list(map(min, zip(*r))) for r in zip(*rows)] for rows in zip(*(case.rows for case in every))]
        self.settle(range(self.instance.n))

    def weigh(self, loads):
        """Remove GPUs on which a task costs too much by multipliers u of windows, bytes, tasks and edges."""
        one, slack, costs = self.instance, 0, [dict.fromkeys(gpus, 0) for gpus in self.allowed]
        alone, flow = [0] * one.n, [0] * one.n
        for word, first, *rest, u in loads:
            if word in ("window", "memory"):
                slack += u * (max(0, rest[1] - rest[0]) if rest else one.capacity[first])
                for i in [i for i in range(one.n) if first in costs[i]]:
                    duration, early = one.duration[i][first], self.rows[0][i][first]
                    late = self.due[one.job[i]] - self.rows[-1][i][first] - duration  # runs overlap least at one end
                    runs = [min(start + duration, rest[1]) - max(start, rest[0]) for start in (early, late) if rest]
                    costs[i][first] += u * (max(0, min(runs)) if rest else one.memory[i])
            elif word == "task":
                alone[first] += u
            else:  # the tail of the edge pays a share of its delay, one per GPU, and the head the least that is left
                i, *share = rest
                delay, flow[first], flow[i] = self.before[i].get(first), flow[first] - u, flow[i] + u
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
        slack -= sum(min(cost.values(), default=inf) for cost in costs)  # never if a task has no GPU left
        self.allowed = [{k for k in cost if cost[k] - min(cost.values()) <= slack} for cost in costs]


def integers(line, counts):
    """Return the numbers of a line behind its first word, one of those that are counted."""
    if len(line) != counts.get(line[0], -1) + 1 or any(not w.isdecimal() or str(int(w)) != w for w in line[1:]):
        raise ValueError(f"{' '.join(line)!a}: expected a word and so many integers of at least 0: {counts}")
    return [int(word) for word in line[1:]]


def check_refuted(instance, objective, lines):
    """Return one more than the limit, once no schedule is left; what a block refutes does not hold outside of it."""
    if not lines:
        return 0
    (limit,) = integers(lines[0], {"deadline": 1})
    outer, state, loads = [], Known(instance, objective, limit), []
    sizes = {"edge": 3 + instance.m, "window": 4, "ancestors": 1, "descendants": 1, "reduce": 0, "contradiction": 0}
    sizes |= dict.fromkeys(("suppose", "before", "early", "late", "finish", "times", "memory", "task"), 2) | {"gpus": 1}
    for line in lines[1:]:
        word, numbers = line[0], integers(line, sizes)
        if word in ("gpus", "times"):
            on_gpus = [("suppose", numbers[0], k) for k in state.allowed[numbers[0]]]
            state.keep_common(on_gpus if word == "gpus" else [("early", *numbers), ("late", *numbers)])
        elif word in ("ancestors", "descendants"):
            state.look_far(*numbers, word == "ancestors")
        elif word in ("window", "memory", "task", "edge"):
            loads.append((word, *numbers))
        elif word in ("reduce", "contradiction"):
            state.weigh(loads)
            loads = []
            if word == "reduce":
                state.settle(range(instance.n))
            elif all(state.allowed) or not (outer or line is lines[-1]):
                raise ValueError(f"{outer and outer[-1][1]}: expected more work than there is time, nothing after it")
            elif outer:
                state = outer[-1][0].with_choice(*outer.pop()[1], False)
            else:
                return limit + 1
        else:
            outer.append((state, (word, *numbers)))
            state = state.with_choice(word, *numbers)
    raise ValueError("refuted: expected a contradiction outside of all blocks at last")


def check_columns(instance, objective, lines):
    """Return the bound on the weighted completion by the cheapest set of tasks of every GPU at prices of tasks."""
    counts = {"fineness": 2, "weight": 2, "price": 2}
    values = {(line[0], i): value for line in lines for i, value in [integers(line, counts)]}
    (fineness, *_), share, price = ([values.get((name, i), 0) for i in range(instance.n)] for name in counts)
    if objective != "weighted_completion" or fineness < 1 or len(lines) != len(values):
        raise ValueError("columns: expected the weighted completion, one fineness of at least 1, weights and prices")
    value, state = sum(reward for reward, part in zip(price, share) if part), Known(instance, objective, inf)
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


def check(*paths):
    """Return objective and bound that the certificate proves of the instance; raises an error if it does not."""
    instance, proof = [(gzip.decompress if p.endswith(".gz") else bytes)(Path(p).read_bytes()).decode() for p in paths]
    lines = [line.split() for line in proof.splitlines()]
    top = [*lines[:1], *(line[:1] for line in lines[1:4])]
    if top != [["optgap-certificate", "1"], ["objective"], ["bound"], ["proof"]] or lines[-1] != ["end"] or [] in lines:
        raise ValueError("expected the lines optgap-certificate 1, objective, bound, proof, and at last end")
    objective, (bound,), kind = " ".join(lines[1][1:]), integers(lines[2], {"bound": 1}), " ".join(lines[3][1:])
    if objective not in ("makespan", "weighted_completion") or kind not in ("refuted", "columns"):
        raise ValueError(f"expected a known objective and kind of proof, got {objective!a} and {kind!a}")
    proved = (check_columns if kind == "columns" else check_refuted)(Instance(instance), objective, lines[4:-1])
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
