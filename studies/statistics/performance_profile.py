"""Performance profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PerformanceProfile:
    """Share of instances that each method solves within a factor of the reference.

    Parameters
    ----------
    factors
        At which at least one share rises, ascending from 1, shape (t,).
    shares
        In [0, 1], shape (t, methods); a method without a value on an instance never counts it.
    """

    factors: NDArray[np.float64]
    shares: NDArray[np.float64]

    def share(self, method: int, factor: float) -> float:
        """Return the share of a method at any factor."""
        at = int(np.searchsorted(self.factors, factor, side="right")) - 1
        return 0.0 if at < 0 else float(self.shares[at, method])

    def to_frame(self, labels: Sequence[str]) -> pd.DataFrame:
        """Return `label`, `factor`, `share`, one row per method and factor, the methods by their labels."""
        import pandas as pd

        wide = pd.DataFrame(self.shares, columns=list(labels), index=pd.Index(self.factors, name="factor"))
        tidy = wide.reset_index().melt(id_vars="factor", var_name="label", value_name="share")
        return tidy[["label", "factor", "share"]]


def performance_profile(
    values: NDArray[np.float64], reference: NDArray[np.float64] | None = None
) -> PerformanceProfile:
    """Return the profile of methods over instances.

    Parameters
    ----------
    values
        Positive, smaller is better, NaN where a method has none; shape (instances, methods).
    reference
        What the factors are relative to, positive, shape (instances,). By default the best of the methods, as
        published: such a profile changes with the methods in it. A proven bound does not (ours).

    Raises
    ------
    ValueError
        If a value is not above 0 or below its reference.

    References
    ----------
    Dolan and More (2002). Instances on which no method has a value count in the denominator, as every other one.
    """
    if values.ndim != 2 or not len(values):
        raise ValueError(f"values: expected instances in rows and methods in columns, got shape {values.shape}.")
    if (values <= 0).any():
        raise ValueError(f"values: expected numbers above 0, got {np.nanmin(values)}.")
    worst = np.where(np.isnan(values), np.inf, values)
    base = worst.min(axis=1) if reference is None else np.asarray(reference, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # no method has a value: inf / inf
        ratios = worst / base[:, None]
    ratios = np.where(np.isnan(ratios), np.inf, ratios)
    if (ratios < 1).any():
        raise ValueError(f"reference: expected at most every value, got a ratio of {ratios.min()}.")
    factors = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    shares = np.array([(ratios <= factor).mean(axis=0) for factor in factors])
    return PerformanceProfile(factors=factors, shares=shares)
