"""What fills the private annex of a dossier: facts that take the original table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.guessing import how_near
from shoal.audit.sampled import KNOWN_ERROR, MODEL
from shoal.exact import percent
from shoal.principles.k_anonymity import REQUIRED
from shoal.views import person, sentences
from shoal.views.answers import Answer, said
from shoal.views.terminal import flag
from shoal.views.words import chance, people, plural, several, without_draw

if TYPE_CHECKING:
    Facts = dict[str, Any]


def over(found: Facts) -> str:
    """Say over whom the numbers of the annex are taken."""
    count = people if found["several"] else lambda number: plural(number, "row")
    some, published, whole = (found[key] for key in ("among", "published", "original"))
    if some == published == whole and not found["series"]:
        each = " Each has a published row." if found["several"] else " All are published."
        return f"All numbers are over all {count(whole)} of the original table.{each}"
    if some == whole:
        return (
            f"All numbers are over all {count(whole)} of the original table. The release publishes "
            f"{count(published)}, and its files do not say which ones these are."
        )
    if some == published:
        return (
            f"All numbers are over the {count(some)} that are published, of the {count(whole)} of "
            "the original table."
        )
    return (
        f"All numbers are over {count(some)} of the {count(whole)} of the original table: those "
        "that fit a published row with the same protected values. The release publishes "
        f"{count(published)}, and its files do not say which ones these are."
    )


def initial(_: Facts, own: Facts) -> Answer:
    """Say how likely people were found in the table as it was."""
    was = own["initial"]
    whom = people(was["people"]) if own["initial"]["several"] else plural(was["people"], "row")
    return said(
        f"{percent(was['unique'])} of {whom} are the only ones with their quasi-identifiers. "
        f"Largest risk: {chance(was['largest_risk'])}. Average risk: {chance(was['average_risk'])}."
    )


def removed(known: Facts, own: Facts) -> Answer:
    """List the direct identifiers that a schema file names."""
    rows = [(name, "removed") for name in own["removed"]]
    if own["marks"] is not None:
        technique = (
            "replaced by a number drawn at random" if known["release"].get("people") else "removed"
        )
        rows.insert(0, (own["marks"], f"{technique}; it marks one person's rows"))
    if not rows:
        return (
            f"The schema file names no identifying columns, or none was given ({flag('schema')})."
        )
    return said(head=["Column", "Technique"], rows=rows)


def population(known: Facts, own: Facts) -> Answer:
    """Say what is estimated of the population."""
    found = own["population"]
    if found is None:
        return (
            "Not computed: the size of the population is not known. Say it under [context], for "
            'example population_size = "83000". It is at least the number of people in the table.'
        )
    if found["unique_matches"] is None:
        first = (
            "No description is unique in the table, so the risk in the population is at most that "
            f"in the table: {chance(found['largest'])}."
        )
    else:
        first = (
            f"Before the release: if a person of the population of {found['population']:,} has "
            f"the quasi-identifiers of one of the {found['unique']:,} people who are unique in the "
            f"table, it is that person with a chance of {percent(found['unique_matches'])}."
        )
    seen = known["exposure"]
    after = "" if seen is None else (
        "After the release: at most the risk in the table, "
        f"{chance(seen['largest_risk'])}, because everyone in the table is in the population."
    )  # fmt: skip
    return said(
        first,
        after,
        f"Estimated by the model of {MODEL}, for a table drawn at random: "
        f"{percent(found['fraction'])} of the population. {KNOWN_ERROR}",
    )


def kmap(known: Facts, _: Facts) -> Answer:
    """Say what was counted in a population that was given."""
    found = [one for one in sentences.asked_for(known["release"]) if one["population"]]
    if not found:
        return (
            "Not computed: no requirement was measured against a population. Require "
            f"{REQUIRED} and name the table of the population: {flag('population')}."
        )
    return said(*(f"{one['promise']} Measured: {chance(one['risk'])}." for one in found))


def _of_attack(own: Facts, kind: str, lacking: str) -> Answer:
    found = own["attack"]
    if isinstance(found, str):
        return f"Not measured: {found}"
    return said(*_once(found[kind])) if found[kind] else lacking


def _once(attacks: list[Facts]) -> list[str]:
    """Return what attacks found, and on whom they were measured once, after them."""
    drawn = dict.fromkeys(one.get("drawn", "").strip() for one in attacks)
    return [*(without_draw(one) for one in attacks), *drawn]


def _beside(known: Facts) -> list[str]:
    """Return the sensitive columns of the tables that are published beside the release."""
    return [
        f"{table}.{one['name']}"
        for table, said in known["release"].get("tables", {}).items()
        for one in said["columns"]
        if one["role"] == "sensitive"
    ]


def _no_guesses(known: Facts) -> str:
    """Say why no values of sensitive columns were guessed."""
    names = _beside(known)
    if not names:
        return "Not measured: no sensitive column is published."
    return (
        f"Not measured for {several(names, most=9)}: this attack guesses values of the main table. "
        "What the requirements allow and what was measured of linked tables is in the public part."
    )


def linking(known: Facts, own: Facts) -> Answer:
    """Say how often guesses are right that link people by their quasi-identifiers."""
    found = own["attack"]
    if isinstance(found, str) or not found["linking"]:
        return _of_attack(own, "linking", _no_guesses(known))
    return said(*_once(found["linking"]), *found["remarks"])


def inference(_: Facts, own: Facts) -> Answer:
    """Say how often a known column is inferred from the others."""
    return _of_attack(own, "inference", "Not measured: everyone's cells are published.")


def guessing(known: Facts, own: Facts) -> Answer:
    """Say how often guesses are right where the group is known."""
    if own["initial"]["several"]:
        return (
            "Not measured: several rows may be about one person, and this attack guesses values of "
            "single rows. What the requirements allow and what was measured of people is in the "
            "public part."
        )
    beside = {one for asked in sentences.asked_for(known["release"]) if asked["guess"]
              for one in asked["columns"]} & {*_beside(known)}  # fmt: skip
    lacking = "Not measured: no requirement bounds guesses."
    return _of_attack(own, "guessing", _no_guesses(known) if beside else lacking)


def controls(_: Facts, own: Facts) -> Answer:
    """Say what attacks reach on people who are not in the release, or that these are needed."""
    found = own["attack"]
    if not isinstance(found, str) and found["controlled"]:
        return said(*(one["sentence"] for one in found["controlled"]))
    return (
        "Not measured: people of the same population who are not in the release were not given. "
        "The sentences above give the success of a guess without the release beside each attack."
    )


def intruder(known: Facts, own: Facts) -> Answer:
    """Say how many targets were drawn, and how many guesses were right."""
    found = own["attack"]
    if isinstance(found, str):
        return f"Not measured: {found}"
    if not found["linking"]:
        return _no_guesses(known)
    rows = [
        (
            f"{one['column']} {how_near(one['epsilon'])}",
            f"{one['people']:,} of {one['people_in_all']:,}",
            f"{round(one['hits'] * one['people']):,}",
            percent(one["hits"], 1),
            "exact" if one["error"] is None else f"± {100 * one['error']:.1f} points",
            percent(one["prior"], 1),
        )
        for one in found["linking"]
    ]
    head = ["Guess of", "Targets drawn", "Hits", "Share", "95% interval", "Without the release"]
    return said(head=head, rows=rows)


def most_exposed(_: Facts, own: Facts) -> Answer:
    """Say what a stranger learns about the most exposed person."""
    view = own["person"]
    among = "all of them" if own["among"] is None else f"{own['among']:,} of them drawn at random"
    return said(
        f"Row {view.row:,} of the original (the first row is row 0), the most exposed person of "
        f"{among}.",
        f"Today, in the original table: {person.fits(view.today_rows, view.today_people, view)}.",
        f"After the release: {person.fits_after(view)}.",
        *(text for one in view.columns for text in person.told(one, view)),
    )


PRIVATE_FACTS = {
    "initial": initial,
    "removed": removed,
    "population": population,
    "kmap": kmap,
    "linking": linking,
    "inference": inference,
    "guessing": guessing,
    "controls": controls,
    "intruder": intruder,
    "most_exposed": most_exposed,
}
