"""Every loss, error and risk that the pages show, measured again: python benchmarks/results.py.

    python benchmarks/results.py [NAME ...]           # measure, and write what was found
    python benchmarks/results.py --check [NAME ...]   # measure, and compare with what is written

Written are docs/results/figures.csv, one line for each figure with its page, how it stands there,
its margin, command, version and date, and for each figure of the papers the files of papers/all.py.
A figure differs if it is off by more than its margin, a share of itself (of small ones, a share of
the least that a margin is taken of). Times are stamped on the pages and not compared. Exit code: 0
if all agree, 1 if one differs, 2 if a table is missing.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import polars as pl
from common import load

import shoal
from shoal.kernels import load_all

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "papers"))

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from figures import Figure

RESULTS = HERE.parent / "docs" / "results"
WRITTEN = RESULTS / "figures.csv"
LOSS, ERROR = 0.02, 0.05  # margins: of a loss or a risk, of an error of counts
SQUARES = 0.005  # nothing is drawn: what is written stays below what others reach
MEASURES = {"gcp": LOSS, "share": LOSS, "mean": ERROR, "median": ERROR, "p95": ERROR, "even": ERROR}
STAMPS = {"seconds", "lexsorts", "date", "machine", "version", "redrawn"}
Found = dict[str, float]


@dataclass(frozen=True)
class Result:
    """Some figures that one command measures."""

    command: str
    measure: Callable[[], Found]
    margin: float = LOSS
    page: str = "results.md"  # which shows them
    shown: str | dict[str, str] = "{:.3g}"  # as this, or by what the name of a figure ends with
    least: float = 1e-3  # of which a margin is taken at least

    def spelled(self, figure: str, value: float) -> str:
        """Return a figure as its page shows it."""
        form = (
            self.shown
            if isinstance(self.shown, str)
            else self.shown[figure.rsplit(": ", maxsplit=1)[-1]]
        )
        return form.format(value)


def of_split() -> Found:
    """Return what splitting loses on 500,000 rows."""
    from split import METHODS, search

    frame = load("sal_acs2024_500k.csv.gz")[0]
    return {f"{method!r}: GCP": float(search(frame, method, 1.0)["GCP"]) for method in METHODS}


def of_exchange() -> Found:
    """Return the losses of Exchange as ratios to those of the papers' methods."""
    from exchange import CASES, SAL, search

    found = {}
    for number, (name, rows, quasi, sensitive, require, rival, *_) in enumerate(CASES, 1):
        if name == SAL and rival is not None:
            frame = load(name)[0].head(rows)
            ours = search(frame, quasi, sensitive, require, shoal.methods.Exchange())[1]
            theirs = search(frame, quasi, sensitive, require, rival)[1]
            found[f"case {number}: ratio"] = ours / theirs
    return found


def of_limit() -> Found:
    """Return the losses of Exchange far from the limit of a requirement and near it."""
    from limit import CASES, case_of, measured

    return {f"{name}: GCP": measured(case_of(name)[0])[1] for name in CASES}


def of_squares() -> Found:
    """Return squared errors of means, over three orders of the rows."""
    from squares import LEVELS, TABLES, reached

    found = {}
    for name, (columns, *_) in TABLES.items():
        table = load(f"{name}.csv.gz")[0]
        table = table.select(columns) if columns else table
        for k in LEVELS:
            for seed in range(3):
                found[f"{name}, k = {k}, order {seed}"] = reached(table, k, seed)
    return found


def of_freeform() -> Found:
    """Return the losses of k-anonymity without groups."""
    from freeform import ADULT, CENSUS, EXACT, GREEDY, PAPER, SORT, gcp, task_of

    adult, census = load("adult_arx.csv.gz")[0], load("sal_acs2024_500k.csv.gz")[0].head(100_000)
    large = task_of(census, CENSUS, 10)
    strict = gcp(large, shoal.methods.Mondrian().search(large))
    found = {"8 tuples, k = 3": EXACT.search(task_of(PAPER, ["age", "salary"], 3)).gcp}
    found |= {f"Adult, k = {k}": EXACT.search(task_of(adult, ADULT, k)).gcp for k in (5, 10)}
    for name, method in (("exact", EXACT), ("sort", SORT), ("greedy", GREEDY)):
        found[f"100,000 rows, {name}: of Mondrian"] = method.search(large).gcp / strict
    return found


def of_queries() -> Found:
    """Return the median errors of count queries, by method and number of columns."""
    from queries import REQUIRE, SCHEMA

    frame = load("sal_acs2024_500k.csv.gz")[0]
    releases = {
        name: shoal.anonymize(frame, SCHEMA, require=REQUIRE, method=name)
        for name in ("Split()", "Exchange()")
    }
    found = {}
    for quasi in (1, 2, 3):
        workload = shoal.measures.Workload(quasi=quasi, selectivity=0.1, queries=1000)
        asked = workload.draw(frame, SCHEMA, seed=1)
        for name, release in releases.items():
            found[f"{name}, {quasi + 1} columns: median error"] = asked.error(release).median
    return found


