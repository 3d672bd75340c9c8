"""How much longer the first run after an installation takes than the next one, and that it gives the same answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from instances.clusters.cluster import parse_cluster
from instances.dag.json import write_dag_instance
from instances.generators.dag.generate import generate

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

pytestmark = pytest.mark.speed
KEPT = ("objective", "status", "lower_bound", "bounds", "value")
COMMANDS = {
    "heft": ["solve", "--method", "heft", "--time-limit", "5"],
    "cp-sat": ["solve", "--method", "cp-sat", "--time-limit", "5", "--threads", "1"],
    "bound": ["bound", "--time-limit", "5"],
}


@pytest.mark.parametrize(("name", "tasks"), [("heft", 30), ("bound", 30), ("cp-sat", 14)])
def test_first_run(benchmark: BenchmarkFixture, tmp_path: Path, name: str, tasks: int) -> None:
    """Times a command from the start of its process with an empty cache of kernels, beside the one after it."""
    instance = generate("layered", tasks=tasks, seed=0, cluster=parse_cluster("mixed-3"))
    write_dag_instance(instance, tmp_path / "instance.json")
    command, *options = COMMANDS[name]
    arguments = [sys.executable, "-m", "optgap", command, str(tmp_path / "instance.json"), *options, "--json"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> dict[str, Any]:
        ended = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
        document: dict[str, Any] = json.loads(ended.stdout)
        return {key: document.get(key) for key in KEPT if key != "bounds"} | {
            "bounds": [(bound["method"], bound["value"]) for bound in document.get("bounds", [])]
        }

    first = benchmark.pedantic(run, rounds=1, iterations=1)
    begin = time.perf_counter()
    assert run() == first
    benchmark.extra_info["cold over warm"] = benchmark.stats.stats.mean / (time.perf_counter() - begin)
