"""Regions: what is published lies between cuts, whatever the table; and the audit knows better."""

import json
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference.regions import Box, are_cut, disjoint_or_equal
from shoal.audit.regions import check_regions
from shoal.release.regions import roundest
from stated import stated

TREE: dict[str, Any] = {"all": {"ab": ["a", "b"], "cde": {"c": ["c"], "de": ["d", "e"]}}}
UNDER = {
    "all": "abcde", "ab": "ab", "cde": "cde", "de": "de",
    "a": "a", "b": "b", "c": "c", "d": "d", "e": "e",
}  # fmt: skip
LOW, HIGH = 0, 9


def children(there: set[str]) -> dict[frozenset[object], list[frozenset[object]]]:
    """Return the children of every node that has values of the table, a node being these."""
    found: dict[frozenset[object], list[frozenset[object]]] = {}
    for node, below in (
        ("all", ("ab", "cde")), ("ab", ("a", "b")), ("cde", ("c", "de")), ("de", ("d", "e")),
    ):  # fmt: skip
        parts = [frozenset[object](UNDER[one]) & there for one in below]
        parts = [one for one in parts if one]
        if len(parts) > 1:
            found[frozenset[object](UNDER[node]) & there] = parts
    return found


rows_drawn = st.lists(
    st.tuples(
        st.integers(LOW, HIGH),
        st.sampled_from(["p", "q", "r"]),
        st.sampled_from(list("abcde")),
        st.integers(0, 3),
        st.integers(1, 5),
    ),
    min_size=4,
    max_size=14,
)
Rows = list[tuple[int, str, str, int, int]]


def frame(rows: Rows) -> pl.DataFrame:
    """Return rows as a table."""
    return pl.DataFrame(rows, schema=["age", "kind", "leaf", "pay", "who"], orient="row")


def schema(**more: Any) -> shoal.Schema:
    """Return what is said of that table."""
    return shoal.Schema(
        quasi=["age", "kind", "leaf"], sensitive="pay", hierarchies={"leaf": TREE},
        bounds={"age": [LOW, HIGH]}, **more,
    )  # fmt: skip


def cell(text: str, column: str, there: set[str]) -> frozenset[object]:
    """Return the places that a published cell covers."""
    if column == "leaf":
        return frozenset(UNDER[text]) & there
    said = json.loads(text) if text.startswith("[") else [text]
    if column == "kind":
        return frozenset(said)
    ends = [int(one) for one in said]
    return frozenset(range(ends[0], ends[-1] + 1))


def boxes(table: pl.DataFrame, there: set[str]) -> list[Box]:
    """Return the region of every published row."""
    return [
        tuple(cell(str(row[name]), name, there) for name in ("age", "kind", "leaf"))
        for row in table.iter_rows(named=True)
    ]


def holds_by_definition(table: pl.DataFrame, published: pl.DataFrame) -> bool:
    """Return whether published cells are regions, looking at all ways to cut."""
    there = set(table["leaf"])
    found = boxes(published, there)
    whole = (frozenset(range(LOW, HIGH + 1)), frozenset(table["kind"]), frozenset(there))
    trees = {2: children(there)}
    return disjoint_or_equal(found) and are_cut(whole, set(found), trees)


METHODS = {
    "KAnonymity(k=2)": "Mondrian()",
    "KAnonymity(k=3)": "Mondrian(split='least-loss')",
    "EpsilonM(epsilon=0, m=2)": "Split()",
    "FrequencyL(l=2)": "Oblivious()",
}


@pytest.mark.parametrize("require", METHODS)
@given(rows=rows_drawn)
@settings(max_examples=examples(40))
@example(rows=[(5, "p", "a", 0, 1), (5, "p", "a", 1, 1)] * 4)
def test_regions_are_what_cuts_leave_and_cover_every_row(rows: Rows, require: str) -> None:
    table = frame(rows).with_row_index("row")
    asked = schema(other="row", nobody_knows="row")
    try:
        release = shoal.anonymize(
            table, asked, require=require, method=METHODS[require], cells="regions", seed=1
        )
    except shoal.NotAchievable:
        return
    published = release.table
    assert holds_by_definition(table, published)
    there = set(table["leaf"])
    of_row = dict(zip(published["row"], boxes(published, there), strict=True))
    for row in table.iter_rows(named=True):
        for place, name in enumerate(("age", "kind", "leaf")):
            assert row[name] in of_row[row["row"]][place]


