"""Numbers at the edge of what doubles hold: nodes cover their rows, nothing fails or warns."""

import csv
import itertools
import json
import random
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import shoal as library
from shoal.principles.dissimilarity import reach, theorem

from .shell import shoal

PLACES = (2**53, 2**63, -(2**64), 2**70, 10**25, 10**40)
HUGE = ("1.7e308", "-1.7e308", "5e-324", "0", "12")


def released(frame: pl.DataFrame, hierarchy: str, k: int = 2) -> pl.DataFrame:
    schema = library.Schema(quasi="q", sensitive="s", hierarchies={"q": hierarchy})
    table = library.anonymize(frame, schema, require=f"KAnonymity(k={k})").table
    return table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("width", ["3", "0.1", "0.5", "7"])
def test_a_bin_covers_its_rows_however_large_they_are(place: int, width: str) -> None:
    chance = random.Random(place % 1000)
    cells = [str(place + chance.randint(-6, 6)) for _ in range(9)]
    frame = pl.DataFrame({"q": cells, "s": range(9)})
    seen = set()
    for k in (2, 4):
        for row in released(frame, f"Bins(width={width})", k).iter_rows(named=True):
            name, true = row["q"], Fraction(cells[row["s"]])
            seen.add(name)
            if name.startswith("["):
                low, high = map(Fraction, name[1:-1].split(", "))
                assert low <= true < high
                steps = (high - low) / Fraction(width)
                assert steps.denominator == 1
                assert steps.numerator.bit_count() == 1
                assert (low / (high - low)).denominator == 1
            elif name != "*":
                assert Fraction(name) == true
    assert len(seen) > 1 or width in {"0.1", "0.5"}


def test_a_bin_of_time_ends_at_midnight_to_the_nanosecond() -> None:
    days = [f"2024-01-0{day}T" for day in (1, 2, 3)]
    cells = [day + time for day in days for time in ("23:59:59.999999999", "00:00:00.000000000")]
    frame = pl.DataFrame({"q": cells, "s": range(6)})
    found = {row["s"]: row["q"] for row in released(frame, "Bins(width=1)").iter_rows(named=True)}
    for one, other in itertools.combinations(range(6), 2):
        assert (found[one] == found[other]) == (cells[one][:10] == cells[other][:10])


@pytest.mark.parametrize("hierarchy", ["Grouped(size=2)", "Quantiles(parts=2)"])
def test_a_run_of_times_covers_nobody_a_nanosecond_beyond(hierarchy: str) -> None:
    base = "2024-01-01T00:00:00.00000"
    frame = pl.DataFrame({"q": [base + end for end in ("0100", "0200", "1100", "1200")]})
    frame = frame.with_columns(s=pl.Series([1, 2, 3, 4]))
    outside = [base + end for end in ("0099", "0201", "1099", "1201")]
    people = pl.DataFrame({"q": [*frame["q"], *outside]})
    schema = library.Schema(quasi="q", sensitive="s", hierarchies={"q": hierarchy})
    release = library.anonymize(frame, schema, require="KAnonymity(k=2)")
    assert "*" not in set(release.table["q"])
    for k in (2, 3):
        found = library.audit(release.table, schema, require=f"KMap(k={k})", population=people)
        assert found.holds == (k == 2)


@pytest.mark.parametrize("method", ["Freeform()", "Ring()"])
def test_candidates_are_compared_whatever_the_spread(tmp_path: Path, method: str) -> None:
    table, release = tmp_path / "table.csv", tmp_path / "release"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("q", "s"), *((i, HUGE[i % 5]) for i in range(10))])
    roles = ("--quasi", "q", "--sensitive", "s")
    require = ("--require", "KAnonymity(k=2)", "--method", method)
    assert shoal("anonymize", table, *roles, *require, "--output", release, "--quiet").code == 0
    audit = shoal("audit", release, "--original", table)
    assert (audit.code, audit.err) == (0, "")
    attack = shoal("attack", release, "--original", table, "--quiet")
    assert (attack.code, attack.err) == (0, "")


