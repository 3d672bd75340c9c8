"""Tests of content hashes."""

from __future__ import annotations

import hashlib

import pytest

from instances.content_hash import content_hash


def test_hash_of_canonical_text() -> None:
    """Tests that the hash is SHA-256 of JSON with sorted keys, no white space and ASCII only."""
    document = {"b": [1, 2.5, None, True], "a": "é"}
    expected = hashlib.sha256(b'{"a":"\\u00e9","b":[1,2.5,null,true]}').hexdigest()
    assert content_hash(document) == expected
    assert content_hash(dict(reversed(document.items()))) == expected


def test_hash_is_pinned() -> None:
    """Tests the hash of an empty document against its published value."""
    assert content_hash({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_kinds_of_numbers_differ() -> None:
    """Tests that 1 and 1.0 are different content, so that documents must use one kind per field."""
    assert content_hash({"x": 1}) != content_hash({"x": 1.0})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_are_finite(value: float) -> None:
    """Tests that numbers outside JSON have no hash."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_hash({"x": value})
