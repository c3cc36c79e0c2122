"""Step 1, open: a file that is dropped, one that Shoal was started with, or the demo table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse
from starlette.routing import Route

from shoal.web.looking import given_names
from shoal.web.pages import page
from shoal.web.state import Table, room_for, stored_name
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf

DEMO = "demo table"


async def open_page(request: Request) -> Response:
    """Show what can be opened, and earlier runs."""
    shelf: Shelf = request.app.state.shelf
    given = given_names(request)
    jobs = sorted(shelf.jobs.values(), key=lambda job: -job.begun)
    kept = [one for one in shelf.project.runs if one.id not in shelf.jobs]
    return page(
        "open.html",
        given=given,
        tables=shelf.read,
        jobs=jobs,
        project=shelf.project,
        kept=kept,
    )


async def upload(request: Request) -> Response:
    """Take a table that was dropped; its name is kept for people, not as a path."""
    shelf: Shelf = request.app.state.shelf
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("table")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Refused(Refusal("No file came. Choose a table."))
        folder = shelf.folder("tables")
        path = folder / stored_name(file.filename)
        await run_in_threadpool(store, file, path)
        name = Path(file.filename.replace("\\", "/")).name or "table"
    return opened(shelf, Table(name, path, folder, room=room_for(path)))


async def open_demo(request: Request) -> Response:
    """Open the embedded table."""
    shelf: Shelf = request.app.state.shelf
    folder = shelf.folder("tables")
    path = folder / "table.csv"
    try:
        await run_in_threadpool(shelf.desk.call, "make_demo", path=str(path))
    except Refused:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return opened(shelf, Table(DEMO, path, folder, confirmed=True))


async def open_given(request: Request) -> Response:
    """Open a table that Shoal was started with, where it is."""
    shelf: Shelf = request.app.state.shelf
    given = request.app.state.given
    place = request.path_params["place"]
    if place >= len(given):
        raise Refused(Refusal("Shoal was started with fewer tables."))
    path = Path(given[place])
    return opened(shelf, Table(path.name, path, shelf.folder("tables")))


def store(file: UploadFile, path: Path) -> None:
    """Keep an upload in a folder of its own; where that fails, nothing of it stays."""
    try:
        with path.open("xb") as kept:
            shutil.copyfileobj(file.file, kept, 2**20)
    except OSError:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise


def opened(shelf: Shelf, table: Table) -> Response:
    """Go to a table, which is read there."""
    shelf.tables[table.id] = table
    return RedirectResponse(f"/tables/{table.id}", 303)


ROUTES = [
    Route("/", open_page),
    Route("/tables", upload, methods=["POST"]),
    Route("/tables/demo", open_demo, methods=["POST"]),
    Route("/tables/given/{place:place}", open_given, methods=["POST"]),
]
