"""Tests of private, read-only arrays."""

from __future__ import annotations

import numpy as np
import pytest

from instances.frozen_array import MAX_INTEGER, frozen_floats, frozen_integers
from instances.jobs.servers import Racks


def test_integers_are_copied_and_frozen() -> None:
    """Tests that the copy is int64, C-ordered and read-only, and that the original stays writable."""
    values = np.asfortranarray([[1, 2], [3, 4]], dtype=np.int16)
    array = frozen_integers(values, place="x", shape=(2, None))
    assert (array.dtype, array.flags.c_contiguous, array.flags.writeable) == (np.int64, True, False)
    values[0, 0] = 9
    assert array.tolist() == [[1, 2], [3, 4]]


def test_floats_take_integers() -> None:
    """Tests that integers become floats and that the copy is read-only."""
    array = frozen_floats([1, 2], place="x", shape=(2,))
    assert (array.dtype, array.tolist(), array.flags.writeable) == (np.float64, [1.0, 2.0], False)


@pytest.mark.parametrize(
    ("shape", "expected"), [((None, 2), (0, 2)), ((0, 3), (0, 3)), ((None,), (0,)), ((0, None), (0, 0))]
)
def test_empty_lists_take_the_shape(shape: tuple[int | None, ...], expected: tuple[int, ...]) -> None:
    """Tests that an empty list becomes an empty int64 array of the expected number of axes."""
    array = frozen_integers([], place="x", shape=shape)
    assert (array.shape, array.dtype) == (expected, np.int64)


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_integer(sign: int) -> None:
    """Tests that 2**53 passes and the next integer is refused, with either sign."""
    assert frozen_integers([sign * MAX_INTEGER], place="x", shape=(1,)).tolist() == [sign * 2**53]
    with pytest.raises(ValueError, match=rf"^x: expected values up to 2\*\*53, got {sign * (2**53 + 1)}\.$"):
        frozen_integers([sign * (MAX_INTEGER + 1), 0], place="x", shape=(2,))


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**64), 10**30])
def test_integers_beyond_64_bits(value: int) -> None:
    """Tests that integers beyond 64 bits are called too large, not called another kind."""
    with pytest.raises(ValueError, match=rf"^x: expected values up to 2\*\*53, got {value}\.$"):
        frozen_integers([value, 1], place="x", shape=(2,))


@pytest.mark.parametrize(
    ("values", "got"),
    [
        ([1.0, 2.5], "2.5 at [1]"),
        ([True, False], "True at [0]"),
        (["a", "b"], "'a' at [0]"),
        ([None, 1], "None at [0]"),
        ([1 + 0j, 2], "(1+0j) at [0]"),
    ],
)
def test_other_kinds_are_refused(values: list[object], got: str) -> None:
    """Tests that booleans, fractions, text and None are no integers."""
    with pytest.raises(TypeError) as caught:
        frozen_integers(values, place="x", shape=(2,))
    assert str(caught.value) == f"x: expected integers, got {got}."


@pytest.mark.parametrize("values", [[True, False], ["1", "2"], [None, 1.0]])
def test_other_kinds_are_no_floats(values: list[object]) -> None:
    """Tests that booleans, text and None are no numbers."""
    with pytest.raises(TypeError, match=r"^x: expected numbers, got .* at \[0\]\.$"):
        frozen_floats(values, place="x", shape=(2,))


@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_floats_are_finite(value: float, text: str) -> None:
    """Tests that NaN and infinities are refused with their place."""
    with pytest.raises(ValueError) as caught:
        frozen_floats([[1.0, 2.0], [3.0, value]], place="x", shape=(2, 2))
    assert str(caught.value) == f"x[1][1]: expected a finite number, got {text}."


@pytest.mark.parametrize(
    ("values", "shape", "message"),
    [
        ([1, 2], (3,), "x: expected 3 entries, got 2 entries."),
        ([[1, 2]], (None,), "x: expected a list, got 1 x 2 entries."),
        ([1, 2], (None, 2), "x: expected any x 2 entries, got 2 entries."),
        (5, (None,), "x: expected a list, got a single value."),
        ([[1], [1, 2]], (2, 2), "x: expected 2 x 2 entries, got rows of different lengths."),
    ],
)
def test_shapes(values: object, shape: tuple[int | None, ...], message: str) -> None:
    """Tests that another shape is refused, both shapes in words."""
    with pytest.raises(ValueError) as caught:
        frozen_integers(values, place="x", shape=shape)
    assert str(caught.value) == message


def test_private_copy_shares_nothing_that_can_change() -> None:
    """Tests that whoever alters a copy by force leaves the original as it was, and that the fields are named."""
    racks = Racks.of([0, 0], [4])
    copy = racks.private_copy()
    assert racks.differences(copy) == []
    copy.rack_of_server.setflags(write=True)
    copy.rack_of_server[:] = 7
    object.__setattr__(copy, "names", ("other",))
    assert racks.rack_of_server.tolist() == [0, 0]
    assert racks.differences(copy) == ["names", "rack_of_server"]
