"""Inner kernels as kernels, for tests that call them where plain Python would not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable


def compiled(inner: Any) -> Callable[..., Any]:
    """Return an inner kernel as one that Python can call: records and 64-bit arithmetic are Numba's."""
    return kernel(inner.py_func)
