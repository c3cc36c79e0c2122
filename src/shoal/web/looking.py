"""Step 2, look: what each column is, its role, and how unique people are."""

from __future__ import annotations

import hashlib
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.notation import typed_number
from shoal.web.draft import SINGLE, Draft
from shoal.web.following import ask_desk, follow_roles, follow_secrets, take_proposal
from shoal.web.pages import fill
from shoal.web.standing import bar
from shoal.web.state import hierarchy_name
from shoal.web.trying import offered
from shoal.web.worker import Refusal, Refused, Stopped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    Answer = Callable[[Request], Awaitable[Response]]

    from shoal.web.state import Shelf, Table

OF_COLUMNS = ("type", "hierarchy", "weight", "round", "top", "bottom", "missing", "date_format")
TYPED = ("weight", "round", "top", "bottom")
USED = {"quasi", "sensitive", "never-mix", "person"}  # roles for which missing cells matter
SCANNED = 0.05  # of the time of reading: what it takes to look at how a file is written
MOST_FIELDS = 20_000  # a table may have many columns

STOPPED = Refusal(
    "You stopped reading it. Nothing of the table was kept. Open it again to read it.",
    kind="Stopped",
)


class PlaceInAddress(IntegerConvertor):
    """A place that an address names; there is none of so many digits that nobody counts so far."""

    regex = "[0-9]{1,9}"


register_url_convertor("place", PlaceInAddress())


def given_names(request: Request) -> list[str]:
    """Return the names of the tables that Shoal was started with."""
    return [Path(path).name or path for path in request.app.state.given]


def table_of(request: Request, *, read: bool = True) -> Table:
    """Return the table that an address names, which has been read, so that there is a draft."""
    shelf: Shelf = request.app.state.shelf
    found = shelf.tables.get(request.path_params["table"])
    if found is None:
        raise HTTPException(404)
    if read and found.draft is None:
        raise Refused(Refusal("This table has not been read. Open its page first."))
    return found


def in_turn(answer: Answer) -> Answer:
    """Have a table's questions answered one after the other, each from what is decided by then."""

    @wraps(answer)
    async def answered(request: Request) -> Response:
        async with table_of(request, read=False).turn():
            return await answer(request)

    return answered


def read_file(shelf: Shelf, table: Table) -> None:
    """Read a file as the owner says, and note what was assumed."""

    def watch(phase: str, share: float) -> None:
        table.share = SCANNED * share if phase == "scan" else SCANNED + (1 - SCANNED) * share

    table.share = 0.0
    known: dict[str, Any] = {"path": str(table.path), **table.how}
    try:
        table.opened = shelf.desk.call("open", progress=watch, **known)
    except Stopped:
        raise Refused(STOPPED) from None


def read_once(shelf: Shelf, table: Table) -> None:
    """Read a table once, however many tabs ask for it."""
    with table.reading:
        if table.facts is not None:
            return
        try:
            if table.opened is None:
                read_file(shelf, table)
            facts = shelf.desk.call("look", path=str(table.path), **table.how)
            table.digest = _digest(table.path)
            draft = first_draft(facts, table)
            whom, drawn = next(iter(draft.named("person")), None), table.drawn + 1
            known: dict[str, Any] = {"path": str(table.path), "person": whom, "linked": {}}
            sampled = shelf.desk.call("draw", sample=table.sample(drawn), **known)
        except Refused as refused:
            table.problem = refused.refusal.about(table.path.name, table.name)
            return
        table.problem = None
        table.links, table.columns = {}, dict(enumerate(facts["columns"]))
        table.draft, table.drawn, table.sampled = draft, drawn, sampled
        table.facts = facts


