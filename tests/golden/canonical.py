"""What a run came to, without what is drawn anew each time: rows, numbers and kinds, not bytes.

Group, person and node numbers are replaced by the place of what they stand for among all, so that
an order of drawing that changes changes nothing here. Floats have nine digits.
"""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

DRAWN = {"id", "date", "shoal", "seconds", "seconds_by", "digests"}
CHAINED = {"previous", "coarsened_from"}
NUMBERED = ("node", "group", "person")
READABLE = 160  # characters up to which contents are kept as they are
BOXES = 6  # groups that are shown, the first ones
OPTION = re.compile(r"--[a-z][a-z-]*")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
QUOTED = re.compile(r"'([\w.]+)'")
Rows = list[dict[str, str]]


def rounded(value: Any) -> Any:
    """Return data with floats of nine digits, and keys in order."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(value[key]) for key in sorted(value)}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def text_of(value: Any) -> str:
    """Return data as one line."""
    return json.dumps(rounded(value), ensure_ascii=False, sort_keys=True, default=str)


def digest(text: str) -> str:
    """Return a short digest."""
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:12]


def brief(value: Any) -> Any:
    """Return data as they are where they are short, and their digest else."""
    text = text_of(value)
    return rounded(value) if len(text) <= READABLE else f"{digest(text)} of {len(text)}"


def rows_of(path: Path) -> Rows:
    """Return the rows of a published table, every cell as text."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    if ".parquet" in path.name:
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        found = pl.concat([pl.read_parquet(one, hive_partitioning=False) for one in files])
    elif path.suffix == ".gz":
        found = pl.read_ndjson(path)
    else:
        msg = f"no reader for {path.name}"
        raise ValueError(msg)
    return [{k: text_of(v) for k, v in row.items()} for row in found.to_dicts()]


def tables_of(directory: Path) -> dict[str, Rows]:
    """Return the published tables of a release, by what their files are called."""
    rest = {"manifest.json", "report.html", "codebook.csv"}
    found = sorted(path for path in directory.iterdir() if path.name not in rest)
    return {path.name: rows_of(path) for path in found}


def _signatures(tables: Mapping[str, Rows], which: int, told: dict[str, dict[str, str]]) -> None:
    """Say of each number of a kind what its rows hold, in all tables."""
    kind = NUMBERED[which]
    held: dict[str, list[str]] = defaultdict(list)
    for name, rows in tables.items():
        for row in rows:
            if kind in row:
                cells = {key: cell for key, cell in row.items() if key not in NUMBERED}
                inner = [told[one].get(row.get(one, ""), "") for one in NUMBERED[which + 1 :]]
                held[row[kind]].append(text_of([name, *inner, cells]))
    told[kind] = {number: digest("".join(sorted(lines))) for number, lines in held.items()}


def renumbered(tables: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return the tables with numbers that follow from what is published, in their old order."""
    told: dict[str, dict[str, str]] = {}
    for which in reversed(range(len(NUMBERED))):
        _signatures(tables, which, told)
    if told["node"]:  # groups that look alike may be of different nodes
        for rows in tables.values():
            for row in rows:
                node = told["node"][row["node"]]
                told["group"][row["group"]] = digest(told["group"][row["group"]][:13] + node)
    places = {
        kind: {sign: place for place, sign in enumerate(sorted(set(signs.values())))}
        for kind, signs in told.items()
    }
    return {
        name: [
            row
            | {kind: str(places[kind][told[kind][row[kind]]]) for kind in NUMBERED if kind in row}
            for row in rows
        ]
        for name, rows in tables.items()
    }


def boxes(rows: Rows, manifest: dict[str, Any]) -> list[str]:
    """Return the quasi cells of groups with how many rows they have, the first few."""
    quasi = [one["name"] for one in manifest["columns"] if one["role"] == "quasi"]
    shown = [
        name for name in (rows[0] if rows else ()) if re.sub("_(low|high)$", "", name) in quasi
    ]
    counts = Counter(" | ".join(row[name] for name in shown) for row in rows)
    return [f"{count} × {cells}" for cells, count in sorted(counts.items())[:BOXES] if shown]


def table_facts(rows: Rows, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of one published table: columns, rows, all contents, some groups."""
    lines = sorted(text_of(row) for row in rows)
    return {
        "columns": ",".join(rows[0]) if rows else "",
        "rows": len(rows),
        "groups": len({row["group"] for row in rows}) if rows and "group" in rows[0] else None,
        "contents": digest("\n".join(lines)),
        "boxes": boxes(rows, manifest),
    }


def manifest_facts(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says, without what is drawn or follows from bytes."""
    kept = {k: v for k, v in manifest.items() if k not in DRAWN | CHAINED}
    kept |= dict.fromkeys(CHAINED & manifest.keys(), "a digest")
    if "digests" in manifest:
        kept["digests"] = sorted(re.sub(r"part-\S+", "part", one) for one in manifest["digests"])
    return kept


def report_facts(text: str) -> dict[str, Any]:
    """Return the facts that a report embeds, and the command that it prints."""
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', text, re.DOTALL)
    assert found, "a report without facts"
    facts = json.loads(found[1])
    facts["release"] = manifest_facts(facts["release"])
    if example := facts.get("shown", {}).get("example"):  # of which group is drawn
        facts["shown"]["example"] = example["columns"]
    command = re.search(r"<pre>(shoal (?:anonymize|coarsen) .*?)</pre>", text, re.DOTALL)
    facts["command"] = html.unescape(command[1]).replace(" \\\n ", "") if command else None
    return facts


def remarks(err: str) -> list[str]:
    """Return what each line says beside its words: its kind, options, columns and numbers."""
    kinds = []
    for line in filter(None, map(str.strip, err.splitlines())):
        kind = "warning" if line.startswith("Warning") else "remark"
        kind = "refusal" if line.startswith("shoal:") else kind
        said = (*OPTION.findall(line), *QUOTED.findall(line), *NUMBER.findall(line))
        kinds.append(" ".join((kind, *said)))
    return sorted(kinds)


def part_by_part(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with what is long as digests, one a part, so that a change says where it is."""
    return {key: brief(value) for key, value in sorted(facts.items())}


def release_facts(directory: Path, linkage: Iterable[dict[str, str]] = ()) -> dict[str, Any]:
    """Return everything about a release directory, in full."""
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    tables = renumbered(tables_of(directory))
    *_, last = tables.values()  # of two tables that of values, which the linkage is about
    about = last if "values" in [*tables][-1] else next(iter(tables.values()))
    links = sorted((int(one["row"]), text_of(about[int(one["release_row"])])) for one in linkage)
    report = report_facts((directory / "report.html").read_text("utf-8"))
    return {
        "tables": tables,
        "manifest": manifest_facts(manifest),
        "report": report,
        "codebook": (directory / "codebook.csv").read_text("utf-8"),
        "linkage": links,
    }


def shortened(full: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of everything about a release directory."""
    report = full["report"]
    shown = {f"shown.{key}": value for key, value in report.pop("shown", {}).items()}
    told = manifest = full["manifest"]
    same = {key for key, value in report["release"].items() if told.get(key) == value}
    report["release"] = {k: v for k, v in report["release"].items() if k not in same}
    return {
        "tables": {name: table_facts(rows, manifest) for name, rows in full["tables"].items()},
        "manifest": part_by_part(manifest),
        "report": part_by_part(report | shown),
        "codebook": digest(full["codebook"]),
        **({"linkage": digest(text_of(full["linkage"]))} if full["linkage"] else {}),
    }
