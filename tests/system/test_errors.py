"""Every refusal: the right exit code, a clear sentence, and nothing left behind."""

import gzip
import json
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from reference import proximity
from system.shell import (
    COMMAND,
    PATIENCE,
    ROLES,
    Outcome,
    Row,
    anonymize,
    names_in,
    people,
    run,
    shoal,
    start,
    write_csv,
)

EPSILON_M = "EpsilonM(epsilon=500, m=3)"


@pytest.fixture(autouse=True)
def nothing_left_behind(tmp_path: Path) -> Iterator[None]:
    """Fail any test of this file after which there are staged files anywhere."""
    yield
    left = [path for path in tmp_path.rglob("*") if path.suffix in {".partial", ".old"}]
    assert left == []


def refused(outcome: Outcome, code: int, *words: str) -> None:
    assert outcome.code == code, outcome
    assert outcome.out == "", outcome
    assert "Traceback" not in outcome.err, outcome
    assert "unforeseen" not in outcome.err, outcome
    for word in words:
        assert word.lower() in outcome.said.lower(), (word, outcome)


def refuse(
    table: Path, place: Path, code: int, *words: str, options: tuple[object, ...] = (), **asked: str
) -> None:
    """Anonymize, and check that it is refused and leaves `place` as it was."""
    before = names_in(place)
    outcome = anonymize(table, place / "out", *options, require=asked.get("require", EPSILON_M))
    refused(outcome, code, *words)
    assert names_in(place) == before


def spoil(rows: list[Row], column: str, cells: dict[int, str]) -> list[Row]:
    changed = [dict(row) for row in rows]
    for number, cell in cells.items():
        changed[number][column] = cell
    return changed


# Columns and roles


@pytest.mark.parametrize("role", ["--quasi", "--sensitive", "--other", "--identifying"])
def test_unknown_column_is_refused_with_the_nearest_name(
    table: Path, place: Path, role: str
) -> None:
    roles = {"--quasi": "age,town", "--sensitive": "salary", "--other": "note"}
    roles[role] = "chagne"
    options = tuple(part for pair in roles.items() for part in pair)
    refuse(table, place, 2, "'chagne'", "did you mean 'change'", options=options)


def test_unknown_column_far_from_any_lists_the_known_ones(table: Path, place: Path) -> None:
    options = ("--quasi", "qqqq", "--sensitive", "salary")
    refuse(table, place, 2, "'qqqq'", "'age'", "'salary'", options=options)


def test_column_in_two_roles_is_refused(table: Path, place: Path) -> None:
    options = ("--quasi", "age,salary", "--sensitive", "salary")
    refuse(table, place, 2, "'salary'", "quasi", "sensitive", options=options)


def test_column_twice_in_one_role_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "'age'", "twice", options=("--quasi", "age,age"))


def test_no_quasi_column_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "--quasi", options=("--quasi", ""))


def test_no_sensitive_column_is_refused_where_one_is_needed(table: Path, place: Path) -> None:
    refuse(table, place, 2, "--sensitive", options=("--sensitive", ""))


def test_no_requirement_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "--require", require="")


def test_no_output_is_refused(table: Path) -> None:
    outcome = shoal("anonymize", table, *ROLES, "--sensitive", "salary", "--require", EPSILON_M)
    refused(outcome, 2, "--output")


@pytest.mark.parametrize("role", ["--quasi", "--sensitive", "--other"])
def test_column_named_group_is_refused(
    tmp_path: Path, place: Path, rows: list[Row], role: str
) -> None:
    named = [{"group": row["change"]} | row for row in rows]
    table = write_csv(tmp_path / "named.csv", named)
    roles = {"--quasi": "age", "--sensitive": "salary", "--other": "note"}
    roles[role] = "group"
    options = tuple(part for pair in roles.items() for part in pair)
    refuse(table, place, 2, "'group'", "rename", options=options)


def test_column_named_group_that_is_not_published_is_no_trouble(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    table = write_csv(tmp_path / "named.csv", [{"group": "x"} | row for row in rows])
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0


def test_numeric_principle_for_two_sensitive_columns_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "salary, change", options=("--sensitive", "salary,change"))


