"""What compares groups with the table: with people, it is the table of all of them."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl
import pytest

import shoal
from reference.distribution import beta_likeness, delta_disclosure, equal_distance, shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    Shares = Sequence[Fraction]

HOLDS = {
    "TCloseness(t=0.4)": lambda p, q: equal_distance(p, q) <= Fraction(2, 5),
    "BetaLikeness(beta=2)": lambda p, q: beta_likeness(p, q, "2", enhanced=False),
    "DeltaDisclosure(delta=1)": lambda p, q: delta_disclosure(p, q, "1"),
}
SCHEMA = shoal.Schema(quasi="age", sensitive="ill", person="patient")


def table_of(people: Sequence[tuple[int, str]]) -> pl.DataFrame:
    """Return a table in which each person has so many rows with one value."""
    rows = [
        (f"p{number}", 20 + number, ill)
        for number, (count, ill) in enumerate(people)
        for _ in range(count)
    ]
    return pl.DataFrame(rows, schema=["patient", "age", "ill"], orient="row")


def candidates(published: pl.DataFrame) -> list[list[str]]:
    """Return the values of those of each group with equally many rows, one a person."""
    rows: dict[tuple[int, int], list[str]] = defaultdict(list)
    for group, person, ill in published.select("group", "person", "ill").iter_rows():
        rows[group, person].append(ill)
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for (group, _), values in rows.items():
        found[group, len(values)].append(values[0])
    return list(found.values())


@pytest.mark.few(1)
@pytest.mark.parametrize("require", HOLDS)
def test_what_is_published_holds_against_the_table_of_all_people(require: str) -> None:
    chance = random.Random(5)
    together = 0
    for _ in range(40):
        people = [(chance.choice([1, 1, 2]), chance.choice("aab")) for _ in range(12)]
        try:
            release = shoal.anonymize(table_of(people), SCHEMA, require=require)
        except shoal.NotAchievable:
            continue
        alike = candidates(release.table)
        everybody = [ill for some in alike for ill in some]
        domain = sorted(set(everybody))
        table = shares(everybody, domain)
        assert all(HOLDS[require](shares(some, domain), table) for some in alike)
        together += len(set(release.table.group_by("person").len()["len"])) > 1
    assert together > 2


@pytest.mark.parametrize("require", HOLDS)
def test_nobody_is_published_alone_because_nobody_else_has_so_many_rows(require: str) -> None:
    table = table_of([*((1, "ab"[number % 2]) for number in range(8)), (5, "c")])
    with pytest.raises(shoal.NotAchievable, match="compares groups with the whole table"):
        shoal.anonymize(table, SCHEMA, require=require)


@pytest.mark.parametrize("require", HOLDS)
def test_the_audit_measures_people_against_the_table_of_all(require: str) -> None:
    published = table_of([(1, "a"), (1, "b"), (1, "a"), (1, "b"), (5, "c")]).with_columns(
        age=pl.when(pl.col("patient") == "p4").then(pl.lit("60")).otherwise(pl.lit("[20, 23]"))
    )
    assert not shoal.audit(published, SCHEMA, require=require).holds
    alike = published.with_columns(ill=pl.lit("a"))
    assert shoal.audit(alike, SCHEMA, require=require).holds
