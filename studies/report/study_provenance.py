"""On what a study was run, and with what the report was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.versions import versions
from studies.report.cells import moment, plain
from studies.report.page import details, paragraph, table
from studies.report.section import Section

if TYPE_CHECKING:
    from studies.experiment.study_record import StudyRecord


def provenance_section(record: StudyRecord) -> Section:
    """List environments, their software, and that of the report."""
    pieces = []
    rows = [
        [
            str(row["environment"]),
            plain(row["hardware"]),
            plain(row["revision"]),
            str(row["num_runs"]),
            f"{moment(row['first'])} to {moment(row['last'])}",
        ]
        for row in record.environments.to_dict("records")
    ]
    without = int((record.runs["environment"].isna() & record.runs["state"].isin(["finished", "failed"])).sum())
    lost = f" {without} runs ended without saying where, as runs do that are stopped from outside." if without else ""
    where = "1 environment" if len(rows) == 1 else f"{len(rows)} environments"
    explanation = f"Runs were made in {where}: machine, revision of optgap and software.{lost}"
    pieces.append(
        table(
            ["environment", "hardware", "revision", "runs", "ended (UTC)"],
            rows,
            numbers=["runs"],
            caption=("Environments", explanation),
            identifier="environments",
        )
    )
    if len(record.versions):
        pieces.append(_software(record))
    here = table(
        ["software", "version"],
        [[name, version or "not installed"] for name, version in versions().items()],
        numbers=[],
        caption=("Software that made this page", "Statistics and figures were computed with it."),
        identifier="report-software",
    )
    pieces.append(details("Software that made this page", here))
    pieces.append(
        paragraph(
            "All numbers here are computed from the store of the study: schedules were verified by code that shares "
            "nothing with any method before they were stored, and a gap below 0 would have stopped this report."
        )
    )
    return Section(title="Made on", identifier="made-on", body="\n".join(pieces))


def _software(record: StudyRecord) -> str:
    """List the versions, with environments only where they differ."""
    rows = []
    for software, group in record.versions.groupby("software", sort=False):
        known = group["version"].fillna("not installed")
        by_version = {
            version: ", ".join(str(number) for number in group.loc[known == version, "environment"])
            for version in dict.fromkeys(known)
        }
        different = "; ".join(f"{version} (in {numbers})" for version, numbers in by_version.items())
        rows.append([software, next(iter(by_version)) if len(by_version) == 1 else different])
    return table(
        ["software", "version"],
        rows,
        numbers=[],
        caption=("Software", "The same in all environments where no number of one is given."),
        identifier="software",
    )
