"""The page about the scale and its charts, from the figures that scale.py wrote."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.views.pages import GREY, PALETTE, picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DOCS = Path(__file__).parents[2] / "docs"
FILE, METER_FILE = (DOCS / "results" / f"{name}.csv" for name in ("scale", "scale-anonymeter"))
PAGE, BLANK = DOCS / "scale.md", Path(__file__).with_name("page.md")
KEY = ("table", "system", "setting", "seed")
ATTACKS = ("singling out", "linking", "inference", "learning", "finding")
OVER = ATTACKS[:4]  # that controls can be attacked by, too
ERRORS = ("counts", "regression", "classifier")
FIGURES = [
    *KEY, "status", "seconds", *ERRORS,
    *(f"{attack} {side}" for attack in ATTACKS for side in ("members", "controls")),
]  # fmt: skip
METER_FIGURES = [
    *KEY,
    *(f"{attack} {what}" for attack in ATTACKS[:3] for what in ("members", "controls", "risk")),
]
NAMES = {
    "shoal": "Shoal", "anonypy": "anonypy", "aim": "AIM", "itself": "the table itself",
    "nothing": "columns shuffled",
}  # fmt: skip
Line = dict[str, str]
Key = tuple[str, str, str]
Known = dict[Key, dict[str, float]]  # means by table, system and setting


def read(path: Path = FILE) -> list[Line]:
    """Return the figures so far."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def advantage(line: Line, attack: str) -> float:
    """Return by how many points an attack succeeds more often on members than on controls.

    Not a number where it cannot be tried: two tables have no cells to take descriptions from.
    """
    if not line[f"{attack} members"]:
        return math.nan
    return 100 * (float(line[f"{attack} members"]) - float(line[f"{attack} controls"]))


def means(lines: Iterable[Line], figures: Sequence[str]) -> Known:
    """Return the means over the seeds, and of how many, by table, system and setting."""
    by: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        if not line.get("status"):
            by[line["table"], line["system"], line["setting"]].append(line)
    found: Known = {}
    for key, some in sorted(by.items()):
        one: dict[str, float] = {"seeds": len(some)}
        for name in figures:
            values = [
                advantage(line, name) if name in ATTACKS else float(line[name]) for line in some
            ]
            one[name] = sum(values) / len(values)
        found[key] = one
    return found


def show() -> None:
    """Write the tables into the page, and the charts beside the figures."""
    known = means(read(), (*ERRORS, *OVER))
    if not known:
        return
    PAGE.write_text(page_of(known), "utf-8")
    for attack in OVER:
        place = DOCS / "results" / f"scale-{attack.replace(' ', '-')}.svg"
        place.write_text(chart(known, attack), "utf-8")


def page_of(known: Known) -> str:
    """Return the page with the tables that follow from figures."""
    page = BLANK.read_text("utf-8")
    for table in dict.fromkeys(key[0] for key in known):
        page = put(page, table, figures_table(table, known))
    page = put(page, "found", "\n".join(f"- {one}" for one in sentences(known)))
    page = put(page, "compared", comparisons(known))
    return put(page, "anonymeter", meter_table(known))


