"""The format of MLCommons Chakra's execution traces: one process's nodes, from protobuf or JSON."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instances.json_document import parse_json
from instances.text_file import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


NODE_TYPES = ("invalid", "metadata", "memory load", "memory store", "compute", "send", "receive", "collective")
"""What a node is, by its number in the schema."""

_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5
_TEXTS, _TEXT_LISTS, _SIGNED = (29,), (30,), (15, 17)
_FIXED = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChakraNode:
    """One node of a rank's trace.

    Parameters
    ----------
    kind
        One of `NODE_TYPES`.
    data_deps, ctrl_deps
        Numbers of the nodes that it waits for; some may not be in the trace.
    duration_micros
        0 where it was not measured.
    attributes
        Numbers, texts and lists of texts by name.
    """

    number: int
    name: str
    kind: str
    data_deps: tuple[int, ...]
    ctrl_deps: tuple[int, ...]
    duration_micros: float
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def integer(self, name: str) -> int | None:
        """Return an attribute as an integer; None where it is absent. Raises a `ValueError` if it is no number."""
        value = self.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, int) and not (isinstance(value, float) and value.is_integer()):
            raise ValueError(f"node {self.number}: expected an integer as {name}, got {value!r}.")
        return int(value)


def chakra_nodes(content: bytes) -> tuple[list[ChakraNode], dict[str, Any]]:
    """Return the nodes of one process, and the attributes of the whole trace.

    The content may be compressed, whatever its name says. Raises a `ValueError` if it is no trace with an order of
    execution; the message gives the byte or the key.
    """
    if content[:2] == b"\x1f\x8b":
        content = _decompressed(content)
    if content.lstrip()[:1] == b"{":
        return _from_json(content.decode("utf-8", errors="replace")), {}
    try:
        messages = list(_messages(content))
        if not messages:
            raise ValueError("byte 0: expected a Chakra trace, got nothing.")
        head = dict(_attribute(value) for number, value in _fields(messages[0]) if number == 2)
        return [_node(message) for message in messages[1:]], head
    except (IndexError, struct.error, UnicodeDecodeError, TypeError, AttributeError) as error:
        raise ValueError("byte 0: expected messages of a Chakra trace, got something else.") from error


def _decompressed(content: bytes) -> bytes:
    """Return what a gzip file holds, up to the limit of what is read."""
    try:
        found = zlib.decompressobj(wbits=31).decompress(content, MAX_BYTES + 1)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"byte 0: expected gzip data, got {error}.") from error
    if len(found) > MAX_BYTES:
        raise ValueError(f"byte {MAX_BYTES}: expected at most {MAX_BYTES:,} bytes of content, got more.")
    return found


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """Return an integer and the place behind it."""
    value, shift = 0, 0
    while True:
        byte = content[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
        if shift > 63:
            raise IndexError


def _messages(content: bytes) -> Iterator[bytes]:
    """Yield messages, each of which stands after its length."""
    place = 0
    while place < len(content):
        size, start = _varint(content, place)
        place = start + size
        if place > len(content):
            raise ValueError(f"byte {start}: expected a message of {size} bytes, got {len(content) - start}.")
        yield content[start:place]


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and raw value of every field of a message."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        size = {_DOUBLE: 8, _FLOAT: 4}.get(wire, -1)
        if wire == _BYTES:
            size, place = _varint(message, place)
        if size < 0 or place + size > len(message):
            raise IndexError
        yield number, message[place : place + size]
        place += size


def _attribute(message: bytes) -> tuple[str, Any]:
    """Return name and value of an attribute, the value None where it is of a type that nobody needs."""
    name, value = "", None
    for number, raw in _fields(message):
        if number == 1:
            name = raw.decode()
        elif number in _FIXED:
            (value,) = struct.unpack(_FIXED[number], raw)
        elif number in _TEXTS:
            value = raw.decode()
        elif number in _TEXT_LISTS:
            value = [text.decode() for part, text in _fields(raw) if part == 1]
        elif isinstance(raw, int) and number > 2:
            value = (raw >> 1) ^ -(raw & 1) if number in _SIGNED else raw
    return name, value


def _numbers(raw: int | bytes) -> list[int]:
    """Return the integers of a repeated field, packed or one by one."""
    if isinstance(raw, int):
        return [raw]
    found, place = [], 0
    while place < len(raw):
        value, place = _varint(raw, place)
        found.append(value)
    return found


def _node(message: bytes) -> ChakraNode:
    """Return the node of a message."""
    values: dict[int, Any] = {1: 0, 2: b"", 3: 0, 7: 0}
    deps: dict[int, list[int]] = {4: [], 5: []}
    attributes: dict[str, Any] = {}
    for number, raw in _fields(message):
        if number in deps:
            deps[number] += _numbers(raw)
        elif number == 10:
            attributes.update([_attribute(raw)])
        elif number in values:
            values[number] = raw
    if not 0 <= values[3] < len(NODE_TYPES):
        raise ValueError(f"node {values[1]}: expected a type in 0..{len(NODE_TYPES) - 1}, got {values[3]}.")
    return ChakraNode(
        number=int(values[1]),
        name=values[2].decode(),
        kind=NODE_TYPES[values[3]],
        data_deps=tuple(deps[5]),
        ctrl_deps=tuple(deps[4]),
        duration_micros=int(values[7]),
        attributes=attributes,
    )


def _from_json(text: str) -> list[ChakraNode]:
    """Return the nodes of a trace in the JSON form whose key is ``workload_graph``."""
    document = parse_json(text)
    if not isinstance(document, dict):
        raise ValueError("trace: expected an object, got something else.")
    rows = document.get("workload_graph")
    if not isinstance(rows, list):
        if "nodes" in document:
            raise ValueError(
                "nodes: expected an execution trace (workload_graph), got a host trace, which has no durations, and "
                "whose ctrl_deps say who called whom and not what waits for what; Chakra's tools link it to a device's."
            )
        raise ValueError("workload_graph: expected a list of nodes, got nothing.")
    nodes = []
    for index, row in enumerate(rows):
        try:
            nodes.append(
                ChakraNode(
                    number=int(row["Id"]),
                    name=str(row["Name"]),
                    kind=NODE_TYPES[int(row["NodeType"])],
                    data_deps=tuple(int(each) for each in row.get("data_deps", ())),
                    ctrl_deps=tuple(int(each) for each in _listed(row.get("ctrlDeps"))),
                    duration_micros=float(row.get("runtime", 0)),
                    attributes={
                        key: row[key]
                        for key in row
                        if key.startswith("comm_") or key in ("num_ops", "tensor_size", "pg_name")
                    },
                )
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            expected = "Id, Name, NodeType, data_deps and runtime"
            raise ValueError(
                f"workload_graph[{index}]: expected a node with {expected}, got {str(error)!r}."
            ) from error
    return nodes


def _listed(value: Any) -> list[Any]:
    """Return a value as a list; nothing and None as an empty one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
