"""The refusal to build a model that would be too large."""

from __future__ import annotations


class ModelTooLargeError(RuntimeError):
    """The instance is too large for the model, which is not built."""
