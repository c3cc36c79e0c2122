"""Why proximity: what l-diversity, (k,e), variance and t-closeness let a reader nearly know.

Publishes the embedded census table several times, measures on each published table how surely a
reader can tell a person's income to within ε, and writes one page with charts.

    python examples/why_proximity.py
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

import shoal
from shoal.datasets.census import ROWS, census
from shoal.exact import upward
from shoal.notation import exact
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive
from shoal.views.pages import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from shoal.principles.base import Pairwise, Principle
    from shoal.principles.groups import Measurement

SCHEMA = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
EPSILONS = range(0, 10_001, 500)
DELTAS = [step / 20 for step in range(8, 20)]

DIVERSE = shoal.principles.DistinctL(l=20)
DISSIMILAR = shoal.principles.Dissimilarity(
    epsilon=5000, delta=0.7, k=20, distance=shoal.distances.Absolute()
)
PROXIMITY = shoal.principles.EpsilonM(epsilon=2000, m=5)
SPREAD = (
    shoal.principles.KE(k=10, e=40_000),
    shoal.principles.Variance(at_least=20_000**2),
    shoal.principles.TCloseness(t=0.15, ground="ordered"),
)

BANDS = [0.001, 0.05, 0.25, 0.5, 0.75, 0.95]
SHADES = ["#ffffff", "#fde3d0", "#f9bf95", "#f0965a", "#d55e00", "#963f00", "#572400"]
LINES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]  # Okabe and Ito

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Why proximity</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.85rem; }}
th, td {{ text-align: right; padding: 0.3rem 0.5rem; border-bottom: 1px solid #8884; }}
th:first-child, td:first-child {{ text-align: left; }}
svg {{ max-width: 100%; height: auto; }}
</style>
<h1>Why proximity</h1>
{body}
</html>
"""


@dataclass(frozen=True)
class Published:
    """One release, and what a reader sees of it: groups and incomes."""

    name: str
    method: str
    loss: float
    groups: Groups
    income: Sensitive

    @classmethod
    def under(cls, people: pl.DataFrame, principle: Principle) -> Published:
        """Publish under a principle: by Mondrian where that is possible, as other tools do."""
        method = shoal.methods.Mondrian() if principle.monotone else None
        release = shoal.anonymize(people, SCHEMA, require=principle, method=method)
        table = release.published
        return cls(
            repr(principle),
            release.manifest.method,
            release.loss,
            Groups.of(table["group"].to_numpy()),
            Sensitive.of((code_column(table["income"]),)),
        )

    def measured(self, principle: Pairwise) -> Measurement:
        """Measure any proximity principle on what was published."""
        return principle.measure(self.groups, self.income)


def vulnerability(release: Published) -> Iterator[dict[str, float]]:
    """Yield the share of groups in breach of (ε,δ)-dissimilarity over a grid of ε and δ.

    A group is in breach when one of its members is within ε of more than a share of 1-δ of the
    others (Wang, Liu: XColor, Figure 4).
    """
    for epsilon in EPSILONS:
        asked = shoal.principles.Dissimilarity(
            epsilon=epsilon, delta=1, k=1, distance=shoal.distances.Absolute()
        )
        measured = release.measured(asked)
        for delta in DELTAS:
            breaches = replace(measured, bound=1 - exact(delta)).breaches
            yield {"epsilon": epsilon, "delta": delta, "share": float(breaches.mean())}


def contour(cells: list[dict[str, float]]) -> str:
    """Draw vulnerability in bands of colour, ε against δ."""

    def axis(name: str, title: str) -> dict[str, Any]:
        order = "ascending" if name == "epsilon" else "descending"
        return {
            "field": name,
            "type": "ordinal",
            "sort": order,
            "title": title,
            "axis": {"labelAngle": 0, "labelOverlap": True},
        }

    return draw(
        {
            "data": {"values": cells},
            "mark": "rect",
            "encoding": {
                "x": axis("epsilon", "ε: incomes within so much are near"),
                "y": axis("delta", "δ: the share that must not be near"),
                "color": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "groups in breach, from",
                    "scale": {"type": "threshold", "domain": BANDS, "range": SHADES},
                    "legend": {"format": "~%", "gradientLength": 300},
                },
            },
        }
    )


