"""Lazy frames, relations and datasets: asked once, in batches, and published as their rows are."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import shoal
from shoal.table import streams
from shoal.table.columns import Gathered

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = shoal.Schema(
    quasi=["age", "town"], sensitive="pay", other=["id", "grade"], nobody_knows="id"
)
REQUIRE = "pay: EpsilonM(epsilon=500, m=3)"


def people(rows: int = 600) -> pl.DataFrame:
    draw = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": draw.integers(17, 80, rows),
            "spare one": draw.random(rows),
            "town": draw.choice(["Ulm", "Bonn", 'a "b"'], rows),
            "pay": draw.integers(0, 10_000, rows),
            "id": [f"i{row}" for row in range(rows)],
            "grade": pl.Series(draw.choice(["a", "b", "c"], rows), dtype=pl.Enum(["a", "b", "c"])),
        }
    )


def relation(path: Path) -> Any:
    return duckdb.connect().from_parquet(str(path))


STREAMS: dict[str, Callable[[Path], Any]] = {
    "lazy": lambda path: pl.read_parquet(path).lazy(),
    "scan": pl.scan_parquet,
    "relation": relation,
    "dataset": ds.dataset,
    "dataset in memory": lambda path: ds.dataset(pl.read_parquet(path).to_arrow()),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    people().write_parquet(tmp_path / "people.parquet", row_group_size=100)
    return tmp_path / "people.parquet"


def as_polars(table: Any) -> pl.DataFrame:
    return table if isinstance(table, pl.DataFrame) else pl.DataFrame(pl.from_arrow(table))


@pytest.mark.parametrize("name", STREAMS)
def test_what_is_read_in_batches_is_published_as_the_same_frame_is(name, path, monkeypatch):
    monkeypatch.setattr(streams, "BATCH", 70)
    frame = STREAMS[name](path)
    here = shoal.anonymize(people(), SCHEMA, require=REQUIRE, seed=1)
    there = shoal.anonymize(frame, SCHEMA, require=REQUIRE, seed=1)
    assert isinstance(there.table, pl.DataFrame if name in {"lazy", "scan"} else pa.Table)
    mine, theirs = here.table, as_polars(there.table)
    assert theirs.columns == mine.columns
    grades = pl.col("grade").cast(pl.String)
    assert theirs.with_columns(grades).equals(mine.with_columns(grades))
    if name in {"lazy", "scan"}:
        assert theirs.schema == mine.schema
    skipped = {"id", "digests"}
    said, known = there.manifest.to_dict(), here.manifest.to_dict()
    for key in known.keys() - skipped:
        assert said[key] == known[key], key
    assert there.audit().holds
    assert there.losses() == pytest.approx(here.losses())
    plain = shoal.Schema(sensitive="pay")
    assert shoal.plan(frame, plain, m=3) == shoal.plan(people(), plain, m=3)


@pytest.mark.parametrize("name", STREAMS)
def test_no_more_than_a_batch_of_the_needed_columns_is_taken_at_once(name, path, monkeypatch):
    monkeypatch.setattr(streams, "BATCH", 70)
    taken: list[pl.DataFrame] = []

    class Watched(Gathered):
        def add(self, batch: pl.DataFrame) -> None:
            taken.append(batch)
            super().add(batch)

    def collected(*_: Any, **__: Any) -> None:
        msg = "collected whole"
        raise AssertionError(msg)

    frame = STREAMS[name](path)
    monkeypatch.setattr(streams, "Gathered", Watched)
    monkeypatch.setattr(pl.LazyFrame, "collect", collected)
    found = streams.Streamed(frame, ["age", "town", "pay"])
    assert sum(batch.height for batch in taken) == 600
    assert {tuple(batch.columns) for batch in taken} == {("age", "town", "pay")}
    if name != "relation":  # DuckDB has batches of its own
        assert max(batch.height for batch in taken) <= 140
    table = found.take()
    assert table.columns == people().columns
    assert table["id"].dtype == pl.Null


def test_a_frame_that_answers_in_another_order_each_time_is_asked_once():
    asked = []

    def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
        asked.append(frame.height)
        return frame.sample(fraction=1, shuffle=True, seed=len(asked))

    lazy = people().lazy().map_batches(shuffled, schema=people().schema)
    release = shoal.anonymize(lazy, SCHEMA, require=REQUIRE)
    first, again = release.table, release.table
    assert len(asked) == 1
    assert first.equals(again)
    truth = dict(people().select("id", "pay").rows())
    ages = dict(people().select("id", "age").rows())
    for _, group in first.group_by("group"):
        pay = group["pay"].to_numpy()
        assert (np.abs(pay[:, None] - pay) <= 500).sum(axis=1).max() * 3 <= len(pay)
        for one in group.iter_rows(named=True):
            assert truth[one["id"]] == one["pay"]
            low, _, high = one["age"].strip("[]").partition(", ")
            assert int(low) <= ages[one["id"]] <= int(high or low)


def test_what_cannot_be_read_is_said_without_a_cell(tmp_path):
    bad = pl.LazyFrame({"age": ["secret"], "pay": [1]}).with_columns(pl.col("age").cast(pl.Int8))
    schema = shoal.Schema(quasi="age", sensitive="pay")
    gone = tmp_path / "gone.parquet"
    people().write_parquet(gone)
    frames = [bad, pl.scan_parquet(gone), ds.dataset(gone), relation(gone)]
    gone.unlink()
    for frame in frames:
        with pytest.raises(shoal.InputError, match=r"cannot be read as a table \(\w+\)") as raised:
            shoal.anonymize(frame, schema, require="KAnonymity(k=1)")
        assert "secret" not in str(raised.value)
        assert str(tmp_path) not in str(raised.value)


def test_labels_that_nobody_published_are_not_in_a_dictionary():
    table = (
        people()
        .to_arrow()
        .set_column(5, "grade", pa.array(["a"] * 590 + ["zebra"] * 10).dictionary_encode())
    )
    parts = [table[:300], table[300:]]  # each with a dictionary of its own
    frame = ds.dataset([ds.dataset(part) for part in parts])
    schema = shoal.Schema(quasi="age", sensitive="pay", other="grade")
    far = ds.dataset(pa.concat_tables(parts).filter(pc.field("grade") != "zebra"))
    for given, expected in ((frame, {"a", "zebra"}), (far, {"a"})):
        shown = shoal.anonymize(given, schema, require=REQUIRE).table["grade"]
        assert pa.types.is_dictionary(shown.type)
        assert set(shown.combine_chunks().dictionary.to_pylist()) == expected


def test_a_dataset_in_which_nobody_is_is_refused_as_any_table():
    empty = ds.dataset(people()[:0].to_arrow())
    with pytest.raises(shoal.InputError, match="no rows"):
        shoal.anonymize(empty, SCHEMA, require=REQUIRE)


PEAK = """
    import sys
    from pathlib import Path
    import polars as pl
    import shoal, shoal.table.streams, shoal.table.reading
    from shoal.table.streams import Streamed
    def peak():  # of this process alone: what rusage says begins with that of whoever forked it
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    kind, path = sys.argv[1:]
    wanted = ["age", "note"]
    pl.scan_parquet(path).select("age").head(10).collect()
    begin = peak()
    if kind == "path":
        table = shoal.table.reading.read_lean(path, wanted=wanted)
    else:
        table = Streamed(pl.scan_parquet(path), wanted).take()
    assert table.height == 3_000_000
    print(peak() - begin >> 10)
