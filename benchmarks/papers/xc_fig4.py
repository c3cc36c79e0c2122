"""XC, Figure 4: groups in breach of dissimilarity, by ε and δ: python benchmarks/papers/xc_fig4.py.

The picture has a panel for each norm. It is shaded by the share of the groups of the l-diverse
table that are in breach; lines join the points where 5, 50 and 95 % are, and dashed ones are those
of the table that Shoal makes dissimilar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drawing import BLUE, ORANGE
from figures import Claim, Figure, Size, percent, rises, run
from subjects import lives

import shoal
from shoal.views.charts.attack import contour
from shoal.views.pages import CONFIG, GREY

if TYPE_CHECKING:
    import polars as pl

EPSILONS = [0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.24]
DELTAS = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
LEVELS = (0.05, 0.5, 0.95)
DIVERSE, DISSIMILAR = "Mondrian, l = 20", "Exchange, (0.1, 0.8), k = 10"
COLOURS = {DIVERSE: ORANGE, DISSIMILAR: BLUE}
PLACES = {DIVERSE: {"dx": -12, "dy": 12}, DISSIMILAR: {"dx": 14, "dy": -9}}  # of names
NORMS = {"L1": 1, "L2": 2}


def measure(size: Size) -> list[dict[str, Any]]:
    subject, weights = lives(size.rows)
    records = []
    for norm, p in NORMS.items():
        distance = shoal.distances.Lp(p=p, weights=weights)
        near = shoal.principles.Dissimilarity(epsilon=0.1, delta=0.8, k=10, distance=distance)
        for name, require, method in (
            (DIVERSE, shoal.principles.FrequencyL(l=20), shoal.methods.Mondrian()),
            (DISSIMILAR, near, shoal.methods.Exchange()),
        ):
            release = subject.release(require, method)
            if release is None:
                continue
            attacked = shoal.attack(
                [release.table], subject.schema, epsilons=EPSILONS, deltas=DELTAS, distance=distance
            )
            (found,) = attacked.vulnerability
            records += [
                {
                    "table": subject.source,
                    "norm": norm,
                    "method": name,
                    "gcp": release.loss,
                    "groups": found.groups,
                    "weights": ", ".join(f"{weight:g}" for weight in weights),
                    **point,
                }
                for point in found.to_dict()["grid"]
            ]
    return records


def draw(frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "config": CONFIG,
        "spacing": 26,
        "hconcat": [_panel(frame.filter(norm=norm), norm) for norm in NORMS],
    }


def _panel(frame: pl.DataFrame, norm: str) -> dict[str, Any]:
    x = {
        "field": "delta",
        "type": "quantitative",
        "title": "δ: share of the others that must not be near",
        "scale": {"domain": [DELTAS[0], DELTAS[-1]], "nice": False},
        "axis": {"grid": False, "tickCount": 6},
    }
    y = {
        "field": "epsilon",
        "type": "quantitative",
        "title": "ε: what counts as near" if norm == "L1" else "",
        "scale": {"domain": [EPSILONS[0], EPSILONS[-1]], "nice": False},
        "axis": {"grid": False, "tickCount": 6},
    }
    cells, lines, names = [], [], []
    for method in COLOURS:
        shares = _shares(frame.filter(method=method))
        if not shares:
            continue
        if method == DIVERSE:
            cells = _cells(shares)
        for level in LEVELS:
            for number, line in enumerate(contour(EPSILONS, DELTAS, shares, level)):
                points = [
                    {"line": f"{method} {level} {number}", "place": place, "method": method,
                     "epsilon": epsilon, "delta": delta}
                    for place, (epsilon, delta) in enumerate(line)
                ]  # fmt: skip
                lines += points
                if number == 0:
                    share = 0.85 if method == DIVERSE else 0.6  # names beside one another
                    named = points[int(share * len(points))]
                    names.append(named | {"text": f"{level:.0%}"})
    colour = {
        "field": "method",
        "title": None,
        "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
        "legend": {"orient": "bottom", "direction": "vertical", "symbolType": "stroke",
                   "symbolStrokeWidth": 3, "labelLimit": 260},
    }  # fmt: skip
    dash = {
        "field": "method",
        "legend": None,
        "scale": {"domain": list(COLOURS), "range": [[1, 0], [5, 3]]},
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"domain": [0, 1], "range": [0, 0.4]},
    }
    return {
        "title": {
            "text": f"{norm} norm: share of groups in breach",
            "color": GREY,
            "fontSize": 12,
            "anchor": "start",
        },
        "width": 265,
        "height": 250,
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "color": ORANGE, "stroke": None},
                "encoding": {
                    "x2": {"field": "delta2"},
                    "y2": {"field": "epsilon2"},
                    "opacity": shade,
                },
            },
            {
                "data": {"values": lines},
                "mark": {"type": "line", "strokeWidth": 2.5},
                "encoding": {
                    "color": colour,
                    "strokeDash": dash,
                    "detail": {"field": "line"},
                    "order": {"field": "place"},
                },
            },
            *(
                {
                    "data": {"values": [name for name in names if name["method"] == method]},
                    "mark": {"type": "text", "fontSize": 12, "fontWeight": "bold"} | place,
                    "encoding": {"color": colour, "text": {"field": "text"}},
                }
                for method, place in PLACES.items()
            ),
        ],
    }


def _shares(frame: pl.DataFrame) -> list[list[float]]:
    """Return the shares by ε and δ, in the order of the grid."""
    flat = frame.sort("epsilon", "delta")["share"].to_list()
    return [flat[start : start + len(DELTAS)] for start in range(0, len(flat), len(DELTAS))]


def _cells(shares: list[list[float]]) -> list[dict[str, float]]:
    """Return the rectangles between the points of the grid, shaded by the mean of their corners."""
    return [
        {
            "epsilon": EPSILONS[i],
            "epsilon2": EPSILONS[i + 1],
            "delta": DELTAS[j],
            "delta2": DELTAS[j + 1],
            "share": sum(shares[a][b] for a in (i, i + 1) for b in (j, j + 1)) / 4,
        }
        for i in range(len(EPSILONS) - 1)
        for j in range(len(DELTAS) - 1)
    ]


def claims(frame: pl.DataFrame) -> list[Claim]:
    found = []
    for norm in NORMS:
        shares = _shares(frame.filter(norm=norm, method=DIVERSE))
        by_epsilon = [row[DELTAS.index(0.85)] for row in shares]
        by_delta = shares[EPSILONS.index(0.1)]
        lines = (*shares, *(list(line) for line in zip(*shares, strict=True)))
        found.append(
            Claim(
                f"With the {norm} norm more groups of an l-diverse table (l = 20) are in breach as "
                "ε or δ grows:",
                f"{percent(by_epsilon[0])} to {percent(by_epsilon[-1])} along ε at δ = 0.85, "
                f"{percent(by_delta[0])} to {percent(by_delta[-1])} along δ at ε = 0.1.",
                all(line == sorted(line) for line in lines)
                and rises(by_epsilon)
                and rises(by_delta),
            )
        )
    shares = _shares(frame.filter(norm="L1", method=DIVERSE))
    least = min(
        shares[i][j]
        for i, epsilon in enumerate(EPSILONS)
        for j, delta in enumerate(DELTAS)
        if epsilon >= 0.18 and delta >= 0.85
    )
    steep = shares[EPSILONS.index(0.1)][DELTAS.index(0.8)]
    found.append(
        Claim(
            "With ε of at least 0.18 and δ of at least 0.85, over half of the groups are in breach "
            "(L1):",
            f"here at least {percent(least)}, and {percent(steep)} already at ε = 0.1, δ = 0.8: "
            "how many depends on the values of the table and on the weights of the columns, which "
            f"the text does not give; here they are {frame['weights'][0]}.",
            least > 0.5,
        )
    )
    kept = frame.filter(norm="L1", method=DISSIMILAR)
    if kept.height:
        asked = kept.filter(epsilon=0.1, delta=0.8)["share"].item()
        losses = [frame.filter(norm="L1", method=name)["gcp"][0] for name in COLOURS]
        found.append(
            Claim(
                "",
                f"`Exchange()` under (0.1, 0.8)-dissimilarity leaves {percent(asked)} of its "
                f"groups in breach there, at a loss (GCP) of {losses[1]:.3f} against "
                f"{losses[0]:.3f} of Mondrian.",
                None,
            )
        )
    return found


FIGURE = Figure(
    name="xc-fig4",
    heading="XC, Figure 4: what l-diversity leaves open",
    shows=(
        "Share of groups in breach of (ε, δ)-dissimilarity for a table that Mondrian makes "
        "l-diverse with l = 20 (shaded, solid lines at 5, 50 and 95 %), and for one that Exchange "
        "makes (0.1, 0.8)-dissimilar (dashed lines), by the L1 and the L2 norm."
    ),
    rows=50_000,
    large=50_000,
    measure=measure,
    draw=draw,
    claims=claims,
)

if __name__ == "__main__":
    run([FIGURE])
