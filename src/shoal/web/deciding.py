"""Step 3, decide: what is to be promised, and everything else that is said of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route

from shoal.errors import ShoalError
from shoal.notation import parted
from shoal.views import words as views
from shoal.web import words
from shoal.web.draft import CONTEXT, OPTIONS, Draft, counted, reads_of
from shoal.web.following import MOST_REQUIRED, ask_desk, protect
from shoal.web.looking import (
    MOST_FIELDS,
    card,
    consider_draft,
    decided,
    draw,
    given_names,
    in_turn,
    looked,
    read_once,
    table_of,
)
from shoal.web.pages import fill, page
from shoal.web.standing import bar, unexplained
from shoal.web.trying import take
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table

KEPT = ("missing", "suppress", "method", "form", "cells", "title", "seconds", "rows", "most_rows")

PASTED = "schema.toml"  # beside the hierarchies that it may name


async def table_page(request: Request) -> Response:
    """Show the columns and what is to be decided, or that the table is being read."""
    table = table_of(request, read=False)
    values = await _body(request, table) if table.facts is not None else {}
    return page("table.html", table=table, read=table.facts is not None, **values)


async def body(request: Request) -> Response:
    """Read a table, and show its columns."""
    table = table_of(request, read=False)
    await run_in_threadpool(read_once, request.app.state.shelf, table)
    if table.problem is not None:
        return page("part_unreadable.html", table=table, refusal=table.problem)
    where = fill("part_where.html", table=table)
    html = f'<span class="where" id="where" hx-swap-oob="true">{where}</span>'
    part = f"part_{request.url.path.rpartition('/')[2]}.html"  # all of it, or below the preview
    return HTMLResponse(fill(part, table=table, **await _body(request, table)) + html)


async def _body(request: Request, table: Table) -> dict[str, Any]:
    async with table.deciding:
        known = {"asked": await consider_draft(request, table), "given": given_names(request)}
        shown = await bar(request.app.state.shelf, table)
        return {**await looked(request, table), **shown, **known}


@in_turn
async def require(request: Request) -> Response:
    """Take what is required: a text, numbers that were moved, one more, or one less."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        if "require" in form:
            draft.require = parted(str(form["require"]))[:MOST_REQUIRED]
        said = {key: str(value) for key, value in form.items() if key != "require"}
    draft.own = True
    moved = said.get("moved", "")
    place, _, name = moved.partition(".")
    at = counted(place)
    if name and at is not None and at < len(draft.require):
        sign = None if "slid" in said else draft.of_file.rest.get("decimal")
        await _move(shelf, draft, at, {name: said.get("value", "")}, sign)
    elif "most" in said:  # who will read it
        await everybody(shelf, draft, said["most"])
    elif "start" in said:
        _start(draft, *said["start"].partition(".")[::2])
    elif (at := counted(said.get("less", ""))) is not None:
        del draft.require[at : at + 1]
    elif "instead" in said and (at := counted(said.get("place", ""))) is not None:
        draft.require[at : at + 1] = [said["instead"]]
    return await decided(request, table)


async def _move(
    shelf: Shelf, draft: Draft, place: int, numbers: dict[str, str], sign: str | None
) -> None:
    changed = await run_in_threadpool(
        shelf.desk.call,
        "change",
        text=draft.require[place],
        sensitive=draft.named("sensitive"),
        numbers=numbers,
        decimal=sign,
    )
    draft.require[place] = changed


async def everybody(shelf: Shelf, draft: Draft, most: str) -> None:
    """Require that nobody is found with more than a chance of one in so many."""
    if (count := counted(most)) is not None:
        secret = draft.named("sensitive")
        known: dict[str, Any] = {"texts": draft.require, "sensitive": secret, "most": count}
        draft.require = await run_in_threadpool(shelf.desk.call, "as_sure", **known)


def _start(draft: Draft, kind: str, place: str) -> None:
    """Begin another requirement of a kind, about the column in a place."""
    if kind in words.starts() and len(draft.require) < MOST_REQUIRED:
        at = counted(place)
        column = None if at is None else draft.columns.get(at)
        about = f"{column}: " if column and draft.named("sensitive") != [column] else ""
        draft.require.append(about + words.starts()[kind][0])


