"""k-map and δ-presence against their definitions: measured, searched, and audited from cells."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import population as definition
from reference import splitting
from shoal.errors import NotAchievable
from shoal.methods.base import Task
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.release.boxes import exact_matches
from shoal.runs.owner import unprotected
from shoal.table.coded import code_table
from shoal.table.people import code_people
from tables import KINDS, frame, rows_of, schema


def _drawn(seed: int) -> tuple[dict[str, list], dict[str, list]]:
    """Draw a table and a population around it, some of whom share values with nobody in it."""
    random = np.random.default_rng(seed)
    rows, others = int(random.integers(2, 35)), int(random.integers(0, 80))

    def columns(count: int, ages: int, jobs: str) -> dict[str, list]:
        return {
            "age": random.integers(0, ages, count).tolist(),
            "zip": random.choice([1.5, 2, 10, 400], count).tolist(),
            "job": random.choice(list(jobs), count).tolist(),
        }

    table = columns(rows, 10, "abcde")
    more = columns(others, 12, "abcdefg")
    inside = bool(random.integers(0, 4))  # mostly, everybody of the table is in the population
    everybody = {n: (table[n] if inside else []) + more[n] for n in table}
    table["salary"] = random.integers(0, 6, rows).tolist()
    return table, everybody if inside or others else dict(table)


drawn = st.integers(0, 2**32).map(_drawn)
ASKED = [
    (shoal.principles.KMap(k=4), lambda g, p: definition.k_map(g, KINDS, p, 4)),
    (shoal.principles.KMap(k=1), lambda g, p: definition.k_map(g, KINDS, p, 1)),
    (
        shoal.principles.DeltaPresence(high=0.6),
        lambda g, p: definition.presence(g, KINDS, p, "0", "0.6"),
    ),
    (
        shoal.principles.DeltaPresence(low=0.2, high=0.8),
        lambda g, p: definition.presence(g, KINDS, p, "0.2", "0.8"),
    ),
    (
        shoal.principles.DeltaPresence(high=1),
        lambda g, p: definition.presence(g, KINDS, p, "0", "1"),
    ),
]
CASES = pytest.mark.parametrize(("principle", "holds"), ASKED, ids=[repr(p) for p, _ in ASKED])


def people_of(everybody: dict[str, list]) -> pl.DataFrame:
    return frame({name: everybody[name] for name in ("age", "zip", "job")})


@pytest.mark.few(2)
@CASES
@given(drawn, st.booleans(), st.integers(1, 3))
def test_groups_equal_those_of_the_definition(principle, holds, both, widest, k):
    table, everybody = both
    coded = code_table(frame(table), schema())
    asked = requirements([principle, shoal.principles.KAnonymity(k=k)], ["salary"])
    task = Task(coded, tuple(asked), population=code_people(people_of(everybody), coded))
    rows, persons = rows_of(table), rows_of(everybody)

    def admissible(group):
        return len(group) >= k and holds([rows[row] for row in group], persons)

    method = shoal.methods.Mondrian(split="widest" if widest else "least-loss")
    if not admissible(range(len(rows))):
        with pytest.raises(NotAchievable):
            method.find(task)
        return
    found = method.find(task).labels
    sets = {frozenset(np.flatnonzero(found == g).tolist()) for g in set(found.tolist())}
    if widest:
        assert sets == set(splitting.mondrian(rows, KINDS, 1, admissible=admissible))
    else:
        assert sets == set(splitting.least_loss(rows, KINDS, admissible))


@pytest.mark.few(3)
@CASES
@given(drawn, st.integers(1, 6))
def test_the_audit_of_any_groups_equals_the_definition(principle, holds, both, groups):
    """Groups by a cut of one column only, so that descriptions do not overlap."""
    table, everybody = both
    rows, persons = rows_of(table), rows_of(everybody)
    labels = [row[0] * groups // 10 for row in rows]
    members = {g: [row for row, own in zip(rows, labels, strict=True) if own == g] for g in labels}

    def cells(group: int) -> tuple[str, str, str]:
        ages, zips, jobs = zip(*members[group], strict=True)
        listed = "{" + ", ".join(sorted(set(jobs))) + "}"
        return f"{min(ages)}-{max(ages)}", f"[{min(zips)}, {max(zips)}]", listed

    published = pl.DataFrame(
        [(*cells(group), 1) for group in labels],
        schema=["age", "zip", "job", "salary"],
        orient="row",
    )
    people = people_of(everybody)
    audit = shoal.audit(published, schema(), require=principle, population=people)
    known = {job for _, _, job in persons}
    if any(not {job for _, _, job in group} & known for group in members.values()):
        assert audit.problems  # no person has any of the labels: the cell cannot be read
    else:
        assert audit.holds == all(holds(group, persons) for group in members.values())


@given(drawn)
def test_the_release_is_audited_against_the_same_population(both):
    table, everybody = both
    rows, persons = rows_of(table), rows_of(everybody)
    if not definition.k_map(rows, KINDS, persons, 3):
        return
    release = shoal.anonymize(
        frame(table), schema(), require=shoal.principles.KMap(k=3), population=people_of(everybody)
    )
    (finding,) = release.audit().findings
    assert finding.by == "population"
    groups = [
        [rows[row] for row in release.linkage[part["row"].to_numpy()]]
        for part in release.published.with_row_index("row").partition_by("group")
    ]
    fewest = min(definition.matched(group, KINDS, persons) for group in groups)
    assert finding.measurement.risk == Fraction(1, fewest)
    assert finding.holds


@given(drawn)
def test_unprotected_rows_match_whoever_has_their_values(both):
    table, everybody = both
    coded = code_table(frame(table), schema())
    groups = unprotected(coded)
    places = code_people(people_of(everybody), coded).places(coded)
    found = exact_matches(coded, groups, places)
    rows, persons = rows_of(table), rows_of(everybody)
    wanted = [persons.count(rows[row]) for row in groups.order[groups.starts[:-1]]]
    assert found.tolist() == wanted


groups_of_two = st.integers(1, 12), st.integers(0, 20)


@given(*groups_of_two)
def test_the_risk_of_presence_is_the_share_or_says_that_it_is_too_low(rows, people):
    groups = Groups(np.zeros(rows, np.int64), np.array([people]))
    found = shoal.principles.DeltaPresence(low=0.25, high=0.75).measure(groups, None)
    if people == 0:
        assert found.risk == 2
    elif Fraction(rows, people) < Fraction(1, 4):
        assert found.risk == Fraction(5, 4) - Fraction(rows, people)
    else:
        assert found.risk == Fraction(rows, people)
    assert found.holds == (people > 0 and rows * 4 >= people and rows * 4 <= people * 3)
