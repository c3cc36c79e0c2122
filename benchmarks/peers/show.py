"""The page about the peers and its pictures, from the figures that run.py wrote: run it alone too.

python benchmarks/peers/show.py
"""

from __future__ import annotations

import csv
import json
from datetime import date
from itertools import groupby
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from shoal.views.charts.comparison import comparison_chart
from shoal.views.pages import GREY, PALETTE, picture
from shoal.views.tables import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results"
RELEASES, AUDITS = RESULTS / "peers.csv", RESULTS / "peers-audits.csv"
FACTS = RESULTS / "peers.json"
PAGE = DOCS / "peers.md"
LIME = "#999933"  # Tol: for the eighth line
Line = dict[str, Any]


def show() -> None:
    """Write the tables into the page, and the pictures beside the figures."""
    releases, audits = together(read(RELEASES)), read(AUDITS)
    facts = json.loads(FACTS.read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    salaries, adult = (
        [line for line in releases if line["table"] == name] for name in ("salaries", "adult")
    )
    for mark, text in {
        "run": said(facts),
        "salaries": releases_table(salaries),
        "adult": releases_table(adult),
        "audits": audits_table(audits),
    }.items():
        page = put(page, mark, text)
    PAGE.write_text(page, "utf-8")
    if not salaries:
        return
    (RESULTS / "peers-seconds.svg").write_text(seconds_chart(salaries, facts["limit"]), "utf-8")
    (RESULTS / "peers-loss.svg").write_text(loss_chart(salaries), "utf-8")


def read(path: Path) -> list[Line]:
    """Read figures; what was not measured is None."""
    words = {"table", "source", "library", "method", "require", "status", "levels"}
    words |= {"version", "date"}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {k: v if k in words else float(v) if v else None for k, v in line.items()}
            for line in csv.DictReader(file)
        ]


def put(page: str, mark: str, text: str) -> str:
    """Replace what stands between the two comments of a mark."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    head, found, rest = page.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        msg = f"The page has no {begin.strip()} … {end}."
        raise ValueError(msg)
    return f"{head}{begin}\n{text}\n\n{end}{tail}"


def said(facts: Line) -> str:
    """Say when and with what the figures were made."""
    known = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"{facts['cores']} cores; k = {facts['k']}; stopped after {facts['limit']:.0f} s; {known}. "
        "Command: `python benchmarks/peers/run.py --environment DIR`, or `--ours` for Shoal alone."
    )


def together(lines: Sequence[Line]) -> list[Line]:
    """Return one line for all orders of the rows: mean loss, median times, worst risk."""
    found = []
    names = ("table", "rows", "library", "method", "require")
    for _, some in groupby(lines, lambda line: [line[name] for name in names]):
        runs = list(some)
        line = runs[0] | {"orders": len(runs)}
        if not line["status"]:
            losses = [one["gcp"] for one in runs]
            line |= {"gcp": fmean(losses), "least": min(losses), "most": max(losses)}
            for name in ("seconds", "cpu", "call", "megabytes", "likely"):
                line[name] = None if line[name] is None else median(one[name] for one in runs)
            line["risk"] = max(one["risk"] for one in runs)
            line["smallest"] = min(one["smallest"] for one in runs)
        found.append(line)
    return found


def stamp(line: Line) -> str:
    """Return the version and the day that a line is from."""
    if not line["date"]:
        return ""
    day = date.fromisoformat(line["date"])
    return f"{line['version']}, {day.day} {day:%b %Y}"


def releases_table(lines: Sequence[Line]) -> str:
    """Return what libraries published as a Markdown table."""
    rows = []
    for line in lines:
        method = line["method"] if line["library"] != "Shoal" else f"`{line['method']}`"
        asked = line["require"].partition(" and ")[2]
        who = f"{line['library']} {method}" + (f", `{asked}` too" if asked else "")
        rows.append(
            [
                f"{line['rows']:,.0f}",
                who.replace(" with hierarchies`", "` with hierarchies"),
                _loss(line),
                _figure(line["risk"], ".2f"),
                *_taken(line),
                _figure(line["left_out"], ",.0f"),
                _figure(line["smallest"], ",.0f"),
                _figure(line["likely"], ".1%"),
                stamp(line),
            ]
        )
    return markdown(
        [
            "rows",
            "by",
            "GCP",
            "worst risk",
            "seconds",
            "of it the call",
            "CPU s",
            "MB",
            "left out",
            "smallest group",
            "rows at 1/2 or more",
            "version",
        ],
        rows,
    )


def _loss(line: Line) -> str:
    """Spell a loss, with the least and the most of several orders of the rows."""
    if line["gcp"] is None or line["orders"] == 1:
        return _figure(line["gcp"], ".4f")
    return f"{line['gcp']:.4f} ({line['least']:.4f} to {line['most']:.4f})"


def _taken(line: Line) -> list[str]:
    """Spell what a run took, or why it did not end."""
    if line["status"]:
        used = "" if line["cpu"] is None else f"over {line['cpu']:.0f}"
        return [line["status"], "", used, _figure(line["megabytes"], ",.0f")]
    return [
        _figure(line["seconds"], ".1f"),
        _figure(line["call"], ".1f"),
        _figure(line["cpu"], ".1f"),
        _figure(line["megabytes"], ",.0f"),
    ]


def audits_table(lines: Sequence[Line]) -> str:
    """Return what audits took as a Markdown table."""
    return markdown(
        ["table", "rows", "by", "seconds", "CPU s", "MB", "levels measured", "version"],
        [
            [
                line["table"],
                f"{line['rows']:,.0f}",
                line["library"],
                line["status"] or _figure(line["seconds"], ".1f"),
                _taken(line | {"call": None})[2],
                _figure(line["megabytes"], ",.0f"),
                line["levels"] or "none",
                stamp(line),
            ]
            for line in lines
        ],
    )


def markdown(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but those of words are set to the right."""
    words = {"by", "table", "levels measured", "version"}
    rule = ["---" if name in words else "---:" for name in names]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rule, *rows))


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _name(line: Line) -> str:
    return f"{line['library']} {line['method']}" + (
        " + proximity" if " and " in line["require"] else ""
    )


