"""What the two modes of A-SRPT share: parameters, the virtual machine, eligibility of jobs, and holds."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from heuristics.jobs.policy import Account, Policy

if TYPE_CHECKING:
    from typing import Any

    from heuristics.jobs.placements.job_shapes import JobShapes
    from heuristics.jobs.placements.placement import JobPlacement


Rational = Fraction | int | float | str
"""Accepted as an exact rational; a float counts as the decimal number that Python prints for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ASrptParameters:
    """Parameters of A-SRPT, exact; only predictions and the virtual machine are published, the rest is ours.

    Parameters
    ----------
    theta
        At least 1: how much longer an iteration must be on spread servers for a job to be heavy in communication.
    tau
        At least 0: a heavy job is held at most `tau` times its virtual length; 0 for no holds.
    eps
        At least 0: a placement within 1 + `eps` of alpha_min is consolidated.
    phi
        At least 1: kinds more than `phi` times slower for a stage than its fastest are not used; None for no
        such limit.
    patience
        At least 0: in the overtaking mode, how long a job may be overtaken, over its virtual completion time. With 4
        gaps on twelve generated traces were as small as without a limit; the proved factor hardly depends on it there.
    speed
        Above 0: how fast the virtual machine is, 1 for as fast as all GPUs together. The faster, the earlier jobs are
        eligible, and the more their order is that of arrival.

    Raises
    ------
    ValueError
        If one is out of range or no rational number.
    """

    theta: Fraction = Fraction(3, 2)
    tau: Fraction = Fraction(1, 4)
    eps: Fraction = Fraction(1, 50)
    phi: Fraction | None = None
    patience: Fraction = Fraction(4)
    speed: Fraction = Fraction(1)

    @classmethod
    def of(
        cls,
        *,
        theta: Rational,
        tau: Rational,
        eps: Rational,
        phi: Rational | None,
        patience: Rational = 4,
        speed: Rational = 1,
    ) -> ASrptParameters:
        """Make them from numbers or texts."""
        pace = exact("speed", speed, 0)
        if not pace:
            raise ValueError(f"speed: expected a number above 0, got {speed}.")
        return cls(
            theta=exact("theta", theta, 1),
            tau=exact("tau", tau, 0),
            eps=exact("eps", eps, 0),
            phi=None if phi is None else exact("phi", phi, 1),
            patience=exact("patience", patience, 0),
            speed=pace,
        )


def exact(name: str, value: Rational, least: int) -> Fraction:
    """Return a parameter as an exact rational; raises a `ValueError` if it is no rational number, or below `least`."""
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: expected a rational number of at least {least}, got {value!r}.") from None
    if number < least:
        raise ValueError(f"{name}: expected at least {least}, got {value}.")
    return number


_Priority = int | tuple[int, Fraction]


