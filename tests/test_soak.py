"""Random faults in every command: no traceback, no wrong exit status, no lost file, no process that is left."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from instances.generators.jobs.generate import generate_jobs
from instances.jobs.json import write_jobs_instance
from instances.readers.dag.bundled import bundled_path
from instances.text_file import PARTIAL, read_text
from studies.cli.main import COMMANDS
from tests.studies.experiment.study_specs import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and limits the sizes of files"),
]

FAULTS = 500

ROOT = Path(__file__).parents[1]

CALLS = (
    "generate layered -o out.json.gz --tasks 30",
    "generate planted -o out.json --schedule-out out2.json",
    "generate jobs-small -o out.json",
    "convert --from pipedream profile.txt --gpus mixed-2 -o out.json",
    "solve e.json --threads 1 --time-limit 20 --schedule-out out.json --gantt out.svg",
    "solve e.json -m woa --evaluations 20000 --schedule-out out.json --gantt out.png",
    "solve e.json.gz -m milp-disjunctive --threads 1 --time-limit 60 --schedule-out out.json",
    "solve e.json -m lns --time-limit 3 --threads 1 --schedule-out out.json",
    "solve jobs.json -m fifo --schedule-out out.json --gantt out.svg",
    "bound e.json --time-limit 20 --csv out.csv --latex out.tex",
    "bound jobs.json --time-limit 20 --json --csv out.csv",
    "verify e.json s.json",
    "verify jobs.json js.json --json",
    "train worl-rtgs --steps 600 --set validate_every=300 -o out.npz",
    "methods",
    "show-versions --json",
    "study run small.toml --out store --workers 2",
    "study run small.toml --out out --workers 2",
    "study table store --csv out.csv --frame out2.csv",
    "study plot store --out out --what box-plots",
    "study report store -o out.html",
    "study adversary min-min --out out --tasks 5 --gpus mixed-2 --steps 40 --random 3",
    "study adversary --verify worst",
    "study online --jobs 8 --loads 1 --seeds 1 --csv out.csv --figure out.png",
    "study plan-distance --placements 20 --pairs 50 --resamples 5 e.json --csv out.csv",
    "library list layered --json",
    "library show layered-10-mixed-4-0",
    "library check layered-10",
    "library gaps store",
)
"""What is run in a folder with the files of `_prepared`; what the commands write begins with ``out``."""

NOT_CALLED = {
    "demo": "is `study run` and `study report` with a specification that lasts a minute",
    "library update": "updates the library that comes with the package, unless one of 40 MB is copied each time",
    "study actor-critic": "needs minutes to import and compile JAX",
    "study interference": "needs minutes to import and compile JAX",
    "study marl-ablations": "trains with JAX for minutes",
    "study decision-latency": "measures for minutes",
    "study prediction": "needs a trace of megabytes",
}


def test_calls_are_of_all_commands() -> None:
    """Tests that a new command is among the calls, or says why it is not."""
    called = {name for name in COMMANDS if any(f"{call} ".startswith(f"{name} ") for call in CALLS)}
    assert called | NOT_CALLED.keys() == COMMANDS.keys()


@dataclass(frozen=True)
class Ended:
    """How a command ended: status, negative for a signal, what it wrote to stderr, and its seconds."""

    status: int
    err: str
    seconds: float


def run(
    call: str,
    folder: Path,
    *,
    most: int = resource.RLIM_INFINITY,
    number: signal.Signals | None = None,
    share: float = 0.0,
    streams: str = "",
) -> Ended:
    """Run a command, and assert that no process is left.

    Parameters
    ----------
    most
        Bytes that a file may have: a disk that is full.
    number, share
        Signal that is sent this many seconds after the command has begun to listen; None for none.
    streams
        What the shell does to the streams.
    """
    mark = f"OPTGAP_SOAK={uuid.uuid4()}"
    name, _, value = mark.partition("=")
    command = shlex.join([sys.executable, "-m", "optgap", *shlex.split(call)])
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", name: value}
    script = f"{command} {streams}; exit ${{PIPESTATUS[0]}}" if streams else f"exec {command}"
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        )
        if number is not None:
            while process.poll() is None and not _listens(process.pid):
                time.sleep(0.01)
            with suppress(subprocess.TimeoutExpired):
                process.wait(share)
            process.send_signal(number)
        status = process.wait(600)
        seconds = time.monotonic() - begin
        err.seek(0)
        printed = err.read()
    until = time.monotonic() + 60
    while (left := list(_marked(mark))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left, f"{call}: {left}"
    return Ended(status, printed, seconds)


def _listens(pid: int) -> bool:
    """Say whether a process catches SIGTERM, as a command does as long as it runs."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _marked(mark: str) -> Iterator[str]:
    """Yield the command lines of processes that have a mark in their environment."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (path / "environ").read_bytes():
                yield f"{path.name} {(path / 'cmdline').read_bytes()!r}"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all inputs."""
    folder = tmp_path_factory.mktemp("soak")
    write_jobs_instance(generate_jobs("jobs-small", jobs=6, seed=1), folder / "jobs.json")
    shutil.copy(bundled_path("inception-block"), folder / "profile.txt")
    (folder / "small.toml").write_text(SMALL)
    for call in (
        "generate layered -o e.json --tasks 14 --gpus mixed-2",
        "generate layered -o e.json.gz --tasks 8 --gpus mixed-2",
        "solve e.json -m heft --schedule-out s.json",
        "solve jobs.json -m fifo --schedule-out js.json",
        "study run small.toml --out store",
        "study adversary min-min --out worst --tasks 5 --gpus mixed-2 --steps 20 --random 2",
    ):
        ended = run(call, folder)
        assert ended.status == 0, ended.err
    return folder


