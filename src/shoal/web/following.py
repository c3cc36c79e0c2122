"""What is required follows the roles: nothing that still has a meaning is lost on the way."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from shoal.web.worker import Refused

if TYPE_CHECKING:
    from shoal.web.draft import Draft
    from shoal.web.state import Shelf, Table
    from shoal.web.worker import Values

MOST_REQUIRED = 40


async def ask_desk(shelf: Shelf, table: Table, name: str, **arguments: Any) -> Any:
    """Ask the desk about a table; after a crash it has to read it again first."""
    try:
        return await run_in_threadpool(shelf.desk.call, name, **arguments)
    except Refused as refused:
        if refused.refusal.kind != "Unforeseen":
            raise
        await run_in_threadpool(shelf.desk.call, "look", path=str(table.path), **table.how)
        for link, path in table.links.items():
            await run_in_threadpool(
                shelf.desk.call,
                "link",
                path=str(path),
                called=link,
                encoding=table.asked.reads.get("encoding"),
            )
        return await run_in_threadpool(shelf.desk.call, name, **arguments)


def known_roles(table: Table) -> Values:
    """Return what a worker has to know of the roles as they are now."""
    known = {"never-mix": "quasi"}
    roles = {
        name: known.get(role, role)
        for name, role in table.asked.roles.items()
        if known.get(role, role) in {"quasi", "sensitive", "identifying", "person"}
    }
    return {"path": str(table.path), "roles": roles, "linked": table.linked, "ask": table.ask}


async def follow_roles(shelf: Shelf, table: Table) -> None:
    """Propose requirements that fit the roles as they are now, where the owner has none of own.

    A proposal that leaves a column without any that has one now is not taken.
    """
    if not table.asked.own:
        with suppress(Refused):  # what is wrong, whatever is required will say
            take_proposal(
                table.asked, await ask_desk(shelf, table, "propose", **known_roles(table))
            )


def take_proposal(draft: Draft, proposal: Values | None) -> None:
    """Take over a proposal, as long as the owner has not asked for something else."""
    own, *_ = draft.protected
    if proposal is None or draft.own or (draft.require and not {*own} <= {*proposal["sensitive"]}):
        return
    draft.require = list(proposal["require"])


async def follow_secrets(shelf: Shelf, table: Table, before: list[list[str]]) -> None:
    """Keep what is required of columns that are still to be protected, and propose it of new ones.

    `before` are the columns that were to be protected until now.
    """
    draft, now = table.asked, table.asked.protected
    if now == before:
        return
    known: Values = {"texts": draft.require, "before": before, "now": now}
    made = await ask_desk(shelf, table, "carry", **known, **known_roles(table))
    had, have = ({name for some in tables for name in some} for tables in (before, now))
    draft.own |= not had.isdisjoint(have)  # what was kept is not proposed anew
    draft.require = made


async def protect(shelf: Shelf, table: Table, columns: list[str]) -> None:
    """Have columns protected by a requirement of their own, where one is known that helps."""
    draft, before = table.asked, table.asked.protected
    for name in columns:
        draft.give(name, "sensitive")
    await follow_secrets(shelf, table, before)
    known: Values = {"texts": draft.require, "tables": draft.protected}
    lacking = await ask_desk(shelf, table, "lacking", **known)
    known = {"columns": [name for name in columns if name in lacking], "own": draft.protected[0]}
    made = await ask_desk(
        shelf, table, "protect", texts=draft.require, **known, **known_roles(table)
    )
    draft.require, draft.own = made, True
    known = {"texts": draft.require, "tables": draft.protected}
    draft.beyond |= {*columns} & {*await ask_desk(shelf, table, "lacking", **known)}