def of_peers() -> Found:
    """Return mean loss and worst risk of Shoal's own lines beside its peers, over three orders."""
    sys.path.insert(0, str(HERE))
    from peers.cases import adult, salaries
    from peers.judge import judge
    from peers.run import ORDERS, K, ordered

    found: Found = {}
    for case in (salaries(10_000), salaries(30_000), salaries(100_000), adult()):
        schema = shoal.Schema(quasi=case.quasi, sensitive=case.sensitive)
        for method in ("Mondrian()", "Split()", "Exchange()"):
            judged = []
            for order in range(ORDERS):
                release = shoal.anonymize(
                    ordered(case.table, order), schema, require=f"KAnonymity(k={K})", method=method
                )
                table = release.table.cast(dict.fromkeys(case.quasi, pl.String))
                judged.append(judge(table, case, "shoal"))
            name = f"{case.name}, {case.table.height:,} rows, {method}"
            found[f"{name}: GCP"] = fmean(one.gcp for one in judged)
            found[f"{name}: risk"] = max(one.risk for one in judged)
    return found


def of_forms() -> Found:
    """Return errors of counts from two tables as shares of those of a · b / n."""
    from forms import APART, measured, share

    every = {m: measured("Exchange", m) for m in (5, 7)}
    return {f"m = {m}": share(one["two-tables"], one[APART]) for m, one in every.items()}


def of_regions() -> Found:
    """Return what regions lose beside tight cells of the same groups and the hulls of parts."""
    from pointed import CASES, measured

    found: Found = {}
    for row in measured(tried=0, cases=CASES[:4])[0]:
        if row["cells"] == "regions":
            name = f"{row['method']}, {row['require']}"
            found |= {
                f"{name}: {what}": row[what] for what in ("loss", "tight cells of the groups")
            }
            if row["method"] != "Mondrian()":  # whose parts are its groups
                found[f"{name}: hulls of the parts"] = row["hulls of the parts"]
    return found


def of_refining() -> Found:
    """Return what a reader refines who knows how cells were made, in %."""
    from pointed import CASES, measured

    return {
        f"{row['method']}, {row['require']}, {row['cells']}: {what}": 100 * row[what]
        for row in measured(tried=0, cases=[CASES[at] for at in (0, 5, 2, 3)])[2]
        for what in ("named", "narrower", "sensitive")
        if row[what] != ""
    }


def of_isolating() -> Found:
    """Return how often predicates isolate a person in a release by Mondrian, in %."""
    from pointed import CASES, measured

    return {
        f"{row['require']}, {row['cells']}, {row['predicate']}": 100 * row["isolates"]
        for row in measured(cases=CASES[:2])[1]
        if row["predicate"] != "next step"
    }


def of_series() -> Found:
    """Return the placeholders and the worst posterior after ten rounds of a series, in %."""
    from series import rounds

    *_, last = rounds()
    return {name: 100 * last[name] for name in ("placeholders", "worst")}


def of_coarsen() -> Found:
    """Return the loss of coarser releases and its bound as ratios to that of fresh ones."""
    from coarsen import measured

    every = {epsilon: measured(epsilon) for epsilon in (2000, 4500)}
    return {
        f"epsilon = {epsilon}: {name}": one[name]
        for epsilon, one in every.items()
        for name in ("ratio", "bound")
    }


def of_estimate() -> Found:
    """Return what valid answers come to beside the original's, in four samples of census rows."""
    from estimate import Trial

    trial = Trial("census", "Oblivious()", 0.12, anyway=False)
    trial.prepare()
    ratios, errors, held = [], [], []
    for seed in range(4):
        one = trial.sample(seed)
        for truth, own, error, found in zip(
            one["truth"], *one["original"], one["quantities"], strict=True
        ):
            estimate, se, low, high, *_, status = found
            if status == "valid":
                ratios.append(estimate / own)
                errors.append(se / error)
                held.append(low <= truth <= high)
    return {
        "estimate / original's": median(ratios),
        "standard error / original's": median(errors),
        "coverage": fmean(held),
    }


