"""What reports and certificates say in words of the facts that they show."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.exact import at_most, percent, unit_of
from shoal.principles.groups import NOTHING
from shoal.principles.requirement import read_requirement, requirements
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import PSEUDONYM
from shoal.table.trimming import read_trim
from shoal.views import verdict
from shoal.views.words import SPACE, chance, count, people, percent_up, plural, several

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.principles.requirement import Requirement

Said = tuple[str, str]  # what it is about, and a sentence
SEEDED = (
    "This release was made with a fixed seed, for testing. The order of its rows can be worked out "
    "again. Do not publish it."
)
APART = (
    "The columns that may be known are published exactly, in a table of their own, so readers can "
    "tell who is in the table. The requirements protect the other values alone."
)
OTHER_RELEASES = (
    "Combining this table with another release about the same people{aside} can reveal more than "
    "either one."
)
TRUE_OF_ALL: Said = (
    "What is true of everyone.",
    "A reader can learn what is common to a group, also about people who are not in the table.",
)
ISOLATING = (
    "The size of a group limits the chance of finding a given person by the columns that others "
    "may know. It does not rule out a statement that is true of exactly one row."
)
WITHOUT_GROUPS = (
    "The number of rows that match a person limits the chance of finding a given person by the "
    "columns that others may know. It does not rule out a statement that is true of exactly one "
    "row."
)
TIGHT_ENDS = (
    " The ends of a cell are values of people in the group, so “in this group, at this end "
    "of the cell” often describes exactly one person (Cohen and Nissim, PNAS 2020)."
)
CUT_ENDS = (
    " The cells of this release are regions between cuts, so their ends need not be values of "
    "people. A reader who knows how Shoal draws regions may still learn that a row lies near an "
    "end. The outermost ends are the bounds of a column. Where the owner stated none, they are the "
    "smallest and the largest published value, which are values of people."
)
CONDITION = (
    "The numbers assume a reader who knows which group a person is in, from the columns that may "
    "be known, and who considers {every} equally likely. They are about single groups: where "
    "several groups fit a person, some guesses may be right more often."
)
BROKEN = " The release does not keep this."
ODDS = 3  # how many times as likely a row may be of which report and certificate speak
BLOCKS: Said = (
    "Blocks.",
    "The method formed groups within blocks of the table. What it promises against readers who "
    "know the method holds for each person alone. A reader who knows the values of some people can "
    "learn more about others of their block, in some releases with certainty.",
)
NESTED: Said = (
    "The finer release.",
    "This release was made from a finer one, by joining its groups. A reader who has both learns "
    "what the finer one shows.",
)
SERIES: tuple[Said, ...] = (
    (
        "The series.",
        "A group is published unchanged or not at all, so all releases together show no more about "
        "protected values than the first one of each group. This assumes that whether a person "
        "stays or leaves does not depend on the protected value, among people whose known columns "
        "are equal. Illness and death break this assumption.",
    ),
    (
        "Placeholders.",
        "Rows of people who left remain as placeholders. The column `real` says how many people of "
        "a group are still there.",
    ),
)
FIRST: Said = (
    "Values that have changed.",
    "Every cell says what was true when its person was first published in the series. If that has "
    "changed since, the release still shows what was published first.",
)
THROUGH_PERSON: Said = (
    "Several rows of one person.",
    "Where a person has several rows, a reader who knows one of the values may find the others "
    "through the column “person”.",
)


def _required(release: Mapping[str, Any]) -> list[Requirement]:
    """Return what a manifest says was required."""
    own = [one["name"] for one in release["columns"] if one["role"] == "sensitive"]
    linked = [
        [f"{name}.{one['name']}" for one in table["columns"] if one["role"] == "sensitive"]
        for name, table in release.get("tables", {}).items()
    ]
    return requirements(release["require"], own, *filter(None, linked), files=False)


def asked_for(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every requirement with what was measured of it, and what it promises in words."""
    asked = _required(release)
    measured = {one["principle"]: one for one in release["measured"]}
    return [
        {
            "notation": repr(one),
            "name": type(one.principle).__name__,
            "source": one.principle.source,
            "columns": list(one.columns),
            "chance": one.principle.chance,
            "population": one.principle.population,
            "guess": one.guess,
            "by_distance": one.principle.pairs is not None and one.principle.pairs.by_distance,
            "promise": promised(one, release),
            "kept": promised(one, release) + ("" if measured[repr(one)]["holds"] else BROKEN),
            "by_matches": release["groups"] is None,
            **measured[repr(one)],
        }
        for one in asked
        if repr(one) in measured
    ]


