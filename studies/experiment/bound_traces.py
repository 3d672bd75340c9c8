"""What exact methods had when: incumbent and bound of every run, as a tidy data frame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_store import StudyStore

COLUMNS = ("instance", "sha256", "label", "budget", "repetition", "seconds", "objective", "bound")
"""Of `bound_traces`."""

_TRACES = """
SELECT instances.name AS instance, sha256, label, budget, repetition, trace, seconds, objective, bound
FROM runs JOIN instances USING (sha256)
WHERE is_planned = 1 AND state = 'finished' AND kind = 'exact'
ORDER BY runs.position
"""


def bound_traces(store: StudyStore) -> pd.DataFrame:
    """Return one row per improvement of objective or bound of every run of an exact method, references included.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`: seconds since the run began, best objective and best own bound from then on; NaN where there is none
        yet. The last row of a run is its end.
    """
    import pandas as pd

    rows = []
    for row in store.select(_TRACES):
        key = [row[name] for name in COLUMNS[:5]]
        points = [[at, objective, bound] for at, _, objective, bound in json.loads(row["trace"] or "[]")]
        last = max([row["seconds"] or 0.0, *(at for at, *_ in points)])
        points.append([last, row["objective"], row["bound"]])
        rows += [[*key, *point] for point in points]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("seconds", "objective", "bound"):
        frame[column] = pd.to_numeric(frame[column])  # a column of None alone would hold objects
    return frame
