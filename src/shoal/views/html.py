"""The report as one page that opens offline: no script, no font, no request.

Notebooks get pieces of the same HTML: a release, an audit and a plan at a glance.

The first line of every part of the report is the answer to its question, in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.exact import percent
from shoal.table.forms import TWO_TABLES
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
from shoal.views.tables import level_name, level_value
from shoal.views.words import (
    count,
    extent,
    figure,
    in_hundred,
    limit,
    one_in,
    people,
    plural,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData


SCALES = (0.05, 0.1, 0.25, 0.5, 1.0)  # one of which all bars of a page have
LARGE = 0.1  # of the rows, or of a relative error: more is no longer "as before"


def report_values(facts: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the template of a report says in words."""
    known = facts["fidelity"]
    quasi = [one for one in known.get("columns", ()) if one["role"] == "quasi"]
    groups = sorted(known.get("subgroups", ()), key=lambda one: -_unevenness(one))
    errors = facts["queries"].get("errors", ())
    shown = [*facts["loss"]["ncp"].values()]
    shown += [band["loss"] for group in groups for band in group["bands"]]
    return first_values(facts) | {
        "may_publish": may_publish(facts),
        "means": what_it_means(facts),
        "left_out_sentence": left_out_sentence(facts),
        "cost_sentence": cost_sentence(facts),
        "learn_sentence": learn_sentence(facts),
        "widths": {} if facts.get("form") == TWO_TABLES else {one["column"]: one for one in quasi},
        "scale": scale_of(shown),
        "query_scale": scale_of([one["median"] for one in errors]),
        "bearing": groups[0] if groups else None,
        "others_bearing": groups[1:],
        "bearing_sentence": bearing_sentence(groups[0], facts.get("form", "")) if groups else "",
    }