def put(page: str, mark: str, text: str) -> str:
    """Replace what stands between the two comments of a mark."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    head, _, rest = page.partition(begin)
    _, closed, tail = rest.partition(end)
    if not closed:
        msg = f"The page has no {begin} … {end}."
        raise ValueError(msg)
    return f"{head}{begin}\n\n{text}\n\n{end}{tail}"


def named(system: str, setting: str) -> str:
    """Return what a line of a table is called."""
    name = NAMES.get(system, system)
    return name if name == setting else f"{name}: {setting}"


ALIKE = 2.0  # points, about the 95% margin of a difference of two means over three draws
WORDS = ("table", "by", "attack", "setting of Shoal", "so")
VERDICTS = (
    "protects better",
    "protects alike",
    "does not protect as well",
    "has no error as small",
)


def compare(known: Known) -> list[tuple[Key, str, tuple[float, Key] | None, str]]:
    """Compare every setting of others with the best of ours, attack by attack.

    The best of ours is the one that gives an attack the least, of those whose error of counts is no
    larger. An advantage below 0 is chance and counts as 0. Under `ALIKE`, neither is better.
    """
    found = []
    others = [key for key in known if key[1] not in {"shoal", "itself", "nothing"}]
    for key, attack in product(others, OVER):
        their = known[key]
        own = [
            (one[attack], mine)
            for mine, one in known.items()
            if mine[:2] == (key[0], "shoal") and one["counts"] <= their["counts"]
            if not math.isnan(one[attack])
        ]
        best = min(own, default=None)
        verdict = 3
        if best is not None:
            more = max(best[0], 0.0) - max(their[attack], 0.0)
            verdict = 1 + (more >= ALIKE) - (more <= -ALIKE)
        found.append((key, attack, best, VERDICTS[verdict]))
    return found


def sentences(known: Known) -> list[str]:
    """Say in how many comparisons who protects better."""
    found = []
    compared = compare(known)
    for system in dict.fromkeys(key[1] for key, *_ in compared):
        for attack in OVER:
            said = [one for key, of, _, one in compared if (key[1], of) == (system, attack)]
            counts = [f"{one} in {said.count(one)}" for one in VERDICTS if one in said]
            found.append(
                f"{attack.capitalize()}, beside {NAMES[system]} ({len(said)} comparisons): "
                f"Shoal {', '.join(counts)}."
            )
    return found


def comparisons(known: Known) -> str:
    """Return every comparison as a Markdown table: theirs, ours, and the setting of ours."""
    rows = [
        [
            key[0], named(*key[1:]), f"{known[key]['counts']:.1%}", attack,
            f"{known[key][attack]:+.1f}",
            "–" if best is None else f"{best[0]:+.1f}",
            "–" if best is None else f"{best[1][2]} ({known[best[1]]['counts']:.1%})",
            f"Shoal {verdict}",
        ]
        for key, attack, best, verdict in compare(known)
    ]  # fmt: skip
    heads = ["table", "by", "counts", "attack", "theirs", "Shoal's", "setting of Shoal", "so"]
    return markdown(heads, rows)


def figures_table(table: str, known: Known) -> str:
    """Return errors and advantages of one table as a Markdown table, small errors first."""
    own = [(key, one) for key, one in known.items() if key[0] == table]
    rows = [
        [
            named(*key[1:]), f"{one['counts']:.1%}", f"{one['regression']:.2f}",
            f"{100 * one['classifier']:.1f}", *(points(one[attack]) for attack in OVER),
        ]
        for key, one in sorted(own, key=lambda pair: pair[1]["counts"])
    ]  # fmt: skip
    heads = ["by", "counts", "regression", "classifier", *OVER]
    return markdown(heads, rows)


def meter_table(known: Known) -> str:
    """Return what anonymeter's attacks reach in points over the controls, its risk, and ours."""
    risks = tuple(f"{one} risk" for one in ATTACKS[:3])
    theirs = means(read(METER_FILE), (*ATTACKS[:3], *risks))
    rows = [
        [
            key[0], named(*key[1:]),
            *(
                f"{points(one[attack])} / {one[risk]:.0%} / {points(known[key][attack])}"
                for attack, risk in zip(ATTACKS[:3], risks, strict=True)
            ),
        ]
        for key, one in theirs.items()
        if key in known
    ]  # fmt: skip
    heads = (f"{one}: anonymeter / its risk / Shoal" for one in ATTACKS[:3])
    return markdown(["table", "by", *heads], rows)


def points(gain: float) -> str:
    """Return an advantage as text."""
    return "–" if math.isnan(gain) else f"{gain:+.1f}"


def markdown(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but those of words are set to the right."""
    rule = ["---" if name in WORDS else "---:" for name in names]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rule, *rows))


def chart(known: Known, attack: str) -> str:
    """Draw the error of counts against what an attack gains, a point for each setting and table."""
    systems = [name for name in NAMES if any(key[1] == name for key in known)]
    values = [
        {
            "error": one["counts"], "gain": one[attack], "system": NAMES[key[1]],
            "table": key[0],
        }
        for key, one in known.items()
        if not math.isnan(one[attack])
    ]  # fmt: skip
    encoding = {
        "x": {"field": "error", "type": "quantitative", "title": "error of counts",
              "axis": {"format": "%"}},
        "y": {"field": "gain", "type": "quantitative",
              "title": f"{attack}: points over controls"},
        "color": {"field": "system", "type": "nominal", "title": None,
                  "scale": {"domain": [NAMES[one] for one in systems],
                            "range": [PALETTE[5], PALETTE[3], PALETTE[1], GREY, PALETTE[2]]}},
        "shape": {"field": "table", "type": "nominal", "title": None},
    }  # fmt: skip
    says = f"Error of counts against how much more often {attack} succeeds on members"
    mark = {"type": "point", "filled": True, "size": 70, "opacity": 0.8}
    return picture(
        {"data": {"values": values}, "mark": mark, "encoding": encoding}, height=300, says=says
    )
