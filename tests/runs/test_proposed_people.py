"""Promises are priced on whole people, and rows that one of them leaves out are lost."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.inspection.inspect import inspect
from shoal.runs.look import some_people
from shoal.runs.proposal import SAMPLE, _price, propose, propose_linked
from shoal.runs.run import Run

ROLES: Any = {"quasi": "age", "sensitive": "charges", "person": "who"}


def visits(people, seed=1, most=4):
    chance = np.random.default_rng(seed)
    counts = 1 + chance.integers(0, most, people)
    counts[0] = 50
    whom = np.repeat(np.arange(people), counts)
    return pl.DataFrame(
        {
            "who": whom,
            "age": chance.integers(20, 90, people)[whom],
            "charges": chance.integers(1, 9000, len(whom)),
        }
    )


def test_what_is_tried_is_about_whole_people():
    table = visits(2000)
    assert table.height > SAMPLE
    some = some_people(table, "who", SAMPLE)
    assert SAMPLE / 2 < some.height < 2 * SAMPLE
    counts = dict(table["who"].value_counts().iter_rows())
    assert all(counts[who] == count for who, count in some["who"].value_counts().iter_rows())


def test_rows_that_a_search_leaves_out_are_lost():
    """Two people with two rows each cannot be three: their second rows are left out."""
    table = pl.DataFrame(
        {
            "who": [0, 0, 1, 1, 2, 3, 4, 5],
            "age": [1, 1, 1, 1, 1, 2, 2, 2],
            "charges": [10, 20, 30, 40, 50, 60, 70, 80],
        }
    )
    run = Run(schema=shoal.Schema(**ROLES), require=("KAnonymity(k=3)",))
    whole = shoal.anonymize(table, shoal.Schema(**ROLES), require="KAnonymity(k=3)")
    assert (whole.manifest.capped, whole.loss) == (2, 0)
    assert _price(table, run) == 2 / 8
    capped = Run(schema=shoal.Schema(**ROLES, most_rows=1), require=("KAnonymity(k=3)",))
    assert _price(table, capped) == 0


def test_a_promise_that_says_less_is_proposed_only_where_it_loses_less():
    table = visits(300)
    found = propose(table, inspect(table), shoal.Schema(**ROLES, most_rows=4), count=9)
    weak = [one for one in found if len(one.require) == 1]
    strict = [one.loss for one in found if len(one.require) > 1 and one.loss is not None]
    assert strict
    assert all(one.loss is not None and one.loss < min(strict) for one in weak)


def test_promises_speak_of_people():
    table = visits(12, most=1)
    (found, *_) = propose(table, inspect(table), shoal.Schema(**ROLES), least=20, count=1)
    assert found.require[-1] == "KAnonymity(k=12)"


def test_prices_do_not_depend_on_the_clock(monkeypatch):
    """On a machine on which a thousand times as much goes on, the same is proposed and lost."""
    table = visits(400)
    schema = shoal.Schema(**ROLES, most_rows=4)
    before = propose(table, inspect(table), schema)
    assert before
    assert all(one.loss is not None for one in before)
    for clock in ("perf_counter", "monotonic"):
        told = getattr(time, clock)
        monkeypatch.setattr(time, clock, lambda told=told: 1000 * told())
    assert propose(table, inspect(table), schema) == before


def half_without_visits():
    """Return people half of whom never came and have no income, and the visits of the others."""
    people = pl.DataFrame(
        {
            "who": range(200),
            "age": [20 + i % 50 for i in range(200)],
            "income": [0 if i < 95 else 1000 * i for i in range(200)],
        }
    )
    came = [who for who in range(100, 200) for _ in range(1 + who % 2)]
    return people, pl.DataFrame({"who": came, "cost": range(len(came))})


LINKED: Any = {"quasi": "age", "sensitive": ["income", "visits.cost"], "person": "who"}


def test_what_is_proposed_is_kept_by_people_with_any_number_of_linked_rows():
    people, came = half_without_visits()
    found = inspect(people)
    columns = {"who": "person", "age": "quasi", "income": "sensitive"}
    decided = tuple(replace(one, role=columns[one.name]) for one in found.columns)
    found = replace(found, columns=decided, protect=("income",))
    alone = propose(people, found, count=1)[0]
    assert len(alone.require) == 2  # by itself the table keeps more than descriptions
    schema = shoal.Schema(**LINKED)
    made = propose_linked(people, found, schema, {"visits": came})
    assert made is not None
    assert any(one.startswith("visits.cost: ") for one in made.require)
    asked = [*alone.require, *made.require[-1:]]
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(people, schema, require=asked, linked={"visits": came})
    release = shoal.anonymize(people, schema, require=made.require, linked={"visits": came})
    assert release.audit().holds


def test_a_refusal_for_a_number_of_rows_names_what_helps():
    people, came = half_without_visits()
    asked: Any = {"require": "income: EpsilonM(epsilon=500, m=2)", "linked": {"visits": came}}
    with pytest.raises(shoal.NotAchievable) as caught:
        shoal.anonymize(people, shoal.Schema(**LINKED), **asked)
    assert ("rows", "unknown") in caught.value.fix
    release = shoal.anonymize(people, shoal.Schema(**LINKED, rows="unknown"), **asked)
    assert release.audit().holds
    need = int(str(caught.value).split(" of 200 people, ")[0].split()[-1])
    release = shoal.anonymize(people, shoal.Schema(**LINKED), suppress=f"{need / 2}%", **asked)
    assert release.audit().holds
    assert (release.manifest.suppressed_people or 0) <= need


@pytest.mark.parametrize("crowd", [52, 53, 60])
def test_a_few_in_the_way_may_be_left_out(crowd):
    """Of those who never came, a little more than half have no income: as few need not stay."""
    income = [0 if i < crowd else 1000 * i for i in range(101)] + [1000 * i for i in range(60)]
    people = pl.DataFrame({"who": range(161), "age": [i % 50 for i in range(161)]})
    people = people.with_columns(pl.Series("income", income))
    came = pl.DataFrame({"who": range(101, 161), "cost": range(60)})
    asked: Any = {"require": "income: EpsilonM(epsilon=500, m=2)", "linked": {"visits": came}}
    schema = shoal.Schema(**LINKED)
    with pytest.raises(shoal.NotAchievable) as caught:
        shoal.anonymize(people, schema, **asked)
    assert (("suppress", "5%") in caught.value.fix) == (crowd < 55)
    if crowd < 55:
        assert "would have to be left out" not in str(caught.value)
        release = shoal.anonymize(people, schema, suppress="5%", **asked)
        assert release.audit().holds
        assert (release.manifest.suppressed_people or 0) <= 0.05 * 161


def test_limits_that_are_told_count_people():
    """Five rows in a hundred have the value, and ten people in a hundred."""
    whom = [n // 2 for n in range(60)]
    pay = [1000 + n for n in range(60)]
    for n in (0, 2, 4):
        pay[n] = 7
    table = pl.DataFrame({"who": whom, "age": [20 + who for who in whom], "charges": pay})
    schema = shoal.Schema(**ROLES, types={"charges": "categorical"})
    told = [why for one in propose(table, inspect(table), schema) for why in one.reasons]
    said = "10.0% of the people have the most frequent value of charges"
    assert f"At most l=10 is achievable: {said}." in told
    assert not shoal.plan(table, schema, require="FrequencyL(l=11)").achievable
    assert not any("epsilon must stay under" in why for why in told)