def first_values(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the first screen says in words, in a report and on a certificate."""
    return {
        "measured_in": _measured_in(facts),
        "left_out": _left_out(facts),
        "done": {one["name"]: done(one, facts) for one in facts["columns"]},
        "complaints": facts.get("complaints", ()),
    }


def scale_of(values: list[float]) -> float:
    """Return how far the bars of a page reach, all of them alike."""
    most = max(values, default=0.0)
    return next((one for one in SCALES if most <= one), 1.0)


def _measured_in(facts: dict[str, Any]) -> str:
    """Say where the promise was measured."""
    if facts["groups"] is None:
        return (
            "Measured against the original table, for everybody in it, after the file was written."
        )
    return f"Measured in all {plural(facts['groups'], 'group')} of the published file."


def _left_out(facts: dict[str, Any]) -> list[tuple[int, str]]:
    """Return how many rows were left out for which reason, in a few words."""
    reasons = (
        (facts.get("dropped"), "with missing cells"),
        (facts.get("suppressed"), "for the promise’s sake"),
        (facts.get("capped"), "of people with many rows"),
    )
    return [(number, why) for number, why in reasons if number]


def may_publish(facts: dict[str, Any]) -> str:
    """Answer whether the release may go out, and to whom."""
    seen = facts["exposure"]
    if not facts["holds"]:
        return "No: a promise does not hold."
    if facts["first"]:
        return f"Not before this is settled: {facts['first'][0]}"
    found, usual = one_in(seen["after"]["largest_risk"]), limit(seen["threshold"])
    if seen["after"]["largest_kept"]:
        return (
            "Yes, as far as what is promised goes: everything holds, and nobody who is known to be "
            f"in the table is found with more than {found}, within the limit of {usual}."
        )
    return (
        f"To readers who sign an agreement, yes. To everybody, not by the usual limit of {usual}: "
        f"that takes {_members(seen['least_size'], facts)} to a description, and here it is "
        f"{count(seen['after']['smallest'])}."
    )


def what_it_means(facts: dict[str, Any]) -> str:
    """Say what a reader sees of one person, by the example that follows."""
    if not facts["example"]:
        return "What the verdict says, to everybody alike."
    rows = facts["example"]["group"]
    if rows is None:
        smallest = facts["exposure"]["after"]["smallest"]
        return (
            f"Whoever looks for a person finds at least {plural(smallest, 'published row')} that "
            "fit, and cannot tell which one is the person’s."
        )
    rest = "" if facts["guarded"] else " Nothing is promised of what these rows have in common."
    if facts.get("people"):
        return (
            "What the verdict says, to everybody alike. Whoever looks for somebody of this group, "
            f"for example, finds the {plural(rows, 'row')} of several people and cannot tell who "
            f"of them it is.{rest}"
        )
    return (
        "What the verdict says, to everybody alike. Whoever looks for somebody of this group, for "
        f"example, finds {plural(rows, 'row')} and cannot tell which one is theirs.{rest}"
    )


def _members(number: int, facts: dict[str, Any]) -> str:
    """Return so many rows, or people where these are counted."""
    return people(number) if facts.get("people") else plural(number, "row")


def left_out_sentence(facts: dict[str, Any]) -> str:
    """Say how many rows and columns are missing."""
    rows_in = facts["rows_in"] or facts["rows"]
    gone = rows_in - facts["rows"]
    rows = f"{count(gone)} of {plural(rows_in, 'row')}" if gone else "No row"
    whole, kept = facts["columns_in"], len(facts["columns"])
    if not whole:
        return f"{rows}."
    columns = f"{count(whole - kept)} of {plural(whole, 'column')}" if whole > kept else "no column"
    return f"{rows} and {columns}."


def cost_sentence(facts: dict[str, Any]) -> str:
    """Say what was lost, and which column lost most."""
    ncp = facts["loss"]["ncp"]
    worst = max(ncp, key=lambda name: ncp[name])
    if facts.get("form") == TWO_TABLES:
        return (
            "No column lost any detail. Lost is who of a group has which of its values; groups "
            f"span {percent(facts['loss']['gcp'])} of the {plural(len(ncp), 'column')} about "
            "people."
        )
    whole = f"{percent(facts['loss']['gcp'])} of the detail in {plural(len(ncp), 'column')}"
    most = f", most of it in {worst} ({percent(ncp[worst])})" if len(ncp) > 1 and ncp[worst] else ""
    rest = [one["name"] for one in facts["columns"] if one["name"] not in ncp]
    kept = "" if not rest else " All other columns stand as they were."
    return f"{whole}{most}.{kept}"


def _unevenness(group: dict[str, Any]) -> float:
    losses = [band["loss"] for band in group["bands"]]
    return max(losses) - min(losses)


def bearing_sentence(group: dict[str, Any], form: str = "") -> str:
    """Say which people lost most, and which least; of two tables, whose groups are wide."""
    bands = sorted(group["bands"], key=lambda band: band["loss"])
    least, most = bands[0], bands[-1]
    what = "Whose groups are wide" if form == TWO_TABLES else "Who bears the loss"
    if most["loss"] == least["loss"]:
        return f"{what}: everybody alike, by {group['column']}"
    return (
        f"{what}: {group['column']} {most['name']} most ({percent(most['loss'])}), "
        f"{least['name']} least ({percent(least['loss'])})"
    )


def learn_sentence(facts: dict[str, Any]) -> str:
    """Say what analyses come out as before, and from how many rows on counts do."""
    known, queries = facts["fidelity"], facts["queries"]
    said = []
    if "columns" in known:
        moved = [one for one in known["columns"] if one["role"] == "quasi"]
        worst = max(moved, key=lambda one: one["apart"], default=None)
        if facts.get("form") == TWO_TABLES:
            said.append("Every column alone, and those about people together, are as before.")
        elif worst is not None:
            so = "come out as before" if worst["apart"] <= LARGE else "are only roughly as before"
            said.append(
                f"The shares and means of single columns {so}: at most {percent(worst['apart'])} "
                f"of the rows move to another band ({worst['column']})."
            )
        said += _regression_sentence(known["regression"])
    good = [one for one in queries.get("errors", ()) if one["median"] <= LARGE]
    if good:
        rows = figure(float(f"{min(one['rows'] for one in good) * facts['rows']:.3g}"))
        said.append(
            f"Counts of about {rows} rows and more are mostly right to within {percent(LARGE)}; "
            "smaller ones are not, and single people cannot be seen."
        )
    elif queries.get("errors"):
        said.append(f"Counts over several columns are mostly off by more than {percent(LARGE)}.")
    return " ".join(said) or "Too little to say: the table is too small to show anything safely."


def _regression_sentence(found: dict[str, Any]) -> list[str]:
    terms = found.get("terms")
    if not terms:
        return []
    same = sum(abs(one["after"] - one["before"]) <= 2 * one["error_before"] for one in terms)
    if same == len(terms):
        return ["A regression gives the same coefficients within its error."]
    return [f"A regression gives {same} of {len(terms)} coefficients within its error."]


def done(column: dict[str, Any], facts: dict[str, Any]) -> str:
    """Say what was done to a column."""
    role = column["role"]
    if role == "sensitive":
        guarded = any(column["name"] in one["columns"] for one in facts["requirements"])
        what = "protected by the promise" if guarded else "sensitive, and nothing is promised of it"
        return f"{what}; published as it was"
    if role == "other":
        return "published as it was"
    if role != "quasi":
        return "published as keyed hashes"
    if facts.get("form") == TWO_TABLES:
        return "published as it was, apart from what is protected"
    known = {one["column"]: one for one in facts.get("fidelity", {}).get("columns", ())}
    one = known.get(column["name"])
    if one is None:
        return "made coarser" if facts["loss"]["ncp"][column["name"]] else "published as it was"
    if one["exact"] >= 1:
        return "may be known to readers; every cell is exact all the same"
    return (
        f"made coarser: {in_hundred(one['exact'])} cells are exact, "
        f"half cover at most {extent(one, one['half'])}"
    )


def render_release(facts: dict[str, Any], trials: dict[str, Any] | None = None) -> str:
    """Return the report of a release as HTML, from what `shoal.runs.facts` has gathered."""
    tried = None if trials is None else trial_values(trials)
    return render("release.html", **_values(facts), tried=tried)


def render_recast(facts: dict[str, Any]) -> str:
    """Return the report of a release made from published groups, from `shoal.runs.publish`."""
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
