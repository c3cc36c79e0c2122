"""Steps 2 and 3, look and decide: roles of columns, and what is to be promised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.web import words
from shoal.web.draft import GONE, ROLES, Draft, parted
from shoal.web.pages import fill, page
from shoal.web.state import hierarchy_name
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table

USUAL = {"form": "intervals", "rows": "known"}
KEPT = ("missing", "suppress", "method", "form", "title", "seconds", "rows", "most_rows")
OF_COLUMNS = ("type", "hierarchy", "weight", "round", "top", "bottom", "missing", "date_format")
USED = {"quasi", "sensitive", "never-mix", "person"}  # roles for which missing cells matter
NUMBERS = {"weight", "round", "top", "bottom"}
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
MOST_REQUIRED = 8
MOST_FIELDS = 20_000  # a table may have many columns


def table_of(request: Request) -> Table:
    """Return the table that an address names."""
    shelf: Shelf = request.app.state.shelf
    found = shelf.tables.get(request.path_params["table"])
    if found is None:
        raise HTTPException(404)
    return found


async def table_page(request: Request) -> Response:
    """Show the columns and what is to be decided, or that the table is being read."""
    table = table_of(request)
    values = await _body(request, table) if table.facts is not None else {}
    return page("table.html", table=table, read=table.facts is not None, **values)


async def body(request: Request) -> Response:
    """Read a table, and show its columns."""
    table = table_of(request)
    await run_in_threadpool(_read, request.app.state.shelf, table)
    if table.problem is not None:
        return page("part_unreadable.html", table=table, refusal=table.problem)
    return page("part_body.html", table=table, **await _body(request, table))


def _read(shelf: Shelf, table: Table) -> None:
    """Read a table once, however many tabs ask for it."""
    with table.reading:
        if table.facts is not None:
            return
        how: dict[str, Any] = {"encoding": table.encoding, "delimiter": table.delimiter}
        try:
            facts = shelf.desk.call("look", path=str(table.path), sample=str(table.sample), **how)
        except Refused as refused:
            kept, shown = repr(table.path.name), repr(table.name)  # it was never called so
            known = refused.refusal
            sentence = known.sentence.replace(kept, shown)
            table.problem = Refusal(sentence, known.fix, known.exit_code, known.kind)
            return
        table.problem = None
        table.draft = first_draft(facts)
        table.facts = facts
        table.note()


def first_draft(facts: dict[str, Any]) -> Draft:
    """Return what is proposed: roles, types, and a requirement that can be kept."""
    protect = facts["protect"]
    roles, said = {}, {}
    for column in facts["columns"]:
        name, role = column["name"], column["role"]
        roles[name] = "drop" if role is None or (role == "sensitive" and name != protect) else role
        kept = {"type": column["type"], "order": column["order"] or None}
        said[name] = {key: value for key, value in kept.items() if value}
    draft = Draft([column["name"] for column in facts["columns"]], roles, said)
    _propose(draft, facts["proposal"])
    return draft


def _propose(draft: Draft, proposal: dict[str, Any] | None) -> None:
    """Take over a proposal, as long as the owner has not asked for something else."""
    if draft.own:
        return
    draft.require = list(proposal["require"]) if proposal else []
    if proposal and proposal["missing"] != "error":
        draft.rest.setdefault("missing", proposal["missing"])


async def _body(request: Request, table: Table) -> dict[str, Any]:
    asked = await _requirements(request, table)
    return {**await _look(request, table), **_bar(table), "asked": asked, "draft": table.asked}


async def _look(request: Request, table: Table) -> dict[str, Any]:
    """Return what is shown of columns."""
    return {
        "columns": [card(table, place) for place in range(len(table.asked.columns))],
        "unique": await _unique(request, table),
        "kinship": table.facts["kinship"] if table.facts else [],
    }


async def _unique(request: Request, table: Table) -> dict[str, Any]:
    shelf: Shelf = request.app.state.shelf
    names = table.asked.known_by
    facts = await _desk(shelf, table, "unique", path=str(table.path), names=names)
    return facts | {"names": names}


async def _desk(shelf: Shelf, table: Table, name: str, **arguments: Any) -> Any:
    """Ask the desk about a table; after a crash it has to read it again first."""
    try:
        return await run_in_threadpool(shelf.desk.call, name, **arguments)
    except Refused as refused:
        if refused.refusal.kind != "Unforeseen":
            raise
        how: dict[str, Any] = {"encoding": table.encoding, "delimiter": table.delimiter}
        await run_in_threadpool(
            shelf.desk.call, "look", path=str(table.path), sample=str(table.sample), **how
        )
        return await run_in_threadpool(shelf.desk.call, name, **arguments)


def card(table: Table, place: int) -> dict[str, Any]:
    """Return everything that the card of a column shows."""
    assert table.facts is not None
    facts, draft = table.facts["columns"][place], table.asked
    role = draft.roles.get(facts["name"], "drop")
    said = draft.said.get(facts["name"], {})
    lacking = facts["missing"] if role in USED else 0
    policy = said.get("missing") or draft.rest.get("missing", "error")
    return facts | {
        "place": place,
        "role": role,
        "proposed": facts["role"] or "drop",
        "said": said,
        "open": bool(lacking) and policy == "error",
        "policy": policy,
    }


def _bar(table: Table) -> dict[str, Any]:
    """Return what is open, and how many columns will be published."""
    draft = table.asked
    cards = [card(table, place) for place in range(len(draft.columns))]
    lacking = [one["name"] for one in cards if one["open"]]
    gone = len(draft.named(*GONE, "person"))
    secrets = draft.named("sensitive")
    return {
        "lacking": lacking,
        "published": len(draft.columns) - gone,
        "left_out": gone,
        "secrets": secrets,
    }


async def change_column(request: Request) -> Response:
    """Take a role, a type or the like for one column."""
    table, place = table_of(request), request.path_params["place"]
    draft = table.asked
    if place >= len(draft.columns):
        raise HTTPException(404)
    name = draft.columns[place]
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: str(value) for key, value in form.items()}
    others = set(draft.named("person", "survey-weight"))
    if (role := said.get(f"role-{place}", "")) in ROLES:
        draft.give(name, role)
    entries = draft.said.setdefault(name, {})
    for key in OF_COLUMNS:
        if key in said:
            _keep(entries, key, said[key].strip())
    table.note()
    html = fill("part_column.html", table=table, column=card(table, place))
    for other in sorted(others - {name}):  # it may have lost its role to this one
        html += fill(
            "part_column.html",
            table=table,
            column=card(table, draft.columns.index(other)),
            apart=True,
        )
    html += fill("part_unique.html", unique=await _unique(request, table), apart=True)
    html += fill("part_bar.html", **_bar(table), apart=True)
    return HTMLResponse(html, headers={"HX-Trigger": "roles"})


async def take_hierarchy(request: Request) -> Response:
    """Take a file that lists the hierarchy of a column; only where it is kept becomes its name."""
    table, place = table_of(request), request.path_params["place"]
    if place >= len(table.asked.columns):
        raise HTTPException(404)
    async with request.form(max_files=1, max_fields=MOST_FIELDS) as form:
        file = form.get("file")
        text = await file.read() if isinstance(file, UploadFile) else b""
    if not text.strip():
        raise Refused(Refusal("No file came. Choose one that lists values with their nodes."))
    kept = table.folder / hierarchy_name(place)
    kept.write_bytes(text)
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


def _plain(draft: Draft) -> dict[str, str]:
    """Return the roles as an inspection knows them."""
    known = {"never-mix": "quasi"}
    return {
        name: known.get(role, role)
        for name, role in draft.roles.items()
        if known.get(role, role) in {"quasi", "sensitive", "identifying"}
    }


async def _requirements(request: Request, table: Table) -> list[dict[str, Any]]:
    """Return what is known of every requirement."""
    shelf: Shelf = request.app.state.shelf
    draft = table.asked
    table.considered = []
    if not draft.require:
        return []
    known = {"path": str(table.path), "file": table.note()}
    try:
        table.considered = await _desk(shelf, table, "consider", **known)
    except Refused as refused:
        problem = refused.refusal
        told = {"problem": problem.sentence, "fix": problem.fix}
        table.considered = [{"text": text, **told} for text in draft.require]
    return table.considered


async def requirements_part(request: Request) -> Response:
    """Show all requirements anew; those that nobody touched follow the roles."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    if not table.asked.own:
        known = {"path": str(table.path), "roles": _plain(table.asked)}
        _propose(table.asked, await _desk(shelf, table, "propose", **known))
    return await _shown(request, table)


