"""A file of the library that is not what it should be."""

from __future__ import annotations


class LibraryFileError(ValueError):
    """One line with the file, the place in it, and what was expected there."""
