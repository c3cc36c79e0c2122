"""The page: addresses, and what is done at each."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from shoal.web import checking, deciding, linking, looking, opening, pricing, publishing
from shoal.web.guard import HEADERS, Guard
from shoal.web.pages import page
from shoal.web.state import Shelf
from shoal.web.worker import Refusal, Refused, Stopped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.worker import Worker

STATIC = Path(__file__).with_name("static")
MOST_BYTES = 2 * 2**30


def make_app(
    home: Path,
    *,
    port: int,
    token: str,
    tables: tuple[str, ...] = (),
    most_bytes: int = MOST_BYTES,
    most_runs: int = 2,
) -> Starlette:
    """Return the page; `home` is where it keeps everything, `tables` what it was started with."""
    shelf = Shelf(home, most_runs=most_runs)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        # While the owner reads the first page; the one that looks does not search.
        for worker, search in ((shelf.desk, False), (shelf.bench, True)):
            threading.Thread(target=_warm, args=(worker, search), daemon=True).start()
        yield
        shelf.close()

    routes = [
        *opening.ROUTES,
        *looking.ROUTES,
        *linking.ROUTES,
        *deciding.ROUTES,
        *pricing.ROUTES,
        *publishing.ROUTES,
        *checking.ROUTES,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Middleware(Guard, port=port, token=token, most_bytes=most_bytes)
    made = Starlette(
        routes=routes,
        middleware=[guard],
        lifespan=lifespan,
        exception_handlers={404: _nowhere, Refused: _refused, Exception: _unforeseen},
    )
    made.state.shelf = shelf
    made.state.given = tables
    return made


def _warm(worker: Worker, search: bool) -> None:  # noqa: FBT001 - of a thread
    with suppress(Refused, Stopped):  # whatever it is, the first click will say it
        worker.call("warm_up", search=search)


async def _nowhere(_request: Request, _problem: Exception) -> Response:
    return page("nowhere.html", 404)


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Refused)
    part = "hx-request" in request.headers
    return page("part_error.html" if part else "error.html", 422, refusal=problem.refusal, back="/")


async def _unforeseen(_request: Request, problem: Exception) -> Response:
    # Its text may hold a person's data, so only its kind is shown.
    said = f"An unforeseen {type(problem).__name__} stopped the work. Please report it."
    answer = page("error.html", 500, refusal=Refusal(said), back="/")
    answer.headers.update(HEADERS)  # it is written outside of what the guard sees
    return answer
