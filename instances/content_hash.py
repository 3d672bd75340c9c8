"""One hash for one content, on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def content_hash(document: Mapping[str, object]) -> str:
    """Return the SHA-256 of a JSON document in canonical form, as 64 hexadecimal digits.

    Canonical: keys sorted, no white space, ASCII only, floats in their shortest form that reads back the same.
    So neither the order of keys nor the platform changes it.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