def promised(one: Requirement, release: Mapping[str, Any]) -> str:
    """Say what a requirement promises of a release, widths of dates in days."""
    bounds = {known["principle"]: known["bound"] for known in release.get("measured", ())}
    asked, least = one.principle, one.principle.least
    if asked.chance and least == len(asked.graded) == 1 and bounds.get(repr(one)) == 1:
        return NOTHING.format(one)
    if release["groups"] is None:
        return one.principle.promise_matches(" and ".join(one.columns))
    types = types_of(release)
    said = one.promise(unit_of([types.get(name) for name in one.columns]))
    if one.columns or asked.population or not later_round(release):
        return said
    said += " Placeholders for people who left count among these others."
    real = (release.get("found") or {"quasi": 0})["quasi"]
    if real <= bounds.get(repr(one), 1):
        return said
    chance = verdict.chance(real)
    return f"{said} Among only those who are still there, the chance is up to {chance}."


def risk_and_bound(measured: Mapping[str, Any]) -> tuple[str, str]:
    """Return what was measured of a requirement, and what it allows, as chances where they are."""
    risk, bound = measured["risk"], measured["bound"]
    if not read_requirement(measured["principle"], (), files=False).principle.chance:
        return at_most(risk), at_most(bound)
    found = percent_up(risk) if risk <= 1 else "over 100%"
    return found, "100%" if bound >= 1 else chance(bound).replace(SPACE, " ")


