"""What the papers' figures share: measuring at a size, and writing picture, numbers and words.

Every figure writes NAME.svg and NAME.csv and its section of papers.md, all from the numbers in the
CSV file alone, so the words follow the numbers. `--redraw` writes picture and words anew from the
CSV file that is there.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import shoal
from shoal.kernels import load_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DOCS = Path(__file__).parents[2] / "docs" / "results"
PAGE = "papers.md"
OPENING = """# The papers' experiments

This page repeats the experiments of the papers that Shoal builds on, and says for each of them
what agrees with the paper and what differs. The papers are EM, on (ε, m)-anonymity (Li, Tao, Xiao,
SIGMOD 2008); XC, on XColor (Wang, Liu, ICDE 2010); and HK, on heterogeneous k-anonymization (Doka
and others, IEEE Big Data 2015).

The tables of the papers are not available. Tables of the American Community Survey of 2024 with the
same or similar columns replace them. So you can compare shapes and bounds, but not single points.
[Results](../results.md#tables) says how these tables are made. Where the text of a paper does not
give a value, for example the points on an axis, we chose one. In XC, sex, marital status and race
are categories under taxonomies, as in the paper. Work class is a taxonomy in the paper's Table III;
here it is a number, the code of the survey. A sentence that is true of one method but not of
another stands under both headings.

Errors are mean relative errors of 1,000 random count queries, as in the papers. Two estimators
answer them. The papers spread each row evenly over its cell. Shoal does the same, except in cells
that are more than four times as wide as usual: it assumes that one outlier widened such a cell, and
places the other rows near one of its ends. The pictures show Shoal's estimator. The column `even`
of the files shows the papers', where it was measured. It matters near the limit of a requirement:
for (4500, 7)-anonymity over four columns `Exchange()` errs by 6.5 % with the even spread, which is
more than round-robin does (4.4 %). With Shoal's it errs by 4.4 %, and round-robin by 4.6 %:
[what we tried](../tried.md#counts-over-stretched-boxes).

Times are processor seconds of all threads together, and the best of three runs if one takes less
than a second (HK: one run). The files beside the pictures also give times as multiples of
`numpy.lexsort` over the quasi-identifiers of the same rows.

EM argues with two more notions that Shoal does not have. *(c,k)-safety* (Martin and others, ICDE
2007) and *skyline privacy* (Chen, LeFevre, Ramakrishnan, VLDB 2007) bound what a reader learns who
knows a given number of facts about the people in the table. Both compare sensitive values for
equality, so they limit no guess of a near value. That is why Shoal does not offer them.
[Limits](../limits.md#more-is-known) says what a reader with such facts gains here.

`python benchmarks/papers/all.py` measures everything again, `--large` at the sizes of the papers.
"""


@dataclass(frozen=True)
class Claim:
    """What a paper says, what was measured here, and whether that agrees (None: beyond it)."""

    said: str
    found: str
    agrees: bool | None


@dataclass(frozen=True)
class Size:
    """How many rows a table has, the largest one where there are several, and queries asked."""

    rows: int
    queries: int


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One experiment: how to measure it, how to draw it, and what to say about it.

    Attributes
    ----------
    name : of its files; the command is its name with an underscore.
    shows : what the picture shows, for the reader and as its alternative text.
    measure : returns records for a size; each names the table it is from.
    draw : returns the Vega-Lite specification of measured numbers.
    claims : compares measured numbers with the paper.
    """

    name: str
    heading: str
    shows: str
    rows: int
    large: int
    measure: Callable[[Size], list[dict[str, Any]]]
    draw: Callable[[pl.DataFrame], dict[str, Any]]
    claims: Callable[[pl.DataFrame], list[Claim]]

    def section(self, frame: pl.DataFrame) -> str:
        """Return the section of the page about measured numbers."""
        once = frame.row(0, named=True)
        rows = once["rows"]
        option = {self.rows: "", self.large: " --large"}.get(rows, f" --rows {rows}")
        script = self.name.replace("-", "_")
        claims = self.claims(frame)
        parts = [
            f"## {self.heading}",
            f"![{self.heading}]({self.name}.svg)",
            self.shows,
            *(
                f"**{title}** {' '.join(_sentence(claim) for claim in chosen)}"
                for title, wanted in (
                    ("Agrees.", True),
                    ("Differs.", False),
                    ("Beyond the paper.", None),
                )
                if (chosen := [claim for claim in claims if claim.agrees is wanted])
            ),
            f"`python benchmarks/papers/{script}.py{option}`, Shoal "
            f"{once.get('version', 'before 0.2.0')}, {once['date']}, {once['machine']}; "
            f"{rows:,} rows of {once['table']}. [All numbers]({self.name}.csv).",
        ]
        return "\n\n".join(parts) + "\n"


def judged(said: str, found: Mapping[str, tuple[str, bool]], after: str = "") -> list[Claim]:
    """Return one claim for the methods of which a sentence is true and one for the others.

    `found` says for each method what was measured and whether that agrees with what is said.
    """
    return [
        Claim(said, "; ".join(told) + f"{after}.", agrees)
        for agrees in (True, False)
        if (told := [text for text, true in found.values() if true is agrees])
    ]


def _sentence(claim: Claim) -> str:
    return f"{claim.said} {claim.found}".strip()


def run(figures: Sequence[Figure]) -> None:
    """Measure or redraw figures as the command line asks."""
    parser = argparse.ArgumentParser(description=" ".join(one.heading + "." for one in figures))
    parser.add_argument("--rows", type=int, help="the number of rows, or the largest one")
    parser.add_argument("--large", action="store_true", help="the size of the paper")
    parser.add_argument("--queries", type=int, default=1000, help="the number of count queries")
    parser.add_argument("--redraw", action="store_true", help="from the CSV file that is there")
    parser.add_argument("--output", type=Path, default=DOCS, help="the directory to write into")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if not options.redraw:
        load_all()
    for figure in figures:
        path = options.output / f"{figure.name}.csv"
        if not options.redraw:
            rows = options.rows or (figure.large if options.large else figure.rows)
            _measured(figure, Size(rows, options.queries)).write_csv(path)
        frame = pl.read_csv(path)  # what is drawn and said is what the file says
        write(figure, frame, options.output)
        print(f"{path.with_suffix('.svg')}\n\n{figure.section(frame)}")


def _measured(figure: Figure, size: Size) -> pl.DataFrame:
    records = figure.measure(size)
    run_by = {
        "rows": size.rows,
        "version": shoal.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
    }
    frame = pl.DataFrame([record | run_by for record in records], infer_schema_length=None)
    return frame.with_columns(pl.col(pl.Float64).round_sig_figs(5))


def machine() -> str:
    """Return what the figures were measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = os.cpu_count() or 1
    aside = ", busy with other work" if os.getloadavg()[0] > 2 * cores else ""
    return f"{cores} cores, {memory:.0f} GB{aside}"


def write(figure: Figure, frame: pl.DataFrame, output: Path) -> None:
    """Write the picture, and put the section into its place on the page."""
    from shoal.views.pages import picture

    svg = picture(figure.draw(frame))
    (output / f"{figure.name}.svg").write_text(svg + "\n", "utf-8")
    page = output / PAGE
    old = page.read_text("utf-8") if page.exists() else ""
    sections = {text.partition("\n")[0]: text for text in old.split("\n## ")[1:]}
    sections[figure.heading] = figure.section(frame).removeprefix("## ")
    ordered = sorted(sections, key=lambda heading: (order(heading), heading))
    parts = [OPENING, *(f"## {sections[heading].strip()}\n" for heading in ordered)]
    page.write_text("\n".join(parts), "utf-8")


def order(heading: str) -> int:
    """Return the place of a paper on the page."""
    return ["EM", "XC", "HK"].index(heading[:2])


def percent(share: float) -> str:
    """Write a share with two digits that count."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:,.0f} %"


def span(values: Sequence[float], write: Callable[[float], str] = percent) -> str:
    """Write the first and the last of some values, and whether there are steps back between."""
    if not values:
        return "nowhere, as nothing was reached"
    upward = values if values[-1] > values[0] else values[::-1]
    steady = all(before <= after for before, after in pairwise(upward))
    aside = "" if steady else " (not at every step)"
    return f"from {write(values[0])} to {write(values[-1])}{aside}"


def rises(values: Sequence[float]) -> bool:
    """Whether the last value is above the first."""
    return bool(values) and values[-1] > values[0]


def falls(values: Sequence[float]) -> bool:
    """Whether the last value is below the first."""
    return bool(values) and values[-1] < values[0]


def turns(values: Sequence[float], place: int) -> bool:
    """Whether values rise at every step up to a place between the ends and fall after it."""
    before, after = values[: place + 1], values[place:]
    return (
        0 < place < len(values) - 1
        and all(one < other for one, other in pairwise(before))
        and all(one > other for one, other in pairwise(after))
    )
