"""Draw the pictures of the documentation that follow from code: `python scripts/pictures.py`."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import shoal
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

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


# The eight tuples of Doka et al. (2015), Table I: what each is, and whom each recast tuple covers.
TUPLES = ((59, 25), (57, 27), (39, 47), (28, 41), (41, 20), (37, 59), (40, 35), (53, 34))
PRINTED = ("017", "017", "235", "345", "046", "235", "246", "167")
Matches = tuple[frozenset[int], ...]  # whom each recast tuple covers
Spot = tuple[float, float]


def searched(k: int) -> Matches:
    """Return the graph that `Freeform()` finds for the eight tuples."""
    frame = pl.DataFrame(TUPLES, schema=["age", "salary"], orient="row")
    coded = code_table(frame, shoal.Schema(quasi=["age", "salary"]))
    task = Task(coded, tuple(requirements(shoal.principles.KAnonymity(k=k), [])))
    found = shoal.methods.Freeform().search(task)
    return tuple(frozenset(row) for row in found.matches.tolist())


def kinds() -> dict[str, Matches]:
    """Return a generalization graph of each kind, over eight tuples with k = 4."""
    steps = {"(b) ring": (0, 1, 2, 3), "(c) reciprocal": (0, 1, 4, 7)}
    around = {
        name: tuple(frozenset((one + step) % 8 for step in some) for one in range(8))
        for name, some in steps.items()
    }
    groups = tuple(frozenset(range(4 * (one // 4), 4 * (one // 4) + 4)) for one in range(8))
    return {"(a) homogeneous: groups": groups, **around, "(d) freeform": searched(4)}


def gcp(matches: Matches) -> float:
    """Return the information lost by recasting the eight tuples to cover their matches."""
    columns = list(zip(*TUPLES, strict=True))
    spans = [
        (max(column[one] for one in some) - min(column[one] for one in some))
        / (max(column) - min(column))
        for some in matches
        for column in columns
    ]
    return sum(spans) / len(spans)


def arrow(begin: Spot, end: Spot, *, both: bool, gap: float = 9) -> str:
    """Draw an arrow between two dots, straight where it leads both ways and bent otherwise."""
    (x, y), (u, v) = begin, end
    far = math.hypot(u - x, v - y)
    across, along = (u - x) / far, (v - y) / far
    bend = 0 if both else 0.12 * far
    midst = ((x + u) / 2 - bend * along, (y + v) / 2 + bend * across)
    final = math.hypot(u - midst[0], v - midst[1])
    tip = (u - gap * (u - midst[0]) / final, v - gap * (v - midst[1]) / final)
    first = math.hypot(midst[0] - x, midst[1] - y)
    tail = (x + gap * (midst[0] - x) / first, y + gap * (midst[1] - y) / first)
    ends = ' marker-start="url(#tip)"' if both else ""
    places = [f"{one:.1f}" for spot in (tail, midst, tip) for one in spot]
    return (
        f'<path d="M{places[0]} {places[1]}Q{places[2]} {places[3]} {places[4]} {places[5]}" '
        f'fill="none" stroke="{NEAR if both else DOT}" marker-end="url(#tip)"{ends}/>'
    )


def graph(spots: list[Spot], matches: Matches, *, names: bool) -> list[str]:
    """Draw a graph with a dot for each tuple: an arrow leads from a tuple to whom it matches."""
    parts = [
        arrow(spots[one], spots[other], both=both)
        for other, some in enumerate(matches)
        for one in sorted(some)
        if one != other and (not (both := other in matches[one]) or one < other)
    ]
    for one, (x, y) in enumerate(spots):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{INK}"/>')
        if names:
            beside = (x - 8, "end") if x < min(spot[0] for spot in spots) + 1 else (x + 8, "start")
            parts.append(caption(beside[0], y - 9, f"t{one}", beside[1]))
    return parts


def caption(x: float, y: float, words: str, anchor: str = "middle") -> str:
    """Return small words at a place."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" fill="{QUIET}" '
        f'text-anchor="{anchor}">{words}</text>'
    )


def drawing(high: int, title: str, parts: list[str]) -> str:
    """Return a picture with arrowheads, a title and a white ground."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE}" '
        f'height="{high}" font-family="sans-serif" role="img">'
    )
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        f'markerHeight="6" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{QUIET}"/>'
        "</marker></defs>"
    )
    ground = f'<rect width="{WIDE}" height="{high}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{title}</title>", tip, ground, *parts, "</svg>\n"])


def graph_kinds() -> str:
    """Draw the kinds of generalization graphs, in both views: HK's Figure 1."""
    parts = []
    for place, (name, matches) in enumerate(kinds().items()):
        left, top = 40 + 365 * (place % 2), 40 + 290 * (place // 2)
        parts.append(caption(left, top - 12, name, "start").replace(QUIET, INK))
        above = [(left + 40 * one, top + 26) for one in range(8)]
        below = [(x, y + 62) for x, y in above]
        parts += [
            f'<path d="M{above[one][0]} {above[one][1]}L{below[other][0]} {below[other][1]}" '
            f'stroke="{DOT}"/>'
            for other, some in enumerate(matches)
            for one in sorted(some)
        ]
        for row, letter, lift in ((above, "t", -12), (below, "t’", 20)):
            for one, (x, y) in enumerate(row):
                parts += [
                    f'<circle cx="{x}" cy="{y}" r="5" fill="{INK}"/>',
                    caption(x, y + lift, f"{letter}{one}"),
                ]
        middle, turn = (left + 140, top + 188), math.pi / 4
        spots = [
            (middle[0] + 58 * math.sin(one * turn), middle[1] - 58 * math.cos(one * turn))
            for one in range(8)
        ]
        parts += graph(spots, matches, names=False)
    return drawing(600, "Generalization graphs of four kinds over eight tuples, k = 4", parts)


def eight_tuples() -> str:
    """Draw the eight tuples with the paper's solution and Shoal's, k = 3: HK's Figure 2."""
    ours, printed = searched(3), tuple(frozenset(map(int, one)) for one in PRINTED)
    parts = []
    for place, (name, matches) in enumerate((("the paper’s", printed), ("Shoal’s", ours))):
        left, top, bottom = 55 + 365 * place, 45, 330
        parts += [
            caption(left, top - 18, f"{name}: GCP {gcp(matches):.4f}", "start").replace(QUIET, INK),
            f'<path d="M{left} {top}V{bottom}H{left + 310}" fill="none" stroke="{QUIET}"/>',
            *(caption(left + 9 * (age - 25), bottom + 18, f"{age}") for age in (30, 40, 50)),
            *(caption(left - 8, bottom - 6 * (pay - 15), f"{pay}", "end") for pay in (20, 40, 60)),
            caption(left + 305, bottom + 34, "age", "end"),
            caption(left - 8, top - 4, "salary", "end"),
        ]
        spots = [(left + 9.0 * (age - 25), bottom - 6.0 * (pay - 15)) for age, pay in TUPLES]
        parts += graph(spots, matches, names=True)
    return drawing(375, "Eight tuples, and which recast tuples each matches, k = 3", parts)


PICTURES: dict[str, Callable[[], str]] = {
    "andy.svg": andy,
    "loss.svg": loss,
    "graph-kinds.svg": graph_kinds,
    "eight-tuples.svg": eight_tuples,
}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (ASSETS / name).write_text(draw(), "utf-8")
