"""Tests that files are written where they are named, that nothing is made in vain, and what cannot be is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from studies.cli.output import check_outputs, write_figure, write_text_output
from studies.input import BadInputError
from studies.report.figure_style import new_axes

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_not_named_is_not_made() -> None:
    """Tests that without a path nobody writes, composes or draws."""
    write_text_output(None, lambda: pytest.fail("composed"))
    write_figure(None, lambda: pytest.fail("drawn"))


def test_text_and_figure(tmp_path: Path) -> None:
    """Tests UTF-8, the format by the ending, and that dots per inch count."""
    write_text_output(tmp_path / "t.md", lambda: "\u03b1 \u2264 1\n")
    assert (tmp_path / "t.md").read_bytes() == b"\xce\xb1 \xe2\x89\xa4 1\n"
    widths = []
    for dpi in (50, 100):
        write_figure(tmp_path / "f.png", lambda: new_axes(2, 1), dpi=dpi)
        content = (tmp_path / "f.png").read_bytes()
        assert content.startswith(b"\x89PNG")
        widths.append(int.from_bytes(content[16:20], "big"))
    assert widths[1] == 2 * widths[0]
    write_figure(tmp_path / "f.svg", lambda: new_axes(2, 1))
    assert "<svg" in (tmp_path / "f.svg").read_text(encoding="utf-8")


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Tests a folder that is not there, before work begins and after it, and the ending of a figure."""
    path = tmp_path / "none" / "t.md"
    for call in (lambda: write_text_output(path, str), lambda: check_outputs([], [path])):
        with pytest.raises(BadInputError, match=r"t\.md: expected a file that can be written, got: no such file"):
            call()
    with pytest.raises(BadInputError, match=r"f\.jpg: expected a name that ends in \.png or \.pdf or \.svg\.$"):
        check_outputs([], [], figure=tmp_path / "f.jpg")
    with pytest.raises(BadInputError, match=r"f\.png: expected a file of its own for each output, got it twice\.$"):
        check_outputs([], [tmp_path / "f.png"], figure=tmp_path / "f.png")
    with pytest.raises(BadInputError, match=r"f\.png: expected another file to write than the one that is read\.$"):
        check_outputs([tmp_path / "f.png"], [], figure=tmp_path / "f.png")
    assert list(tmp_path.iterdir()) == []
