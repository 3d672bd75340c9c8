"""What the two modes of A-SRPT share: the virtual machine, who is eligible when, and holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heuristics.jobs.policies.policy import Account, Policy
from heuristics.jobs.virtual_machine import VirtualMachine

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import Any

    from heuristics.jobs.job_placement import JobPlacement
    from heuristics.jobs.job_shapes import JobShapes
    from heuristics.jobs.policies.a_srpt_parameters import ASrptParameters


class GuidedPolicy(Policy):
    """Steps 1 to 6 of section 4 of the reference, and the hold of step 9.

    Parameters
    ----------
    shapes
        As in `Policy`, under the restriction phi.
    parameters
        Of A-SRPT.
    is_weighted
        Whether the virtual machine follows the weighted rule.
    """

    def __init__(self, shapes: JobShapes, parameters: ASrptParameters, *, is_weighted: bool) -> None:
        """Start with an empty virtual machine."""
        super().__init__(shapes)
        self.parameters = parameters
        self.machine = VirtualMachine(is_weighted=is_weighted)
        self._num_gpus = shapes.instance.num_gpus
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
        key = self.machine.insert(job, self._work[job], time, self._weight[job])
        self.wait_virtually(job, key)

    def advance(self, time: int) -> None:
        """Simulate the virtual machine up to now."""
        for completion, job in self.machine.advance(time * self._num_gpus):
            self._complete_virtually(job, completion)
            self.become_eligible(job)

    def wait_virtually(self, job: int, key: tuple[Any, ...]) -> None:
        """Take the key of a job that has arrived on the virtual machine."""

    def become_eligible(self, job: int) -> None:
        """Take a job that has completed on the virtual machine."""
        raise NotImplementedError

    def next_eligibility(self) -> int | None:
        """Return when the next job becomes eligible if nobody arrives before, in ticks."""
        completion = self.machine.next_completion()
        return None if completion is None else -(-completion // self._num_gpus)

    def is_consolidated(self, job: int, placement: JobPlacement) -> bool:
        """Say whether a placement is as good as the one on the empty servers, or the job is not heavy."""
        return not self.is_heavy(job) or placement.alpha <= self.alpha_limit(job)

    def is_heavy(self, job: int) -> bool:
        """Say whether a job is heavy in communication."""
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
        """Start a job, and close its hold."""
        if job in self._deadline:
            self._held[job] = min(time, self._deadline[job]) - self._first_held[job]
        self.cluster.start(job, placement, time)

    def account(self) -> Account:
        """Let the virtual machine finish and return the log."""
        for completion, job in self.machine.drain():
            self._complete_virtually(job, completion)
        return Account(
            eligible=self._eligible,
            held=self._held,
            virtual_work=self._work,
            virtual_completion=self._completion,
        )

    def _complete_virtually(self, job: int, completion: int) -> None:
        """Remember when a job is eligible."""
        self._completion[job] = completion
        self._eligible[job] = -(-completion // self._num_gpus)
