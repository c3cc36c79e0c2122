"""Levels measured by Shoal and by pycanon on the same published tables, and why some differ.

    python benchmarks/peers/levels.py --environment DIR [--write docs/cross-check.md]

pycanon lives in an environment of its own in DIR, which is made where it is not there. The tables
are made from the adult table: one by Shoal, three by its hierarchies at fixed levels. Where the two
libraries differ, what pycanon computes is worked out here from the plain counts; a difference is
explained only where that gives pycanon's number.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import DATA
from peers.environment import peer_python, versions

import shoal
from shoal.audit.published import open_published
from shoal.audit.survey import measure_levels
from shoal.principles.l_diversity import RecursiveCL
from shoal.table.hierarchy import read_levels
from shoal.table.sensitive import Sensitive

CLOSE = 1e-9  # relative; pycanon adds up doubles
NOTHING = "nothing holds"


@dataclass(frozen=True)
class Case:
    """A published table, its quasi columns, and the sensitive one."""

    title: str
    table: pl.DataFrame
    quasi: list[str]
    sensitive: str


def adult() -> pl.DataFrame:
    return pl.read_csv(DATA / "adult_arx.csv.gz")


def coarsened(levels: dict[str, int], sensitive: str) -> pl.DataFrame:
    """Return the table with each quasi column at one level of its hierarchy."""
    table = adult()
    columns = []
    for name, level in levels.items():
        paths = read_levels(DATA / "hierarchies" / "adult" / f"{name}.csv")
        node = {path[0]: path[level] for path in paths}
        columns.append(table[name].cast(pl.String).replace_strict(node).alias(name))
    return pl.DataFrame([*columns, table[sensitive]])


def cases() -> list[Case]:
    quasi = ["age", "sex", "marital-status", "education"]
    schema = shoal.Schema(quasi=quasi, sensitive="occupation")
    require = ["KAnonymity(k=50)", "DistinctL(l=5)"]
    release = shoal.anonymize(adult(), schema, require=require, method="Mondrian()")
    made = Case(
        "Made by Shoal: " + " and ".join(f"`{one}`" for one in require),
        release.table.drop("group"),
        quasi,
        "occupation",
    )
    social = {"sex": 0, "marital-status": 1, "education": 2}
    few = {"sex": 0, "marital-status": 1}
    return [
        made,
        *(
            Case(
                "Hierarchies at levels " + ", ".join(f"{n} {l}" for n, l in levels.items()),
                coarsened(levels, sensitive),
                list(levels),
                sensitive,
            )
            for levels, sensitive in (
                (social, "occupation"),
                (social, "age"),
                (few, "salary-class"),
            )
        ),
    ]


def ours(case: Case, l: int) -> dict[str, float | None]:
    """Measure what pycanon measures, recursive c at the same l."""
    schema = shoal.Schema(quasi=case.quasi, sensitive=case.sensitive)
    published = open_published(case.table, schema)
    value = Sensitive.of((published.sensitive(case.sensitive),))
    levels = [one.to_dict() for one in measure_levels(published.groups, value)]
    found = {(one["principle"], *one["fixed"].values()): one["level"] for one in levels}
    recursive = RecursiveCL(c=1, l=l).measure(published.groups, value).risk
    return {
        "k": int(published.groups.sizes.min()),
        "alpha": found["AlphaK", 1],
        "distinct l": found["DistinctL",],
        "entropy l": found["EntropyL",],
        "recursive c": None if recursive == 1 else float(recursive / (1 - recursive)),
        "t": found["TCloseness", "ordered" if value.columns[0].numeric else "equal"],
        "basic beta": found["BetaLikeness", False],
        "enhanced beta": found["BetaLikeness", True],
        "delta": found["DeltaDisclosure",],
    }


def theirs(case: Case, peer: Path) -> dict[str, float]:
    """Run pycanon in its own environment on the same file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        case.table.write_csv(path)
        script = Path(__file__).with_name("pycanon_levels.py")
        run = subprocess.run(
            [peer, script, path, case.sensitive, *case.quasi],
            check=True,
            capture_output=True,
            text=True,
        )
    return {k: v for line in run.stdout.splitlines() for k, v in json.loads(line).items()}


