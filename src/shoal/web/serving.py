"""The server of the page: on this machine alone, for as long as the command runs.

Here stand the addresses, with what is done at each, and the directory of a page, which is its
owner's alone and gone when the page ends.

A page that was killed leaves its directory behind without the lock that it held on it, so that the
next one can tell, and clears it away.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
import webbrowser
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from shoal.errors import InputError, OutputError
from shoal.platforms import STOPS, UNHELD, holds_directories, is_mine, let_go, lock, unlinked_flags
from shoal.web import (
    answering,
    checking,
    deciding,
    earlier,
    importing,
    linking,
    looking,
    opening,
    pricing,
    project,
    publishing,
    watching,
)
from shoal.web.guard import HEADERS, Guard
from shoal.web.listening import HOST, Impatient, listening
from shoal.web.pages import page
from shoal.web.state import Shelf
from shoal.web.worker import Refusal, Refused, Stopped, cannot_write, unforeseen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

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
        *importing.ROUTES,
        *looking.ROUTES,
        *linking.ROUTES,
        *deciding.ROUTES,
        *watching.ROUTES,
        *pricing.ROUTES,
        *publishing.ROUTES,
        *checking.ROUTES,
        *answering.ROUTES,
        *earlier.ROUTES,
        *project.ROUTES,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    guard = Middleware(Guard, port=port, token=token, most_bytes=most_bytes)
    made = Starlette(
        routes=routes,
        middleware=[guard],
        lifespan=lifespan,
        exception_handlers={
            404: _nowhere,
            Refused: _refused,
            OSError: _cannot_write,
            OutputError: _cannot_write,
            Exception: _unforeseen,
        },
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
    return _told(request, problem.refusal, 422)


async def _cannot_write(request: Request, problem: Exception) -> Response:
    if isinstance(problem, OutputError):  # which has a sentence
        return _told(request, Refusal(str(problem), exit_code=4, kind="CannotWrite"), 507)
    assert isinstance(problem, OSError)
    return _told(request, cannot_write(problem), 507)


def _told(request: Request, refusal: Refusal, status: int) -> Response:
    if "hx-request" not in request.headers:
        return page("error.html", status, refusal=refusal, back="/")
    # It stands at the top of the page, and what was there stays. The owner reads the sentence: a
    # browser that was told of an error would log one as well.
    answer = page("part_error.html", refusal=refusal)
    answer.headers.update({"HX-Retarget": "#told", "HX-Reswap": "innerHTML"})
    if request.method == "POST":  # what was decided before it has a price all the same
        answer.headers["HX-Trigger"] = "decided"
    return answer


async def _unforeseen(_request: Request, problem: Exception) -> Response:
    answer = page("error.html", 500, refusal=unforeseen(problem), back="/")
    answer.headers.update(HEADERS)  # it is written outside of what the guard sees
    return answer


PREFIX = "shoal-page-"
OWNER = 0o700


@contextmanager
def private_directory(beside: str | Path | None = None) -> Iterator[Path]:
    """Give a directory that only its owner can read, gone afterwards; clear those of the dead."""
    home = Path(beside or tempfile.gettempdir())
    clear_leftovers(home)
    made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))  # for its owner alone, by contract
    held = UNHELD
    if holds_directories():
        held = os.open(made, os.O_RDONLY)
        lock(held)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        let_go(held)


def clear_leftovers(home: Path) -> None:
    """Remove the directories of this person's pages that nobody holds any more."""
    for path in home.glob(f"{PREFIX}*") if holds_directories() else ():
        with suppress(OSError):  # somebody else's, or just gone
            found = path.lstat()
            if not stat.S_ISDIR(found.st_mode) or not is_mine(found):
                continue
            held = os.open(path, unlinked_flags(os.O_RDONLY))
            try:
                if lock(held):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(held)


PATIENCE = 1  # seconds that open connections have once the page ends


class Server(uvicorn.Server):
    """A server that ends quietly when it is asked to."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End when the system, or whoever sits at it, asks; that is how a page ends."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        try:
            for stop in STOPS:
                loop.add_signal_handler(stop, self.handle_exit, stop, None)
        except NotImplementedError:  # Windows hears them outside of its loop
            kept = {stop: signal.signal(stop, self.handle_exit) for stop in STOPS}
            yield
            for stop, handler in kept.items():
                signal.signal(stop, handler)
            return
        yield
        for stop in STOPS:
            loop.remove_signal_handler(stop)


def server_of(app: Starlette) -> Server:
    """Return what serves a page."""
    config = uvicorn.Config(
        app,
        http=Impatient,
        log_level="critical",
        access_log=False,  # the first address has the token
        timeout_graceful_shutdown=PATIENCE,
        server_header=False,
    )
    return Server(config)


def run(tables: tuple[str, ...], *, port: int, browser: bool, ready: Callable[[str], None]) -> None:
    """Serve the page until it is ended; nothing is left behind then."""
    for path in tables:
        if not Path(path).exists():
            msg = f"There is no table {path!r}."
            raise InputError(msg)
    with private_directory() as home, listening(port) as listener:
        token = secrets.token_urlsafe(32)
        port = listener.getsockname()[1]
        app = make_app(
            home, port=port, token=token, tables=tuple(str(Path(t).resolve()) for t in tables)
        )
        address = f"http://{HOST}:{port}/?token={token}"
        server = server_of(app)
        threading.Thread(
            target=_announce, args=(server, address, browser, ready), daemon=True
        ).start()
        server.run([listener])


def _announce(server: Server, address: str, browser: bool, ready: Callable[[str], None]) -> None:  # noqa: FBT001
    while not server.started and not server.should_exit:
        threading.Event().wait(0.01)
    ready(address)
    if browser:
        webbrowser.open(address)
