"""Tests of the pieces of LaTeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.latex import booktabs, latex_heading, latex_text
from tests.check_latex import check_latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b% {x}", r"a\_b\% \{x\}"),
        (r"\$&#~^", r"\textbackslash{}\$\&\#\textasciitilde{}\textasciicircum{}"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ("[1] * 2", "{[}1] {*} 2"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        ("a\nb\tc\x1b", "a b c "),
        ("na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve", "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve"),
    ],
)
def test_text_is_shown_as_it_is(text: str, latex: str) -> None:
    """Tests that everything that means something to LaTeX is escaped, and nothing else changed."""
    assert latex_text(text) == latex


def test_headings_wrap_after_hyphens() -> None:
    """Tests that only a name with hyphens becomes a stack of lines."""
    assert latex_heading("area") == "area"
    assert latex_heading("join-aware-path") == r"\shortstack[r]{join-\\aware-\\path}"


def test_table() -> None:
    """Tests rules, rows, footer, notes and comments, which never reach into a line of their own."""
    table = booktabs("lr", ["a", "b"], [["x", "1"]], footer=[["mean", "2"]], comments=["one\ntwo"], notes=["n"])
    assert table == (
        "% one two\n\\begin{tabular}{lr}\n\\toprule\na & b \\\\\n\\midrule\nx & 1 \\\\\n\\midrule\nmean & 2 \\\\\n"
        "\\bottomrule\n\\multicolumn{2}{l}{\\footnotesize n} \\\\\n\\end{tabular}\n"
    )


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=20))
def test_any_name_compiles(name: str) -> None:
    """Tests that no name of ASCII characters breaks a table."""
    rows = check_latex(booktabs("lr", ["name", "value"], [[latex_text(name), "1"]], comments=[name]))
    assert len(rows) == 2
