"""Options of readers as they are typed on a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instances.readers.readers import reader_of_format

if TYPE_CHECKING:
    from collections.abc import Callable

_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def option_from_text(format_name: str, name: str, text: str) -> object:
    """Return the value of a reader's option that is given as text.

    Parameters
    ----------
    format_name
        A key of `READERS`.
    name
        The option; hyphens stand for underscores.
    text
        An integer, a number, ``true`` or ``false``, text, a cluster such as ``2xT4+1xP100``, or ``none``, according to
        the option.

    Returns
    -------
    object
        What `read_instance` expects under the name with underscores.

    Raises
    ------
    ValueError
        If the format or the option is unknown, the option cannot be given as text, or the text has another form.
    """
    known = reader_of_format(format_name).options()
    key = name.replace("-", "_")
    if key not in known:
        raise ValueError(f"option {name}: expected one of {', '.join(known) or 'no options'}, got {name!r}.")
    annotation = str(known[key].annotation)
    kind = annotation.removesuffix(" | None")
    if kind != annotation and text.lower() == "none":
        return None
    if kind not in _CONVERTERS:
        raise ValueError(f"option {name}: expected a value from Python, as it is a {kind}, got {text!r}.")
    expected, convert = _CONVERTERS[kind]
    try:
        return convert(text)
    except (ValueError, KeyError) as error:
        if kind == "Cluster":
            raise
        raise ValueError(f"option {name}: expected {expected}, got {text!r}.") from error


def _cluster(text: str) -> object:
    """Make a cluster; imported late because NumPy takes its time."""
    from instances.cluster import parse_cluster

    return parse_cluster(text)


_CONVERTERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "bool": ("true or false", lambda text: _TRUTHS[text.lower()]),
    "int": ("an integer", int),
    "float": ("a number", float),
    "str": ("text", str),
    "Cluster": ("a cluster", _cluster),
}
