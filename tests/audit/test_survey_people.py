"""What the owner is told of people is counted among people, as what is required of them is."""

from __future__ import annotations

import random
from collections import defaultdict

import polars as pl
import pytest

import shoal
from shoal.runs.owner import riskiest

COUNTS = (1, 1, 1, 2, 2, 3)


def visits(chance: random.Random) -> pl.DataFrame:
    rows = []
    for person in range(40):
        age = chance.randint(20, 60)
        rows += [
            (f"p{person}", age, chance.randint(0, 300), chance.choice("uvwxyz"))
            for _ in range(60 if person == 0 else chance.choice(COUNTS))
        ]
    return pl.DataFrame(rows, schema=["who", "age", "pay", "ill"], orient="row")


def candidates_of(rows, *, known):
    """Return for each row the values of each person among whom its own cannot be told."""
    people = defaultdict(list)
    for row in rows:
        people[row["group"], row["person"]].append(row)
    groups = defaultdict(list)
    for (group, _), own in people.items():
        groups[group, len(own) if known else 0].append(own)
    return [
        groups[row["group"], len(people[row["group"], row["person"]]) if known else 0]
        for row in rows
    ]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_riskiest_rows_and_groups_are_those_of_people(seed, known):
    table = visits(random.Random(seed))
    schema = shoal.Schema(
        quasi="age", sensitive=["pay", "ill"], person="who", rows="known" if known else "unknown"
    )
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", method="Exchange()")
    rows = release.published.to_dicts()
    everybody = candidates_of(rows, known=known)
    for told in riskiest(release)["columns"]:
        name, epsilon = told["column"], told["riskiest"][0]["epsilon"]

        def near(first, second, name=name, epsilon=epsilon):
            if name == "ill":
                return first == second
            return abs(int(first) - int(second)) <= epsilon

        risks = [
            sum(any(near(one[name], row[name]) for one in own) for own in people) / len(people)
            for row, people in zip(rows, everybody, strict=True)
        ]
        shown = told["riskiest_records"]
        assert [one["risk"] for one in shown] == pytest.approx(
            sorted(risks)[: -len(shown) - 1 : -1]
        )
        for one in shown:
            place = one["row"] - 1
            assert one["risk"] == pytest.approx(risks[place])
            assert one["group"] == str(rows[place]["group"])
        worst = told["riskiest"][0]
        assert worst["risk"] == pytest.approx(max(risks))
        sizes = {
            (len(people), sum(map(len, people)))
            for row, people in zip(rows, everybody, strict=True)
            if str(row["group"]) == worst["group"]
        }
        assert (worst["people"], worst["rows"]) in sizes


def test_with_one_row_each_nothing_changes(tmp_path):
    table = visits(random.Random(1)).unique("who", maintain_order=True)
    answers = []
    for person in (None, "who"):
        schema = shoal.Schema(quasi="age", sensitive="pay", person=person)
        release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", seed=1)
        release.owner_report(tmp_path / f"{person}.html")
        told = riskiest(release)["columns"][0]
        answers.append((told["levels"], told["proximity"]))
    assert answers[0] == answers[1]
    assert "mean person" in (tmp_path / "who.html").read_text("utf-8")
    assert "mean row" in (tmp_path / "None.html").read_text("utf-8")
