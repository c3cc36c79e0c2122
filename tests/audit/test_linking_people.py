"""Attackers link people by all of their rows and by how many there are."""

import csv
import json
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal

ROLES: Any = {"quasi": ["age", "sex"], "sensitive": "charges"}


def visits(seed, people=24):
    chance = np.random.default_rng(seed)
    counts = 1 + chance.integers(0, 3, people)
    counts[0] = 9
    whom = np.repeat(np.arange(people), counts)
    ages = chance.integers(20, 40, people)[whom] + chance.integers(0, 2, len(whom))
    return pl.DataFrame(
        {
            "who": [f"p{one}" for one in whom],
            "age": ages,
            "sex": chance.choice(["m", "f"], people)[whom],
            "charges": chance.integers(1, 40, len(whom)),
        }
    )


def span(cell):
    found = json.loads(cell)
    return found if isinstance(found, list) else [found, found]


def covers(row, age, sex):
    low, high = span(row["age"])
    labels = json.loads(row["sex"]) if row["sex"].startswith("[") else [row["sex"]]
    return low <= age <= high and sex in labels


def fullest(members, epsilon):
    """Return the window that begins at a value and in which most members have one."""
    best, most = (0, 0), 0
    for low in sorted({v for own in members for v in own}):
        there = sum(any(low <= v <= low + 2 * epsilon for v in own) for own in members)
        if there > most:
            best, most = (low, low + 2 * epsilon), there
    return best


def within(own, window):
    return any(window[0] <= v <= window[1] for v in own)


def by_hand(table, folder, epsilon):
    """Return mean candidates, hits and prior by the definition, from the files alone."""
    with (folder / "release.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    published = defaultdict(list)
    for row in lines:
        published[row["person"]].append(row)
    people = defaultdict(list)
    for row in table.iter_rows(named=True):
        people[row["who"]].append(row)
    counts, hits = [], 0
    for own in people.values():
        fitting = [
            rows
            for rows in published.values()
            if sum(covers(rows[0], one["age"], one["sex"]) for one in own) >= len(rows)
        ]
        most = max(map(len, fitting), default=0)
        alike = [rows for rows in fitting if len(rows) == most]
        counts.append(len(alike))
        if alike:
            window = fullest([[int(r["charges"]) for r in rows] for rows in alike], epsilon)
            hits += within([one["charges"] for one in own], window)
    every = [[one["charges"] for one in own] for own in people.values()]
    prior = fullest(every, epsilon)
    return (
        sum(counts) / len(counts),
        hits / len(people),
        sum(within(own, prior) for own in every) / len(every),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [None, 2])
def test_links_are_those_of_the_definition(seed, most, tmp_path):
    table = visits(seed)
    schema = shoal.Schema(**ROLES, person="who", most_rows=most)
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", suppress="20%")
    release.write(tmp_path / "out")
    asked = shoal.Schema(person="who")
    found = shoal.attack([tmp_path / "out"], asked, original=table, epsilons=[0, 3])
    assert [one.epsilon for one in found.links] == [0, 3]
    for one in found.links:
        mean, hits, prior = by_hand(table, tmp_path / "out", one.epsilon)
        assert one.people == 24
        assert one.candidates == pytest.approx(mean)
        assert one.hits == pytest.approx(hits)
        assert one.prior == pytest.approx(prior)
    assert not found.vulnerability
    assert "links people" in found.remarks[0]


def test_who_is_published_with_fewer_rows_is_still_found(tmp_path):
    """Nine rows of one person, two of all others: whoever has the most that fit is a candidate."""
    table = visits(1)
    schema = shoal.Schema(**ROLES, person="who", most_rows=2)
    shoal.anonymize(table, schema, require="KAnonymity(k=2)").write(tmp_path / "out")
    asked = shoal.Schema(person="who")
    (one,) = shoal.attack([tmp_path / "out"], asked, original=table, epsilons=[0]).links
    assert one.unmatched == 0


def test_what_cannot_be_linked_is_refused(tmp_path):
    table = visits(2)
    schema = shoal.Schema(**ROLES, person="who", most_rows=2)
    shoal.anonymize(table, schema, require="KAnonymity(k=2)").write(tmp_path / "out")
    with pytest.raises(shoal.UsageError, match="original"):
        shoal.attack([tmp_path / "out"], shoal.Schema(person="who"))
    with pytest.raises(shoal.UsageError, match="One person may have several rows"):
        shoal.attack([tmp_path / "out"], original=table)
    with pytest.raises(shoal.ShoalError, match="nobody"):
        shoal.attack([tmp_path / "out"], shoal.Schema(person="nobody"), original=table)
    plain = shoal.anonymize(table, shoal.Schema(**ROLES), require="KAnonymity(k=2)")
    plain.write(tmp_path / "plain")
    with pytest.raises(shoal.UsageError, match="does not say which of its rows"):
        shoal.attack([tmp_path / "plain"], shoal.Schema(person="who"), original=table)


def test_groups_with_equal_cells_are_several(tmp_path):
    """No group bounds what the values of two together say."""
    table = pl.DataFrame({"age": [20] * 4, "pay": [40, 60, 50, 80]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    made = shoal.anonymize(table, schema, require="EpsilonM(epsilon=15, m=2)")
    made.write(tmp_path / "out")
    (found,) = shoal.attack([tmp_path / "out"], original=table, epsilons=[15]).links
    assert made.manifest.groups == 2
    assert found.several == 1
