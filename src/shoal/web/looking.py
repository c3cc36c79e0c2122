"""Step 2, look: what each column is, its role, and how unique people are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Route

from shoal.web.draft import SINGLE, Draft
from shoal.web.following import ask_desk, follow_roles, follow_secrets, take_proposal
from shoal.web.pages import fill
from shoal.web.standing import bar
from shoal.web.state import hierarchy_name
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table

OF_COLUMNS = ("type", "hierarchy", "weight", "round", "top", "bottom", "missing", "date_format")
USED = {"quasi", "sensitive", "never-mix", "person"}  # roles for which missing cells matter
NUMBERS = {"weight", "round", "top", "bottom"}
NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,300})?")
MOST_FIELDS = 20_000  # a table may have many columns


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


def read_once(shelf: Shelf, table: Table) -> None:
    """Read a table once, however many tabs ask for it."""
    with table.reading:
        if table.facts is not None:
            return
        try:
            facts = shelf.desk.call("look", path=str(table.path), **table.how)
            draft = first_draft(facts)
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
        table.note()


def first_draft(facts: dict[str, Any]) -> Draft:
    """Return what is proposed: roles, types, and a requirement that can be kept."""
    proposal = facts["proposal"]
    protect = proposal["sensitive"] if proposal else facts["protect"][:1]
    roles, said = {}, {}
    for column in facts["columns"]:
        name, role = column["name"], column["role"]
        kept = role is not None and (role != "sensitive" or name in protect)
        roles[name] = role if kept else "drop"
        kept = {"type": column["type"], "order": column["order"] or None}
        said[name] = {key: value for key, value in kept.items() if value}
    draft = Draft({}, roles, said)
    draft.add([column["name"] for column in facts["columns"]])
    take_proposal(draft, proposal)
    if any(column["missing"] for column in facts["columns"]):
        draft.rest["missing"] = "value"  # a table without some people can mislead
    return draft


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
    known: dict[str, Any] = {"path": str(table.path), "person": person}
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
    able = draft.roles_of(place)
    role = draft.roles.get(facts["name"], "drop") if able else "person"
    said = draft.said.get(facts["name"], {})
    lacking = facts["missing"] if role in USED else 0
    policy = said.get("missing") or draft.rest.get("missing", "error")
    return facts | {
        "place": place,
        "role": role,
        "able": able,
        "proposed": facts["role"] or "drop",
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


async def change_column(request: Request) -> Response:
    """Take a role, a type or the like for one column."""
    table, place = table_of(request), request.path_params["place"]
    draft = table.asked
    if place not in draft.columns:
        raise HTTPException(404)
    name = draft.columns[place]
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: str(value) for key, value in form.items()}
    others, whom = set(draft.named(*SINGLE)), draft.named("person")
    before = draft.protected
    if (role := said.get(f"role-{place}", "")) in draft.roles_of(place):
        draft.answered |= {name} if role != draft.roles.get(name, "drop") else set()
        draft.give(name, role)
    entries = draft.said.setdefault(name, {})
    for key in OF_COLUMNS:
        if key in said:
            _keep(entries, key, said[key].strip())
    draft.rows_chosen |= "missing" in said
    await follow_secrets(request.app.state.shelf, table, before)
    if not draft.require or whom != draft.named("person"):
        await follow_roles(request.app.state.shelf, table)
    table.note()
    html = fill("part_column.html", table=table, column=card(table, place))
    lost = [one for one, other in draft.columns.items() if other in others - {name}]
    for one in lost:  # it may have lost its role to this one
        html += fill("part_column.html", table=table, column=card(table, one), apart=True)
    if whom != draft.named("person"):
        await draw(request.app.state.shelf, table)
        known = {"given": given_names(request), "links": links(table)}
        html += fill("part_linking.html", table=table, draft=draft, **known, apart=True)
    html += fill("part_unique.html", unique=await _unique(request, table), apart=True)
    html += await bars(request.app.state.shelf, table)
    return HTMLResponse(html, headers={"HX-Trigger": "roles"})


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
    table.note()
    html = fill("part_column.html", table=table, column=card(table, place))
    return HTMLResponse(html, headers={"HX-Trigger": "roles"})


def _keep(entries: dict[str, Any], key: str, value: str) -> None:
    if not value:
        entries.pop(key, None)
    elif key in NUMBERS and NUMBER.fullmatch(value):
        entries[key] = float(value) if "." in value else int(value)
    else:
        entries[key] = value
    if key == "type" and value != "ordered":
        entries.pop("order", None)


ROUTES = [
    Route("/tables/{table}/columns/{place:place}", change_column, methods=["POST"]),
    Route("/tables/{table}/columns/{place:place}/hierarchy", take_hierarchy, methods=["POST"]),
]
