"""Step 2, is this your table: how the file was read, what was assumed, and switches for all of it.

The file is read as it looks, and the roles are proposed from that at once: a table that needs no
correction costs one click, or none. Whatever is changed is read anew, and the preview follows.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from shoal.web.draft import CODES, counted
from shoal.web.looking import MOST_FIELDS, in_turn, read_file, table_of
from shoal.web.pages import fill, page
from shoal.web.worker import Refused

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table

TEXTS = ("sheet", "delimiter", "encoding", "decimal")
COUNTS = ("header_row", "header_lines", "skip_last")
PLACING = {"sheet", "delimiter", "encoding", "header_row", "header_lines"}  # change the columns
DAYS = "days"


def takes(table: Table, form: FormData) -> dict[str, Any]:
    """Return how a file is to be read, with what a form changes of it."""
    said = dict(table.said)
    names = list((table.opened or {}).get("columns", ()))
    changed = {key for key in (*TEXTS, *COUNTS) if key in form}
    for key in changed:
        text = str(form[key]).strip()
        value = counted(text) if key in COUNTS else text or None
        said.pop(key, None)
        if value is not None:
            said[key] = value
    if changed & PLACING:
        said.pop(CODES, None)
        said.pop(DAYS, None)
    for place, name in enumerate(names):
        if way := str(form.get(f"day-{place}", "")):
            said[DAYS] = said.get(DAYS, {}) | {name: way}
        if f"of-{place}" in form:
            said[CODES] = said.get(CODES, {}) | {
                name: list(map(str, form.getlist(f"code-{place}")))
            }
    code, at = str(form.get("code", "")).strip(), counted(str(form.get("of", "")))
    if code and at is not None and at < len(names):
        known = said.get(CODES, {}).get(names[at], _assumed(table, names[at]))
        said[CODES] = said.get(CODES, {}) | {names[at]: [*known, code]}
    return said


def _assumed(table: Table, column: str) -> list[str]:
    """Return the codes of a column that are taken for missing now."""
    needed = (table.opened or {}).get("needed", {})
    return list(needed.get(CODES, {}).get(column, ()))


@in_turn
async def reading(request: Request) -> Response:
    """Read a file anew as the owner says; where it cannot be read so, it stays as it was."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request, read=False)
    before = table.said
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        table.said = {} if "proposed" in form else takes(table, form)
        table.kept = (
            {str(name) for name in form.getlist("kept")} if "unnamed" in form else table.kept
        )
    if "HX-Request" in request.headers:
        try:
            await run_in_threadpool(read_file, shelf, table)
        except Refused:
            table.said = before
            raise
    else:
        table.opened = None
    table.facts = table.problem = table.draft = None
    table.confirmed = False
    if "HX-Request" not in request.headers:
        return RedirectResponse(f"/tables/{table.id}", 303)
    waiting = fill("part_waiting.html", table=table, apart=True)
    return HTMLResponse(fill("part_table.html", table=table) + waiting)


@in_turn
async def confirm(request: Request) -> Response:
    """Take the owner's word that this is the table."""
    table = table_of(request)
    table.confirmed = True
    return RedirectResponse(f"/tables/{table.id}#look", 303)


async def show_share(request: Request) -> Response:
    """Show how far reading is."""
    return page("part_share.html", table=table_of(request, read=False))


async def stop(request: Request) -> Response:
    """Stop reading a file; nothing of it stays."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request, read=False)
    if table.facts is None:
        shelf.tables.pop(table.id)
        if table.reading.locked():
            await run_in_threadpool(shelf.desk.interrupt)
        await run_in_threadpool(shutil.rmtree, table.folder, ignore_errors=True)
    return RedirectResponse("/", 303)


ROUTES = [
    Route("/tables/{table}/reading", reading, methods=["POST"]),
    Route("/tables/{table}/confirm", confirm, methods=["POST"]),
    Route("/tables/{table}/share", show_share),
    Route("/tables/{table}/stop", stop, methods=["POST"]),
]
