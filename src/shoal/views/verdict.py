"""The verdict in words, for terminal, report, certificate and page alike: one place says it.

Everything follows from what a manifest says: `verdict`, `exposed`, `found`, `inferred`, `learned`
and `threshold`. Options stand in sentences as data, for each view to spell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.ask.options import THRESHOLD
from shoal.errors import option
from shoal.exact import percent, upward, written
from shoal.inspection.lexicon import names_private
from shoal.views.words import people, plural, several

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    Told = Sequence[Mapping[str, float | str]]

SAYS = {
    "holds": "Holds",
    "holds-with-open-questions": "Holds, with open questions",
    "does-not-hold": "Does not hold",
}
HOLDS, OPEN, BROKEN = SAYS
USUAL = upward(Fraction(THRESHOLD))
TOLERATED = 0.05  # of people, whom readers of exposed columns may find


@dataclass(frozen=True)
class Settlement:
    """One way to settle an open question: what it is called, when it fits, and what to type."""

    name: str
    when: str
    option: tuple[str, str | None]

    @property
    def sentence(self) -> str:
        """The remedy with its option as data."""
        return f"{self.name} ({option(*self.option)}). {self.when}"


def open_columns(facts: dict[str, Any]) -> list[str]:
    """Return the exposed columns that somebody may know."""
    return [one["column"] for one in facts["exposed"] if one["said"] is None]


def stated_columns(facts: dict[str, Any]) -> list[str]:
    """Return the columns of which the owner states that no reader knows them, exposed or not."""
    exposed = [one["column"] for one in facts["exposed"] if one["said"] is not None]
    others = [one["name"] for one in facts.get("columns", ()) if one.get("said")]
    return [*dict.fromkeys([*exposed, *others])]


def says(facts: dict[str, Any]) -> str:
    """Return the verdict as people read it."""
    return SAYS[facts["verdict"]]


def of_table(facts: dict[str, Any]) -> str:
    """Say whether what is required holds of a table that no manifest describes.

    >>> of_table({"holds": False, "measured": [{"holds": True}, {"holds": False}]})
    'Not every requirement holds.'
    """
    if facts["holds"]:
        return "Every requirement holds."
    if all(one["holds"] for one in facts["measured"]):
        return "Every requirement holds, but the published files are not consistent."
    return "Not every requirement holds."


def because(facts: dict[str, Any]) -> list[str]:
    """Return the sentences that give the reasons of a verdict with open questions."""
    names = open_columns(facts) if facts.get("verdict") == OPEN else []
    if not names:
        return []
    listed = several(names)
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    said = [f"{listed} {are} published unchanged, and no requirement protects {them}."]
    found = facts["found"]
    if found is None:
        return [
            *said,
            f"This release has no groups, so what a reader who knows {listed} can find was not "
            "measured.",
        ]
    seen = found["with_exposed"]
    if seen["above"] > TOLERATED:
        limit = max(facts["threshold"], found["quasi"])
        worst = "with certainty" if seen["largest"] >= 1 else f"with {chance(seen['largest'])}"
        said.append(
            f"A reader who also knows {listed} finds {share(seen['above'])} of the people with a "
            f"chance above {chance(limit)}; at worst, {worst}."
        )
    said += [
        f"A reader who also knows {listed} learns more than {one['principle']} allows about "
        f"{share(one['share'])} of the people."
        for one in facts["learned"]
        if one["share"]
    ]
    return said


def settlements(facts: dict[str, Any], private: Collection[str] = ()) -> list[Settlement]:
    """Return what settles the open questions, in the order in which it is worth considering.

    Columns that are private, by their names or as `private` says, are not to be generalized: what
    nobody may learn would be published as cells that often say it.
    """
    names = open_columns(facts)
    if facts["verdict"] != OPEN or not names:
        return []
    joined, them = ",".join(names), "it" if len(names) == 1 else "them"
    # Columns of linked tables stay as they are.
    flat = [one for one in names if not ("." in one or one in private or names_private(one))]
    some = them if flat == names else several(flat)
    those = "it" if len(flat) == 1 else "them"
    coarser = f"Choose this if readers may know {those}.", ("quasi", ",".join(flat))
    return [
        *([Settlement(f"Generalize {some}", *coarser)] if flat else []),
        Settlement(
            f"Protect {them} with a requirement",
            f"Choose this if readers do not know {them} and must not learn {them}.",
            ("require", None),
        ),
        Settlement(
            f"Leave {them} out",
            f"Choose this if the purpose does not need {them}.",
            ("identifying", joined),
        ),
        Settlement(
            f"State that no reader knows {them} of a person",
            "The manifest and the certificate repeat your statement.",
            ("nobody_knows", joined),
        ),
    ]


def statement(facts: dict[str, Any]) -> str | None:
    """Return what the owner states about who knows what, where anything is stated."""
    names = stated_columns(facts)
    stated = [f"{several(names)} of a person"] if names else []
    if facts.get("rows_known") is False:
        stated.append("how many rows a person has")
    return f"The owner states that no reader knows {' or '.join(stated)}." if stated else None


def otherwise(facts: dict[str, Any]) -> str | None:
    """Return what follows if that is not so, for the column by which most are told apart."""
    known = [one for one in facts["exposed"] if one["said"] is not None and one["alone"]]
    if not known:
        return None
    worst = max(known, key=lambda one: one["alone"])
    whom = people(facts["people"]) if facts.get("people") else plural(facts["rows"], "row")
    return (
        f"A reader who does know {worst['column']} can tell {worst['alone']:,} of {whom} apart "
        "from all others of their group."
    )


@dataclass(frozen=True)
class Public:
    """How a release stands to the threshold of a public one."""

    meets: bool
    sentence: str


def public(facts: dict[str, Any]) -> Public | None:
    """Say how a release stands to the threshold; None where that is not known.

    It is met only where the verdict is that it holds, and never where the owner chose a threshold
    above the usual one: a threshold of 1 would be met by every table.
    """
    found = facts["found"]
    if found is None or facts["verdict"] == BROKEN:
        return None
    threshold, quasi = facts["threshold"], found["quasi"]
    limit = f"(threshold {chance(threshold, ', {}')})"
    if quasi > threshold:
        said = (
            "Does not meet the threshold for public release. A person in the table is found by the "
            f"quasi-identifiers with a chance of up to {share(quasi)} {limit}."
        )
    elif threshold > USUAL:
        said = (
            f"Whether it meets the threshold for public release was not judged. The owner chose "
            f"the threshold {chance(threshold)}, which is above the usual "
            f"{chance(USUAL)}. A person in the table is found by the quasi-identifiers with a "
            f"chance of at most {share(quasi)}."
        )
    elif facts["verdict"] == OPEN:
        said = "Whether it meets the threshold for public release depends on the open questions."
    else:
        stated = statement(facts)
        such = ", if this statement is true: t" + stated[1:] if stated else "."
        said = (
            f"Meets the threshold for public release{such} A person in the table is found by the "
            f"quasi-identifiers with a chance of at most {share(quasi)} {limit}."
        )
    meets = facts["verdict"] == HOLDS and quasi <= threshold <= USUAL
    return Public(meets, said)


def shown(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a line for each exposed column: how many are unique by it, and what can be told.

    Shares are of people, None where nothing was measured.
    """
    if facts["inferred"] is None:
        return [one | {"unique": None, "certain": None, "likely": None} for one in facts["exposed"]]
    people = facts.get("people") or facts["rows"]
    return [
        one | {"unique": upward(Fraction(one["alone"], people))} | facts["inferred"][one["column"]]
        for one in facts["exposed"]
    ]


