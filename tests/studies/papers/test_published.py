"""Tests that published tables come out of the kept runs, and that every statement that compares has its table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from instances.text_file import read_text
from studies.experiment.read_specification import shipped_specs
from studies.papers import published
from studies.papers.published import (
    FOLDER,
    GREEDY,
    HEFT,
    MAKERS,
    UNTRAINED,
    claims,
    kept_studies,
    network_shares,
    published_table,
    published_tables,
    table_names,
)

if TYPE_CHECKING:
    from tests.studies.run_command import Run

ROOT = Path(__file__).parents[3]
MOST_BYTES = 15 * 2**20
QUICK = ("online-by-load", "marl-control-fresh")
"""Tables that are made by default; the others take longer."""

PAGES = ("README.md", "studies/README.md")
COMPARING = re.compile(
    r"\b(better|worse|best|worst|smaller|larger|lower|higher|faster|slower|shorter|longer|beats?|loses?|exceeds?|"
    r"more than|less than|fewer|outperforms?|significant(ly)?|as good as|as well|twice as|times as|against \d+|"
    r"falls?|rises?|agrees?|repeats|repeated|optimal|proved all|proves all|median ratio|same \w+ optima|acts on)\b|"
    r"\d %"
)
"""Words of a statement that compares methods."""

NO_COMPARISON = re.compile(
    r"lower bounds?|best (proven|heuristic|schedule|bounds)|worst minus the best|worst cases?|thing better exists|"
    r"less than a minute|works as well|worse instances may exist|the rise is paired|best that is known|"
    r"95 % bootstrap|the first 2\.5 % and the last 10 %"
)
"""Uses of these words that compare nothing."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in table_names()]
)
def test_table_comes_out_of_the_kept_runs(name: str) -> None:
    """Tests that the page shows the table as the kept runs give it, to the last digit."""
    page = (ROOT / published_tables()[name].page).read_text(encoding="utf-8")
    made = "\n".join(table.to_markdown() for table in published_table(name))
    assert made.strip()
    assert made in page


def test_shares_and_gaps_by_hand() -> None:
    """Tests the tables of rows: overflow counts before the makespan, and instances without an optimum do not count."""
    found = {
        HEFT: [(0, 10), (0, 10), (0, 10), (0, 10)],
        GREEDY: [(0, 30), (0, 5), (5, 1), (0, 9)],
        "net": [(0, 9), (0, 10), (0, 11), (3, 1)],
        f"net{UNTRAINED}": [(0, 10), (0, 10), (0, 10), (9, 1)],
    }
    rows = [
        {"contestant": name, "instance": number, "overflow": overflow, "makespan": makespan}
        for name, pairs in found.items()
        for number, (overflow, makespan) in reversed(list(enumerate(pairs)))
    ]
    (table,) = network_shares(pd.DataFrame(rows))
    assert table.to_markdown().splitlines()[-1] == "| net | 4 | 50.0% | 50.0% | 25.0% | 25.0% | 1.025 |"
    runs = [("a", "x", 0.125, 8, True), ("a", "y", None, 8, True), ("b", "x", 0.0, 9, False), ("b", "y", 0.5, 9, False)]
    columns = ["instance", "label", "gap", "bound", "is_optimum"]
    (rows,) = MAKERS["gaps-by-instance"](pd.DataFrame(runs, columns=columns))
    assert rows.to_markdown().splitlines()[2:] == ["| a | 8 | 12.5 | - |", "| b | 9 (bound) | 0.0 | 50.0 |"]
    runs = [("a", "exact", 10, 10), ("a", "rule", 11, 0), ("b", "exact", 9, 8), ("b", "rule", 9, 0)]
    (gaps,) = MAKERS["gaps-to-optima"](pd.DataFrame(runs, columns=["instance", "method", "objective", "bound"]))
    assert gaps.to_markdown().splitlines()[2:] == ["| exact | 0.0 | 0.0 | 1 |", "| rule | 10.0 | 10.0 | 1 |"]
    name = "published N = 3"
    runs = [(name, 1, -8.0, -9.0), (name, 0, -8.0, -8.0), (f"{name}, minus sign", 0, -8.0, -7.0)]
    runs += [(f"{name}, minus sign", 1, -8.0, -8.0)]
    frame = pd.DataFrame(runs, columns=["variant", "seed", "first", "last"])
    (signs,) = MAKERS["actor-critic-published"](frame.assign(rise=frame["last"] - frame["first"]))
    printed, minus = ("-8.00 ± 0.00 -> -8.50 ± 0.50 | -0.50 ± 0.50", "-8.00 ± 0.00 -> -7.50 ± 0.50 | +0.50 ± 0.50")
    assert signs.to_markdown().splitlines()[-1] == f"| N = 3 | -7.5 | {printed} | {minus} | +1.00 ± 0.00 |"


