"""Whether a table would compile: a reader of the little LaTeX that our tables use."""

from __future__ import annotations

import re

COMMANDS = {
    "begin",
    "end",
    "toprule",
    "midrule",
    "bottomrule",
    "multicolumn",
    "footnotesize",
    "shortstack",
    "dagger",
    "textbackslash",
    "textasciitilde",
    "textasciicircum",
    "textless",
    "textgreater",
    "textbar",
}
"""Commands that LaTeX and booktabs know without any other package."""


def check_latex(text: str) -> list[list[str]]:
    """Check commands, braces, dollars, environments and the number of cells; return the rows between the rules."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    body = "\n".join(lines)
    assert text.isascii() or not re.search(r"[^\x00-\x7f]", re.sub(r"[^\W\d_]", "", body)), "signs without a command"
    found = set(re.findall(r"\\([A-Za-z]+)", body.replace(r"\\", "")))
    assert found <= COMMANDS, found - COMMANDS
    bare = re.sub(r"\\\\|\\[A-Za-z]+|\\[{}$&%#_]", "", body)
    assert not re.search(r"[%#\\]", bare), "a sign that needs an escape"
    depth = 0
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0, "a brace that nothing opened"
    assert depth == 0, "a brace that nothing closes"
    pieces = bare.split("$")
    assert len(pieces) % 2 == 1, "an odd number of dollars"
    assert not re.search(r"[_^]", "".join(pieces[::2])), "an index outside formulas"
    assert re.findall(r"\\(begin|end)\{(\w+)\}", body) == [("begin", "tabular"), ("end", "tabular")]
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", body)
    assert columns is not None
    rows = [line for line in lines if line.endswith(r" \\") and not line.startswith(r"\multicolumn")]
    cells = [re.split(r"(?<!\\)&", row[: -len(r" \\")]) for row in rows]
    assert {len(row) for row in cells} == {len(columns[1])}, "rows of different length"
    assert not any(re.match(r"\s*[\[*]", row) for row in rows), "an option of the row before"
    for note in (line for line in lines if line.startswith(r"\multicolumn")):
        assert note.startswith(rf"\multicolumn{{{len(columns[1])}}}{{l}}{{")
    return [[cell.strip() for cell in row] for row in cells]
