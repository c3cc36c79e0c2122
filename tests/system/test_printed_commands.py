"""Every command that Shoal prints does what it says where it would be typed."""

from __future__ import annotations

import csv
import html
import json
import random
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from system.shell import shoal

if TYPE_CHECKING:
    from pathlib import Path

TOWNS = ("Aix", "Bari", "Cork", "Delft", "Essen")
SIZES = ("small", "middle", "large")
TREE = "Aix;south;*\nBari;south;*\nCork;north;*\nDelft;north;*\nEssen;north;*\n"
HEADER = ("id", "age", "zip", "born", "town", "size", "pay", "note")
KEPT = (
    *("require", "method", "columns", "rows", "suppressed", "loss", "decimal", "escaped"),
    *("form", "people", "rows_known", "capped"),
)


def rows(seed: int, header: tuple[str, ...]) -> list[tuple[str, ...]]:
    chance = random.Random(seed)
    made = [
        (
            f"p{place}",
            str(chance.randint(18, 80)),
            f"{chance.randint(100, 140):05d}",
            f"19{chance.randint(50, 99)}-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}",
            chance.choice(TOWNS),
            chance.choice(SIZES),
            f"{chance.randint(1, 40)}.{chance.randint(0, 99):02d}0",
            chance.choice(("=1+1", "fine", "fine")),
        )
        for place in range(90)
    ]
    made.append(("p90", "", "00101", "1990-01-01", "Aix", "small", "9.50", "fine"))
    return [header, *made]