def test_factors_by_budget() -> None:
    """Tests that every budget has a column, where a construction stands too, and that a contrast is at one budget."""
    one, two, none = "2 evaluations", "20 evaluations", "-"
    runs = [("a", "net; x", one, 0.4), ("a", "net; x", two, 0.2), ("a", "heft; x", none, 0.5)]
    runs += [("b", "net; x", one, 0.2), ("b", "net; x", two, 0.1), ("b", "heft; x", none, 0.1)]
    rows = [
        {"instance": name, "sha256": name, "cluster": "c", "label": label, "kind": "search", "budget": budget}
        | {"gap": gap, "objective": 10 + 10 * gap, "bound": 10, "repetition": 0, "is_optimum": False, "error": None}
        for name, label, budget, gap in runs
    ]
    (table,) = MAKERS["factors"](pd.DataFrame(rows), ["placement", "order"], ["cluster", "budget"])
    assert table.headings[2:] == (f"world c, {one}", f"world c, {two}")
    assert table.rows[:2] == (("net", "x", "30.00", "15.00"), ("heft", "x", "30.00", "30.00"))
    (pairs,) = MAKERS["contrasts"](pd.DataFrame(rows), [["net; x", "heft; x"]], budget=two)
    assert pairs.rows[0][2:4] == ("15.00 against 30.00", "-15.00")


def test_what_is_kept() -> None:
    """Tests that files and entries agree, that specifications are shipped, and that all files are small enough."""
    kept = kept_studies()
    assert {each.path for each in kept.values()} == set(FOLDER.glob("*.json.gz"))
    assert {table.kept for table in published_tables().values()} - {None} == set(kept)
    names = {name.replace("_", "-") for name in shipped_specs()}
    assert all(each.command.split()[3] in names for each in kept.values() if each.rows_by is None)
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES
    for table in published_tables().values():
        told = (table.cost, table.heading)
        assert told == (None, None) if table.make else None not in told, table.name
        assert (table.command is None) == (table.kept is not None), table.name
        assert (ROOT / table.page).is_file()


@pytest.mark.slow
def test_every_table_of_a_page_is_listed() -> None:
    """Tests that pages show no table of numbers that is neither made from kept runs nor named as not kept."""
    made = [table.to_markdown() for name in table_names() for table in published_table(name)]
    headings = [table.heading for table in published_tables().values() if table.heading]
    for path in [ROOT / "studies" / "README.md", *(ROOT / "studies" / "results").glob("*.md")]:
        for shown in re.findall(r"(?:^\|.*\n)+", path.read_text(encoding="utf-8"), re.MULTILINE):
            is_listed = any(shown in text for text in made) or any(shown.startswith(heading) for heading in headings)
            assert is_listed or not re.search(r"\| -?\d+[\d.]* \|", shown), f"{path.name}: {shown[:80]}"


