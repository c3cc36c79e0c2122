"""What an inspection says of columns, one rule at a time."""

import json

import polars as pl
import pytest

import shoal
from shoal.inspection import marks
from shoal.inspection.inspect import pattern
from shoal.inspection.lexicon import word_among, words_of


def column(cells, name="x"):
    (found,) = shoal.inspect(pl.DataFrame({name: cells})).columns
    return found


def kinds(found):
    return {one.kind for one in found.suspicions}


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", ["1", "2.5", "-3e4"], "numeric"),
        ("x", ["1", "2", "x"], "categorical"),
        ("zip", ["10115", "20095"], "code"),
        ("x", ["01234", "12345"], "code"),
        ("x", ["A12", "B13", "C99"], "code"),
        ("icd9", ["250.1", "V45", "401", "?"], "code"),
        ("x", ["red", "green", "blue"], "categorical"),
        ("x", ["2024-01-31", "1850-12-01"], "date"),
        ("x", ["2024-01-31 10:00:00", "2024-02-01T11:30"], "date"),
        ("x", ["2024-02-31", "2024-01-01"], "categorical"),
        ("x", ["yes", "No"], "boolean"),
        ("x", ["0", "1"], "boolean"),
        ("sex", ["1", "2"], "categorical"),
        ("x", ["1", "2"], "numeric"),
        ("x", ["[0-10)", "[10-20)", "[100-110)"], "ordered"),
        ("x", ["[0, 10)", "[10, 20)", "(100, 110]"], "ordered"),
        ("x", ["1,50", "1,75", "12,5"], "categorical"),  # numbers, written with a comma
        ("x", ["high", "low", "medium"], "ordered"),
        ("lat", ["1.5", "2.5"], "numeric"),
        ("x", [None, None], "categorical"),
        ("x", [True, False], "boolean"),
        ("x", [1, 2], "numeric"),
    ],
)
def test_type_comes_from_cells_and_name(name, cells, kind):
    assert column(cells, name).type == kind


def test_latitude_and_longitude_stand_only_together():
    both = pl.DataFrame({"lat": ["1.5", "2"], "lon": ["100.5", "7"]})
    assert [one.type for one in shoal.inspect(both).columns] == ["latitude", "longitude"]
    far = pl.DataFrame({"lat": ["1.5", "2"], "lon": ["1000.5", "7"]})
    assert [one.type for one in shoal.inspect(far).columns] == ["numeric", "numeric"]


def test_ranges_are_ordered_by_their_numbers():
    found = column(["100+", "[10-20)", "<10", "20-100"], "age")
    assert found.order == ("<10", "[10-20)", "20-100", "100+")


@pytest.mark.parametrize(
    ("cells", "kind", "words"),
    [
        (["1", "2", "3", "x", None], "mixed", ["1 cell", "row 4"]),
        (["1", "2", "n/a", "n/a"], "sentinel", ["'n/a'", "2 cells", "row 3"]),
        (["1", "2", "-9", "-9"], "sentinel", ["-9", "row 3"]),
        (["21", "34", "999"], "sentinel", ["999"]),
        ([21.5, 34.0, 999.0], "sentinel", ["999.0"]),  # as a sheet keeps it among parts
        (["a", " b"], "spaces", ["row 2"]),
        (["1,234", "12,345,678"], "thousands", ["2 cells"]),
        (["1,5", "2,25", "3"], "decimal", ["2 cells", "row 1"]),
        (["9007199254740993", "1"], "large", ["2^53", "row 1"]),
        (["11/12/2020", "01/02/2020"], "date", ["two ways", "dd/mm/yyyy or mm/dd/yyyy"]),
        (["31/12/20", "01/02/20"], "date", ["two digits"]),
        (["20201231", "20200101"], "date", ["numbers"]),
        (["2024-02-31", "2024-01-01"], "date", ["row 1"]),
        (["Łódź", "Łódź ", "x", "x"], "alike", ["look alike"]),
        (["Paris", "paris", "Paris", "paris"], "alike", ["'Paris', 'paris'"]),
        (["Раris", "Paris"], "alike", ["row 1"]),
    ],
)
def test_what_looks_wrong_is_told_with_place_and_number(cells, kind, words):
    (said,) = [one.text for one in column(cells).suspicions if one.kind == kind]
    for word in words:
        assert word in said, said


CODED = {
    "codes of one length": ([f"{10000 + 7 * i}" for i in range(30)] + ["01067"], True),
    "days": ([f"{1 + i:02}.03.2024" for i in range(28)], True),
    "marks with letters": ([f"{letter}{i}.1" for letter in "ABC" for i in (1, 20)], True),
    "labels of several lengths without letters": (["1-2", "12-3", "1-23", "11-22", "1-1"], False),
    "other nines of one length": (["901", "902", "903", "904", "905", "906"], False),
    "few cells": (["A1", "B2", "C3"], False),
    "few words": (["m", "w"], True),
    "one word": (["m"], False),
}


@pytest.mark.parametrize("name", CODED)
def test_nines_that_are_written_like_no_other_cell_may_mean_missing(name):
    cells, alike = CODED[name]
    table = pl.DataFrame({"x": cells * 3 + ["999", "999"]})
    assumed = [one.codes for one in marks.outlying(table)]
    assert assumed == ([("999",)] if alike else [])


