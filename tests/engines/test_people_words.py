"""Refusals speak of people where rows are about people."""

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.engines import people
from shoal.errors import UsageError
from shoal.principles.groups import Groups
from shoal.table.coded import code_table
from shoal.table.people import SeveralValues, by_people, one_value_each
from shoal.table.sensitive import ValueSets

TABLE = pl.DataFrame(
    {
        "who": [0, 0, 1, 1, 2, 2, 3, 3],
        "age": [1, 2, 3, 4, 5, 6, 7, 8],
        "charges": [5, 5, 5, 5, 5, 5, 90, 90],
    }
)


@pytest.mark.parametrize("most", [None, 1])
@pytest.mark.parametrize("suppress", [None, "25%"])
@pytest.mark.parametrize(
    ("require", "method"),
    [
        ("KAnonymity(k=9)", None),
        ("EpsilonM(epsilon=1, m=3)", "Exchange()"),
        ("EpsilonM(epsilon=1, m=3)", "Split()"),
        ("FrequencyL(l=3)", "Mondrian()"),
        ("Dissimilarity(epsilon=1, delta=0.7, k=2)", None),
    ],
)
def test_refusals_count_people(require, method, most, suppress):
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who", most_rows=most)
    with pytest.raises(shoal.NotAchievable) as caught:
        shoal.anonymize(TABLE, schema, require=require, method=method, suppress=suppress)
    said = caught.value.sentence
    assert "people" in said
    for words in ("4 rows", "8 rows", "of the rows", "rows in the way", "out 1 rows"):
        assert words not in said
    assert said.count("allows") <= 1  # once is enough


def test_what_would_help_is_tried_when_somebody_reads_it(monkeypatch):
    """A price of what cannot be kept costs no further searches; the sentence is worked out once."""
    tried: list[int] = []
    enough = people._Search.enough_gone

    def counted(*one: Any) -> str | None:
        tried.append(1)
        return enough(*one)

    monkeypatch.setattr(people._Search, "enough_gone", counted)
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    with pytest.raises(shoal.NotAchievable) as caught:
        shoal.anonymize(TABLE, schema, require="EpsilonM(epsilon=1, m=3)")
    assert tried == []
    said = str(caught.value)
    assert len(tried) == 1
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (str(sent), sent.fix, sent.exit_code) == (said, caught.value.fix, 3)
    assert len(tried) == 1


def test_a_share_of_a_population_is_refused_with_the_reason(tmp_path):
    require = "DeltaPresence(high=0.5)"
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    with pytest.raises(UsageError, match=r"rows may be about one person\. It limits a share"):
        shoal.anonymize(TABLE, schema, require=require, population=TABLE)
    shoal.anonymize(TABLE, schema, require="KAnonymity(k=2)").write(tmp_path / "out")
    with pytest.raises(UsageError, match=r"rows may be about one person\. It limits a share"):
        shoal.audit(tmp_path / "out", shoal.Schema(person="who"), require=require, population=TABLE)


def test_a_dissimilarity_that_nothing_keeps_is_refused_before_a_search(monkeypatch):
    """Everybody is near to everybody; exchanges would try for minutes."""
    monkeypatch.setattr("shoal.methods.exchange.Exchange.find", None)
    table = pl.DataFrame({"who": [i // 2 for i in range(80)], "age": range(80), "pay": range(80)})
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who")
    with pytest.raises(shoal.NotAchievable, match="every grouping has a risk of at least 1"):
        shoal.anonymize(table, schema, require="Dissimilarity(epsilon=90, delta=0.9, k=5)")


@pytest.mark.parametrize("seed", range(30))
def test_one_value_of_each_person_is_never_at_more_risk_than_all_of_them(seed):
    chance = np.random.default_rng(seed)
    table = pl.DataFrame(
        {
            "who": np.append(np.arange(12), chance.integers(0, 12, 12)),
            "age": chance.integers(0, 9, 24),
            "pay": chance.integers(0, 40, 24),
        }
    )
    people = by_people(code_table(table, shoal.Schema(quasi="age", sensitive="pay", person="who")))
    every, groups = people.value(("pay",)), Groups.of(chance.integers(0, 3, 12))
    one = one_value_each(every)
    assert one is not None
    asked = shoal.principles.Dissimilarity(
        epsilon=4, delta=0.5, k=2, distance=shoal.distances.Absolute()
    )
    assert asked.measure(groups, one).risk <= asked.measure(groups, every).risk


def test_whoever_has_no_value_has_none_to_look_at():
    sets = ValueSets(np.array([0, 1, 1]), np.array([0], np.int32))
    assert one_value_each(SeveralValues((), np.zeros((1, 1), np.int32), sets)) is None
