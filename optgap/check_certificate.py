"""Check a lower bound of a DAG instance by its certificate: `python check_certificate.py INSTANCE CERTIFICATE`.

This file needs nothing but Python and shares no code with the package that wrote the certificate. It prints what is
proved (status 0), or what is wrong (status 1). The format, and why each kind of proof holds, is in docs/bounds.md,
section 6.1: memory, GPUs that run one task at a time, and transfers count. Buffers and groups only forbid schedules.
"""

import gzip
import json
import math
import sys
from fractions import Fraction
from graphlib import TopologicalSorter

NEVER = math.inf  # later than any time, more than any memory; all other numbers but bytes per tick are integers


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
        self.n, self.m, self.gpus = len(tasks), len(self.capacity), range(len(self.capacity))
        self.duration = [task["durations"] for task in tasks]
        self.memory = [task.get("memory_bytes", 0) for task in tasks]
        self.job = [task.get("job", 0) for task in tasks]
        self.release, self.weight = [job["release"] for job in jobs], [job["weight"] for job in jobs]
        self.before, self.after = [[] for _ in tasks], [[] for _ in tasks]
        latency, speed = document["links"]["latency_ticks"], document["links"]["bytes_per_tick"]
        edges, pairs = document["edges"], [(k, l) for k in self.gpus for l in self.gpus if k != l]
        sizes = [*self.capacity, *self.memory, *self.release, *self.weight, *(data for _, _, data in edges)]
        sizes += [ticks for row in self.duration for ticks in row] + [latency[k][l] for k, l in pairs]
        numbers = [(job, len(jobs)) for job in self.job] + [(i, self.n) for *ends, _ in edges for i in ends]
        numbers += [(size, 2**53 + 1) for size in sizes if size is not None]
        is_whole = all(type(number) is int and 0 <= number < end for number, end in numbers)
        is_once = not any(twice) and len({(tail, head) for tail, head, _ in edges}) == len(edges)
        if not (is_whole and is_once and all(0 < speed[k][l] < NEVER for k, l in pairs)):
            raise RefusedError("the instance: expected integers from 0 to 2**53, speeds above 0, keys and edges once")
        for tail, head, data in edges:
            delay = [[latency[k][l] + math.ceil(data / speed[k][l]) for l in self.gpus] for k in self.gpus]
            delay = [[0 if k == l or data == 0 else delay[k][l] for l in self.gpus] for k in self.gpus]
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


def heads(instance, allowed, order, neighbours, release):
    """Return the earliest start of every task on every GPU; with successors and no releases, the latest tails."""
    start = [[NEVER] * instance.m for _ in range(instance.n)]
    for i in order:
        for k in allowed[i]:
            items = []
            for h, delay in neighbours[i]:
                ends = [(l, start[h][l] + instance.duration[h][l]) for l in allowed[h] if start[h][l] < NEVER]
                elsewhere = min((end + delay[l][k] for l, end in ends if l != k), default=NEVER)
                here = start[h][k] if k in allowed[h] else NEVER
                items.append((elsewhere, here, instance.duration[h][k] if here < NEVER else 0, instance.memory[h]))
            free = NEVER if instance.capacity[k] is None else instance.capacity[k] - instance.memory[i]
            start[i][k] = max(release[i], least_start(items, free))
    return start


