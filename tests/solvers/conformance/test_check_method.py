"""Tests that every registered method passes the conformance kit, and that the kit can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from heuristics.dag.list_scheduling import heft
from heuristics.dag.random_search import random_search
from instances.dag.schedule import DagSchedule
from instances.frozen_array import frozen_integers
from solvers.conformance import check_method as kit
from solvers.conformance.check_method import CHECKS, ConformanceError, check_instances, check_method
from solvers.methods import METHODS
from solvers.result import UnverifiedScheduleError
from tests.method_params import method_params

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("method", method_params())
def test_registered_method_conforms(method: str, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a registered method passes a check of the kit; schedules are verified on all of its instances.

    What a method prints, repeats or stops at is checked on every fourth instance here, exact methods on every second.
    """
    if check != "verified" or METHODS[method].kind == "exact":
        step = 2 if check == "verified" else 4
        monkeypatch.setattr(kit, "check_instances", lambda: check_instances()[1::step])
    CHECKS[check](method)


@pytest.mark.slow
@pytest.mark.parametrize("method", method_params())
def test_registered_method_passes_the_whole_kit(method: str) -> None:
    """Tests that a registered method passes every check on every instance of the kit."""
    check_method(method)


def test_own_function_conforms() -> None:
    """Tests that a user's own function of the instance alone passes the whole kit."""

    def everything_on_one_gpu(instance: DagInstance) -> DagSchedule | None:
        return heft(instance, insertion=False)

    check_method(everything_on_one_gpu)


def test_schedule_that_overlaps_is_refused() -> None:
    """Tests that the kit refuses a method whose tasks all start at 0."""

    def careless(instance: DagInstance) -> DagSchedule:
        return DagSchedule(gpu=instance.durations.argmax(axis=1), start=np.zeros(instance.num_tasks, dtype=np.int64))

    with pytest.raises(UnverifiedScheduleError, match="careless: schedule with") as caught:
        CHECKS["verified"](careless)
    (note,) = caught.value.__notes__
    assert any(repr(instance.name) in note for instance in check_instances())


def test_refusal_of_buffers_without_a_reason_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the kit asks a method that refuses buffers for what it expected instead."""

    def refused(*arguments: object, **named: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(kit, "solve", refused)
    with pytest.raises(ConformanceError, match=r"buffers.*a reason for the refusal, got no"):
        CHECKS["buffers"]("heft")


def test_ignored_budget_is_refused() -> None:
    """Tests that the kit refuses a search that goes on after its budget."""

    def greedy_for_more(instance, objective, rng, stop, callback):
        for _ in range(2):
            schedule = random_search(instance, objective, rng, stop, callback)
        return schedule

    with pytest.raises(ConformanceError, match="budget"):
        CHECKS["budget"](greedy_for_more)


def test_unseeded_method_is_refused() -> None:
    """Tests that the kit refuses a method that draws from a generator of its own."""
    fresh = np.random.default_rng()

    def unseeded(instance: DagInstance) -> DagSchedule | None:
        return random_like(instance, fresh)

    from heuristics.dag.list_scheduling import random_placement as random_like

    with pytest.raises(ConformanceError, match="repeatable"):
        CHECKS["repeatable"](unseeded)


def test_printing_method_is_refused() -> None:
    """Tests that the kit refuses a method that prints."""

    def talkative(instance: DagInstance) -> DagSchedule | None:
        print("done")
        return heft(instance)

    with pytest.raises(ConformanceError, match="silent"):
        CHECKS["silent"](talkative)


def test_changed_instances_are_found() -> None:
    """Tests that the kit refuses a method that makes all tasks short by force."""

    def alters(instance: DagInstance) -> DagSchedule | None:
        ones = frozen_integers(np.ones_like(instance.durations), place="durations", shape=(None, None))
        object.__setattr__(instance, "durations", ones)
        return heft(instance)

    with pytest.raises(ConformanceError, match=r"^instance unchanged, .* got another value of durations"):
        CHECKS["instance-unchanged"](alters)
