"""The report as one page that opens offline: no script, no font, no request.

Pieces of HTML for notebooks: a release, an audit and a plan at a glance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.views.charts.base import drawn
from shoal.views.charts.release import (
    frontier_chart,
    histogram_chart,
    map_chart,
    reach_chart,
    risk_chart,
    size_chart,
    strip_chart,
)
from shoal.views.pages import comparison_values, frontier_values, render
from shoal.views.tables import level_name, level_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData


def render_release(facts: dict[str, Any], trials: dict[str, Any] | None = None) -> str:
    """Return the report of a release as HTML, from what `shoal.runs.facts` has gathered."""
    tried = None if trials is None else trial_values(trials)
    return render("release.html", facts=facts, charts=release_charts(facts), tried=tried)


def render_recast(facts: dict[str, Any]) -> str:
    """Return the report of a release made from published groups, from `shoal.runs.recast`."""
    charts = {
        "sizes": drawn(size_chart, facts["sizes"], grouped=True),
        "map": drawn(map_chart, facts["map"]) if facts["map"] else None,
    }
    return render("recast.html", facts=facts, charts=charts | value_charts(facts))


def render_owner(facts: dict[str, Any], own: dict[str, Any], trials: dict[str, Any]) -> str:
    """Return the owner's report as HTML; `own` is what `shoal.runs.owner` has gathered."""
    strips = [
        one | {"chart": drawn(strip_chart, one["column"], one["strips"], dates=one["dates"])}
        if one["numeric"]
        else one
        for one in own["strips"]
    ]
    return render(
        "owner.html",
        facts=facts,
        charts=release_charts(facts),
        tried=trial_values(trials),
        own=own | {"strips": strips},
        name=level_name,
        value=level_value,
    )


def trial_values(trials: dict[str, Any]) -> dict[str, Any]:
    """Return what the template needs of trials on a sample, with their pictures."""
    values = dict(trials)
    if values.get("frontier"):
        values["frontier"] = frontier_values(values["frontier"])
    if values.get("comparison"):
        values["comparison"] = comparison_values(values["comparison"])
    return values


def release_charts(facts: dict[str, Any]) -> dict[str, Any]:
    """Draw what the report of a release shows."""
    asked = facts["requirements"]
    return {
        "sizes": drawn(size_chart, facts["sizes"], grouped=facts["groups"] is not None),
        "risks": [drawn(risk_chart, r["risks"], r["bound"]) for r in asked],
        "frontiers": [
            drawn(frontier_chart, r["frontier"]) if "frontier" in r else None for r in asked
        ],
        "reaches": [drawn(reach_chart, r["reach"]) if "reach" in r else None for r in asked],
        "map": drawn(map_chart, facts["map"]) if facts["map"] else None,
    } | value_charts(facts)


def value_charts(facts: dict[str, Any]) -> dict[str, Any]:
    """Draw how sensitive values are distributed."""
    return {
        "histograms": [
            None if "labels" in one else drawn(histogram_chart, one) for one in facts["values"]
        ],
        "labels": [_labels(one) if "labels" in one else None for one in facts["values"]],
    }


def _labels(found: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the bars of a column of labels, the rare ones together."""
    bars = [(one["label"] or "(missing)", one["share"]) for one in found["labels"]]
    if found["others"]:
        bars.append((f"{found['others']:,} more", found["rest"]))
    return bars


SHOWN = 12  # points of a plan's frontier


def part(result: Any) -> str:
    """Return a result as a piece of HTML for a notebook."""
    return PARTS[type(result).__name__](result)


def _release_part(release: ReleaseData) -> str:
    return render("part_release.html", facts=release.manifest)


def _audit_part(audit: Audit) -> str:
    return render("part_audit.html", facts=audit.to_dict(), complaints=audit.complaints())


def _plan_part(plan: Any) -> str:
    facts = plan.to_dict()
    points = facts["frontier"] or ()
    return render("part_plan.html", facts=facts, points=points[:SHOWN], more=len(points) - SHOWN)


PARTS: dict[str, Callable[[Any], str]] = {
    "Release": _release_part,
    "Audit": _audit_part,
    "Plan": _plan_part,
}
