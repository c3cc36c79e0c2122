"""What a stranger learns about one person is what the published files say, and nothing else."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import stranger as by_hand
from shoal.measures import person

QUASI = ("age", "zip", "job")
TREE = {"*": {"a", "b", "c", "d", "e"}, "x": {"a", "b"}, "y": {"c", "d", "e"}}
LISTED = "a;x;*\nb;x;*\nc;y;*\nd;y;*\ne;y;*\n"


def table(seed: int, rows: int, *, missing: bool = False) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": chance.integers(0, 9, rows),
            "zip": chance.choice(["10", "1.5", "400"], rows),
            "job": chance.choice(list("abcde"), rows),
            "pay": chance.integers(0, 40, rows),
        }
    ).with_columns(pl.col("zip").cast(pl.Float64))
    if missing:
        gone = pl.Series(chance.random(rows) < 0.15)
        frame = frame.with_columns(
            pl.when(gone).then(None).otherwise(pl.col(name)).alias(name)
            for name, gone in (("age", gone), ("job", gone.shuffle(seed)))
        )
    return frame


def agrees(
    view: Any, folder: Any, own: list[dict[str, Any]], *, nodes: Any = None, **how: Any
) -> None:
    """Compare a view with the oracle."""
    lines, found = by_hand.candidates(folder, own, QUASI, nodes or {}, **how)
    assert view.rows == lines
    (learned,) = view.columns
    if not found:
        assert learned.guesses == ()
        return
    if how.get("several"):
        assert view.people == len(found)
    assert {value or "": share for value, share in learned.values} == by_hand.shares(found, "pay")
    for guess in learned.guesses:
        listed, wherever = by_hand.best(found, "pay", Fraction(str(guess.width)))
        assert (guess.listed, guess.any) == (listed, wherever)


@settings(max_examples=examples(12), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["intervals", "bounds", "means", "two-tables"]),
    st.booleans(),
)
def test_from_files_alone(tmp_path_factory, seed, form, missing):
    frame = table(seed, 24, missing=missing and form != "two-tables")
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    asked = {"require": "EpsilonM(epsilon=3, m=2)", "suppress": "20%", "form": form}
    try:
        release = shoal.anonymize(frame, schema, missing="value", method="Split()", **asked)
    except shoal.NotAchievable:
        return
    folder = tmp_path_factory.mktemp("stranger") / "release"
    release.write(folder)
    rows = frame.to_dicts()
    for row in range(0, 24, 5):
        view = person(folder, row, original=frame)
        assert view.to_dict() == release.person(row).to_dict()
        agrees(view, folder, [rows[row]], several=False)
        same = [one for one in rows if all(one[n] == rows[row][n] for n in QUASI)]
        assert view.today_rows == len(same)
        assert sorted(map(str, view.columns[0].today)) == sorted(str(one["pay"]) for one in same)


@settings(max_examples=examples(8), deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["known", "unknown"]),
    st.sampled_from(["", "two-tables"]),
)
def test_people_with_several_rows(tmp_path_factory, seed, rows, form):
    chance = np.random.default_rng(seed)
    whom = np.repeat(np.arange(12), chance.integers(1, 4, 12))
    frame = table(seed, len(whom))
    each = frame.select(pl.col(name).gather(whom) for name in QUASI)
    if not form:
        each = each.with_columns(age=each["age"] + chance.integers(0, 2, len(whom)))
    frame = frame.with_columns(each.get_columns()).with_columns(who=pl.Series(whom))
    schema = shoal.Schema(quasi=QUASI, sensitive="pay", person="who", rows=rows, most_rows=2)
    if form and rows == "unknown":
        return
    asked: Any = {
        "require": "EpsilonM(epsilon=1, m=2)",
        "suppress": "60%",
        "form": form or "intervals",
    }
    try:
        release = shoal.anonymize(frame, schema, **asked)
    except shoal.NotAchievable:
        return
    folder = tmp_path_factory.mktemp("stranger") / "release"
    release.write(folder)
    for row in range(0, len(whom), 4):
        view = person(folder, row, original=frame, person="who")
        own = [one for one in frame.to_dicts() if one["who"] == whom[row]]
        assert view.own_rows == len(own)
        agrees(view, folder, own, several=True, known=rows == "known")


@pytest.mark.parametrize("form", ["intervals", "means"])
def test_nodes_of_a_listed_hierarchy(tmp_path, form):
    (tmp_path / "job.csv").write_text(LISTED)
    frame = table(7, 40)
    tree = {"job": str(tmp_path / "job.csv")}
    schema = shoal.Schema(quasi=QUASI, sensitive="pay", hierarchies=tree)
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=3, m=3)", form=form)
    release.write(tmp_path / "release")
    for row in range(0, 40, 7):
        view = person(tmp_path / "release", row, original=frame, hierarchies=tree)
        agrees(
            view,
            tmp_path / "release",
            [frame.row(row, named=True)],
            nodes={"job": TREE},
            several=False,
        )


@pytest.mark.more
def test_the_union_of_groups_may_exceed_the_bound_of_one(tmp_path):
    """Groups that overlap in their cells, each of which keeps its bound, may together break it."""
    folder, worst = tmp_path / "release", Fraction(0)
    for seed in range(examples(6)):
        frame = table(seed, 60)
        schema = shoal.Schema(quasi=("age",), sensitive="pay")
        release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=2, m=3)", suppress="10%")
        release.write(folder, force=True)
        for row in range(60):
            (learned,) = release.person(row).columns
            for guess in learned.guesses:
                worst = max(worst, guess.listed)
                assert guess.listed_bound == Fraction(1, 3)
    assert worst > Fraction(1, 3)


def test_nothing_but_files_and_quasi_values_counts(tmp_path):
    """Two tables with the same quasi values see the same release alike, whatever else they hold."""
    frame = table(3, 40)
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=3, m=3)")
    release.write(tmp_path / "release")
    other = frame.with_columns(pay=pl.lit(0))
    for row in (0, 11, 39):
        one, two = (person(tmp_path / "release", row, original=t) for t in (frame, other))
        assert one.to_dict()["after"] == two.to_dict()["after"]
        assert one.columns[0].values == two.columns[0].values
        assert one.columns[0].guesses == two.columns[0].guesses


def test_the_most_exposed_is_whose_value_is_guessed_best():
    frame = table(5, 40)
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=3, m=3)")
    views = [release.person(row) for row in range(40)]
    worst = max(views, key=lambda one: (one.columns[0].guesses[0].chance, -one.rows))
    assert release.person().row == worst.row


@pytest.mark.parametrize("row", [-1, 40])
def test_rows_that_are_not_there(row):
    frame = table(5, 40)
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=3)")
    with pytest.raises(shoal.InputError, match="from 0 to 39"):
        release.person(row)


def test_it_is_drawn():
    frame = table(5, 40).with_columns(ward=pl.lit("<b>x</b>"))
    schema = shoal.Schema(quasi=QUASI, sensitive=("pay", "ward"))
    release = shoal.anonymize(frame, schema, require="pay: EpsilonM(epsilon=3, m=3)")
    view = release.person(2)
    assert "rows fit" in str(view)
    assert "The best guess" in str(view)
    page = view._repr_html_()
    assert page.count("<svg") == 3  # pay today and after, and labels
    assert "<table" not in page
    assert "<b>x</b>" not in page


def test_the_owner_sees_the_most_exposed_one(tmp_path):
    frame = table(5, 40)
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    release = shoal.anonymize(frame, schema, require="EpsilonM(epsilon=3, m=3)")
    release.owner_report(tmp_path / "owner.html")
    page = (tmp_path / "owner.html").read_text()
    assert f"Row {release.person().row} of the original" in page
    assert "the most exposed person among everybody" in page


def test_rows_that_stand_for_nobody_count_as_much_as_their_group_has_real_people(tmp_path):
    """In a series, r real people among the n rows of a group count r / n each."""
    frame = table(11, 40).with_columns(who=pl.int_range(40))
    schema = shoal.Schema(quasi=QUASI, sensitive="pay", person="who")
    for place, rows in enumerate((frame, frame[::3]), 1):
        asked: Any = {"require": ["MUniqueness(m=2)"], "ledger": tmp_path / "ledger"}
        shoal.results.Run(
            table=rows, schema=schema, output=tmp_path / f"{place}", **asked
        ).publish()
    rows = frame[::3]
    for row in range(0, rows.height, 3):
        view = person(tmp_path / "2", row, original=rows, person="who")
        agrees(view, tmp_path / "2", [rows.row(row, named=True)], several=True)


OUT = pl.DataFrame(
    {
        "age": [20, 21, 22, 23, 24, None, 25, 26, 27, 28, 90],
        "pay": [100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 5000],
    }
)


@pytest.mark.parametrize("form", ["intervals", "two-tables"])
def test_of_rows_that_were_left_out_nothing_is_said_to_be_theirs(form: str, tmp_path: Path) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    asked: Any = {"require": "EpsilonM(epsilon=100, m=2)", "missing": "drop", "form": form}
    release = shoal.anonymize(OUT, schema, **asked)
    release.write(tmp_path / "out")
    view = shoal.measures.person(tmp_path / "out", 5, original=OUT)
    assert view.published is False
    assert "this row is not in it" in str(view)
    assert "pay is between" not in str(view).replace("from their rows: pay is between", "")
    assert shoal.measures.person(tmp_path / "out", 4, original=OUT).published is True
    shown = shoal.measures.person(tmp_path / "out", original=OUT)
    assert shown.published is not False


def test_of_rows_that_are_all_there_and_of_unknown_numbers_no_number_is_said(
    tmp_path: Path,
) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    require = "EpsilonM(epsilon=100, m=2)"
    whole = OUT.drop_nulls()
    shoal.anonymize(whole, schema, require=require).write(tmp_path / "all")
    assert shoal.measures.person(tmp_path / "all", 0, original=whole).published is True
    shoal.anonymize(whole, schema, withhold_counts=True, require=require).write(tmp_path / "some")
    view = shoal.measures.person(tmp_path / "some", 0, original=whole)
    assert view.published is None
    assert "Rows may have been left out" in str(view)


def test_a_row_whose_values_nothing_that_fits_has_is_not_in_the_release(tmp_path: Path) -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    heap = pl.DataFrame({"age": range(30), "pay": [7] * 20 + [*range(100, 1100, 100)]})
    release = shoal.anonymize(heap, schema, require="EpsilonM(epsilon=1, m=2)", suppress="40%")
    release.write(tmp_path / "out")
    # Of some rows the table has other values than the release, as if others were published there.
    heap = heap.with_columns(
        pl.when(pl.col("age") % 7 == 0).then(12_345).otherwise("pay").alias("pay")
    )
    views = [shoal.measures.person(tmp_path / "out", row, original=heap) for row in range(30)]
    assert {one.published for one in views} == {False, None}
    for row, view in enumerate(views):
        fits = any(str(heap["pay"][row]) == text for text, _ in view.columns[0].values)
        assert view.published is (None if fits else False)
        assert ("this row is not in it" in str(view)) == (not fits)
        assert ("this row is not in it" in view._repr_html_()) == (not fits)
        assert ("rows that could be this one were left out" in str(view)) == fits


@pytest.mark.parametrize("several", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_most_exposed_has_a_value_to_guess_where_anybody_has(seed: int, several: int) -> None:
    """Among the people who have a value, it is still whose value is guessed best."""
    chance, who = np.random.default_rng(seed), np.arange(40) // several
    pay = [int(one) if one < 40 else None for one in chance.integers(0, 80, 40)]
    frame = table(seed, 40)[who].with_columns(pay=pl.Series(pay), who=who)
    person = "who" if several > 1 else None
    schema = shoal.Schema(quasi=QUASI, sensitive="pay", person=person)
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=4)", missing="value")
    views = [release.person(row) for row in range(0, 40, several)]
    valued = [one for one in views if any(one.columns[0].own) and one.published is not False]
    worst = max(valued, key=lambda one: (one.columns[0].guesses[0].chance, -one.people))
    assert release.person().row == worst.row


def test_without_any_value_somebody_is_still_the_most_exposed():
    frame = table(1, 40).with_columns(pay=pl.lit(None, pl.Int64))
    schema = shoal.Schema(quasi=QUASI, sensitive="pay")
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=4)", missing="value")
    assert release.person().rows >= 4
