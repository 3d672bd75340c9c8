"""Numba functions that only other Numba functions call."""

from __future__ import annotations

from typing import Any

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

inner = njit(**_OPTIONS)
"""`njit` without the way in from Python, which takes longer to compile than many a function with large tuples."""