@pytest.mark.few(2)
@pytest.mark.parametrize("form", ["intervals", "bounds", "means"])
@pytest.mark.parametrize("cells", [HUGE, tuple(str(10**25 + i) for i in range(5))])
def test_no_form_fails_or_warns(tmp_path: Path, form: str, cells: tuple[str, ...]) -> None:
    table, release, owner = (tmp_path / name for name in ("t.csv", "release", "owner.html"))
    rows = [(cells[i % 5], cells[i // 2 % 5], cells[i * 3 % 5]) for i in range(20)]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("q", "r", "s"), *rows])
    options = ("--require", "KAnonymity(k=2)", "--suppress", "30%", "--form", form, "--quiet")
    places = ("--output", release, "--owner-report", owner)
    found = shoal("anonymize", table, "--quasi", "q,r", "--sensitive", "s", *options, *places)
    assert (found.code, found.err) == (0, "")


@pytest.mark.parametrize("hierarchy", ["Prefix()", "Grouped(size=2)", "Bins(width=2)", None])
@pytest.mark.parametrize("rows", [3, 4, 6])
def test_a_table_of_which_everybody_is_in_the_way_is_refused(
    tmp_path: Path, hierarchy: str | None, rows: int
) -> None:
    table = tmp_path / "t.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("q", "s"), *((i, 5) for i in range(rows))])
    tree = () if hierarchy is None else ("--hierarchy", f"q={hierarchy}")
    options = ("--require", "FrequencyL(l=2)", "--suppress", "40%", "--output", tmp_path / "out")
    found = shoal("anonymize", table, "--quasi", "q", "--sensitive", "s", *tree, *options)
    assert found.code == 3
    assert "unforeseen" not in found.err


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("round", 10, {0, 2**63 + 2, 2**63 + 22}),
        ("top", 2**63 + 9, {3, 2**63 + 1, 2**63 + 5, 2**63 + 9}),
        ("bottom", 10**25, {10**25}),
        ("top", -(10**25), {-(10**25)}),
    ],
)
def test_integers_are_cut_off_and_rounded_beyond_64_bits(
    option: str, value: int, wanted: set[int]
) -> None:
    cells = pl.Series([2**63 + 5, 2**63 + 17, 2**63 + 1, 3], dtype=pl.UInt64)
    frame = pl.DataFrame({"q": cells, "s": [1, 2, 3, 4]})
    schema = library.Schema(quasi="q", sensitive="s", **{option: {"q": value}})  # type: ignore[arg-type]
    table = library.anonymize(frame, schema, require="KAnonymity(k=1)").table
    assert {int(cell) for cell in table["q"]} == wanted


def test_a_plan_for_groups_beyond_all_tables_does_not_count_up_to_them() -> None:
    frame = pl.DataFrame({"s": [5, 5, 5, 5]})
    require = f"Dissimilarity(epsilon=1, delta=0.5, k={10**25})"
    assert library.plan(frame, library.Schema(sensitive="s"), require=require)


@pytest.mark.parametrize("rows", [1, 2, 7, 12, 13])
def test_what_a_theorem_reaches_is_what_trying_finds(rows: int) -> None:
    for degree, k in itertools.product(range(14), range(2, 14)):
        tried = (t for t in range(k - 1) if theorem(degree, rows // k, t) is not None)
        assert reach(k, rows, degree).neighbours == next(tried, None)


TWINS = [
    ("9007199254740993.25", "9007199254740993.5"),
    ("0.12345678901234567890", "0.12345678901234567891"),
    ("-1e22", "-10000000000000000000000.5"),
    ("1e-400", "0"),
    ("0.1", "0.1000000000000000055511151231257827"),
    ("9007199254740993", "9007199254740992"),  # beside a decimal, integers are doubles too
]


@pytest.mark.few(2)
@pytest.mark.parametrize("twins", TWINS)
@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_numbers_that_no_double_tells_apart_are_never_taken_for_one(
    twins: tuple[str, str], role: str, tmp_path: Path
) -> None:
    cells = [*twins, "3.5", "4", "20", "20.0", "2e1", twins[0]]
    table, schema = tmp_path / "t.csv", ("--quasi", "x", "--sensitive", "y")
    if role == "sensitive":
        schema = ("--quasi", "y", "--sensitive", "x")
    table.write_text("x,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    asked = ("anonymize", table, *schema, "--require", "KAnonymity(k=2)", "--quiet")
    done = shoal(*asked, "--output", tmp_path / "out")
    assert done.code == 2
    assert "Column 'x' has 3 too exact cells, first in data rows 1, 2, 8." in done.err
    remedy = done.err.split("--round ")[1].split(",")[0]
    mended = shoal(*asked, "--output", tmp_path / "out", "--round", remedy)
    assert mended.code == 0, mended.err
    labels = shoal(*asked, "--output", tmp_path / "labels", "--type", "x=categorical")
    assert labels.code == 0, labels.err
    whole = pl.DataFrame({"x": cells, "y": range(8)})
    frame = whole.with_columns(pl.col("x").cast(pl.Categorical))
    with pytest.raises(library.InputError, match="too exact"):
        library.anonymize(frame, library.Schema(quasi="x"), require="KAnonymity(k=2)")


def test_spellings_of_one_number_are_one_number() -> None:
    cells = ["20", "20.0", "2e1", "0.5", "5e-1", "0.50", "-0", "0", "0.0"]
    frame = pl.DataFrame({"x": cells, "y": range(9)})
    schema = library.Schema(quasi="x", sensitive="y")
    found = library.anonymize(frame, schema, require="KAnonymity(k=3)").table
    assert sorted(found["x"].unique().to_list()) == ["0", "0.5", "20"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("large", [2**53, 2**62, 10**20])
def test_means_of_integers_are_exact_in_every_format(
    format: str, large: int, tmp_path: Path
) -> None:
    values = [large + n for n in (1, 2, 3, 4, 6, 7, 11, 12, 13, 90, 91, 95)]
    table = pl.DataFrame({"x": [str(value) for value in values], "y": range(12)})
    table.write_csv(tmp_path / "t.csv")
    done = shoal(
        "anonymize", tmp_path / "t.csv", "--quasi", "x", "--sensitive", "y", "--form", "means",
        "--require", "KAnonymity(k=3)", "--format", format, "--output", tmp_path / "out", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    path = tmp_path / "out" / f"release.{format}"
    if format == "csv":
        rows = pl.read_csv(path, infer_schema=False)
    elif format == "parquet":
        rows = pl.read_parquet(path)
    else:
        lines = [json.loads(line, parse_float=str) for line in path.read_text().splitlines()]
        rows = pl.DataFrame(lines, strict=False)
    for group in rows.partition_by("group"):
        own = [values[int(place)] for place in group["y"]]
        exact = Fraction(sum(own), len(own))
        shown = Fraction(str(group["x"][0]))
        assert abs(shown - exact) <= Fraction(1, 200)
    assert shoal("audit", tmp_path / "out").code == 0
