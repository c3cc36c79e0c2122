"""Several releases read together: intersection of all of them, and rows that went or came."""

import random
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import shoal

QUASI, SENSITIVE = "age", "pay"
SCHEMA = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE)


def grouped(draw: random.Random, people: list[tuple[int, int]]) -> pl.DataFrame:
    """Publish people in groups of neighbours, of two or three, with intervals of ages."""
    order = sorted(people, key=lambda one: (one[0], draw.random()))
    rows: list[tuple[int, str, int]] = []
    at = 0
    while at < len(order):
        size = draw.choice([2, 3]) if len(order) - at > 4 else len(order) - at
        some = order[at : at + size]
        low, high = min(a for a, _ in some), max(a for a, _ in some)
        cell = str(low) if low == high else f"[{low}, {high}]"
        rows += [(len(rows), cell, pay) for _, pay in some]
        at += size
    return pl.DataFrame(rows, schema=["n", QUASI, SENSITIVE], orient="row").drop("n")


def covers(cell: str, age: int) -> bool:
    ends = cell.strip("[]").split(", ")
    return int(ends[0]) <= age <= int(ends[-1])


def test_what_remains_is_what_all_releases_allow():
    for seed in range(25):
        draw = random.Random(seed)
        people = [(draw.randint(0, 9), draw.choice([1, 2, 2, 5, 9, 12])) for _ in range(14)]
        releases = [grouped(draw, draw.sample(people, 11)) for _ in range(draw.choice([3, 4]))]
        original = pl.DataFrame(people, schema=[QUASI, SENSITIVE], orient="row")
        facts = shoal.attack(releases, SCHEMA, original=original).to_dict()["together"][0]
        remaining = []
        for age, pay in people:
            found = [
                {row[SENSITIVE] for row in one.iter_rows(named=True) if covers(row[QUASI], age)}
                for one in releases
            ]
            found = [some for some in found if some]
            if len(found) > 1:
                shared = set.intersection(*found)
                remaining.append((len(shared), pay in shared))
        assert facts["in_several"] == len(remaining)
        assert facts["mean_values"] == sum(n for n, _ in remaining) / len(remaining)
        pinned = sum(n == 1 and own for n, own in remaining) / len(remaining)
        assert facts["pinned"] == pinned


def test_rows_that_went_or_came_are_counted_by_group():
    for seed in range(40):
        draw = random.Random(seed)

        def release(draw: random.Random = draw) -> pl.DataFrame:
            rows = [
                (draw.choice(["1", "[2, 3]", "[1, 9]"]), draw.choice([1, 1, 2, 7]))
                for _ in range(draw.randint(1, 9))
            ]
            return pl.DataFrame(rows, schema=[QUASI, SENSITIVE], orient="row")

        one, two = release(), release()
        found = shoal.attack([one, two], SCHEMA).to_dict()["difference"]
        by_cell = [
            {
                cell: Counter(pay for c, pay in table.iter_rows() if c == cell)
                for cell in set(table[QUASI])
            }
            for table in (one, two)
        ]
        shared = by_cell[0].keys() & by_cell[1].keys()
        gone = [(by_cell[0][cell] - by_cell[1][cell]).total() for cell in shared]
        new = [(by_cell[1][cell] - by_cell[0][cell]).total() for cell in shared]
        if not shared:
            assert not found
            continue
        (facts,) = found
        assert facts["shared_groups"] == len(shared)
        assert facts["rows_gone"] == sum(gone)
        assert facts["rows_new"] == sum(new)
        assert facts["rows_alone"] == gone.count(1) + new.count(1)
        assert facts["changed_groups"] == sum(g + n > 0 for g, n in zip(gone, new, strict=True))


def series(where: Path, draw: random.Random, form: str) -> tuple[list[Path], list[dict[str, str]]]:
    """Publish four rounds of a changing table under a ledger; return them and everybody."""
    people = [
        {"who": f"p{n}", QUASI: str(draw.randint(20, 60)), SENSITIVE: str(100 * n)}
        for n in range(60)
    ]
    draw.shuffle(people)
    rounds = [people[:30], people[5:40], people[9:50] + people[:2], people[14:]]
    schema = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE, person="who")
    for place, now in enumerate(rounds):
        shoal.results.Run(
            table=pl.DataFrame(now),
            schema=schema,
            require="EpsilonM(epsilon=3, m=3)",
            form=form,
            ledger=where / "ledger",
            output=where / f"r{place}",
        ).publish()
    return [where / f"r{place}" for place in range(len(rounds))], people


@pytest.mark.few(2)
@pytest.mark.parametrize("form", ["intervals", "bounds", "two-tables"])
def test_a_series_gives_nothing_away_and_the_same_people_published_anew_do(form, tmp_path):
    draw = random.Random(form)
    releases, people = series(tmp_path, draw, form)
    original = pl.DataFrame(people)
    stayed = original[14:30]  # who is in every round
    found = shoal.attack(releases, original=stayed).to_dict()
    (together,) = found["together"]
    assert together["releases"] == [one.name for one in releases]
    assert together["in_several"] == 16
    assert together["pinned"] == together["misled"] == 0
    assert together["mean_values"] >= 3
    assert len(found["difference"]) == 3
    for one in found["difference"]:
        assert one["shared_groups"] > 0
        assert one["changed_groups"] == one["rows_gone"] == one["rows_new"] == 0
        assert one["sentence"].endswith("0 of these alone in their group).")
    alone = shoal.attack(releases).to_dict()
    assert alone["difference"] == found["difference"]
    schema = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE, person="who")
    anew = []
    for place in range(4):
        anew.append(tmp_path / f"new{place}")
        some = original[draw.sample(range(60), 40)]
        shoal.anonymize(some, schema, require="EpsilonM(epsilon=3, m=3)").write(anew[-1])
    told = shoal.attack(anew, original=original).to_dict()["together"][0]
    assert told["pinned"] > 0.05