def seconds_chart(lines: Sequence[Line], limit: float) -> str:
    """Draw CPU seconds against rows, both logarithmic; a cross where a run was stopped.

    Other work on the machine lengthens seconds on the clock, and hardly those of the processor.
    """
    names = list(dict.fromkeys(map(_name, lines)))
    values = [
        {
            "rows": line["rows"],
            "seconds": line["cpu"],
            "by": _name(line),
            "ended": not line["status"],
            "peer": line["library"] != "Shoal",
        }
        for line in lines
        if line["cpu"] is not None
    ]
    stopped = any(not value["ended"] for value in values)
    dash = {
        "field": "peer",
        "type": "nominal",
        "legend": None,
        "scale": {"range": [[1, 0], [6, 4]]},
    }
    cross = {"type": "point", "shape": "cross", "angle": 45, "filled": True}
    encoding = {
        "x": {
            "field": "rows",
            "type": "quantitative",
            "title": "rows",
            "scale": {"type": "log", "nice": False, "padding": 12},
            "axis": {"values": sorted({line["rows"] for line in lines}), "format": ",d"},
        },
        "y": {
            "field": "seconds",
            "type": "quantitative",
            "title": "CPU seconds of the whole process",
            "scale": {"type": "log", "nice": False, "padding": 8},
            "axis": {"values": [1, 3, 10, 30, 100, 300], "format": "~g"},
        },
        "color": {
            "field": "by",
            "type": "nominal",
            "title": f"× stopped after {limit:.0f} s on the clock" if stopped else None,
            "sort": names,
            "scale": {"domain": names, "range": [*PALETTE, GREY, LIME]},
            "legend": {"orient": "right", "labelLimit": 260, "titleLimit": 260},
        },
    }
    return picture(
        {
            "data": {"values": values},
            "encoding": encoding,
            "layer": [
                {
                    "transform": [{"filter": "datum.ended"}],
                    "mark": {"type": "line", "strokeWidth": 2},
                    "encoding": {"strokeDash": dash},
                },
                {
                    "transform": [{"filter": "datum.ended"}],
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                },
                {
                    "transform": [{"filter": "!datum.ended"}],
                    "mark": cross | {"size": 160, "opacity": 1},
                },
            ],
        },
        height=320,
    )


def loss_chart(lines: Sequence[Line]) -> str:
    """Draw loss and worst risk as bars, at the most rows that every peer published."""
    peers = {_name(line) for line in lines if line["library"] != "Shoal"}
    sizes = {line["rows"] for line in lines}
    ended = {(line["rows"], _name(line)) for line in lines if not line["status"]}
    common = [size for size in sizes if all((size, peer) in ended for peer in peers)]
    rows = max(common, default=min(sizes))
    shown = [line for line in lines if line["rows"] == rows and not line["status"]]
    return comparison_chart(
        [_name(line) for line in shown],
        [
            Measure(
                "GCP",
                f"information lost (GCP), {rows:,.0f} rows",
                "{:.4f}".format,
                [line["gcp"] for line in shown],
            ),
            Measure(
                "risk",
                "worst risk: share of a group within 2,000 of one member's income",
                "{:.2f}".format,
                [line["risk"] for line in shown],
            ),
        ],
    )


if __name__ == "__main__":
    show()