async def _shown(request: Request, table: Table, *, told: bool = False) -> Response:
    asked = await _requirements(request, table)
    html = fill("part_requirements.html", table=table, asked=asked, draft=table.asked)
    html += fill("part_schema.html", table=table, draft=table.asked, apart=True)
    html += fill("part_bar.html", **_bar(table), apart=True)
    return HTMLResponse(html, headers={"HX-Trigger": "decided"} if told else {})


async def require(request: Request) -> Response:
    """Take what is required: a text, numbers that were moved, one more, or one less."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        texts = parted(str(form.get("require", "")))
        said = {key: str(value) for key, value in form.items() if key != "require"}
    if texts:
        draft.require = texts[:MOST_REQUIRED]
    draft.own = True
    moved = said.get("moved", "")
    place, _, name = moved.partition(".")
    if name and place.isdecimal() and int(place) < len(draft.require):
        await _move(shelf, draft, int(place), {name: said.get("value", "")})
    elif "most" in said:  # who will read it
        await everybody(shelf, draft, said["most"])
    elif "start" in said:
        _start(draft, said["start"])
    elif said.get("less", "").isdecimal():
        del draft.require[int(said["less"]) : int(said["less"]) + 1]
    elif "instead" in said and said.get("place", "").isdecimal():
        draft.require[int(said["place"])] = said["instead"]
    return await _shown(request, table, told=True)


async def _move(shelf: Shelf, draft: Draft, place: int, numbers: dict[str, str]) -> None:
    changed = await run_in_threadpool(
        shelf.desk.call,
        "change",
        text=draft.require[place],
        sensitive=draft.named("sensitive"),
        numbers=numbers,
    )
    draft.require[place] = changed


async def everybody(shelf: Shelf, draft: Draft, most: str) -> None:
    """Require that nobody is found with more than a chance of one in so many."""
    if most.isdecimal():
        secret = draft.named("sensitive")
        known: dict[str, Any] = {"texts": draft.require, "sensitive": secret, "most": int(most)}
        draft.require = await run_in_threadpool(shelf.desk.call, "as_sure", **known)


def _start(draft: Draft, kind: str) -> None:
    """Begin another requirement of a kind."""
    if kind in words.STARTS and len(draft.require) < MOST_REQUIRED:
        secrets = draft.named("sensitive")
        text = words.STARTS[kind].format(most=words.KNOWN)
        about = f"{secrets[-1]}: " if len(secrets) > 1 and kind != "KAnonymity" else ""
        draft.require.append(about + text)


async def settings(request: Request) -> Response:
    """Take what is said of the whole run: missing cells, rows that may be left out, a title."""
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        take_settings(draft, form)
    table.note()
    if "HX-Request" not in request.headers:
        return RedirectResponse(f"/tables/{table.id}#decide", 303)
    html = "".join(
        fill("part_column.html", table=table, column=card(table, place), apart=True)
        for place in range(len(draft.columns))
        if table.facts and table.facts["columns"][place]["missing"]
    )
    html += fill("part_bar.html", **_bar(table), apart=True)
    return HTMLResponse(html, headers={"HX-Trigger": "roles"})


def take_settings(draft: Draft, form: FormData) -> None:
    """Take over what a form says of the whole run; what stands for nothing is not kept."""
    for key in KEPT:
        if key in form:
            value = str(form[key]).strip()
            _set(draft, key, "" if value == USUAL.get(key) else value)


def _set(draft: Draft, key: str, value: str) -> None:
    if not value:
        draft.rest.pop(key, None)
    elif key in {"seconds", "most_rows"} and value.isdecimal():
        draft.rest[key] = int(value)
    else:
        draft.rest[key] = value


async def paste(request: Request) -> Response:
    """Take over a whole schema file."""
    table = table_of(request)
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        text = str(form.get("schema", ""))
    try:
        table.asked.take(text)
    except ShoalError as problem:
        raise Refused(Refusal(problem.sentence)) from None
    table.note()
    return RedirectResponse(f"/tables/{table.id}#decide", 303)


async def schema_file(request: Request) -> Response:
    """Give what was decided as a file."""
    table = table_of(request)
    named = {"content-disposition": 'attachment; filename="shoal.toml"'}
    return PlainTextResponse(
        table.asked.toml(table=table.name), media_type="application/toml", headers=named
    )


async def reading(request: Request) -> Response:
    """Read a table again, as text that is parted or encoded otherwise."""
    table = table_of(request)
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        table.encoding = str(form.get("encoding") or "") or table.encoding
        table.delimiter = str(form.get("delimiter") or "") or table.delimiter
    table.facts = table.problem = None
    return RedirectResponse(f"/tables/{table.id}", 303)


ROUTES = [
    Route("/tables/{table}", table_page),
    Route("/tables/{table}/body", body),
    Route("/tables/{table}/reading", reading, methods=["POST"]),
    Route("/tables/{table}/columns/{place:int}", change_column, methods=["POST"]),
    Route("/tables/{table}/columns/{place:int}/hierarchy", take_hierarchy, methods=["POST"]),
    Route("/tables/{table}/requirements", requirements_part),
    Route("/tables/{table}/require", require, methods=["POST"]),
    Route("/tables/{table}/settings", settings, methods=["POST"]),
    Route("/tables/{table}/schema", paste, methods=["POST"]),
    Route("/tables/{table}/shoal.toml", schema_file),
]
