"""Who may talk to the page: whoever has the token, from this machine, through no other site."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost")
SAFE = {"GET", "HEAD"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
# A report has its style within itself, and runs nothing.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; "
    "base-uri 'none'; form-action 'none'; sandbox allow-popups"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none at all, a form says no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
UPLOADS = re.compile(r"/tables|/check|/tables/\w+/linked")  # where tables come in
MOST_TEXT = 4 * 2**20  # bytes of what is posted that is no table
MOST_DIGITS = 15  # of a number of bytes
WAIT = 8.0  # seconds that nothing may come of what somebody has begun to send
SLOWEST = 50_000  # bytes a second that it must come by in all, beyond that
PLAIN = 80  # the port that browsers leave out of addresses
SIGNS = re.compile(r"charset\s*=\s*\"?(?!utf-?8\b)", re.IGNORECASE)  # of which some are no text
FOREIGN = (
    "Shoal refused this, because another site sent it. Open the page at the address that "
    "`shoal serve` printed."
)


class Guard:
    """Lets in who has the secret, and says in every answer what a browser may do with it.

    The token stands in the first address alone; it is exchanged for a cookie, which other sites
    cannot use and scripts cannot read. The name of the host is checked because a foreign name may
    come to mean this machine, the origin because a foreign page may post here.
    """

    def __init__(self, app: ASGIApp, *, port: int, token: str, most_bytes: int) -> None:
        self.app, self.port, self.token, self.most_bytes = app, port, token, most_bytes
        self.secret = secrets.token_urlsafe(32)
        self.cookie = f"shoal-{port}"  # pages on two ports share the cookies of the machine
        self.hosts = {f"{name}:{port}" for name in NAMES} | set(NAMES if port == PLAIN else ())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self.refusal(scope) or self.app
        try:
            await answer(scope, _in_time(receive, scope), with_headers)
        except TooSlow:
            late = _no("What was sent came too slowly. Send it again.", 408, connection="close")
            await late(scope, receive, with_headers)

    def refusal(self, scope: Scope) -> ASGIApp | None:
        """Return what a request that may not pass is told, None where it may."""
        headers, method = Headers(scope=scope), scope["method"]
        if headers.get("host") not in self.hosts:
            return _no(
                "Open the page on this computer, by the address that `shoal serve` printed.", 421
            )
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return _no(FOREIGN, 403)
        if method not in SAFE and headers.get("origin") != f"http://{headers['host']}":
            return _no(FOREIGN, 403)
        if (
            method in SAFE
            and scope["path"] == "/"
            and "token" in QueryParams(scope["query_string"])
        ):
            return self._welcome(QueryParams(scope["query_string"])["token"])
        if not any(map(self._known, headers.getlist("cookie"))):
            return _no("Open the page by the address that `shoal serve` printed.", 403)
        if SIGNS.search(headers.get("content-type", "")):
            return _no("What is sent must be in UTF-8.", 415)
        return self._too_large(headers, scope)

    def _welcome(self, token: str) -> ASGIApp:
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return _no("This address is out of date. Take the one that `shoal serve` printed.", 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie, self.secret, httponly=True, samesite="strict", path="/")
        return answer

    def _known(self, said: str) -> bool:
        """Whether cookies hold the secret; those of other programs are none of our business."""
        pairs = (one.strip().partition("=") for one in said.split(";"))
        return any(
            name == self.cookie
            and secrets.compare_digest(value.strip('"').encode(), self.secret.encode())
            for name, _, value in pairs
        )

    def _too_large(self, headers: Headers, scope: Scope) -> ASGIApp | None:
        """Refuse what is too large before any of it is read; nobody may send without saying."""
        if scope["method"] in SAFE:
            return None
        size = headers.get("content-length", "")
        if not size.isdecimal():
            return _no("The request must state its length (Content-Length).", 411)
        most = self.most_bytes if UPLOADS.fullmatch(scope["path"]) else MOST_TEXT
        if len(size) > MOST_DIGITS or int(size) > most:
            return _no(f"This is larger than {most / 2**20:,.0f} MB.", 413)
        return None


class TooSlow(Exception):
    """Somebody began to send something and did not go on."""


def _in_time(receive: Receive, scope: Scope) -> Receive:
    """Return how to hear of a request: what it holds must come soon, what follows may take long."""
    size = Headers(scope=scope).get("content-length", "0")
    whole = int(size) if size.isdecimal() and len(size) <= MOST_DIGITS else 0
    left = WAIT + whole / SLOWEST
    ended = scope["method"] in SAFE

    async def heard() -> Message:
        nonlocal left, ended
        if ended:  # from here on only that somebody went away is told
            return await receive()
        begun = time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), min(left, WAIT))
        except TimeoutError:
            raise TooSlow from None
        left -= time.monotonic() - begun
        ended = not message.get("more_body", False)
        return message

    return heard


def _no(words: str, status: int, **headers: str) -> ASGIApp:
    return PlainTextResponse(words + "\n", status, headers)
