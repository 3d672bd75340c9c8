"""How many down-sets a graph has: the more, the less dominance can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instances.dag_instance import DagInstance


def count_down_sets(instance: DagInstance, at_most: int) -> int:
    """Return the number of sets of tasks that contain all predecessors of their members, the empty one included.

    Parameters
    ----------
    instance
        Its edges count.
    at_most
        Where there are more, some number above this is returned: counting takes two microseconds each.
    """
    needs = [0] * instance.num_tasks
    opens: list[list[int]] = [[] for _ in needs]
    for tail, head in instance.edges.tolist():
        needs[head] |= 1 << tail
        opens[tail].append(head)
    layer = {0: sum(1 << task for task, need in enumerate(needs) if not need)}
    count = 0
    while layer and count <= at_most:
        count += len(layer)
        following: dict[int, int] = {}
        for members, free in layer.items():
            rest = free
            while rest:
                bit = rest & -rest
                rest ^= bit
                larger = members | bit
                if larger not in following:
                    freed = sum(1 << task for task in opens[bit.bit_length() - 1] if needs[task] & ~larger == 0)
                    following[larger] = free ^ bit | freed
            if count + len(following) > at_most:
                return count + len(following)
        layer = following
    return count
