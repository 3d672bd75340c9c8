"""The speed of a running job beside others: the one function that everybody but the verifier uses."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from instances.jobs.interference import FULL_SPEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from instances.jobs.resource_demand import Amount


def slowdown(own: Sequence[Amount], load: Sequence[Amount], sens: Sequence[Amount]) -> Fraction:
    """Return how much longer a job's iterations take for the sake of one server, in per mille: 1000 for no longer.

    ::

        slow = 1000 + sum_z sens[z] * ( max(1000, load[z]) / max(1000, own[z]) - 1 )

    A job that alone asks for more than there is has that in its own times already.

    Parameters
    ----------
    own
        What the job asks of each resource of the server in per mille of its capacity.
    load
        What all jobs on it ask of each resource together, the job among them.
    sens
        Per mille of the job's iteration that is bound by each resource.
    """
    slow = Fraction(FULL_SPEED)
    for mine, everybody, share in zip(own, load, sens, strict=True):
        base = max(FULL_SPEED, mine)
        if share and everybody > base:
            slow += share * (Fraction(everybody) / base - 1)
    return slow


def running_speed(slowdowns: Iterable[Fraction], pairs: Iterable[int] = ()) -> int:
    """Return the speed of a job in per mille, 1 to 1000: what it does per tick of its 1000 d(x) units.

    ::

        speed = max(1, floor( (10^6 / max_v slow[v]) * m / 1000 )),    m = least of `pairs`, 1000 if there is none

    Maximum and minimum, as a synchronous gang waits for its slowest replica.

    Parameters
    ----------
    slowdowns
        slow[v] of each of its servers, at least one.
    pairs
        pair[c, c'] of each of its GPUs that another job shares.
    """
    slow, least = max(slowdowns), min(pairs, default=FULL_SPEED)
    return max(1, FULL_SPEED * least * slow.denominator // slow.numerator)