POINTED = "python benchmarks/pointed.py"
RESULTS_OF = {
    "split": Result("python benchmarks/split.py", of_split),
    "exchange": Result("python benchmarks/exchange.py", of_exchange),
    "limit": Result("python benchmarks/limit.py", of_limit),
    "squares": Result("python benchmarks/squares.py", of_squares, SQUARES, shown="{:.4f}"),
    "freeform": Result("python benchmarks/freeform.py", of_freeform),
    "queries": Result("python benchmarks/queries.py", of_queries, ERROR, shown="{:.1%}"),
    "peers": Result(
        "python benchmarks/peers/run.py --ours",
        of_peers,
        page="peers.md",
        shown={"GCP": "{:.4f}", "risk": "{:.2f}"},
    ),
    "forms": Result(
        "python benchmarks/forms.py", of_forms, ERROR, "definitions/forms/two-tables.md", "{:.2f}"
    ),
    "regions": Result(POINTED, of_regions, page="definitions/cells.md", shown="{:.4f}"),
    "isolating": Result(  # of 1,000 groups, so within 3 points
        POINTED, of_isolating, 0.03, "definitions/cells.md", "{:.0f} %", least=100
    ),
    "refining": Result(  # of 400 parts, so within a point
        POINTED, of_refining, 0.01, "guides/see-as-an-attacker.md", "{:.1f} %", least=100
    ),
    "series": Result(
        "python benchmarks/series.py", of_series, page="definitions/series.md", shown="{:.0f} %"
    ),
    "estimate": Result("python benchmarks/estimate.py", of_estimate, ERROR, shown="{:.2f}"),
    "coarsen": Result(
        "python benchmarks/coarsen.py", of_coarsen, page="definitions/series.md", shown="{:.3f}"
    ),
}


def papers() -> dict[str, Figure]:
    """Return the figures of the papers that show more than times, by name."""
    from all import MODULES

    figures = {module.FIGURE.name: module.FIGURE for module in MODULES}
    return {
        name: one
        for name, one in figures.items()
        if MEASURES.keys() & set(pl.read_csv(RESULTS / f"{name}.csv").columns)
    }


def from_file(frame: pl.DataFrame) -> Found:
    """Return the figures of a paper's file, each named by the settings it is for."""
    settings = [
        name
        for name in frame.columns
        if name not in MEASURES and name not in STAMPS and name not in {"table", "rows", "weights"}
    ]
    return {
        f"{', '.join(f'{name} {row[name]}' for name in settings)}: {measure}": row[measure]
        for row in frame.to_dicts()
        for measure in MEASURES
        if row.get(measure) is not None
    }


def of_paper(figure: Figure) -> Found:
    """Measure a figure of a paper again, with as many rows as its file says."""
    from figures import Size

    known = pl.read_csv(RESULTS / f"{figure.name}.csv")
    measured = pl.DataFrame(figure.measure(Size(known["rows"][0], 1000)), strict=False)
    return from_file(measured.select(name for name in measured.columns if name in known.columns))


def differing(
    written: Found, found: Found, margin: Callable[[str], float], least: float = 1e-3
) -> Iterator[str]:
    """Yield a line for each figure that is missing or off by more than its margin."""
    for name in sorted({*written, *found}):
        before, now = written.get(name), found.get(name)
        if before is None or now is None:
            yield f"{name}: {'is not written' if before is None else 'was not measured again'}"
        elif abs(now - before) > margin(name) * max(abs(before), least):
            yield f"{name}: {now:.5g} now, {before:.5g} written (margin {margin(name):.0%})"


def read() -> dict[str, dict[str, str]]:
    """Return what is written, by name of a figure."""
    if not WRITTEN.exists():
        return {}
    with WRITTEN.open(encoding="utf-8", newline="") as file:
        return {f"{row['result']}/{row['figure']}": row for row in csv.DictReader(file)}


def write(name: str, found: Found) -> None:
    """Put the figures of one command in place of those that are written."""
    result = RESULTS_OF[name]
    lines = [row for row in read().values() if row["result"] != name]
    stamp = {"version": shoal.__version__, "date": datetime.now(UTC).date().isoformat()}
    lines += [
        {"result": name, "figure": figure, "value": f"{value:.5g}"}
        | {
            "page": result.page,
            "shown": result.spelled(figure, value),
            "margin": f"{result.margin}",
        }
        | {"command": result.command, **stamp}
        for figure, value in found.items()
    ]
    with WRITTEN.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(lines, key=lambda row: row["result"]))


def check(name: str) -> list[str]:
    """Measure the figures of a name again, and return what differs."""
    if name in RESULTS_OF:
        known = {
            row["figure"]: float(row["value"]) for row in read().values() if row["result"] == name
        }
        result = RESULTS_OF[name]
        return [*differing(known, result.measure(), lambda _: result.margin, result.least)]
    written = from_file(pl.read_csv(RESULTS / f"{name}.csv"))
    found = of_paper(papers()[name])
    return [*differing(written, found, lambda figure: MEASURES[figure.rpartition(": ")[2]])]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with what is written")
    parser.add_argument("names", nargs="*", help="by default all of them")
    asked = parser.parse_args()
    load_all()
    wrong = 0
    for name in asked.names or [*RESULTS_OF, *papers()]:
        if asked.check:
            off = check(name)
            print(f"{name}: {'agrees' if not off else ''}", *off, sep="\n  ", flush=True)
            wrong += len(off)
        elif name in RESULTS_OF:
            found = RESULTS_OF[name].measure()
            write(name, found)
            print(f"{name}: {len(found)} figures", flush=True)
        else:
            print(f"{name}: python benchmarks/papers/{name.replace('-', '_')}.py", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
