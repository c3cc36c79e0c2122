"""Files as institutions have them: inspect, init and anonymize bring each in without a hand."""

import csv
import io
import json
import random
import re
from functools import partial
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

import shoal as library
from messy import MESSY, NAMES, PEOPLE, Messy, lines
from shoal.table.columns import Within, column_names
from shoal.table.dates import to_iso
from shoal.table.delimited import read_csv
from system.shell import shoal

EACH = pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)


def numbers(column: pl.Series) -> list[float | None]:
    return column.cast(pl.String).cast(pl.Float64).to_list()


@EACH
def test_every_cell_is_read_as_a_person_would_read_it(messy: Messy, tmp_path: Path) -> None:
    opened = library.open_table(messy.write(tmp_path))
    assert opened.needed == messy.needed
    table = opened.plain

    def expected(name: str) -> list[object]:
        lost = messy.lost.get(name, set())
        return [None if at in lost else getattr(one, name) for at, one in enumerate(PEOPLE)]

    assert numbers(table[messy.case]) == expected("case")
    assert numbers(table["age"]) == expected("age")
    assert numbers(table["charges"]) == expected("charges")
    assert table["ward"].cast(pl.String).to_list() == expected("ward")
    assert table["zip"].cast(pl.String).to_list() == expected("zip")
    days = table["admitted"].cast(pl.String).str.slice(0, 10)
    german = days.str.contains(".", literal=True).any()
    read = to_iso(days, "dd.mm.yyyy") if german else days
    assert read.to_list() == [one.admitted.isoformat() for one in PEOPLE]


@EACH
def test_inspect_init_and_anonymize_need_no_hand(messy: Messy, tmp_path: Path) -> None:
    path, schema, place = messy.write(tmp_path), tmp_path / "s.toml", tmp_path / "out"
    said = shoal("inspect", path, "--json").json()["reading"]
    assert {one["key"] for one in said if one["needed"]} == set(messy.needed)
    assert shoal("init", path, "--output", schema).code == 0
    made = shoal("anonymize", "--schema", schema, "--output", place, "--seed", "1")
    assert made.code == 0, made.err
    rows = list(csv.DictReader((place / "release.csv").read_text("utf-8").splitlines()))
    assert len(rows) == len(PEOPLE)
    lost = messy.lost.get("charges", set())
    true = sorted(one.charges for at, one in enumerate(PEOPLE) if at not in lost)
    comma = messy.needed.get("decimal") == ","
    spelled = [one["charges"] for one in rows if one["charges"]]
    plain = [one.replace(".", "").replace(",", ".") if comma else one for one in spelled]
    assert sorted(map(float, plain)) == true
    days = {day for one in rows for day in one["admitted"].strip('[]"').split('", "')}
    assert {day[:10] for day in days} <= {one.admitted.isoformat() for one in PEOPLE}
    assert all(one["ward"] for one in rows)


@EACH
@pytest.mark.few(3)
def test_the_original_is_read_as_the_schema_file_that_names_it_says(
    messy: Messy, tmp_path: Path
) -> None:
    path, schema, place = messy.write(tmp_path), tmp_path / "s.toml", tmp_path / "out"
    assert shoal("init", path, "--output", schema).code == 0
    assert shoal("anonymize", "--schema", schema, "--output", place).code == 0
    owner = ("--schema", schema, "--original", path)
    done = shoal("show", place, *owner, "--row", 7)
    assert done.code == 0, done.err
    assert f"age {PEOPLE[7].age}" in " ".join(done.out.split())
    dossier = tmp_path / "dossier.html"
    done = shoal("dossier", place, "--norm", "gdpr", *owner, "--output", dossier)
    assert done.code == 0, done.err


