"""Completed runs by group, by user and GPUs, by user, by model, and of all jobs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heuristics.jobs.predictors.run_history import RunHistory

if TYPE_CHECKING:
    from collections.abc import Hashable

    from instances.jobs.jobs_instance import JobsInstance

COARSER = {"group": "user_gpus", "user_gpus": "user", "user": "all", "model": "all"}
"""Where a key that has no completed run yet looks next. That a model looks at all jobs next is ours."""


class KeyedHistories:
    """The history of every key of every job; learns of runs as they complete.

    Kinds of key are ``group``, ``user_gpus``, ``user``, ``model`` and ``all``. A key with None in it is never known.

    Parameters
    ----------
    instance
        What is scheduled; of iterations only those of observed jobs are read.
    """

    def __init__(self, instance: JobsInstance) -> None:
        self._instance = instance
        self._histories: dict[tuple[str, Hashable], RunHistory] = {}
        self._observed = bytearray(instance.num_jobs)

    def observe(self, job: int) -> float:
        """Add a job that completed to the histories of all its keys and return ln n.

        Raises
        ------
        ValueError
            If the job completed before.
        """
        if self._observed[job]:
            raise ValueError(f"jobs[{job}]: expected one completion, got a second one.")
        self._observed[job] = True
        log_iterations = math.log(int(self._instance.iterations[job]))
        for kind in (*COARSER, "all"):
            key = self._key(job, kind)
            if key is not None:
                self._histories.setdefault((kind, key), RunHistory()).add(log_iterations)
        return log_iterations

    @property
    def num_completed(self) -> int:
        """Jobs that completed so far."""
        known = self._histories.get(("all", True))
        return 0 if known is None else known.runs

    def known(self, job: int, kind: str) -> RunHistory | None:
        """Return the history of a job's key of a kind, None if no run of it completed."""
        return self._histories.get((kind, self._key(job, kind)))

    def finest(self, job: int, kind: str = "group") -> RunHistory | None:
        """Return the history of a job's key of a kind or else of the next coarser one that is known, None for none."""
        history = self.known(job, kind)
        while history is None and kind != "all":
            kind = COARSER[kind]
            history = self.known(job, kind)
        return history

    def _key(self, job: int, kind: str) -> Hashable:
        """Return the key, None where a part of it is unknown."""
        instance = self._instance
        if kind == "all":
            return True
        if kind == "group":
            return instance.group[job]
        if kind == "model":
            return instance.model_tag[job]
        return instance.user[job] if kind == "user" else user_and_gpus(instance, job)


def user_and_gpus(instance: JobsInstance, job: int) -> tuple[str, int] | None:
    """Return user and gang size of a job, None where the user is unknown."""
    user = instance.user[job]
    return None if user is None else (user, int(instance.gang_size[job]))