def test_requirement_on_a_column_that_is_not_sensitive_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "'salry'", "'salary'", require=f"salry: {EPSILON_M}")
    said = "There is no column 'age' among the sensitive ones."  # the table has it
    refuse(table, place, 2, said, require=f"age: {EPSILON_M}")


# Cells


@pytest.mark.parametrize("column", ["age", "town"])
def test_missing_quasi_values_are_refused_with_count_and_rows(
    tmp_path: Path, place: Path, rows: list[Row], column: str
) -> None:
    holes = spoil(rows, column, {4: "", 17: ""})
    table = write_csv(tmp_path / "holes.csv", holes)
    refuse(table, place, 2, f"'{column}'", "2 missing", "rows 5, 18", "--missing")


def test_missing_sensitive_values_are_refused_with_count_and_rows(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    holes = spoil(rows, "salary", dict.fromkeys((0, 2, 4, 6, 8, 10, 299), ""))
    table = write_csv(tmp_path / "holes.csv", holes)
    refuse(table, place, 2, "'salary'", "7 missing", "rows 1, 3, 5, 7, 9, …")


@pytest.mark.parametrize("cell", ["high", "12,000", "1_000", "0x10", "007", "1.", "$5", "NaN"])
def test_non_numeric_sensitive_values_are_refused_with_count_and_rows(
    tmp_path: Path, place: Path, rows: list[Row], cell: str
) -> None:
    table = write_csv(tmp_path / "bad.csv", spoil(rows, "salary", {1: cell, 250: "poor"}))
    refuse(table, place, 2, "'salary'", "2 non-numeric", "rows 2, 251")


@pytest.mark.parametrize("cell", ["1e999", "-1e400", "inf", "-Infinity"])
def test_infinite_sensitive_values_are_refused_with_count_and_rows(
    tmp_path: Path, place: Path, rows: list[Row], cell: str
) -> None:
    table = write_csv(tmp_path / "bad.csv", spoil(rows, "salary", {7: cell}))
    refuse(table, place, 2, "'salary'", "1 ", "row 8")


def test_infinite_values_of_a_parquet_column_are_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "bad.parquet"
    pl.DataFrame(
        {"age": range(50), "salary": [float("inf"), *map(float, range(49))]}
    ).write_parquet(table)
    options = ("--quasi", "age", "--sensitive", "salary")
    refuse(table, place, 2, "'salary'", "1 ", "row 1", options=options)


def test_missing_values_of_a_parquet_column_are_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "bad.parquet"
    pl.DataFrame({"age": range(50), "salary": [None, float("nan"), *range(48)]}).write_parquet(
        table
    )
    options = ("--quasi", "age", "--sensitive", "salary")
    refuse(table, place, 2, "'salary'", "2 missing", "rows 1, 2", options=options)


@pytest.mark.parametrize("role", ["--quasi", "--sensitive"])
def test_nested_parquet_column_is_refused(tmp_path: Path, place: Path, role: str) -> None:
    table = tmp_path / "nested.parquet"
    pl.DataFrame(
        {"age": range(50), "salary": range(50), "tags": [[str(i)] for i in range(50)]}
    ).write_parquet(table)
    roles = {"--quasi": "age", "--sensitive": "salary"} | {role: "tags"}
    options = tuple(part for pair in roles.items() for part in pair)
    refuse(table, place, 2, "'tags'", options=options, require="KAnonymity(k=3)")


def test_unknown_policy_for_missing_cells_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "error, drop, value", options=("--missing", "guess"))


def test_every_row_dropped_is_refused(tmp_path: Path, place: Path, rows: list[Row]) -> None:
    holes = [row | {"salary": ""} for row in rows]
    table = write_csv(tmp_path / "holes.csv", holes)
    refuse(table, place, 2, "no row", options=("--missing", "drop"))


# Files


def test_duplicate_header_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "twice.csv"
    table.write_text("age,town,score,age,salary,name,note\n" + "1,a,2,3,4,b,c\n" * 20, "utf-8")
    refuse(table, place, 2, "'age'", "columns 1 and 4")


def test_column_without_a_name_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "unnamed.csv"
    table.write_text("age,,salary\n" + "1,a,2\n" * 20, "utf-8")
    refuse(table, place, 2, "column 2", "no name")


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"])
def test_empty_file_is_refused(tmp_path: Path, place: Path, content: bytes) -> None:
    table = tmp_path / "empty.csv"
    table.write_bytes(content)
    refuse(table, place, 2, "'empty.csv'", "empty")


