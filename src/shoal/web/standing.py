"""What stands between the owner and a release: what is open is counted, and the button waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.web.draft import GONE, SAID_BY_OWNER
from shoal.web.following import ask_desk
from shoal.web.trying import look_ahead
from shoal.web.worker import Refused

if TYPE_CHECKING:
    from shoal.web.state import Shelf, Table
    from shoal.web.worker import Refusal, Values

ALLOWS = "this table does not allow"
EXPOSING = ("Exposing", "Naming")  # the kinds of refusal of columns that tell people apart
NOT_ACHIEVABLE = 3  # the exit code of what a table does not allow, or a search did not reach
MOST_GOING = 0.01  # the share of rows above which the owner says that they may go


async def bar(shelf: Shelf, table: Table) -> Values:
    """Return what is open, and what is shown of rows that will go and columns that will not."""
    draft = table.asked
    known: Values = {"path": str(table.path), "ask": table.ask}
    try:
        table.going = await ask_desk(shelf, table, "going", **known)
    except Refused:  # what is wrong with the columns, whatever is required will say
        table.going = {}
    table.bare = await ask_desk(
        shelf, table, "lacking", texts=draft.require, tables=draft.protected
    )
    draft.unchanged &= set(table.bare)
    table.note()
    await look_ahead(shelf, table)
    gone = len(draft.left_out)
    return {
        "open": questions(table),
        "published": len(draft.columns) - gone,
        "left_out": gone,
        "secrets": draft.named("sensitive"),
        "exposed": exposed(table),
        "unprotected": unprotected(table),
        "beyond": sorted(draft.beyond.intersection(unprotected(table))),
        "stated": [one for one in draft.rest.get(SAID_BY_OWNER, ()) if one in draft.used],
        "unexplained": unexplained(table),
        "unread": unread(table),
        "foreseen": None if unpriceable(table) else foreseen(table),  # each has said its own
        "going": table.going,
        "account": account(table),
        "counting": counting(table),
        "draft": draft,
    }


def questions(table: Table) -> list[str]:
    """Return what has to be decided before a release can be made, each in a few words."""
    draft, found = table.asked, []
    if not draft.known_by:
        found.append("no column is marked as one that others may know")
    if not draft.require:
        found.append("nothing is required yet")
    found += [f"{one['text']} cannot be required" for one in table.considered if "problem" in one]
    found += [f"{ALLOWS} {text}" for text in not_allowed(table)]
    asked, refused = table.refused
    if not found and (refusal := foreseen(table)):
        found.append(_in_the_way(refusal, "all of it together"))
    elif not found and refused and asked == draft.ask():
        found.append(_in_the_way(refused, "what is required"))
    return found + choices(table)


def _in_the_way(refusal: Refusal, what: str) -> str:
    """Say in a few words what a refusal is about; the price tells all of it."""
    if refusal.kind in EXPOSING:
        return "a column identifies people"
    if refusal.exit_code == NOT_ACHIEVABLE:
        return f"{ALLOWS} {what}"
    return "there is no price yet; the page says why"


def choices(table: Table) -> list[str]:
    """Return what nobody but the owner can decide: no release is made before that."""
    found = [*unread(table), undecided_rows(table)]
    if names := unprotected(table):
        found.append(f"no requirement protects {_listed(names)}")
    found += [f"the role of {name}" for name in unexplained(table)]
    return [one for one in found if one]


def unread(table: Table) -> list[str]:
    """Return what is doubtful of how a file was read, until the owner says that it is the table.

    How a column is read that is not published matters to nobody.
    """
    assert table.opened is not None
    if table.confirmed:
        return []
    gone = {*table.asked.named(*GONE)}
    return [
        f"how {one['column'] or table.name} is read"
        for one in table.opened["assumed"]
        if not one["sure"] and one["column"] not in gone
    ]


def unprotected(table: Table) -> list[str]:
    """Return the columns to protect that nothing is required of, and nothing is said of either."""
    said = {*table.asked.rest.get(SAID_BY_OWNER, ()), *table.asked.unchanged}
    return [name for name in table.bare if name not in said]


def looks_private(table: Table) -> list[str]:
    """Return the columns that an inspection proposes to protect, by their names or values."""
    return [
        name
        for place, name in table.asked.columns.items()
        if table.columns[place]["role"] == "sensitive"
    ]


def unexplained(table: Table) -> list[str]:
    """Return the columns of which an inspection asks the owner something, not answered yet."""
    draft = table.asked
    linked = {place for _, places in draft.linked.values() for place in places}
    return [
        name
        for place, name in draft.columns.items()
        if place not in linked and table.columns[place]["question"] and name not in draft.answered
    ]


def foreseen(table: Table) -> Refusal | None:
    """Return why what is decided would be refused before any search, as far as that is known."""
    text, refusal, _ = table.ahead
    return refusal if text == table.asked.substance else None


def unpriceable(table: Table) -> str:
    """Return why there is nothing to try a price of, in one word; nothing where there is."""
    if not table.asked.known_by:
        return "nobody"
    if not table.asked.require:
        return "nothing"
    if any("problem" in one for one in table.considered):
        return "unreadable"
    return "impossible" if not_allowed(table) else ""


def not_allowed(table: Table) -> list[str]:
    """Return the requirements that the table cannot keep, whatever the groups.

    Rows that Shoal may remove can make one possible: where enough of them may go, it is tried.
    """
    may_go = _share(table.asked.rest.get("suppress"))
    found = []
    for one in table.considered:
        if one.get("achievable") is False:
            helps = [_share(value) for name, value in one["fix"] if name == "suppress"]
            if min(helps, default=1) > may_go:
                found.append(one["text"])
    return found


def _share(said: Any) -> float:
    """Return the share that was said, 0 where none was.

    >>> _share("1%"), _share(0.01), _share(None), _share("few")
    (0.01, 0.01, 0.0, 0.0)
    """
    text = str(said or 0).strip()
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return 0.0


def account(table: Table) -> dict[str, object]:
    """Return how many rows will go and why, each row under one reason.

    Before there is a price, it is at least as many: a search may leave out more.
    """
    going, (asked, price) = table.going, table.priced
    if not going:
        return {"rows": 0, "reasons": [], "how": "", "priced": False, "one_each": False}
    fewer, removed, how = going["lowered"], 0, ""
    if priced := asked == table.asked.ask():
        shares = price["going"]
        fewer = max(0, round(shares["capped"] * going["rows"]) - going["capped"])
        removed = round(shares["suppressed"] * going["rows"])
        how = "" if price["all_rows"] else "About "
    elif table.asked.require and (table.asked.named("person") or table.asked.rest.get("suppress")):
        how = "At least "
    counts = {"missing": going["gone"], "capped": going["capped"], "fewer": fewer}
    reasons = [(why, count) for why, count in (counts | {"removed": removed}).items() if count]
    rows = sum(count for _, count in reasons)
    one_each = going["people"] == going["rows"] - rows
    return {"one_each": one_each, "rows": rows, "reasons": reasons, "how": how, "priced": priced}


def counting(table: Table) -> bool:
    """Return whether a search may leave out rows and Shoal does not know yet how many.

    The button waits until that number stands there, or until a price was tried in vain.
    """
    draft = table.asked
    may_go = draft.named("person") or draft.rest.get("suppress")
    return bool(may_go) and not unpriceable(table) and table.weighed != draft.ask()


def undecided_rows(table: Table) -> str:
    """Return which rows the owner has to decide about, nothing where there are none."""
    going = table.going
    if going.get("undecided"):
        return f"what becomes of the rows without {_listed(list(going['undecided']))}"
    if going and not table.asked.rows_chosen and going["gone"] > MOST_GOING * going["rows"]:
        return f"{going['gone']:,} rows would go"
    return ""


def exposed(table: Table) -> list[str]:
    """Return the columns that will be published unchanged and that no requirement is about."""
    stated = table.asked.rest.get(SAID_BY_OWNER, ())
    return [name for name in (*table.bare, *table.asked.named("other")) if name not in stated]


def _listed(names: list[str]) -> str:
    """Join names as people do.

    >>> _listed(["age"]), _listed(["age", "zip", "ward"])
    ('age', 'age, zip and ward')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