@pytest.mark.parametrize(("times", "found"), [(30, True), (29, False)])
def test_nines_among_other_numbers_may_mean_missing_where_they_are_far_more_frequent(times, found):
    around = [f"{900 + i}.5" for i in range(200)]
    table = pl.DataFrame({"x": around * 3 + ["0"] * 900 + ["999"] * times})
    assert [one.codes for one in marks.outlying(table)] == ([("999",)] if found else [])


def test_a_zip_that_would_be_read_as_a_number_is_told():
    assert "code" in kinds(column(["10115", "20095"], "zip"))
    assert "code" not in kinds(column(["01011", "20095"], "zip"))


@pytest.mark.parametrize(
    "cells",
    [["1", "2", "3"], ["97", "98", "99"], ["-1", "-2", "5"], ["red", "blue"], ["2024-01-31"]],
)
def test_nothing_is_suspected_of_plain_columns(cells):
    assert column(cells).suspicions == ()


PEOPLE = pl.DataFrame(
    {
        "person_id": list(range(1, 41)),
        "name": [f"N{i} Smith" for i in range(40)],
        "age": [20 + i % 13 for i in range(40)],
        "sex": ["m", "f"] * 20,
        "salary": [1000 + 37 * i for i in range(40)],
        "wave": ["2024"] * 40,
        "sampling_weight": [1.5, 2.5] * 20,
        "remark": [f"a long remark about person number {i} and others" for i in range(40)],
        "group": ["a", "b"] * 20,
    }
)


def test_roles_come_with_reasons():
    found = {one.name: one for one in shoal.inspect(PEOPLE).columns}
    assert {name: one.role for name, one in found.items()} == {
        "person_id": "identifying",
        "name": "identifying",
        "age": "quasi",
        "sex": "quasi",
        "salary": "sensitive",
        "wave": None,
        "sampling_weight": None,
        "remark": "identifying",
        "group": None,
    }
    assert "(salary)" in found["salary"].why
    assert "same" in found["wave"].why


def test_the_suggested_schema_is_a_schema():
    schema = shoal.inspect(PEOPLE).schema
    assert schema.quasi == ("age", "sex")
    assert schema.sensitive == ("salary",)
    release = shoal.anonymize(PEOPLE, schema, require="EpsilonM(epsilon=20, m=2)")
    assert release.audit().holds


def test_an_id_with_few_values_is_a_code_and_names_nobody():
    table = pl.DataFrame({"type_id": [1, 2, 3, 4] * 50, "age": list(range(200))})
    found = shoal.inspect(table).columns[0]
    assert (found.type, found.role) == ("code", "quasi")


def test_at_most_eight_quasi_columns_are_suggested():
    table = pl.DataFrame({f"c{i}": [(i * k) % 7 for k in range(100)] for i in range(1, 40)})
    assert len(shoal.inspect(table).named("quasi")) == 8


def test_columns_that_tell_one_another_are_found():
    rows = 400
    table = pl.DataFrame(
        {
            "county": [i % 20 for i in range(rows)],
            "state": [i % 20 // 5 for i in range(rows)],
            "state_name": ["ABCD"[i % 20 // 5] for i in range(rows)],
            "pay": [str(i) for i in range(rows)],
            "wage": [str(i if i % 50 else -i) for i in range(rows)],
            "coin": [(i * i // 7) % 2 for i in range(rows)],
        }
    )
    found = {(one.kind, one.left, one.right) for one in shoal.inspect(table).kinship}
    assert found == {
        ("function", "county", "state"),
        ("function", "county", "state_name"),
        ("renaming", "state", "state_name"),
        ("copy", "pay", "wage"),
    }


def test_the_share_of_unique_rows_is_counted_exactly():
    table = pl.DataFrame({"age": [1, 1, 2, 3], "sex": ["m", "m", "m", "f"], "salary": [1, 2, 3, 4]})
    assert shoal.inspect(table).unique == 0.5


def test_cells_of_columns_with_many_values_are_masked():
    found = column([f"Ann{i} O'Neil" for i in range(40)], "who")
    assert found.values == {"pattern": "Aaa99 A'Aaaa"}
    assert pattern(pl.Series(["éÉ1"])) == "aA9"


def test_columns_that_cannot_be_used_are_named():
    table = pl.DataFrame({"a": [[1, 2], [3]], "age": [1, 2]})
    found = shoal.inspect(table).columns[0]
    assert found.type is None
    assert "List" in found.reason


def test_plain_values_and_a_page_come_of_it():
    found = shoal.inspect(PEOPLE.rename({"sex": "<b>"}))
    json.dumps(found.to_dict())
    page = found._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows_are_inspected_too(rows):
    found = shoal.inspect(PEOPLE.head(rows))
    assert found.rows == rows


def test_names_are_parted_into_words():
    assert words_of("diag_1") == ["diag"]
    assert words_of("zipCode") == ["zip", "code"]
    assert words_of("___") == []
    assert word_among("Zip-Code", ["zipcode"]) == "zipcode"
    assert word_among("mileage", ["age"]) is None


def test_a_fast_method_is_proposed_for_widths_where_rows_are_many(monkeypatch):
    from shoal.runs import proposal

    labels = PEOPLE.select("age", "sex").with_columns(illness=pl.Series(["a", "b", "c", "d"] * 10))
    found = {}
    for many in (10, 1000):
        monkeypatch.setattr(proposal, "MANY", many)
        proposals = [
            proposal.propose(table, shoal.inspect(table), count=1) for table in (PEOPLE, labels)
        ]
        found[many] = [one.method for (one,) in proposals]
    assert found == {10: ["Split()", "Exchange()"], 1000: ["Exchange()", "Exchange()"]}
