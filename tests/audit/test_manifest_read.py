"""A manifest is read as a typed record, or refused with a sentence that says where."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.audit.described import Wrong
from shoal.audit.tables import check_shape, read_manifest
from shoal.release.manifest import Manifest

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pl.DataFrame(
    {
        "who": [n // 2 for n in range(40)],
        "age": [20 + 7 * n % 50 for n in range(40)],
        "sex": ["m" if n % 4 < 2 else "f" for n in range(40)],
        "pay": [100 * n for n in range(40)],
    }
)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "groups": ({"never_mix": "sex", "weights": {"age": 2}}, {"title": "Pay"}),
    "people": ({"person": "who", "rows": "unknown"}, {}),
    "nodes": ({"hierarchies": {"age": "Bins(width=10)"}}, {"form": "bounds"}),
    "no groups": ({}, {"method": "Freeform()"}),
}


def made(case: str, place: Path) -> shoal.Release:
    roles, asked = CASES[case]
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="pay", **roles)
    release = shoal.anonymize(TABLE, schema, require="KAnonymity(k=2)", **asked)
    release.write(place)
    return release


@pytest.mark.parametrize("case", CASES)
def test_what_is_read_is_what_was_written_byte_for_byte(case: str, tmp_path: Path) -> None:
    release = made(case, tmp_path / "out")
    found = read_manifest(tmp_path / "out")
    assert found == release.manifest
    assert found.to_json() == (tmp_path / "out" / "manifest.json").read_text("utf-8")
    assert pickle.loads(pickle.dumps(found)) == found
    assert not hasattr(Manifest, "__getitem__")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("said") / "out"
    made("nodes", place)
    return (place / "manifest.json").read_text("utf-8")


FEWER = "'columns', 1, 'domain', 'nodes', 1, 'leaves' has to be a whole number of at least 1, not 0"
REFUSED: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("rows",), "40", "the manifest, 'rows' has to be a whole number, not '40'"),
    (("rows",), True, "the manifest, 'rows' has to be a whole number, not True"),
    (("rows",), 2**54, "has to be a whole number of at most 9007199254740992, not 180143"),
    (("form",), "free", "'form' has to be 'intervals' or 'bounds' or 'means' or 'two-tables', not"),
    (("columns", 0, "domain", "nodes", 0, "leaves"), 0, FEWER),
    (("columns", 1, "kind"), "node", "'columns', 2 has a 'domain' that does not fit the kind node"),
    (("columns", 2, "weight"), 1, "'columns', 3 has 'weight', which does not go with the role"),
    (("loss", "ncp", "sex"), 2, "'loss', 'ncp', 'sex' has to be a whole number of at most 1, not"),
    (("digests", "report.html"), "x", "'digests', 'report.html' has to be a text like sha256:"),
    (("digests", "../x"), "x", "'digests' has a name that is not a text like"),
    (
        ("measured", 0, "level"),
        1,
        "'measured', 1 has 'level', which this version of Shoal does not",
    ),
    (("measured", 0, "holds"), 1, "'measured', 1, 'holds' has to be true or false, not 1"),
    (("x - at `$.y",), 1, "the manifest has 'x - at `$.y', which this version of Shoal does not"),
    (("loss", "x - at `$.y"), 1, "'loss' has 'x - at `$.y', which this version of Shoal does not"),
    (("reproducible",), False, "'reproducible' has to be true or left out, not False"),
    (("title",), None, "has null, or an empty object, where it must leave the entry out"),
]


@pytest.mark.parametrize(("path", "value", "sentence"), REFUSED)
def test_what_is_refused_is_named_with_its_place(
    said: str, path: tuple[Any, ...], value: Any, sentence: str
) -> None:
    spoiled = json.loads(said)
    inner = spoiled
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    before = json.dumps(spoiled)
    with pytest.raises(Wrong) as refused:
        check_shape(spoiled)
    assert sentence in str(refused.value)
    assert json.dumps(spoiled) == before


@pytest.mark.parametrize("key", ["rows", "verdict", "found", "threshold"])
def test_what_is_lacking_is_named(said: str, key: str) -> None:
    spoiled = json.loads(said)
    del spoiled[key]
    with pytest.raises(Wrong, match=f"the manifest lacks '{key}'"):
        check_shape(spoiled)
