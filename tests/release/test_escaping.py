"""Escaping formulas: nothing a spreadsheet would run is left, and nothing is lost by it."""

import csv
import io
import json
import random
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import shoal
from reference import release as oracle
from shoal.audit.published import plain_text
from shoal.release.cells import escape, risky, unescape

SIGNS = "=+-@\t\r"
TEXTS = st.text(st.sampled_from("'=+-@\t\r\n15.eE ax[\","), max_size=6) | st.text(max_size=6)
LABELS = ("=a", "'=a", "''=a", "-x", "@", "+1a", "\tq", "\rz", "[x]", '["=a"]', "-5", "'-5", "'b")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "feather", "xlsx", "csv.gz", "jsonl.zst")


def is_number(text: str) -> bool:
    """Return whether a text is a JSON number."""
    try:
        return isinstance(json.loads(text), int | float) and text == text.strip()
    except ValueError:
        return False


def runs(text: str) -> bool:
    """Return whether a spreadsheet runs a cell, by the definition alone."""
    return text[:1] in set(SIGNS) and not is_number(text)


@example(texts=["'=1", "=1", "''=1", "-5", "'-5", "'", "", "-", "\t", "'\r"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=30))
def test_what_is_escaped_comes_back_and_does_not_run(texts: list[str]) -> None:
    cells = pl.Series(texts, dtype=pl.String)
    escaped = escape(cells)
    assert unescape(escaped).to_list() == texts
    assert len(set(escaped)) == len(set(texts))
    assert [text for text in escaped if runs(text)] == []
    assert risky(cells).to_list() == [runs(text) for text in texts]


def test_every_short_text_comes_back() -> None:
    # 19,531 texts, among them every way to put apostrophes before signs and numbers.
    texts = ["".join(t) for size in range(7) for t in product("'=-5a", repeat=size)]
    escaped = escape(pl.Series(texts))
    assert unescape(escaped).to_list() == texts
    assert escaped.n_unique() == len(texts)
    assert not any(map(runs, escaped))


def people(seed: int) -> pl.DataFrame:
    """Return a table whose headers, labels and cells all look like formulas."""
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "=age": [chance.randint(-9, 20) for _ in range(24)],
            "'=town": [chance.choice(LABELS) for _ in range(24)],
            "@code": [chance.choice(LABELS) for _ in range(24)],
            "\tsick": [chance.choice(LABELS) for _ in range(24)],
            "-note": [chance.choice(LABELS) for _ in range(24)],
        }
    )


def publish(table: pl.DataFrame, place: Path, format: str, *, escape: bool) -> shoal.Release:
    schema = shoal.Schema(
        quasi=["=age", "'=town", "@code"],
        sensitive="\tsick",
        other="-note",
        hierarchies={"@code": {"=some": list(LABELS[:5]), "-rest": list(LABELS[5:])}},
    )
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", escape_formulas=escape)
    release.write(place, format=format)
    return release


@pytest.mark.few(4)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_an_escaped_release_passes_its_audit_and_means_the_same(
    tmp_path: Path, format: str, seed: int
) -> None:
    table = people(seed)
    if format == "xlsx":  # a sheet takes a carriage return for a line feed
        table = table.with_columns(pl.col(pl.String).str.replace_all("\rz", "\tq"))
    release = publish(table, tmp_path / "out", format, escape=True)
    found = shoal.audit(tmp_path / "out")
    assert found.holds, found.complaints()
    assert any("apostrophe" in sentence for sentence in found.reading)
    for name in ("\tsick", "-note"):
        assert sorted(plain_text(release)[name]) == sorted(table[name])


def cells_of(path: Path) -> list[str]:
    """Return all cells of a CSV file, the header's too."""
    text = path.read_bytes().decode("utf-8")
    return [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]


@pytest.mark.parametrize("seed", range(10))
def test_no_cell_header_or_label_of_an_escaped_file_runs(tmp_path: Path, seed: int) -> None:
    release = publish(people(seed), tmp_path / "out", "csv", escape=True)
    cells = cells_of(tmp_path / "out" / "release.csv")
    assert [cell for cell in cells if runs(cell)] == []
    _, rows = oracle.read_table(tmp_path / "out" / "release.csv")
    sets = [oracle.parse_set(row["''=town"]) for row in rows]
    assert max(map(len, sets)) > 1
    assert [label for labels in sets for label in labels if runs(label)] == []
    plain = plain_text(release)
    read = oracle.read_release(tmp_path / "out")
    assert read.header == plain.columns
    assert [row["@code"] for row in read.rows] == plain["@code"].to_list()
    known = {column["name"]: column["domain"] for column in read.columns("quasi")}
    for row in read.rows:
        labels = oracle.parse_set(row["'=town"])
        assert set(labels) <= set(known["'=town"])


@pytest.mark.parametrize("seed", range(10))
def test_the_warning_counts_every_cell_and_header_that_runs(tmp_path: Path, seed: int) -> None:
    release = publish(people(seed), tmp_path / "out", "csv", escape=False)
    assert release.formulas == sum(map(runs, cells_of(tmp_path / "out" / "release.csv")))
    assert release.formulas > 4  # the headers alone are four, and one begins with an apostrophe


def test_frames_and_databases_are_escaped_too(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/people.db?table=published"
    table = people(1)
    schema = shoal.Schema(quasi=["=age", "'=town"], sensitive="\tsick", other="-note")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", escape_formulas=True)
    assert release.write(address).holds
    assert release.audit().holds
    assert release.table.columns == ["group", "'=age", "''=town", "'\tsick", "'-note"]
    assert not any(map(runs, release.table["'-note"]))
