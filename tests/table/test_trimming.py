"""Rounding and cutting off are exact, come first, and everything is measured after them."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from reference.trimming import percentile, trimmed
from shoal.errors import InputError, ShoalError, UsageError
from shoal.table.settling import settle

STEPS = [None, "1", "5", "100", "0.5", "0.25", "7", "1e3"]
CELLS = ["0", "-0", "1", "2.5", "-2.5", "7.5", "12.25", "1e3", "-17", "99.995", "1234567.125"]
HUGE = ["123456789012345678901234567890", "1e30", "-3e-7", "0.1"]


def said(value: str | None) -> dict[str, str]:
    return {} if value is None else {"x": value}


@pytest.mark.parametrize("seed", range(120))
def test_cells_are_rounded_and_cut_off_as_defined(seed):
    rng = random.Random(seed)
    pool = CELLS + (HUGE if rng.random() < 0.3 else [])
    cells = [rng.choice(pool) for _ in range(rng.randint(1, 12))]
    step = rng.choice(STEPS)
    bottom, top = rng.choice([(None, None), ("-5", "50"), (None, "12.25"), ("0.5", None)])
    if not (step or bottom or top):
        step = "5"
    schema = shoal.Schema(sensitive="x", round=said(step), bottom=said(bottom), top=said(top))
    table, _ = settle(pl.DataFrame({"x": [*cells, None]}), schema)
    found = table["x"].to_list()
    assert found.pop() is None
    for cell, got in zip(cells, found, strict=True):
        wanted = trimmed(cell, step=step, bottom=bottom, top=top)
        assert Fraction(got) == wanted
        if step is None and Fraction(cell) == wanted:
            assert got == cell  # whatever nothing is done to stays, character for character


@pytest.mark.parametrize("seed", range(40))
def test_typed_numbers_stay_numbers(seed):
    rng = random.Random(seed)
    whole = rng.random() < 0.5
    numbers = [rng.randint(-200, 200) if whole else rng.randint(-900, 900) / 4 for _ in range(9)]
    step = rng.choice(["5", "0.5", "10"])
    frame = pl.DataFrame({"x": [*numbers, None]})
    table, _ = settle(frame, shoal.Schema(sensitive="x", round={"x": step}, top={"x": 100}))
    assert table["x"].dtype.is_numeric()
    wanted = [trimmed(str(n), step=step, bottom=None, top="100") for n in numbers]
    assert [Fraction(n) for n in table["x"].to_list()[:-1]] == wanted
    assert table["x"][-1] is None


@pytest.mark.parametrize("seed", range(60))
def test_a_percentile_becomes_a_round_threshold_that_hides_no_less(seed):
    rng = random.Random(seed)
    cells = [str(round(rng.paretovariate(1) * 1000, rng.choice([0, 2]))) for _ in range(80)]
    share = rng.choice([90, 95, 99])
    schema = shoal.Schema(sensitive="x", top={"x": f"{share} %"}, bottom={"x": f"{100 - share}%"})
    _, settled = settle(pl.DataFrame({"x": cells}), schema)
    trim = settled.trims["x"]
    for threshold, exact in (
        (Fraction(str(trim.top)), percentile(cells, Fraction(share, 100))),
        (-Fraction(str(trim.bottom)), -percentile(cells, Fraction(100 - share, 100))),
    ):
        assert threshold <= exact
        assert exact - threshold < abs(exact) / 10 or threshold == exact
        assert len(str(abs(threshold.numerator)).rstrip("0")) <= 2
    assert settle(pl.DataFrame({"x": cells}), settled)[1].trims == settled.trims


@pytest.mark.parametrize("seed", range(3))
def test_what_holds_is_measured_on_the_values_as_published(seed, tmp_path):
    rng = random.Random(seed)
    rows = 120
    frame = pl.DataFrame(
        {
            "age": [rng.randint(18, 95) + rng.random() for _ in range(rows)],
            "charges": [round(rng.lognormvariate(8, 1), 2) for _ in range(rows)],
            "hours": [rng.randint(0, 99) for _ in range(rows)],
        }
    )
    schema = shoal.Schema(
        quasi="age",
        sensitive="charges",
        other="hours",
        round={"age": 5, "charges": 100, "hours": 10},
        top={"age": 85, "charges": "95%"},
    )
    release = shoal.anonymize(frame, schema, require=shoal.principles.EpsilonM(epsilon=150, m=3))
    audit = release.write(tmp_path / "out")
    assert audit.holds
    assert shoal.audit(tmp_path / "out").holds
    columns = release.manifest.by_name
    assert columns["age"].top == 85
    assert columns["charges"].round == 100
    written = pl.read_csv(tmp_path / "out" / "release.csv", infer_schema=False)
    top = columns["charges"].top
    for link, row in zip(release.linkage, written.iter_rows(named=True), strict=True):
        wanted = trimmed(str(frame["charges"][int(link)]), step="100", bottom=None, top=str(top))
        assert Fraction(row["charges"]) == wanted
        age = json.loads(row["age"])
        low, high = age if isinstance(age, list) else (age, age)
        own = trimmed(str(frame["age"][int(link)]), step="5", bottom=None, top="85")
        assert low <= own <= high
    assert sorted(release.table["charges"].to_list()) == sorted(map(float, written["charges"]))
    groups = written.group_by("group").agg(pl.col("charges").cast(pl.Float64))
    for values in groups["charges"]:
        for one in values:
            assert 3 * sum(abs(one - other) <= 150 for other in values) <= len(values)


def test_a_release_without_groups_is_audited_against_the_table_it_was_made_from(tmp_path):
    rng = random.Random(3)
    frame = pl.DataFrame(
        {
            "age": [rng.randint(18, 95) for _ in range(60)],
            "pay": [rng.randint(0, 9000) for _ in range(60)],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", round={"age": 10}, top={"age": 80})
    release = shoal.anonymize(
        frame, schema, require=shoal.principles.KAnonymity(k=3), method=shoal.methods.Freeform(k=3)
    )
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out", original=frame).holds


@pytest.mark.parametrize(
    "options",
    [
        {"round": {"x": 0}},
        {"round": {"x": "many"}},
        {"top": {"x": "30%"}},
        {"top": {"x": "100%"}},
        {"bottom": {"x": "60%"}},
        {"bottom": {"x": 5}, "top": {"x": 5}},
        {"round": {"y": 5}},
        {"round": {"x": 5}, "types": {"x": "code"}},
    ],
)
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(ShoalError):
        shoal.Schema(sensitive="x", **options)


def test_labels_are_not_rounded():
    with pytest.raises(InputError, match="non-numeric"):
        settle(pl.DataFrame({"x": ["1", "a"]}), shoal.Schema(sensitive="x", round={"x": 5}))


def test_decimal_commas_stay():
    schema = shoal.Schema(sensitive="x", decimal=",", round={"x": "0.5"})
    table, _ = settle(pl.DataFrame({"x": ["1.234,70", "0,10"]}), schema)
    assert table["x"].to_list() == ["1234,5", "0,0"]


def test_a_column_without_a_role_is_not_rounded():
    with pytest.raises(UsageError, match="give it a role"):
        shoal.Schema(quasi="a", top={"b": 3})


def taken_of(frame: pl.DataFrame, rows: list[int], share: int) -> Fraction:
    """Return the round threshold that some rows give."""
    cells = [str(frame["pay"][row]) for row in rows]
    schema = shoal.Schema(sensitive="x", top={"x": f"{share}%"})
    _, settled = settle(pl.DataFrame({"x": cells}), schema)
    exact, found = percentile(cells, Fraction(share, 100)), Fraction(str(settled.trims["x"].top))
    assert found <= exact
    return found


def with_people(seed: int, rows: int = 90) -> pl.DataFrame:
    rng = random.Random(seed)
    return pl.DataFrame(
        {
            "who": [f"p{rng.randrange(rows // 2)}" for _ in range(rows)],
            "age": [rng.choice([None, *range(20, 60)]) for _ in range(rows)],
            "pay": [round(rng.paretovariate(1) * 1000) for _ in range(rows)],
            "note": [rng.choice([None, "x", "y"]) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("engine", [None, "Local(shard=20)"])
@pytest.mark.parametrize("said", [{}, {"person": "who", "most_rows": 1}])
@pytest.mark.parametrize("seed", range(4))
def test_a_percentile_is_one_of_published_rows_and_of_no_others(seed, said, engine):
    frame = with_people(seed)
    schema = shoal.Schema(
        quasi="age", sensitive=["pay", "note"], top={"pay": "90%"}, types={"pay": "numeric"}, **said
    )
    release = shoal.anonymize(
        frame, schema, require="KAnonymity(k=3)", missing="drop", engine=engine
    )
    (column,) = [one for one in release.manifest.columns if one.name == "pay"]
    assert column.top == taken_of(frame, release.linkage.tolist(), 90)
    assert len(release.linkage) < frame.drop_nulls().height or not said
    spoiled = frame.with_columns(
        pl.when(pl.col("age").is_null() | pl.col("note").is_null())
        .then(10**9)
        .otherwise("pay")
        .alias("pay")
    )
    if not said:
        again = shoal.anonymize(spoiled, schema, require="KAnonymity(k=3)", missing="drop")
        assert again.manifest.columns == release.manifest.columns


def test_rows_that_nothing_publishes_would_be_seen_in_a_threshold():
    """The check has power: the threshold of all rows is another."""
    others = 0
    for seed in range(8):
        frame = with_people(seed)
        whole = range(frame.height)
        kept = [row for row in whole if None not in frame.row(row)]
        others += taken_of(frame, list(whole), 90) != taken_of(frame, kept, 90)
    assert others


@pytest.mark.parametrize("side", ["top", "bottom"])
@pytest.mark.parametrize("name", ["pay", "age"])
def test_a_percentile_is_refused_where_rows_may_be_suppressed(side, name):
    share = {"top": "99%", "bottom": "1%"}[side]
    schema = shoal.Schema(quasi="age", sensitive="pay", **{side: {name: share}})  # type: ignore[arg-type]
    run = shoal.results.Run(
        table=with_people(1).drop_nulls(), schema=schema, require="KAnonymity(k=3)", suppress="5%"
    )
    for do in (run.release, run.rehearse):
        with pytest.raises(UsageError, match="Give the threshold as a number"):
            do()


def test_a_percentile_is_refused_where_people_keep_fewer_rows_than_it_was_taken_of():
    frame = pl.DataFrame(
        {
            "who": [*"aaabbccddeefgh"],
            "age": [*range(20, 34)],
            "pay": [*range(1000, 15000, 1000)],
        }
    )
    said: dict[str, Any] = {"quasi": "age", "sensitive": "pay", "person": "who"}
    how: dict[str, Any] = {"require": "KAnonymity(k=2)"}
    plain = shoal.anonymize(frame, shoal.Schema(**said, top={"pay": 9000}), **how)
    assert plain.manifest.capped
    with pytest.raises(UsageError, match="of them are not published"):
        shoal.anonymize(frame, shoal.Schema(**said, top={"pay": "80%"}), **how)


def test_a_percentile_of_a_linked_table_is_one_of_its_published_rows():
    people = pl.DataFrame({"who": [*"abcdef"], "age": [30, None, 32, 33, 34, 35]})
    visits = pl.DataFrame(
        {"who": [*"abcdef"], "cost": [10, 900, 20, 30, 40, 50], "ward": [*"xxxxxx"]}
    )
    schema = shoal.Schema(
        quasi="age", sensitive=["visits.cost", "visits.ward"], person="who",
        top={"visits.cost": "80%"},
    )  # fmt: skip
    how: dict[str, Any] = {
        "require": "KAnonymity(k=2)",
        "missing": "drop",
        "linked": {"visits": visits},
    }
    with pytest.raises(UsageError, match="of them are not published"):  # of whom b is left out
        shoal.anonymize(people, schema, **how)
    shoal.anonymize(people.fill_null(31), schema, **how | {"missing": "value"})
