"""Leaving rows out: the fewest by brute force, and never a row that does not pay."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import distribution, proximity, release
from reference.suppression import fewest
from shoal.errors import NotAchievable
from shoal.methods.base import Task
from shoal.methods.leaving_out import costly_rows, gains_of, of_rows, total_loss
from shoal.methods.suppression import in_the_way, search_within
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from tables import QUASI, frame, schema, tables


def most_frequent(values):
    return max(Counter(values).values())


def dissimilar(values, delta, k):
    near = [sum(value == other for other in values) - 1 for value in values]
    return len(values) >= max(k, 2) and max(near) <= (1 - delta) * (len(values) - 1)


# What is required, the definition by which a group holds, and methods that can search for it.
EXACT = {
    "EpsilonM(epsilon=1, m=2)": (
        lambda v: proximity.holds(v, "absolute", 2, epsilon=1),
        ("Exchange()", "Split()", 'Split(partition="round-robin")'),
    ),
    "EpsilonM(epsilon=0.4, m=3, relative=True)": (
        lambda v: proximity.holds(v, "relative", 3, epsilon=0.4),
        ("Exchange()", "Split()"),
    ),
    "Neighbourhood(below=0, above=2, m=2)": (
        lambda v: proximity.holds(v, "general", 2, below=0, above=2),
        ("Exchange()", "Split()"),
    ),
    "Chain(epsilon=1, m=2)": (
        lambda v: proximity.holds(v, "chain", 2, epsilon=1),
        ("Exchange()", "Split()"),
    ),
    "Window(width=2, m=2)": (
        lambda v: 2 * proximity.window_count(v, 2) <= len(v),
        ("Split()", "Mondrian()"),
    ),
    "FrequencyL(l=3)": (
        lambda v: 3 * most_frequent(v) <= len(v),
        ("Exchange()", "Split()", "Mondrian()"),
    ),
    "AlphaK(alpha=0.4, k=4)": (
        lambda v: len(v) >= 4 and most_frequent(v) <= Fraction(2, 5) * len(v),
        ("Split()", "Mondrian()"),
    ),
    "MUniqueness(m=2)": (
        lambda v: len(v) >= 2 and most_frequent(v) == 1,
        ("Exchange()",),
    ),
    "EntropyL(l=2.5)": (
        lambda v: distribution.entropy_at_least(v, Fraction(5, 2)),
        ("Mondrian()",),
    ),
    "RecursiveCL(c=1.5, l=2)": (
        lambda v: distribution.recursive(v, Fraction(3, 2), 2),
        ("Mondrian()",),
    ),
    "DistinctL(l=3)": (lambda v: len(set(v)) >= 3, ("Mondrian()",)),
}
few = st.lists(st.integers(0, 6), min_size=1, max_size=7)


def people(values):
    return pl.DataFrame({"age": [(i * 5) % 7 for i in range(len(values))], "salary": values})


PLAIN = shoal.Schema(quasi="age", sensitive="salary")


@pytest.mark.few(5)
@pytest.mark.parametrize("require", EXACT)
@settings(max_examples=examples(40))
@given(few)
def test_the_fewest_rows_are_left_out(require, values):
    holds, methods = EXACT[require]
    least = fewest(len(values), lambda rows: holds([values[row] for row in rows]))
    for method in methods:
        options = {"require": require, "method": method}
        if least is None:
            with pytest.raises(NotAchievable):
                shoal.anonymize(people(values), PLAIN, **options, suppress=1)
            continue
        done = shoal.anonymize(people(values), PLAIN, **options, suppress=f"{least}/{len(values)}")
        assert done.manifest.suppressed == least
        assert done.suppression.in_the_way == least
        for _, group in done.published.group_by("group"):
            assert holds([int(value) for value in group["salary"]])
        if least:
            less = f"{least - 1}/{len(values)}"
            with pytest.raises(NotAchievable):
                shoal.anonymize(people(values), PLAIN, **options, suppress=less)


@given(few, st.sampled_from(["0.5", "0.7", "1"]), st.integers(2, 4))
def test_a_dissimilarity_never_gives_up_more_than_it_has_to_at_first(values, delta, k):
    def holds(rows):
        return dissimilar([values[row] for row in rows], Fraction(delta), k)

    require = f"Dissimilarity(epsilon=0, delta={delta}, k={k}, distance=Equality())"
    schema = shoal.Schema(quasi="age", sensitive="salary", types={"salary": "categorical"})
    task = Task(code_table(people(values), schema), tuple(requirements(require, ["salary"])))
    least = fewest(len(values), holds)
    assert len(in_the_way(task)[0]) <= (len(values) if least is None else least)


@pytest.mark.few(1)
@settings(max_examples=examples(60))
@given(tables(most=50), st.integers(2, 5), st.sampled_from(["5%", "20%", "50%"]))
@pytest.mark.parametrize("method", ["Exchange()", "Mondrian()", "Freeform()"])
def test_rows_left_out_without_need_pay_back_by_the_ranges_that_are_published(
    method, table, k, share
):
    rows = len(table["age"])
    assume(rows >= k and int(rows * Fraction(share[:-1]) / 100))
    data = frame(table)
    options = {"require": f"KAnonymity(k={k})", "method": method}
    plain = shoal.anonymize(data, schema(), **options)
    done = shoal.anonymize(data, schema(), **options, suppress=share)
    found = done.suppression
    assert done.manifest.suppressed == found.rows == rows - len(done.published)
    assert found.rows <= rows * float(share[:-1]) / 100
    assert found.in_the_way == 0
    assert done.audit().holds
    assert found.after == pytest.approx(done.loss)
    domains = {column["name"]: column for column in done.manifest.to_dict()["columns"]}
    cells = [
        min(release.cell_ncp(domains[name], row[name], domains[name]["domain"]), Fraction(1))
        if len(set(domains[name]["domain"])) > 1
        else Fraction(row[name].startswith("["))
        for row in plain.published.to_dicts()
        for name in QUASI
    ]
    assert found.before == pytest.approx(float(sum(cells, Fraction(0)) / len(cells)))
    if found.costly:
        assert found.after < found.before
    else:
        assert found.after == found.before


@pytest.mark.parametrize("hierarchies", [{}, {"job": "Grouped(size=2)", "age": "Bins(width=2)"}])
@given(tables(most=30), st.data())
def test_what_a_row_costs_is_what_the_loss_falls_by_when_it_leaves(hierarchies, table, data):
    rows = len(table["age"])
    marks = data.draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    groups = Groups.of(np.array(marks))
    plain = shoal.Schema(quasi=QUASI, sensitive="salary", hierarchies=hierarchies)
    quasi = code_table(frame(table), plain).quasi
    gains = gains_of(quasi, groups)
    whole = [1.0] * len(quasi)
    before = total_loss(quasi, groups, whole)
    for row in range(rows if rows > 1 else 0):
        kept = np.delete(np.arange(rows), row)
        after = total_loss(of_rows(quasi, kept), Groups.of(groups.labels[kept]), whole) + len(quasi)
        assert gains[row] == pytest.approx(before - after)


def test_one_outlier_that_stretches_a_large_group_goes():
    ages = [*range(20, 40), 99]
    table = pl.DataFrame({"age": ages, "salary": [100 * (i % 7) for i in range(21)]})
    task_rows = costly_rows(
        code_table(table, PLAIN).quasi, Groups(np.array([0] * 7 + [1] * 7 + [2] * 7)), 1
    )
    assert task_rows.tolist() == [20]
    done = shoal.anonymize(table, PLAIN, require="KAnonymity(k=7)", suppress="5%")
    assert done.manifest.suppressed == 1
    assert done.suppression.costly == 1
    assert "99" not in "".join(done.published["age"])
    assert done.suppression.after < done.suppression.before


class Given:
    """A method that finds given groups once, counts how often it is asked, and nothing more."""

    chooses_rows = True

    def __init__(self, labels):
        self.labels, self.asked = labels, 0

    def search(self, task):
        self.asked += 1
        if len(task.coded) < len(self.labels):
            msg = "Nothing was found."
            raise NotAchievable(msg)
        return Groups(self.labels)


@pytest.mark.parametrize("gap", range(19, 28))
def test_a_table_is_searched_anew_only_where_that_could_spare_a_hundredth(gap):
    """Somebody far from the others of a group leaves, who loses a whole cell and spares less."""
    labels = np.repeat(np.arange(101), 5)
    ages = labels + np.tile([0, 0, 0, 0, 1], 101)
    ages[4], ages[-1] = gap, 100
    table = pl.DataFrame({"age": ages, "salary": np.arange(len(ages))})
    task = Task(code_table(table, PLAIN), tuple(requirements("KAnonymity(k=5)", ["salary"])))
    method: Any = Given(labels)
    search_within(method, task, lambda _: None, Fraction(1, len(ages)))
    theirs, others = 5 * gap, 5 * 99  # in hundredths
    pays = theirs - 100 >= (theirs + others) / 100
    assert method.asked == (2 if pays and theirs > 100 else 1)


def test_more_of_a_crowd_goes_where_the_others_then_lose_less():
    values = [0] * 600 + [1 + i for i in range(300)]
    table = pl.DataFrame({"age": [(i * 37) % 900 for i in range(900)], "salary": values})
    tight, loose = (
        shoal.anonymize(table, PLAIN, require="FrequencyL(l=2)", method="Mondrian()", suppress=part)
        for part in ("30/90", "45/90")
    )
    assert tight.suppression.in_the_way == loose.suppression.in_the_way == 300
    assert tight.suppression.costly == 0
    assert loose.suppression.costly > 0
    assert loose.suppression.after < loose.suppression.before
    assert loose.suppression.after < tight.suppression.after
    assert loose.audit().holds
