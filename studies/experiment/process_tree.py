"""A process with everything that it started: how much memory they hold, and their end."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

PROC = Path("/proc")

CAN_WATCH = (PROC / "self" / "statm").exists()
"""Whether this system tells what a process holds; Linux does."""


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants; only itself where the system does not tell."""
    found = [pid]
    for parent in found:  # grows while it is walked
        with contextlib.suppress(OSError):
            for thread in os.listdir(PROC / str(parent) / "task"):
                with contextlib.suppress(OSError):
                    text = (PROC / str(parent) / "task" / thread / "children").read_text()
                    found += [int(word) for word in text.split()]
    return found


def resident_bytes(pid: int) -> int:
    """Return the physical memory that one process holds, 0 where it is gone or the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def tree_bytes(pid: int, enough: int) -> int:
    """Return the physical memory that a process and its descendants hold together.

    Parameters
    ----------
    pid
        Of the process at the root.
    enough
        Up to this number of bytes a sum that counts shared pages once per process will do, for it is an upper bound;
        above it, and with descendants, every process counts its share of the pages it shares, which takes longer.
    """
    tree = process_tree(pid)
    total = sum(resident_bytes(member) for member in tree)
    if total <= enough or len(tree) == 1:
        return total
    return sum(_proportional_bytes(member) for member in tree)


def _proportional_bytes(pid: int) -> int:
    """Return the physical memory of a process, shared pages divided by those who share them."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return resident_bytes(pid)
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return resident_bytes(pid)


def kill_tree(pid: int) -> None:
    """Kill a process, its descendants and its process group, which nothing can ignore.

    It must lead a group of its own and must not have been waited for: till then nobody else gets its number.
    """
    tree = process_tree(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)  # also those whose parent is gone already
    for member in tree:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(member, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
