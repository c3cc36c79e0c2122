"""Draw the pictures of the documentation that follow from code: `python scripts/pictures.py`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import shoal

if TYPE_CHECKING:
    from collections.abc import Callable

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
WIDE, LEFT, RIGHT, LARGEST = 760, 40, 720, 52_000
INK, QUIET, DOT, NEAR, BAND = "#14201f", "#5b6b6a", "#0b5c6b", "#c4501b", "#f7dccd"
EPSILON, M = 4500, 2
PEOPLE = pl.DataFrame(  # the example of Li, Tao and Xiao (SIGMOD 2008), with names for all
    {
        "name": ["Andy", "Bea", "Cid", "Dot", "Eve", "Fay", "Gus", "Hal"],
        "age": [17, 19, 20, 24, 29, 34, 39, 45],
        "zip": [12000, 13000, 14000, 16000, 21000, 24000, 36000, 39000],
        "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    }
)


def at(salary: float) -> float:
    """Return where a salary lies on the line."""
    return round(LEFT + salary / LARGEST * (RIGHT - LEFT), 1)


def text(y: float, words: str, *, bold: bool = False) -> str:
    """Return a line of text."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{LEFT}" y="{y}" font-size="15" fill="{INK}"{weight}>{words}</text>'


def panel(top: int, heading: str, salaries: list[int]) -> list[str]:
    """Draw one group: its salaries on a line, and who is near the best guess of a listed one."""
    near = {guess: [one for one in salaries if abs(one - guess) <= EPSILON] for guess in salaries}
    best = max(salaries, key=lambda guess: (len(near[guess]), -abs(guess - 1010)))
    low, high = at(max(best - EPSILON, 0)), at(min(best + EPSILON, LARGEST))
    wide = round(high - low, 1)
    line = top + 112
    parts = [
        text(top + 24, heading, bold=True),
        f'<rect x="{low}" y="{line - 62}" width="{wide}" height="62" fill="{BAND}"/>',
        f'<path d="M{LEFT} {line}H{RIGHT}" stroke="{QUIET}"/>',
        *(
            f'<text x="{at(mark)}" y="{line + 20}" font-size="12" fill="{QUIET}" '
            f'text-anchor="middle">{mark:,}</text>'
            for mark in range(0, 50_001, 10_000)
        ),
    ]
    height: dict[int, int] = {}
    for one in sorted(salaries):
        spot = round(at(one) / 8)
        height[spot] = height.get(spot, 0) + 1
        colour = NEAR if one in near[best] else DOT
        y = line - 10 - 19 * (height[spot] - 1)
        parts.append(f'<circle cx="{at(one)}" cy="{y}" r="8" fill="{colour}"/>')
    says = (
        f"A guess of {best:,} is within {EPSILON:,} of Andy’s salary with a chance of "
        f"{len(near[best])} in {len(salaries)}."
    )
    return [*parts, text(line + 46, says)]


def andy() -> str:
    """Draw Andy's group in a 4-diverse table and in what Shoal publishes of the same people."""
    schema = shoal.Schema(quasi=["age", "zip"], sensitive="salary", identifying="name")
    released = shoal.anonymize(
        PEOPLE, schema, require=shoal.principles.EpsilonM(epsilon=EPSILON, m=M), seed=1
    )
    group = released.table.filter(pl.col("salary") == PEOPLE["salary"][0])["group"][0]
    chosen = released.table.filter(pl.col("group") == group)["salary"].sort().to_list()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} 360" width="{WIDE}" '
        'height="360" font-family="sans-serif" role="img">',
        "<title>Andy’s group in a 4-diverse table, and in a release by Shoal</title>",
        f'<rect width="{WIDE}" height="360" fill="#ffffff"/>',
        *panel(
            0,
            "4-anonymous and 4-diverse: the salaries of Andy’s group",
            PEOPLE["salary"][:4].to_list(),
        ),
        *panel(
            178, f"Shoal, {shoal.principles.EpsilonM(epsilon=EPSILON, m=M)!r}: Andy’s group", chosen
        ),
        "</svg>\n",
    ]
    return "\n".join(parts)


def loss() -> str:
    """Draw the loss against epsilon on the table of the guide to requirements."""
    chance = random.Random(1)  # noqa: S311 - people who do not exist
    rows = [
        (
            chance.randint(18, 90),
            chance.randint(2100, 2199),
            int(round(chance.lognormvariate(9, 0.8), -1)),
        )
        for _ in range(3000)
    ]
    patients = pl.DataFrame(rows, schema=["age", "postcode", "charges"], orient="row")
    schema = shoal.Schema(quasi=["age", "postcode"], sensitive="charges")
    limit = shoal.plan(patients, schema, m=5).epsilon_bound
    assert limit is not None
    reached = {
        epsilon: shoal.anonymize(
            patients, schema, require=shoal.principles.EpsilonM(epsilon=epsilon, m=5), seed=1
        ).loss
        for epsilon in (0, 500, 1000, 1500, 2000, 2300)
    }
    bottom, top = 250, max(reached.values())
    spots = {one: (70 + one / 4, round(bottom - 190 * reached[one] / top, 1)) for one in reached}
    line = "L".join(f"{x} {y}" for x, y in spots.values())
    edge = 70 + float(limit) / 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} 310" width="{WIDE}" '
        'height="310" font-family="sans-serif" role="img">',
        "<title>Information loss against epsilon, for m = 5</title>",
        f'<rect width="{WIDE}" height="310" fill="#ffffff"/>',
        text(24, "Information loss (GCP) against ε, 1 in 5, 3,000 rows", bold=True),
        f'<path d="M70 {bottom}H700" stroke="{QUIET}"/>',
        f'<path d="M{edge} {bottom}V50" stroke="{NEAR}" stroke-dasharray="4 4"/>',
        f'<text x="{edge + 8}" y="120" font-size="13" fill="{NEAR}">limit: {limit:,}</text>',
        f'<path d="M{line}" fill="none" stroke="{DOT}" stroke-width="2"/>',
    ]
    for epsilon, (x, y) in spots.items():
        parts += [
            f'<circle cx="{x}" cy="{y}" r="5" fill="{DOT}"/>',
            f'<text x="{x - 12}" y="{y - 12}" font-size="13" fill="{INK}" text-anchor="middle">'
            f"{reached[epsilon]:.1%}</text>",
            f'<text x="{x}" y="{bottom + 20}" font-size="12" fill="{QUIET}" '
            f'text-anchor="middle">{epsilon:,}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


PICTURES: dict[str, Callable[[], str]] = {"andy.svg": andy, "loss.svg": loss}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (ASSETS / name).write_text(draw(), "utf-8")
