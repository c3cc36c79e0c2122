"""What a stranger learns about one person, and rows before and after: while deciding, and then.

Row numbers travel in what is posted, never in an address, and answers are kept nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shoal.web.draft import counted
from shoal.web.following import ask_desk
from shoal.web.looking import draw, table_of
from shoal.web.pages import fill, page
from shoal.web.publishing import release_of
from shoal.web.standing import exposed
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from shoal.web.state import Job, Shelf, Table
    from shoal.web.worker import Values

NO_ROW = "A row is a whole number. The first row of your table is row 0."


async def _row(request: Request) -> int | None:
    """Return the row that was typed, None for the most exposed person; or refuse what is none."""
    async with request.form(max_files=0, max_fields=1) as form:
        said = str(form.get("row", "")).strip()
    row = counted(said)
    if said and row is None:
        raise Refused(Refusal(NO_ROW))
    return row


async def pick(request: Request) -> Response:
    """Take another person to look at, who joins the rows that prices are tried on."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    assert table.facts is not None
    row, last = await _row(request), table.facts["rows"] - 1
    if row is not None and row > last:
        said = f"Rows of your table are counted from 0 to {last:,}. Got {row:,}."
        raise Refused(Refusal(said))
    table.whom = row
    if row is None or table.tried_whole:
        return Response(status_code=204, headers={"HX-Trigger": "picked"})
    await draw(shelf, table)
    return Response(status_code=204, headers={"HX-Trigger": "decided"})  # a price follows, then it


async def watched(request: Request) -> Response:
    """Show what a stranger would learn about one person, and rows before and after."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    asked, drawn, price = table.asked.ask(), table.drawn, table.priced
    if price[0] != asked:
        return page("part_watched.html", table=table, person=None)
    known: Values = {"sample": table.sample(drawn), "ask": table.ask}
    known["linked"] = {link: table.sample(drawn, link) for link in table.linked}
    try:
        view, rows = await run_in_threadpool(shelf.bench.call, "preview", **known, row=table.whom)
        known = {"path": str(table.path), "ask": table.ask, "view": view}
        person = await ask_desk(shelf, table, "seen_today", **known)
    except Refused as refused:
        return page("part_error.html", refusal=refused.refusal)
    if table.asked.ask() != asked or table.drawn != drawn:  # another picture is on its way
        return Response(status_code=204)
    table.whom = view.row  # who is followed from here on
    shown = {"rows": rows, "exposed": exposed(table), "left_out": table.asked.left_out}
    return page("part_watched.html", table=table, person=person, **shown)


async def person(request: Request) -> Response:
    """Show what a stranger learns about one person from a release."""
    job, known = _of_run(request)
    shelf: Shelf = request.app.state.shelf
    try:
        known |= {"folder": str(job.release), "row": await _row(request)}
        return HTMLResponse(await run_in_threadpool(shelf.bench.call, "person", **known))
    except Refused as refused:
        return page("part_error.html", refusal=refused.refusal)


async def rows_page(request: Request) -> Response:
    """Show rows of the table beside what the release publishes of them."""
    job, known = _of_run(request)
    shelf: Shelf = request.app.state.shelf
    shown = job.outcome["rows"]
    try:
        rows = await run_in_threadpool(shelf.bench.call, "beside", shown=shown, **known)
    except Refused as refused:
        return page("part_error.html", refusal=refused.refusal)
    assert job.asked is not None
    found = [one["column"] for one in job.outcome["manifest"].get("exposed", ())]
    told = {"rows": rows, "exposed": found, "left_out": job.asked.left_out}
    return HTMLResponse(fill("part_before_after.html", **told))


def _of_run(request: Request) -> tuple[Job, Values]:
    """Return a run that made a release of a table that is open, and how that is read."""
    shelf: Shelf = request.app.state.shelf
    job = release_of(request)
    table: Table | None = shelf.tables.get(job.about)
    if table is None or job.asked is None:
        raise HTTPException(404)
    return job, {"ask": job.asked.of_file.ask_in(job.folder), "path": str(table.path)}


ROUTES = [
    # Under prices: the button does not wait for what can take long.
    Route("/tables/{table}/prices/person", watched),
    Route("/tables/{table}/person", pick, methods=["POST"]),
    Route("/runs/{job}/person", person, methods=["POST"]),
    Route("/runs/{job}/rows", rows_page),
]
