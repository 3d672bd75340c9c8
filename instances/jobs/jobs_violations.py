"""Everything that can be wrong with a schedule of a jobs instance, one type each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherInstance:
    """The schedule was made for another instance."""

    expected: str
    found: str

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"instance_sha256: expected {self.expected[:16]}..., got {self.found[:16]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongNumberOfJobs:
    """The schedule has another number of jobs than the instance."""

    expected: int
    scheduled: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs: expected {self.expected} jobs, got {self.scheduled}."


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongNumberOfStages:
    """The schedule has another number of stages than the instance, all jobs together."""

    expected: int
    scheduled: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[].stages: expected {self.expected} stages of all jobs together, got {self.scheduled}."


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownServer:
    """A stage sits on a server that is not in the instance."""

    job: int
    stage: int
    server: int
    num_servers: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        place = f"jobs[{self.job}].stages[{self.stage}]"
        return f"{place}: expected servers in 0..{self.num_servers - 1}, got {self.server}."


@dataclass(frozen=True, slots=True, kw_only=True)
class BadReplicaCount:
    """A server is said to hold no replica of a stage, or a negative number of them."""

    job: int
    stage: int
    server: int
    replicas: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        place = f"jobs[{self.job}].stages[{self.stage}]"
        return f"{place}: expected at least 1 replica on server {self.server}, got {self.replicas}."


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongReplicas:
    """A stage has another number of replicas than it asks for."""

    job: int
    stage: int
    expected: int
    placed: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[{self.job}].stages[{self.stage}]: expected {self.expected} replicas, got {self.placed}."


@dataclass(frozen=True, slots=True, kw_only=True)
class KindNotAllowed:
    """A stage sits on a server whose kind of GPU may not run it."""

    job: int
    stage: int
    server: int
    kind: str

    def __str__(self) -> str:
        """Describe the violation in one line."""
        place = f"jobs[{self.job}].stages[{self.stage}]"
        return f"{place}: expected an allowed kind of GPU, got {self.kind!r} of server {self.server}."


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBeforeRelease:
    """A job starts before it arrives."""

    job: int
    ticks: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[{self.job}].start: {self.ticks} ticks before the release of the job."


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityExceeded:
    """For a stretch of time the jobs on a server hold more GPUs than it has."""

    server: int
    begin: int
    end: int
    gpus: int
    capacity: int
    jobs: tuple[int, ...]

    def __str__(self) -> str:
        """Describe the violation in one line."""
        names = ", ".join(map(str, self.jobs))
        return (
            f"servers[{self.server}]: expected at most {self.capacity} GPUs in use, got up to {self.gpus} from tick "
            f"{self.begin} to {self.end}, by jobs {names}."
        )


JobsViolation = (
    OtherInstance
    | WrongNumberOfJobs
    | WrongNumberOfStages
    | UnknownServer
    | BadReplicaCount
    | WrongReplicas
    | KindNotAllowed
    | StartBeforeRelease
    | CapacityExceeded
)
