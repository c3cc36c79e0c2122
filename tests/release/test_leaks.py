"""Nothing of people who are left out is in any public file, whatever hierarchy, type or format.

Marked rows are suppressed or dropped; every public file, decompressed where it is, is searched for
their marks: quasi values, sensitive and other cells, and every bound or label made from them.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import re
import zipfile
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zstandard

import shoal
from amount import examples
from reference.pools import NUMBERS, POOLS
from reference.recoding import rule_covers
from searched import searched
from shoal.notation import known_terms
from shoal.runs.publish import write_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 40
TOWNS = ["Ulm", "Bonn", "Aalen", "Hof", "Jena"]
PLACES = {"north": ["Bonn", "Jena"], "south": ["Ulm", "Aalen", "Hof"], "remote": ["Zzyzx"]}
# of each column: the cells of those who stay, the mark of whoever leaves, what is made from it
COLUMNS: dict[str, tuple[list[Any], Any, list[str]]] = {
    "code": (
        [f"1{place % 10}{place // 10}" for place in range(ROWS)],
        "98765",
        ["9876", "987**", "98***", "9****", "1****"],
    ),
    "age": ([20 + place % 31 for place in range(ROWS)], 71717, ["71716", "71720", "71,717"]),
    "rate": ([1 + place % 9 / 4 for place in range(ROWS)], 86341.25, ["86341", "86,341"]),
    "born": (
        [f"19{60 + place % 7 * 5}-0{1 + place % 9}-1{place % 8}" for place in range(ROWS)],
        "2077-11-23",
        ["2077"],
    ),
    "town": ([TOWNS[place % 5] for place in range(ROWS)], "Zzyzx", ["zzyzx", "remote"]),
    "pay": ([str(place % 8) for place in range(ROWS)], "PAYMARK", []),
    "note": ([f"n{place % 3}" for place in range(ROWS)], "NOTEMARK", []),
}
QUASI = ("code", "age", "rate", "born", "town")
HIERARCHIES: dict[str, list[Any]] = {
    "code": ["Prefix()", "Grouped(size=3)", None, "Prefix()", "Prefix()"],
    "age": ["Quantiles(parts=6)", "Bins(width=4)", "Grouped(size=2)", "Prefix()", None],
    "rate": [None, "Quantiles(parts=4)", "Bins(width=0.5)", "Grouped(size=3)", "Bins(width=1)"],
    "born": ["Calendar()", None, "Quantiles(parts=4)", "Bins(width=30)", "Grouped(size=4)"],
    "town": [PLACES, "Grouped(size=2)", PLACES, None, "Prefix()"],
}
WAYS = [("suppress", None), ("drop", None), ("suppress", "Freeform()")]
FORMATS = ("csv", "parquet", "jsonl", "feather", "xlsx", "tsv.gz")
CASES = [
    (number, how, method, FORMATS[(number + 3 * place) % len(FORMATS)])
    for number in range(5)
    for place, (how, method) in enumerate(WAYS)
    if method is None or number in {0, 1}
]


def release_of(number: int, how: str, method: str | None) -> shoal.Release:
    """Release a table with a marked row that does not stay."""
    order = random.Random(number).sample(range(ROWS), ROWS)
    columns = {
        name: [*(cells[place] for place in order), mark]
        for name, (cells, mark, _) in COLUMNS.items()
    }
    columns["second"] = [*(place % 5 for place in order), None if how == "drop" else 5]
    hierarchies = {name: every[number] for name, every in HIERARCHIES.items() if every[number]}
    schema = shoal.Schema(
        quasi=[*QUASI, "second"],
        sensitive="pay",
        other="note",
        types={"code": "code"},
        hierarchies=hierarchies,
    )
    release = shoal.anonymize(
        pl.DataFrame(columns, schema_overrides={"second": pl.Int64}),
        schema,
        require="KAnonymity(k=3)",
        missing="drop" if how == "drop" else "error",
        suppress="3%" if how == "suppress" else None,
        method=method,
    )
    assert release.manifest.rows == ROWS
    return release


def unpacked(raw: bytes) -> str:
    """Return the bytes of a file, and whatever they pack: pages, dictionaries, sheets."""
    parts = [raw]
    for frame in re.finditer(re.escape(b"\x28\xb5\x2f\xfd"), raw):
        with contextlib.suppress(zstandard.ZstdError):
            unpacking = zstandard.ZstdDecompressor().decompressobj()
            parts.append(unpacking.decompress(raw[frame.start() :]))
    if raw.startswith(b"\x1f\x8b"):
        parts.append(gzip.decompress(raw))
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            parts += [packed.read(one) for one in packed.namelist()]
    return b"".join(parts).decode("latin-1")


def text_of(path: Path) -> str:
    """Return everything that a public file says, however it is packed."""
    if path.suffix == ".parquet":
        return unpacked(path.read_bytes()) + pl.read_parquet(path).write_json()
    if path.suffix == ".feather":
        return unpacked(path.read_bytes()) + pl.read_ipc(path).write_json()
    if path.suffix in {".gz", ".xlsx"}:
        return unpacked(path.read_bytes())
    return searched(path.read_text("utf-8"))


def marks() -> list[str]:
    """Return what nobody who stays has, as it might be spelled."""
    return [text for _, mark, parts in COLUMNS.values() for text in (str(mark), *parts)]


@pytest.mark.few(6)
@pytest.mark.parametrize(("number", "how", "method", "format"), CASES)
def test_nobody_who_was_left_out_is_in_a_public_file(
    tmp_path: Path, number: int, how: str, method: str | None, format: str
) -> None:
    release_of(number, how, method).write(tmp_path / "out", format=format)
    public = {path.name: text_of(path) for path in (tmp_path / "out").iterdir()}
    assert {"manifest.json", "report.html", f"release.{format}"} <= public.keys()
    found = [
        f"{mark} in {name}" for name, text in public.items() for mark in marks() if mark in text
    ]
    assert found == []


def test_every_hierarchy_is_tried() -> None:
    tried = {str(one).partition("(")[0] for every in HIERARCHIES.values() for one in every if one}
    built = {name for name, term in known_terms().items() if term.role == "hierarchy"}
    assert tried - {str(PLACES)} == built - {"Listed"}


def test_marks_are_found_where_they_are(tmp_path: Path) -> None:
    """The search has power: with the marked row published, every format shows its marks."""
    table = pl.DataFrame({name: [*cells, mark] for name, (cells, mark, _) in COLUMNS.items()})
    schema = shoal.Schema(quasi=["town"], sensitive="pay", other=["note", "age", "code"])
    release = shoal.anonymize(table, schema, require="KAnonymity(k=1)")
    for ending in FORMATS:
        path = tmp_path / f"release.{ending}"
        write_tables(release, tmp_path, ending)
        text = text_of(path)
        assert all(mark in text for mark in ("Zzyzx", "PAYMARK", "NOTEMARK", "71717", "98765"))


LABELS = {
    "town": [*TOWNS, "TOWNMARK"],
    "ill": ["flu", "cold", "gout", "ILLMARK"],
    "note": ["a", "b", "NOTEMARK"],
    "visit": ["yes", "no", "VISITMARK"],
}


def _polars(name: str, cells: list[str]) -> pl.Series:
    return pl.Series(name, cells, pl.Enum(LABELS[name]))


def _dictionary(name: str, cells: list[str], *, ordered: bool) -> pa.Array:
    places = pa.array([LABELS[name].index(cell) for cell in cells], pa.int8())
    return pa.DictionaryArray.from_arrays(places, LABELS[name], ordered=ordered)


def _struct(column: pl.Series) -> pl.Series:
    return column.to_frame("inside").to_struct(column.name)


LISTING: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "polars categorical": lambda table: pl.DataFrame(
        {n: pl.Series(c, dtype=pl.Categorical) if n in LABELS else c for n, c in table.items()}
    ),
    "polars enum": lambda table: pl.DataFrame(
        {n: _polars(n, c) if n in LABELS else c for n, c in table.items()}
    ),
    "polars lists of enums": lambda table: LISTING["polars enum"](table).with_columns(
        pl.concat_list("^note|visit$").alias("note" if "note" in table else "visit")
    ),
    "polars structs of enums": lambda table: pl.DataFrame(
        {n: _struct(_polars(n, c)) if n in {"note", "visit"} else c for n, c in table.items()}
    ),
    "lazy": lambda table: LISTING["polars enum"](table).lazy(),
    "pandas": lambda table: pd.DataFrame(
        {n: pd.Categorical(c, LABELS[n]) if n in LABELS else c for n, c in table.items()}
    ),
    "pandas ordered": lambda table: pd.DataFrame(
        {n: pd.Categorical(c, LABELS[n], True) if n in LABELS else c for n, c in table.items()}
    ),
    "pandas arrow": lambda table: LISTING["arrow"](table).to_pandas(types_mapper=pd.ArrowDtype),
    "arrow": lambda table: pa.table(
        {n: _dictionary(n, c, ordered=False) if n in LABELS else c for n, c in table.items()}
    ),
    "arrow ordered": lambda table: pa.table(
        {n: _dictionary(n, c, ordered=True) if n in LABELS else c for n, c in table.items()}
    ),
    "arrow of polars": lambda table: LISTING["polars enum"](table).to_arrow(),
    "arrow lists": lambda table: LISTING["polars lists of enums"](table).to_arrow(),
}


def _written(frame: Any, path: Path) -> str:
    """Return what a frame that came back says, once it is written as its owner would write it."""
    parquet = path.suffix == ".parquet"
    if isinstance(frame, pl.DataFrame):
        frame.write_parquet(path) if parquet else frame.write_ipc(path)
    elif isinstance(frame, pd.DataFrame):
        frame.to_parquet(path) if parquet else frame.to_feather(path)
    elif parquet:
        pyarrow.parquet.write_table(frame, path)
    else:
        pyarrow.feather.write_feather(frame, path)
    return unpacked(path.read_bytes())


@pytest.mark.few(7)
@pytest.mark.parametrize("kind", LISTING)
def test_no_type_lists_a_label_that_only_rows_left_out_have(tmp_path: Path, kind: str) -> None:
    """Not in any file, its schema and dictionaries included, nor in the frames that come back."""
    cells: dict[str, list[Any]] = {
        name: [*(labels[place % (len(labels) - 1)] for place in range(ROWS)), labels[-1]]
        for name, labels in LABELS.items()
    }
    visits = {"who": list(range(ROWS + 1)), "visit": cells.pop("visit")}
    release = shoal.anonymize(
        LISTING[kind]({"who": visits["who"], "age": [30] * ROWS + [90], **cells}),
        shoal.Schema(
            quasi=["town", "age"], sensitive="ill", other=["note", "visits.visit"], person="who"
        ),
        require="KAnonymity(k=3)",
        suppress="3%",
        linked={"visits": LISTING[kind](visits)},
    )
    assert release.manifest.suppressed == 1
    texts: dict[str, str] = {}
    for ending in FORMATS:
        write_tables(release, tmp_path, ending)
        texts |= {one.name: text_of(one) for one in tmp_path.glob(f"*.{ending}")}
    for name, frame in {"release": release.table, **release.tables}.items():
        for ending in ("parquet", "feather"):
            path = tmp_path / f"frame-{name}.{ending}"
            texts[path.name] = _written(frame, path)
    for name, text in texts.items():
        assert ("yes" if "visits" in name else "gout") in text  # the search has power
        assert not re.search("TOWNMARK|ILLMARK|NOTEMARK|VISITMARK", text), name


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_no_database_holds_a_label_that_only_rows_left_out_have(
    tmp_path: Path, database: str
) -> None:
    cells = {"town": ["Ulm"] * ROWS + ["TOWNMARK"], "ill": ["gout"] * ROWS + ["ILLMARK"]}
    release = shoal.anonymize(
        LISTING["polars enum"](cells),
        shoal.Schema(quasi="town", sensitive="ill"),
        require="KAnonymity(k=3)",
        suppress="3%",
    )
    path = tmp_path / "made.db"
    release.write(f"{database}:///{path}?table=published")
    text = unpacked(path.read_bytes())
    assert "gout" in text
    assert not re.search("TOWNMARK|ILLMARK", text)


@pytest.mark.more
def test_a_manifest_names_published_nodes_and_those_above_them() -> None:
    """On random tables: nodes are the published ones and their ancestors, leaves are counted."""
    for seed in range(examples(120)):
        draw = random.Random(seed)
        name, pool, rule = draw.choice(POOLS)
        cells = [draw.choice(pool) for _ in range(draw.randint(3, 14))]
        table = pl.DataFrame({name: cells, "x": [draw.randint(0, 3) for _ in cells]})
        schema = shoal.Schema(
            quasi=[name, "x"],
            types={name: "code"} if name == "code" else {},
            hierarchies={name: rule},
        )
        release = shoal.anonymize(
            table, schema, require="KAnonymity(k=2)", suppress="30%", method="Mondrian()"
        )
        (entry,) = (one for one in release.manifest.columns if one.name == name)
        values = {str(cells[row]) for row in release.linkage}
        nodes = {one.name: one for one in entry.tree.nodes}
        wanted = set()
        for cell in set(release.published[name]):
            above: str | None = cell
            while above is not None:
                wanted.add(above)
                above = nodes[above].parent
        assert nodes.keys() == wanted
        assert entry.tree.leaves == len(values)
        for node, stated in nodes.items():
            under = {
                value
                for value in values
                if rule_covers(rule, node, value, text=name not in NUMBERS)
            }
            assert stated.leaves == len(under), (seed, node, sorted(values))
        assert release.manifest.loss.ncp[name] == pytest.approx(
            (
                sum(
                    (nodes[c].leaves - 1) / max(len(values) - 1, 1) for c in release.published[name]
                )
                + (release.manifest.suppressed or 0)
            )
            / len(cells)
        )
        outside = {str(cell) for cell in cells} - values
        assert not outside.intersection(end for node in nodes for end in node.split(".."))


@pytest.mark.parametrize("hierarchy", [None, "Grouped(size=2)"])
def test_a_value_is_spelled_as_published_rows_spell_it(
    tmp_path: Path, hierarchy: str | None
) -> None:
    """A spelling that only somebody who was left out has would tell of that row."""
    stay = [f"{place % 4}.50" for place in range(20)]
    chance = random.Random(5)
    for left_out in ("3.5", "0.5", "2.500", "1.5e0"):  # shorter ones would be preferred
        rate = chance.sample([*stay, left_out], 21)
        town = ["far away" if text == left_out else "here" for text in rate]
        release = shoal.anonymize(
            pl.DataFrame({"rate": rate, "town": town, "pay": [str(place) for place in range(21)]}),
            shoal.Schema(
                quasi=["rate", "town"],
                sensitive="pay",
                hierarchies={"rate": hierarchy} if hierarchy else {},
            ),
            require="KAnonymity(k=5)",
            suppress="5%",
        )
        assert release.manifest.suppressed == 1
        release.write(tmp_path / "out", force=True)
        cells = (tmp_path / "out" / "release.csv").read_text("utf-8")
        assert not re.search(rf"(?<![\d.]){re.escape(left_out)}(?![\de])", cells)
