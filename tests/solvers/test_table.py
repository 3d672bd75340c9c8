"""Tests of the table in every form: terminal, Markdown, LaTeX, CSV, JSON and HTML."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.table import Column, Shaded, Table, latex_heading, latex_number, latex_text, wide_tables
from tests.check_latex import check_latex

NAMES = ("gaussian-elimination-n14-s0", "pipeline-training-n16-s0", "erdos-renyi-n12-s0")
HEADINGS = ("instance", "tasks", "edges", "GPUs", "bound", "proved by", "seconds")


def _lines(table: str) -> list[str]:
    """Return the lines between the rules, without headings."""
    rules = [
        index
        for index, line in enumerate(table.splitlines())
        if line.strip().startswith("\N{BOX DRAWINGS LIGHT HORIZONTAL}")
    ]
    return table.splitlines()[rules[1] + 1 : rules[2]]


@pytest.mark.parametrize("proof", ["join-aware-path", "transfer-aware-path", "destructive"])
def test_no_name_is_cut_inside_a_word(proof: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that at 80 columns names of bounds and instances stay whole."""
    monkeypatch.setenv("COLUMNS", "80")
    rows = [[name, "14", "23", "3", "1234 *", proof, "12.34"] for name in NAMES]
    numbers = ("tasks", "edges", "GPUs", "bound", "seconds")
    table = Table(headings=HEADINGS, rows=rows, numbers=numbers).to_text()
    assert max(map(len, table.splitlines())) <= 80
    assert all(name in table for name in NAMES)
    assert {piece for line in _lines(table) for piece in line.split()} <= {
        "14",
        "23",
        "3",
        "1234",
        "*",
        "12.34",
        proof,
        *NAMES,
    }


def test_table_is_as_wide_as_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that where there is room nothing is wrapped, whatever there is more of."""
    monkeypatch.setenv("COLUMNS", "100")
    table = Table(headings=["a", "b"], rows=[["one-two three", "1"], ["x", "22"]]).to_text()
    assert _lines(table) == [" one-two three   1", " x              22"]


def test_widest_column_gives_way_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a long text is wrapped between words before a short one and before the first column."""
    monkeypatch.setenv("COLUMNS", "40")
    row = ["first-column", "some words that go on and on", "short one"]
    table = Table(headings=["name", "what", "why"], rows=[row], numbers=()).to_text()
    lines = _lines(table)
    assert lines[0].split()[0] == "first-column"
    assert "short one" in lines[0]
    assert len(lines) > 1
    words = " ".join(line.replace("short one", "") for line in lines).split()
    assert words == ["first-column", "some", "words", "that", "go", "on", "and", "on"]


