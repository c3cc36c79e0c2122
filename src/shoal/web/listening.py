"""What listens for the page: on this machine alone, and for nobody who does not say what he wants.

A connection that has asked for nothing after some seconds is closed, and so is one that began to
ask and did not go on: otherwise a handful of them keeps everybody else out.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from shoal.errors import OutputError, option
from shoal.web.guard import WAIT

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

HOST = "127.0.0.1"  # nobody else's machine gets here
# Browsers open none of these (Fetch, "port blocking"): 80 and most others below 1024 they do.
BLOCKED = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
})  # fmt: skip
OTHER = f"Choose another one, for example {option('port', 8000)}, or leave the option out."


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Give a socket that listens on a port, 0 for any that is free."""
    if port in BLOCKED:
        msg = f"Browsers refuse to open pages on port {port}. {OTHER}"
        raise OutputError(msg)
    with socket.socket() as listener:
        # On Windows the usual option would let another program listen on the same port.
        alone = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        listener.setsockopt(socket.SOL_SOCKET, alone, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except OSError as problem:
            msg = f"Port {port} cannot be used: {problem.strerror}. {OTHER}"
            raise OutputError(msg) from None
        yield listener


class Impatient(H11Protocol):
    """Speaks HTTP with whoever asks for something within seconds."""

    _until: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; what a request holds is waited for by those who read it."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._until is None and not self.transport.is_closing():
            self._until = self.loop.call_later(WAIT, self.transport.close)

    def _forget(self) -> None:
        if self._until is not None:
            self._until.cancel()
            self._until = None
