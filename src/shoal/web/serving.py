"""The server of the page: on this machine alone, for as long as the command runs."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import socket
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from shoal.errors import InputError, OutputError
from shoal.web.app import make_app
from shoal.web.private import private_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = "127.0.0.1"  # nobody else's machine gets here
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
        stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for stop in stops:
            loop.add_signal_handler(stop, self.handle_exit, stop, None)
        yield
        for stop in stops:
            loop.remove_signal_handler(stop)


def run(tables: tuple[str, ...], *, port: int, browser: bool, ready: Callable[[str], None]) -> None:
    """Serve the page until it is ended; nothing is left behind then."""
    for path in tables:
        if not Path(path).exists():
            msg = f"There is no table {path!r}."
            raise InputError(msg)
    with private_directory() as home, _listening(port) as listener:
        token = secrets.token_urlsafe(32)
        port = listener.getsockname()[1]
        app = make_app(
            home, port=port, token=token, tables=tuple(str(Path(t).resolve()) for t in tables)
        )
        address = f"http://{HOST}:{port}/?token={token}"
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,  # the first address has the token
            timeout_graceful_shutdown=PATIENCE,
            server_header=False,
        )
        server = Server(config)
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


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as problem:
            msg = f"Port {port} cannot be used: {problem.strerror}. Name another, or none."
            raise OutputError(msg) from None
        listener.listen()
        yield listener