@given(rows=rows_drawn)
@settings(max_examples=examples(60))
def test_the_audit_finds_cuts_exactly_where_there_are_any(rows: Rows) -> None:
    """Tight cells are regions now and then, and never without the audit's saying so."""
    table = frame(rows)
    asked = schema()
    require = "KAnonymity(k=2)"
    try:
        regions = shoal.anonymize(table, asked, require=require, cells="regions", seed=1)
        tight = shoal.anonymize(table, asked, require=require, method="Mondrian()", seed=1)
    except shoal.NotAchievable:
        return
    known = regions.manifest.by_name
    columns = [
        known["age"],
        known["kind"],
        tight.manifest.by_name["leaf"],
    ]
    manifest = stated(columns, cells="regions")
    wrong = check_regions(tight.table.cast({"age": pl.String}), manifest, {})
    assert bool(wrong) is not holds_by_definition(table, tight.table)
    fine = check_regions(regions.table.cast({"age": pl.String}), regions.manifest, {})
    assert fine == []


@pytest.mark.parametrize("names", [["age", "leaf"], ["years", "leaf"]])
def test_in_which_order_columns_stand_makes_no_difference(names: list[str]) -> None:
    """Nobody above 30 is c: cut by leaves first, those below would have to reach higher."""
    rows = [(10, "c"), (10, "d"), (50, "d"), (50, "e")] * 2
    for asked, given_ in product((1, -1), repeat=2):
        table = pl.DataFrame(rows, schema=names, orient="row").select(names[::given_])
        roles = shoal.Schema(quasi=names[::asked], hierarchies={"leaf": TREE})
        release = shoal.anonymize(table, roles, require="KAnonymity(k=2)", cells="regions", seed=1)
        found = {tuple(row) for row in release.table.select(names).rows()}  # and its audit held
        reached = "[10, 49]" if names[0] < "leaf" else "[10, 50]"
        assert found == {(reached, "c"), ("[10, 49]", "de"), ("50", "d"), ("50", "e")}


@given(rows=rows_drawn)
@settings(max_examples=examples(40))
def test_people_with_equally_many_rows_are_cut_by_themselves(rows: Rows) -> None:
    table = frame(rows)
    asked = shoal.Schema(
        quasi=["age", "kind", "leaf"], sensitive="pay", hierarchies={"leaf": TREE},
        bounds={"age": [LOW, HIGH]}, person="who",
    )  # fmt: skip
    try:
        release = shoal.anonymize(table, asked, require="KAnonymity(k=1)", cells="regions", seed=1)
    except shoal.NotAchievable:
        return
    published = release.table.with_columns(rows=pl.len().over("person"))
    for _, some in published.group_by("rows"):
        assert holds_by_definition(table, some)
    assert release.audit().holds


