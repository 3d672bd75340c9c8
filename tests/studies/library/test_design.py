from __future__ import annotations

from collections import Counter

import pytest

from instances.library.library import read_library
from studies.library.design import library_instances


@pytest.mark.slow
def test_the_design_makes_the_stored_library() -> None:
    """Tests that design and generators make what is stored; after a wanted change of a generator, the files stay."""
    library = read_library()
    made = [entry for entry, _ in library_instances()]
    assert made == list(library.catalogue.values())


def test_factors_are_balanced() -> None:
    """Tests that families have several sizes, and that no level of a factor is left to one half of the families."""
    dags = [entry for entry in read_library().catalogue.values() if entry.problem == "dag"]
    for family in dict.fromkeys(entry.family for entry in dags):
        own = [entry for entry in dags if entry.family == family]
        assert len({entry.size for entry in own}) >= 4  # FFTs have no more
        assert len({entry.coordinates["cluster"] for entry in own}) >= 4
    consistent = Counter(entry.coordinates["consistency"] for entry in dags)
    assert consistent == {0.0: 110, 1.0: 110}
    moderate = sum(0.3 <= entry.coordinates["ccr"] <= 3.0 for entry in dags)
    assert 0.75 <= moderate / len(dags) <= 0.8
    assert sum(entry.coordinates["forbidden"] > 0 for entry in dags) == 55
    assert sum(entry.coordinates["memory_tightness"] is not None for entry in dags) == 88