def statements(page: str) -> list[str]:
    """Return the sentences of a page that compare, without tables, code and headings, in one line each."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not re.match(r"\s*(\||#|!\[|- )", line)]
    blocks = re.split(r"\n\s*\n|\n(?=\* )", "\n".join(lines))
    sentences = [one for block in blocks for one in re.split(r"(?<=[.:;])\s+(?=[A-Z`*(])", " ".join(block.split()))]
    return [one for one in sentences if COMPARING.search(NO_COMPARISON.sub("", one))]


@pytest.mark.parametrize("page", PAGES)
def test_every_statement_that_compares_has_a_table(page: str) -> None:
    """Tests that each such sentence holds the text of a claim, and that each claim is in a sentence."""
    texts = [claim.text for claim in claims() if claim.page == page]
    found = statements(page)
    assert [one for one in found if not any(text in one for text in texts)] == []
    assert [text for text in texts if not any(text in one for one in found)] == []


NUMBER = re.compile(r"(?<![\w./])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
SETTING = re.compile(r"p < 0\.\d+|loads? [\d., and]*\d")
"""Numbers in a text, and those among them that are no results."""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_numbers_of_claims_are_in_their_tables(page: str) -> None:
    """Tests that every percentage and decimal of these sentences is a rounded number of a table of its claims.

    "2 % better" may stand for a ratio of 1.02 or of 0.98.
    """
    made: dict[str, list[float]] = {}
    for sentence in statements(page):
        names = {claim.table for claim in claims() if claim.page == page and claim.text in sentence}
        for name in names - set(made):
            text = "\n".join(table.to_markdown() for table in published_table(name))
            found = [float(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)]
            near = [each for each in found if 0.5 < each < 2]
            made[name] = [*found, *(100 * abs(each - 1) for each in near), *(100 * abs(1 / each - 1) for each in near)]
        known = [number for name in names for number in made[name]]
        results = SETTING.sub("", sentence)
        for told in NUMBER.finditer(results):
            text = told.group().replace(",", "")
            if "." in text or re.match(r"( (and|to) [\d.]+)* %", results[told.end() :]):
                half = 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-9
                assert any(abs(number - float(text)) <= half for number in known), f"{told.group()}: {sentence}"


def test_claims_name_tables() -> None:
    """Tests that the table of every claim is published."""
    assert {claim.table for claim in claims()} <= set(published_tables())


def test_misuse_is_named(run: Run, tmp_path: Path) -> None:
    """Tests the messages for an unknown table and for half of the options that keep a study."""
    ended = run("study", "published", "nothing")
    assert ended.status == 2
    assert "expected one of online" in ended.err
    ended = run("study", "published", "--keep", str(tmp_path))
    assert (ended.status, "--keep: expected a folder together with the file of --out" in ended.err) == (2, True)
    ended = run("study", "published", "--measured")
    assert (ended.status, "--measured: expected --keep with it" in ended.err) == (2, True)
    ended = run("study", "published", "--restore", str(tmp_path / "new"))
    assert (ended.status, "--restore: expected the name of a table with it" in ended.err) == (2, True)
    with pytest.raises(ValueError, match="table: expected one whose runs are kept"):
        published_table("nothing")


def test_lists_and_restored_stores(run: Run, tmp_path: Path) -> None:
    """Tests that all tables and claims are listed, and that a restored store can be tabulated like any other."""
    listed = run("study", "published", "--json").document["tables"][0]["rows"]
    assert [row["name"] for row in listed] == list(published_tables())
    told = run("study", "published", "--claims", "--json").document["tables"][0]["rows"]
    assert [(row["text"], row["table"]) for row in told] == [(claim.text, claim.table) for claim in claims()]
    assert all(row["command"] for row in told)
    assert run("study", "published", "marl-control-fresh", "--restore", str(tmp_path / "new")).status == 0
    assert "phi 5/2" in run("study", "table", str(tmp_path / "new"), "--what", "gaps").out
    assert run("study", "published", "--keep", str(tmp_path / "new"), "--out", str(tmp_path / "x.json.gz")).status == 0
    kept = kept_studies()["marl_control_fresh"]
    assert read_text(tmp_path / "x.json.gz") == read_text(kept.path)


def test_changed_runs_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests that a table is not made from a file with other content than the list of tables says."""
    (tmp_path / "tables.toml").write_text((FOLDER / "tables.toml").read_text().replace('sha256 = "', 'sha256 = "0'))
    (tmp_path / "online.json.gz").write_bytes((FOLDER / "online.json.gz").read_bytes())
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"online\.json\.gz: expected the content 0"):
        published_table("online-by-load")
