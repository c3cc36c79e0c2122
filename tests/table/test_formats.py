"""Whatever is written in any format is read back cell by cell, and audits as it was."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.audit.published import read_release
from shoal.errors import OutputError
from shoal.runs.publish import audit_written, write_tables
from shoal.table.files import FORMATS, parse_file
from shoal.table.reading import read_table

# Texts that readers take for something else: numbers, dates, booleans, formulas, control signs.
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6),
    st.sampled_from(
        ["\ufffe", "1e5", "007", "1.50", "-0", "NA", "null", "true", "2020-01-02", "=1+1", "'x",
         '"', '""', "a,b", "a\tb", "a;b", "a\nb", "a\r\nb", "\r", " x ", "[1, 2]", '{"a": 1}',
         "_x000D_",
         "\ufeff", "12345678901234567890", "0.1000000000000000055", "\\N", "\x0b", "http://x"]
    ),
)  # fmt: skip
DATABASES = ("sqlite", "duckdb")


def make(cells: list[str]) -> shoal.Release:
    people = pl.DataFrame(
        {
            "age": [str(20 + place % 7) for place in range(len(cells))],
            "town": [("[a]", "b", "ç")[place % 3] for place in range(len(cells))],
            "illness": cells,
            "note": list(reversed(cells)),
        }
    )
    schema = shoal.Schema(
        quasi=["age", "town"],
        sensitive="illness",
        other="note",
        types={"illness": "categorical"},
    )
    return shoal.anonymize(people, schema, require=shoal.principles.KAnonymity(k=2))


def same(release: shoal.Release, found: pl.DataFrame) -> None:
    for name in ("illness", "note"):
        assert found[name].cast(pl.String).to_list() == release.published[name].to_list()


@pytest.mark.few(2)
@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@example(cells=["1", "2", "3"])
@example(cells=["1.5", "2.25", "1e300", "0.1"])
@example(cells=["9007199254740993", "9223372036854775807", "1000000000000000"])
@given(cells=st.lists(TEXTS, min_size=2, max_size=9))
def test_every_format_gives_back_the_text_that_came_in(format: str, cells: list[str]) -> None:
    release = make(cells)
    with tempfile.TemporaryDirectory() as place:
        try:
            write_tables(release, Path(place), format)
        except OutputError:  # noncharacters of Unicode, which the next test is about
            assert format == "xlsx"
            assert re.search("[\ufdd0-\ufdef\ufffe\uffff]", "".join(cells))
            return
        same(release, read_release(Path(place), release.manifest).table)
        assert audit_written(release, Path(place)).holds


@pytest.mark.parametrize("kind", DATABASES)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@example(cells=["9007199254740993", "1000000000000000"])
@given(cells=st.lists(TEXTS, min_size=2, max_size=9))
def test_every_database_gives_back_the_text_that_came_in(kind: str, cells: list[str]) -> None:
    release = make(cells)
    with tempfile.TemporaryDirectory() as place:
        address = f"{kind}:///{place}/people.db?table=published"
        release.write(address)
        same(release, read_table(address))


@given(cells=st.lists(TEXTS, min_size=1, max_size=9), separator=st.sampled_from(",;\t"))
def test_delimited_text_is_read_by_the_separator_of_its_header(
    cells: list[str], separator: str
) -> None:
    table = pl.DataFrame({"a": cells, "b, or c; or d": cells, "e": cells, "f": cells, "g": cells})
    file = io.BytesIO()
    table.write_csv(file, separator=separator)
    assert parse_file(file.getvalue(), "people").equals(table)


@given(cells=st.lists(TEXTS, min_size=1, max_size=9))
def test_json_lines_keep_texts_and_numbers(cells: list[str]) -> None:
    table = pl.DataFrame({"a": cells, "n": range(len(cells)), "x": [0.5] * len(cells)})
    file = io.BytesIO()
    table.write_ndjson(file)
    assert parse_file(file.getvalue(), "people").equals(table)
