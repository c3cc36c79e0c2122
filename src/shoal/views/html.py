"""The report as one page that opens offline: no program, no font, no request.

Notebooks get pieces of the same HTML: a release, an audit and a plan at a glance.

The first line of every part of the report is the answer to its question, in one sentence. The page
holds its facts as JSON, so that whoever has the published tables can compare them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from shoal.ask.options import KNOWN
from shoal.errors import option
from shoal.exact import percent
from shoal.release.manifest import WORDS, Manifest, conclusion_of
from shoal.table.forms import TWO_TABLES
from shoal.views import column_words, sentences, verdict
from shoal.views.again import reproduction
from shoal.views.charts.release import (
    column_chart,
    frontier_chart,
    map_chart,
    reach_chart,
    size_chart,
    values_chart,
)
from shoal.views.pages import comparison_values, drawn, frontier_values, render
from shoal.views.terminal import as_typed, flag
from shoal.views.words import CONTEXT, chance, figure, people, plural, why_necessary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.audit.verify import Audit
    from shoal.release.recoding import ReleaseData


SCALES = (0.05, 0.1, 0.25, 0.5, 1.0)  # one of which all bars of a page have
LARGE = 0.1  # of the rows, or of a relative error: more is no longer "as before"
DECIDES = "Whether to publish it is for the owner to decide."
DIGESTS = 6  # files that a certificate names one by one


def render_report(facts: dict[str, Any]) -> str:
    """Return the report of a release as HTML, from what `shoal.runs.facts` has gathered."""
    return render("report.html", **report_values(facts))


def report_values(facts: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the template of a report needs."""
    release, shown = facts["release"], facts["shown"]
    charts = {
        "sizes": drawn(size_chart, facts["sizes"]) if facts["sizes"] else None,
        "map": drawn(map_chart, shown["map"]) if shown["map"] else None,
        "values": [drawn(values_chart, one) if one["numeric"] else None for one in shown["values"]],
    }
    return _shared(facts) | {
        "facts": facts,
        "shown": shown,
        "sizes": facts["sizes"],
        "charts": charts,
        "quasi": [one["name"] for one in release["columns"] if one["role"] == "quasi"],
        "notes": list(sentences.notes(release)),
        "may_publish": may_publish(facts),
        "means": what_it_means(facts),
        "gone_sentence": " ".join(sentences.gone_sentences(release)),
        "told": column_words.told(facts),
        "counted": counted(facts),
        "regression": regression_sentence(release),
    }


def _shared(facts: dict[str, Any]) -> dict[str, Any]:
    """Return what report and certificate say alike."""
    release, seen = facts["release"], facts["exposure"]
    asked = sentences.asked_for(release)
    whom = f" about {people(release['people'])}" if release.get("people") else ""
    return {
        "release": release,
        "seen": seen,
        "title": release.get("title") or f"Release of {plural(release['rows'], 'row')}{whom}",
        "asked": asked,
        "context": [(name, release.get("context", {}).get(key)) for key, name in CONTEXT.items()],
        "judged": judged(release),
        "measured_in": _measured_in(release),
        "important": sentences.important(release),
        "left_out": sentences.left_out(release),
        "left_out_of": sentences.left_out,
        "of_gaps": sentences.of_gaps(release),
        "columns": column_words.columns(facts),
        "limits": sentences.limits(release),
        # A requirement about rows alone that came to the same has said it.
        "told_found": seen
        and seen["largest_risk"] in [r["risk"] for r in asked if r["chance"] and not r["columns"]],
        "reproduce": reproduction(release, {one["name"]: one["source"] for one in asked}),
    }