def _digest(path: Path) -> bytes | None:
    """Return what two files have in common only if one is a copy of the other; None of a folder."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def first_draft(facts: dict[str, Any], table: Table) -> Draft:
    """Return what is proposed: roles, types, and a requirement that can be kept."""
    assert table.opened is not None
    unnamed = {one["column"] for one in table.opened["assumed"] if one["key"] == "name"}
    roles, said = {}, {}
    for column in facts["columns"]:
        name = column["name"]
        roles[name] = "drop" if name in unnamed - table.kept else proposed_role(facts, column)
        kept = {"type": column["type"], "order": column["order"] or None}
        said[name] = {key: value for key, value in kept.items() if value}
    for name, way in table.said.get("days", {}).items():
        said[name]["date_format"] = way
    draft = Draft({}, roles, said, reads=table.opened["needed"])
    draft.add([column["name"] for column in facts["columns"]])
    take_proposal(draft, facts["proposal"])
    if any(column["missing"] for column in facts["columns"]):
        draft.rest["missing"] = "value"  # a table without some people can mislead
    return draft


def proposed_role(facts: dict[str, Any], column: dict[str, Any]) -> str:
    """Return the role that is proposed: what looks private is left out unless it is protected."""
    proposal = facts["proposal"]
    protect = proposal["sensitive"] if proposal else facts["protect"][:1]
    if column["role"] == "sensitive" and column["name"] not in protect:
        return "drop"
    return column["role"] or "drop"


async def looked(request: Request, table: Table) -> dict[str, Any]:
    """Return what is shown of columns."""
    return {
        "columns": [card(table, place) for place in _places(table, None)],
        "links": links(table),
        "unique": await _unique(request, table),
        "kinship": table.facts["kinship"] if table.facts else [],
    }


def links(table: Table) -> list[dict[str, Any]]:
    """Return what is shown of each linked table."""
    return [
        {
            "name": name,
            "file": file,
            "rows": table.columns[places[0]]["rows"],
            "columns": [card(table, place) for place in _places(table, name)],
        }
        for name, (file, places) in table.asked.linked.items()
    ]


def _places(table: Table, link: str | None) -> list[int]:
    """Return the places of the columns of the table itself, or of a linked one."""
    linked = {place for _, places in table.asked.linked.values() for place in places}
    own = [place for place in table.asked.columns if place not in linked]
    return own if link is None else table.asked.linked[link][1]


async def draw(shelf: Shelf, table: Table) -> None:
    """Draw rows anew to try prices on: whole people, where somebody has several rows."""
    person = next(iter(table.asked.named("person")), None)
    drawn = table.drawn + 1
    linked = {} if person is None else table.links
    known: dict[str, Any] = {"path": str(table.path), "person": person, "row": table.whom}
    known["linked"] = {table.sample(drawn, name): str(path) for name, path in linked.items()}
    table.sampled = await ask_desk(shelf, table, "draw", sample=table.sample(drawn), **known)
    table.drawn = drawn


async def _unique(request: Request, table: Table) -> dict[str, Any]:
    shelf: Shelf = request.app.state.shelf
    names = table.asked.known_by
    whom = next(iter(table.asked.named("person")), None)
    facts = await ask_desk(shelf, table, "unique", path=str(table.path), names=names, whom=whom)
    return facts | {"names": names, "people": whom is not None}


def card(table: Table, place: int) -> dict[str, Any]:
    """Return everything that the card of a column shows."""
    facts, draft = table.columns[place], table.asked
    proposal = table.facts["proposal"] if table.facts is not None else None
    able = draft.roles_of(place)
    proposed = facts["role"] or "drop"
    if table.facts is not None and place < len(table.facts["columns"]):  # else of a linked table
        proposed = proposed_role(table.facts, facts)
    role = draft.roles.get(facts["name"], "drop") if able else "person"
    said = draft.said.get(facts["name"], {})
    lacking = facts["missing"] if role in USED else 0
    policy = said.get("missing") or draft.rest.get("missing") or "error"
    return facts | {
        "place": place,
        "role": role,
        "able": able,
        "proposed": proposed,
        "private": facts["role"] == "sensitive",
        "beside": list(proposal["sensitive"]) if proposal else [],
        "said": said,
        "open": bool(lacking) and policy == "error",
        "policy": policy,
        "asks": facts["question"] if able and facts["name"] not in draft.answered else None,
    }


async def bars(shelf: Shelf, table: Table) -> str:
    """Return what is open and which rows will go, to replace what is shown of them."""
    shown = await bar(shelf, table)
    return "".join(
        fill(template, apart=True, table=table, **shown)
        for template in ("part_bar.html", "part_asks.html", "part_rows.html", "part_secrets.html")
    )


async def consider_draft(request: Request, table: Table) -> list[dict[str, Any]]:
    """Return what is known of every requirement."""
    shelf: Shelf = request.app.state.shelf
    draft, text, found = table.asked, table.asked.substance, []
    known: dict[str, Any] = {"path": str(table.path), "linked": table.linked}
    try:
        if draft.require:
            found = await ask_desk(shelf, table, "consider", ask=table.ask, **known)
    except Refused as refused:
        problem = refused.refusal
        told = {"problem": problem.sentence, "fix": problem.fix}
        found = [{"text": one, **told} for one in draft.require]
    if text == table.asked.substance:  # else another answer to the same is on its way
        table.considered = found
        await offered(shelf, table, found)
    return found


async def decided(request: Request, table: Table, html: str | None = None) -> Response:
    """Show all that follows from a decision, after what it changed itself; a price follows.

    Everything comes with one answer, so that no other answer can come between its parts.
    """
    shown: dict[str, Any] = {"asked": await consider_draft(request, table), "draft": table.asked}
    own = fill("part_requirements.html", table=table, **shown)
    if html is not None:
        own = f'{html}<div id="requirements" hx-swap-oob="innerHTML">{own}</div>'
    own += fill("part_schema.html", table=table, draft=table.asked, apart=True)
    own += await bars(request.app.state.shelf, table)
    return HTMLResponse(own, headers={"HX-Trigger": "decided"})


@in_turn
async def change_column(request: Request) -> Response:
    """Take a role, a type or the like for one column."""
    table, place = table_of(request), request.path_params["place"]
    draft = table.asked
    if place not in draft.columns:
        raise HTTPException(404)
    name = draft.columns[place]
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: str(value) for key, value in form.items()}
    said |= _typed(said, draft, name)
    others, whom = set(draft.named(*SINGLE)), draft.named("person")
    before = draft.protected
    if (role := said.get(f"role-{place}", "")) in draft.roles_of(place):
        draft.answered |= {name} if role != draft.roles.get(name, "drop") else set()
        draft.give(name, role)
    entries = draft.said.setdefault(name, {})
    for key in OF_COLUMNS:
        if key in said:
            entries[key] = said[key].strip()
    if "type" in said and said["type"] != "ordered":
        entries.pop("order", None)
    draft.rows_chosen |= "missing" in said
    await follow_secrets(request.app.state.shelf, table, before)
    if not draft.require or whom != draft.named("person"):
        await follow_roles(request.app.state.shelf, table)
    html = fill("part_column.html", table=table, column=card(table, place))
    lost = [one for one, other in draft.columns.items() if other in others - {name}]
    for one in lost:  # it may have lost its role to this one
        html += fill("part_column.html", table=table, column=card(table, one), apart=True)
    if whom != draft.named("person"):
        await draw(request.app.state.shelf, table)
        known = {"given": given_names(request), "links": links(table)}
        html += fill("part_linking.html", table=table, draft=draft, **known, apart=True)
    html += fill("part_unique.html", unique=await _unique(request, table), apart=True)
    return await decided(request, table, html)


def _typed(said: dict[str, str], draft: Draft, name: str) -> dict[str, str]:
    """Return the numbers that were typed for a column, spelled plainly."""
    sign, before = draft.of_file.rest.get("decimal"), draft.said.get(name, {})
    plain = {}
    for key in TYPED:
        text = said.get(key, "").strip()
        if text and text != str(before.get(key, "")):
            try:
                found = typed_number(text, sign)
            except ShoalError as problem:
                raise Refused(Refusal(str(problem))) from None
            if found is not None:
                plain[key] = f"{found:f}"
    return plain


@in_turn
async def take_hierarchy(request: Request) -> Response:
    """Take a file that lists the hierarchy of a column; only where it is kept becomes its name."""
    table, place = table_of(request), request.path_params["place"]
    if "quasi" not in table.asked.roles_of(place):
        raise HTTPException(404)
    async with request.form(max_files=1, max_fields=MOST_FIELDS) as form:
        file = form.get("file")
        text = await file.read() if isinstance(file, UploadFile) else b""
    if not text.strip():
        raise Refused(Refusal("No file came. Choose one that lists values with their nodes."))
    kept = table.folder / hierarchy_name(place)
    partial = kept.with_suffix(".partial")
    partial.write_bytes(text)
    partial.replace(kept)
    table.asked.said.setdefault(table.asked.columns[place], {})["hierarchy"] = kept.name
    html = fill("part_column.html", table=table, column=card(table, place))
    return await decided(request, table, html)


ROUTES = [
    Route("/tables/{table}/columns/{place:place}", change_column, methods=["POST"]),
    Route("/tables/{table}/columns/{place:place}/hierarchy", take_hierarchy, methods=["POST"]),
]
