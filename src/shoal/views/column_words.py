"""What reports, certificates and dossiers say of every published column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.exact import at_least, unit_of, wide, written
from shoal.table.forms import TWO_TABLES
from shoal.table.schema import PSEUDONYM
from shoal.views.sentences import asked_for, later_round, trimmed_words, types_of
from shoal.views.words import chance, extent, in_hundred, percent_up, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Facts = Mapping[str, Any]


ROLES = {
    "quasi": "may be known",
    "sensitive": "protected",
    "other": "published beside them",
    PSEUDONYM: "names a person",
}


WHOLE = EXACT, AT_FIRST = "published exactly", "published as it was at first"
MEAN, HASH = "the mean of its group", "replaced by a keyed hash"
UNMEASURED = "not measured"


def columns(facts: Facts) -> list[dict[str, Any]]:
    """Return what was done to every published column, and what one of its cells tells."""
    release = facts["release"]
    widths = {one["column"]: one for one in facts["shown"]["cells"]}
    asked, lost = asked_for(release), release["loss"]["ncp"]
    apart = release["form"] == TWO_TABLES
    whole = AT_FIRST if later_round(release) else EXACT
    found = []
    for one in release["columns"]:
        name, role = one["name"], one["role"]
        entry: dict[str, Any] = {"name": name, "role": ROLES[role], "lost": None, "strip": None}
        if role == "quasi" and name not in widths:  # its table cannot be read as is stated
            entry |= {"done": UNMEASURED, "cell": ""}
        elif role == "quasi":
            wide = widths[name]
            exact = apart or wide["exact"] >= 1
            entry |= {
                "done": whole if exact else "made coarser",
                "cell": spans(wide, apart=apart) if apart or not exact else "every cell is exact",
                "lost": lost.get(name),
                "strip": wide if wide["whole"] else None,
            }
        elif role == "sensitive":
            entry |= _protected(name, asked, release) | {"done": whole}
        elif role == PSEUDONYM:
            entry |= {"done": HASH, "cell": ""}
        else:
            done = MEAN if one.get("survey_weight") else whole
            entry |= {"done": done, "cell": ""}
        found.append(_rounded(entry, one))
    for table, said in release.get("tables", {}).items():
        for one in said["columns"]:
            name = f"{table}.{one['name']}"
            entry = {"name": name, "role": ROLES[one["role"]], "lost": None, "strip": None}
            entry |= {"done": whole, "cell": ""}
            if one["role"] == "sensitive":
                entry |= _protected(name, asked, release)
            found.append(_rounded(entry, one))
    return found


def _rounded(entry: dict[str, Any], stated: Facts) -> dict[str, Any]:
    """Say first of a column that its numbers were rounded or cut off, where they were."""
    words = trimmed_words(stated)
    return entry if not words else entry | {"done": f"{words}, then {entry['done']}"}


def _protected(name: str, asked: Sequence[Facts], release: Facts) -> dict[str, str]:
    """Say whether anything is required of a sensitive column, and how guesses of it are limited."""
    about = [one for one in asked if name in one["columns"]]
    role = ROLES["sensitive"] if about else "sensitive, nothing required"
    unit = unit_of([types_of(release).get(name)])
    limits = [guess_limits(one, unit) for one in about if one["guess"] and one["columns"] == [name]]
    return {"role": role, "cell": "; ".join(dict.fromkeys(filter(None, limits)))}


def guess_limits(asked: Facts, unit: str = "") -> str:
    """Say how often guesses are right at most: of a listed value, and any other."""
    bound = asked["guess"]
    if bound.listed >= 1:
        return ""
    if not asked["holds"]:
        return f"{asked['notation']} does not hold"
    if not bound.width:
        what = "a right guess"
    elif bound.relative:
        what = f"a value within {at_least(100 * written(bound.width))}% of the guess"
    elif asked["by_distance"]:
        what = f"a value within a distance of {wide(bound.width)} of the guess"
    else:
        what = f"a value within {wide(bound.width, unit)} of the guess"
    first = f"{what}: at most {chance(bound.listed)}"
    if bound.any == bound.listed:
        return first
    other = f"{'up to' if bound.any >= 1 else 'at most'} {percent_up(bound.any)}"
    if bound.any < 1 and bound.any == 2 * bound.listed and bound.listed.numerator == 1:
        other = f"at most 2 in {bound.listed.denominator} ({percent_up(bound.any)})"
    return f"{first} for a listed value, {other} for any other guess"


def spans(one: Facts, *, apart: bool = False) -> str:
    """Say how much of a column cells cover; of two tables, how much a group does."""
    if apart:
        return f"half of the groups span at most {extent(one, one['half'])}"
    if one["exact"] >= MOSTLY:
        return f"{in_hundred(one['exact'])} cells are exact"
    verb = "cover" if one["numeric"] else "list"
    return f"half of the cells {verb} at most {extent(one, one['half'])}"


MOSTLY = 0.5  # of the cells are exact: then the median says nothing


def told(facts: Facts) -> str:
    """Say what was made coarser, and what is exact."""
    release = facts["release"]
    done = [one["done"] for one in columns(facts)]
    coarse = sum(one.endswith("made coarser") for one in done)
    trimmed = sum(", then " in one for one in done if not one.endswith("made coarser"))
    kept = sum(one in WHOLE for one in done)
    then = ", as of each person's first release in the series" if later_round(release) else ""
    said = [
        (coarse, "was", "were", "made coarser"),
        (trimmed, "was", "were", "rounded or cut off"),
        (done.count(MEAN), "holds", "hold", "the mean of each group"),
        (done.count(HASH), "holds", "hold", "keyed hashes"),
        (done.count(UNMEASURED), "was", "were", "not measured"),
        (kept, "is", "are", f"exact{then}"),
    ]
    apart = release["form"] == TWO_TABLES
    if apart and kept == len(done):
        first = [f"Every column is exact{then}."]
    else:
        first = [
            f"{plural(number, 'column')} {one if number == 1 else more} {what}."
            for number, one, more, what in said
            if number
        ]
    if apart:
        first.append("What is lost is which value of a group belongs to which person.")
    elif kept and release["groups"] is not None:
        first.append("Which value belongs to whom is lost.")
    return " ".join(first)
