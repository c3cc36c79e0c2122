"""The manifest's kind and type decide what a published cell is, however it is spelled."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.audit.covers import cover_column


def covered(cells: list[str], known: list[Any], **stated: Any) -> list[list[Any]]:
    """Return what each cell covers of what is known."""
    cover = cover_column(pl.Series("c", cells), pl.Series("c", known), **stated)
    ranked = list(zip(known, cover.values.tolist(), strict=True))
    return [[value for value, rank in ranked if cover.covering(rank)[cell]] for cell in cover.cells]


@pytest.mark.parametrize(
    ("cell", "known", "stated", "expected"),
    [
        ("black|hispanic", ["black|hispanic", "black"], {"kind": "set"}, ["black|hispanic"]),
        ("a;b|c", ["a", "b", "c"], {"kind": "set"}, []),
        ("11***", ["11***", "11234"], {"kind": "set"}, ["11***"]),
        ("*", ["*", "x"], {"kind": "set"}, ["*"]),
        ("{a, b}", ["a", "b", "{a, b}"], {"kind": "set"}, ["{a, b}"]),
        ("250.1", ["250.1", "250.10"], {"kind": "set", "type": "code"}, ["250.1"]),
        ("17-24", ["17-24", "18"], {"kind": "set"}, ["17-24"]),
        (
            '["2020-01-01", "2020-03-01"]',
            ["2020-01-01", "2020-02-01", "2020-03-01"],
            {"kind": "set"},
            ["2020-01-01", "2020-03-01"],
        ),
        (
            '["2020-01-01", "2020-03-01"]',
            ["2020-01-01", "2020-02-01", "2020-03-02"],
            {"kind": "interval", "type": "date"},
            ["2020-01-01", "2020-02-01"],
        ),
        ("[1, 3]", ["1.0", "2", "3.5"], {"kind": "interval"}, ["1.0", "2"]),
        ("[5, 6]", ["1", "7"], {"kind": "interval"}, []),
    ],
)
def test_a_cell_is_what_its_column_says(
    cell: str, known: list[str], stated: dict[str, str], expected: list[str]
) -> None:
    assert covered([cell], known, **stated) == [expected]


def test_codes_that_are_one_number_are_different_people() -> None:
    """Of twelve people who could be 250.1 or 250.10, a description fits only its own."""
    table = pl.DataFrame({"code": ["250.1"] * 3, "ill": list("abc")})
    everybody = pl.DataFrame({"code": ["250.1"] * 3 + ["250.10"] * 9})
    schema = shoal.Schema(quasi="code", sensitive="ill", types={"code": "code"})
    release = shoal.anonymize(table, schema, require="KMap(k=3)", population=everybody)
    assert release.audit().findings[0].measurement.risk.denominator == 3
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(table, schema, require="KMap(k=10)", population=everybody)


def test_without_a_manifest_it_is_said_that_spellings_are_guessed() -> None:
    table = pl.DataFrame({"age": ["17-24"] * 2, "ill": ["a", "b"]})
    people = pl.DataFrame({"age": [18, 20, 30], "ill": ["a", "b", "c"]})
    schema = shoal.Schema(quasi="age", sensitive="ill")
    plain = shoal.audit(table, schema, require="KMap(k=2)", population=people)
    assert plain.holds
    assert "was guessed" in plain.to_dict()["remarks"][0]
    assert any(
        "was guessed" in one for one in shoal.attack([table], schema, original=people).remarks
    )
    codes = shoal.Schema(quasi="age", sensitive="ill", types={"age": "categorical"})
    assert not shoal.audit(table, codes, require="KMap(k=2)", population=people).holds


def test_an_attack_reads_a_release_by_its_manifest(tmp_path: Any) -> None:
    table = pl.DataFrame(
        {"race": ["black|hispanic", "black", "hispanic", "white"] * 2, "ill": list("abcdabcd")}
    )
    schema = shoal.Schema(quasi="race", sensitive="ill")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", method="Mondrian()")
    release.write(tmp_path / "out")
    found = shoal.attack([tmp_path / "out"], original=table)
    assert not any("was guessed" in one for one in found.remarks)
    assert {link.candidates for link in found.links} == {2.0}  # the two of one's own label
