"""Check a lower bound of a DAG instance by its certificate: `python check_certificate.py INSTANCE CERTIFICATE`.

This file needs nothing but Python and shares no code with the package that wrote the certificate. It prints what is
proved and ends with status 0, or says what is wrong and ends with status 1. The format, and why each kind of proof
holds, is in docs/bounds.md, section 6.1 of the package: memory limits, GPUs that run one task at a time, and transfers
are all that is used. Buffers and groups only forbid schedules and are not read.
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


class Instance:
    """The numbers of an instance: tasks i, GPUs k, edges (tail, head, bytes)."""

    def __init__(self, path):
        """Read a file of format optgap/dag, compressed if its name ends in .gz."""
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
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
        self.order = list(TopologicalSorter({i: [h for h, _ in self.before[i]] for i in range(self.n)}).static_order())


def least_start(items, free):
    """Return when a task can start at the earliest, given (elsewhere, here, duration, memory) of its predecessors.

    Those on its own GPU run there one after the other, not before `here`, and fit into the `free` bytes; the data of
    all others arrive `elsewhere` or later. If theta is the latest arrival of a schedule, all that arrive later are on
    the GPU; so the least value over all theta is a bound.
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


def tails_in_jobs(instance, allowed):
    """Return the least time from the finish of every task on every GPU to the completion of its job."""
    inside = [[e for e in instance.after[i] if instance.job[e[0]] == instance.job[i]] for i in range(instance.n)]
    return heads(instance, allowed, instance.order[::-1], inside, [0] * instance.n)


class Known:
    """What holds for every schedule within a deadline (None for none): heads, tails and GPUs that are left."""

    def __init__(self, instance, deadline, allowed):
        """Compute heads and tails, and again without pairs of a task and a GPU that cannot be, until all can."""
        self.instance, self.deadline, self.allowed = instance, deadline, [set(gpus) for gpus in allowed]
        one, changed, release = instance, True, [instance.release[job] for job in instance.job]
        while changed:
            changed = False
            self.head = heads(one, self.allowed, one.order, one.before, release)
            self.tail = heads(one, self.allowed, one.order[::-1], one.after, [0] * one.n)
            for i in range(one.n):
                for k in sorted(self.allowed[i]):
                    through = self.head[i][k] + one.duration[i][k] + self.tail[i][k]
                    if through >= NEVER or (self.deadline is not None and through > self.deadline):
                        self.allowed[i].discard(k)
                        changed = True

    def overlap(self, i, k, begin, end):
        """Return how long task i runs at least inside [begin, end] if it is on GPU k: at one end of its window."""
        duration, latest = self.instance.duration[i][k], self.deadline - self.tail[i][k]
        early = min(self.head[i][k] + duration, end) - max(self.head[i][k], begin)
        late = min(latest, end) - max(latest - duration, begin)
        return max(0, min(early, late))

    def loads_refute(self, windows, prices):
        """Say whether multipliers of windows (k, begin, end, u) and prices {k: y} of bytes exclude every placement."""
        one, limit = self.instance, 0
        for k, begin, end, u in windows:
            if k >= one.m or begin >= end:
                raise RefusedError(f"window {k} {begin} {end} {u}: expected a GPU, and a beginning before the end")
            limit += u * (end - begin)
        for k, y in prices.items():
            if k >= one.m or one.capacity[k] is None:
                raise RefusedError(f"memory {k} {y}: expected a GPU with a limit")
            limit += y * one.capacity[k]
        work = 0
        for i in range(one.n):
            cost = {k: prices.get(k, 0) * one.memory[i] for k in self.allowed[i]}
            for k, begin, end, u in windows:
                if k in cost:
                    cost[k] += u * self.overlap(i, k, begin, end)
            if not cost:
                return True  # the task has no GPU left
            work += min(cost.values())
        return work > limit


def check_paths(instance, objective, lines):
    """Return the bound of paths: every task on its best GPU, with what must come before and after it."""
    if lines:
        raise RefusedError(f"paths: expected nothing more, got {' '.join(lines[0])}")
    state = Known(instance, None, instance.allowed)
    if objective == "makespan":
        return max((through(state, state.tail, i) for i in range(instance.n)), default=0)
    tail, completion = tails_in_jobs(instance, state.allowed), list(instance.release)
    for i in range(instance.n):
        completion[instance.job[i]] = max(completion[instance.job[i]], through(state, tail, i))
    return sum(weight * time for weight, time in zip(instance.weight, completion))


def through(state, tail, i):
    """Return the least head, duration and tail of a task together."""
    return min((state.head[i][k] + state.instance.duration[i][k] + tail[i][k] for k in state.allowed[i]), default=0)


