"""Step 3, what it costs: the promise as it stands, and everything that could be chosen instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from shoal.web.deciding import MOST_REQUIRED
from shoal.web.draft import parted
from shoal.web.looking import MOST_FIELDS, table_of
from shoal.web.pages import page
from shoal.web.worker import Refused, Worker

if TYPE_CHECKING:
    from starlette.requests import Request

    from shoal.web.state import Shelf, Table

LETTERS = "BCDEFG"  # of what could be instead; A is what was asked for
PATIENCE = {"suppress": 1.5}  # seconds of a trial that searches several times


async def price(request: Request) -> Response:
    """Try what is asked for on a sample of the rows."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    if not table.asked.require:
        return page("part_price.html", table=table, price=None, refusal=None)
    text = table.asked.toml()
    try:
        found = await _ask(shelf.bench, table, "price")
    except Refused as refused:
        answer = page("part_price.html", table=table, price=None, refusal=refused.refusal)
    else:
        table.priced = (text, found)
        answer = page("part_price.html", table=table, price=found, refusal=None)
    answer.headers["HX-Trigger"] = "priced"  # what could be instead is priced after it
    return answer


async def _ask(worker: Worker, table: Table, name: str, **arguments: Any) -> Any:
    drawn = table.drawn
    known: dict[str, Any] = {"sample": table.sample(drawn), "file": table.note()}
    known["linked"] = {link: table.sample(drawn, link) for link in table.linked}
    return await run_in_threadpool(worker.call, name, **known, **arguments)


class Overtaken(Exception):
    """Something else was decided while prices were being tried."""


class Trials:
    """Tries one thing after the other, as long as nothing else is decided."""

    def __init__(self, request: Request) -> None:
        self.worker: Worker = request.app.state.shelf.till
        self.table = table_of(request)
        self.text = self.table.asked.toml()

    async def ask(self, name: str, **arguments: Any) -> Any:
        """Have something tried, or raise where it would be in vain."""
        found = await _ask(self.worker, self.table, name, **arguments)
        if self.table.asked.toml() != self.text:
            raise Overtaken
        return found

    async def price(self, **changes: Any) -> dict[str, Any]:
        """Return what a change costs, or why that cannot be told."""
        try:
            facts = await self.ask("price", **changes)
        except Refused as refused:
            return {"loss": None, "problem": refused.refusal.sentence}
        return {"loss": facts["loss"]["gcp"], "ncp": facts["loss"]["ncp"]}


async def prices(request: Request) -> Response:
    """Show what alternatives, methods or forms cost; nothing where that is not known any more."""
    trials, kind = Trials(request), request.path_params["kind"]
    if kind not in SHOWN:
        raise HTTPException(404)
    find, template = SHOWN[kind]
    try:
        found = await find(trials) if trials.table.asked.require else {}
    except Overtaken:  # others are on their way
        return Response(status_code=204)
    except Refused:  # the price of the promise itself says why
        found = {}
    return page(template, table=trials.table, apart=True, **(found or {"found": {}}))


async def _alternatives(trials: Trials) -> dict[str, Any]:
    text, known = trials.table.priced
    now = known.get("loss") if text == trials.text else None
    found = await trials.ask("alternatives", lost=now["ncp"] if now else {})
    for one in found:
        changes = {key: value for key, value in one.items() if key not in {"kind", "at"}}
        patience = PATIENCE.get(one["kind"])
        one["price"] = await trials.price(**changes, patience=patience)
    for letter, one in zip(LETTERS, found, strict=False):
        one["letter"] = letter
    marked = [
        (place, asked, [one for one in found if one.get("at", {}).get("place") == place])
        for place, asked in enumerate(trials.table.considered)
        if asked.get("frontier")
    ]
    return {"now": now["gcp"] if now else None, "found": found, "marked": marked}


async def _methods(trials: Trials) -> dict[str, Any]:
    assert trials.table.facts is not None
    found = await trials.ask("methods")
    for one in found:
        one["price"] = await trials.price(method=one["method"])
    return {"found": {one["method"]: one for one in found}}


async def _forms(trials: Trials) -> dict[str, Any]:
    return {"found": {one["form"]: one for one in await trials.ask("forms")}}


SHOWN = {
    "alternatives": (_alternatives, "part_alternatives.html"),
    "methods": (_methods, "part_method_prices.html"),
    "forms": (_forms, "part_form_prices.html"),
}


async def take(request: Request) -> Response:
    """Take an alternative: other requirements, rows that may go, or a column fewer."""
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: str(value) for key, value in form.items()}
    if texts := parted(said.get("require", "")):
        draft.require, draft.own = texts[:MOST_REQUIRED], True
    if said.get("suppress"):
        draft.rest["suppress"] = said["suppress"]
    if said.get("drop") in draft.known_by:
        draft.give(said["drop"], "drop")
    table.note()
    return RedirectResponse(f"/tables/{table.id}#decide", 303)


ROUTES = [
    Route("/tables/{table}/price", price),
    Route("/tables/{table}/prices/{kind}", prices),
    Route("/tables/{table}/take", take, methods=["POST"]),
]
