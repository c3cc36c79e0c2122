"""What is tried on some rows depends on no order of them, and says how many they were."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.inspection import profile as kinship
from shoal.inspection.profile import SAMPLE, Profile
from shoal.methods import choice
from shoal.methods import choice as searching
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import Coded, code_table

ROWS = 900
SCHEMA = shoal.Schema(quasi="code", sensitive="pay", hierarchies={"code": "Prefix()"})
TABLE = pl.DataFrame(
    {"code": [f"{place % 90 + 10}" for place in range(ROWS)], "pay": np.arange(ROWS) % 7}
)


def task(rows=ROWS):
    coded = code_table(TABLE[:rows], SCHEMA)
    return Task(coded, tuple(requirements("KAnonymity(k=3)", ["pay"])))


@pytest.fixture
def tried(monkeypatch):
    """Return the rows that searches are tried on, in turn; a method loses what its sample says."""
    seen = []
    real = Coded.subset

    def subset(coded, rows):
        seen.append(np.asarray(rows))
        return real(coded, rows)

    monkeypatch.setattr(Coded, "subset", subset)
    return seen


def test_methods_are_tried_on_rows_drawn_at_random(monkeypatch, tried):
    """100 of 900, 300 times: every row about 33 times, the deviation being 5.4."""
    monkeypatch.setattr(choice, "SAMPLE", 100)
    monkeypatch.setattr(choice, "_loss", lambda method, _task: len(repr(method)))
    for _ in range(300):
        choice.method_for(task())
    times = np.bincount(np.concatenate(tried), minlength=ROWS)
    assert {len(set(rows.tolist())) for rows in tried} == {100}
    assert np.abs(times - 100 / 3).max() < 6.5 * 5.4
    seeded = len(tried)
    for _ in range(2):
        choice.method_for(task(), seed=5)
    assert (tried[seeded] == tried[seeded + 1]).all()


def test_all_rows_are_tried_where_they_are_few(monkeypatch, tried):
    monkeypatch.setattr(choice, "_loss", lambda method, _task: len(repr(method)))
    choice.method_for(task(60))
    assert tried[0].tolist() == list(range(60))
    asked = requirements("KAnonymity(k=3)", ["pay"])
    few, many = (str(choice.why("Mondrian()", rows, asked)) for rows in (60, 123_456))
    assert few == "By Mondrian(), because it loses least on this table."
    assert "4,000 of 123,456 rows, drawn at random" in many


def test_warming_up_takes_rows_at_random(monkeypatch, tried):
    monkeypatch.setattr(searching, "FEW", 50)
    monkeypatch.setattr(searching, "search", lambda *_: None)
    for _ in range(5):
        searching.warm_up(shoal.methods.Split(), task())
    assert len({tuple(rows.tolist()) for rows in tried}) == 5


def related(rows=6000):
    """Return columns of which some tell others, but for rows at every third place."""
    place = np.arange(rows)
    name = place % 50
    return pl.DataFrame(
        {
            "name": name,
            "area": name // 5,
            "nearly": np.where(place % 3 == 0, name, name // 5),  # a function but for a third
            "copy": np.where(place % 20 == 0, 99, name),  # equal in 95 %
            "far": np.where(place % 3 == 0, name, 77),  # equal in a third
        }
    )


def test_kinship_does_not_depend_on_the_order_of_rows():
    table = related()
    every_third = np.lexsort([np.arange(6000), np.arange(6000) % 3])
    orders = [np.arange(6000), every_third, np.arange(6000)[::-1]]
    orders += [np.random.default_rng(seed).permutation(6000) for seed in range(5)]
    found = []
    for order in orders:
        profiles = [Profile.of(table[order][name]) for name in table.columns]
        found.append({(one.kind, one.left, one.right) for one in kinship.kin(profiles)})
    expected = {("copy", "name", "copy"), ("function", "name", "area"),
                ("function", "nearly", "area")}  # fmt: skip
    truth = {one for one in expected if tells(table, one)}
    assert all(one == found[0] for one in found)
    assert truth <= found[0]
    assert all(tells(table, one) for one in found[0])


def tells(table, one):
    """Return whether a kinship is so, on all rows."""
    kind, left, right = one
    if kind == "copy":
        return (table[left] == table[right]).mean() >= 0.9
    return table.group_by(left).agg(pl.col(right).n_unique())[right].max() == 1


def test_whether_values_repeat_depends_on_their_counts_alone():
    exact = Profile.of(pl.Series("x", [1, 1, 2, 3, None, None]))
    assert kinship.repeating(exact, 6) == pytest.approx(1 - 4 / 6)  # all rows: 4 different cells
    counts = np.repeat(np.arange(3000), np.arange(3000) % 4)
    profile = Profile.of(pl.Series("x", counts))
    drawn = [
        1 - len(np.unique(np.random.default_rng(seed).choice(counts, 500, replace=False))) / 500
        for seed in range(50)
    ]
    assert kinship.repeating(profile, 500) == pytest.approx(np.mean(drawn), abs=0.01)


@pytest.mark.parametrize("common", ["x@y.org", "none"])
def test_a_frequent_cell_counts_as_often_as_it_stands_there(common):
    """One cell has 60 % of the rows; the other 5,000 are of the other kind."""
    assert 2 * SAMPLE < 5000
    rare = [f"n{place}" if "@" in common else f"p{place}@y.org" for place in range(5000)]
    for order in range(3):
        cells = pl.Series("mail", [common] * 7500 + rare).shuffle(order)
        assert Profile.of(cells).mostly("@") == ("@" in common)
