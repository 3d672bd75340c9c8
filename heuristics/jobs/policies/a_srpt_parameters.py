"""The parameters of A-SRPT."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Rational = Fraction | int | float | str
"""What is taken as an exact rational; a float counts as the decimal number that Python prints for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ASrptParameters:
    """Parameters of A-SRPT, exact; all but the idea of predictions and a virtual machine is a reconstruction of ours.

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

    Raises
    ------
    ValueError
        If one is out of range or no rational number.
    """

    theta: Fraction = Fraction(3, 2)
    tau: Fraction = Fraction(1, 4)
    eps: Fraction = Fraction(1, 50)
    phi: Fraction | None = None

    @classmethod
    def of(cls, *, theta: Rational, tau: Rational, eps: Rational, phi: Rational | None) -> ASrptParameters:
        """Make them from numbers or texts."""
        return cls(
            theta=exact("theta", theta, 1),
            tau=exact("tau", tau, 0),
            eps=exact("eps", eps, 0),
            phi=None if phi is None else exact("phi", phi, 1),
        )


def exact(name: str, value: Rational, least: int) -> Fraction:
    """Return a parameter as an exact rational.

    Raises
    ------
    ValueError
        If it is no rational number, or below `least`.
    """
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name}: expected a rational number of at least {least}, got {value!r}.") from None
    if number < least:
        raise ValueError(f"{name}: expected at least {least}, got {value}.")
    return number