def test_what_is_left_out_moves_no_cut() -> None:
    """Cuts follow from the rows that are published: without the others they are the same."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({
        "row": np.arange(400),
        "age": rng.integers(0, 60, 400),
        "zip": rng.integers(0, 900, 400),
        "pay": np.where(np.arange(400) < 60, 7, rng.integers(100, 10_000, 400)),
    })  # fmt: skip
    asked = shoal.Schema(quasi=["age", "zip"], sensitive="pay", other="row", nobody_knows="row")
    how: dict[str, Any] = {"cells": "regions", "method": "Mondrian()", "seed": 1}
    require = "FrequencyL(l=8)"
    release = shoal.anonymize(table, asked, require=require, suppress="20%", **how)
    assert release.manifest.suppressed
    left = table.filter(pl.col("row").is_in(release.table["row"].implode()))
    again = shoal.anonymize(left, asked, require=require, **how)
    cells = [one.table.sort("row").select("row", "age", "zip") for one in (release, again)]
    assert cells[0].equals(cells[1])


@given(below=st.integers(-300, 300), width=st.integers(1, 400), origin=st.sampled_from([0, 7, -40]))
def test_the_roundest_place_is_the_roundest_number_between(
    below: int, width: int, origin: int
) -> None:
    def roundness(number: int) -> int:
        steps = [times * 10**power for power in range(4) for times in (1, 2, 5)]
        return max(step for step in steps if number % step == 0)

    above = below + width
    (found,) = roundest(np.array([below]), np.array([above]), origin).tolist()
    assert below < found <= above
    between = [roundness(place + origin) for place in range(below + 1, above + 1)]
    assert roundness(found + origin) == max(between)


def test_the_spelling_of_an_end_does_not_say_whether_somebody_lies_there() -> None:
    """1e1 and 10.0 are values of rows; ends are written as every point of the grid is."""
    cells = ["1e1", "10.0", "11", "12.5", "13", "14.0"] * 4
    table = pl.DataFrame({"x": cells, "pay": list(range(24))})
    asked = shoal.Schema(quasi="x", sensitive="pay", types={"x": "numeric"})
    release = shoal.anonymize(table, asked, require="KAnonymity(k=4)", cells="regions", seed=1)
    for text in release.table["x"].unique():
        for end in json.loads(text) if text.startswith("[") else [text]:
            assert str(end) in {f"{tenths / 10:g}" for tenths in range(100, 141)}


@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
@pytest.mark.parametrize("step", ["0.25", "0.5", "1"])
def test_steps_may_be_finer_than_what_rows_have(form: str, step: str) -> None:
    """Rows with whole numbers on a grid of quarters: regions fill it, and lose what they say."""
    ages = [one * one % 61 - 20 for one in range(40)]
    table = pl.DataFrame({"age": ages, "pay": range(40)})
    asked = shoal.Schema(
        quasi="age", sensitive="pay", bounds={"age": [-30, 45]}, step={"age": step}
    )
    release = shoal.anonymize(
        table, asked, require="KAnonymity(k=4)", cells="regions", form=form, seed=1
    )  # its own audit measures loss, means and cuts again
    ends = release.table_as("bounds").select("age_low", "age_high")
    regions = sorted((Fraction(low), Fraction(high)) for low, high in ends.unique().rows())
    assert len(regions) > 4
    assert [regions[0][0], regions[-1][1]] == [-30, 45]
    assert all(high + Fraction(step) == low for (_, high), (low, _) in pairwise(regions))
    for age, row in zip(ages, np.argsort(release.linkage).tolist(), strict=True):
        low, high = ends.row(row)
        assert low <= age <= high
    lost = sum(Fraction(high) - Fraction(low) for low, high in ends.rows()) / 40 / 75
    assert release.manifest.loss.gcp == pytest.approx(float(lost))


@pytest.mark.parametrize("spacing", [3600 * 10**9, 40 * 10**9, 250 * 10**6, 3000, 7])
def test_times_of_day_are_on_a_grid_as_well(tmp_path: Path, spacing: int) -> None:
    """A second is no decimal part of a day, and zeros at the end of a time are not all spare."""
    times = pl.Series(np.arange(40) * spacing + 10**18).cast(pl.Datetime("ns"))
    written = times.dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
    table = pl.DataFrame({"at": written, "pay": range(40)})
    asked = shoal.Schema(quasi="at", sensitive="pay", types={"at": "date"})
    release = shoal.anonymize(table, asked, require="KAnonymity(k=4)", cells="regions", seed=1)
    assert release.table["at"].n_unique() > 4
    release.write(tmp_path / "release")
    assert shoal.audit(tmp_path / "release").problems == ()
    ends = [end for text in release.table["at"] for end in json.loads(text)]
    assert min(map(moment, ends)) == min(map(moment, written))
    assert max(map(moment, ends)) == max(map(moment, written))


def moment(text: str) -> tuple[str, Decimal]:
    """Return a day, hour and minute, and its seconds."""
    return text[:16], Decimal(text[17:])


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_step_says_no_more_of_values_inside_of_cells_than_the_ends_of_cells(
    digits: int, parts: int
) -> None:
    """Two tables that lead to the same cells lead to the same manifest."""
    found = []
    for more in (0, 5 * 10**-digits):
        ages = [20, round(25 + more, digits), 30] * parts
        rows = {"ward": [f"w{n // 3}" for n in range(3 * parts)], "age": list(map(str, ages))}
        table = pl.DataFrame(rows | {"pay": [1000 * n for n in range(3 * parts)]})
        asked = shoal.Schema(
            quasi=["ward", "age"], never_mix="ward", sensitive="pay", types={"age": "numeric"}
        )
        release = shoal.anonymize(
            table, asked, require="EpsilonM(epsilon=500, m=3)", cells="regions", seed=1
        )
        assert release.table["age"].unique().to_list() == ["[20, 30]"]
        found.append(release.manifest.columns)
    assert found[0] == found[1]
