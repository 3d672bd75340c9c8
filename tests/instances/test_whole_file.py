from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from instances.whole_file import whole_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Tests that the old content stays until the end, that the ending is kept, and that nothing is left beside."""
    path = tmp_path / "a.json.gz"
    path.write_text("old")
    with whole_file(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
        assert partial.suffix == ".gz"
    assert path.read_text() == "new"
    assert [found.name for found in tmp_path.iterdir()] == ["a.json.gz"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    """Tests that a full disk or Ctrl-C in the middle leaves the old file as it was, and nothing beside it."""
    path = tmp_path / "ledger.json"
    path.write_text("old")
    with pytest.raises(type(error)), whole_file(path) as partial:
        partial.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["ledger.json"]
