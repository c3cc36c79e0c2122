"""Step 3, what it costs: the promise as it stands, and everything that could be chosen instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from shoal.exact import percent
from shoal.notation import parted
from shoal.web import words
from shoal.web.following import MOST_REQUIRED, ask_desk
from shoal.web.looking import MOST_FIELDS, bars, in_turn, table_of
from shoal.web.pages import fill, page
from shoal.web.standing import NOT_ACHIEVABLE, foreseen, unpriceable
from shoal.web.trying import dispensable, look_ahead, working
from shoal.web.worker import Refused, Worker

if TYPE_CHECKING:
    from starlette.requests import Request

    from shoal.web.state import Shelf, Table
    from shoal.web.worker import Values

COUNTED = ("m", "l", "k")  # numbers of requirements that grow with protection, the first one first
TRIED = (2, 3, 5, 8, 12)  # of which so many are tried
LETTERS = "BCDEFG"  # of what could be instead; A is what was asked for


async def price(request: Request) -> Response:
    """Estimate what is asked for; where there is no price, say why and what to do next."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    known: dict[str, Any] = {"table": table, "draft": table.asked, "price": None, "refusal": None}
    known |= {"state": unpriceable(table), "remedies": []}
    if known["state"]:
        html = fill("part_price.html", **known, asked=table.considered)
        return HTMLResponse(html, headers={"HX-Trigger": "priced"})  # nor has anything else one
    asked = table.asked.ask()
    await look_ahead(shelf, table, wait=True)
    known["refusal"] = foreseen(table)
    if known["refusal"] is None:
        try:
            known["price"] = await _ask(shelf.bench, table, "price", **await _of_all(shelf, table))
            table.priced, known["refusal"] = (asked, known["price"]), None
            table.refused = (None, None) if table.refused[0] == asked else table.refused
        except Refused as refused:
            known["refusal"] = refused.refusal
            if refused.refusal.exit_code == NOT_ACHIEVABLE and not table.tried_whole:
                known["state"] = "sample"
            elif asked == table.asked.ask():
                # Not where something else was decided, and tried, meanwhile.
                table.refused = asked, refused.refusal
    if known["refusal"] and not known["state"]:
        known["state"] = "refused" if known["refusal"].exit_code == NOT_ACHIEVABLE else "wrong"
        known["remedies"] = await working(shelf, table, known["refusal"].fix)
        known["without"] = await dispensable(shelf, table) if known["state"] == "refused" else []
    table.weighed = asked
    html = fill("part_price.html", **known)
    async with table.deciding:
        html += await bars(shelf, table)
    # What could be instead is priced after it.
    return HTMLResponse(html, headers={"HX-Trigger": "priced"})


async def _of_all(shelf: Shelf, table: Table) -> dict[str, Any]:
    """Return what an estimate has to know of the whole table."""
    assert table.facts is not None
    known: dict[str, object] = {"path": str(table.path), "ask": table.ask}
    reach = await ask_desk(shelf, table, "reach", **known)
    return {"whole": table.facts["rows"], "reach": reach}


async def _ask(worker: Worker, table: Table, name: str, **arguments: Any) -> Any:
    drawn = table.drawn
    known: dict[str, Any] = {"sample": table.sample(drawn), "ask": table.ask}
    known["linked"] = {link: table.sample(drawn, link) for link in table.linked}
    return await run_in_threadpool(worker.call, name, **known, **arguments)


class Overtaken(Exception):
    """Something else was decided while prices were being tried."""


class Trials:
    """Tries one thing after the other, as long as nothing else is decided."""

    def __init__(self, request: Request) -> None:
        self.shelf: Shelf = request.app.state.shelf
        self.table = table_of(request)
        self.asked = self.table.asked.ask()

    async def ask(self, name: str, **arguments: Any) -> Any:
        """Have something tried, or raise where it would be in vain."""
        found = await _ask(self.shelf.till, self.table, name, **arguments)
        if self.table.asked.ask() != self.asked:
            raise Overtaken
        return found

    @property
    def now(self) -> float | None:
        """The share of rows that go as it is decided, None where that has no price."""
        asked, price = self.table.priced
        return price["going"]["all"] if asked == self.asked else None

    async def price(self, **changes: Any) -> dict[str, Any]:
        """Return what a change costs, or why that cannot be told.

        What more rows gain was found for what is asked for, and is taken for every change.
        """
        asked, now = self.table.priced
        known_now = asked == self.asked and not now["rough"]
        like = (now["rows"], now["factor"]) if known_now else None
        try:
            known = await _of_all(self.shelf, self.table)
            facts = await self.ask("price", **known, like=like, **changes)
        except Refused as refused:
            beyond = refused.refusal.exit_code == NOT_ACHIEVABLE
            return {"loss": None, "problem": refused.refusal.sentence, "beyond": beyond}
        gone = rows_beside(self.table, facts["going"]["all"], self.now)
        loss, going = facts["loss"], facts["going"]["all"]
        return {"loss": loss["gcp"], "ncp": loss["ncp"], "gone": gone, "going": going}


def rows_beside(table: Table, share: float, now: float | None) -> str:
    """Say how many rows of a table go by a choice, and now, where any go by either."""
    assert table.facts is not None
    rows, about = table.facts["rows"], "" if table.tried_whole else "about "
    gone, before = round(share * rows), None if now is None else round(now * rows)
    if not gone and not before:
        return ""
    said = f"{about}{gone:,} rows go ({percent(share)})" if gone else "no row goes"
    if before is not None:
        now_gone = "as many" if gone == before else words.whole(before) if before else "none"
        said += f", with your choice {now_gone}"
    return said


