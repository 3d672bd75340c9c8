"""Which of our formats a file says that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.json_fields import parse_json
from instances.text_file import read_text

if TYPE_CHECKING:
    from os import PathLike


def file_format(path: str | PathLike[str]) -> str | None:
    """Return the ``format`` of a JSON file, such as ``optgap/jobs``; None where it says none or is broken.

    What is wrong with a broken file is told by the function that reads it.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    try:
        document = parse_json(read_text(path))
    except ValueError:
        return None
    found = document.get("format") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None
