"""Execution traces of MLCommons Chakra, written byte by byte for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instances.readers.dag.chakra_format import NODE_TYPES

if TYPE_CHECKING:
    from pathlib import Path


def varint(value: int) -> bytes:
    """Return an integer, seven bits per byte."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def part(number: int, value: int | bytes | str) -> bytes:
    """Return one field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def attribute(name: str, value: Any) -> bytes:
    """Return an attribute: an integer, a text, or a list of texts."""
    if isinstance(value, list):
        return part(1, name) + part(30, b"".join(part(1, text) for text in value))
    return part(1, name) + part(9 if isinstance(value, int) else 29, value)


def node(number: int, name: str, kind: str, deps: tuple[int, ...] = (), micros: int = 0, **attributes: Any) -> bytes:
    """Return a node; its data dependencies are packed, as most writers do it."""
    packed = b"".join(varint(each) for each in deps)
    found = part(1, number) + part(2, name) + part(3, NODE_TYPES.index(kind)) + part(5, packed) + part(7, micros)
    return found + b"".join(part(10, attribute(key, value)) for key, value in attributes.items())


def trace(*nodes: bytes, schema: str = "1.0.2-chakra.0.0.4") -> bytes:
    """Return a whole file."""
    messages = [part(1, "0.0.4") + part(2, attribute("schema", schema)), *nodes]
    return b"".join(varint(len(message)) + message for message in messages)


def write_ranks(folder: Path, *ranks: bytes) -> Path:
    """Write a file per rank; return that of rank 0."""
    for rank, content in enumerate(ranks):
        (folder / f"job.{rank}.et").write_bytes(content)
    return folder / "job.0.et"
