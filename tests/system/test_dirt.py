"""Tables as they arrive: every kind of dirt gives a right release or a sentence that names it."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amount import examples
from reference import release as oracle
from system.shell import shoal, write_csv

ROLES = ("--quasi", "age,town", "--sensitive", "salary")
K = "KAnonymity(k=2)"
ASKED = {"kind": "k-anonymity", "k": 2, "column": "salary"}


def rows(count: int = 40, **columns: list[str]) -> list[dict[str, str]]:
    draw = random.Random(3)
    return [
        {
            "age": str(draw.randint(20, 60)),
            "town": draw.choice("ABC"),
            "salary": str(draw.randint(1000, 5000)),
        }
        | {name: cells[row % len(cells)] for name, cells in columns.items()}
        for row in range(count)
    ]


def publish(tmp_path: Path, table: list[dict[str, str]], *options: object, require: str = K):
    path = write_csv(tmp_path / "t.csv", table, header=list(table[0]))
    out = tmp_path / "out"
    done = shoal("anonymize", path, *ROLES, "--require", require, "--output", out, *options)
    return done, out


def good(tmp_path: Path, table: list[dict[str, str]], *options: object) -> oracle.Release:
    done, out = publish(tmp_path, table, *options)
    assert done.code == 0, done.err
    assert oracle.problems(out, [ASKED]) == []
    assert shoal("audit", out).code == 0
    return oracle.read_release(out)


def test_decimal_commas_and_thousands_are_read_and_kept(tmp_path):
    table = rows(age=["1.234,5", "17", "2.000.000", "0,25"], salary=["1.000", "2.500,75", "900"])
    done, out = publish(tmp_path, table, "--decimal", ",", require="EpsilonM(epsilon=50, m=2)")
    assert done.code == 0, done.err
    release = oracle.read_release(out)
    ages = release.columns("quasi")[0]
    assert (ages["kind"], ages["domain"]) == ("interval", [0.25, 2000000])
    assert {row["salary"] for row in release.rows} == {"1.000", "2.500,75", "900"}
    assert shoal("audit", out).code == 0
    risk = json.loads((out / "manifest.json").read_text())["measured"][0]["risk"]
    assert risk <= 0.5  # 1,000 and 900 are apart, which 1.000 and 900 would not show


def test_numbers_with_points_for_thousands_are_numbers_in_parquet(tmp_path):
    table = rows(salary=["1.234", "2.500,75"])
    done, out = publish(tmp_path, table, "--decimal", ",", "--format", "parquet")
    assert done.code == 0, done.err
    assert set(pl.read_parquet(out / "release.parquet")["salary"]) == {1234.0, 2500.75}
    assert shoal("audit", out).code == 0


@pytest.mark.parametrize("thousands", [",", " ", "'", "\u00a0"])
def test_thousands_with_a_decimal_point_are_read(tmp_path, thousands):
    release = good(tmp_path, rows(age=[f"1{thousands}234.5", "17"]), "--decimal", ".")
    assert release.columns("quasi")[0]["domain"] == [17, 1234.5]


def test_a_decimal_sign_is_a_point_or_a_comma(tmp_path):
    done, _ = publish(tmp_path, rows(), "--decimal", ";")
    assert done.code == 2
    assert "'.' or ','" in done.said


def test_thousands_without_the_option_are_labels_and_refused_as_numbers(tmp_path):
    table = rows(age=["1,234", "17"])
    assert good(tmp_path, table).columns("quasi")[0]["kind"] == "set"
    done, _ = publish(tmp_path, table, "--type", "age=numeric", "--force")
    assert done.code == 2
    assert "Column 'age' has 20 non-numeric cells, first in data rows 1, 3, 5, 7, 9" in done.said


@pytest.mark.parametrize("cell", [" 17", "17 ", "n/a", "?", "-", "1O"])
def test_one_strange_cell_is_named_where_numbers_are_needed(tmp_path, cell):
    table = rows()
    table[6]["age"] = cell
    done, _ = publish(tmp_path, table, "--type", "age=numeric")
    assert done.code == 2
    assert "Column 'age' has 1 non-numeric cell, first in data row 7." in done.said


def test_numbers_with_missing_cells_are_numbers_where_missing_is_a_value(tmp_path):
    table = rows(age=["30", "4.0", "", "4", "100"])
    release = good(tmp_path, table, "--missing", "value")
    column = release.columns("quasi")[0]
    assert column["kind"] == "interval"
    assert column["domain"] == [4, 100, None]


def test_missing_numbers_under_a_distance_are_near_to_all(tmp_path):
    table = rows(salary=["1000", "", "2000"])
    done, _ = publish(tmp_path, table, "--missing", "value", require="EpsilonM(epsilon=5, m=2)")
    assert done.code == 3
    assert "have none, which counts as the same" in done.said


def test_three_hundred_columns_are_no_trouble(tmp_path):
    wide = {f"c{number}": [str(number), "x"] for number in range(300)}
    release = good(tmp_path, rows(40, **wide), "--other", "c7,c299")
    assert release.header == ["group", "age", "town", "salary", "c7", "c299"]


def test_a_column_of_one_value_and_identical_rows_cost_nothing(tmp_path):
    release = good(tmp_path, rows(age=["30"], town=["A"], salary=["1"]))
    assert release.manifest["loss"]["gcp"] == 0


def test_one_row_is_too_few(tmp_path):
    done, _ = publish(tmp_path, rows(1))
    assert done.code == 3
    assert "at least 2 rows, and the table has 1" in done.said


def test_integers_beyond_the_doubles_are_told_apart(tmp_path):
    big = 2**53
    release = good(tmp_path, rows(age=[str(big), str(big + 1), str(10**30), str(10**30 + 1)]))
    ends = {end for row in release.rows for end in oracle.parse_interval(row["age"])}
    assert ends <= {str(big), str(big + 1), str(10**30), str(10**30 + 1)}


def test_the_largest_doubles_are_published(tmp_path):
    release = good(tmp_path, rows(age=["1e308", "-1e308", "0"]))
    assert list(map(float, release.columns("quasi")[0]["domain"])) == [-1e308, 1e308]


def test_dates_before_1900_are_dates(tmp_path):
    release = good(tmp_path, rows(age=["1899-12-31", "0044-03-15", "1850-02-28"]))
    column = release.columns("quasi")[0]
    assert (column["kind"], column["type"]) == ("interval", "date")
    assert column["domain"] == ["0044-03-15", "1899-12-31"]


def test_labels_that_look_alike_stay_apart(tmp_path):
    alike = ["Ångström", "Ångström", "Angstrom", "angstrom ", "Α", "A"]
    release = good(tmp_path, rows(town=alike))
    assert set(release.columns("quasi")[1]["domain"]) == set(alike)


STRANGE = [
    "?",
    "NA",
    "nan",
    "null",
    "-",
    "0",
    "-0",
    "007",
    "1e308",
    "-1e308",
    "1e999",
    "12,5",
    "1.234,5",
    "9007199254740993",
    "true",
    "2024-02-29",
    "2023-02-29",
    "1850-01-01",
    "2024-01-01T10:00Z",
    "{a}",
    "=1+1",
    "å",
    "å",
    '"',
    "a,b",
    "*",
    "'x",
    "\ufeff",
]
CELLS = st.one_of(
    st.sampled_from(STRANGE),
    st.sampled_from(["", " ", "1 000", "[1, 2]", '["a"]', "two\nlines", "\ttab", "x" * 300]),
    st.integers(-5, 5).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5),
)
KINDS = ["numeric", "date", "latitude", "boolean", "code", "categorical"]


@st.composite
def dirty(draw: st.DrawFn) -> tuple[list[dict[str, str]], list[str]]:
    count = draw(st.integers(1, 12))
    table = {}
    for name in ("age", "town", "salary"):
        pool = draw(st.lists(CELLS, min_size=1, max_size=4))
        table[name] = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    options = ["--missing", draw(st.sampled_from(["error", "drop", "value"]))]
    if draw(st.booleans()):
        options += ["--type", f"age={draw(st.sampled_from(KINDS))}"]
    if draw(st.booleans()):
        options += ["--decimal", draw(st.sampled_from([".", ","]))]
    if draw(st.booleans()):
        trees = ["Prefix()", "Grouped(size=2)", "Calendar()", "Bins(width=2)", "Quantiles(parts=2)"]
        options += ["--hierarchy", f"town={draw(st.sampled_from(trees))}"]
    methods = ["Exchange()", "Split()", "Mondrian()", "Freeform()"]
    options += ["--method", draw(st.sampled_from(methods))]
    options += ["--format", draw(st.sampled_from(["csv", "csv", "parquet"]))]
    return [
        dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)
    ], options


@settings(
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(dirty())
def test_any_table_ends_in_a_checked_release_or_a_sentence(tmp_path_factory, drawn):
    table, options = drawn
    place = tmp_path_factory.mktemp("dirty")
    done, out = publish(place, table, *options)
    assert done.code in {0, 2, 3}, (done.code, done.err)
    assert "unforeseen" not in done.err
    assert "Traceback" not in done.err
    if done.code:
        assert done.err.strip().endswith((".", "?")), done.err
        assert not out.exists()
        return
    freeform = "Freeform()" in options
    original = ("--original", place / "t.csv") if freeform else ()
    assert shoal("audit", out, *original).code == 0
    if (out / "release.csv").exists() and not freeform:
        assert oracle.problems(out, [ASKED]) == []


@pytest.mark.parametrize("form", ["intervals", "bounds", "two-tables"])
@pytest.mark.parametrize("kind", ["numeric", "latitude", "date", None])
@pytest.mark.parametrize("empty", [1, 6])
def test_numbers_of_which_some_are_missing_are_labels_whatever_type_was_said(
    form, kind, empty, tmp_path
):
    known = ["1990-02-01", "1991-01-05"] if kind == "date" else ["20", "31.5"]
    table = [
        {"age": "" if row < empty else known[row % 2], "town": "a", "salary": str(row)}
        for row in range(6)
    ]
    options = ["--missing", "value", "--form", form, "--require", "FrequencyL(l=2)"]
    options += ["--type", f"age={kind}"] if kind else []
    done = shoal(
        "anonymize", write_csv(tmp_path / "t.csv", table), "--quasi", "age,town",
        "--sensitive", "salary", *options, "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.said
    assert shoal("audit", tmp_path / "out").code == 0
