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


@dataclass(frozen=True, slots=True, kw_only=True)
class GpusNotNamed:
    """GPUs may be shared, and the schedule does not say who is on which."""

    share: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[].stages: expected GPUs with every entry, as {self.share} jobs may share one, got none."


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGpu:
    """A job sits on a GPU that its server does not have."""

    job: int
    server: int
    gpu: int
    num_gpus: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[{self.job}]: expected GPUs in 0..{self.num_gpus - 1} of server {self.server}, got {self.gpu}."


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTwice:
    """Two replicas of one job sit on one GPU."""

    job: int
    server: int
    gpu: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return f"jobs[{self.job}]: expected a GPU for each replica, got GPU {self.gpu} of server {self.server} twice."


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuOverbooked:
    """For a stretch of time more jobs sit on a GPU than may share it."""

    server: int
    gpu: int
    begin: int
    end: int
    jobs: tuple[int, ...]
    share: int

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return (
            f"servers[{self.server}], GPU {self.gpu}: expected at most {self.share} jobs at a time, got "
            f"{', '.join(map(str, self.jobs))} from tick {self.begin} to {self.end}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairNotAllowed:
    """Two jobs whose classes may not share a GPU do."""

    server: int
    gpu: int
    begin: int
    end: int
    jobs: tuple[int, int]

    def __str__(self) -> str:
        """Describe the violation in one line."""
        return (
            f"servers[{self.server}], GPU {self.gpu}: expected jobs whose classes may share it, got "
            f"{self.jobs[0]} and {self.jobs[1]} from tick {self.begin} to {self.end}."
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
    | GpusNotNamed
    | UnknownGpu
    | GpuTwice
    | GpuOverbooked
    | PairNotAllowed
)