def write(path: Path, lines: list[tuple[str, ...]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(lines)
    return path


SCHEMA = """
quasi = ["age", "size"]
sensitive = ["pay"]
missing = "drop"
[columns.size]
type = "ordered"
order = ["small", "middle", "large"]
"""
ODD = """
quasi = ["age, in years", " town"]
sensitive = ["pay"]
missing = "drop"
[columns.pay]
type = "numeric"
"""
CASES = {
    "missing": ("--quasi", "age,town", "--sensitive", "pay", "--missing", "drop"),
    "missing as a value": ("--quasi", "age,zip", "--sensitive", "pay", "--missing", "value"),
    "types": ("--quasi", "zip,born,age", "--sensitive", "pay", "--type", "zip=code", "--type",
              "born=date", "--missing", "drop", "--other", "note", "--escape-formulas"),
    "built hierarchies": ("--quasi", "zip,born", "--sensitive", "pay", "--hierarchy",
                          "zip=Prefix()", "--hierarchy", "born=Calendar()"),
    "a file's hierarchy": ("--quasi", "town,zip", "--sensitive", "pay", "--hierarchy",
                           "town=TREE", "--weight", "town=1.2345678", "--weight", "zip=3"),
    "numbers with a comma": ("--quasi", "zip,pay", "--sensitive", "town", "--decimal", ",",
                             "--type", "pay=numeric", "--delimiter", ";"),
    "suppression": ("--quasi", "zip,town", "--sensitive", "pay", "--suppress", "2.5%",
                    "--seconds", "30", "--format", "parquet"),
    "pseudonyms": ("--quasi", "zip", "--sensitive", "pay", "--pseudonymize", "id", "--key-file",
                   "KEY"),
    "an order of labels": ("--schema", "SCHEMA"),
    "names with commas": ("--schema", "SCHEMA"),
    "a population": ("--quasi", "zip,town", "--sensitive", "pay", "--population", "PEOPLE",
                     "--require", "KMap(k=2)"),
    "bounds of rounded numbers": ("--quasi", "zip,town,pay", "--sensitive", "note", "--form",
                                  "bounds", "--round", "pay=0.5", "--top", "pay=95%", "--bottom",
                                  "pay=1", "--missing", "drop", "--title", "Our people's pay"),
    "two tables": ("--quasi", "zip,town", "--sensitive", "pay", "--form", "two-tables",
                   "--require", "FrequencyL(l=2)", "--other", "note", "--keep-other", "--method",
                   "Exchange()"),
    "dates as they are written": ("--quasi", "born,zip", "--sensitive", "pay", "--form", "means",
                                  "--date-format", "born=yyyy-mm-dd"),
    "people": ("--quasi", "zip,town", "--sensitive", "pay", "--person", "id", "--most-rows", "2",
               "--method", "Exchange()"),
    "people whose rows nobody counts": ("--quasi", "zip", "--sensitive", "pay", "--person", "id",
                                        "--rows", "unknown", "--method", "Exchange()"),
    "never mixed": ("--quasi", "zip", "--never-mix", "town", "--sensitive", "pay", "--suppress",
                    "30%", "--method", "Exchange()"),
    "survey weights": ("--quasi", "zip,town", "--sensitive", "note", "--survey-weight", "pay"),
    "no groups": ("--quasi", "zip,town", "--sensitive", "pay", "--method", "Ring()"),
}  # fmt: skip


@pytest.mark.few(7)
@pytest.mark.parametrize("case", CASES)
def test_the_command_of_a_report_makes_the_release_again(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second place"
    first.mkdir()
    second.mkdir()
    comma = "comma" in case
    header = ("id", "age, in years", "zip", "born", " town", *HEADER[5:])
    lines = rows(1, header if case == "names with commas" else HEADER)
    if comma and case != "names with commas":
        lines = [lines[0], *((*row[:6], row[6].replace(".", ","), row[7]) for row in lines[1:])]
    table = write(first / "people.csv", lines, ";" if case == "numbers with a comma" else ",")
    places = {
        "TABLE": str(table),
        "SCHEMA": str(first / "schema.toml"),
        "TREE": str(first / "tree.csv"),
        "KEY": str(first / "key"),
        "PEOPLE": str(table),
    }
    (first / "schema.toml").write_text(ODD if "names" in case else SCHEMA, "utf-8")
    (first / "tree.csv").write_text(TREE, "utf-8")
    (first / "key").write_text("a secret of many letters", "utf-8")
    monkeypatch.chdir(first)
    asked = [_placed(word, places) for word in CASES[case]]
    require = () if "--require" in asked else ("--require", "KAnonymity(k=3)")
    method = () if "--method" in asked else ("--method", "Mondrian()")
    done = shoal("anonymize", table, *asked, *require, *method, "--output", "out")
    assert done.code == 0, done.said
    page = (first / "out" / "report.html").read_text("utf-8")
    assert str(tmp_path) not in page
    found = re.search(r"<pre>(shoal anonymize.*?)</pre>", page, re.DOTALL)
    assert found
    words = shlex.split(html.unescape(found.group(1)).replace("\\\n", " "))
    monkeypatch.chdir(second)
    places |= {"DIR": "again", "FILE": places["TREE"], "COLUMN": "id"}
    again = shoal(*(_placed(word, places) for word in words[1:]))
    assert again.code == 0, again.said
    one, two = (
        json.loads((place / "manifest.json").read_text("utf-8"))
        for place in (first / "out", second / "again")
    )
    for key in KEPT:
        assert one.get(key) == two.get(key), key
    assert {path.name for path in (first / "out").iterdir()} == {
        path.name for path in (second / "again").iterdir()
    }
    audit = re.search(r"<pre>(shoal audit DIR.*?)</pre>", page)
    assert audit
    assert shoal(*(_placed(word, places) for word in shlex.split(audit[1])[1:])).code == 0


def _placed(word: str, places: dict[str, str]) -> str:
    """Put a place where its name stands, alone or after a column."""
    column, equals, value = word.partition("=")
    if equals and value in places:
        return f"{column}={places[value]}"
    return places.get(word, word)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["plain.toml", "my schema's file.toml", "sub folder/s.toml"])
def test_what_inspect_and_init_say_next_can_be_typed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub folder").mkdir()
    write(tmp_path / "our people.csv", rows(2, HEADER))
    shown = shoal("inspect", "our people.csv")
    following = shlex.split(shown.out.strip().splitlines()[-1])
    assert following[:2] == ["shoal", "init"]
    begun = shoal(*following[1:], "--output", name)
    assert begun.code == 0, begun.said
    (said,) = re.findall(r"then: (shoal .*)", begun.err)
    assert shoal(*shlex.split(said)[1:], "--output", "by-message", "--quiet").code == 0
    # The file has a command of its own, to be typed beside it.
    text = (tmp_path / name).read_text("utf-8")
    (inside,) = re.findall(r"^#   (shoal .*)$", text, re.MULTILINE)
    monkeypatch.chdir((tmp_path / name).parent)
    assert shoal(*shlex.split(inside)[1:], "--output", "by-comment", "--quiet").code == 0
