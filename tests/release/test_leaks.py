"""Nothing of people who are left out is in any public file, whatever hierarchy, type or format.

Marked rows are suppressed or dropped; every public file, decompressed where it is, is searched for
their marks: quasi values, sensitive and other cells, and every bound or label made from them.
"""

from __future__ import annotations

import gzip
import random
import re
import zipfile
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from reference.pools import NUMBERS, POOLS
from reference.recoding import rule_covers
from searched import searched
from shoal.notation import known_terms
from shoal.runs.publish import write_tables

if TYPE_CHECKING:
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
    assert release.manifest["rows"] == ROWS
    return release


def text_of(path: Path) -> str:
    """Return everything that a public file says, however it is packed."""
    if path.name.endswith(".gz"):
        return gzip.decompress(path.read_bytes()).decode()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as packed:
            return "".join(packed.read(one).decode("utf-8", "replace") for one in packed.namelist())
    if path.suffix == ".parquet":
        return path.read_bytes().decode("latin-1") + pl.read_parquet(path).write_json()
    if path.suffix == ".feather":
        return path.read_bytes().decode("latin-1") + pl.read_ipc(path).write_json()
    return searched(path.read_text("utf-8"))


def marks() -> list[str]:
    """Return what nobody who stays has, as it might be spelled."""
    return [text for _, mark, parts in COLUMNS.values() for text in (str(mark), *parts)]


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


def test_a_manifest_names_published_nodes_and_those_above_them() -> None:
    """On random tables: nodes are the published ones and their ancestors, leaves are counted."""
    for seed in range(120):
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
        (entry,) = (one for one in release.manifest["columns"] if one["name"] == name)
        values = {str(cells[row]) for row in release.linkage}
        nodes = {one["name"]: one for one in entry["domain"]["nodes"]}
        wanted = set()
        for cell in set(release.published[name]):
            above: str | None = cell
            while above is not None:
                wanted.add(above)
                above = nodes[above]["parent"]
        assert nodes.keys() == wanted
        assert entry["domain"]["leaves"] == len(values)
        for node, stated in nodes.items():
            under = {
                value
                for value in values
                if rule_covers(rule, node, value, text=name not in NUMBERS)
            }
            assert stated["leaves"] == len(under), (seed, node, sorted(values))
        assert release.manifest["loss"]["ncp"][name] == pytest.approx(
            (
                sum(
                    (nodes[c]["leaves"] - 1) / max(len(values) - 1, 1)
                    for c in release.published[name]
                )
                + release.manifest["suppressed"]
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
        assert release.manifest["suppressed"] == 1
        release.write(tmp_path / "out", force=True)
        cells = (tmp_path / "out" / "release.csv").read_text("utf-8")
        assert not re.search(rf"(?<![\d.]){re.escape(left_out)}(?![\de])", cells)
