"""The project of the owner: begun, opened again and deleted on the first page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route

from shoal.web.deciding import take_schema
from shoal.web.kept import kept_run
from shoal.web.looking import read_once
from shoal.web.pages import page
from shoal.web.publishing import job_of
from shoal.web.state import Table
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.kept import KeptRun
    from shoal.web.state import Shelf

GONE = (
    "The table of this run is not at {} any more. Open it where it is now, then paste shoal.toml."
)


async def begin(request: Request) -> Response:
    """Begin a project, with what was made while this page is open."""
    shelf: Shelf = request.app.state.shelf
    made = [kept_run(one, shelf.tables.get(one.about), shelf.home) for one in shelf.made()]
    shelf.project.begin([one for one in made if one is not None])
    return RedirectResponse("/#project", 303)


async def delete(request: Request) -> Response:
    """Delete the project, and say what this does not reach."""
    shelf: Shelf = request.app.state.shelf
    shelf.project.delete()
    return page("project_deleted.html", path=shelf.project.path)


def _kept(request: Request) -> KeptRun:
    shelf: Shelf = request.app.state.shelf
    found = [one for one in shelf.project.runs if one.id == request.path_params["run"]]
    if not found:
        raise HTTPException(404)
    return found[0]


async def kept_schema_file(request: Request) -> Response:
    """Give the schema file of a run that was kept."""
    named = {"content-disposition": 'attachment; filename="shoal.toml"'}
    return PlainTextResponse(_kept(request).toml, media_type="application/toml", headers=named)


async def reopen(request: Request) -> Response:
    """Open the table of a run where it is, with what was asked then."""
    shelf: Shelf = request.app.state.shelf
    run = _kept(request)
    path = Path(run.path or "")
    if run.path is None or not await run_in_threadpool(path.exists):
        raise Refused(Refusal(GONE.format(run.path or run.table)))
    table = Table(path.name, path, shelf.folder("tables"))
    shelf.tables[table.id] = table
    await run_in_threadpool(read_once, shelf, table)
    if table.problem is None:
        await take_schema(shelf, table, run.toml)
    return RedirectResponse(f"/tables/{table.id}", 303)


async def not_given_before(request: Request) -> Response:
    """Take the owner's statement that nobody has what was taken while an earlier page was open."""
    shelf: Shelf = request.app.state.shelf
    job = job_of(request, done=True)
    for run in shelf.taken_before(job):
        shelf.project.keep(msgspec.structs.replace(run, taken=False))
        said = (
            f"You stated that the earlier release of {run.table} ({run.called}) was not given to "
            "anybody and is deleted. Shoal cannot check this. If it is not true, a reader can "
            "combine both releases."
        )
        job.outcome["remarks"].append((said, True))
    return RedirectResponse(f"/runs/{job.id}", 303)


ROUTES = [
    Route("/project", begin, methods=["POST"]),
    Route("/project/delete", delete, methods=["POST"]),
    Route("/project/{run}/shoal.toml", kept_schema_file),
    Route("/project/{run}/open", reopen, methods=["POST"]),
    Route("/runs/{job}/not-given-before", not_given_before, methods=["POST"]),
]
