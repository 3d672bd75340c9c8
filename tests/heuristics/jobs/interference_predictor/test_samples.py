"""Tests of co-locations at random and of pairs that are held out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from heuristics.jobs.interference_predictor.fit import held_out_classes, split_by_classes
from heuristics.jobs.interference_predictor.samples import CoLocationSample, class_pairs, random_co_locations
from tests.heuristics.jobs.interference_predictor.worlds import small_instance, space_of


def sample(share: int, seed: int = 0, count: int = 60, **changes: object) -> CoLocationSample:
    """Return co-locations of the small instance."""
    instance = small_instance(share)
    rng = np.random.default_rng(seed)
    return random_co_locations(space_of(instance), [instance], rng, count=count, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [1, 2])
def test_speeds_follow_from_the_features(share: int) -> None:
    """Tests every label against the formula of the true model, computed from features and pair table alone."""
    instance, drawn = small_instance(share), sample(share)
    interference = instance.interference
    assert interference is not None
    column = {name: drawn.features[:, index] for index, name in enumerate(drawn.space.names)}
    slow = np.ones(drawn.num_rows)
    for name in drawn.space.resources:
        own, others = column[f"own {name}"], column[f"others {name}"]
        slow += column[f"sens {name}"] * (np.maximum(1, own + others) / np.maximum(1, own) - 1)
    least = np.full(drawn.num_rows, 1.0)
    for row, name in enumerate(interference.classes):
        for other, partner in enumerate(interference.classes):
            both = (column[f"class {name}"] == 1) & (column[f"partner {partner}"] == 1)
            least[both] = interference.pair[row, other] / 1000
    assert np.abs(drawn.speed - np.floor(1000 * least / slow + 1e-9)).max() <= 0
    assert (drawn.speed < 1000).mean() > 0.3
    shared = sum(column[f"partner {name}"] for name in interference.classes)
    assert set(np.unique(shared)) == ({0.0} if share == 1 else {0.0, 1.0})


def test_count_and_seed() -> None:
    """Tests that the count is exact, a co-location has two jobs, and the seed decides about every byte."""
    one, same, other = sample(2), sample(2), sample(2, seed=1)
    assert len(one.pairs) == 60
    assert one.co_location.tolist() == sorted(one.co_location.tolist())
    assert np.bincount(one.co_location).min() >= 2
    assert one.features.tobytes() == same.features.tobytes()
    assert one.speed.tolist() == same.speed.tolist()
    assert one.features.shape != other.features.shape or one.features.tobytes() != other.features.tobytes()


def test_held_out_pairs_are_in_one_part() -> None:
    """Tests that seen and unseen co-locations share no pair, while every held-out class is seen beside others."""
    held_out = frozenset({"c0", "c3"})
    seen = sample(1, count=150, held_out=held_out)
    unseen = sample(1, count=40, held_out=held_out, part="unseen")
    assert not seen.all_pairs() & unseen.all_pairs()
    assert unseen.all_pairs() <= {("c0", "c0"), ("c0", "c3"), ("c3", "c3")}
    assert {name for pair in seen.all_pairs() for name in pair} == {"c0", "c1", "c2", "c3", "c4"}


def test_split() -> None:
    """Tests the split of one sample: no shared pair, rows kept whole, and mixed co-locations left out."""
    whole = sample(2, count=200)
    held_out = held_out_classes(whole.space.classes, np.random.default_rng(5))
    assert len(held_out) == 2
    seen, unseen = split_by_classes(whole, held_out)
    assert seen.num_rows and unseen.num_rows
    assert not seen.all_pairs() & unseen.all_pairs()
    assert len(seen.pairs) + len(unseen.pairs) <= 200
    for part, others in ((seen, unseen), (unseen, seen)):
        assert sorted(set(part.co_location.tolist())) == list(range(len(part.pairs)))
        for number, pairs in enumerate(part.pairs):
            names = {
                part.space.names[index] for index in np.flatnonzero(part.features[part.co_location == number].any(0))
            }
            assert {f"class {name}" for pair in pairs for name in pair} == {n for n in names if n.startswith("class")}
            assert not pairs & others.all_pairs()


def test_class_pairs() -> None:
    """Tests that pairs are unordered and twins are a pair."""
    assert class_pairs(["b", "a", "b"]) == {("a", "b"), ("b", "b")}
    assert class_pairs(["a"]) == frozenset()


def test_misuse() -> None:
    """Tests that missing interference, too few classes and co-locations that cannot be are refused."""
    instance = small_instance()
    space, rng = space_of(instance), np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"^interference: expected instances with interference, got one without\.$"):
        random_co_locations(space, [dataclasses.replace(instance, interference=None)], rng)
    with pytest.raises(ValueError, match=r"^count: expected at least 1, got 0\.$"):
        random_co_locations(space, [instance], rng, count=0)
    with pytest.raises(ValueError, match=r"^instances: expected 5 co-locations of unseen pairs, got 0\.$"):
        random_co_locations(space, [instance], rng, count=5, held_out=frozenset({"no such"}), part="unseen")
    with pytest.raises(ValueError, match=r"^classes: expected at least 3 to hold out pairs, got 2\.$"):
        held_out_classes(["a", "b", "a"], rng)
