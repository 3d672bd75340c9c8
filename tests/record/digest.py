"""From values to digests: canonical JSON without anything that changes from run to run."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

VOLATILE = frozenset(
    {"versions", "hardware", "threads", "workers", "folder", "path", "file", "date", "trace", "converted_from"}
)
"""Keys of documents that depend on time or machine; those that end in ``seconds`` do too, but for the tick."""

WORDS = frozenset(
    {
        "proof",
        "summary",
        "source",
        "description",
        "error",
        "solver",
        "confirmed_by",
        "confirmation",
        "notes",
        "title",
        "denominators",
    }
)
"""Keys of documents whose values are words, or hold versions of solvers."""

LENGTH = 16
"""Hexadecimal digits that are kept of a digest of one item."""


def digest(value: object) -> str:
    """Return the beginning of the SHA-256 of the canonical JSON of a value."""
    return sha256(canonical(value).encode()).hexdigest()[:LENGTH]


def canonical(value: object) -> str:
    """Return canonical JSON: keys in order, no spaces; floats as their shortest exact text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def without_volatile(value: Any) -> Any:
    """Return a document in which volatile values and words are None; the keys stay."""
    if isinstance(value, dict):
        return {key: None if _is_volatile(key) else without_volatile(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_volatile(entry) for entry in value]
    return value


def _is_volatile(key: object) -> bool:
    """Say whether the value under a key changes from run to run, or is made of words."""
    text = str(key)
    return text in VOLATILE or text in WORDS or (text.endswith("seconds") and text != "tick_seconds")


def _plain(value: object) -> object:
    """Return arrays, NumPy scalars, fractions and sets as JSON values."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    raise TypeError(f"value: expected something that JSON or NumPy knows, got a {type(value).__name__}.")
