"""What the gaps of methods show, in sentences: the smallest mean gap, and which differences are significant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.analysis.paired_tests import against
from studies.analysis.ranks import LEVEL
from studies.text import p_text, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from studies.analysis.comparison import MethodComparison, MethodSummary


MOST_NAMES = 6
"""Methods that are named one by one where they are all that is left."""


def best_method(comparison: MethodComparison) -> str | None:
    """Return the label with the smallest mean gap of those with a gap in every run where one is defined.

    Means over fewer instances or runs are means over other ones, and are not held against them. None where no method
    has all; of equal means the first in the comparison.
    """
    complete = complete_methods(comparison)
    return min(complete, key=lambda row: row.mean_gap or 0.0).label if complete else None


def complete_methods(comparison: MethodComparison) -> list[MethodSummary]:
    """Return the methods with a gap in every run where one is defined."""
    return [
        row
        for row in comparison.methods
        if row.mean_gap is not None and row.label not in comparison.incomplete and row.label not in comparison.partial
    ]


def study_summary(comparison: MethodComparison, pairs: pd.DataFrame, *, baseline: str | None = None) -> list[str]:
    """Say which method has the smallest mean gap, and what it can be told apart from.

    Parameters
    ----------
    comparison
        At one budget.
    pairs
        As `all_pairs` returns them, of the same runs.
    baseline
        The method that the comparison was planned for, and made with: then its own tests are told, corrected for its
        rivals. Without one the best method is picked by its result, and the tests are those corrected for all pairs.
    """
    best = best_method(comparison)
    lost = [row.label for row in comparison.methods if row not in complete_methods(comparison)]
    sentences = [] if best is None else [_best(comparison, best)]
    if best is None:
        sentences.append("No method has a gap in every run: none is called the best.")
    elif lost:
        sentences.append(f"Not in this choice, for they lack gaps in some runs: {_names(lost)}.")
    if baseline is not None:
        sentences += _of_baseline(comparison, baseline)
    elif best is not None and len(pairs):
        sentences += _of_best(comparison, against(pairs, best), best, len(pairs))
    return sentences


def _best(comparison: MethodComparison, best: str) -> str:
    """Name the smallest mean gap."""
    row = comparison[best]
    alike = [other.label for other in complete_methods(comparison) if other.mean_gap == row.mean_gap]
    who = f"{_names(alike)} {'has' if len(alike) == 1 else 'have'}"
    of = f" of {len(comparison.methods)} methods" if len(comparison.methods) > 1 else ""
    return (
        f"{who} the smallest mean gap{of}: {percent(row.mean_gap)} % (median {percent(row.median_gap)} %, worst "
        f"{percent(row.worst_gap)} %)."
    )


def _of_best(comparison: MethodComparison, tests: pd.DataFrame, best: str, num_tests: int) -> list[str]:
    """Say what the best method can be told apart from."""
    made = tests[tests["holm_p_value"].notna()]
    if not len(made):
        return []
    pairs = int(made["num_pairs"].max())
    if num_tests * 2.0 ** (1 - pairs) > LEVEL:
        return [_too_few(pairs, num_tests)]
    differs = made["holm_p_value"] <= LEVEL
    worse, better = made.index[differs & (made["effect"] > 0)], made.index[differs & (made["effect"] <= 0)]
    said = [
        _verdicts(
            f"At the level {LEVEL}, after Holm's correction for all {num_tests} pairs of methods",
            best,
            comparison,
            worse=list(worse),
            better=list(better),
            alike={label: float(made.loc[label, "holm_p_value"]) for label in made.index[~differs]},
        )
    ]
    return [*said, _caution(pairs)]


def _of_baseline(comparison: MethodComparison, baseline: str) -> list[str]:
    """Say what the baseline can be told apart from."""
    tests = {
        row.label: row.rivalry
        for row in comparison.methods
        if row.rivalry is not None and row.rivalry.holm_p_value is not None
    }
    if not tests:
        return []
    pairs = max(rival.num_pairs for rival in tests.values())
    own = f"The baseline {baseline} has a mean gap of {percent(comparison[baseline].mean_gap)} %."
    if len(tests) * 2.0 ** (1 - pairs) > LEVEL:
        return [own, _too_few(pairs, len(tests))]
    p_values = {label: rival.holm_p_value or 0.0 for label, rival in tests.items()}
    differs = [label for label, p_value in p_values.items() if p_value <= LEVEL]
    worse = [label for label in differs if (tests[label].effect or 0.0) > 0]
    said = _verdicts(
        f"At the level {LEVEL}, after Holm's correction for {len(tests)} rivals",
        baseline,
        comparison,
        worse=worse,
        better=[label for label in differs if label not in worse],
        alike={label: p_value for label, p_value in p_values.items() if label not in differs},
    )
    return [own, said, _caution(pairs)]


def _verdicts(
    opening: str,
    label: str,
    comparison: MethodComparison,
    *,
    worse: Sequence[str],
    better: Sequence[str],
    alike: dict[str, float],
) -> str:
    """Say what the tests of a method found."""
    found = []
    if alike:
        named = [
            f"{other} ({percent(comparison[other].mean_gap)} %, p {p_text(p_value)})"
            for other, p_value in sorted(alike.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        found.append(f"not distinguishable from those of {_names(named)}")
    if better:
        found.append(f"larger than those of {_names(better)}")
    if worse:
        is_rest = len(worse) > MOST_NAMES and (alike or better)
        which = f"the other {len(worse)} methods" if is_rest else _names(worse)
        found.append(f"smaller than those of {which}")
    said = [f"{opening}, the gaps of {label} are {found[0]}.", *(f"They are {more}." for more in found[1:])]
    return " ".join(said)


def _caution(pairs: int) -> str:
    """Say what was tested."""
    return (
        f"What was tested are mean gaps over seeds on {pairs} instances; not distinguishable means that these "
        "instances do not show a difference, not that there is none."
    )


def _too_few(pairs: int, num_tests: int) -> str:
    """Say that the tests can show nothing."""
    instances = "1 instance" if pairs == 1 else f"{pairs} instances"
    tests = "1 test" if num_tests == 1 else f"{num_tests} tests"
    least = min(1.0, num_tests * 2.0 ** (1 - pairs))
    return (
        f"With {instances} and {tests} no p after Holm's correction can be below {least:.4f}: these tests cannot show "
        "any difference between methods."
    )


def _names(labels: Sequence[str]) -> str:
    """Return names as a list in words; names may hold commas."""
    if any("," in label for label in labels):
        return "; ".join(labels)
    return " and ".join([part for part in (", ".join(labels[:-1]), *labels[-1:]) if part])
