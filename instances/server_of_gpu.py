"""Servers by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag_instance import DagInstance


def server_of_gpu(instance: DagInstance) -> NDArray[np.int64]:
    """Return the server of every GPU, numbered 0, 1, ... in the order in which their names first appear, shape (m,)."""
    number_of_name: dict[str, int] = {}
    numbers = [number_of_name.setdefault(name, len(number_of_name)) for name in instance.gpu_servers]
    return np.array(numbers, dtype=np.int64)
