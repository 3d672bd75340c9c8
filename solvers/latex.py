"""Small pieces of LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    "`": "{`}",
    # At the start of a row these would be taken for options of the command that ends the row before.
    "[": "{[}",
    "*": "{*}",
}


def latex_text(text: str) -> str:
    """Return a text that LaTeX shows as it is; control characters become spaces, names are free text."""
    escaped = "".join(_ESCAPED.get(letter, letter if letter.isprintable() else " ") for letter in text)
    while "--" in escaped:  # no ligatures: two hyphens stay two hyphens
        escaped = escaped.replace("--", "-{}-")
    return escaped


def latex_heading(text: str) -> str:
    """Return a heading that is narrow: a new line after every hyphen."""
    pieces = [latex_text(piece) for piece in text.split("-")]
    return pieces[0] if len(pieces) == 1 else r"\shortstack[r]{" + r"-\\".join(pieces) + "}"


def booktabs(
    alignment: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    footer: Sequence[Sequence[str]] = (),
    comments: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    r"""Return a table for the package booktabs.

    Parameters
    ----------
    alignment
        One letter per column, such as ``lrr``.
    headings, rows
        Cells, already LaTeX.
    footer
        Rows below a second rule, already LaTeX.
    comments
        Lines before the table that LaTeX skips, plain text.
    notes
        Lines below the table, already LaTeX.
    """
    lines = [f"% {' '.join(comment.split())}" for comment in comments]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", latex_row(headings), r"\midrule"]
    lines += [latex_row(row) for row in rows]
    if footer:
        lines += [r"\midrule", *(latex_row(row) for row in footer)]
    lines.append(r"\bottomrule")
    lines += [rf"\multicolumn{{{len(alignment)}}}{{l}}{{\footnotesize {note}}} \\" for note in notes]
    lines.append(r"\end{tabular}")
    return "\n".join(lines) + "\n"


def latex_row(cells: Sequence[str]) -> str:
    r"""Return one row of a table."""
    return " & ".join(cells) + r" \\"
