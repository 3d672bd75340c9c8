"""Predictors on the cuts of public traces: `python -m tests.benchmarks.run_prediction_study --out FILE.jsonl`.

The Philly cut without its sparse first 1,000 rows and the Helios cut; iterations are recorded seconds. One line of JSON
per cut and predictor, then the tables. The forests take minutes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from heuristics.jobs.predictors.predictor import PREDICTORS
from instances.readers.jobs.philly_and_helios import parse_gpu_trace
from instances.text_file import read_text
from studies.papers.prediction import prediction_study, prediction_text, recorded_run_times
from tests.real_data import FOLDER

if TYPE_CHECKING:
    from studies.papers.prediction import PredictionQuality

SKIP_ROWS = {"philly": 1000, "helios": 0}
"""Rows at the beginning that are left out, by cut, as the readers do by default."""


def main() -> None:
    """Run the study and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cuts", nargs="*", choices=SKIP_ROWS, default=list(SKIP_ROWS))
    parser.add_argument("--predictors", nargs="*", choices=PREDICTORS, default=list(PREDICTORS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = FOLDER / "gen-parallel-workloads"
    traces = {cut: parse_gpu_trace(read_text(folder / f"{cut}_15000.csv.gz")) for cut in options.cuts}
    instances = [recorded_run_times(trace, name=cut, skip_rows=SKIP_ROWS[cut]) for cut, trace in traces.items()]
    with options.out.open("w", encoding="utf-8") as file:

        def write(row: PredictionQuality) -> None:
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()

        rows = prediction_study(instances, options.predictors, seed=options.seed, on_quality=write)
    print(prediction_text(rows))


if __name__ == "__main__":
    main()
