"""The folder of a search: certificate, instance, schedules, trace and figure."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Self

from instances.dag_json import dag_instance_to_json, dag_schedule_to_json
from instances.text_file import write_text
from instances.whole_file import whole_file

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import TextIO

    from studies.adversary.adversary_search import Step
    from studies.adversary.certificate import Certificate

CERTIFICATE, INSTANCE, TRACE, FIGURE = "certificate.json", "instance.json", "trace.csv", "ratio.png"
SCHEDULES = {"heuristic": "heuristic.json", "optimal": "optimal.json", "rival": "rival.json"}
"""Names of files; the certificate holds instance and schedules too, the other files are for other commands."""

COLUMNS = ("start", "step", "change", "temperature", "needed", "ratio", "decision", "current", "best")


class AdversaryFolder:
    """Files of one search, while it is entered: every improvement and every step is on disk at once.

    Parameters
    ----------
    folder
        Made if it is not there.

    Raises
    ------
    ValueError
        If it holds a search already: what was found there is not overwritten.
    OSError
        If it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (CERTIFICATE, TRACE):
            if (folder / name).exists():
                raise ValueError(f"out: expected a folder without a search, got one with {name}.")
        self._trace: TextIO | None = None

    def __enter__(self) -> Self:
        """Begin the trace."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._trace = (self.folder / TRACE).open("w", encoding="utf-8", newline="")
        csv.writer(self._trace).writerow(COLUMNS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the trace."""
        if self._trace is not None:
            self._trace.close()

    def add_step(self, step: Step) -> None:
        """Add a row to the trace."""
        assert self._trace is not None
        csv.writer(self._trace).writerow([getattr(step, column) for column in COLUMNS])
        self._trace.flush()

    def write(self, certificate: Certificate) -> None:
        """Write a certificate in place of the last one, each file as a whole.

        The files beside it go first and come back last, so that none of another instance is ever beside a certificate,
        whenever the process dies.
        """
        worst = certificate.worst
        schedules = {"heuristic": worst.heuristic, "optimal": worst.optimal, "rival": worst.rival}
        texts = {CERTIFICATE: json.dumps(certificate.to_dict(), indent=1, allow_nan=False) + "\n"}
        texts[INSTANCE] = dag_instance_to_json(worst.instance)
        for name, schedule in schedules.items():
            if schedule is not None:
                texts[SCHEDULES[name]] = dag_schedule_to_json(worst.instance, schedule)
        for name in (INSTANCE, *SCHEDULES.values()):
            (self.folder / name).unlink(missing_ok=True)
        for name, text in texts.items():
            with whole_file(self.folder / name) as partial:
                write_text(partial, text)
