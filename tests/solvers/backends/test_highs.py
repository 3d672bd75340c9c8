"""Tests of keeping libraries quiet below Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PRELUDE = (
    "import ctypes, os, sys, threading\nfrom solvers.backends.highs import silenced\nputs = ctypes.CDLL(None).puts\n"
)


def printed(program: str) -> list[str]:
    """Return the lines that a program leaves on standard output."""
    answer = subprocess.run(
        [sys.executable, "-c", PRELUDE + program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert answer.stderr == ""
    return answer.stdout.splitlines()


def test_only_python_is_heard() -> None:
    """Tests that inside C's lines are gone and Python's stay in order, and that before and after both are heard."""
    program = """
puts(b"C before")
print("Python before")
with silenced():
    puts(b"C inside")
    os.write(1, b"descriptor inside")
    print("Python inside")
    sys.stdout.write("without a line break, ")
print("Python after", flush=True)
puts(b"C after")
"""
    lines = printed(program)
    assert sorted(lines) == [
        "C after", "C before", "Python before", "Python inside", "without a line break, Python after",
    ]  # fmt: skip


def test_threads_share_a_silence() -> None:
    """Tests that the first one to leave does not end the silence of another, and the last one does."""
    program = """
inside, leave = threading.Event(), threading.Event()
def other():
    with silenced():
        inside.set()
        leave.wait()
thread = threading.Thread(target=other)
thread.start()
inside.wait()
with silenced():
    pass
puts(b"C while the other is inside")
leave.set()
thread.join()
puts(b"C after")
"""
    assert printed(program) == ["C after"]


def test_exceptions_end_it() -> None:
    """Tests that an exception leaves standard output as it was."""
    program = """
try:
    with silenced():
        raise ValueError
except ValueError:
    print("heard", sys.stdout is sys.__stdout__)
"""
    assert printed(program) == ["heard True"]


def test_closed_output_is_no_matter() -> None:
    """Tests a process without standard output."""
    assert printed("os.close(1)\nwith silenced():\n    puts(b'nothing')\nsys.stdout = None\n") == []
