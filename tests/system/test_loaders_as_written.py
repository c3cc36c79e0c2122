"""Releases of tables as institutions write them, read by analysts: decimal commas, German dates.

A release keeps sensitive and other cells as they came in, so every program that reads it has to
read what the owner's programs write.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import rscript
import shoal
from shoal.runs.certificate import write_scripts
from shoal.table.forms import FORMS, TWO_TABLES
from stata import as_stata
from system.shell import shoal as shell

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("Alter", "Größe", "Geburt", "Ort", "Grund", "Kosten", "Saldo", "Aufnahme")
SIGNS = {",": ("{:,.2f}", ",.", ".,", "%d.%m.%Y"), ".": ("{:,.2f}", ",.", "'.", "%d %b %Y")}
NUMBERS = ("Kosten", "Saldo")


def write(path: Path, sign: str) -> dict[str, list[Any]]:
    """Write a table in the notation of a country, and return what its exact columns hold."""
    spelled, here, there, day = SIGNS[sign]
    draw = random.Random(29)

    def number(value: float) -> str:
        return spelled.format(value).translate(str.maketrans(here, there))

    held: dict[str, list[Any]] = {name: [] for name in (*NUMBERS, "Aufnahme")}
    lines = [NAMES]
    for _ in range(240):
        costs, saldo = round(draw.uniform(3, 9e6) ** 0.9, 2), round(draw.uniform(-3000, 3000), 2)
        came = date(2023, 1, 1) + timedelta(days=draw.randrange(365))
        born = date(1940, 1, 1) + timedelta(days=draw.randrange(24_000))
        height = f"{draw.gauss(170, 9):.1f}".replace(".", sign)
        age = str(2023 - born.year)
        place, cause = draw.choice(["Köln", "Straße, West", "Ulm"]), draw.choice(["Grippe", "Ü1"])
        days = (one.strftime(day) for one in (born, came))
        first, last = days
        lines.append((age, height, first, place, cause, number(costs), number(saldo), last))
        for name, value in zip(held, (costs, saldo, came), strict=True):
            held[name].append(value)
    path.write_bytes("\n".join(";".join(line) for line in lines).encode("latin-1"))
    return {name: sorted(values) for name, values in held.items()}


@pytest.fixture(params=[(sign, form) for sign in SIGNS for form in FORMS], ids="-".join)
def published(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, list[Any]]]:
    sign, form = request.param
    held = write(tmp_path / "table.csv", sign)
    arguments = f"""anonymize {tmp_path / "table.csv"} --decimal {sign} --encoding latin-1 --quasi
        Alter,Größe,Geburt,Ort --sensitive Grund,Kosten,Aufnahme --other Saldo --nobody-knows
        Saldo,Grund,Kosten,Aufnahme --require Kosten:EpsilonM(epsilon=100,m=3) --method Split()
        --keep-other --escape-formulas --quiet --form {form} --output {tmp_path / "out"}""".split()
    done = shell(*arguments)
    assert done.code == 0, done.err
    write_scripts(tmp_path / "out", tmp_path / "scripts")
    return tmp_path, held


def ran(place: Path, *program: str) -> dict[str, list[Any]]:
    """Run a program that prints columns as JSON, a line each, and return them."""
    done = subprocess.run(program, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def compare(place: Path, held: dict[str, list[Any]], found: dict[str, list[Any]]) -> None:
    """Compare what a program has read with the table, and with the typed frame row by row."""
    for name in NUMBERS:
        assert sorted(found[name]) == pytest.approx(held[name])
    assert sorted(map(str, found["Aufnahme"])) == list(map(str, held["Aufnahme"]))
    frames = shoal.measures.read(place / "out")
    for frame in frames if isinstance(frames, tuple) else (frames,):
        for name, kind in frame.schema.items():
            if name == "group":
                continue
            if kind.is_numeric():
                assert found[name] == pytest.approx(frame[name].to_list()), name
            elif kind.is_temporal():
                assert list(map(str, found[name])) == list(map(str, frame[name])), name
            else:
                cells = [one if isinstance(one, str) else list(one) for one in frame[name]]
                assert [one if isinstance(one, str) else list(one) for one in found[name]] == cells


@pytest.mark.few(2)
def test_a_typed_frame_has_the_numbers_and_dates_of_the_table(
    published: tuple[Path, dict[str, list[Any]]],
) -> None:
    place, held = published
    frames = shoal.measures.read(place / "out")
    tables = frames if isinstance(frames, tuple) else (frames,)
    found = {name: table[name].to_list() for table in tables for name in table.columns}
    compare(place, held, found)


@pytest.mark.few(2)
def test_pandas_reads_the_numbers_and_dates_of_the_table(
    published: tuple[Path, dict[str, list[Any]]],
) -> None:
    place, held = published
    code = """
import json, sys; sys.path.insert(0, "scripts")
from load_release import read_release
found = read_release("out")
for table in found.values() if isinstance(found, dict) else [found]:
    for name, cells in table.items():
        dates = cells.dtype.kind == "M"
        cells = cells.dt.strftime("%Y-%m-%d") if dates else cells
        print(json.dumps([name, cells.tolist()]))
"""
    compare(place, held, ran(place, sys.executable, "-c", code))


@pytest.mark.r
@pytest.mark.few(2)
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_r_reads_the_numbers_and_dates_of_the_table(
    published: tuple[Path, dict[str, list[Any]]], locale: str
) -> None:
    place, held = published
    program = rscript.binary()
    assert program is not None, "R is needed; on Debian: apt-get install r-base-core"
    code = """
        source("scripts/load.R"); found <- read_release("out")
        said <- function(cell) paste0('"', gsub('"', '\\\\"', enc2utf8(as.character(cell))), '"')
        for (table in if (is.data.frame(found)) list(found) else found)
          for (place in seq_along(table)) {
            cells <- table[[place]]
            cells <- if (is.list(cells)) vapply(cells, function(one)
              paste0("[", paste(said(one), collapse = ", "), "]"), "")
            else if (is.numeric(cells)) format(cells, digits = 15, trim = TRUE) else said(cells)
            cells <- paste(cells, collapse = ", ")
            writeLines(paste0("[", said(names(table)[place]), ", [", cells, "]]"), useBytes = TRUE)
          }
    """
    found = ran(place, "env", f"LC_ALL={locale}", program, "-e", code)
    marked = {  # in a locale without letters beyond ASCII, R shows these of names so
        re.sub("<U[+]([0-9A-F]{4})>", lambda code: chr(int(code[1], 16)), name): cells
        for name, cells in found.items()
    }
    compare(place, held, marked)


@pytest.mark.few(2)
def test_stata_reads_the_numbers_and_dates_of_the_table(
    published: tuple[Path, dict[str, list[Any]]],
) -> None:
    place, held = published
    program = (place / "scripts" / "load.do").read_text("utf-8")
    form = json.loads((place / "out" / "manifest.json").read_text("utf-8"))["form"]
    stems = ("people", "values") if form == TWO_TABLES else ("release",)
    found: dict[str, list[Any]] = {}
    for stem in stems:
        found |= as_stata(program, place / "out", stem)
    for name in ("Ort", "Grund"):  # Stata has no lists: sets stay as they are written
        found[name] = [
            json.loads(cell) if cell.startswith("[") else cell for cell in found.get(name, [])
        ]
        if form != TWO_TABLES and name == "Ort":
            found[name] = [[cell] if isinstance(cell, str) else cell for cell in found[name]]
    compare(place, held, found)
