"""Writes what `probing` finds about one makespan as steps that a checker can follow, as few as it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from formulations.dag.bounds.ancestor_steps import AncestorSteps
from formulations.dag.heads_and_tails import heads_and_tails
from formulations.dag.join import INFINITE
from formulations.dag.probing.network import MEMORY_UNIT, network
from formulations.dag.probing.refuter import NO_LIMIT, TEST, TIGHTEN, WEIGH, new_workspace, settle_or_probe
from formulations.dag.probing.tighten import State, mark_due, new_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from formulations.dag.probing.load_rows import Loads
    from instances.dag.instance import DagInstance

MOST_PASSES = 12
"""Passes over all tasks, unless one tells nothing."""

TRIALS = 12
"""Effort of leaving out steps: so many times the number of cases that were tried until the makespan was refuted."""

PRICE_UNIT = 2**40
"""All prices together, before they are rounded to integers."""


MIDDLE = -1
"""Instead of a tick: in the middle of the starts that a task has left."""


class ProofStep(NamedTuple):
    """A step: multipliers of loads, distances on what is left, or a task's ancestors, descendants, GPUs or starts."""

    word: Literal["loads", "left", "ancestors", "descendants", "gpus", "times"] = "loads"
    task: int = 0
    tick: int = MIDDLE


class Refutation(NamedTuple):
    """The steps that told something, their lines, and the last lines."""

    steps: list[ProofStep]
    lines: list[list[str]]
    last: list[str]


def overlap(
    head: NDArray[np.int64],
    duration: NDArray[np.int64],
    latest: NDArray[np.int64],
    begin: NDArray[np.int64] | int,
    end: NDArray[np.int64] | int,
) -> NDArray[np.int64]:
    """Return the least time inside [begin, end] of runs between head and latest finish: that of the first or last."""
    early = np.minimum(head + duration, end) - np.maximum(head, begin)
    late = np.minimum(latest, end) - np.maximum(latest - duration, begin)
    least: NDArray[np.int64] = np.maximum(np.minimum(early, late), 0)
    return least


