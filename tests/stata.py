"""What Stata's program for releases does, as its text says it: Stata itself cannot be had here."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path


def said(program: str, pattern: str) -> str:
    """What a line of the program says."""
    found = re.search(pattern, program)
    assert found is not None, pattern
    return found[1]


def words(listed: str) -> set[str]:
    return {word.strip('" ') for word in listed.split(",")}


def as_given(program: str, cells: list[str], kind: str, sign: str | None) -> list[str]:
    """Spell the numbers of a column that is published as it came in plainly."""
    marked = [cell.removeprefix("'") for cell in cells]
    if kind == "date" or sign is None:
        return marked
    two = {",": r'\nlocal between "(.*)"', ".": r'== "\." local between "(.*)"'}
    between = said(program, two[sign])
    whole = said(program, r'local written "(.*)"')
    whole = whole.replace("`between'", between).replace("`sign'", sign)
    return [
        re.sub(between, "", cell).replace(sign, ".", 1) if re.search(whole, cell) else cell
        for cell in marked
    ]


def order(program: str, done: str) -> str:
    """In which order the parts of a date stand."""
    before = said(program, r'== "date" & strpos\(`"`done\'"\', "(.*?)"\)')
    after = said(program, r'strpos\(`"`order\'"\', "(.*?)"\)')
    if before not in done:
        return "YMD"
    way = done.split(before)[1].split(after, maxsplit=1)[0]
    for pattern, instead in re.findall(r', "([^"]+)", "([YMD]?)"\)', program):
        way = re.sub(pattern, instead, way)
    return way


def daily(text: str, parts: str, last: int = 2029) -> date | None:
    """Stata's daily(): three parts in an order, years of two digits up to a last one."""
    found = re.findall("[0-9]+|[A-Za-z]+", text)
    if len(found) == 1:
        spans = {"YMD": (4, 6), "DMY": (2, 4), "MDY": (2, 4)}[parts]
        found = [text[: spans[0]], text[spans[0] : spans[1]], text[spans[1] :]]
    if len(found) != 3:
        return None
    part = dict(zip(parts, found, strict=True))
    names = "janfebmaraprmayjunjulaugsepoctnovdec"
    month = part["M"][:3].lower()
    number = names.index(month) // 3 + 1 if month in names else int(month)
    year = int(part["Y"])
    if len(part["Y"]) == 2:
        year += last // 100 * 100 - 100 * (year > last % 100)
    try:
        return date(year, number, int(part["D"]))
    except ValueError:
        return None


def as_stata(program: str, directory: Path, stem: str) -> dict[str, list[Any]]:
    """Do what the do-file says, line by line: which types and forms it knows, its text says."""
    book = pl.read_csv(directory / "codebook.csv", infer_schema=False).fill_null("")
    rows = pl.read_csv(directory / f"{stem}.csv", infer_schema=False)
    sign = json.loads((directory / "manifest.json").read_text("utf-8")).get("decimal")
    numbers = words(said(program, r'inlist\("`type\'", ([^)]*)\) destring'))
    split = said(program, r'if "`form\'" == "(\w+)" \{')
    day = said(program, r'    if "`type\'" == "(\w+)" \{')
    roles, kinds = re.search(  # type: ignore[union-attr]
        r'local given = inlist\("`role\'", (.*?)\) & inlist\("`type\'", (.*?)\)', program
    ).groups()
    clock = said(program, r"daily\(ustrregexra\(`part', \"(.*?)\"")
    found: dict[str, list[Any]] = {}
    for line in book.filter(pl.col("file") == stem).iter_rows(named=True):
        name, kind = line["name"], line["type"]
        cells = rows[name].fill_null("").to_list()
        if line["role"] in words(roles) and kind in words(kinds):
            cells = as_given(program, cells, kind, sign)
        parts = {name: cells}
        if line["form"] == split:
            if ", null]" in line["domain"]:
                found[f"{name}_missing"] = [cell == "" or ", null]" in cell for cell in cells]
            cells = [cell.replace(", null]", "]") for cell in cells]
            bare = [re.sub(r'[\[\]"]', "", cell) for cell in cells]
            parts = {
                f"{name}_low": [cell.split(", ")[0] for cell in bare],
                f"{name}_high": [cell.split(", ")[-1] for cell in bare],
            }
        for part, texts in parts.items():
            if kind in numbers:
                found[part] = [float(text) if text else None for text in texts]
            elif kind == day:
                way = order(program, line["done"])
                found[part] = [
                    daily(re.sub(clock, "", text), way) or daily(text[:10], "YMD") for text in texts
                ]
            else:
                found[part] = texts
    renamed = re.search(r'if inlist\("`stem\'", (.*?)\) rename group (\w+)`stem\'', program)
    assert renamed is not None
    if stem in words(renamed[1]):
        found[renamed[2] + stem] = found.pop("group")
    return found | made_for(program, stem, rows.height)


def made_for(program: str, stem: str, rows: int) -> dict[str, list[Any]]:
    """Return the variables that the program makes for one of two tables."""
    pattern = r'if "`stem\'" == "(\w+)" generate (\w+) (\w+) = "?(\w+)"?'
    return {
        name: [value if kind.startswith("str") else int(value)] * rows
        for own, kind, name, value in re.findall(pattern, program)
        if own == stem
    }
