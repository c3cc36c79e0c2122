"""What fills the fields of a dossier: each fact of a release in sentences, with a table if needed.

A bare text in place of an answer says why there is none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from shoal.audit.safe_harbor import SMALL_ZIP3, SOURCE
from shoal.exact import percent
from shoal.views import column_words, sentences, verdict
from shoal.views.words import chance, people, plural, several

Answer = dict[str, Any] | str
NO_GROUPS = "This release has no groups, so it is not measured from the files alone."

NOT_AGAIN = (
    "These are the measurements that the manifest states. To measure them again takes the original "
    "table, or the population: shoal audit."
)


def said(*texts: str, head: list[str] | None = None, rows: Any = ()) -> Answer:
    """Return an answer, with a table where it has a head."""
    found: dict[str, Any] = {"said": [text for text in texts if text]}
    if head is not None:
        found["table"] = {"head": head, "rows": [[str(cell) for cell in row] for row in rows]}
    return found


def the_release(known: dict[str, Any]) -> Answer:
    """Say what the release is."""
    made = known["release"]
    whom = f" about {people(made['people'])}" if made.get("people") else ""
    grouped = "" if made["groups"] is None else f" in {plural(made['groups'], 'group')}"
    return said(
        f"{plural(made['rows'], 'row')}{whom}{grouped}, form {made['form']}, made on "
        f"{made['date']} by Shoal {made['shoal']}. Number of the release: {made['id']}.",
        *sentences.gone_sentences(made),
        f"Verdict: {verdict.says(made)}.",
        *verdict.because(made),
    )


def identifiers(known: dict[str, Any]) -> Answer:
    """List the published columns with what was done to each."""
    rows = [
        (
            one["name"],
            {"may be known": "indirect", "names a person": "direct"}.get(one["role"], one["role"]),
            one["done"] + (f": {one['cell']}" if one["cell"] else ""),
            "" if one["lost"] is None else percent(one["lost"]),
        )
        for one in column_words.columns(known)
    ]
    return said(head=["Column", "Identifier", "Technique", "Lost"], rows=rows)


def threshold(known: dict[str, Any]) -> Answer:
    """Say which threshold the risk is compared with."""
    limit = Fraction(known["exposure"]["threshold"]) if known["exposure"] else None
    limit = Fraction(str(known["release"]["threshold"])) if limit is None else limit
    usual = limit == Fraction(1, 11)
    more = " The policies write it as 0.09." if usual else ""
    return said(f"{chance(limit)}.{more}")


def residual(known: dict[str, Any]) -> Answer:
    """Say how likely a person is found by the quasi-identifiers."""
    seen, made = known["exposure"], known["release"]
    if seen is None:
        return NO_GROUPS
    within = "at most" if seen["largest_kept"] else "above"
    limit = chance(Fraction(seen["threshold"]))
    stands = verdict.public(made)
    whom = people if made.get("people") else lambda number: plural(number, "row")
    return said(
        f"Largest risk: {chance(seen['largest_risk'])}, {within} the threshold of {limit}. The "
        f"rarest description is that of {whom(seen['smallest'])}.",
        f"Average risk: {chance(seen['average_risk'])}.",
        f"{percent(seen['unique'])} are the only ones with their description, and "
        f"{percent(seen['above'])} have a risk above the threshold.",
        "" if stands is None else stands.sentence,
    )


def exposed(known: dict[str, Any]) -> Answer:
    """Say what columns published unchanged add to the risk of being found."""
    made = known["release"]
    lines = verdict.shown(made)
    if not lines:
        return said("No column is published unchanged without a requirement.")
    found, names = made["found"], verdict.open_columns(made)
    more = ""
    if found is not None and names:
        with_them, limit = found["with_exposed"], max(made["threshold"], found["quasi"])
        more = (
            f"For a reader who also knows {several(names)}, the largest risk of being found is "
            f"{chance(with_them['largest'])}. By the quasi-identifiers alone it is "
            f"{chance(found['quasi'])}."
        )
        if limit < 1:
            more += (
                f" This reader finds {verdict.share(with_them['above'])} of the people with a "
                f"chance above {chance(limit)}."
            )
    rows = [
        (one["column"], *(verdict.spelled(one[key]) for key in ("unique", "certain", "likely")))
        for one in lines
    ]
    head = ["Column", "Unique in their group", "Value certain", "Value likely"]
    stated = (verdict.statement(made) or "", verdict.otherwise(made) or "")
    return said(more, *stated, head=head, rows=rows)


def measured(known: dict[str, Any]) -> Answer:
    """Say what was required, and what was measured of it."""
    rows = [
        (
            one["promise"],
            f"{chance(one['risk'])}" if one["chance"] else f"{one['risk']:.4g}",
            f"{chance(one['bound'])}" if one["chance"] else f"{one['bound']:.4g}",
            "holds" if one["holds"] else "does not hold",
        )
        for one in sentences.asked_for(known["release"])
    ]
    from_manifest = "" if known["again"] else NOT_AGAIN
    return said(from_manifest, head=["Requirement", "Measured", "Allowed", ""], rows=rows)


def loss(known: dict[str, Any]) -> Answer:
    """Say how much detail was lost."""
    made = known["release"]
    rows = [(name, percent(share)) for name, share in made["loss"]["ncp"].items()]
    return said(
        f"{percent(made['loss']['gcp'])} of the detail of the quasi-identifiers is lost (GCP).",
        *sentences.gone_sentences(made),
        column_words.told(known),
        head=["Column", "Lost (NCP)"],
        rows=rows,
    )


def counts(known: dict[str, Any]) -> Answer:
    """Say what some count queries come to."""
    asked = known["shown"].get("questions", ())
    if not asked:
        return "No count was tried."
    rows = [
        (one["condition"], f"{one['least']:,}", f"{one['about']:,.0f}", f"{one['most']:,}")
        for one in asked
    ]
    return said(head=["Rows with", "At least", "Estimate", "At most"], rows=rows)


def files(known: dict[str, Any]) -> Answer:
    """List the files with their digests."""
    rows = list(known["release"]["digests"].items())
    return said(head=["File", "Digest"], rows=rows)


def method(known: dict[str, Any]) -> Answer:
    """Say how the release was made."""
    made = known["release"]
    return said(
        f"Method {made['method']}, requirements {several(made['require'], most=9)}, form "
        f"{made['form']}.",
        "Every requirement was measured again on the published files."
        if known["again"]
        else NOT_AGAIN,
    )


def limits(known: dict[str, Any]) -> Answer:
    """Say what the measurements do not cover."""
    return said(*(f"{name} {text}" for name, text in sentences.limits(known["release"])))


def links(known: dict[str, Any]) -> Answer:
    """Say what rows can be linked with."""
    made = known["release"]
    texts = []
    if made.get("people"):
        texts.append("Rows of one person carry one number and can be linked with one another.")
    if "previous" in made:
        texts.append("The release is one of a series: groups keep their numbers.")
    if "coarsened_from" in made:
        texts.append("The release was made from a finer one. Both together show what that shows.")
    hidden = [one["name"] for one in made["columns"] if one["role"] == "pseudonym"]
    if hidden:
        texts.append(
            f"Keyed hashes link rows with other tables that carry them: {several(hidden)}."
        )
    if made["form"] == "two-tables":
        texts.append("Quasi-identifiers are published exactly, so every person can be linked to "
                     "a group with a list of names.")  # fmt: skip
    else:
        quasi = [one["name"] for one in made["columns"] if one["role"] == "quasi"]
        texts.append(f"Rows can be linked by {several(quasi)} with tables that have these columns.")
        if known["exposure"]:
            right = chance(known["exposure"]["average_risk"])
            texts.append(
                f"On average, a link with a list of names is right with a chance of {right}."
            )
    if not (hidden or made.get("people")):
        texts.insert(0, "No pseudonym or person number is published.")
    return said(*texts)


def inferred(known: dict[str, Any]) -> Answer:
    """Say what a reader can tell of columns published unchanged."""
    lines = verdict.shown(known["release"])
    if not lines:
        return said("No column is published unchanged without a requirement.")
    return said(*(verdict.told(one) for one in lines))


def safe_harbor(known: dict[str, Any]) -> Answer:
    """List the 18 kinds with what the rule found."""
    rows = [
        (
            f"({one['letter']}) {one['kind']}",
            "found by rule" if one["found"] else "not found by rule",
            " ".join(f"{name}: {text}" for name, text in one["found"]),
        )
        for one in known["harbor"]
    ]
    count = len([one for one in known["harbor"] if one["found"]])
    return said(
        f"The rule found {plural(count, 'kind')} of 18 in the published columns. It reads names "
        "of columns and published cells; a person has to look at the others too.",
        SOURCE,
        f"The prefixes: {', '.join(SMALL_ZIP3)}.",
        head=["Kind", "Finding", "Columns"],
        rows=rows,
    )


def distinguishability(known: dict[str, Any]) -> Answer:
    """Say how far each column tells rows apart."""
    cells = {one["column"]: one for one in known["shown"]["cells"]}
    rows = []
    for one in column_words.columns(known):
        name = one["name"]
        if name in known["distinct"]:
            exact = percent(cells[name]["exact"]) if name in cells else one["done"]
            exact = "100%" if one["done"] in column_words.WHOLE else exact
            rows.append((name, f"{known['distinct'][name]:,}", exact))
    return said(head=["Column", "Different published cells", "Exact cells"], rows=rows)


def thresholds(known: dict[str, Any]) -> Answer:
    """Say how many groups are under thresholds, and in how many few people dominate."""
    sizes = known["group_sizes"]
    if sizes is None:
        return NO_GROUPS
    of = plural(sizes["groups"], "group")
    rows = [(f"At least {least} people", f"{under:,} of {of}") for least, under in sizes["under"]]
    lacking = 0
    for one in known["dominance"]:
        if one is None:
            lacking += 1
            continue
        rows += [
            (
                f"{one['column']}: the "
                f"{'largest value makes' if n == 1 else f'{n} largest values make'} "
                f"up less than {k}% of the total",
                f"{over:,} of {of}",
            )
            for n, k, over in one["shares"]
        ]
        p, over = one["percent"]
        rows.append(
            (f"{one['column']}: no one knows the largest value to within {p}%", f"{over:,} of {of}")
        )
    more = "Columns without numbers, or with negative ones, are left aside." if lacking else ""
    if known["release"].get("previous") and known["dominance"]:
        more += " The values of people who left still count: no file says which rows are theirs."
    return said(
        f"The smallest group has {people(sizes['smallest'])}.",
        more.strip(),
        head=["Rule, measured per group", "Groups in breach"],
        rows=rows,
    )


def intruder_had(known: dict[str, Any]) -> Answer:
    """Say what the computed attack has."""
    quasi = [one["name"] for one in known["release"]["columns"] if one["role"] == "quasi"]
    return said(
        f"The computed attack uses everyone's {several(quasi, most=9)} and the published files. It "
        "uses no names, no other table and no help from acquaintances."
    )


STANDARD = {"isolation", "limits"}  # what is said of every release of a kind: nothing is measured
PUBLIC_FACTS = {
    "release": the_release,
    "identifiers": identifiers,
    "threshold": threshold,
    "residual": residual,
    "exposed": exposed,
    "measured": measured,
    "loss": loss,
    "counts": counts,
    "files": files,
    "method": method,
    "limits": limits,
    "isolation": lambda known: said(
        "Yes, this can happen. How often was not measured in the published files.",
        sentences.isolating(known["release"])[1],
        dict(sentences.limits(known["release"]))["Readers who know more."],
    ),
    "links": links,
    "inferred": inferred,
    "safe_harbor": safe_harbor,
    "distinguishability": distinguishability,
    "thresholds": thresholds,
    "intruder_had": intruder_had,
}