def told(line: dict[str, Any]) -> str:
    """Say in a sentence what a reader can tell of an exposed column."""
    if line["certain"] is None:
        return f"Shoal did not measure what a reader can infer about {line['column']}."
    return (
        f"A reader who knows the quasi-identifiers of a person can infer {line['column']} with "
        f"certainty for {share(line['certain'])} of the people, and with a chance above one half "
        f"for {share(line['likely'])}."
    )


def unprotected(facts: dict[str, Any]) -> list[str]:
    """Say which columns that nothing protects a reader can tell of more than a few people."""
    return [
        f"No requirement protects {line['column']}. {told(line)}"
        for line in shown(facts)
        if (line["certain"] or 0) > TOLERATED
    ]


def inferred_private(lines: Told, private: Collection[str]) -> list[str]:
    """Say which private columns that were generalized a reader learns of more than a few people."""
    return [
        f"{line['column']} looks private, and it is generalized like a column that readers may "
        f"know. {line['sentence']} Protect {line['column']} with a requirement, or leave it out."
        for line in lines
        if (line["column"] in private or names_private(str(line["column"])))
        and float(line["likely"]) > TOLERATED
    ]


def spelled(value: float | None) -> str:
    """Write a share of people that may not have been measured."""
    return "not measured" if value is None else share(value)


def chance(value: float, beside: str = " ({})") -> str:
    """Write a chance in per cent, and beside it as one in so many where it is that.

    >>> chance(0.2), chance(0.09090909090909091, ", {}"), chance(0.15)
    ('20% (1 in 5)', '9.1%, 1 in 11', '15%')
    """
    parts = round(1 / value)
    same = value == upward(Fraction(1, parts))
    return share(value) + (beside.format(f"1 in {parts:,}") if same else "")


def share(value: float) -> str:
    """Write a share, never as all or none where it is neither.

    >>> share(0.5), share(0.9999), share(1), share(0)
    ('50%', 'over 99.9%', '100%', '0%')
    """
    return "over 99.9%" if 0.999 < written(value) < 1 else percent(value)