class Known:
    """What holds for every schedule within a limit of the objective (None for none), under choices that were made.

    That is heads, tails (to the end, or that of the job), GPUs that are left, and the least and latest end of each job.
    """

    def __init__(self, instance, objective, limit, allowed, edges=()):
        """Compute heads and tails, and again without pairs of a task and a GPU that cannot be, until all can."""
        one, self.instance, self.objective, self.limit, self.edges = instance, instance, objective, limit, edges
        self.allowed, changed, release = list(map(set, allowed)), True, [one.release[job] for job in one.job]
        (before, after), zeros = ([list(map(list, every)) for every in (one.before, one.after)]), [[0] * one.m] * one.m
        for i, j in edges:
            before[j], after[i] = [*before[j], (i, zeros)], [*after[i], (j, zeros)]
        order = list(TopologicalSorter({i: [h for h, _ in before[i]] for i in range(one.n)}).static_order())
        inside = [[e for e in after[i] if one.job[e[0]] == one.job[i]] for i in range(one.n)]
        while changed:
            changed = False
            self.head = heads(one, self.allowed, order, before, release)
            tail = heads(one, self.allowed, order[::-1], after, [0] * one.n)
            self.tail = tail if objective == "makespan" else heads(one, self.allowed, order[::-1], inside, [0] * one.n)
            self.least = [0 if objective == "makespan" else release for release in one.release]
            self.due = [NEVER if limit is None else limit] * len(one.weight)
            for i, job in enumerate(one.job):
                ends = (self.head[i][k] + one.duration[i][k] + self.tail[i][k] for k in self.allowed[i])
                self.least[job] = max(self.least[job], min(ends, default=0))
            if limit is not None and objective != "makespan":  # others complete at their least time or later
                spare = limit - sum(weight * time for weight, time in zip(one.weight, self.least))
                self.due = [t + spare // w if w else NEVER for t, w in zip(self.least, one.weight)]
            for i in range(one.n):
                for k in sorted(self.allowed[i]):
                    finish = self.head[i][k] + one.duration[i][k]
                    if finish + tail[i][k] >= NEVER or finish + self.tail[i][k] > self.due[one.job[i]]:
                        self.allowed[i].discard(k)
                        changed = True

    def with_choice(self, kind, i, j, holds):
        """Return what holds if task i is on GPU j or not (suppose), or comes before task j on their GPU (before)."""
        one, allowed, edges = self.instance, list(self.allowed), self.edges
        if i >= one.n or j >= (one.m if kind == "suppose" else one.n) or (kind == "before" and i == j):
            raise RefusedError(f"{kind} {i} {j}: expected a task and a GPU, or two tasks")
        if kind == "suppose":
            allowed[i] = allowed[i] & {j} if holds else allowed[i] - {j}
        elif allowed[i] != allowed[j] or [one.duration[i][k] * one.duration[j][k] > 0 for k in allowed[i]] != [True]:
            raise RefusedError(f"before {i} {j}: expected one GPU left for both, where both take a tick at least")
        else:
            edges = (*edges, (i, j) if holds else (j, i))
        return Known(one, self.objective, self.limit, allowed, edges)

    def overlap(self, i, k, begin, end):
        """Return how long task i runs at least inside [begin, end] if it is on GPU k: at one end of its window."""
        duration, latest = self.instance.duration[i][k], self.due[self.instance.job[i]] - self.tail[i][k]
        early = min(self.head[i][k] + duration, end) - max(self.head[i][k], begin)
        late = min(latest, end) - max(latest - duration, begin)
        return max(0, min(early, late))

    def loads_refute(self, windows, prices):
        """Say whether multipliers of windows (k, begin, end, u) and prices (k, y) of bytes exclude every placement."""
        one, limit, price = self.instance, 0, [0] * self.instance.m
        for k, begin, end, u in windows:
            if k >= one.m or begin >= end:
                raise RefusedError(f"window {k} {begin} {end} {u}: expected a GPU, and a beginning before the end")
            limit += u * (end - begin)
        for k, y in prices:
            if k >= one.m or one.capacity[k] is None:
                raise RefusedError(f"memory {k} {y}: expected a GPU with a limit")
            limit, price[k] = limit + y * one.capacity[k], price[k] + y
        work = 0
        for i in range(one.n):
            cost = {k: price[k] * one.memory[i] for k in self.allowed[i]}
            for k, begin, end, u in windows:
                if k in cost:
                    cost[k] += u * self.overlap(i, k, begin, end)
            work += min(cost.values(), default=NEVER)  # the task has no GPU left
        return work > limit


def check_paths(instance, objective, lines):
    """Return the bound of paths: every task on its best GPU, with what must come before and after it."""
    if lines:
        raise RefusedError(f"paths: expected nothing more, got {' '.join(lines[0])}")
    state = Known(instance, objective, None, instance.allowed)
    if objective == "makespan":
        return max((state.least[job] for job in instance.job), default=0)
    return sum(weight * time for weight, time in zip(instance.weight, state.least))


def check_area(instance, objective, lines):
    """Return the bound of the work on all GPUs, by multipliers of GPUs, of single tasks, and of bytes of memory."""
    load, task = numbered(lines, "load", instance.m), numbered(lines, "task", instance.n)
    price, total = numbered(lines, "memory", instance.m), sum(load.values()) + sum(task.values())
    if objective != "makespan" or total == 0 or len(lines) != len(load) + len(task) + len(price):
        raise RefusedError("area: expected the makespan, one line per GPU, task and price, and a multiplier above 0")
    value = -sum(y * instance.capacity[k] for k, y in price.items())
    for i in range(instance.n):
        factor = {k: load.get(k, 0) + task.get(i, 0) for k in instance.allowed[i]}
        value += min(u * instance.duration[i][k] + price.get(k, 0) * instance.memory[i] for k, u in factor.items())
    return min(instance.release[job] for job in instance.job) + max(0, -(-value // total))


def numbered(lines, name, count):
    """Return the values of lines `name index value` by index."""
    found = dict(integers(line, 2) for line in lines if line[0] == name)
    if max(found, default=-1) >= count:
        raise RefusedError(f"{name} {max(found)}: expected an index below {count}")
    return found


def integers(line, count):
    """Return the numbers of a line behind its first word."""
    if len(line) != count + 1 or any(not word.isdecimal() or str(int(word)) != word for word in line[1:]):
        raise RefusedError(f"{' '.join(line)}: expected {count} integers of at least 0 after {line[0]}")
    return [int(word) for word in line[1:]]


def check_refuted(instance, objective, lines):
    """Return one more than the limit, once no schedule is left within it.

    A block from `suppose i k` (or `before i j`) to `contradiction` shows that i is not on k (or that j is before i).
    """
    if lines[0][0] != "deadline":
        raise RefusedError("refuted: expected a deadline first")
    (limit,) = integers(lines[0], 1)
    states, windows, prices = [(None, Known(instance, objective, limit, instance.allowed))], [], []
    for line in lines[1:]:
        if not states:
            raise RefusedError(f"{' '.join(line)}: expected nothing after the last contradiction")
        if line[0] in ("suppose", "before"):
            choice = (line[0], *integers(line, 2))
            states.append((choice, states[-1][1].with_choice(*choice, True)))
        elif line[0] == "window":
            windows.append(integers(line, 4))
        elif line[0] == "memory":
            prices.append(integers(line, 2))
        elif line == ["contradiction"]:
            choice, state = states.pop()
            if not state.loads_refute(windows, prices):
                raise RefusedError(f"contradiction of {choice}: expected more work than there is time")
            windows, prices = [], []
            states[-1:] = [(last, outer.with_choice(*choice, False)) for last, outer in states[-1:]]
        else:
            raise RefusedError(f"{' '.join(line)}: expected suppose, before, window, memory or contradiction")
    if states:
        raise RefusedError("refuted: expected a contradiction at the end")
    return limit + 1


def check_columns(instance, objective, lines):
    """Return the bound on the weighted completion by the cheapest set of tasks of every GPU at prices of tasks."""
    share, price = numbered(lines, "weight", instance.n), numbered(lines, "price", instance.n)
    fineness = numbered(lines, "fineness", 1).get(0, 0)
    if objective != "weighted_completion" or fineness < 1 or len(lines) != len(share) + len(price) + 1:
        raise RefusedError("columns: expected the weighted completion, one fineness of at least 1, weights and prices")
    jobs = list(zip(instance.weight, instance.release))
    value = fineness * sum(weight * release for j, (weight, release) in enumerate(jobs) if j not in instance.job)
    for j in set(instance.job):
        if sum(share.get(i, 0) for i in range(instance.n) if instance.job[i] == j) != instance.weight[j]:
            raise RefusedError(f"job {j}: expected the weights of its tasks to sum to {instance.weight[j]}")
    state = Known(instance, objective, None, instance.allowed)
    value += sum(reward for i, reward in price.items() if share.get(i, 0))
    for k in instance.gpus:
        tasks = [i for i in range(instance.n) if k in state.allowed[i] and share.get(i, 0)]
        begin, front = min((state.head[i][k] for i in tasks), default=0), [(0, 0)]
        tasks.sort(key=lambda i: Fraction(instance.duration[i][k], share[i]))
        for i in tasks:
            duration, rate = instance.duration[i][k], fineness * share[i]
            tail_from = begin + duration + state.tail[i][k]
            with_it = [(done + duration, cost + rate * (done + tail_from) - price.get(i, 0)) for done, cost in front]
            merged, front = sorted(front + with_it), []
            for done, cost in merged:  # more work and no less cost is never better
                if not front or cost < front[-1][1]:
                    front.append((done, cost))
        value += min(cost for _, cost in front)
    return max(0, -(-value // fineness))


CHECKS = {"paths": check_paths, "area": check_area, "refuted": check_refuted, "columns": check_columns}


def check(instance_path, certificate_path):
    """Return objective and bound that a certificate proves of an instance; raises `RefusedError` if it does not."""
    with opened(certificate_path) as file:
        lines = [line.split() for line in file.read().splitlines()]
    top = [line[: 2 if place == 0 else 1] for place, line in enumerate(lines[:4])]
    if top != [["optgap-certificate", "1"], ["objective"], ["bound"], ["proof"]] or lines[-1] != ["end"] or [] in lines:
        raise RefusedError("expected the lines optgap-certificate 1, objective, bound, proof, and at last end")
    objective, (bound,), kind = " ".join(lines[1][1:]), integers(lines[2], 1), " ".join(lines[3][1:])
    if objective not in ("makespan", "weighted_completion") or kind not in CHECKS:
        raise RefusedError(f"expected a known objective and kind of proof, got {objective} and {kind}")
    proved = CHECKS[kind](Instance(instance_path), objective, lines[4:-1])
    if proved != bound:
        raise RefusedError(f"bound {bound}: expected {proved}, which is what the proof gives")
    return objective, bound


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python check_certificate.py INSTANCE CERTIFICATE")
    try:
        print("proved: {} at least {}".format(*check(sys.argv[1], sys.argv[2])))
    except (RefusedError, OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        sys.exit(f"refused: {error}")
