"""A number that is written in several ways is one value to every requirement and to the audit."""

from __future__ import annotations

import random
import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jvm
import shoal
from shoal.errors import InputError
from shoal.table.coding import code_column
from shoal.table.decimals import first_alike

SCHEMA = shoal.Schema(quasi="age", sensitive="x")
WAYS = ("{}", "0{}", "+{}", "{}.", "{}.0", "00{}.00", "{}e0", " {}")
NUMBERS = r"\A[+-]?[0-9]{1,3}(\.[0-9]{0,2})?([eE][+-]?[0-9])?\Z"
PRINCIPLES = ("FrequencyL(l=3)", "DistinctL(l=3)", "EntropyL(l=2)", "AlphaK(alpha=0.4, k=3)")


def number(text: str) -> Decimal | str:
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return text


@given(
    st.lists(
        st.from_regex(r"\A[+-]?[0-9]{1,3}(\.[0-9]{0,2})?([eE][+-]?[0-9])?\Z")
        | st.sampled_from("ab"),
        min_size=1,
        max_size=12,
    )
)
def test_labels_are_alike_where_they_are_one_number(texts):
    column = code_column(pl.Series("x", texts), kind="categorical")
    labels = column.spellings.to_list()
    firsts = range(len(labels)) if column.alike is None else column.alike.tolist()
    for place, first in enumerate(firsts):
        same = [n for n, text in enumerate(labels) if number(text) == number(labels[place])]
        assert first == min(same)


def made(seed: int, *, words: bool) -> pl.DataFrame:
    """Return a table whose numbers are written in all ways, in a column of labels."""
    chance = random.Random(seed)
    values = [str(n % 5) for n in range(60)]
    spelled = [chance.choice(WAYS).format(one) for one in values]
    more = ["none"] * 12 if words else []
    cells = [*spelled, *more]
    return pl.DataFrame({"age": [chance.randint(18, 60) for _ in cells], "x": cells})


def most(table: pl.DataFrame, of: Any = number) -> float:
    groups = table.group_by("group").agg("x")["x"].to_list()
    return max(max(Counter(map(of, some)).values()) / len(some) for some in groups)


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("require", PRINCIPLES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_required_holds_of_numbers_and_not_of_their_spellings(require, seed, words):
    release = shoal.anonymize(made(seed, words=words), SCHEMA, require=require, seed=seed)
    shown = release.table
    assert sorted(shown["x"]) == sorted(made(seed, words=words)["x"])
    if require.startswith(("FrequencyL", "AlphaK")):
        (measured,) = release.manifest.measured
        assert measured.risk == pytest.approx(most(shown))
        assert measured.risk > most(shown, str) or most(shown) == most(shown, str)
    groups = shown.group_by("group").agg("x")["x"].to_list()
    if require.startswith("DistinctL"):
        assert all(len(set(map(number, some))) >= 3 for some in groups)


@pytest.mark.spark
def test_spark_counts_numbers_too():
    release = shoal.anonymize(
        jvm.frame(made(1, words=True)), SCHEMA, require="FrequencyL(l=3)", engine=jvm.engine()
    )
    shown = pl.DataFrame(pl.from_arrow(release.table.toArrow()))
    (measured,) = release.manifest.measured
    assert measured.risk == pytest.approx(most(shown))
    assert measured.holds


def test_the_audit_counts_numbers_in_what_others_wrote(tmp_path):
    """Groups of two spellings of one number hold nothing, whatever the manifest says."""
    table = pl.DataFrame({"age": [n // 2 for n in range(40)], "x": ["5", "7"] * 20})
    shoal.anonymize(table, SCHEMA, require="FrequencyL(l=2)").write(tmp_path / "out")
    audit = shoal.audit(tmp_path / "out")
    assert audit.holds
    path = tmp_path / "out" / "release.csv"
    path.write_text(path.read_text().replace(",7\n", ",05\n"))
    found = shoal.audit(path, SCHEMA, require="FrequencyL(l=2)")
    assert not found.holds


COMMAS = ("{},5", "0{},5", "{}.5", "+{},50", "{}.50", " {},5")


@pytest.mark.parametrize("decimal", [None, ",", "."])
@pytest.mark.parametrize("words", [True, False])
def test_decimal_commas_write_the_numbers_that_points_do(decimal, words):
    chance = random.Random(3)
    cells = [chance.choice(COMMAS).format(n % 5) for n in range(60)] + ["none"] * 12 * words
    table = pl.DataFrame({"age": [chance.randint(18, 60) for _ in cells], "x": cells})
    schema = shoal.Schema(quasi="age", sensitive="x", decimal=decimal)
    release = shoal.anonymize(table, schema, require="FrequencyL(l=3)", seed=1)
    assert sorted(release.table["x"]) == sorted(cells)
    (measured,) = release.manifest.measured
    assert measured.risk == pytest.approx(
        most(release.table, lambda text: number(text.replace(",", ".")))
    )


def readings(text: str) -> set[Decimal]:
    """Return the numbers that a label may be, by hand."""
    found = set()
    for point, between in ((".", ", "), (",", ". ")):
        whole, *rest = text.strip().split(point)
        parts = re.split(f"[{between}]", whole)
        fits = len(parts) == 1 or all(len(one) == 3 for one in parts[1:])
        fits &= len(parts) == 1 or 1 <= len(parts[0].lstrip("+-")) <= 3
        digits = "".join(parts)
        fits &= len(rest) < 2 and re.fullmatch("[+-]?[0-9]+", digits) is not None
        if fits and all(re.fullmatch("[0-9]*", one) for one in rest):
            found.add(Decimal(".".join([digits, *rest])))
    return found


@given(
    st.lists(
        st.from_regex(r"\A[+-]?[0-9]{1,4}([., ][0-9]{3}){0,2}([.,][0-9]{0,3})?\Z")
        | st.sampled_from(["1,5", "1.5", "1,500", "1.500", "1500", "1 500", "a", "1,5,1"]),
        max_size=8,
    )
)
def test_what_may_be_one_number_is_taken_for_one(texts):
    labels = sorted(set(texts))
    alike = {text: {text} for text in labels}
    for one in labels:
        for two in labels:
            if readings(one) & readings(two):
                both = alike[one] | alike[two]
                for text in both:
                    alike[text] = both
    found = first_alike(pl.Series(labels, dtype=pl.String))
    firsts = range(len(labels)) if found is None else found.tolist()
    assert [labels[first] for first in firsts] == [min(alike[text]) for text in labels]


def test_distances_of_texts_are_refused_for_numbers_in_several_spellings():
    table = pl.DataFrame({"age": range(8), "x": ["5", "05", "a", "b"] * 2})
    with pytest.raises(InputError, match="writes the same number in several ways"):
        shoal.anonymize(
            table, SCHEMA, require="Dissimilarity(epsilon=1, delta=0.5, k=2, distance=Edit())"
        )
