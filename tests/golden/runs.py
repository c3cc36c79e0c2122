"""Runs the golden cases, and renews what is known of them: `make golden`.

With `PYTHONPATH=tests`, `python -m golden.runs --full DIR` writes everything about each run into a
file of its own instead, as a directory to be compared with that of another version: `diff -r before
after`. Names choose among the runs.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import chance
import shoal
from golden import canonical, tables
from golden.cases import Case, cases
from shoal.cli import main as commands
from system.shell import shoal as typed

FILE = Path(__file__).with_name("runs.json")
DAY = datetime(2026, 11, 18, tzinfo=UTC)  # on which all of them are made: audits repeat the date
QUIET = {"seconds", "seconds_by", "megabytes"}  # of a machine, not of a run
PUBLIC = tuple(
    kind
    for name in dir(shoal)
    if isinstance(kind := getattr(shoal, name), type) and issubclass(kind, shoal.ShoalError)
)


def kind_of(problem: BaseException) -> str:
    """Return the public name of a refusal."""
    return next((kind.__name__ for kind in type(problem).mro() if kind in PUBLIC), "usage")


def without_time(value: Any) -> Any:
    """Return data without what a machine took for them."""
    if isinstance(value, dict):
        return {k: without_time(v) for k, v in value.items() if k not in QUIET | {"id", "date"}}
    return [without_time(one) for one in value] if isinstance(value, list) else value


def answer_of(words: tuple[str, ...]) -> dict[str, Any]:
    """Return how a command ended and what it said, in full."""
    problems: list[BaseException] = []
    explain = commands.explain

    def heard(problem: BaseException) -> tuple[str, int]:
        problems.append(problem)
        return explain(problem)

    with mock.patch.object(commands, "explain", heard):
        done = typed(*words)
    found: dict[str, Any] = {"code": done.code, "remarks": canonical.remarks(done.err)}
    found["said"] = done.err.splitlines()
    if problems:
        found["refused"] = kind_of(problems[-1])
    if "--json" in words and done.out:
        found["json"] = without_time(done.json())
    return found


def result(case: Case) -> dict[str, Any]:
    """Return everything about a case, in full."""
    with (
        tempfile.TemporaryDirectory() as place,
        contextlib.chdir(place),
        chance.STREAM.apart("golden"),
        mock.patch("shoal.runs.publish.datetime", mock.Mock(now=lambda _zone: DAY)),
    ):
        tables.write(Path())
        answers = [answer_of(words) for words in case.commands]
        links = []
        if Path("linkage.csv").exists():
            with Path("linkage.csv").open(encoding="utf-8") as file:
                links = list(csv.DictReader(file))
        made = sorted(path for path in Path().glob("out*") if path.is_dir())
        releases = {
            path.name: canonical.release_facts(path, links if path.name == "out" else ())
            for path in made
        }
    return {"answers": answers, "releases": releases}


def known(full: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a case."""
    answers = [
        {key: value for key, value in one.items() if key != "said"}
        | ({"json": canonical.part_by_part(one["json"])} if "json" in one else {})
        for one in full["answers"]
    ]
    releases = {name: canonical.shortened(one) for name, one in full["releases"].items()}
    return json.loads(json.dumps({"answers": answers, "releases": releases}))


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    """Return what differs, a line each, with the way to it."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        pairs = [(f"{where}.{key}", before.get(key), after.get(key)) for key in keys]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [
            (f"{where}[{place}]", *pair)
            for place, pair in enumerate(zip(before, after, strict=True))
        ]
    else:
        return [] if before == after else [f"{where.lstrip('.')}: {before!r} → {after!r}"]
    return [line for place, one, two in pairs for line in differences(one, two, place)]


def read() -> dict[str, Any]:
    """Return what is known of all cases."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def write(found: dict[str, Any]) -> None:
    """Write what is known, a line for each part of a run."""
    lines = []
    for name in sorted(found):
        parts = [
            f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in found[name].items()
        ]
        lines.append(f"{json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main() -> None:
    """Renew what is known, and print what changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases; all by default")
    parser.add_argument("--full", type=Path, help="write everything here; renew nothing")
    parser.add_argument("--spark", action="store_true", help="those on Spark too")
    asked = parser.parse_args()
    chance.foresee()
    every, before = cases(), read()
    after = {name: one for name, one in before.items() if name in every}
    for name, case in every.items():
        if (asked.names and name not in asked.names) or (case.spark and not asked.spark):
            continue
        full = result(case)
        if asked.full:
            asked.full.mkdir(parents=True, exist_ok=True)
            text = json.dumps(canonical.rounded(full), ensure_ascii=False, indent=1)
            (asked.full / f"{name.replace(' ', '-')}.json").write_text(text + "\n", "utf-8")
            continue
        after[name] = known(full)
        for line in differences(before.get(name), after[name]):
            print(f"{name}: {line[:300]}")  # noqa: T201
    if not asked.full:
        write(after)


if __name__ == "__main__":
    main()