def test_header_without_rows_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "header.csv"
    table.write_text("name,age,note,town,score,salary\n", "utf-8")
    refuse(table, place, 2, "no rows")
    refused(shoal("plan", table, "--sensitive", "salary"), 2, "no rows")


def test_parquet_without_rows_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "none.parquet"
    pl.DataFrame(
        {"age": [], "salary": []}, schema={"age": pl.Int64, "salary": pl.Int64}
    ).write_parquet(table)
    refuse(table, place, 2, "no rows", options=("--quasi", "age"))


def test_file_that_does_not_exist_is_refused(tmp_path: Path, place: Path) -> None:
    refuse(tmp_path / "nowhere.csv", place, 2, "'nowhere.csv'", "no such file")


def test_directory_in_place_of_a_table_is_refused(tmp_path: Path, place: Path) -> None:
    (tmp_path / "folder").mkdir()
    refuse(tmp_path / "folder", place, 2, "'folder'", "directory")


def test_file_that_cannot_be_opened_is_refused(tmp_path: Path, place: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    refuse(loop, place, 2, "'loop.csv'", "cannot read")


@pytest.mark.parametrize("kept", [5, 20, 0.5, -9, -1])
def test_truncated_gzip_is_refused(table: Path, place: Path, kept: float) -> None:
    packed = gzip.compress(table.read_bytes())
    end = int(len(packed) * kept) if isinstance(kept, float) else int(kept)
    short = table.with_name("short.csv.gz")
    short.write_bytes(packed[:end])
    refuse(short, place, 2, "'short.csv.gz'", "gzip")


def test_gzip_with_a_wrong_checksum_is_refused(table: Path, place: Path) -> None:
    packed = bytearray(gzip.compress(table.read_bytes()))
    packed[-8] ^= 1
    table.write_bytes(bytes(packed))
    refuse(table, place, 2, "gzip")


@pytest.mark.parametrize("kept", [4, 8, 100, 0.5, -4, -1])
def test_truncated_parquet_is_refused(tmp_path: Path, place: Path, kept: float) -> None:
    whole = tmp_path / "whole.parquet"
    pl.DataFrame(people()).write_parquet(whole)
    data = whole.read_bytes()
    end = int(len(data) * kept) if isinstance(kept, float) else int(kept)
    short = tmp_path / "short.parquet"
    short.write_bytes(data[:end])
    refuse(short, place, 2, "'short.parquet'", "parquet")


@pytest.mark.parametrize("seed", range(12))
def test_parquet_with_damaged_bytes_never_shows_a_traceback(
    tmp_path: Path, place: Path, seed: int
) -> None:
    whole = tmp_path / "damaged.parquet"
    pl.DataFrame(people()).write_parquet(whole)
    data = bytearray(whole.read_bytes())
    chance = random.Random(seed)
    begin = 4 if seed % 2 else len(data) - 600
    for _ in range(8):
        data[chance.randrange(begin, len(data) - 8)] = chance.randrange(256)
    whole.write_bytes(bytes(data))
    outcome = anonymize(whole, place / "out", require=EPSILON_M)
    assert "Traceback" not in outcome.err
    assert "unforeseen" not in outcome.err
    assert outcome.code in {0, 2}
    assert names_in(place) == (["out"] if outcome.code == 0 else [])


def test_csv_cut_short_inside_its_last_line_is_refused(table: Path, place: Path) -> None:
    data = table.read_bytes().rstrip(b"\n")
    table.write_bytes(data[: data.rindex(b",")])
    refuse(table, place, 2, "row 300", "7 cells", "header has 8")


def test_line_with_too_many_cells_is_refused(table: Path, place: Path) -> None:
    table.write_bytes(table.read_bytes() + b"a,1,b,c,2,3,4,d,e,f\n")
    refuse(table, place, 2, "row 301", "10 cells", "header has 8")


def test_unclosed_quote_is_refused(table: Path, place: Path) -> None:
    table.write_bytes(table.read_bytes() + b'a,1,b,"c,2,3,4,d\n')
    refuse(table, place, 2, "quote")


def test_quote_missing_in_the_middle_is_refused(table: Path, place: Path) -> None:
    text = table.read_bytes()
    middle = text.index(b'"', len(text) // 2)
    table.write_bytes(text[:middle] + text[middle + 1 :])
    refuse(table, place, 2, table.name)


def test_latin_1_is_refused_with_byte_and_line(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "latin.csv"
    rows = "age,town,salary\n30,Ulm,1\n31,M\u00fcnchen,2\n"
    table.write_bytes(rows.encode("latin-1"))
    refuse(table, place, 2, "'latin.csv'", "UTF-8", "0xfc", "line 3", "--encoding latin-1")


def test_utf_16_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "wide.csv"
    table.write_bytes("age,town,salary\n30,Ulm,1\n".encode("utf-16"))
    refuse(table, place, 2, "'wide.csv'")


def test_something_else_than_a_table_is_refused(tmp_path: Path, place: Path) -> None:
    table = tmp_path / "picture.png"
    table.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    refuse(table, place, 2, "'picture.png'")


def test_schema_file_with_a_wrong_key_is_refused(table: Path, place: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text("quazi = ['age']\n", "utf-8")
    refuse(table, place, 2, "line 1, quazi", "'quasi'", options=("--schema", schema))
    schema.write_text("quasi = [", "utf-8")
    refuse(table, place, 2, "TOML", options=("--schema", schema))
    refuse(table, place, 2, "none.toml", options=("--schema", tmp_path / "none.toml"))


# What cannot be reached


def test_fewer_rows_than_the_requirement_needs_is_not_achievable(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    table = write_csv(tmp_path / "few.csv", rows[:4])
    for spelled in ("KAnonymity(k=5)", "EpsilonM(epsilon=0, m=5)", "Window(width=0, m=5)"):
        refuse(table, place, 3, "5", "4", require=spelled)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("spelled", "kind", "params", "relative"),
    [
        ("EpsilonM(epsilon=5000, m=20)", "absolute", {"epsilon": 5000}, False),
        ("EpsilonM(epsilon=0.3, m=20, relative=True)", "relative", {"epsilon": 0.3}, True),
        (
            "Neighbourhood(below=10, above=5000, m=20)",
            "general",
            {"below": 10, "above": 5000},
            False,
        ),
        ("Window(width=5000, m=20)", "window", {"width": 5000}, False),
    ],
)
def test_what_is_not_achievable_is_refused_with_what_is(
    table: Path,
    place: Path,
    rows: list[Row],
    spelled: str,
    kind: str,
    params: dict[str, float],
    relative: bool,
) -> None:
    values = [row["salary"] for row in rows]
    most = proximity.largest_m(values, kind, **params)
    bound = proximity.epsilon_bound(values, 20, relative=relative)
    assert most < 20
    assert bound
    shown = f"{int(bound):,}" if bound.denominator == 1 else f"{float(bound):.4f}"[:-1]
    told = () if kind == "general" else (f"must stay under {shown}",)
    refuse(table, place, 3, "not achievable", f"m={most}", "the largest m", *told, require=spelled)


def test_bound_that_is_told_is_the_bound(table: Path, place: Path, rows: list[Row]) -> None:
    bound = proximity.epsilon_bound([row["salary"] for row in rows], 20)
    assert bound
    refuse(table, place, 3, f"under {int(bound):,}", require=f"EpsilonM(epsilon={bound}, m=20)")
    below = f"EpsilonM(epsilon={bound - 1}, m=20)"
    assert anonymize(table, place / "out", require=below).code == 0


def test_delta_l_tells_the_bound_in_its_own_parameters(
    table: Path, place: Path, rows: list[Row]
) -> None:
    bound = proximity.epsilon_bound([row["salary"] for row in rows], 20)
    assert bound
    half = f"{float(bound / 2):,}"
    refuse(
        table, place, 3, "l", f"delta must stay under {half}", require="DeltaL(delta=5000, l=20)"
    )


def test_requirements_that_cannot_hold_together_are_refused_without_release(
    tmp_path: Path, place: Path
) -> None:
    rows = [{"age": str(i), "salary": str(i % 4 * 100)} for i in range(20)]
    table = write_csv(tmp_path / "small.csv", rows)
    options = ("--quasi", "age", "--sensitive", "salary", "--require", "KAnonymity(k=21)")
    refuse(table, place, 3, "21", options=options, require="EpsilonM(epsilon=50, m=4)")


# Parameters and notation


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("EpsilonM(epsilon=-1, m=5)", ("'epsilon'", "at least 0", "-1")),
        ("EpsilonM(epsilon=1e999, m=5)", ("'epsilon'", "inf")),
        ("EpsilonM(epsilon='x', m=5)", ("'epsilon'", "'x'")),
        ("EpsilonM(epsilon=True, m=5)", ("'epsilon'", "True")),
        ("EpsilonM(epsilon=None, m=5)", ("'epsilon'", "None")),
        ("EpsilonM(epsilon=[1], m=5)", ("'epsilon'",)),
        ("EpsilonM(epsilon=KAnonymity(k=2), m=5)", ("'epsilon'",)),
        (f"EpsilonM(epsilon=1{'0' * 400}, m=5)", ("epsilon",)),
        (f"EpsilonM(epsilon=1{'0' * 5000}, m=5)", ()),
        ("EpsilonM(epsilon=5, m=0)", ("'m'", "at least 1", "0")),
        ("EpsilonM(epsilon=5, m=2.5)", ("'m'", "whole number", "2.5")),
        ("EpsilonM(epsilon=5, m=True)", ("'m'", "True")),
        ("EpsilonM(epsilon=1.5, m=2, relative=True)", ("'epsilon'", "at most 1", "1.5")),
        ("EpsilonM(epsilon=0.5, m=2, relative=1)", ("'relative'", "True or False")),
        ("Neighbourhood(below=-2, above=1, m=2)", ("'below'", "-2")),
        ("Neighbourhood(below=2, above=-1, m=2)", ("'above'", "-1")),
        ("DeltaL(delta=-1, l=2)", ("'delta'", "-1")),
        ("DeltaL(delta=1, l=0)", ("'l'", "0")),
        ("Window(width=-1, m=2)", ("'width'", "-1")),
        ("KAnonymity(k=0)", ("'k'", "at least 1")),
        ("KAnonymity(k=-3)", ("'k'", "-3")),
        ("EpsilonM(epsilon=5)", ("EpsilonM", "needs m")),
        ("EpsilonM()", ("epsilon", "m")),
        ("EpsilonM", ("EpsilonM", "brackets")),
        ("EpsilonM(epsilon=5, n=3)", ("'n'", "'m'")),
        ("EpsilonM(epsilon=5, m=3, m=4)", ()),
        ("EpsilonM(**{'epsilon': 5})", ()),
        ("EpsilonM(*[5, 3])", ()),
        ("EpsilonN(epsilon=5, m=3)", ("'EpsilonN'", "'EpsilonM'")),
        ("epsilonm(epsilon=5, m=3)", ("'EpsilonM'",)),
        ("LDiversity(l=3)", ("'LDiversity'",)),
        ("Split()", ("method", "requirement")),
        ("EpsilonM(epsilon=5, m=3", ("cannot read",)),
        ("EpsilonM epsilon=5", ("cannot read",)),
        ("EpsilonM(epsilon=5; m=3)", ("cannot read",)),
        ("EpsilonM(epsilon=5, m=3) or 1", ()),
        ("EpsilonM(epsilon=2*3, m=3)", ()),
        ("EpsilonM(epsilon=salary, m=3)", ()),
        ("EpsilonM(epsilon=f'{1}', m=3)", ()),
        ("42", ()),
        ("'KAnonymity(k=2)'", ()),
        ("[KAnonymity(k=2)]", ()),
        ("__import__('os')", ("__import__",)),
        ("__import__('os').system('touch pwned')", ()),
        ("EpsilonM(epsilon=__import__('os').getpid(), m=3)", ()),
        ("(lambda: KAnonymity(k=2))()", ()),
        ("KAnonymity(k=2).__class__", ()),
        ("Term()", ("'Term'",)),
        ("Principle()", ("'Principle'",)),
        ("EpsilonM(epsilon=" + "[" * 50 + "]" * 50 + ", m=3)", ("nests",)),
        ("EpsilonM(epsilon=" + "[" * 9000 + "]" * 9000 + ", m=3)", ()),
        ("EpsilonM(epsilon=" + "KAnonymity(k=" * 60 + "1" + ")" * 60 + ", m=3)", ()),
        ("EpsilonM(epsilon=" + "-" * 900 + "1, m=3)", ()),
        ("EpsilonM(epsilon=" + "-" * 50_000 + "1, m=3)", ()),
        ("EpsilonM(epsilon=a" + ".a" * 900 + ", m=3)", ()),
        ("EpsilonM(epsilon=" + "+".join("1" * 900) + ", m=3)", ()),
        ("EpsilonM(epsilon=5, m=3)\nEpsilonM(epsilon=5, m=3)", ()),
        (" ", ()),
    ],
    ids=lambda value: repr(value[:48]) if isinstance(value, str) else "",
)
def test_bad_requirement_is_bad_usage(
    table: Path, place: Path, spelled: str, words: tuple[str, ...]
) -> None:
    refuse(table, place, 2, *words, require=spelled)
    assert not Path("pwned").exists()


def test_refusal_of_a_long_notation_is_short(table: Path, place: Path) -> None:
    outcome = anonymize(table, place / "out", require="EpsilonM(epsilon=" + "[" * 9000)
    assert outcome.code == 2
    assert len(outcome.err) < 2000


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("Splitt()", ("'Splitt'", "'Split'")),
        ("Split(partition='random')", ("'partition'", "'round-robin'", "'random'")),
        ("Split(partition=1)", ("'partition'",)),
        ("Split(partition=[1])", ("'partition'",)),
        ("Split", ("Split", "brackets")),
        ("KAnonymity(k=2)", ("requirement", "method")),
        ("Mondrian()", ("Mondrian()", "EpsilonM", "Split()")),
        ("__import__('os')", ()),
    ],
)
def test_bad_method_is_bad_usage(
    table: Path, place: Path, spelled: str, words: tuple[str, ...]
) -> None:
    refuse(table, place, 2, *words, options=("--method", spelled))