class ProbingProof:
    """Tries to prove that no schedule ends by a makespan, as `probing` does (docs/bounds.md, section 6.1; ours).

    `cases` counts the choices that were tried.

    Parameters
    ----------
    of_jobs
        Whether it is a part of a proof about the weighted completion: then early and late starts are not told apart,
        and tasks of two jobs do not count to each other's tails. No edge may join two jobs.
    """

    def __init__(
        self, instance: DagInstance, makespan: int, seconds_left: Callable[[], float], *, of_jobs: bool = False
    ) -> None:
        self._of_jobs = of_jobs
        self._instance, self._makespan, self._seconds_left = instance, makespan, seconds_left
        self._network = network(instance)
        if of_jobs:
            self._network = self._network._replace(team=np.ascontiguousarray(instance.job_of_task))
        self._workspace = new_workspace(self._network)
        self._work = np.array([0, NO_LIMIT])
        self._ancestors = AncestorSteps(instance, self._network, makespan, seconds_left)
        self.cases = 0

    def lines(self, most_cases: int) -> list[str] | None:
        """Return the lines of a proof that has the checker look at so many cases at most, None if there is none."""
        tasks = range(self._instance.num_tasks)
        by_gpus = [ProofStep(), *(ProofStep("gpus", task) for task in tasks)]
        by_starts = [ProofStep(), *(ProofStep("times", task) for task in tasks)] if not self._of_jobs else []
        far = [ProofStep("ancestors", task) for task in self._ancestors.tasks]
        far += [ProofStep("descendants", task) for task in self._ancestors.tasks[::-1]]
        found = self._refuted([ProofStep("left"), *far, *by_gpus, *by_starts] * MOST_PASSES)
        if found is None and far:  # rounds of loads are limited, so that narrower windows sometimes refute less
            self._workspace = new_workspace(self._network)
            found = self._refuted([*by_gpus, *[ProofStep("left"), *far, *by_gpus, *by_starts] * MOST_PASSES])
        if found is None:
            return None
        found = self._shortened(found, self.cases * (TRIALS + 1))
        blocks = sum(lines.count("contradiction") for lines in found.lines)
        cost = {"loads": 0, "left": 0, "ancestors": 1, "descendants": 1, "gpus": self._instance.num_gpus, "times": 2}
        tried = sum(cost[step.word] for step in found.steps)
        lines = [line for lines in found.lines for line in lines]
        return [*lines, *found.last] if blocks + tried <= most_cases else None

    def _shortened(self, found: Refutation, most_cases: int) -> Refutation:
        """Leave out steps that are not needed, half of them at once, then fewer, until that takes too many cases."""
        size = max(1, len(found.steps) // 2)
        while size:
            end = len(found.steps)
            while end > 0 and self.cases < most_cases and self._seconds_left() > 0:
                begin = max(0, end - size)
                found = self._refuted([*found.steps[:begin], *found.steps[end:]]) or found
                end = min(begin, len(found.steps))
            size //= 2
        return found

    def _refuted(self, steps: Iterable[ProofStep]) -> Refutation | None:
        """Return the steps that tell something until the makespan is refuted, None if they do not refute it."""
        around = heads_and_tails(self._instance)
        self._ancestors.begin(self._instance.allowed)
        state, kept = new_state(around.heads, around.tails, around.allowed), Refutation([], [], ["contradiction"])
        if not around.allowed.any(axis=1).all() or self._call(TIGHTEN, state)[0]:
            return kept
        told, most_quiet = 0, 4 * self._instance.num_tasks + 3  # at least the steps of a pass, and what is before all
        for number, step in enumerate([*steps, ProofStep()]):
            if self._seconds_left() <= 0 or number - told > most_quiet:
                return None
            if step.word == "loads":
                known = len(kept.steps)
                last = self._weighed(state, kept)
                if last is not None:
                    return kept._replace(last=last)
                told = number if len(kept.steps) > known else told
                continue
            if step.word == "left":
                self._ancestors.begin(state.allowed)
                kept.steps.append(step)
                kept.lines.append([])
                continue
            is_far = step.word in ("ancestors", "descendants")
            tried = self._looked_far(state, step) if is_far else self._tried(state, step)
            if tried is None:
                continue
            told = number
            kept.steps.append(tried[0])
            kept.lines.append(tried[1])
            if tried[2] is None or self._call(TIGHTEN, tried[2])[0]:
                return kept
            state = tried[2]
        return None

    def _looked_far(self, state: State, step: ProofStep) -> tuple[ProofStep, list[str], State | None] | None:
        """Return what `_tried` does, of a step that computes a head by all ancestors or a tail by all descendants."""
        self.cases += 1
        is_tail, allowed = step.word == "descendants", state.allowed.copy()
        row = self._ancestors.row(step.task, state, is_tail=is_tail)
        if (row == (state.tails if is_tail else state.heads)[step.task]).all():
            return None
        allowed[step.task] &= row < INFINITE
        raised = new_state(state.heads, state.tails, allowed)
        (raised.tails if is_tail else raised.heads)[step.task] = row
        left = self._due(raised, [step.task]) if allowed[step.task].any() else None
        return step, [f"{step.word} {step.task}"], left

    def _tried(self, state: State, step: ProofStep) -> tuple[ProofStep, list[str], State | None] | None:
        """Return the step with its tick, its lines, and what holds in all cases; None if that is nothing new."""
        task, tick, gpus = step.task, step.tick, np.flatnonzero(state.allowed[step.task])
        choices: list[tuple[str, int]]
        if step.word == "gpus":
            choices = [("suppose", int(gpu)) for gpu in gpus] if len(gpus) > 1 else []
        else:
            early = int(state.heads[task, gpus].min())
            late = int((self._makespan - state.tails[task, gpus] - self._instance.durations[task, gpus]).max())
            tick = (early + late) // 2 + 1 if tick == MIDDLE else tick
            choices = [("early", tick), ("late", tick)] if late - early >= 2 else []
        lines, left = list[str](), list[State]()
        for word, choice in choices:
            assumed = self._assumed(state, task, word, choice)
            is_refuted, by_loads = self._call(TEST, assumed)
            if by_loads:
                loads, slack, _ = self._loads(assumed, self._workspace.assumed_loads)
                is_refuted = slack < 0
                lines += [f"{word} {task} {choice}", *loads, "contradiction"] if is_refuted else []
            if not is_refuted:
                left.append(assumed)
        if not choices:
            return None
        line, step = f"gpus {task}" if step.word == "gpus" else f"times {task} {tick}", step._replace(tick=tick)
        if not left:
            return step, [*lines, line], None
        heads = np.min([case.heads for case in left], axis=0)
        tails = np.min([case.tails for case in left], axis=0)
        allowed = np.any([case.allowed for case in left], axis=0)
        is_new = (heads != state.heads) | (tails != state.tails) | (allowed != state.allowed)
        if not is_new.any():
            return None
        return step, [*lines, line], new_state(heads, tails, allowed)

    def _assumed(self, state: State, task: int, word: str, choice: int) -> State:
        """Return the state in which a task is on a GPU, or starts before a tick, or not before it."""
        heads, tails, allowed = state.heads.copy(), state.tails.copy(), state.allowed.copy()
        gpus = np.flatnonzero(allowed[task])
        if word == "suppose":
            allowed[task] = False
            allowed[task, choice] = True
        elif word == "early":
            latest = self._makespan - self._instance.durations[task, gpus] - (choice - 1)
            tails[task, gpus] = np.maximum(tails[task, gpus], latest)
        else:
            heads[task, gpus] = np.maximum(heads[task, gpus], choice)
        return self._due(new_state(heads, tails, allowed), [task])

    def _due(self, state: State, tasks: Iterable[int]) -> State:
        """Have heads and tails computed again of these tasks and their neighbours only."""
        state.heads_due[:] = state.tails_due[:] = False
        mark_due(self._network, state, tasks)
        return state

    def _call(self, what: int, state: State) -> tuple[bool, bool]:
        """Call the kernel; say whether the makespan is refuted, and whether by loads."""
        self.cases += 1
        return settle_or_probe(what, self._network, state, self._makespan, self._workspace, self._work, NO_LIMIT)

    def _weighed(self, state: State, kept: Refutation) -> list[str] | None:
        """Remove pairs by loads, and write down how; return the last lines if that refutes the makespan."""
        while True:
            is_refuted, by_loads = self._call(WEIGH, state)
            if is_refuted and not by_loads:
                return ["contradiction"]
            lines, slack, cost = self._loads(state, self._workspace.loads)
            if slack < 0:
                return [*lines, "contradiction"]
            gone = np.argwhere(state.allowed & (cost - cost.min(axis=1, keepdims=True) > slack))
            if not len(gone) or self._seconds_left() <= 0:
                return None
            state.allowed[tuple(gone.T)] = False
            state.heads[~state.allowed] = state.tails[~state.allowed] = INFINITE
            self._due(state, gone[:, 0].tolist())
            kept.steps.append(ProofStep())
            kept.lines.append([*lines, "reduce"])

    def _loads(self, state: State, loads: Loads) -> tuple[list[str], int, NDArray[np.object_]]:
        """Return lines of multipliers by the prices of rows, the slack that they leave, and the cost of all pairs.

        Costs are Python's integers; that of a pair which is not allowed is above all others.
        """
        rows = [
            (k, r) for k in range(self._instance.num_gpus) for r in range(loads.num_rows[k]) if loads.limit[k, r] > 0
        ]
        price = [max(0.0, float(loads.price[k, r])) / int(loads.limit[k, r]) for k, r in rows]
        total = sum(price)
        lines, slack, cost = list[str](), 0, np.zeros(state.allowed.shape, dtype=object)
        for (k, r), ticks in zip(rows, price, strict=True):
            u = int(ticks / total * PRICE_UNIT) if 0.0 < total < np.inf else 0
            if loads.opens[k, r] == -1:
                capacity = int(self._instance.gpu_memory[k])
                y = u * MEMORY_UNIT * MEMORY_UNIT // max(capacity, 1)
                lines += [f"memory {k} {y}"] if y else []
                slack += y * capacity
                cost[:, k] += y * self._instance.task_memory.astype(object)
            elif u:
                begin, end = int(loads.opens[k, r]), int(self._makespan - loads.closes[k, r])
                lines.append(f"window {k} {begin} {end} {u * MEMORY_UNIT}")
                slack += u * MEMORY_UNIT * (end - begin)
                latest = self._makespan - state.tails[:, k]
                inside = overlap(state.heads[:, k], self._network.durations[:, k], latest, begin, end)
                cost[:, k] += u * MEMORY_UNIT * np.where(state.allowed[:, k], inside, 0).astype(object)
        cost[~state.allowed] = 2**300
        return lines, slack - sum(cost.min(axis=1).tolist()), cost
