"""A composed distance, and one by the beginnings of codes, are what their definitions say."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from reference.composed import composed, prefix, risk
from shoal.errors import UsageError
from shoal.notation import parse
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

CODES = ["E11.9", "E11.0", "E11", "E1", "I20.1", "I21", "I2", "Z9"]
WEIGHTS = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
WHOLE = (
    "Dissimilarity(epsilon={}, delta=0.25, k=2, distance=Composite("
    "[Lp(), Equality(), Hierarchical(Prefix())], weights=[0.5, 0.25, 0.25]))"
)


def draw(rng: random.Random) -> list[tuple]:
    return [
        (rng.choice([0, 1, 2, 4, 8]), rng.choice("ab"), rng.choice(CODES))
        for _ in range(rng.randint(4, 14))
    ]


def published(rows: list[tuple], groups: list[int]) -> pl.DataFrame:
    numbers, labels, codes = zip(*rows, strict=True)
    return pl.DataFrame({"q": groups, "n": numbers, "l": labels, "c": codes})


@pytest.mark.parametrize("seed", range(60))
def test_a_composed_distance_is_the_weighted_sum_of_its_parts(seed):
    rng = random.Random(seed)
    rows = draw(rng)
    groups = [rng.randrange(3) for _ in rows]
    longest = max(len(row[2]) for row in rows)
    ties = [composed(rows[0], row, rows, WEIGHTS) for row in rows]
    epsilon = float(rng.choice([Fraction(1, 4), Fraction(1, 2), *ties]))
    limit = Fraction(epsilon).limit_denominator(64 * longest)
    schema = shoal.Schema(quasi="q", sensitive=["n", "l", "c"], types={"c": "code"})
    table = published(rows, groups)
    found = shoal.audit(table, schema, require=WHOLE.format(epsilon))
    members = [
        [row for row, own in zip(rows, groups, strict=True) if own == g] for g in set(groups)
    ]

    def near(one: tuple, two: tuple) -> bool:
        return composed(one, two, rows, WEIGHTS) <= limit

    wanted = max(risk(group, near) for group in members)
    assert found.worst_risk == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_codes_are_near_by_their_beginnings(seed):
    rng = random.Random(1000 + seed)
    codes = [rng.choice(CODES) for _ in range(rng.randint(3, 12))]
    value = shoal.distances.Hierarchical.read("Hierarchical(Prefix())")
    column = code_column(pl.Series("c", codes), kind="code")
    known = column.spellings.to_list()
    left, right = (a.ravel() for a in np.indices((len(known), len(known))))
    found = value.between(Sensitive.of((column,)), left, right)
    wanted = [prefix(known[a], known[b], codes) for a, b in zip(left, right, strict=True)]
    assert found.tolist() == pytest.approx([float(one) for one in wanted])


def test_columns_go_to_distances_in_their_order():
    both = shoal.distances.Composite.read("Composite([GreatCircle(), Equality()])")
    assert both.shares(3) == (2, 1)
    assert both.shares(4) == (2, 2)
    assert both.numbers_of(3) == (True, True, False)
    assert shoal.distances.Composite.read("Composite([Lp(weights=[1, 2]), Equality()])").shares(
        4
    ) == (2, 2)
    for text, count in (
        ("Composite([Lp(), Equality()])", 3),
        ("Composite([Absolute(), Edit()])", 3),
        ("Composite([GreatCircle(), Edit()])", 2),
    ):
        with pytest.raises(UsageError, match="Name as many columns"):
            shoal.distances.Composite.read(text).shares(count)


@pytest.mark.parametrize(
    "text",
    ["Composite([])", "Composite([1])", "Composite([Lp()], weights=[1, 2])", "Hierarchical()",
     "Hierarchical(Lp())", "Composite([Lp()], weights=[-1])"],
)  # fmt: skip
def test_what_makes_no_distance_is_refused(text):
    with pytest.raises(UsageError):
        parse(text)


def test_a_release_under_a_composed_distance_holds_by_its_own_audit(tmp_path):
    rng = random.Random(5)
    rows = [(rng.randint(0, 100), rng.choice("abc"), rng.choice(CODES)) for _ in range(120)]
    frame = published(rows, [rng.randint(18, 80) for _ in rows])
    schema = shoal.Schema(quasi="q", sensitive=["n", "l", "c"], types={"c": "code"})
    release = shoal.anonymize(frame, schema, require=WHOLE.format(0.2))
    assert release.write(tmp_path / "out").holds
