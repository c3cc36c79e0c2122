"""The report as one page that opens offline: no script, no font, no request.

Notebooks get pieces of the same HTML: a release, an audit and a plan at a glance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.views.charts.base import drawn
from shoal.views.charts.release import (
    column_chart,
    frontier_chart,
    map_chart,
    reach_chart,
    size_chart,
    values_chart,
)
from shoal.views.charts.strips import strip_chart
from shoal.views.commands import flag
from shoal.views.pages import comparison_values, frontier_values, render
from shoal.views.sentences import cost_sentence, first_values, report_values, scale_of
from shoal.views.tables import level_name, level_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData


def render_release(facts: dict[str, Any], trials: dict[str, Any] | None = None) -> str:
    """Return the report of a release as HTML, from what `shoal.runs.facts` has gathered."""
    tried = None if trials is None else trial_values(trials)
    return render("release.html", **_values(facts), tried=tried)


def render_recast(facts: dict[str, Any]) -> str:
    """Return the report of a release made from published groups, from `shoal.runs.recast`."""
    charts = {
        "sizes": drawn(size_chart, facts["sizes"], grouped=True),
        "map": drawn(map_chart, facts["map"]) if facts["map"] else None,
        "columns": _column_charts(facts),
    }
    scale = scale_of(list(facts["loss"]["ncp"].values()))
    said = first_values(facts) | {"cost_sentence": cost_sentence(facts), "scale": scale}
    return render("recast.html", facts=facts, charts=charts, **said)


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
        **_values(facts),
        tried=trial_values(trials),
        own=own | {"strips": strips},
        name=level_name,
        value=level_value,
    )


def render_certificate(facts: dict[str, Any]) -> str:
    """Return the certificate of a release as HTML: two pages to sign."""
    certified = facts | {"certified": True}
    return render("certificate.html", facts=certified, **first_values(facts))


def _values(facts: dict[str, Any]) -> dict[str, Any]:
    facts = facts | {"before_known": True}
    return {"facts": facts, "charts": release_charts(facts), "option": flag} | report_values(facts)


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
        "frontiers": [
            drawn(frontier_chart, r["frontier"]) if "frontier" in r else None for r in asked
        ],
        "reaches": [drawn(reach_chart, r["reach"]) if "reach" in r else None for r in asked],
        "map": drawn(map_chart, facts["map"]) if facts["map"] else None,
        "columns": _column_charts(facts),
    }


def _column_charts(facts: dict[str, Any]) -> list[Any]:
    return [
        drawn(column_chart if one["role"] == "quasi" else values_chart, one)
        if one["numeric"]
        else None
        for one in facts["fidelity"].get("columns", ())
    ]


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
