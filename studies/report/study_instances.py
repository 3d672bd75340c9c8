"""The instances of a study, and what is proven of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.experiment.study_record import PROOF_COLUMNS, SCHEDULE_COLUMNS
from studies.figures.write_figures import reference_figures
from studies.report.cells import gap_text, known, plain, ratio_text, seconds_text
from studies.report.gap_colour import gap_colour
from studies.report.page import details, table
from studies.report.section import Section
from studies.report.view_html import figures_html, view_html
from studies.statistics.bound_curves import bound_curves
from studies.statistics.bound_ratios import bound_ratios
from studies.statistics.bound_table import bound_table

if TYPE_CHECKING:
    import pandas as pd

    from studies.experiment.study_record import StudyRecord

PROVEN = "#d3f0da"
"""Behind proven optima."""


def instances_section(record: StudyRecord) -> Section:
    """List the instances with coordinates and content hashes."""
    instances = record.instances
    hidden = {"instance", "sha256", *PROOF_COLUMNS, *SCHEDULE_COLUMNS}
    coordinates = [
        name for name in instances.columns if name not in hidden and instances[name].map(plain).ne("-").any()
    ]
    rows = [
        [row["instance"], *(plain(row[name]) for name in coordinates), row["sha256"][:12]]
        for row in instances.to_dict("records")
    ]
    shown = table(
        ["instance", *coordinates, "content hash"],
        rows,
        numbers=[name for name in coordinates if instances[name].dtype.kind in "if"],
        caption=(
            "Instances",
            "The content hash (here its first digits) says which instance it is, whatever its name.",
        ),
        identifier="instances",
    )
    hashes = table(
        ["instance", "SHA-256"],
        [[row["instance"], row["sha256"]] for row in instances.to_dict("records")],
        numbers=[],
        caption=("Content hashes in full", ""),
        identifier="hashes",
    )
    body = f"{shown}\n{details('Content hashes in full', hashes)}"
    return Section(title="Instances", identifier="instances-section", body=body)


def bounds_section(record: StudyRecord, points: pd.DataFrame) -> Section:
    """Say what is proven of every instance, and what every source of bounds is worth.

    Parameters
    ----------
    record
        Of the study.
    points
        Of exact methods, as `bound_traces` returns them.
    """
    ratios = bound_ratios(record.references, record.instances)
    pieces = [_proof_table(record)]
    if len(ratios):
        pieces.append(view_html(bound_table(ratios), "bound-ratios"))
        curves = bound_curves(points, ratios.drop_duplicates("sha256")[["sha256", "best"]])
        pieces.append(figures_html(reference_figures(ratios, curves), "bounds"))
        pieces.append(details(f"All {len(ratios)} runs of the reference", _reference_table(ratios)))
    return Section(title="Bounds and proofs", identifier="bounds", body="\n".join(pieces))


def _proof_table(record: StudyRecord) -> str:
    """List the best bound of every instance."""
    rows: list[list[str | tuple[str, str]]] = [
        [
            row["instance"],
            plain(row["bound"]),
            _standing(row),
            plain(row["objective"]),
            plain(row["objective_label"]),
            (gap_text(row["gap"]), "" if row["is_infeasible"] else gap_colour(known(row["gap"]))),
            plain(row["bound_method"]),
            seconds_text(row["bound_seconds"]),
            plain(row["bound_proof"]),
        ]
        for row in record.instances.to_dict("records")
    ]
    headings = [
        "instance",
        "best bound",
        "is",
        "best objective",
        "found by",
        "gap %",
        "proved by",
        "in s",
        "how",
    ]
    explanation = (
        "Over all runs, whatever their method and budget; where several have the same, the first in the plan is named. "
        "The gap is what is left between the two."
    )
    return table(
        headings,
        rows,
        numbers=["best bound", "best objective", "gap %", "in s"],
        caption=("The best that is known of every instance", explanation),
        identifier="proofs",
    )


def _standing(row: dict[str, object]) -> tuple[str, str]:
    """Say what a bound is."""
    if row["is_infeasible"]:
        return ("infeasible: no schedule exists", PROVEN)
    if row["is_optimum"]:
        return ("optimum", PROVEN)
    return ("lower bound" if plain(row["bound"]) != "-" else "nothing proven", "")


def _reference_table(ratios: pd.DataFrame) -> str:
    """List the runs of bounds and exact references."""
    rows = [
        [
            row["instance"],
            row["label"],
            plain(row["budget"]),
            str(row["threads"]),
            plain(row["bound"]),
            ratio_text(row["ratio"]),
            plain(row["objective"]),
            seconds_text(row["seconds"]),
            "failed" if row["state"] == "failed" else plain(row["termination"]).replace("_", " "),
        ]
        for row in ratios.to_dict("records")
    ]
    headings = ["instance", "bound", "limit", "threads", "value", "ratio", "objective", "seconds", "ended by"]
    return table(
        headings,
        rows,
        numbers=["threads", "value", "ratio", "objective", "seconds"],
        caption=("Runs of the reference", "Bounds and exact methods, once per instance."),
        identifier="references",
    )
