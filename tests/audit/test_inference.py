"""What a release shows of a generalized column to a reader who knows the others."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import attacks
from shoal.audit import inference
from shoal.audit.covers import CellCover
from shoal.audit.inference import infer_columns, infer_from
from shoal.audit.published import open_published
from shoal.table.partition import PersonOf, renumber

AGES, TOWNS = range(5), ("a", "b", "c")
ages = st.tuples(*[st.sampled_from(AGES)] * 2).map(sorted).map(tuple)
towns = st.sets(st.sampled_from(TOWNS), min_size=1).map(sorted).map(tuple)
published = st.lists(st.tuples(ages, towns, ages), min_size=1, max_size=9)
people = st.lists(
    st.tuples(st.sampled_from(AGES), st.sampled_from(TOWNS), st.sampled_from([*AGES, None])),
    min_size=1,
    max_size=9,
)


def spelled(span):
    low, high = span
    return str(low) if low == high else f"[{low}, {high}]"


def table(rows):
    return pl.DataFrame(
        {
            "age": [spelled(age) for age, _, _ in rows],
            "town": [town[0] if len(town) == 1 else json.dumps(town) for _, town, _ in rows],
            "rooms": [spelled(rooms) for _, _, rooms in rows],
            "s": ["x"] * len(rows),
        }
    )


def cells(rows):
    """Return what cells hold; one that spans more than people have is no less wide for it."""
    return [
        (
            *tuple(frozenset(map(str, range(low, high + 1))) for low, high in (age, rooms)),
            frozenset(town),
        )
        for age, town, rooms in rows
    ]


@given(published, people, st.integers(1, 3))
def test_people_are_counted_as_the_definition_says(rows, everybody, columns):
    names = ["age", "rooms", "town"][:columns]
    schema = shoal.Schema(quasi=names, sensitive="s")
    known = pl.DataFrame(everybody, schema=["age", "town", "rooms"], orient="row")
    found = infer_columns(CellCover(open_published(table(rows), schema), known))
    held = [row[:columns] for row in cells(rows)]
    values = [
        tuple(None if one is None else str(one) for one in (age, rooms, town))[:columns]
        for age, town, rooms in everybody
    ]
    assert [one.column for one in found] == names
    for place, one in enumerate(found):
        assert (one.certain, one.likely) == attacks.told(held, values, place)
        assert one.sample.complete


@given(published, people, st.data())
def test_a_person_counts_where_any_of_their_rows_can_be_told(rows, everybody, data):
    schema = shoal.Schema(quasi=["age", "rooms", "town"], sensitive="s")
    # A label that nobody known has cannot be read without a manifest, and rules nobody out.
    everybody = [*everybody, *((0, town, 0) for town in TOWNS)]
    known = pl.DataFrame(everybody, schema=["age", "town", "rooms"], orient="row")
    labels = data.draw(st.lists(st.integers(0, 3), min_size=known.height, max_size=known.height))
    cover = CellCover(open_published(table(rows), schema), known)
    found = infer_columns(cover, whom=PersonOf(renumber(np.array(labels)), len({*labels})))
    held = cells(rows)
    values = [
        tuple(None if one is None else str(one) for one in (age, rooms, town))
        for age, town, rooms in everybody
    ]
    for place, one in enumerate(found):
        told = [attacks.told(held, [value], place) for value in values]
        for at, count in enumerate((one.certain, one.likely)):
            assert count == len({who for who, each in zip(labels, told, strict=True) if each[at]})
        assert "one of a person's rows" in one.to_dict()["sentence"]


def test_a_span_that_covers_one_person_alone_shows_nothing():
    """Nobody is 31, which a reader of [30, 31] does not know."""
    rows = pl.DataFrame({"age": ["[30, 31]", "[30, 30]", "30"], "s": ["x", "y", "z"]})
    known = pl.DataFrame({"age": [30, 40]})
    schema = shoal.Schema(quasi="age", sensitive="s")
    cover = CellCover(open_published(rows, schema), known)
    assert sorted(cover.columns[0].alone.tolist()) == [False, True, True]


def people_of(count=300):
    return pl.DataFrame(
        {
            "age": [20 + i * 7 % 50 for i in range(count)],
            "sex": ["m" if i % 4 else "f" for i in range(count)],  # as the zip
            "zip": [f"{i % 4}{i % 10}000" for i in range(count)],
            "pay": [100 * (i * 37 % 211) for i in range(count)],
        }
    )


@pytest.mark.parametrize(
    ("form", "method"),
    [("intervals", None), ("bounds", None), ("means", None), ("intervals", "Freeform()")],
)
def test_a_release_and_its_files_say_the_same(tmp_path, form, method):
    schema = shoal.Schema(
        quasi=["age", "sex", "zip"], sensitive="pay", hierarchies={"zip": "Prefix()"}
    )
    made = shoal.anonymize(people_of(), schema, require="KAnonymity(k=3)", form=form, method=method)
    made.write(tmp_path / "out")
    own = infer_from(made)
    read = infer_columns(CellCover(open_published(tmp_path / "out"), people_of().cast(pl.String)))
    assert [(one.certain, one.likely) for one in own] == [(one.certain, one.likely) for one in read]
    assert any(one.certain for one in own)


@pytest.mark.parametrize("person", [None, "who"])
def test_missing_sensitive_values_leave_nobody_out(tmp_path, person):
    """A reader who looks for a town does not ask whether the pay is known."""
    rows = people_of().with_row_index("who").with_columns(pl.col("who") // 2)
    gone = rows.with_columns(pay=pl.when(pl.int_range(300) % 4 > 0).then("pay"))
    for some in (rows, gone):
        schema = shoal.Schema(quasi=["age", "sex"], sensitive="pay", person=person)
        made = shoal.anonymize(some, schema, require="KAnonymity(k=3)", missing="value", seed=1)
        made.write(tmp_path / "out", force=True)
        whom = None if person is None else shoal.Schema(person=person)
        found = shoal.attack([tmp_path / "out"], whom, original=some)
        told = [(one.column, one.certain, one.likely, one.usual) for one in infer_from(made)]
        assert told == [(o.column, o.certain, o.likely, o.usual) for o in found.inferences]
        assert {one.sample.whole for one in found.inferences} == {150 if person else 300}


def test_many_people_are_sampled(monkeypatch):
    monkeypatch.setattr(inference, "COMPARED", 0)
    monkeypatch.setattr(inference, "LEAST", 60)
    made = shoal.anonymize(
        people_of(), shoal.Schema(quasi=["age", "sex"], sensitive="pay"), require="KAnonymity(k=3)"
    )
    for one in infer_from(made):
        assert (len(one.sample), one.sample.whole) == (60, 300)
        assert "60 of 300 people" in one.to_dict()["sentence"]


def test_two_tables_generalize_nothing():
    made = shoal.anonymize(
        people_of(),
        shoal.Schema(quasi=["age", "sex"], sensitive="pay"),
        require="FrequencyL(l=3)",
        form="two-tables",
    )
    assert infer_from(made) == ()