def judged(release: dict[str, Any], complaints: Sequence[str] = ()) -> dict[str, Any]:
    """Return the verdict as pages show it; files with something wrong do not hold."""
    facts = release | ({"verdict": verdict.BROKEN} if complaints else {})
    return {
        "word": facts["verdict"],
        "says": verdict.says(facts),
        "because": verdict.because(facts),
        "ways": [
            (one.name, as_typed(option(*one.option)), one.when)
            for one in verdict.settlements(facts)
        ],
        "stated": verdict.statement(facts),
        "otherwise": verdict.otherwise(facts),
        "public": verdict.public(facts),
        "shown": [
            one | {key: verdict.spelled(one[key]) for key in ("unique", "certain", "likely")}
            for one in verdict.shown(facts)
        ],
    }


def _measured_in(release: dict[str, Any]) -> str:
    """Say what a verdict is about, and where it was measured."""
    about = "Holds: every limit that the owner chose is met. It does not say that they are strict. "
    about = about if release["verdict"] == verdict.HOLDS else ""
    if release["groups"] is None:
        return f"{about}Measured against the original table, for everyone in it."
    return (
        f"{about}Measured in all {plural(release['groups'], 'group')} of the published file. This "
        "assumes a reader who knows which group a person is in, considers "
        f"{sentences.candidates_of(release)} equally likely, and knows nothing else about the "
        "sensitive values."
    )


def may_publish(facts: dict[str, Any]) -> str:
    """Answer whether the release may go out, and to whom."""
    release, seen = facts["release"], facts["exposure"]
    if release["verdict"] == verdict.BROKEN:
        return "No. A requirement does not hold."
    if release.get("reproducible"):
        return "No. It was made with a fixed seed, for testing."
    if release["verdict"] == verdict.OPEN:
        return "Not before the open questions above are answered."
    if seen is None:
        return f"Yes, subject to the limitations below. {DECIDES}"
    limit, stands = chance(seen["threshold"]), verdict.public(release)
    whom = people if release.get("people") else lambda number: plural(number, "row")
    if stands is not None and stands.meets:
        marked = "what is marked Important and to " if sentences.important(release) else ""
        return (
            f"At the threshold for public release ({limit}), yes, subject to {marked}the "
            f"limitations below. {DECIDES}"
        )
    if release["form"] == TWO_TABLES:
        return (
            "Only if it is not secret who is in the table: the columns that may be known are "
            f"published exactly. There, yes, subject to the limitations below. {DECIDES}"
        )
    if release["threshold"] > verdict.USUAL and seen["largest_kept"]:
        return (
            f"To readers under an agreement, yes by the owner’s threshold of {limit}, subject to "
            f"the limitations below. For the public, {chance(verdict.USUAL)} is usual. {DECIDES}"
        )
    found = release["found"]
    if found is not None and found["quasi"] >= 1:
        return (
            "Not to readers who may know a person: at worst, they find that person's row with "
            "certainty."
        )
    if seen["smallest"] < KNOWN:
        return (
            f"Not yet. Even for readers under an agreement, at least {whom(KNOWN)} with the same "
            f"description are usual, by convention; here it is {whom(seen['smallest'])}."
        )
    return (
        "To readers under an agreement, yes, subject to the limitations below: by convention, at "
        f"least {whom(KNOWN)} with the same description are usual there. For the public, no: the "
        f"threshold of {limit} asks for at least {whom(seen['least_size'])}; here it is "
        f"{whom(seen['smallest'])}. {DECIDES}"
    )


def what_it_means(facts: dict[str, Any]) -> str:
    """Say what a reader sees of one person, by the example that follows."""
    release, example = facts["release"], facts["shown"]["example"]
    said = "The guarantee applies equally to everyone in the table."
    if example is None or example["group"] is None:
        return said
    rest = ""
    if not any(r["columns"] for r in sentences.asked_for(release)):
        rest = " No requirement limits what these rows have in common."
    rows = plural(example["group"], "row")
    if release.get("people"):
        return (
            f"{said} For example, a reader who looks for a person of this group finds {rows} of "
            f"several people.{rest}"
        )
    return f"{said} For example, a reader who looks for a person of this group finds {rows}.{rest}"