@pytest.mark.parametrize(
    "spelled",
    ["EpsilonM(epsilon=1e308, m=2)", "DeltaL(delta=1e308, l=2)", "Window(width=1e308, m=2)"],
)
@pytest.mark.parametrize("column", ["salary", "change"])
def test_enormous_width_is_not_achievable(
    table: Path, place: Path, spelled: str, column: str
) -> None:
    refuse(table, place, 3, "not achievable", options=("--sensitive", column), require=spelled)


def test_enormous_share_is_not_achievable(table: Path, place: Path) -> None:
    for spelled in (f"EpsilonM(epsilon=1, m={10**30})", f"KAnonymity(k={10**30})"):
        refuse(table, place, 3, "300", require=spelled)


def test_negative_seed_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "seed", options=("--seed", "-1"))


def test_unknown_format_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "csv", "parquet", "'sas7bdat'", options=("--format", "sas7bdat"))


def test_unknown_option_is_refused(table: Path, place: Path) -> None:
    refuse(table, place, 2, "--sensitiv", options=("--sensitiv", "salary"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--m", "0"), ("'m'", "at least 1")),
        (("--m", "-2"), ("'m'", "at least 1")),
        (("--m", "x"), ("--m",)),
        (("--m", "0", "--epsilon", "5"), ("'m'", "at least 1")),
        (("--epsilon", "-1"), ("'epsilon'", "at least 0")),
        (("--epsilon", "nan"), ("'epsilon'",)),
        (("--epsilon", "inf"), ("'epsilon'",)),
        (("--epsilon", "1.5", "--relative"), ("'epsilon'", "at most 1")),
        (("--sensitive", "salry"), ("'salry'", "'salary'")),
        (("--sensitive", "salary,change"), ("one sensitive column",)),
        (("--sensitive", "town"), ("'town'", "non-numeric")),
        (("--sensitive", ""), ("sensitive",)),
    ],
)
def test_bad_plan_is_bad_usage(
    table: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(shoal("plan", table, "--sensitive", "salary", *options), 2, *words)


# Output


def test_output_that_exists_is_not_replaced(table: Path, place: Path) -> None:
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    before = (place / "out" / "release.csv").read_bytes()
    refuse(table, place, 4, "'out'", "exists", "--force")
    assert (place / "out" / "release.csv").read_bytes() == before


@pytest.mark.parametrize("kind", ["file", "folder", "foreign manifest", "dangling link"])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_what_is_not_a_release_is_never_replaced(
    table: Path, place: Path, kind: str, force: tuple[str, ...]
) -> None:
    target = place / "out"
    precious = target / "thesis.tex"
    if kind == "file":
        target.write_text("precious", "utf-8")
        precious = target
    elif kind == "dangling link":
        target.symlink_to(place / "gone")
    else:
        target.mkdir()
        precious.write_text("precious", "utf-8")
        if kind == "foreign manifest":
            (target / "manifest.json").write_text('{"name": "a web app"}', "utf-8")
    refuse(table, place, 4, "'out'", options=force)
    assert target.is_symlink() if kind == "dangling link" else precious.read_text() == "precious"


@pytest.mark.parametrize("below", ["out", "deep/er/out"])
def test_output_below_a_regular_file_cannot_be_written(
    table: Path, place: Path, below: str
) -> None:
    (place / "file").write_text("x", "utf-8")
    before = names_in(place)
    refused(anonymize(table, place / "file" / below, require=EPSILON_M), 4, "cannot write")
    assert names_in(place) == before


def test_output_in_a_missing_directory_leaves_nothing_where_it_fails(
    table: Path, place: Path
) -> None:
    outcome = anonymize(
        table, place / "new" / "deep" / "out", require="EpsilonM(epsilon=90000, m=9)"
    )
    refused(outcome, 3, "not achievable")
    assert names_in(place) == []


def test_output_with_too_long_a_name_cannot_be_written(table: Path, place: Path) -> None:
    refused(anonymize(table, place / ("x" * 300), require=EPSILON_M), 4, "cannot write")
    assert names_in(place) == []


def test_output_named_nothing_is_refused(table: Path) -> None:
    for output in (Path(), Path("/")):
        outcome = anonymize(table, output, "--force", require=EPSILON_M)
        assert outcome.code in {2, 4}
        assert "unforeseen" not in outcome.err
        assert outcome.out == ""


@pytest.mark.parametrize("inside", ["out/links.csv", "out/deep/links.csv", "out"])
def test_linkage_inside_the_release_is_refused(table: Path, place: Path, inside: str) -> None:
    refuse(table, place, 2, "linkage", "private", options=("--linkage", place / inside))


def test_linkage_inside_the_release_by_a_detour_is_refused(table: Path, place: Path) -> None:
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    (place / "link").symlink_to(place / "out")
    (place / "side").mkdir()
    before = (place / "out" / "release.csv").read_bytes()
    for detour in ("side/../out/links.csv", "link/links.csv"):
        options = ("--force", "--linkage", place / detour)
        refuse(table, place, 2, "linkage", "private", options=options)
    assert (place / "out" / "release.csv").read_bytes() == before
    assert names_in(place / "out") == [
        "codebook.csv",
        "manifest.json",
        "release.csv",
        "report.html",
    ]


def test_linkage_in_a_missing_directory_cannot_be_written(table: Path, place: Path) -> None:
    options = ("--linkage", place / "none" / "links.csv")
    refuse(table, place, 4, "'links.csv'", options=options)


def test_linkage_that_exists_is_replaced_only_with_force(table: Path, place: Path) -> None:
    links = place / "links.csv"
    links.write_text("precious", "utf-8")
    refuse(table, place, 4, "'links.csv'", "exists", options=("--linkage", links))
    assert links.read_text("utf-8") == "precious"
    options = ("--force", "--linkage", links)
    assert anonymize(table, place / "out", *options, require=EPSILON_M).code == 0
    assert links.read_text("utf-8").startswith("row,release_row\n")
    assert links.stat().st_mode & 0o777 == 0o600


def test_linkage_that_is_a_directory_leaves_no_release(table: Path, place: Path) -> None:
    (place / "links").mkdir()
    refuse(table, place, 4, options=("--force", "--linkage", place / "links"))


def test_linkage_never_overwrites_the_table(table: Path, place: Path) -> None:
    before = table.read_bytes()
    outcome = anonymize(table, place / "out", "--force", "--linkage", table, require=EPSILON_M)
    assert table.read_bytes() == before
    assert outcome.code in {2, 4}
    assert names_in(place) == []


def test_dry_run_refuses_what_the_run_would_refuse(table: Path, place: Path) -> None:
    options = ("--dry-run",)
    refuse(table, place, 3, "not achievable", options=options, require="EpsilonM(epsilon=9e4, m=9)")
    refuse(table, place, 2, "'EpsilonM'", options=options, require="EpsilonN(epsilon=1, m=9)")
    refuse(table, place, 2, "Mondrian()", options=("--dry-run", "--method", "Mondrian()"))


def test_json_run_that_fails_says_nothing_on_stdout(table: Path, place: Path) -> None:
    refuse(table, place, 2, "'qqq'", options=("--json", "--quasi", "qqq"))


# The real process


def test_real_process_ends_with_its_exit_code_and_one_sentence(table: Path, place: Path) -> None:
    roles = (*ROLES, "--sensitive", "salary", "--output", place / "out")
    for spelled, code in (("KAnonymity(k=0)", 2), ("KAnonymity(k=301)", 3)):
        outcome = run("anonymize", table, *roles, "--require", spelled)
        refused(outcome, code, "KAnonymity")
        assert outcome.err.splitlines()[-1].startswith("shoal: ")
    (place / "out").mkdir()
    refused(run("anonymize", table, *roles, "--require", EPSILON_M), 4, "'out'")
    assert names_in(place) == ["out"]


def test_closed_pipe_is_no_error(table: Path) -> None:
    process = start("plan", table, "--sensitive", "salary", "--json")
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(PATIENCE) == 0
    assert "Traceback" not in said
    assert "Exception" not in said


def test_full_disk_behind_stdout_is_told(table: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, "plan", table, "--sensitive", "salary", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_an_audit_that_holds_and_cannot_be_printed_has_an_exit_code_of_its_own(
    table: Path, place: Path
) -> None:
    """Nobody takes an answer that is not there for one that holds; one that fails is known."""
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    for code in (4, 1):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([COMMAND, "audit", place / "out"], stdout=full, check=False)
        assert done.returncode == code
        (place / "out" / "codebook.csv").write_text("changed", "utf-8")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table whose release takes some seconds."""
    import numpy as np

    size = 400_000
    chance = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("large") / "large.csv"
    pl.DataFrame(
        {
            "age": chance.integers(18, 90, size),
            "zip": chance.integers(10_000, 99_999, size),
            "salary": chance.integers(0, 10**6, size),
            "unused": 1,
        }
    ).write_csv(path)
    return path


def interrupt(process: subprocess.Popen[str]) -> Outcome:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    return Outcome(process.returncode, out, err)


def start_large(large: Path, place: Path, *options: str) -> subprocess.Popen[str]:
    roles = ("--quasi", "age,zip", "--sensitive", "salary", "--require", EPSILON_M)
    return start("anonymize", large, *roles, "--output", place / "out", *options)


def wait_for_staging(process: subprocess.Popen[str], place: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not any(name.endswith(".partial") for name in names_in(place)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


def test_interrupt_while_searching_leaves_nothing(large: Path, place: Path) -> None:
    process = start_large(large, place)
    assert process.stderr
    while "Not published" not in (line := process.stderr.readline()):  # said when the table is read
        assert line, process.poll()
    outcome = interrupt(process)
    assert names_in(place) == []
    refused(outcome, 130, "interrupted")


@pytest.mark.long
def test_interrupt_while_writing_leaves_nothing(large: Path, place: Path) -> None:
    process = start_large(large, place)
    wait_for_staging(process, place)
    outcome = interrupt(process)
    assert names_in(place) == []
    refused(outcome, 130, "interrupted")


@pytest.mark.long
def test_interrupt_while_replacing_leaves_the_old_release(
    large: Path, table: Path, place: Path
) -> None:
    assert anonymize(table, place / "out", require=EPSILON_M).code == 0
    before = json.loads((place / "out" / "manifest.json").read_text("utf-8"))
    process = start_large(large, place, "--force")
    wait_for_staging(process, place)
    outcome = interrupt(process)
    assert names_in(place) == ["out"]
    assert json.loads((place / "out" / "manifest.json").read_text("utf-8")) == before
    assert shoal("audit", place / "out").code == 0
    refused(outcome, 130, "interrupted")