async def prices(request: Request) -> Response:
    """Show what alternatives, methods or forms cost; nothing where that is not known any more."""
    trials, kind = Trials(request), request.path_params["kind"]
    if kind not in SHOWN:
        raise HTTPException(404)
    find, template = SHOWN[kind]
    try:
        found = {} if unpriceable(trials.table) else await find(trials)
    except Overtaken:  # others are on their way
        return Response(status_code=204)
    except Refused:  # the price of the promise itself says why
        found = {}
    return page(template, table=trials.table, apart=True, **(found or {"found": {}}))


async def _alternatives(trials: Trials) -> dict[str, Any]:
    asked, known = trials.table.priced
    now = known.get("loss") if asked == trials.asked else None
    found = await trials.ask("alternatives", lost=now["ncp"] if now else {})
    for one in found:
        changes = {key: value for key, value in one.items() if key not in {"kind", "at"}}
        one["price"] = await trials.price(**changes)
    found = [one for one in found if _worth(one, now, whole=trials.table.tried_whole)]
    for letter, one in zip(LETTERS, found, strict=False):
        one["letter"] = letter
    marked = [
        (place, asked, [one for one in found if one.get("at", {}).get("place") == place])
        for place, asked in enumerate(trials.table.considered)
        if asked.get("frontier")
    ]
    return {"now": now["gcp"] if now else None, "found": found, "marked": marked, "tried": True}


def _worth(one: dict[str, Any], now: dict[str, Any] | None, *, whole: bool) -> bool:
    """Return whether an alternative is one: it can be had, and what only saves detail saves some.

    What a part of the rows does not reach, all of them may.
    """
    lost = one["price"]["loss"]
    if lost is None:
        return not whole
    return now is None or one["kind"] not in {"suppress", "drop"} or lost < now["gcp"]


async def _methods(trials: Trials) -> dict[str, Any]:
    assert trials.table.facts is not None
    found = await trials.ask("methods")
    for one in found:
        one["price"] = await trials.price(method=one["method"])
    return {"found": {one["method"]: one for one in found}}


async def _rows(trials: Trials) -> dict[str, Any]:
    """Return what keeping all rows costs, where some would go."""
    going = trials.table.going
    if not going.get("gone"):
        return {}
    return {"found": {"keep": await trials.price(missing="value")}}


async def _forms(trials: Trials) -> dict[str, Any]:
    return {"found": {one["form"]: one for one in await trials.ask("forms")}}


async def _curve(trials: Trials) -> dict[str, Any]:
    """Return what stricter and less strict promises lose, as the first number that counts moves."""
    table, require = trials.table, trials.table.asked.require
    place, name = next(
        (
            (place, name)
            for place, one in enumerate(table.considered)
            for name in COUNTED
            if name in one.get("numbers", {})
        ),
        (0, ""),
    )
    if not name:
        return {}
    one, points = table.considered[place], []
    now = one["numbers"][name]
    known: dict[str, Any] = {"sensitive": table.asked.named("sensitive"), "text": require[place]}
    for value in sorted({*TRIED, now}):
        known["numbers"] = {name: str(value)}
        text = await run_in_threadpool(trials.shelf.desk.call, "change", **known)
        other = [*require[:place], text, *require[place + 1 :]]
        asked, price = table.priced
        if value == now and asked == trials.asked:
            found = {"loss": price["loss"]["gcp"], "going": price["going"]["all"]}
        else:
            found = await trials.price(require=other)
        points.append(found | {"value": value, "here": value == now, "require": other})
    label, before = one["knobs"].get(name, (name, ""))
    never_dearer(points)
    return {"found": points, "label": label, "before": before, "aim": one.get("aim", one["text"])}


def never_dearer(points: list[Values]) -> None:
    """Let no promise lose more than a stricter one, which keeps it too; the owner's has its price.

    Each is an estimate of its own, so a stricter one may have come out cheaper by chance. One that
    leaves out more rows is cheaper for that, and says nothing of the others.

    >>> points = [{"loss": loss, "here": loss == 0.3} for loss in (0.4, 0.3, 0.2, 0.25, None)]
    >>> never_dearer(points)
    >>> [one["loss"] for one in points]
    [0.2, 0.3, 0.2, 0.25, None]
    >>> points = [{"loss": 0.4, "going": 0.1}, {"loss": 0.2, "going": 0.3}]
    >>> never_dearer(points)
    >>> [one["loss"] for one in points]
    [0.4, 0.2]
    """
    for place, one in enumerate(points):
        if not one.get("here") and one["loss"] is not None:
            stricter = (other for other in points[place:] if other["loss"] is not None)
            one["loss"] = min(
                other["loss"] for other in stricter if other.get("going", 0) <= one.get("going", 0)
            )


SHOWN = {
    "curve": (_curve, "part_curve.html"),
    "alternatives": (_alternatives, "part_alternatives.html"),
    "methods": (_methods, "part_method_prices.html"),
    "forms": (_forms, "part_form_prices.html"),
    "rows": (_rows, "part_keep_price.html"),
}


@in_turn
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
    return RedirectResponse(f"/tables/{table.id}#decide", 303)


ROUTES = [
    Route("/tables/{table}/price", price),
    Route("/tables/{table}/prices/{kind}", prices),
    Route("/tables/{table}/take", take, methods=["POST"]),
]