class VirtualMachine:
    """One machine that does one unit of work per unit of its clock and always serves the first job in its order.

    With G GPUs and speed a/b a job of g GPUs and a predicted duration of D ticks is b * g * D units of work, and the
    clock counts 1/(a G) ticks: all numbers are integers and nothing is rounded. An event costs O(log N) for N jobs.

    The order is that of least remaining work (ties: release, index); serving it minimises the sum of completion times.
    Under the weighted rule it is that of the largest weight per unit of *original* work (same ties). Arrivals preempt.

    Attributes
    ----------
    clock
        How far the machine has been simulated, in units of its clock.

    References
    ----------
    Schrage (1968), A proof of the optimality of the shortest remaining processing time discipline. That a virtual
    machine guides the real schedule: Luo, Liu, Lee and Shroff (INFOCOM 2025), abstract; clock and units are ours.
    """

    def __init__(self, *, is_weighted: bool = False) -> None:
        self.clock = 0
        self._is_weighted = is_weighted
        self._heap: list[tuple[_Priority, int, int]] = []
        self._remaining: dict[int, int] = {}

    def insert(self, job: int, work: int, release: int, weight: int = 1) -> tuple[_Priority, int, int]:
        """Add a job that arrives now, that is at `clock`, and return its key.

        Parameters
        ----------
        job
            A job that is not on the machine.
        work
            At least 1, in units of work.
        weight
            At least 1; used only under the weighted rule.

        Returns
        -------
        tuple
            (priority, release, job), by which jobs are served, the smallest first. Without the weighted rule the
            priority is the remaining work and falls while a job is served.

        Raises
        ------
        ValueError
            If the job is on the machine already, or has no work.
        """
        if job in self._remaining or work < 1:
            raise ValueError(f"job {job}: expected a job of at least 1 unit of work, not here yet, got {work}.")
        self._remaining[job] = work
        # The whole part decides nearly always, so that fractions are rarely compared.
        priority = (work // weight, Fraction(work % weight, weight)) if self._is_weighted else work
        heapq.heappush(self._heap, (priority, release, job))
        return priority, release, job

    def advance(self, clock: int) -> list[tuple[int, int]]:
        """Simulate until the clock shows `clock` and return what completes until then, as (completion, job), in order.

        Raises a `ValueError` if that is in the past.
        """
        if clock < self.clock:
            raise ValueError(f"clock: expected at least {self.clock}, got {clock}.")
        completed = []
        while self._heap:
            _, release, job = self._heap[0]
            end = self.clock + self._remaining[job]
            if end > clock:
                self._remaining[job] = end - clock
                if not self._is_weighted:  # the least entry of a heap may be lowered in place
                    self._heap[0] = (end - clock, release, job)
                break
            heapq.heappop(self._heap)
            del self._remaining[job]
            completed.append((end, job))
            self.clock = end
        self.clock = clock
        return completed

    def next_completion(self) -> int | None:
        """Return when the job that is served completes if nothing else arrives; None if there is none."""
        return self.clock + self._remaining[self._heap[0][2]] if self._heap else None

    def first(self) -> tuple[_Priority, int, int] | None:
        """Return the key of the job that is served; None if there is none."""
        return self._heap[0] if self._heap else None

    def remaining(self, job: int) -> int:
        """Return the work that is left of a job, 0 if it is not on the machine."""
        return self._remaining.get(job, 0)

    def drain(self) -> list[tuple[int, int]]:
        """Simulate until the machine is empty and return what completes, as `advance` does."""
        return self.advance(self.clock + sum(self._remaining.values()))


class GuidedPolicy(Policy):
    """Does steps 1 to 6 of docs/methods/a_srpt.md, section 4, and the hold of its step 9.

    Parameters
    ----------
    shapes
        As in `Policy`, under the restriction phi.
    is_weighted
        Whether the virtual machine follows the weighted rule.
    """

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        super().__init__(shapes)
        self.parameters = parameters
        self.machine = VirtualMachine(is_weighted=is_weighted)
        self._num_gpus = shapes.instance.num_gpus
        self.units_per_tick = self._num_gpus * parameters.speed.numerator
        self._release: list[int] = shapes.instance.release.tolist()
        self._weight: list[int] = shapes.instance.weight.tolist()
        self._gang_size: list[int] = shapes.instance.gang_size.tolist()
        self._heavy: dict[int, bool] = {}
        self._limits: dict[int, Fraction] = {}
        self._prediction: dict[int, int] = {}
        self._work: dict[int, int] = {}
        self._eligible: dict[int, int] = {}
        self._completion: dict[int, int] = {}
        self._first_held: dict[int, int] = {}
        self._deadline: dict[int, int] = {}
        self._held: dict[int, int] = {}

    def arrive(self, job: int, time: int, prediction: int) -> None:
        """Put a job on the virtual machine."""
        self._prediction[job] = prediction
        self._work[job] = self._gang_size[job] * self.shapes.predicted_duration(job, prediction)
        units = self._work[job] * self.parameters.speed.denominator
        key = self.machine.insert(job, units, time, self._weight[job])
        self.wait_virtually(job, key)

    def advance(self, time: int) -> None:
        """Simulate the virtual machine up to now."""
        for completion, job in self.machine.advance(time * self.units_per_tick):
            self._complete_virtually(job, completion)
            self.become_eligible(job)

    def wait_virtually(self, job: int, key: tuple[Any, ...]) -> None:
        """Receive the key of a job that has arrived on the virtual machine."""

    def become_eligible(self, job: int) -> None:
        """Receive a job that has completed on the virtual machine."""
        raise NotImplementedError

    def next_eligibility(self) -> int | None:
        """Return the tick at which the next job becomes eligible if none arrives before."""
        completion = self.machine.next_completion()
        return None if completion is None else -(-completion // self.units_per_tick)

    def is_consolidated(self, job: int, placement: JobPlacement) -> bool:
        """Return whether a placement is as good as the one on the empty servers, or the job is not heavy."""
        return not self.is_heavy(job) or placement.alpha <= self.alpha_limit(job)

    def is_heavy(self, job: int) -> bool:
        """Return whether a job is heavy in communication."""
        shape = int(self.shapes.shape_of[job])
        if shape not in self._heavy:
            self._heavy[shape] = self.shapes.is_heavy(job, self.parameters.theta)
        return self._heavy[shape]

    def alpha_limit(self, job: int) -> Fraction:
        """Return (1 + eps) alpha_min."""
        shape = int(self.shapes.shape_of[job])
        if shape not in self._limits:
            self._limits[shape] = (1 + self.parameters.eps) * self.shapes.least(job).alpha
        return self._limits[shape]

    def hold_until(self, job: int, placement: JobPlacement, time: int) -> int:
        """Return the deadline of a heavy job whose placement is not consolidated; set once, the first time."""
        if job not in self._deadline:
            share = self.parameters.tau * self._work[job] / self._num_gpus
            saving = self._prediction[job] * (placement.alpha - self.shapes.least(job).alpha)
            self._first_held[job] = time
            self._deadline[job] = time + int(min(share, saving))  # both at least 0: the whole part is the floor
        return self._deadline[job]

    def start(self, job: int, placement: JobPlacement, time: int) -> None:
        """Start a job and end its hold."""
        if job in self._deadline:
            self._held[job] = min(time, self._deadline[job]) - self._first_held[job]
        self.cluster.start(job, placement, time)

    def account(self) -> Account:
        """Let the virtual machine finish and return the log."""
        for completion, job in self.machine.drain():
            self._complete_virtually(job, completion)
        return Account(
            eligible=self._eligible, held=self._held, virtual_work=self._work, virtual_completion=self._completion
        )

    def _complete_virtually(self, job: int, completion: int) -> None:
        """Record the tick at which a job is eligible."""
        self._completion[job] = completion
        self._eligible[job] = -(-completion // self.units_per_tick)
