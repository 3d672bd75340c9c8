"""Tests that every block of code on the documentation site runs as it stands, or says why it is not run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import optgap
from instances.readers.optgap_json import CODECS, problem_of_text
from solvers.workloads import verify
from studies.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "instances/library/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if ROOT / "docs" / "more" not in path.parents),
    *sorted((ROOT / "studies").rglob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.ipynb")),
]
RUN_ELSEWHERE = "docs/extending.md"  # test_extending.py runs its blocks, which build on one another
NOT_RUN = re.compile(r"# not run by the tests(?: of this page)?, (?:because|which) \S+")
COMMAND = re.compile(r"^\s*(?:\$ |(?:optgap|python3?|pip|pytest|sphinx-build) )|^(?:import|from) \w", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: the word behind its fence, the comment of HTML above it, and what is in it."""

    place: str
    language: str
    mark: str
    text: str


@cache
def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page; of a notebook those in its texts, for its cells run with the notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] != "code")
    blocks, lines = [], text.splitlines()
    begin = None
    for number, line in enumerate(lines):
        if not re.match(r" *```", line):
            continue
        if begin is None:
            begin = number
            continue
        mark = re.fullmatch(r"<!-- (.+) -->", lines[begin - 1]) if begin else None
        place = f"{page.relative_to(ROOT)}:{begin + 1}"
        language = lines[begin].strip(" `")
        blocks.append(Block(place, language, mark[1] if mark else "", "\n".join(lines[begin + 1 : number]) + "\n"))
        begin = None
    assert begin is None, f"{page}: a block has no end"
    return blocks


def is_run(block: Block) -> bool:
    """Tell whether the tests of this file run a block: `.ci/run` runs those with a mark, some say why nobody does."""
    return not block.mark.startswith("command: ") and not NOT_RUN.match(block.text)


def test_every_block_says_what_it_is() -> None:
    """Tests that whatever looks like a command is in a block that is run, and that `.ci/run` runs the marked ones."""
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for page in PAGES:
        for block in blocks_of(page):
            assert re.fullmatch(r"|text|json|toml|python|bash|\{[\w-]+\}.*", block.language), block.place
            if block.language in ("", "text"):
                assert not COMMAND.search(block.text), f"{block.place}: give this block a language, so that it is run"
            if block.mark.startswith("command: "):
                assert re.search(rf"\b{block.mark.removeprefix('command: ')}\b", commands), block.place


def test_commands_have_these_options() -> None:
    """Tests, also for blocks that are not run, that every command of the pages exists and has the options it gets."""
    lines = [
        (block.place, line)
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "bash"
        for line in re.split(r"\n|&& ", block.text)
        if line.startswith("optgap ")
    ]
    assert len(lines) > 30
    for place, line in lines:
        command, arguments = get_command(app), shlex.split(line, comments=True)[1:]
        context = command.make_context("optgap", list(arguments))
        while isinstance(command, TyperGroup):
            name, command, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
            assert command is not None, f"{place}: {name}"
            context = command.make_context(name, list(arguments), parent=context)  # refuses what it does not know


def test_documents_are_read() -> None:
    """Tests that specifications are TOML, instances are read, and schedules verify on the instance before them."""
    count = 0
    for block in (block for page in PAGES for block in blocks_of(page)):
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json" and "-schedule" not in block.text:
            codec = CODECS[problem_of_text(block.text)]
            instance = codec.instance_from_json(block.text)
        elif block.language == "json":
            schedule = codec.schedule_from_json(block.text, instance)
            assert verify(instance, schedule) == [], block.place
            count += 1
    assert count == len(CODECS)


WITH_PYTHON = [page for page in PAGES if any(block.language == "python" and is_run(block) for block in blocks_of(page))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that each block of Python runs by itself in an empty folder."""
    if str(page.relative_to(ROOT)) == RUN_ELSEWHERE:
        return
    monkeypatch.chdir(tmp_path)
    for block in blocks_of(page):
        if block.language == "python" and is_run(block):
            exec(compile(block.text, block.place, "exec"), {"__name__": "__main__"})


WITH_COMMANDS = [page for page in PAGES if any(block.language == "bash" and is_run(block) for block in blocks_of(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_run(page: Path, tmp_path: Path) -> None:
    """Tests that the commands of a page run in its order in a new folder with its files, and print what it shows."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, program in (("optgap", "-m optgap"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {program} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    folder, printed = tmp_path / "folder", ""
    folder.mkdir()
    for number in range(FILES_OF_A_READER.get(str(page.relative_to(ROOT)), 0)):
        instance = optgap.generate("layered", tasks=8, seed=number)
        optgap.write(instance, folder / f"{'abc'[number]}.json")
    for block in blocks_of(page):
        if block.mark.startswith("file: "):
            (folder / block.mark.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        elif block.mark == "prints":
            assert block.text.strip() in printed, block.place
        elif block.language == "bash" and is_run(block):
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, f"{block.place}: {ended.stderr[-2000:]}"
            printed = ended.stdout


FILES_OF_A_READER = {"docs/uses/paper_table.md": 3}
"""Instances `a.json`, `b.json`, ... that a page expects the reader to have."""