"""


@pytest.mark.long
def test_a_lazy_frame_takes_no_more_memory_than_its_file(tmp_path):
    draw = np.random.default_rng(1)
    rows = 3_000_000
    words = [f"a rather long note about somebody, number {one}" for one in range(1000)]
    pl.DataFrame(
        {
            "age": draw.integers(0, 100, rows),
            "note": pl.Series(words).gather(draw.integers(0, 1000, rows)),
            "spare": draw.random(rows),
        }
    ).write_parquet(tmp_path / "p.parquet", row_group_size=250_000)

    def peak(kind: str) -> int:
        code = [sys.executable, "-c", textwrap.dedent(PEAK), kind, str(tmp_path / "p.parquet")]
        return int(subprocess.run(code, capture_output=True, text=True, check=True).stdout)

    by_path = peak("path")
    assert by_path > 30  # the codes alone: 8 and 4 bytes a row
    assert peak("lazy") <= by_path * 1.25 + 30


HELD = """
    import sys
    import pyarrow as pa
    import pyarrow.dataset as ds
    from shoal.table.streams import Streamed
    table = Streamed(ds.dataset(sys.argv[1]), ["age", "pay", "size"]).take()
    assert table.height == 1_000_000
    print(pa.default_memory_pool().max_memory() >> 20)
"""


def test_of_a_dataset_arrow_holds_a_few_batches_and_never_a_whole_file(tmp_path):
    draw = np.random.default_rng(1)
    columns = {name: draw.random(1_000_000) for name in ("age", "pay", "size", "spare")}
    pl.DataFrame(columns).write_parquet(tmp_path / "p.parquet", row_group_size=50_000)
    code = [sys.executable, "-c", textwrap.dedent(HELD), str(tmp_path / "p.parquet")]
    held = int(subprocess.run(code, capture_output=True, text=True, check=True).stdout)
    assert (
        20 < held < 35
    )  # MB: 23 of them are the table; a whole file, read ahead, is as much again
