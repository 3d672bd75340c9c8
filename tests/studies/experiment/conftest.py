from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from studies.experiment.run_study import run_study
from tests.studies.experiment.study_specs import MY_METHODS, small_spec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def finished_small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small study in one worker process without any disturbance; it is read only, or copied."""
    folder = tmp_path_factory.mktemp("finished")
    run_study(small_spec(), folder, workers=1)
    return folder


@pytest.fixture
def my_methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the module `my_methods` importable, here and in workers."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "my_methods.py").write_text(MY_METHODS)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)
