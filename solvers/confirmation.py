"""What a second model said of a claim."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Whether a second model refuted what a claim says does not exist.

    A contradiction is never a `Confirmation`: it raises.

    Parameters
    ----------
    claim
        What was to be confirmed, such as "no makespan below 73".
    asked
        The second model, with solver and version.
    confirmed_by
        What confirms the claim, None where nothing does. Beside `asked` it can be a shorter argument, such as releases
        and durations alone, and it says whether windows were shared with the first model.
    reason
        Why nothing confirms it, None where something does.
    seconds
        Time that it took.
    time_limit
        Seconds that it was given, None for no limit.
    """

    claim: str
    asked: str
    confirmed_by: str | None
    reason: str | None = None
    seconds: float = 0.0
    time_limit: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in one line."""
        if self.confirmed_by is not None:
            return f"{self.claim}: confirmed by {self.confirmed_by} in {self.seconds:.2f} s"
        return f"{self.claim}: not confirmed, {self.reason} (asked: {self.asked})"
