"""What the system tests share: running the command, tables made by code, files on disk."""

import contextlib
import csv
import hashlib
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from forged import reported
from shoal.cli.main import main

COMMAND = Path(sys.executable).with_name("shoal")
QUASI = ("age", "town", "score")
HEADER = ("name", "age", "note", "town", "score", "salary", "change", "unused")
TOWNS = (
    "Aalen",
    'St. "Old" Town',
    "Łódź, north",
    "two\nlines",
    "back\\slash",
    "[odd]",
    " spaces ",
    "東京",
)
NOTES = ("plain", "a, b", 'say "hi"', "line\nbreak", "naïve ☃", "", " lead", "tab\there", "NA")
PATIENCE = 600  # seconds that a command may take on a machine that has much else to do
ROLES = ("--quasi", ",".join(QUASI), "--identifying", "name", "--other", "note")

Row = dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """How a run of the command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """What stands on stderr, in one line without the frames that Typer draws."""
        return " ".join(word for word in self.err.split() if word.strip("│╭╮╰╯─"))

    def json(self) -> Any:
        """Return stdout, which must be one JSON object and nothing else."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


def _leave(code: int) -> None:
    raise SystemExit(code)


def shoal(*arguments: object) -> Outcome:
    """Run the command in this process, its error handling included."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["shoal", *map(str, arguments)]),
        mock.patch.object(os, "_exit", _leave),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    assert isinstance(code, int)
    return Outcome(code, out.getvalue(), err.getvalue())


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    """Start the real command in a process of its own."""
    return subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        **options,
    )


def run(*arguments: object, **options: Any) -> Outcome:
    """Run the real command in a process of its own to its end."""
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=PATIENCE)
    return Outcome(process.returncode, out, err)


def people(rows: int = 300, seed: int = 1) -> list[Row]:
    """Return a table about people, with the cells that break careless readers and writers."""
    chance = random.Random(seed)
    table = []
    for number in range(rows):
        age = 18 + number * 60 // rows  # in ascending order, so that a kept order would show
        table.append(
            {
                "name": f"Zaphod-{number:04d}",
                "age": str(age),
                "note": chance.choice(NOTES),
                "town": chance.choice(TOWNS),
                "score": f"{chance.randint(-80, 400) / 8:.3f}",
                "salary": str(
                    chance.choice((chance.randint(0, 90_000), chance.randint(1, 90) * 1000))
                ),
                "change": f"{chance.randint(-5000, 5000) / 100:.2f}",
                "unused": "Vogsphere",
            }
        )
    return table


def write_csv(path: Path, rows: Sequence[Row], header: Iterable[str] | None = None) -> Path:
    """Write rows as CSV and return the path."""
    names = list(header or rows[0])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row[name] for name in names] for row in rows)
    return path


def anonymize(table: Path, output: Path, *options: object, require: str | None = None) -> Outcome:
    """Run `shoal anonymize` on a table of `people`."""
    asked = ("--require", require) if require else ()
    sensitive = () if "--sensitive" in options else ("--sensitive", "salary")
    roles = () if "--quasi" in options else ROLES
    return shoal("anonymize", table, *roles, *sensitive, *asked, "--output", output, *options)


def names_in(directory: Path) -> list[str]:
    """Return the names of everything in a directory, hidden files too."""
    return sorted(path.name for path in directory.iterdir())


def redone(directory: Path, lines: Sequence[Row], **changed: Any) -> None:
    """Write other rows into a release, and let its manifest say that they were published."""
    path = write_csv(directory / "release.csv", lines)
    manifest = json.loads((directory / "manifest.json").read_text())
    manifest["digests"]["release.csv"] = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (directory / "manifest.json").write_text(json.dumps(manifest | changed))
    reported(directory)