@EACH
@pytest.mark.few(3)
def test_python_reads_the_original_as_the_schema_file_says(messy: Messy, tmp_path: Path) -> None:
    """It was read plainly: names of columns were titles, and codes for missing were values."""
    path, schema, place = messy.write(tmp_path), tmp_path / "s.toml", tmp_path / "out"
    library.init(path, schema)
    library.load(schema).release().write(place)
    for known in (path, str(path)):
        found = library.measures.person(place, 7, original=known, schema=schema)
        assert f"age {PEOPLE[7].age}" in " ".join(str(found).split())
    dossiers = {}
    table = library.load(schema).frame()
    for name, original in (("path", path), ("frame", table)):
        made = library.dossier(
            place, tmp_path / f"{name}.html", norm="ema", schema=schema, original=original
        )
        dossiers[name] = made.annex.read_text("utf-8")
    kept = [re.sub(r"[0-9]+ to [0-9]+ %|[0-9.]+", "", one) for one in dossiers.values()]
    assert f"{len(table)}" in dossiers["path"]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("written", ["plainly", "like the original"])
def test_controls_of_a_messy_original_are_read(written: str, tmp_path: Path) -> None:
    """Options that say how the original is read broke the plain file that Shoal writes."""
    messy = next(one for one in MESSY if one.name == "titles")
    path, schema, place = messy.write(tmp_path), tmp_path / "s.toml", tmp_path / "out"
    library.init(path, schema)
    held = ("--hold-out", "25%", "--hold-out-file", tmp_path / "controls.csv")
    made = shoal("anonymize", "--schema", schema, *held, "--output", place)
    assert made.code == 0, made.err
    controls = tmp_path / "controls.csv"
    if written != "plainly":
        text = path.read_text("utf-8").splitlines(keepends=True)
        controls.write_text("".join([*text[:4], *text[10:25]]), "utf-8")
    owner = ("--schema", schema, "--original", path, "--control", controls)
    done = shoal("attack", place, *owner, "--json")
    assert done.code == 0, done.err
    tried = [one["controls"] for one in done.json()["controlled"] if one["attack"] == "linking"]
    for at, told in enumerate([{"original": path, "control": controls}, None]):
        dossier = tmp_path / f"{at}.html"
        if told is None:
            done = shoal("dossier", place, "--norm", "gdpr", *owner, "--output", dossier)
            assert done.code == 0, done.err
        else:
            library.dossier(place, dossier, norm="gdpr", schema=schema, **told)
        annex = (tmp_path / f"{at}-private.html").read_text("utf-8")
        assert "of people who are not in it" in annex
        assert [one["count"] for one in tried] == [15]


def test_options_say_what_was_found(tmp_path: Path) -> None:
    path = next(one for one in MESSY if one.name == "totals").write(tmp_path)
    place = tmp_path / "out"
    said = ["--skip-last", "1", "--decimal", ",", "--missing-codes", "age=999"]
    said += ["--missing-codes", "charges=k. A.,-", "--missing", "drop", "--quasi", "age"]
    asked = ["--sensitive", "charges", "--require", "KAnonymity(k=3)", "--output", place]
    made = shoal("anonymize", path, *said, *asked, "--json")
    assert made.code == 0, made.err
    assert made.json()["rows"] == len(PEOPLE) - 3
    public = json.loads((place / "manifest.json").read_text("utf-8"))
    assert not {"missing_codes", "skip_last"} & set(public["asked"])
    assert "k. A." not in json.dumps(public, ensure_ascii=False)


def test_numbers_that_read_in_two_ways_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    path.write_text("age;cost\n" + "".join(f"{20 + at};{1 + at},250\n" for at in range(9)))
    opened = library.open_table(path)
    (asked,) = [one for one in opened.assumed if one.key == "decimal"]
    assert (asked.value, asked.sure) == (None, False)
    assert opened.plain["cost"].cast(pl.String)[0] == "1,250"
    assert library.open_table(path, decimal=",").plain["cost"].cast(pl.String)[0] == "1.250"
    assert library.open_table(path, decimal=".").plain["cost"].cast(pl.String)[0] == "1250"


SWISS = [f"{1 + at}'{234 + at}.{50 + at}" for at in range(9)]


