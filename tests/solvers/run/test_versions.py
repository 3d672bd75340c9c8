"""Tests of what results say they were made with."""

from __future__ import annotations

import os
import platform
import socket
from importlib.metadata import version

import pytest

from solvers.run.versions import DISTRIBUTIONS, available_cores, hardware, usable_threads, version_of, versions


def test_versions_of_everything_that_computes() -> None:
    """Tests that Python and every distribution stand there, with the installed version."""
    found = versions()
    assert list(found) == ["python", *DISTRIBUTIONS]
    assert found["python"] == platform.python_version()
    assert found["ortools"] == version("ortools")
    assert found["numpy"] == version("numpy")


def test_unknown_distribution_has_no_version() -> None:
    """Tests that what is not installed is None, not an error."""
    assert version_of("no-such-distribution-at-all") is None


def test_callers_cannot_change_each_others_versions() -> None:
    """Tests that every call returns a dictionary of its own."""
    versions()["python"] = "0"
    assert versions()["python"] == platform.python_version()


def test_hardware_names_no_host() -> None:
    """Tests that the line holds cores and system and not the name of the machine."""
    assert f"{available_cores()} cores, {platform.system()}" in hardware()
    assert socket.gethostname() not in hardware()
    assert "\n" not in hardware()


def test_cores_are_those_of_the_process() -> None:
    """Tests that the number of cores is at least 1 and at most that of the machine."""
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(("cores", "wanted", "used"), [(2, None, 2), (2, 8, 8), (2, 1000, 64), (96, 1000, 96)])
def test_usable_threads(cores: int, wanted: int | None, used: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a thousand threads are not started on two cores, and that more than the cores may be asked for."""
    monkeypatch.setattr("solvers.run.versions.available_cores", lambda: cores)
    assert usable_threads(wanted) == used
