"""Change the code in one place at a time and tell which test notices: ``python -m tests.mutants --seed 0 --count 30``.

Verifiers, bounds, decoders, the simulator and statistics take turns; the seed chooses places and changes. Each mutant
is a copy of the working tree in which the tests that mirror the changed module run first, and then, if they pass, all
tests of the default run. A run that exceeds its time limit has noticed the change too.
"""

from __future__ import annotations

import argparse
import ast
import bisect
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PACKAGES = ("optgap", "instances", "formulations", "heuristics", "solvers", "studies")
TARGETS = {
    "verifier": ("instances/dag/verify.py", "instances/jobs/verify.py"),
    "bounds": ("formulations/dag/bounds/*.py", "formulations/dag/probing/*.py", "formulations/jobs/bounds/*.py"),
    "decoder": (
        "heuristics/dag/list_scheduling.py",
        "heuristics/dag/dynamic_list_scheduling.py",
        "heuristics/dag/timeline.py",
        "heuristics/dag/random_keys.py",
        "heuristics/dag/network_interfaces.py",
    ),
    "simulator": ("heuristics/jobs/simulator.py", "heuristics/jobs/placements/*.py"),
    "statistics": ("studies/analysis/*.py",),
}
"""Files of each kind of code; mutants are spread evenly over the kinds."""

COMPARISONS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
               ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")}  # fmt: skip
OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.FloorDiv: ("//", "*")}
OPPOSITES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
SKIPPED_FUNCTIONS = ("__repr__", "__str__")
TEXT = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
MIRRORED_SECONDS, ALL_SECONDS = 900, 3600
"""Time limits of the two runs."""


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from `start` to `end` of a file become `text`."""

    path: str
    line: int
    column: int
    start: int
    end: int
    before: str
    text: str

    def apply(self, root: Path) -> None:
        """Change the file of a copy of the tree."""
        source = (root / self.path).read_bytes()
        (root / self.path).write_bytes(source[: self.start] + self.text.encode() + source[self.end :])


class Places(ast.NodeVisitor):
    """Collects the mutants of one file; what only words, types or compiler options are is skipped."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.found: list[Mutant] = []
        self.offsets = [0]
        for line in source.splitlines(keepends=True):
            self.offsets.append(self.offsets[-1] + len(line))
        self.visit(ast.parse(source))

    def visit(self, node: ast.AST) -> None:
        """Visit a node unless it is a message, an import or a class of constants for type checkers."""
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Visit defaults and body, not decorators and annotations."""
        if node.name not in SKIPPED_FUNCTIONS:
            for child in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
                self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body."""
        for child in node.body:
            self.visit(child)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Change the first comparison."""
        if change := COMPARISONS.get(type(node.ops[0])):
            self._between(node.left, node.comparators[0], *change)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Change the operator, except between texts and lists."""
        is_text = any(
            isinstance(side, TEXT) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
            for side in (node.left, node.right)
        )
        if not is_text and (change := OPERATORS.get(type(node.op))):
            self._between(node.left, node.right, *change)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Change what is added or subtracted."""
        if not isinstance(node.value, TEXT) and (change := OPERATORS.get(type(node.op))):
            self._between(node.target, node.value, *(f"{sign}=" for sign in change))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap `and` and `or` after the first operand."""
        change = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self._between(node.values[0], node.values[1], *change)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Swap functions with an opposite."""
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in OPPOSITES:
            end = self._offset(node.func.end_lineno, node.func.end_col_offset)
            self._add(end - len(name), end, OPPOSITES[name])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Add one to an integer."""
        if type(node.value) is int:
            start = self._offset(node.lineno, node.col_offset)
            self._add(start, self._offset(node.end_lineno, node.end_col_offset), str(node.value + 1))

    def _between(self, left: ast.expr, right: ast.expr, sign: str, other: str) -> None:
        """Replace the operator between two operands."""
        start = self._offset(left.end_lineno, left.end_col_offset)
        gap = self.source[start : self._offset(right.lineno, right.col_offset)].decode()
        found = re.search(rf"(?<![\w]){re.escape(sign)}(?![\w])", gap.partition("#")[0])
        if found is not None:
            self._add(start + found.start(), start + found.end(), other)

    def _add(self, start: int, end: int, text: str) -> None:
        """Add a mutant."""
        line = bisect.bisect_right(self.offsets, start)
        place = line, start - self.offsets[line - 1] + 1
        self.found.append(Mutant(self.path, *place, start, end, self.source[start:end].decode(), text))

    def _offset(self, line: int | None, column: int | None) -> int:
        """Return the number of bytes before a place."""
        assert line is not None
        assert column is not None
        return self.offsets[line - 1] + column