@in_turn
async def settings(request: Request) -> Response:
    """Take what is said of the whole run: missing cells, rows that may be left out, a title."""
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        take_settings(draft, form)
        called = {*form} <= {"title", *views.CONTEXT}
    if called and "HX-Request" in request.headers:  # nothing else follows from it
        return page("part_schema.html", table=table, draft=draft, apart=True)
    return await _settled(request, table)


async def _settled(request: Request, table: Table) -> Response:
    """Show everything that follows from what is said of the whole run."""
    draft = table.asked
    if "HX-Request" not in request.headers:
        return RedirectResponse(f"/tables/{table.id}#decide", 303)
    html = "".join(
        fill("part_column.html", table=table, column=card(table, place), apart=True)
        for place in draft.columns
        if table.columns[place]["missing"]
    )
    return await decided(request, table, html)


@in_turn
async def rows(request: Request) -> Response:
    """Keep rows with missing values, or leave them out, as the owner decides."""
    table = table_of(request)
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        table.asked.keep_rows(keep=str(form.get("keep", "")) == "yes")
    return await _settled(request, table)


@in_turn
async def answers(request: Request) -> Response:
    """Take the owner's answer to what only the owner can decide, or a remedy."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: str(value) for key, value in form.items()}
    answer, draft = said.pop("answer", ""), table.asked
    columns = draft.listed(said.pop("columns", ""))
    if answer == "as_proposed":
        draft.answered.update(columns or unexplained(table))
    elif answer == "unchanged":
        draft.unchanged.update(columns)
    elif answer == "withdraw":
        draft.withdraw(columns)
    elif answer == "protect":
        await protect(shelf, table, columns)
    for name, value in said.items():
        await take(shelf, table, name, value)
    # What was answered beside its column leaves the owner there.
    beside = [place for place, name in draft.columns.items() if name in columns]
    at = f"column-{beside[0]}" if answer == "as_proposed" and beside else "asks"
    return RedirectResponse(f"/tables/{table.id}#{at}", 303)


def take_settings(draft: Draft, form: FormData) -> None:
    """Take over what a form says of the whole run; what stands for nothing is not kept."""
    for key in KEPT:
        if key in form:
            value = str(form[key]).strip()
            draft.rows_chosen |= key == "missing"
            draft.rest[key] = "" if value == OPTIONS[key].usual else value
    said = {key: str(form[key]).strip() for key in views.CONTEXT if key in form}
    known = {key: text for key, text in (draft.rest.get(CONTEXT, {}) | said).items() if text}
    draft.rest |= {CONTEXT: known}


@in_turn
async def paste(request: Request) -> Response:
    """Take over a whole schema file."""
    table = table_of(request)
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        text = str(form.get("schema", ""))
    await take_schema(request.app.state.shelf, table, text)
    return RedirectResponse(f"/tables/{table.id}#decide", 303)


async def take_schema(shelf: Shelf, table: Table, text: str) -> None:
    """Decide everything as a schema file says."""
    known = {"text": text, "beside": str(table.folder / PASTED)}
    ask = await ask_desk(shelf, table, "read_file", **known)
    reads = reads_of(ask, table.asked)
    if table.asked.reads | reads != table.asked.reads:  # the table is another one then
        table.said, table.facts, table.opened = reads, None, None
        await run_in_threadpool(read_once, shelf, table)
    if table.problem is not None:
        raise Refused(table.problem)
    try:
        table.asked.take(ask)
    except ShoalError as problem:
        raise Refused(Refusal(problem.sentence)) from None
    await draw(shelf, table)


async def schema_file(request: Request) -> Response:
    """Give what was decided as a file."""
    table = table_of(request)
    named = {"content-disposition": 'attachment; filename="shoal.toml"'}
    return PlainTextResponse(
        table.asked.toml(table=table.name), media_type="application/toml", headers=named
    )


ROUTES = [
    Route("/tables/{table}", table_page),
    Route("/tables/{table}/body", body),
    Route("/tables/{table}/rest", body),
    Route("/tables/{table}/require", require, methods=["POST"]),
    Route("/tables/{table}/settings", settings, methods=["POST"]),
    Route("/tables/{table}/rows", rows, methods=["POST"]),
    Route("/tables/{table}/answers", answers, methods=["POST"]),
    Route("/tables/{table}/schema", paste, methods=["POST"]),
    Route("/tables/{table}/shoal.toml", schema_file),
]
