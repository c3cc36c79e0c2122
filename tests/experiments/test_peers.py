"""The parts of the comparison with the peers that need no peer."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import polars as pl
import pytest
from peers.cases import Case, arx_levels, halved
from peers.judge import anonypy_range, anonypy_set, judge, node_speller, respell
from peers.measure import measure
from peers.run import Book, ordered
from peers.show import (
    PAGE,
    RELEASES,
    audits_table,
    loss_chart,
    put,
    read,
    releases_table,
    seconds_chart,
    together,
)

import shoal

TABLE = pl.DataFrame(
    {
        "age": [20, 22, 30, 40],
        "job": ["cook", "baker", "nurse", "cook"],
        "income": [100, 105, 300, 900],
    }
)


def case(table: pl.DataFrame = TABLE, folder=None) -> Case:
    return Case("few", "here", table, ["age", "job"], "income", 10, "Any", folder)


# Hierarchies


def test_halved_ranges_are_nested_and_end_in_one():
    assert halved([1, 2, 3, 9]) == [
        [1, 2, 3, 9],
        ["[1, 3]", "[1, 3]", "[1, 3]", "9"],
        ["[1, 9]"] * 4,
    ]
    levels = halved(list(range(0, 1000, 7)))
    assert [len(set(level)) for level in levels] == [143, 64, 32, 16, 8, 4, 2, 1]
    for finer, coarser in pairwise(levels):
        assert len(set(zip(finer, coarser, strict=True))) == len(set(finer))


def test_labels_are_halved_in_their_order():
    assert halved(["a", "b", "c"]) == [
        ["a", "b", "c"],
        ["a", "[b, c]", "[b, c]"],
        ["[a, c]"] * 3,
    ]


def test_a_column_of_one_value_has_one_level():
    assert halved([5]) == [[5]]


def test_arx_levels_are_those_of_the_values_at_hand(tmp_path):
    path = tmp_path / "age.csv"
    path.write_text("20;20-29;*\n22;20-29;*\n30;30-39;*\n31;30-39;*\n", "utf-8")
    assert arx_levels([20, 30], path) == [[20, 30], ["20-29", "30-39"], ["*", "*"]]


# Cells of the peers


def test_ranges_of_anonypy():
    assert anonypy_range("20-29") == "[20, 29]"
    assert anonypy_range("20") == "20"


def test_sets_of_anonypy_have_one_order():
    assert anonypy_set("cook,baker") == anonypy_set("baker,cook") == '["baker", "cook"]'
    assert anonypy_set("cook") == "cook"


def test_nodes_are_spelled_as_the_values_of_the_table_under_them():
    numbers = node_speller([[20, 22, 30], ["20-29", "20-29", "30-39"], ["*"] * 3], numeric=True)
    assert [numbers(cell) for cell in ("20", "20-29", "30-39", "*")] == [
        "20",
        "[20, 22]",
        "30",
        "[20, 30]",
    ]
    labels = node_speller([["a", "b"], ["*", "*"]], numeric=False)
    assert [labels(cell) for cell in ("a", "*")] == ["a", '["a", "b"]']


# One judgement


def test_loss_and_risk_by_hand():
    published = TABLE.with_columns(
        age=pl.Series(["20-22", "20-22", "30-40", "30-40"]),
        job=pl.Series(["cook,baker", "baker,cook", "nurse,cook", "cook,nurse"]),
    )
    found = judge(published, case(), "anonypy")
    # age: 2/20 and 10/20, each for two rows; job: one label too many of two
    assert found.gcp == pytest.approx(((2 / 20 + 10 / 20) / 2 + 1 / 2) / 2)
    assert (found.left_out, found.smallest) == (0, 2)
    assert (found.risk, found.likely) == (1, 1)  # 100 and 105 are near; of 300, 900 each is a half


def test_a_row_left_out_is_lost_entirely():
    published = TABLE.head(3).with_columns(pl.col("age").cast(pl.String))
    found = judge(published, case(), "shoal")
    assert found.gcp == 1 / 4
    assert found.left_out == 1
    assert found.smallest == 1


def test_a_cell_outside_the_domain_is_refused():
    published = TABLE.with_columns(age=pl.lit("10-50"))
    with pytest.raises(ValueError, match="outside its domain"):
        judge(published, case(), "anonypy")


def sample(rows: int = 300) -> tuple[pl.DataFrame, shoal.Schema]:
    numbers = pl.int_range(rows, eager=True)
    table = pl.DataFrame(
        {
            "age": numbers * 37 % 61 + 16,
            "job": (numbers * 11 % 7).replace_strict(dict(enumerate("abcdefg"))),
            "income": numbers * 7919 % 1009,
        }
    )
    return table, shoal.Schema(quasi=["age", "job"], sensitive="income")


@pytest.mark.parametrize("method", ["Mondrian()", "Exchange()"])
def test_a_release_is_judged_as_its_own_audit_judges_it(method):
    table, schema = sample()
    require = "EpsilonM(epsilon=10, m=3)"
    if method == "Mondrian()":
        require = "KAnonymity(k=5)"
    release = shoal.anonymize(table, schema, require=require, method=method)
    found = judge(release.table, case(table), "shoal")
    assert found.gcp == pytest.approx(release.loss)
    assert found.smallest == release.table["group"].value_counts()["count"].min()
    asked = shoal.audit(release.table, schema, require="EpsilonM(epsilon=10, m=1)")
    assert found.risk == pytest.approx(float(asked.worst_risk))


def test_a_release_without_groups_is_judged_by_whom_its_rows_match():
    table, schema = sample(80)
    release = shoal.anonymize(table, schema, require="KAnonymity(k=4)", method="Freeform()")
    found = judge(release.table, case(table), "without groups")
    assert found.gcp == pytest.approx(release.loss)
    people = table.rows()
    spans = [
        (*[int(end) for end in cell.strip("[]").split(", ")] * 2, set(job), income)
        for cell, job, income in respell(release.table, case(table), "shoal").rows()
    ]
    risks, matched = [], []
    for age, job, income in people:
        near = [
            abs(other - income) <= 10
            for *ends, jobs, other in spans
            if min(ends) <= age <= max(ends) and job in jobs
        ]
        matched.append(len(near))
        risks.append(sum(near) / len(near))
    assert found.smallest == min(matched) >= 4
    assert found.risk == max(risks)
    assert found.likely == sum(risk >= 1 / 2 for risk in risks) / len(risks)


# What a command takes


def test_a_command_is_measured_in_a_process_of_its_own():
    small = measure([sys.executable, "-S", "-c", "print('done')"], limit=60)
    assert (small.code, small.out) == (0, "done\n")
    # This process, with all that it has loaded, does not count.
    assert small.megabytes < 60
    large = measure([sys.executable, "-S", "-c", "x = bytearray(200_000_000)"], limit=60)
    assert 190 < large.megabytes < 190 + 60
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    taken = measure([sys.executable, "-S", "-c", busy], limit=60)
    assert 0.5 <= taken.cpu < 1.5
    assert taken.seconds >= 0.5


def test_a_command_is_stopped_at_the_limit_with_what_it_said():
    slow = "import time; print('begun', flush=True); time.sleep(60)"
    taken = measure([sys.executable, "-S", "-c", slow], limit=4)
    assert taken.code is None
    assert taken.out == "begun\n"
    assert 4 <= taken.seconds < 60


def test_a_command_is_stopped_where_the_processor_has_worked_enough():
    taken = measure([sys.executable, "-S", "-c", "while True: pass"], limit=60, work=1)
    assert taken.code is None
    assert 0.5 <= taken.cpu < 3


def test_a_command_that_fails_says_why():
    taken = measure([sys.executable, "-c", "print('x'); raise SystemExit('no luck')"], limit=60)
    assert (taken.code, taken.reason) == (1, "no luck")


# Tables and pictures

OLD, NEW = "0.2.1,2026-11-15", "0.2.0,2026-11-19"
LINES = f"""table,source,rows,library,method,require,seconds,cpu,megabytes,status,call,gcp,\
left_out,smallest,risk,likely,order,version,date
salaries,here,100,anonypy,Mondrian,KAnonymity(k=10),2.04,1.5,80.4,,1.2,0.25,0,10,0.75,0.125,0,{OLD}
salaries,here,100,Shoal,Exchange(),KAnonymity(k=10) and Any,1,1,200,,0.5,0.120,0,10,0.2,0,0,{NEW}
salaries,here,100,Shoal,Exchange(),KAnonymity(k=10) and Any,1,1,200,,0.5,0.125,0,11,0.2,0,1,{NEW}
salaries,here,100,Shoal,Exchange(),KAnonymity(k=10) and Any,9,1,200,,0.5,0.130,0,12,0.1,0,2,{NEW}
salaries,here,500,anonypy,Mondrian,KAnonymity(k=10),9.0,8.0,90,stopped after 9 s,,,,,,,0,{OLD}
salaries,here,500,Shoal,Exchange(),KAnonymity(k=10) and Any,2,1,200,,0.5,0.0625,0,10,0.2,0,0,{NEW}
"""


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "peers.csv"
    path.write_text(LINES, "utf-8")
    return together(read(path))


def test_releases_as_a_table(lines):
    shown = releases_table(lines).splitlines()
    assert shown[2] == (
        "| 100 | anonypy Mondrian | 0.2500 | 0.75 | 2.0 | 1.2 | 1.5 | 80 | 0 | 10 | 12.5% "
        "| 0.2.1, 15 Nov 2026 |"
    )
    assert shown[4] == (
        "| 500 | anonypy Mondrian |  |  | stopped after 9 s |  | over 8 | 90 |  |  |  "
        "| 0.2.1, 15 Nov 2026 |"
    )
    assert len({line.count("|") for line in shown}) == 1


def test_orders_of_the_rows_are_one_line_with_their_spread(lines):
    """The mean and the ends of the losses, medians of times, and the worst risk of any."""
    shown = releases_table(lines).splitlines()
    assert shown[3] == (
        "| 100 | Shoal `Exchange()`, `Any` too | 0.1250 (0.1200 to 0.1300) | 0.20 | 1.0 | 0.5 "
        "| 1.0 | 200 | 0 | 10 | 0.0% | 0.2.0, 19 Nov 2026 |"
    )
    assert len(shown) == 6


def test_an_order_is_the_same_rows(tmp_path):
    assert ordered(TABLE, 0).equals(TABLE)
    assert not ordered(TABLE, 1).equals(TABLE)
    assert ordered(TABLE, 1).sort("age").equals(TABLE.sort("age"))
    assert ordered(TABLE, 1).equals(ordered(TABLE, 1))


def test_lines_that_are_measured_again_take_the_place_of_those_of_before(tmp_path):
    path = tmp_path / "peers.csv"
    path.write_text(LINES, "utf-8")
    names = path.read_text("utf-8").splitlines()[0].split(",")
    book = Book(path, names, {"Shoal": {"version": "9", "date": "2027-01-01"}})
    line = {"table": "salaries", "rows": 100, "library": "Shoal", "method": "Other()"}
    for order in range(2):
        book.add(line | {"order": order})
    kept = read(path)
    assert [(one["library"], one["rows"], one["order"], one["version"]) for one in kept] == [
        ("anonypy", 100, 0, "0.2.1"),
        ("Shoal", 100, 0, "9"),
        ("Shoal", 100, 1, "9"),
        ("anonypy", 500, 0, "0.2.1"),
        ("Shoal", 500, 0, "0.2.0"),
    ]


def test_the_page_shows_what_is_measured_and_names_one_version_of_shoal():
    page = PAGE.read_text("utf-8")
    lines = together(read(RELEASES))
    for mark in ("salaries", "adult"):
        shown = releases_table([line for line in lines if line["table"] == mark])
        assert shown in page
    ours = {line["version"] for line in lines if line["library"] == "Shoal"}
    assert len(ours) == 1
    assert not re.search(r"\b0\.1\.0\b", page)
    assert all(line["orders"] == 3 for line in lines if line["library"] == "Shoal" and line["gcp"])


def test_audits_as_a_table():
    line = {"table": "adult", "rows": 30.0, "library": "pycanon", "seconds": 1.0, "cpu": 1.0}
    line |= {"version": "1.3.5", "date": "2026-11-15"}
    ended = line | {"megabytes": 70.0, "status": "", "levels": "k, t"}
    untried = line | {"cpu": None, "megabytes": None, "status": "not tried", "levels": ""}
    assert audits_table([ended, untried]).splitlines()[2:] == [
        "| adult | 30 | pycanon | 1.0 | 1.0 | 70 | k, t | 1.3.5, 15 Nov 2026 |",
        "| adult | 30 | pycanon | not tried |  |  | none | 1.3.5, 15 Nov 2026 |",
    ]


def test_pictures_show_who_was_stopped_and_compare_where_all_ended(lines):
    times = seconds_chart(lines, 9)
    assert "anonypy Mondrian" in times
    assert "stopped after 9 s on the clock" in times
    bars = loss_chart(lines)
    assert "100 rows" in bars
    assert "0.2500" in bars
    assert "0.0625" not in bars


def test_tables_are_put_between_their_marks():
    page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    once = put(page, "x", "new")
    assert once == "a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb\n"
    assert put(once, "x", "new") == once
    with pytest.raises(ValueError, match="no <!-- y -->"):
        put(page, "y", "new")


def test_what_is_measured_keeps_bytecode(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    asked = "import sys; print(sys.dont_write_bytecode)"
    assert measure([sys.executable, "-S", "-c", asked], limit=60).out.strip() == "False"
