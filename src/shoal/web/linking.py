"""Step 2, more tables about the same people: added, looked at, and taken away again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from shoal.web.draft import counted
from shoal.web.following import follow_roles, follow_secrets
from shoal.web.looking import draw, in_turn, table_of
from shoal.web.opening import store
from shoal.web.pages import page
from shoal.web.state import ENDINGS, PACKED, room_for, stored_name
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table

MOST_LINKED = 8
MOST_NAME = 40  # letters of the name of a linked table
OF_RELEASES = ("release", "people", "values", "manifest", "report", "codebook")  # other files


def linked_name(name: str, taken: Collection[str]) -> str:
    """Return what a linked table is called, after the name of its file, as no other is.

    >>> linked_name("../Visits of 2019.csv.gz", ()), linked_name("visits.csv", ["visits"])
    ('Visits_of_2019', 'visits_2')
    >>> linked_name("2019.csv", ()), linked_name("report.xlsx", ())
    ('linked', 'report_2')
    """
    plain = PurePosixPath(name.replace("\\", "/")).name
    for ending in (*PACKED, *ENDINGS):
        if plain.lower().endswith(ending):
            plain = plain[: -len(ending)]
    known = re.sub(r"[^A-Za-z0-9-]+", "_", plain).lstrip("0123456789_-").rstrip("_")[:MOST_NAME]
    known, number = known or "linked", 1
    made = known
    while made.lower() in {one.lower() for one in (*taken, *OF_RELEASES)}:
        number += 1
        made = f"{known}_{number}"
    return made


async def link(request: Request) -> Response:
    """Link a table that was dropped, or one that Shoal was started with, and look at it."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    folder = shelf.folder("tables")
    try:
        async with request.form(max_files=1, max_fields=2) as form:
            file, path = await _came(request, form, folder)
            said = str(form.get("name", "")).strip()
            room = room_for(path) if path.is_relative_to(folder) else None
        async with table.turn():
            await _linked(shelf, table, (file, path, room), said)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except Refused as refused:
        shutil.rmtree(folder, ignore_errors=True)
        back = f"/tables/{table.id}#linking"
        return page("error.html", 422, refusal=refused.refusal, back=back)
    return RedirectResponse(f"/tables/{table.id}#linking", 303)


async def _came(request: Request, form: FormData, folder: Path) -> tuple[str, Path]:
    """Return what the owner calls a file, and where it is."""
    given, place = request.app.state.given, str(form.get("given", ""))
    at = counted(place)
    if at is not None and at < len(given):
        path = Path(given[at])
        return path.name, path
    file = form.get("linked")
    if not isinstance(file, UploadFile) or not file.filename:
        raise Refused(Refusal("No file came. Choose a table about the same people."))
    path = folder / stored_name(file.filename)
    await run_in_threadpool(store, file, path)
    return Path(file.filename.replace("\\", "/")).name or "table", path


async def _linked(
    shelf: Shelf, table: Table, came: tuple[str, Path, int | None], said: str
) -> None:
    file, path, room = came
    draft = table.asked
    person = next(iter(draft.named("person")), None)
    if person is None:
        raise Refused(Refusal("Say first which column marks the rows of one person."))
    if len(draft.linked) >= MOST_LINKED:
        raise Refused(Refusal(f"Shoal links at most {MOST_LINKED} tables."))
    fronts = {name.partition(".")[0] for name in draft.columns.values() if "." in name}
    name = said or linked_name(file, fronts | set(draft.linked))
    if name in fronts | set(draft.linked):
        raise Refused(Refusal(f"The name {name!r} is already in use. Choose another name."))
    known: dict[str, Any] = {"path": str(path), "called": name, "person": person}
    known |= {"encoding": draft.reads.get("encoding"), "memory": room}
    try:
        facts = await run_in_threadpool(shelf.desk.call, "link", **known)
    except Refused as refused:
        raise Refused(refused.refusal.about(path.name, file)) from None
    columns = facts["columns"]
    secret, before = [name for name in facts["protect"] if name != person][:1], draft.protected
    places = draft.link(name, file, [one["name"] for one in columns], secret)
    table.columns |= {
        place: _proposed(one) | {"name": f"{name}.{one['name']}", "rows": facts["rows"]}
        for place, one in zip(places, columns, strict=True)
    }
    for place, one in zip(places, columns, strict=True):
        kept = {"type": one["type"], "order": one["order"] or None}
        draft.said[draft.columns[place]] = {key: value for key, value in kept.items() if value}
    table.links[name] = path
    await _follow(shelf, table, before)


def _proposed(column: dict[str, Any]) -> dict[str, Any]:
    """Return a column with a role that it can have in a linked table."""
    if column["role"] in {"sensitive", "identifying"}:
        return column
    why = "a column of a linked table can be protected, published unchanged or left out"
    return column | {"role": None, "why": why}


@in_turn
async def unlink(request: Request) -> Response:
    """Take a linked table away again."""
    table = table_of(request)
    name = request.path_params["name"]
    if name not in table.asked.linked:
        raise HTTPException(404)
    before = table.asked.protected
    for place in table.asked.unlink(name):
        table.columns.pop(place)
    table.links.pop(name)
    await _follow(request.app.state.shelf, table, before)
    return RedirectResponse(f"/tables/{table.id}#linking", 303)


async def _follow(shelf: Shelf, table: Table, before: list[list[str]]) -> None:
    """Let everything else know of what is linked now, and `before` was to be protected."""
    await draw(shelf, table)
    if table.asked.own:
        await follow_secrets(shelf, table, before)
    await follow_roles(shelf, table)


ROUTES = [
    Route("/tables/{table}/linked", link, methods=["POST"]),
    Route("/tables/{table}/linked/{name}/remove", unlink, methods=["POST"]),
]
