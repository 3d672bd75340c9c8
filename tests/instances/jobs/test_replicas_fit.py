"""Tests of whether replicas fit on allowed kinds."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from instances.jobs.replicas_fit import replicas_fit


@st.composite
def _cases(draw: st.DrawFn) -> tuple[list[int], list[list[bool]], list[int]]:
    """Draw stages, allowed kinds and GPUs."""
    num_stages, num_kinds = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    row = st.lists(st.booleans(), min_size=num_kinds, max_size=num_kinds)
    return (
        draw(st.lists(st.integers(1, 5), min_size=num_stages, max_size=num_stages)),
        [draw(row) for _ in range(num_stages)],
        draw(st.lists(st.integers(0, 6), min_size=num_kinds, max_size=num_kinds)),
    )


@given(case=_cases())
def test_equals_halls_condition(case: tuple[list[int], list[list[bool]], list[int]]) -> None:
    """Tests that the transport exists exactly where no set of stages asks for more GPUs than its kinds have."""
    replicas, allowed, capacity = case
    stages = range(len(replicas))
    expected = all(
        sum(replicas[s] for s in chosen)
        <= sum(gpus for kind, gpus in enumerate(capacity) if any(allowed[s][kind] for s in chosen))
        for size in range(1, len(replicas) + 1)
        for chosen in itertools.combinations(stages, size)
    )
    assert replicas_fit(replicas, allowed, capacity) == expected


def test_others_make_room() -> None:
    """Tests that stages placed first move along a chain of kinds where a later one needs their GPUs."""
    allowed = [[True, True, False], [False, True, True], [True, False, False]]
    assert replicas_fit([2, 2, 2], allowed, [2, 2, 2])
    assert not replicas_fit([2, 2, 3], allowed, [2, 3, 2])