def counted(facts: dict[str, Any]) -> str:
    """Say how counts are answered."""
    if not facts["shown"]["questions"]:
        return "Counts have a certain range and an estimate: `shoal count` answers them."
    return "Counts have a certain range and an estimate. Both follow from the published cells."


def regression_sentence(release: dict[str, Any]) -> str:
    """Say what an analyst may conclude about how columns go together."""
    # The owner's report adds facts of its own.
    stated = {name: release[name] for name in Manifest.__struct_fields__ if name in release}
    status, reason = conclusion_of(msgspec.convert(stated, Manifest))
    return f"Regression: {WORDS[status]}. {reason}"


def render_certificate(facts: dict[str, Any], audit: Audit) -> str:
    """Return the certificate of a release as HTML: two pages to sign, by its audit."""
    complaints = audit.complaints()
    release = facts["release"]
    digests = list(release["digests"].items())
    files = digests if len(digests) <= DIGESTS else [one for one in digests if "/" not in one[0]]
    parts = len(digests) - len(files)
    if parts:
        files.append(("part files", f"{plural(parts, 'file')}; manifest.json has their digests"))
    said = _shared(facts) | {"files": files, "complaints": complaints}
    said["judged"] = judged(release, complaints)
    if audit.report is not None and not audit.report.compared:
        said["important"] = [*said["important"], audit.report.because]
    said["stated"] = audit.stated
    drawn_by_chance = {"group": "groups", "node": "nodes", "person": "people"}
    said["numbered"] = [name for name, key in drawn_by_chance.items() if release.get(key)]
    return render("certificate.html", **said)


def render_owner(
    facts: dict[str, Any], own: dict[str, Any], trials: dict[str, Any] | None = None
) -> str:
    """Return the owner's report as HTML; `own` is what `shoal.runs.owner` has gathered."""
    from shoal.views.charts.strips import strip_chart
    from shoal.views.person import person_values
    from shoal.views.tables import level_name, level_value

    strips = [
        one | {"chart": drawn(strip_chart, one["column"], one["strips"], dates=one["dates"])}
        if one["numeric"]
        else one
        for one in own["strips"]
    ]
    said = report_values(facts)
    known, errors = own["fidelity"], own["queries"].get("errors", ())
    groups = sorted(known.get("subgroups", ()), key=lambda one: -_unevenness(one))
    asked = own["requirements"]
    said["charts"] |= {
        "frontiers": [
            drawn(frontier_chart, r["frontier"]) if "frontier" in r else None for r in asked
        ],
        "reaches": [drawn(reach_chart, r["reach"]) if "reach" in r else None for r in asked],
        "columns": [
            drawn(column_chart, one) if one["numeric"] else None for one in known.get("columns", ())
        ],
    }
    losses = [band["loss"] for group in groups for band in group["bands"]]
    return render(
        "owner.html",
        **said,
        own=own | {"strips": strips},
        person=person_values(own["exposed"][0]),
        before=[one["risk_before"] for one in asked],
        learn_sentence=learn_sentence(facts["release"], own),
        bearing=groups,
        bearing_sentence=bearing_sentence(groups[0], facts["release"]["form"]) if groups else "",
        scale=scale_of(losses),
        query_scale=scale_of([one["median"] for one in errors]),
        tried=None if trials is None else trial_values(trials),
        name=level_name,
        value=level_value,
        option=flag,
    )


def scale_of(values: list[float]) -> float:
    """Return how far the bars of a page reach, all of them alike."""
    most = max(values, default=0.0)
    return next((one for one in SCALES if most <= one), 1.0)


def _unevenness(group: dict[str, Any]) -> float:
    losses = [band["loss"] for band in group["bands"]]
    return max(losses) - min(losses)


