"""Whether transfers compete for the network interfaces of servers, and which server every GPU belongs to."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from instances.spelling import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from instances.dag.instance import DagInstance


class Contention(StrEnum):
    """What transfers share.

    With `NIC` every server (`gpu_servers`: GPUs with the same server name) has one network interface, full duplex. The
    transfer of an edge (h,i) from GPU k to GPU l on *different* servers occupies the outgoing side of k's server and
    the incoming side of l's server, both exclusively, for its whole delay c[h,i](k,l). Its start S is an integer tick
    to be decided: S >= finish of h, S + c <= start of i. Transfers of delay 0 occupy nothing; transfers within a server
    are not contended and start at once. A schedule that keeps the rule therefore also keeps the constraints without it,
    and the optimum is never below the one without contention. With one GPU per server these are the exclusive ports of
    the literature.
    """

    NONE = "none"
    """No contention: every transfer starts when its task has finished."""
    NIC = "nic"
    """Contention for the network interfaces of servers: one transfer per side at a time."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Name the choices."""
        raise ValueError(f"contention: expected one of {', '.join(cls)}, got {value!r}{did_you_mean(value, cls)}.")


def server_of_gpu(instance: DagInstance) -> NDArray[np.int64]:
    """Return the server of every GPU, numbered 0, 1, ... in the order in which their names first appear, shape (m,)."""
    number_of_name: dict[str, int] = {}
    numbers = [number_of_name.setdefault(name, len(number_of_name)) for name in instance.gpu_servers]
    return np.array(numbers, dtype=np.int64)
