"""Tests for pairs of tasks that no path orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given

from formulations.dag.incomparable_pairs import has_few_incomparable, incomparable_pairs, reachable
from tests.strategies import dag_instances

if TYPE_CHECKING:
    from instances.dag.instance import DagInstance


@given(instance=dag_instances(max_tasks=9))
def test_few_pairs_are_those_that_no_path_orders(instance: DagInstance) -> None:
    """Tests the count against all paths, at the limit and beside it, and that pairs that may compete are among them."""
    n = instance.num_tasks
    count = n * (n - 1) // 2 - int(reachable(instance).sum())
    assert has_few_incomparable(instance, count)
    assert has_few_incomparable(instance, count + 1)
    assert not has_few_incomparable(instance, count - 1)
    everywhere = np.ones((n, instance.num_gpus), dtype=np.bool_)
    assert len(incomparable_pairs(instance, everywhere)) <= count