def mutants(seed: int, count: int, root: Path = ROOT) -> list[Mutant]:
    """Return different mutants, the kinds of code in turn."""
    rng = random.Random(seed)
    kinds = []
    for patterns in TARGETS.values():
        paths = sorted(path for pattern in patterns for path in root.glob(pattern))
        kinds.append(
            [mutant for path in paths for mutant in Places(str(path.relative_to(root)), path.read_bytes()).found]
        )
    chosen = []
    for number in range(count):
        places = kinds[number % len(kinds)]
        chosen.append(places.pop(rng.randrange(len(places))))
    return chosen


def mirrored_tests(path: str, root: Path) -> list[str]:
    """Return the test files of a module; those of its folder if it has none."""
    module = Path(path)
    folder = root / "tests" / module.parent
    found = sorted(folder.glob(f"test_{module.stem}.py")) or sorted(folder.glob("test_*.py"))
    return [str(one.relative_to(root)) for one in found]


def dependents(path: str, root: Path) -> set[str]:
    """Return the files that import a module directly or through others, itself included."""
    imported = {}
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            names = set()
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            imported[str(file.relative_to(root))] = names
    found, more = {path}, {path}
    while more:
        names = {one.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for one in more}
        more = {file for file, of_file in imported.items() if of_file & names} - found
        found |= more
    return found


def copy_tree(target: Path, changed: str) -> None:
    """Copy the files of the working tree, and those compiled kernels that do not depend on a changed module.

    Numba's on-disk cache notices changes of a kernel's own file only, not of the modules that it calls.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    stale = {(str(Path(file).parent), Path(file).stem) for file in dependents(changed, ROOT)}
    for kernel in (file for package in PACKAGES for file in (ROOT / package).rglob("*.nb[ic]")):
        if (str(kernel.parent.parent.relative_to(ROOT)), kernel.name.partition(".")[0]) not in stale:
            files.append(kernel)
    for file in files:
        copy = target / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy)  # with its time, by which Numba knows kernels that are up to date
    if (ROOT.parent / "shared").exists():
        (target.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())


def killed_by(root: Path, tests: list[str], seconds: int, options: list[str]) -> str | None:
    """Return the first test that fails in a copy, or None."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    process = subprocess.Popen(
        [*command, *options, *tests], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"time limit of {seconds} s"
    if process.returncode in (0, 5):  # passed, or nothing to run
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
    return found[1] if found else f"exit status {process.returncode}"


def outcome(mutant: Mutant, options: list[str], *, is_mirrored_only: bool) -> str:
    """Return which test noticed a mutant, or that none did."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        root = Path(folder) / "repository"
        copy_tree(root, mutant.path)
        mutant.apply(root)
        killer = killed_by(root, mirrored_tests(mutant.path, root), MIRRORED_SECONDS, [])
        if killer is None and not is_mirrored_only:
            killer = killed_by(root, [], ALL_SECONDS, options)
    return f"killed by {killer}" if killer else "survived"


def _rows(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of the table, each when its mutant has been tried."""
    yield "| number | place | change | outcome |"
    yield "|---|---|---|---|"
    for number, mutant in enumerate(mutants(arguments.seed, arguments.count)):
        if arguments.only in (None, number):
            line = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
            found = (
                "not tried"
                if arguments.list
                else outcome(mutant, arguments.pytest, is_mirrored_only=arguments.mirrored)
            )
            change = f"`{mutant.before}` to `{mutant.text}` in `{line}`"
            yield f"| {number} | {mutant.path}:{mutant.line}:{mutant.column} | {change} | {found} |"


def main() -> None:
    """Try mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="chooses the mutants")
    parser.add_argument("--count", type=int, default=30, help="number of mutants")
    parser.add_argument("--only", type=int, help="try the mutant of this number only")
    parser.add_argument("--list", action="store_true", help="print the mutants without trying them")
    parser.add_argument("--mirrored", action="store_true", help="run only the tests that mirror the changed module")
    parser.add_argument("pytest", nargs="*", help="options for the run of all tests, after --, such as -n auto")
    for row in _rows(parser.parse_args()):
        print(row, flush=True)


if __name__ == "__main__":
    main()