def bearing_sentence(group: dict[str, Any], form: str = "") -> str:
    """Say which people lost most, and which least; of two tables, whose groups are wide."""
    bands = sorted(group["bands"], key=lambda band: band["loss"])
    least, most = bands[0], bands[-1]
    what = "Whose groups are wide" if form == TWO_TABLES else "Who bears the loss"
    if most["loss"] == least["loss"]:
        return f"{what}: everyone alike, by {group['column']}"
    return (
        f"{what}: {group['column']} {most['name']} most ({percent(most['loss'])}), "
        f"{least['name']} least ({percent(least['loss'])})"
    )


def learn_sentence(release: dict[str, Any], own: dict[str, Any]) -> str:
    """Say what analyses come out as before, and from how many rows on counts do."""
    known, queries = own["fidelity"], own["queries"]
    said = []
    if "columns" in known:
        moved = [one for one in known["columns"] if one["role"] == "quasi"]
        worst = max(moved, key=lambda one: one["apart"], default=None)
        if release["form"] == TWO_TABLES:
            said.append(
                "Each column by itself is unchanged, and so are the columns that others may know, "
                "taken together."
            )
        elif worst is not None:
            so = (
                "stay nearly as they were"
                if worst["apart"] <= LARGE
                else "are only roughly what they were"
            )
            said.append(
                f"The shares and means of single columns {so}: at most {percent(worst['apart'])} "
                f"of the rows move to another band ({worst['column']})."
            )
        said += _regression_sentence(known["regression"])
    good = [one for one in queries.get("errors", ()) if one["median"] <= LARGE]
    if good:
        rows = figure(float(f"{min(one['rows'] for one in good) * release['rows']:.3g}"))
        said.append(
            f"Counts of about {rows} rows and more are mostly right to within {percent(LARGE)}; "
            "smaller ones are not."
        )
    elif queries.get("errors"):
        said.append(f"Counts over several columns are mostly off by more than {percent(LARGE)}.")
    return " ".join(said) or "The table is too small to compare anything."


def _regression_sentence(found: dict[str, Any]) -> list[str]:
    terms = found.get("terms")
    if not terms:
        return []
    same = sum(abs(one["after"] - one["before"]) <= 2 * one["error_before"] for one in terms)
    said = f"{same} of {len(terms)} coefficients move by at most two standard errors."
    return [f"In a regression, {said}"]


def trial_values(trials: dict[str, Any]) -> dict[str, Any]:
    """Return what the template needs of trials on a sample, with their pictures."""
    values = dict(trials)
    if values.get("frontier"):
        values["frontier"] = frontier_values(values["frontier"])
    if values.get("comparison"):
        values["comparison"] = comparison_values(values["comparison"])
    return values


SHOWN = 12  # points of a plan's frontier


def part(result: Any) -> str:
    """Return a result as a piece of HTML for a notebook."""
    return PARTS[type(result).__name__](result)


def _release_part(release: ReleaseData) -> str:
    facts = release.facts
    because = verdict.because(facts)
    return render("part_release.html", facts=facts, said=verdict.says(facts), because=because)


def _audit_part(audit: Audit) -> str:
    facts = audit.to_dict()
    named = "verdict" in facts
    said = f"Verdict: {verdict.says(facts)}." if named else verdict.of_table(facts)
    reasons = [*verdict.because(facts), *audit.complaints()]
    loss = None if audit.exposed is None else audit.exposed.loss
    return render("part_audit.html", facts=facts, said=said, complaints=reasons, loss=loss)


def _plan_part(plan: Any) -> str:
    facts = plan.to_dict()
    points = facts["frontier"] or ()
    return render(
        "part_plan.html",
        facts=facts,
        points=points[:SHOWN],
        more=len(points) - SHOWN,
        why=why_necessary(facts.get("people"), facts.get("missing")),
    )


PARTS: dict[str, Callable[[Any], str]] = {
    "Release": _release_part,
    "Audit": _audit_part,
    "Plan": _plan_part,
}
