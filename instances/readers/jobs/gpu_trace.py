"""Rows of the Philly and Helios cuts of Gen-Parallel-Workloads."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = ("u_id", "user", "gpu_num", "cpu_num", "node_num", "interval", "run_time", "wall_time", "new_status")
"""First line of a file."""

STATUSES = ("Pass", "Failed", "Killed")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTraceJob:
    """One recorded job.

    Parameters
    ----------
    line
        Line of the file, from 1.
    number
        Number of the job in the trace (``u_id``).
    user
        Number of the user, by first appearance.
    gpus
        GPUs asked for; 0 for none.
    arrival_seconds
        Submission, from the first row of the file on.
    run_seconds
        Recorded run time; of failed and killed jobs the time until they stopped.
    status
        ``Pass``, ``Failed`` or ``Killed``.
    """

    line: int
    number: int
    user: int
    gpus: int
    arrival_seconds: int
    run_seconds: int
    status: str


def parse_gpu_trace(text: str) -> list[GpuTraceJob]:
    """Read all rows; arrivals are the running sum of intervals over the rows as they stand.

    Raises
    ------
    ValueError
        If the text has another form; the message gives the line.
    """
    lines = text.splitlines()
    if not lines or tuple(lines[0].split(",")) != COLUMNS:
        found = lines[0][:60] if lines else "nothing"
        raise ValueError(f"line 1: expected the columns {','.join(COLUMNS)}, got {found}.")
    jobs, arrival = [], 0
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split(",")
        if len(cells) != len(COLUMNS):
            raise ValueError(f"line {number}: expected {len(COLUMNS)} columns, got {len(cells)}.")
        values = dict(zip(COLUMNS, cells, strict=True))
        arrival += _integer(values, "interval", number)
        if values["new_status"] not in STATUSES:
            raise ValueError(f"line {number}: expected new_status {', '.join(STATUSES)}, got {values['new_status']!r}.")
        jobs.append(
            GpuTraceJob(
                line=number,
                number=_integer(values, "u_id", number),
                user=_integer(values, "user", number),
                gpus=_integer(values, "gpu_num", number),
                arrival_seconds=arrival,
                run_seconds=_integer(values, "run_time", number),
                status=values["new_status"],
            )
        )
    return jobs


def _integer(values: dict[str, str], column: str, line: int) -> int:
    """Return a cell as an integer of at least 0."""
    cell = values[column]
    if not (cell.isascii() and cell.isdigit() and len(cell) <= 15):
        raise ValueError(f"line {line}: expected {column} as an integer of at least 0, got {cell!r}.")
    return int(cell)