def types_of(release: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what every published column holds, those of linked tables by their whole names."""
    types = {column["name"]: column.get("type") for column in release["columns"]}
    for name, table in release.get("tables", {}).items():
        types |= {f"{name}.{known['name']}": known.get("type") for known in table["columns"]}
    return types


def important(release: Mapping[str, Any]) -> list[str]:
    """Return what a reader has to know of a release before anything else."""
    said = []
    if release.get("rows_known") is False:
        said.append(
            "The requirements hold only against readers who do not know how many rows a person "
            f"has. {people(release['alone'])} of {count(release['people'])} "
            f"{'is the only one' if release['alone'] == 1 else 'are the only ones'} in their group "
            "with their number of rows."
        )
    said += verdict.unprotected({**release})
    if release["form"] == TWO_TABLES:
        said.append(APART)
    if dropped := release.get("dropped"):
        share = percent(Fraction(dropped, release["rows_in"]))
        said.append(
            f"{count(dropped)} of {plural(release['rows_in'], 'row')} ({share}) "
            f"{'was' if dropped == 1 else 'were'} excluded because of missing values. The "
            "published table describes the others."
        )
    trims = [
        f"{one['name']} ({words})" for one in release["columns"] if (words := trimmed_words(one))
    ]
    if trims:
        said.append(
            f"Numbers were rounded or cut off before publication: {', '.join(trims)}. The "
            "requirements hold for the published values."
        )
    return [*said, SEEDED] if release.get("reproducible") else said


def of_gaps(release: Mapping[str, Any]) -> str:
    """Say how missing values are judged, where rows that have some of them are kept."""
    asked = release.get("asked") or {}
    kept = {asked.get("missing"), *asked.get("missing_cells", {}).values()}
    if "value" not in kept:
        return ""
    return (
        "A missing value counts as whichever value is worst for its group. So a measured chance "
        "can be higher than a count of the values that are listed."
    )


def left_out(release: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return how many rows were left out for which reason."""
    reasons = (
        (release.get("dropped"), "excluded because of missing values"),
        (
            release.get("suppressed"),
            "suppressed, so that the requirements hold or the other rows lose less",
        ),
        (release.get("capped"), "rows of people who have more than is published of one person"),
        (release.get("held_out"), "kept back at random as a control group, to measure attacks"),
    )
    return [(number, why) for number, why in reasons if number]


def at_odds(release: Mapping[str, Any]) -> str:
    """Say what holds for readers to whom some rows of a group seem more likely than others."""
    asked = (one.principle for one in _required(release))
    bounds = [one.pairs.at_odds(Fraction(ODDS)) for one in asked if one.pairs is not None]
    if not bounds or max(bounds) >= 1:
        return ""
    return (
        f" Even if some rows seem {ODDS} times as likely to the reader as others, a guess of a "
        f"listed value has a chance of at most {percent_up(max(bounds))}."
    )


def candidates_of(release: Mapping[str, Any], group: str = "the group") -> str:
    """Say what a reader considers equally likely, who knows the group of a person."""
    if not release.get("people") or "previous" in release:
        return f"every row of {group}"
    if release.get("rows_known") is False:
        return f"everyone in {group}"
    return f"everyone in {group} with as many rows as the person"


def isolating(release: Mapping[str, Any]) -> Said:
    """Say what the size of groups does not limit, and what the ends of cells add to that."""
    if release["groups"] is None:
        return ("Isolating some person.", WITHOUT_GROUPS)
    ends = CUT_ENDS if "cells" in release else "" if release["form"] == TWO_TABLES else TIGHT_ENDS
    return ("Isolating some person.", ISOLATING + ends)


ROWS: Said = ("Rows.", "Shoal counted rows. They stand for people only if everyone has one row.")


def limits(release: Mapping[str, Any]) -> list[Said]:
    """Return what the requirements do not cover."""
    protected = [one["name"] for one in release["columns"] if one["role"] == "sensitive"]
    known = "The numbers are about readers who know the columns marked “may be known”."
    if protected:
        alone = ", even one of them alone," if len(protected) > 1 else ""
        known += (
            f" A reader who knows a person’s exact {several(protected)}{alone} can find the row if "
            "no other row has the same."
        )
    said: list[Said] = [("Readers who know more.", known), isolating(release)]
    if not release.get("people"):
        said.insert(0, ROWS)
    if release["groups"] is None:
        said += [("The assumption.", one) for one in release.get("adversary", ())]
    else:
        every = CONDITION.format(every=candidates_of(release, "that group"))
        said.append(("The assumption.", f"{every}{at_odds(release)}"))
    if release["method"].startswith("Oblivious(block="):
        said.append(BLOCKS)
    if "coarsened_from" in release:
        said.append(NESTED)
    said += SERIES if "previous" in release else ()
    said += [FIRST] if later_round(release) else []
    several_rows = release.get("tables") or release["rows"] > (release.get("people") or math.inf)
    said += [THROUGH_PERSON] if several_rows and "previous" not in release else []
    hidden = [one["name"] for one in release["columns"] if one["role"] == PSEUDONYM]
    if hidden:
        from shoal.table.pseudonyms import warning

        said.append(("Keyed hashes.", warning(hidden)))
    aside = " (other than the finer one)" if "coarsened_from" in release else ""
    aside = " outside this series" if "previous" in release else aside
    return [*said, ("Other releases.", OTHER_RELEASES.format(aside=aside)), TRUE_OF_ALL]


def later_round(release: Mapping[str, Any]) -> bool:
    """Whether groups of earlier releases stand in it, with what was published of them first."""
    return release.get("previous") is not None


def gone_sentences(release: Mapping[str, Any]) -> list[str]:
    """Say how many rows were left out, of the table and of each that is linked with it."""
    if "rows_in" not in release:
        return ["The owner does not say how many rows were left out."]
    tables = release.get("tables", {})
    first = _gone(release, " of the main table" if tables else "")
    return [first, *(_gone(table, f" of {name}") for name, table in tables.items())]


def _gone(said: Mapping[str, Any], where: str) -> str:
    rows_in, gone = said["rows_in"], sum(number for number, _ in left_out(said))
    if not gone:
        return f"No row{where} was left out."
    share = percent(Fraction(gone, rows_in))
    return f"{count(gone)} of {plural(rows_in, 'row')}{where} ({share}) were left out."


def notes(release: Mapping[str, Any]) -> Iterator[str]:
    """Say what kind of release it is, where it is no ordinary one."""
    if "previous" in release:
        rest = release["rows"] - release["people"]
        yield (
            f"This release is one of a series. {count(release['people'])} of its rows are about "
            f"people who are in the table now. The other {count(rest)} "
            f"({percent(Fraction(rest, release['rows']))}) are placeholders for people who left."
        )
        if later_round(release):
            yield FIRST[1]
    if "coarsened_from" in release:
        yield "This release was made by joining the groups of a finer one, from its files alone."
    if parts := sum("/" in name for name in release["digests"]):
        yield (
            f"The table is a directory of {plural(parts, 'file')}. Shoal put every row into one of "
            "them at random."
        )


def trimmed_words(column: Mapping[str, Any]) -> str:
    """Return what was done to the numbers of a column, by what a report says of it."""
    limits = {key: column.get(key) for key in ("bottom", "top")}
    return read_trim(column["name"], step=column.get("round"), **limits).words
