"""Reading, coding and recoding by batches gives what doing it at once would give."""

import csv
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.audit.cells import as_text, spell_set
from shoal.table import columns
from shoal.table.coding import code_column
from shoal.table.columns import Gathered, without_cells
from shoal.table.delimited import read_csv
from shoal.table.partition import renumber

CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "a",
            "12",
            "-3.5",
            'say "hi"',
            "a,b",
            "two\nlines",
            "\r\n",
            " ",
            "é東",
            "[x]",
            "\ufeffa",
        ]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5),
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, list[str], list[list[str]]]:
    """Draw a CSV file with its header and its rows."""
    width = draw(st.integers(1, 4))
    header = [f"c{place}" for place in range(width - 1)] + [
        draw(st.sampled_from(["z", "x\ny", 'q"']))
    ]
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=12))
    if width == 1:
        while rows and rows[-1] == [""]:  # empty lines at the end of a file are no rows
            rows.pop()
    text = io.StringIO(newline="")
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    dialect = draw(st.sampled_from(["excel", "unix"]))  # as few quotes as can be, or all
    csv.writer(text, dialect, lineterminator=ending).writerows([header, *rows])
    if width > 1 and dialect == "excel":  # lines of separators alone are no rows
        rows = [row for row in rows if any(row)]
    data = text.getvalue().encode()
    if draw(st.booleans()):
        data = data.rstrip(b"\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data, header, rows


@given(files(), st.integers(1, 80), st.booleans(), st.data())
def test_parts_of_any_size_give_the_cells_of_the_file(file, part, lean, data) -> None:
    text, header, rows = file
    wanted = data.draw(st.one_of(st.none(), st.sets(st.sampled_from(header))))
    table = read_csv(io.BytesIO(text), "t.csv", wanted=wanted, lean=lean, part=part)
    assert table.columns == header
    assert table.height == len(rows)
    for place, name in enumerate(header):
        if wanted is None or name in wanted:
            cells = [row[place] or None for row in rows]
            assert table[name].cast(pl.String).to_list() == cells
        else:
            assert table[name].dtype == pl.Null


@pytest.mark.parametrize("part", [1, 7, 64, 10**6])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a,b\n1,2\n3\n4,5\n", "Data row 2 .* has 1 cells, the header has 2"),
        (b"a,b\n1,2\n3,4\n5,6,7", "Data row 3 .* has 3 cells"),
        (b'a,b\n1,2\n3\n"4,5\n6,7\n', "ends inside a quoted cell"),
        (b"a,b\n1,2\n\n3,\xff\n4,5\n", "byte 0xff in line 4"),
        (b"\n\n\r\n", "is empty"),
        (b"", "is empty"),
        (b'"a,b\n1,2\n', "ends inside a quoted cell"),
    ],
)
def test_faults_are_told_alike_whatever_the_parts(text: bytes, said: str, part: int) -> None:
    with pytest.raises(shoal.InputError, match=said):
        read_csv(io.BytesIO(text), "t.csv", part=part)


LABELS = st.one_of(
    st.none(), st.sampled_from(["1", "01", "1.0", "-7", "x", "[x]", "1e400", "ä", str(2**62)])
)


@given(st.lists(LABELS, min_size=1, max_size=20), st.sampled_from([None, "numeric", "categorical"]))
@example(["1", None, "2"], "numeric")
def test_a_dictionary_is_coded_as_its_text(cells, kind) -> None:
    """Codes, values, spellings, and the sentence about what is wrong."""
    text = pl.Series("x", cells, pl.String)
    once = pl.concat([pl.Series("x", ["unused"]), text]).cast(pl.Categorical).slice(1)

    def outcome(column: pl.Series) -> object:
        try:
            coded = code_column(column, kind=kind)
        except shoal.ShoalError as problem:
            return str(problem)
        values = None if coded.values is None else coded.values.tolist()
        return coded.codes.tolist(), values, coded.spellings.to_list()

    assert outcome(once) == outcome(text)


def test_columns_become_dictionaries_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seldom repeated cells look unique at first and are no less a dictionary in the end."""
    monkeypatch.setattr(columns, "ENOUGH", 1000)
    table = Gathered(lean=True)
    for begin in range(0, 3000, 500):
        numbers = np.arange(begin, begin + 500)
        cells = {"unique": numbers, "seldom": numbers % 800, "few": numbers % 2}
        table.add(pl.DataFrame(cells).cast(pl.String).with_columns(number=pl.lit(1)))
    found = table.table(["few", "other", "unique", "seldom", "number"], 3000)
    assert isinstance(found.schema["few"], pl.Categorical)
    assert isinstance(found.schema["seldom"], pl.Categorical)
    assert found.schema["unique"] == pl.String
    assert found.schema["other"] == pl.Null
    assert found.schema["number"] == pl.Int32
    assert found["unique"].to_list() == [str(number) for number in range(3000)]
    assert found["seldom"].cast(pl.String).to_list() == [str(n % 800) for n in range(3000)]
    assert without_cells(found, ["few"]).schema["few"] == pl.Null


@settings(max_examples=examples(40))
@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_batches_of_any_size_make_the_same_release(batch: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(8, 60))
    frame = pl.DataFrame(
        {
            "age": chance.integers(18, 40, rows),
            "job": chance.choice(["a", "[b", 'c"', "d, e"], rows),
            "note": pl.Series(["=1+1", "-3", "plain", None]).gather(chance.integers(0, 4, rows)),
            "pay": chance.integers(0, 10**6, rows),
        }
    )
    schema = shoal.Schema(quasi=["age", "job"], sensitive="pay", other="note")
    release = shoal.anonymize(
        frame, schema, require="KAnonymity(k=3)", escape_formulas=True, seed=seed
    )
    assert release.formulas == sum(note == "=1+1" for note in frame["note"])
    for form in (release.recoding.text, release.recoding.typed):
        (whole,) = form(rows)
        parts = list(form(batch))
        assert [part.height for part in parts[:-1]] == [batch] * (len(parts) - 1)
        assert pl.concat(parts).equals(whole)
    assert release.published.equals(pl.concat(release.recoding.text(batch)))


@given(st.lists(st.one_of(st.none(), st.lists(CELLS, min_size=1, max_size=4)), max_size=8))
@example([["a"], ["[a"], ["a", "b"], None, ["a", 'b"']])
def test_sets_are_spelled_one_by_one_or_at_once_alike(sets) -> None:
    expected = [None if labels is None else spell_set(labels) for labels in sets]
    assert as_text(pl.Series(sets, dtype=pl.List(pl.String))).to_list() == expected


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.sampled_from([1, 1000]))
def test_renumbering_keeps_order_and_leaves_no_gap(marks, spread) -> None:
    known = sorted(set(marks))
    found = renumber(np.array(marks, np.int64) * spread)
    assert found.tolist() == [known.index(mark) for mark in marks]