@pytest.mark.parametrize("sign", ["'", "’", "\u202f", "\u00a0", " "])
@pytest.mark.parametrize("decimals", [True, False])
def test_thousands_that_no_comma_separates_are_read(
    *, sign: str, decimals: bool, tmp_path: Path
) -> None:
    """1'234.56 was a label, and 1'234 was asked about as if it had a comma."""
    cells = [one.replace("'", sign) if decimals else one[:5].replace("'", sign) for one in SWISS]
    path = tmp_path / "thousands.csv"
    path.write_text("age;cost\n" + "".join(f"{20 + at};{one}\n" for at, one in enumerate(cells)))
    opened = library.open_table(path)
    (asked,) = [one for one in opened.assumed if one.key == "decimal"]
    assert (asked.value, asked.sure) == (".", decimals or sign != " ")
    assert opened.plain["cost"].cast(pl.String)[0] == ("1234.50" if decimals else "1234")
    schema = tmp_path / "shoal.toml"
    library.init(path, schema)
    assert '\ndecimal = "."' in schema.read_text("utf-8")


def test_the_decimal_sign_can_always_be_said(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("age,cost\n" + "".join(f"{20 + at},{at}.5\n" for at in range(30)))
    (asked,) = [one for one in library.open_table(path).assumed if one.key == "decimal"]
    assert (asked.value, asked.sure, asked.needed) == (None, True, False)
    assert asked.choices == (",", ".")


def test_a_vertical_bar_separates_columns(tmp_path: Path) -> None:
    path, schema, place = tmp_path / "bars.txt", tmp_path / "s.toml", tmp_path / "out"
    path.write_text("\n".join(lines(sign="|")) + "\n")
    opened = library.open_table(path)
    assert opened.plain.columns == list(NAMES)
    assert "|" in next(one for one in opened.assumed if one.key == "delimiter").choices
    library.init(path, schema)
    assert library.load(schema).release().write(place)
    path.write_text("A list\n" + "\n".join(lines(sign="|")) + "\n")
    opened = library.open_table(path)
    assert opened.needed == {"header_row": 2}
    assert library.open_table(path, delimiter="|").plain.columns == list(NAMES)


def test_bars_within_cells_separate_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "tags.csv"
    path.write_text("age,tags\n" + "".join(f"{20 + at},a|b|c|d\n" for at in range(30)))
    assert library.open_table(path).plain.columns == ["age", "tags"]


@pytest.mark.parametrize(("sign", "quote"), [(":", ""), ("~", ""), (";", '"'), ("|", '"')])
def test_one_column_whose_cells_have_a_separator_is_asked_about(
    sign: str, quote: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.csv"
    rows = (f"age{sign}cost", *(f"{20 + at}{sign}{at * 3}" for at in range(9)))
    path.write_text("".join(f"{quote}{one}{quote}\n" for one in rows))
    opened = library.open_table(path)
    (asked,) = [one for one in opened.assumed if one.key == "delimiter"]
    assert not asked.sure
    assert len(opened.plain.columns) == 1
    plain = tmp_path / "plain.csv"
    plain.write_text("age\n" + "".join(f"{20 + at}\n" for at in range(9)))
    assert all(one.sure for one in library.open_table(plain).assumed)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--header-row", "0"), "greater than or equal to 1"),
        (("--missing-codes", "size=1"), "size"),
        (("--encoding", "klingon"), "klingon"),
    ],
)
def test_what_cannot_be_is_refused(option: tuple[str, str], said: str, tmp_path: Path) -> None:
    path = MESSY[0].write(tmp_path)
    found = shoal("inspect", path, *option)
    assert found.code == 2
    assert said in found.said


def test_a_plain_file_needs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("age,sex,cost\n" + "".join(f"{20 + at},f,{at}.5\n" for at in range(30)))
    opened = library.open_table(path)
    assert opened.needed == {}
    assert all(one.sure for one in opened.assumed)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_lines_above_and_below_are_left_out_whatever_the_parts(size: int) -> None:
    chance = random.Random(size)
    for _ in range(200):
        rows = [chance.choice(["", "a", "bc"]) for _ in range(chance.randrange(1, 9))]
        above, below = chance.randrange(3), chance.randrange(3)
        text = "\n".join(rows) + chance.choice(["", "\n", "\n\n"])
        stream = Within(io.BytesIO(text.encode()), above, below)
        found = b"".join(iter(partial(stream.read, size), b"")).decode()
        left = text.split("\n")[above:]
        if below:
            while left and not left[-1]:
                left.pop()
            left = left[:-below] if len(left) >= below else []
        assert found.rstrip("\n") == "\n".join(left).rstrip("\n")