def certainty_chart(releases: list[Published]) -> str:
    """Draw for each release the share of groups in which a reader is at least so certain."""
    points = []
    for release in releases:
        risks = release.measured(PROXIMITY).risks
        for step in range(51):
            share = float((risks >= step / 50).mean())
            points.append({"release": release.name, "certainty": step / 50, "share": share})
    return draw(
        {
            "data": {"values": points},
            "mark": {"type": "line", "interpolate": "step-before", "strokeWidth": 2},
            "encoding": {
                "x": {
                    "field": "certainty",
                    "type": "quantitative",
                    "title": f"certainty of an income to within {PROXIMITY.epsilon:,}",
                    "axis": {"format": "~%"},
                },
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "groups with at least that",
                    "axis": {"format": "~%"},
                },
                "color": {
                    "field": "release",
                    "title": None,
                    "sort": None,
                    "scale": {"range": LINES},
                    "legend": {"columns": 2, "labelLimit": 320},
                },
            },
        }
    )


HEADER = ("released under", "by", "loss", "groups", "in breach", "worst risk")


def row(release: Published, asked: Pairwise) -> tuple[str, ...]:
    """Return what one release costs, and how it fares under a principle it was not made for."""
    measured = release.measured(asked)
    return (
        release.name,
        release.method,
        f"{release.loss:.4f}",
        f"{len(release.groups):,}",
        f"{measured.breaches.mean():.1%}",
        f"{upward(measured.risk):.0%}",
    )


def terminal(title: str, rows: list[tuple[str, ...]]) -> None:
    """Print rows as a table."""
    table = Table(title=title, title_justify="left")
    for name in HEADER:
        table.add_column(name, no_wrap=name != HEADER[0], overflow="fold")
    for cells in rows:
        table.add_row(*cells)
    Console().print(table)


def html_table(rows: list[tuple[str, ...]]) -> str:
    """Return rows as an HTML table."""
    head = "".join(f"<th>{escape(name)}" for name in HEADER)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in cells) for cells in rows)
    return f"<table><tr>{head}{body}</table>"


def main(arguments: list[str] | None = None) -> None:
    """Publish, measure, print and write the page."""
    parser = argparse.ArgumentParser(description="What other principles let a reader nearly know.")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the census table")
    parser.add_argument("--output", type=Path, default=Path("why_proximity.html"))
    options = parser.parse_args(arguments)
    people = census(options.rows)

    diverse, dissimilar = (Published.under(people, one) for one in (DIVERSE, DISSIMILAR))
    first = [row(release, DISSIMILAR) for release in (diverse, dissimilar)]
    against = [Published.under(people, one) for one in (*SPREAD, PROXIMITY)]
    second = [row(release, PROXIMITY) for release in against]
    noise = shoal.rivals.Perturb.best(people, SCHEMA, require=PROXIMITY).sentence

    terminal(f"Measured as {DISSIMILAR!r}", first)
    terminal(f"Measured as {PROXIMITY!r}", second)
    print(noise)
    parts = [
        f"<p>The same {people.height:,} people, published under several principles. A reader who "
        "knows a person's group guesses the person's income; the guess need not be exact to do "
        "harm.",
        "<h2>Different values can be near values</h2>",
        f"<p>Twenty different incomes in every group, and yet {first[0][4]} of the groups are in "
        f"breach of <code>{escape(repr(DISSIMILAR))}</code>: around some member, more than "
        f"{float(DISSIMILAR.bound):.0%} of the others earn within {DISSIMILAR.epsilon:,} of it.",
        html_table(first),
        f"<h3>{escape(diverse.name)}</h3>",
        contour(list(vulnerability(diverse))),
        f"<h3>{escape(dissimilar.name)}</h3>",
        contour(list(vulnerability(dissimilar))),
        "<h2>A wide range, a large variance, a familiar distribution</h2>",
        "<p>Each of these looks at a group as a whole. None of them looks at how many members are "
        f"near to one of them, which <code>{escape(repr(PROXIMITY))}</code> bounds by "
        f"{float(PROXIMITY.bound):.0%}.",
        html_table(second),
        certainty_chart(against),
        "<h2>Noise instead of groups</h2>",
        f"<p>{escape(noise)}",
    ]
    options.output.write_text(PAGE.format(body="\n".join(parts)), "utf-8")
    print(f"Charts: {options.output.name}")


if __name__ == "__main__":
    main()
