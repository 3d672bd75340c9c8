"""Options of a format's reader as they stand on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.command_line.bad_input import BadInputError
from studies.command_line.set_parameters import check_size, key_value_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPTION_OF_PARAMETER = {
    "cluster": "--gpus",
    "cost": "cost options",
    "seed": "--seed",
    "reference_kind": "--reference-kind",
}
"""Parameters of readers that have options of their own."""


def reader_options(format_name: str, given: Mapping[str, object], texts: Sequence[str]) -> dict[str, object]:
    """Return what to call a format's reader with.

    Parameters
    ----------
    format_name
        Of the format.
    given
        Values of options of their own; None where one was not given.
    texts
        ``key=value`` for all other options of the format.

    Raises
    ------
    BadInputError
        If the format is unknown or does not have an option.
    """
    from instances.readers.option_from_text import option_from_text
    from instances.readers.readers import reader_of_format

    try:
        known = reader_of_format(format_name).options()
    except ValueError as error:
        raise BadInputError(f"--from: {str(error).partition(': ')[2]}") from error
    values = {name: value for name, value in given.items() if value is not None}
    for name in values:
        if name not in known:
            raise BadInputError(
                f"{OPTION_OF_PARAMETER[name]}: expected none for format {format_name}, which has no such option."
            )
    for key, text in key_value_pairs(texts):
        if key in OPTION_OF_PARAMETER:
            raise BadInputError(
                f"--set {key}: expected its own option, {OPTION_OF_PARAMETER[key]}, got it as KEY=VALUE."
            )
        try:
            value = option_from_text(format_name, key, text)
            check_size(key, value, text)
            values[key] = value
        except ValueError as error:
            raise BadInputError(f"--set {key}: {str(error).partition(': ')[2]}") from error
    return values


def option_of_place(values: Mapping[str, object]) -> dict[str, str]:
    """Return the option behind a place in a reader's message, for `options`."""
    own = {name: f"--set {name}" for name in values if name not in OPTION_OF_PARAMETER}
    kind = {"GPU kind": "--reference-kind"} if "reference_kind" in values else {}
    return {**own, **kind, **{name: option for name, option in OPTION_OF_PARAMETER.items() if name != "cost"}}