def test_no_two_columns_have_one_name() -> None:
    chance = random.Random(3)
    for _ in range(300):
        cells = [chance.choice(["", "a", "b", "a 2", "column 2"]) for _ in range(6)]
        upper = [chance.choice(["", "x", "y"]) for _ in range(6)]
        names = column_names([upper, cells])
        assert len(set(names)) == len(names) == 6
        assert all(names)


@pytest.mark.parametrize("size", [1, 3, 16, 4096])
@pytest.mark.parametrize("sign", [";", "\t", ","])
def test_lines_without_cells_are_no_rows(size: int, sign: str) -> None:
    """A blank line between rows was refused, one of separators stood for a person."""
    chance = random.Random(f"{size}{sign}")
    for _ in range(60):
        end = chance.choice(["\n", "\r\n"])
        cells = ["", "a", "b c", f'"x{sign}y"', f'"two{end}{end}{sign}{end}lines"', '""']
        rows = [
            chance.choice(["", sign, 2 * sign, sign.join(chance.choices(cells, k=3))])
            for _ in range(chance.randrange(1, 9))
        ]
        rows = [one if one.count(sign) != 1 or '"' in one else 2 * sign for one in rows]
        text = end.join([f"p{sign}q{sign}r", *rows]) + chance.choice(["", end, end + end])
        plain = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        known = [[cell or None for cell in one] for one in plain][1:]
        read = read_csv(io.BytesIO(text.encode()), "t.csv", sign, part=size)
        empty = [one for one in known if not any(one)]
        assert [list(one) for one in read.rows() if any(one)] == [one for one in known if any(one)]
        quoted = sum('"' in one for one in rows)  # "" is a cell that says that it is empty
        assert read.height <= len(known) - len(empty) + quoted


def test_empty_lines_of_a_sheet_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "gaps.xlsx"
    rows = [list(map(str, range(at, at + 3))) if at % 5 else [] for at in range(1, 30)]
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for at, cells in enumerate([["a", "b", "c"], *rows]):
            sheet.write_row(at + 3, 1, cells)
    table = library.open_table(path).plain
    assert [list(map(str, one)) for one in table.rows()] == [one for one in rows if one]


def test_lines_of_one_column_are_rows() -> None:
    read = read_csv(io.BytesIO(b"a\n1\n\n2\n"), "t.csv", ",")
    assert read["a"].to_list() == ["1", None, "2"]


@pytest.mark.parametrize("word", ["Zwischensumme", "Subtotal", "Sous-total", "Summe"])
def test_totals_within_a_table_are_asked_about(word: str, tmp_path: Path) -> None:
    path = tmp_path / "wards.csv"
    block = [f"{ward},{at},2024-01-0{at},I1{at},10{at}.50\n" for ward in "AB" for at in (1, 2, 3)]
    after_a, after_b = f"{word} A,,,,310.50\n", f"{word} B,,,,310.50\n"
    head = "ward,case,day,code,charges\n"
    path.write_text(
        head + "".join([*block[:3], after_a, *block[3:], after_b, "C,9,2024-01-01,I10,1.50\n"])
    )
    (doubt,) = [one for one in library.open_table(path).assumed if not one.sure]
    assert doubt.key == "totals"
    assert f"row 4 (“{word} A”), row 8 (“{word} B”)" in doubt.why
    assert shoal("init", path, "--output", tmp_path / "s.toml").code == 0
    assert "? Some rows look like totals" in (tmp_path / "s.toml").read_text("utf-8")
    path.write_text(
        head
        + "".join([*block, "Total hip,4,2024-01-04,,1.50\n", f"{word} Müller,5,,I10,2.50\n"])
        + block[0]
    )
    assert all(one.sure for one in library.open_table(path).assumed)
