"""With `--withhold-counts`, no public file shows how many rows were left out, in any release.

Tables that differ in these rows alone have equal public files, to the last digit of a loss.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.exact import with_lost, without_lost
from system.wards import (
    EVERY,
    KINDS,
    SIZE,
    UNORDERED,
    assert_equal,
    everybody,
    public_files,
    table_of,
    without_order,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("one_id")
NOBODY_GOES = {"no groups", "readers who know the method", "rounded"}  # but for gaps
LEFT_OUT = [(0, 0), (2, 0), (0, 1), (3, 2), (11, SIZE - 1)]  # for missing cells, and in the way


def with_more(table: pl.DataFrame, gaps: int, few: int) -> pl.DataFrame:
    """Return a table with rows of which a cell is missing, and a ward of too few people."""
    missing = table.head(gaps).with_columns(age=pl.lit(None, pl.Int64))
    ward = table.tail(few).with_columns(ward=pl.lit("w9"))
    return pl.concat([table, missing, ward])


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_of_rows_that_were_left_out_can_be_found(kind: str, tmp_path: Path) -> None:
    _, roles, asked = KINDS[kind]
    chance = random.Random(kind)
    people = everybody(chance)
    table = table_of(people, chance)
    table = table.with_columns(weight=pl.Series([chance.randint(20, 60) for _ in table["pay"]]))
    how: dict[str, Any] = {"require": EVERY, "seed": 1, "missing": "drop"} | asked
    if "population" in asked:
        how["population"] = people
    suppresses = kind not in NOBODY_GOES
    if suppresses:
        how["suppress"] = "40%"
    written_as = how.pop("format", "csv")
    quasi = ["age", *(name for name in roles["quasi"] if name != "age")]
    schema = shoal.Schema(never_mix="ward", **roles | {"quasi": quasi})
    files = []
    for turn, (gaps, few) in enumerate(LEFT_OUT):
        if few and not suppresses:
            continue
        release = shoal.anonymize(with_more(table, gaps, few), schema, withhold_counts=True, **how)
        assert release.suppression.rows == few
        out = tmp_path / str(turn)
        release.write(out, format=written_as)
        if kind in UNORDERED:
            files.append(without_order(out))
        else:
            files.append(public_files(out, how.get("population")))
    for other in files[1:]:
        assert_equal(files[0], other)


@pytest.mark.parametrize("linked", [False, True])
def test_nor_of_people_and_of_their_rows(linked: bool, tmp_path: Path) -> None:
    chance = random.Random(linked)
    table = table_of(everybody(chance), chance).with_columns(
        who=pl.Series([f"p{place}" for place in range(6 * SIZE)])
    )
    visits = table.select("who", cost="pay")
    files = []
    for turn, (gaps, few, many) in enumerate([(0, 0, 0), (3, 2, 0), (1, 4, 5)]):
        more = with_more(table, gaps, few)
        place = [f"q{row}" for row in range(gaps + few)]
        more = more.with_columns(who=pl.concat([table["who"], pl.Series("who", place, pl.String)]))
        twice = [row for row in range(more.height) for _ in range(1 + (row < many))]
        more = more[twice]  # some have two rows, which are alike
        roles: dict[str, Any] = {"sensitive": "pay"}
        how: dict[str, Any] = {"withhold_counts": True, "missing": "drop", "suppress": "40%"}
        if linked:
            roles["sensitive"] = ["pay", "visits.cost"]
            theirs = pl.DataFrame({"who": place, "cost": [1] * len(place)})
            how["linked"] = {"visits": pl.concat([visits, theirs.cast(visits.schema)])}
        schema = shoal.Schema(
            quasi=["age", "town"], never_mix="ward", person="who", most_rows=1, **roles
        )
        release = shoal.anonymize(more, schema, require=EVERY, seed=1, **how)
        assert release.suppression.capped == many
        release.write(tmp_path / str(turn))
        files.append(public_files(tmp_path / str(turn)))
    for other in files[1:]:
        assert_equal(files[0], other)


def test_a_loss_of_published_rows_has_no_trace_of_the_others() -> None:
    chance = random.Random(2)
    for _ in range(2000):
        rows = chance.randint(1, 2000)
        published = chance.choice([chance.random(), chance.randint(0, 64) / 64, 0.0, 1.0])
        alone = without_lost(with_lost(published, rows, 0), rows, 0)
        assert abs(alone - published) < 1e-9
        for lost in (1, 7, rows, 100 * rows):
            assert without_lost(with_lost(published, rows, lost), rows, lost) == alone
