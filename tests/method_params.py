"""Methods as parameters of tests: those whose extra is not installed are skipped, with the reason."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from solvers.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable


def method_params(names: Iterable[str] = METHODS) -> list[object]:
    """Return the methods for `pytest.mark.parametrize`."""
    params = []
    for name in names:
        needs = METHODS[name].needs
        missing = needs is not None and find_spec(needs) is None
        params.append(pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"{needs} is not installed")))
    return params