@pytest.fixture(scope="module")
def usual() -> dict[str, Ended]:
    """Return how every call ends without a fault, filled in when it is needed."""
    return {}


STREAMS = (
    ">&-",
    "2>&-",
    "<&-",
    ">/dev/full",
    "2>/dev/full",
    ">&- 2>&- <&-",
    ">/dev/full 2>/dev/full",
    "| true",
    "2>&1 | true",
)


@pytest.mark.parametrize("seed", range(FAULTS))
def test_a_fault_is_survived(seed: int, prepared: Path, tmp_path: Path, usual: dict[str, Ended]) -> None:
    """Tests one random fault in one random command."""
    rng = random.Random(seed)
    call, kind = CALLS[seed % len(CALLS)], rng.choice(["input", "disk", "signal", "stream"])
    if call not in usual:  # this also compiles what is compiled on first use
        shutil.copytree(prepared, tmp_path / "usual")
        usual[call] = run(call, tmp_path / "usual")
        assert "Traceback" not in usual[call].err, usual[call].err
    folder = Path(shutil.copytree(prepared, tmp_path / "here"))
    if rng.random() < 0.5 and "--out out" not in call:  # what the command writes is there already
        run(call, folder)
    before = {path: path.read_bytes() for path in _files(folder)}
    statuses = {usual[call].status}
    if kind == "input":
        fault = _damage(rng, folder, call)
        ended = run(call, folder)
        statuses |= {0, 1, 2}
        if ended.status == 2:
            said = [line for line in ended.err.splitlines() if not re.match(r"\d+\.\d s ", line)]  # but for progress
            assert len(said) == 1, f"{call}, {fault}: {ended}"
    elif kind == "disk":
        most = rng.choice([0, 100, 1000, 5000, 20_000, 60_000])
        fault = f"{most} bytes"
        ended = run(call, folder, most=most)
        statuses |= {2, 3} if most == 0 and "milp" in call else {2}  # with no semaphore either, Pyomo fails
    elif kind == "signal":
        number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
        share = rng.random() * usual[call].seconds
        fault = f"{number!r} after {share:.2f} s"
        ended = run(call, folder, number=number, share=share)
        statuses |= {0, 128 + number, -number}
    else:
        fault = rng.choice(STREAMS)
        ended = run(call, folder, streams=fault)
    told = f"{call}, {fault}: {ended}"
    assert ended.status in statuses, told
    assert "Traceback" not in ended.err, told
    assert "Exception ignored" not in ended.err, told
    if kind != "input":
        _check_files(folder, before, told, may_leave_parts=ended.status == -signal.SIGKILL)


def _files(folder: Path) -> list[Path]:
    """Return all regular files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def _damage(rng: random.Random, folder: Path, call: str) -> str:
    """Change, cut short, remove or replace one of the files that a command reads; say what was done."""
    words = [word for word in shlex.split(call) if not word.startswith("out")]
    named = [folder / word for word in words if (folder / word).exists()]
    files = [path for place in named for path in ([place] if place.is_file() else _files(place))]
    if not files:
        return "no input"
    path = rng.choice(sorted(files))
    content = bytearray(path.read_bytes())
    kind = rng.choice(["flip", "flip", "cut", "cut", "remove", "noise", "folder", "pipe", "loop"])
    if kind == "flip":
        for _ in range(rng.choice([1, 5, 100])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del content[rng.randrange(len(content)) :]
    elif kind == "noise":
        content[:] = rng.randbytes(rng.choice([0, 10, 5000]))
    if kind in ("flip", "cut", "noise"):
        path.write_bytes(content)
        return f"{kind} {path.name}"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    return f"{kind} {path.name}"


def _check_files(folder: Path, before: dict[Path, bytes], told: str, *, may_leave_parts: bool) -> None:
    """Assert that every old file is as it was or whole, that new ones are whole, and that no part of one is left."""
    after = _files(folder)
    assert before.keys() <= set(after), told
    for path in after:
        if path.name.startswith(PARTIAL):
            assert may_leave_parts, f"{path}; {told}"
        elif path not in before or path.read_bytes() != before[path]:
            assert _is_whole(path), f"{path}; {told}"


def _is_whole(path: Path) -> bool:
    """Say whether a file has an end such as its kind has."""
    content = path.read_bytes()
    if path.suffix == ".json":
        return bool(json.loads(content))
    if path.suffix == ".gz":
        return bool(json.loads(read_text(path)))
    if path.suffix == ".npz":
        return zipfile.ZipFile(path).testzip() is None
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            return database.execute("PRAGMA quick_check").fetchone() in (("ok",), None)
    ends = {
        ".csv": b"\n",
        ".tex": b"\n",
        ".svg": b"</svg>\n",
        ".html": (b"</html>", b"</html>\n"),
        ".png": b"IEND\xaeB`\x82",
    }
    if path.name == "trace.csv" or path.suffix not in ends:  # written step by step, or SQLite's own
        return True
    return content.endswith(ends[path.suffix])