def explained(case: Case, name: str, ours: float | None, l: int) -> tuple[float, str] | None:
    """Return what pycanon computes instead, from plain counts, and what is wrong with it."""
    values = case.table[case.sensitive].to_list()
    keys = case.table.select(case.quasi).rows()
    groups: dict[tuple, Counter] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, Counter())[value] += 1
    shares = {value: count / len(values) for value, count in Counter(values).items()}
    if name == "entropy l" and ours is not None:
        return math.floor(ours), "it cuts the level to a whole number"
    if name == "recursive c":
        rarest = (sorted(counts.values()) for counts in groups.values())
        c = max(math.floor(r[0] / sum(r[l - 1 :]) + 1) for r in rarest)
        return c, (
            "it takes the rarest value for the most frequent one; with its c the requirement does "
            "not hold"
        )
    if name == "delta":
        apart = max(
            abs(math.log(count / counts.total() / shares[value]))
            for counts in groups.values()
            for value, count in counts.items()
        )
        return apart, "it passes over values that a group lacks, which no delta allows"
    if name == "enhanced beta":
        gain = max(
            count / counts.total() / shares[value] - 1
            for counts in groups.values()
            for value, count in counts.items()
        )
        worst = max(min(gain, -math.log(share)) for share in shares.values())
        return worst, (
            "it bounds one gain by the bounds of other values; no beta makes up for a gain above "
            "its own -ln q"
        )
    return None


def compare(case: Case, peer: Path) -> list[tuple[str, str, str, str]]:
    """Return a line for each principle: its name, both levels, and the verdict."""
    other = theirs(case, peer)
    l = int(other["recursive l"])
    lines = []
    for name, own in ours(case, l).items():
        got = other[name]
        title = f"{name} at l = {l}" if name == "recursive c" else name
        if own is not None and math.isclose(own, got, rel_tol=CLOSE):
            verdict = "the same"
        else:
            known = explained(case, name, own, l)
            if known is None or not math.isclose(known[0], got, rel_tol=CLOSE):
                verdict = "**not explained**"
            else:
                verdict = f"pycanon differs: {known[1]}"
        shown = NOTHING if own is None else f"{own:,.6g}"
        if name == "recursive c" and own is not None:
            shown = f"above {own:,.6g}"
        lines.append((title, shown, f"{got:,.6g}", verdict))
    return lines


def page(found: list[tuple[Case, list[tuple[str, str, str, str]]]], version: str) -> str:
    """Return the comparison as a page."""
    parts = [
        "# Cross-check with another library",
        "",
        "Levels of published tables made from the adult table (30,162 rows), measured by",
        f"`shoal audit` and by pycanon {version}, which shares no code with it. Where the two",
        "differ, the number of pycanon was worked out anew from plain counts, and the last column",
        "says what it is. This page is made by",
        "`python benchmarks/peers/levels.py --environment DIR --write docs/cross-check.md`.",
    ]
    for case, lines in found:
        groups = case.table.select(case.quasi).n_unique()
        parts += [
            "",
            f"## {case.title}",
            "",
            f"{case.table.height:,} rows in {groups:,} groups; sensitive: `{case.sensitive}`.",
            "",
            "| level | Shoal | pycanon | verdict |",
            "| --- | ---: | ---: | --- |",
            *(f"| {' | '.join(line)} |" for line in lines),
        ]
    same = sum(line[3] == "the same" for _, lines in found for line in lines)
    every = sum(len(lines) for _, lines in found)
    parts += [
        "",
        f"{same} of {every} levels are the same.",
        "",
        "pycanon also leaves out rows whose quasi cells are missing, and takes the labels of rows",
        "for their places. The tables here have no missing cells and plain labels, so neither",
        "shows; the tests of Shoal cover both.",
        "",
    ]
    return "\n".join(parts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--environment", type=Path, required=True, help="where pycanon lives")
    options.add_argument("--write", type=Path, help="where the page goes; printed otherwise")
    chosen = options.parse_args()
    peer = peer_python(chosen.environment)
    found = [(case, compare(case, peer)) for case in cases()]
    text = page(found, versions(peer)["pycanon"])
    if chosen.write:
        chosen.write.write_text(text, "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