def check_area(instance, objective, lines):
    """Return the bound of the work on all GPUs, by multipliers of GPUs, of single tasks, and of bytes of memory."""
    load, task = numbered(lines, "load", instance.m), numbered(lines, "task", instance.n)
    price, total = numbered(lines, "memory", instance.m), sum(load.values()) + sum(task.values())
    if objective != "makespan" or total == 0 or len(lines) != len(load) + len(task) + len(price):
        raise RefusedError("area: expected the makespan, one line per GPU, task and price, and a multiplier above 0")
    if any(instance.capacity[k] is None for k in price):
        raise RefusedError("memory: expected GPUs with a memory limit")
    value = -sum(y * instance.capacity[k] for k, y in price.items())
    for i in range(instance.n):
        factor = {k: load.get(k, 0) + task.get(i, 0) for k in instance.allowed[i]}
        value += min(u * instance.duration[i][k] + price.get(k, 0) * instance.memory[i] for k, u in factor.items())
    return min(instance.release[job] for job in instance.job) + max(0, -(-value // total))


def numbered(lines, name, count):
    """Return the values of lines `name index value` by index."""
    found = {}
    for line in lines:
        if line[0] == name:
            index, value = integers(line, 2)
            if index >= count or index in found:
                raise RefusedError(f"{' '.join(line)}: expected each index below {count} once")
            found[index] = value
    return found


def integers(line, count):
    """Return the numbers of a line behind its first word."""
    if len(line) != count + 1 or any(not word.isdecimal() or str(int(word)) != word for word in line[1:]):
        raise RefusedError(f"{' '.join(line)}: expected {count} integers of at least 0 after {line[0]}")
    return [int(word) for word in line[1:]]


def check_refuted(instance, objective, lines):
    """Return one more than the deadline, once no schedule is left within it.

    A block from `suppose i k` to `contradiction` shows that task i is not on GPU k; later steps use that.
    """
    if objective != "makespan" or not lines or lines[0][0] != "deadline":
        raise RefusedError("refuted: expected the makespan, and a deadline first")
    (deadline,) = integers(lines[0], 1)
    states, windows, prices, is_refuted = [(None, Known(instance, deadline, instance.allowed))], [], {}, False
    for line in lines[1:]:
        if is_refuted:
            raise RefusedError(f"{' '.join(line)}: expected nothing after the last contradiction")
        state = states[-1][1]
        if line[0] == "suppose":
            i, k = integers(line, 2)
            if i >= instance.n or k >= instance.m or windows or prices:
                raise RefusedError(f"{' '.join(line)}: expected a task and a GPU, and no multipliers before")
            allowed = [gpus & {k} if j == i else gpus for j, gpus in enumerate(state.allowed)]
            states.append(((i, k), Known(instance, deadline, allowed)))
        elif line[0] == "window":
            windows.append(integers(line, 4))
        elif line[0] == "memory":
            k, y = integers(line, 2)
            prices[k] = prices.get(k, 0) + y
        elif line == ["contradiction"]:
            if not state.loads_refute(windows, prices):
                raise RefusedError(f"contradiction of {states[-1][0]}: expected more work than there is time")
            excluded, windows, prices = states.pop()[0], [], {}
            is_refuted = excluded is None
            if excluded is not None:
                before, outer = states.pop()
                allowed = [gpus - {excluded[1]} if j == excluded[0] else gpus for j, gpus in enumerate(outer.allowed)]
                states.append((before, Known(instance, deadline, allowed)))
        else:
            raise RefusedError(f"{' '.join(line)}: expected suppose, window, memory or contradiction")
    if not is_refuted:
        raise RefusedError("refuted: expected a contradiction at the end")
    return deadline + 1


def check_columns(instance, objective, lines):
    """Return the bound on the weighted completion by the cheapest set of tasks of every GPU at prices of tasks."""
    share, price = numbered(lines, "weight", instance.n), numbered(lines, "price", instance.n)
    fineness = numbered(lines, "fineness", 1).get(0, 0)
    if objective != "weighted_completion" or fineness < 1 or len(lines) != len(share) + len(price) + 1:
        raise RefusedError("columns: expected the weighted completion, one fineness of at least 1, weights and prices")
    idle = set(range(len(instance.weight))) - set(instance.job)
    value = fineness * sum(instance.weight[j] * instance.release[j] for j in idle)
    for j in set(instance.job):
        if sum(share.get(i, 0) for i in range(instance.n) if instance.job[i] == j) != instance.weight[j]:
            raise RefusedError(f"job {j}: expected the weights of its tasks to sum to {instance.weight[j]}")
    state = Known(instance, None, instance.allowed)
    tail = tails_in_jobs(instance, state.allowed)
    value += sum(reward for i, reward in price.items() if share.get(i, 0))
    for k in instance.gpus:
        tasks = [i for i in range(instance.n) if k in state.allowed[i] and share.get(i, 0)]
        begin, front = min((state.head[i][k] for i in tasks), default=0), [(0, 0)]
        tasks.sort(key=lambda i: Fraction(instance.duration[i][k], share[i]))
        for i in tasks:
            duration, rate = instance.duration[i][k], fineness * share[i]
            tail_from = begin + duration + tail[i][k]
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
    with open(certificate_path, encoding="utf-8") as file:
        lines = [line.split() for line in file.read().splitlines()]
    first = [["optgap-certificate", "1"], ["objective"], ["bound"], ["proof"]]
    is_framed = len(lines) > 4 and all(line[: len(words)] == words for line, words in zip(lines, first))
    if not is_framed or lines[-1] != ["end"] or [] in lines:
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
