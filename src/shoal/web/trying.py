"""Whether what is decided can be kept, all of it together; what would help is tried, then offered.

What is known before a search is asked of the whole table. Where prices are tried on all rows, a
remedy is searched as well: what a search does not reach is not offered.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from shoal.web.draft import SAID_BY_OWNER
from shoal.web.following import ask_desk, follow_secrets
from shoal.web.worker import ACCIDENTS, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shoal.web.draft import Draft
    from shoal.web.state import Shelf, Table

    Fix = tuple[str, str]

    from shoal.web.worker import Values

SHARES = ("1%", "5%")  # of the rows, that may go where a refusal names no share
AT_ONCE = 20_000  # rows up to which all requirements are looked at together with every click


async def look_ahead(shelf: Shelf, table: Table, *, wait: bool = False) -> None:
    """Note why a run would be refused at once, if it would, and which remedies work.

    Of a large table that takes a while: it is looked at only by those who `wait` for a price.
    """
    if table.facts is None:  # nothing was read that could be refused
        return
    text = table.asked.substance
    if table.ahead[0] == text:
        return
    table.ahead = None, None, []
    if not table.asked.require or (table.facts["rows"] > AT_ONCE and not wait):
        return
    refusal = await refused(shelf, table, table.asked)
    if refusal is not None and refusal.kind in ACCIDENTS:  # another look may tell
        return
    works = [] if refusal is None else await working(shelf, table, refusal.fix)
    if not table.overtaken:  # else not all of them were tried
        table.ahead = text, refusal, works


async def refused(shelf: Shelf, table: Table, draft: Draft, *, search: bool = False) -> Any:
    """Return why what a draft says would be refused, None where nothing speaks against it."""
    ask = draft.ask_in(table.folder)
    linked = {name: str(table.links[name]) for name in draft.used_links}
    known: Values = {"path": str(table.path), "ask": ask, "linked": linked}
    try:
        await ask_desk(shelf, table, "ready", **known)
        if search and table.tried_whole:
            some = {link: table.sample(table.drawn, link) for link in linked}
            known = {"sample": table.sample(table.drawn), "linked": some, "ask": ask}
            await run_in_threadpool(shelf.bench.call, "price", **known)
    except Refused as problem:
        return problem.refusal
    return None


async def working(
    shelf: Shelf, table: Table, fixes: Iterable[tuple[str, str | None]]
) -> list[tuple[str, str]]:
    """Return the remedies with which everything that is decided can be kept, each once.

    Nothing more is tried once something newer was decided: that has an answer of its own.
    """
    found: list[tuple[str, str]] = []
    for name, value in dict.fromkeys(_named(fixes)):
        if table.overtaken:
            break
        draft = await with_remedy(shelf, table, name, value)
        if draft is not None and await refused(shelf, table, draft, search=True) is None:
            found.append((name, value))
    safe = [("identifying", value) for name, value in found if name == SAID_BY_OWNER]
    return [*dict.fromkeys(safe + found)]  # what is safe stands before what the owner must know


async def dispensable(shelf: Shelf, table: Table) -> list[int]:
    """Return the places of requirements without which all others can be kept."""
    decided, found = deepcopy(table.asked), []
    for place in range(len(decided.require) if len(decided.require) > 1 else 0):
        draft = deepcopy(decided)
        del draft.require[place]
        if await refused(shelf, table, draft, search=True) is None:
            found.append(place)
    return found


def _named(fixes: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str]]:
    """Yield remedies with a value: of rows that may go, as many as the page offers.

    >>> list(_named([("suppress", None), ("most_rows", "1"), ("output", None)]))
    [('suppress', '1%'), ('suppress', '5%'), ('most_rows', '1')]
    """
    for name, value in fixes:
        if value is not None:
            yield name, value
        elif name == "suppress":
            yield from ((name, share) for share in SHARES)


async def with_remedy(shelf: Shelf, table: Table, name: str, value: str) -> Draft | None:
    """Return what is decided with a remedy taken, None where it changes nothing."""
    draft = deepcopy(table.asked)
    if name == "require":
        draft.require = await ask_desk(
            shelf, table, "instead", texts=draft.require, tables=draft.protected, text=value
        )
    draft.heed(name, value)
    trial = replace(table, draft=draft)
    await follow_secrets(shelf, trial, table.asked.protected)
    return trial.draft if draft.ask() != table.asked.ask() else None


async def take(shelf: Shelf, table: Table, name: str, value: str) -> None:
    """Take a remedy."""
    taken = await with_remedy(shelf, table, name, value)
    table.draft = taken or table.draft
    table.asked.own |= name == "require"


async def offered(shelf: Shelf, table: Table, found: list[Values]) -> None:
    """Leave of the remedies of each requirement those that work together with all others.

    Others that are not achievable either are left aside: each has its own.
    """
    decided = deepcopy(table.asked)  # something else may be decided meanwhile
    for one in found:
        if "problem" in one:
            one["fix"] = await working(shelf, table, one["fix"])
    wrong = [place for place, one in enumerate(found) if one.get("achievable") is False]
    for place in wrong:
        one = found[place]
        kept = [text for at, text in enumerate(decided.require) if at == place or at not in wrong]
        at = kept.index(decided.require[place])

        async def works(text: str, kept: list[str] = kept, at: int = at, **rest: str) -> bool:
            draft = deepcopy(decided)
            draft.require = [*kept[:at], text, *kept[at + 1 :]]
            draft.rest |= rest
            changed = draft.ask() != decided.ask() or len(wrong) > 1
            changed &= not table.overtaken  # else it is in vain
            return changed and await refused(shelf, table, draft, search=True) is None

        kinds, one["remedies"] = one["remedies"], []
        for kind in kinds:
            for each in (kind, *kind["narrower"]):
                if await works(each["text"]):
                    one["remedies"].append(each)
                    break
        one["fix"] = [
            (name, value) for name, value in one["fix"] if await works(kept[at], **{name: value})
        ]
