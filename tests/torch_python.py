"""The interpreter that has torch, for tests of scripts that need it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def run_with_torch(*arguments: str | Path) -> str:
    """Run a script with torch and return what it printed; skip the test where there is none.

    torch is looked for in this interpreter and in the one that the environment variable OPTGAP_TORCH_PYTHON names.
    """
    python = sys.executable if importlib.util.find_spec("torch") else os.environ.get("OPTGAP_TORCH_PYTHON")
    if python is None:
        pytest.skip("torch is not installed, and OPTGAP_TORCH_PYTHON names no interpreter that has it")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
