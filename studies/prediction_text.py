"""The study of predictors for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.text_table import text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studies.prediction_quality import PredictionQuality

HEADINGS = ("predictor", "MAE", "later", "RMSE", "bias", "50 %", "95 %", "max", "MAPE", "fits")
"""Columns; see `CAPTION`."""

CAPTION = """MAE, RMSE, bias: of log10(nhat / n); later: MAE over the later half of the jobs.
50 %, 95 %, max: of max(nhat / n, n / nhat); MAPE: mean of |nhat - n| / n in percent.
Every job predicted at arrival from jobs completed by then, at release plus shortest duration."""


def prediction_text(rows: Sequence[PredictionQuality]) -> str:
    """Return one table per instance; the learned or remembered predictor of the smallest MAE stands out."""
    tables = []
    for sha256 in dict.fromkeys(row.sha256 for row in rows):
        own = [row for row in rows if row.sha256 == sha256]
        honest = [row for row in own if row.predictor not in ("oracle", "noisy-oracle")]
        best = min(honest, key=lambda row: row.mean_absolute_log10, default=None)
        title = f"{own[0].instance}: {own[0].jobs} jobs, {own[0].known_share:.1%} with a known group"
        tables.append(
            text_table(
                HEADINGS,
                [_cells(row) for row in own],
                title=title,
                caption=CAPTION,
                numbers=HEADINGS[1:],
                bold=None if best is None else own.index(best),
            )
        )
    return "\n\n".join(tables)


def _cells(row: PredictionQuality) -> list[str]:
    """Return one line."""
    logs = (row.mean_absolute_log10, row.later_mean_absolute_log10, row.root_mean_square_log10)
    ratios = (row.ratio_median, row.ratio_95, row.ratio_largest, row.mean_absolute_percentage)
    return [
        row.predictor,
        *(f"{value:.3f}" for value in logs),
        f"{row.mean_log10:+.3f}",
        *(f"{value:.3g}".replace("e+0", "e") for value in ratios),
        "-" if row.fits is None else str(row.fits),
    ]