@pytest.mark.parametrize("columns", range(12, 60, 7))
def test_nothing_is_lost_in_narrow_terminals(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that every letter is there, but those of columns that are named as left out, and no line is too long."""
    monkeypatch.setenv("COLUMNS", str(columns))
    row = ["first-column", "transfer-aware-path", "12345"]
    table = Table(headings=["name", "bound", "value"], rows=[row], numbers=["value"]).to_text()
    assert max(map(len, table.splitlines())) <= columns
    shown = "".join("".join(line.split()) for line in _lines(table))
    assert ("Not shown: value" in " ".join(table.split())) is (columns == 40)
    assert sorted(shown) == sorted("".join(row[:2] if columns == 40 else row))


def test_columns_that_do_not_fit_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a column goes rather than a word breaks or a row takes four lines, and that wide tables have all."""
    monkeypatch.setenv("COLUMNS", "40")
    table = Table(
        headings=["name", "mean", "interval", "what"],
        rows=[["a-srpt", "1.5", "[0.25, 1.75]", " ".join(["word"] * 12)]],
        numbers=["mean", "interval"],
        notes=["n"],
    )
    text = table.to_text()
    assert _lines(text) == [" a-srpt   1.5  [0.25, 1.75]"]
    assert " ".join(text.split()).endswith(" n Not shown: what; --wide shows every column.")
    with wide_tables():
        assert _lines(table.to_text()) == [f" a-srpt   1.5  [0.25, 1.75]  {' '.join(['word'] * 12)}"]
    assert table.to_text() == text


def test_caption_and_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a table without rows shows headings, title and caption."""
    monkeypatch.setenv("COLUMNS", "80")
    table = Table(headings=["a"], rows=[], title="t", notes=["c", "d"]).to_text()
    assert [table.splitlines()[0], *table.splitlines()[-2:]] == ["t", "c", "d"]


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


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("-", "--"),
        ("-<0.01", "$-{<}0.01$"),
        ("<0.01", r"\textless{}0.01"),
        ("[1.00, 2.00]", "$[1.00, 2.00]$"),
        ("12*\N{DAGGER}", r"12$^{*\dagger}$"),
        ("3.00+", "3.00$^{+}$"),
        ("1/2", "1/2"),
    ],
)
def test_numbers_have_signs_as_in_formulas(text: str, latex: str) -> None:
    """Tests dashes, signs, intervals and raised marks."""
    assert latex_number(text) == latex


def test_latex() -> None:
    """Tests rules, rows, footer, notes and comments, which never reach into a line of their own."""
    table = Table(headings=["a", "b"], rows=[["x", "1"], ["mean", "2"]], num_footers=1, title="T", notes=["* n"])
    lines = table.to_latex({"b": "$b$"}, comments=["one\ntwo"]).splitlines()
    assert lines[0].startswith("% T; optgap ")
    assert "\n".join(lines[1:]) == (
        "% one two\n\\begin{tabular}{lr}\n\\toprule\na & $b$ \\\\\n\\midrule\nx & 1 \\\\\n\\midrule\nmean & 2 \\\\\n"
        "\\bottomrule\n\\multicolumn{2}{l}{\\footnotesize $^{*}$ n} \\\\\n\\end{tabular}"
    )


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=20))
def test_any_name_compiles(name: str) -> None:
    """Tests that no name of ASCII characters breaks a table."""
    rows = check_latex(Table(headings=["name", "value"], rows=[[name, "1"]], title=name).to_latex())
    assert len(rows) == 2


RECORDS = [{"name": "a", "gap": 0.5, "count": 3}, {"name": "b", "gap": math.nan, "count": None}]
COLUMNS = (
    Column("method", "name"),
    Column("gap %", "gap", lambda gap: "-" if math.isnan(gap) else f"{100 * gap:.2f}", is_number=True),
    Column("all", lambda record: record["count"] or 0, is_number=True),
)


def test_all_forms_show_the_same() -> None:
    """Tests texts made by columns, and the numbers behind them in CSV, JSON and a data frame."""
    table = Table.of(COLUMNS, RECORDS, title="T & t", notes=["n|n"], records=RECORDS, name="key")
    assert (table.rows, table.is_number) == ((("a", "50.00", "3"), ("b", "-", "0")), [False, True, True])
    assert table.to_csv() == "name,gap,count\na,0.5,3\nb,,\n"
    assert table.to_dict()["rows"] == [{"name": "a", "gap": 0.5, "count": 3}, {"name": "b", "gap": None, "count": None}]
    assert table.to_frame()["gap"].tolist()[0] == 0.5
    assert table.to_markdown().splitlines()[:5] == [
        "**T &amp; t**",
        "",
        "| method | gap % | all |",
        "| --- | ---: | ---: |",
        "| a | 50.00 | 3 |",
    ]
    assert table.to_markdown().endswith("|\n\n- n\\|n\n")
    assert str(table) == table.to_text()


def test_texts_are_the_records_of_a_table_without_any() -> None:
    """Tests CSV of a table of texts, and of one with fields but no records."""
    assert Table(headings=["a", "b"], rows=[["x", "1"]]).to_csv() == "a,b\nx,1\n"
    assert Table(headings=["a"], rows=[], fields=["one", "two"]).to_csv() == "one,two\n"


def test_html_is_escaped_and_aligned() -> None:
    """Tests cells, colours, groups of headings, and a note, in a page and in a notebook."""
    cells = ["<b>", Shaded("1", "#ff0000"), "x" * 25]
    table = Table(headings=["a", "b", "c"], rows=[cells], numbers=["b"], title="T", notes=["n & n"])
    page = table.to_html(identifier="here", groups=[("", 1), ("g", 2)])
    assert '<table id="here"><caption><span><b>T.</b> n &amp; n</span></caption>' in page
    assert '<th scope="colgroup" colspan="2">g</th>' in page
    assert '<th scope="row">&lt;b&gt;</th>' in page
    assert '<td class="number first" style="background:#ff0000">1</td>' in page
    assert f'<td class="long">{"x" * 25}</td>' in page
    assert 'style="text-align:right;background:#ff0000">1</td>' in table._repr_html_()
    several = Table(headings=["a"], rows=[], notes=["one", "two"]).to_html()
    assert '<li class="note">two</li>' in several
    assert "<caption>" not in several
