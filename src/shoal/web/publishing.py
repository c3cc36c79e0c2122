"""Step 4, publish: a run with its progress, and the verdict with everything to take along."""

from __future__ import annotations

import asyncio
import shutil
import time
import zipfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    StreamingResponse,
)
from starlette.routing import Route

from shoal.notation import parted
from shoal.web import words
from shoal.web.deciding import everybody, take_settings
from shoal.web.following import MOST_REQUIRED, protect
from shoal.web.guard import REPORT_POLICY
from shoal.web.looking import MOST_FIELDS, bars, in_turn, table_of
from shoal.web.pages import fill, page
from shoal.web.standing import EXPOSING, choices, looks_private, unexplained, unprotected
from shoal.web.state import RELEASE, Job, hierarchy_name
from shoal.web.trying import take, working
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf, Table
    from shoal.web.worker import Values

TICK = 0.15  # seconds between two looks at a run
SECOND = 1.0  # after which the time that has passed is shown anew
MOST_SECONDS = 10**9  # whoever gives a search more does not count them
STATUS = 5.0  # seconds between two sentences that a screen reader speaks
NO_TIME = (2000, 1, 1, 0, 0, 0)  # of what is packed: times are private


def job_of(request: Request, *, done: bool = False) -> Job:
    """Return the run that an address names."""
    shelf: Shelf = request.app.state.shelf
    found = shelf.jobs.get(request.path_params["job"])
    if found is None or (done and found.state != "done"):
        raise HTTPException(404)
    return found


def release_of(request: Request) -> Job:
    """Return the run that an address names, which has made or checked a release."""
    job = job_of(request, done=True)
    if not job.release.is_dir():
        raise HTTPException(404)
    return job


def release_to_take(request: Request) -> Job:
    """Return a run whose release the owner may take: of two, only once both were read together."""
    shelf: Shelf = request.app.state.shelf
    job = release_of(request)
    if before := shelf.unread_together(job):
        said = (
            "This release may not be given out yet. You have taken another release of "
            f"{job.table} before: {before[0].called}. First measure what both reveal together, "
            "make a coarser release from that one, or state that no one has received that "
            "download."
        )
        raise Refused(Refusal(said, kind="Second"))
    if kept := shelf.taken_before(job):
        said = (
            "This release may not be given out yet. Your project says that you took a release "
            f"of {job.table} before: {kept[0].called}. Make a coarser release from that one, or "
            "state that no one has received it."
        )
        raise Refused(Refusal(said, kind="Second"))
    return job


def take_out(shelf: Shelf, job: Job) -> None:
    """Note that the owner has a release now."""
    job.taken = True
    shelf.keep(job)


@in_turn
async def publish(request: Request) -> Response:
    """Start a run of what the form says now; what was not yet sent by itself comes with it."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    draft = table.asked
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        if "require" in form:
            draft.require = parted(str(form["require"]))[:MOST_REQUIRED]
        take_settings(draft, form)
        for place, name in draft.columns.items():
            role = str(form.get(f"role-{place}", ""))
            if role in draft.roles_of(place) and role != draft.roles.get(name):
                draft.give(name, role)
        chosen = set(form)
    await bars(shelf, table)
    draft.unchanged |= set(unprotected(table)) if "unchanged" in chosen else set()
    if "as_proposed" in chosen:
        draft.answered |= set(unexplained(table))
        table.confirmed = True
    if undecided := choices(table):
        return decide_first(table, undecided)
    return start(shelf, table)


def decide_first(table: Table, undecided: list[str]) -> Response:
    """Say what the owner has to decide before a run can start."""
    said = f"Decide first: {'; '.join(undecided)}. The questions are beside the button."
    back = f"/tables/{table.id}#decide"
    return page("error.html", 422, refusal=Refusal(said), back=back)


def start(shelf: Shelf, table: Table, ledger: str = "", place: str = "") -> Response:
    """Start a run, and go to it; a round of a series goes to a place that the owner names."""
    folder = shelf.folder("runs")
    asked = table.copy_to(folder)
    job = Job(table.name, "publish", asked.required, folder, about=table.id, asked=asked)
    job.price = table.priced[1].get("loss", {}).get("gcp")
    seconds = asked.ask().seconds
    if isinstance(seconds, int | float) and 0 < seconds < MOST_SECONDS:
        job.seconds = float(seconds)
    ask = asked.of_file.ask_in(folder)
    if ledger:
        job.ledger, job.saved, job.taken = ledger, Path(place), True
        ask = replace(ask, ledger=ledger)
    arguments = {
        "ask": ask,
        "path": str(table.path),
        "linked": table.linked,
        "output": str(job.release),
    }
    try:
        shelf.start(job, "publish", **arguments)
    except Refused as refused:
        return page("error.html", 429, refusal=refused.refusal, back=f"/tables/{table.id}#decide")
    return RedirectResponse(f"/runs/{job.id}", 303)


async def run_page(request: Request) -> Response:
    """Show a run: under way, or its verdict, or why it stopped."""
    return page("run.html", **await _shown(request, job_of(request)))


async def run_part(request: Request) -> Response:
    """Show what stands in the middle of the page of a run."""
    return page("part_run.html", **await _shown(request, job_of(request)))


async def _shown(request: Request, job: Job) -> dict[str, Any]:
    shelf: Shelf = request.app.state.shelf
    table = shelf.tables.get(job.about)
    if job.kind == "publish" and job.problem and table and job.remedies is None:
        found = await working(shelf, table, job.problem.fix)
        job.remedies = None if table.overtaken else found
    return {
        "job": job,
        "table": table,
        "exposing": job.problem is not None and job.problem.kind in EXPOSING,
        "tables": [one for one in shelf.read if knows_enough(one, job)],
        "counts_people": counts_people(job),
        "left": left(job),
        "secrets": _protected(job),
        "before": shelf.unread_together(job) if job.state == "done" else [],
        "kept": shelf.taken_before(job) if job.state == "done" else [],
        "others": [one for one in shelf.made() if one is not job],
        "private": [] if table is None else looks_private(table),
        "now": time.time(),
    }


def counts_people(job: Job) -> bool:
    """Return whether a release is about people who may have several rows."""
    return bool(_stated(job).get("people"))


def _stated(job: Job) -> Values:
    """Return what a release says of itself, nothing before it is there."""
    made = job.outcome if job.state == "done" else None
    return (made or {}).get("manifest") or (made or {}).get("audit") or {}


def knows_enough(table: Table, job: Job) -> bool:
    """Return whether an attack can be tried with a table: it has what readers may know.

    Where it must, it says whose rows.
    """
    quasi = (one["name"] for one in _stated(job).get("columns", ()) if one["role"] == "quasi")
    some = {*quasi} <= {*table.asked.columns.values()}
    return some and (not counts_people(job) or bool(table.asked.named("person")))


def _protected(job: Job) -> list[str]:
    """Return the columns that a release was to protect."""
    if job.kind != "publish" or job.state != "done":
        return []
    made = job.outcome["manifest"]
    linked = (c for one in made.get("tables", {}).values() for c in one["columns"])
    return [one["name"] for one in (*made["columns"], *linked) if one["role"] == "sensitive"]


def left(job: Job) -> str:
    """Say how long a run still takes, as far as that is known."""
    if job.asked_to_end:
        return "Ending with the best so far"
    return "Working" if job.left is None else words.remaining(job.left)


async def events(request: Request) -> Response:
    """Tell of a run as it goes on, until it is done."""
    job = job_of(request)

    async def told() -> AsyncIterator[str]:
        seen, shown, spoken, better = -1, 0.0, 0.0, False
        while not job.done and not await request.is_disconnected():
            if job.version != seen or time.time() - shown > SECOND:
                seen, shown = job.version, time.time()
                yield event_of("bar", fill("part_done.html", job=job, now=time.time()))
                yield event_of("progress", fill("part_progress.html", job=job))
                yield event_of("losses", fill("part_losses.html", job=job))
                if job.improving != better:
                    better = job.improving
                    yield event_of("better", fill("part_keep.html", job=job))
                if time.time() - spoken > STATUS:
                    spoken = time.time()
                    yield event_of("status", left(job))
            await asyncio.sleep(TICK)
        yield event_of("done", "done")

    return StreamingResponse(told(), media_type="text/event-stream")


def event_of(name: str, text: str) -> str:
    r"""Return an event for a browser, which hears of none that has no line at all.

    >>> event_of("better", "")
    'event: better\ndata: \n\n'
    """
    lines = "".join(f"data: {line}\n" for line in text.splitlines() or [""])
    return f"event: {name}\n{lines}\n"


async def keep(request: Request) -> Response:
    """Have a run end with the best that it has found."""
    job = job_of(request)
    job.keep()
    return RedirectResponse(f"/runs/{job.id}", 303)


async def cancel(request: Request) -> Response:
    """End a run at once; nothing of it stays."""
    job = job_of(request)
    await run_in_threadpool(job.cancel)
    return RedirectResponse(f"/runs/{job.id}", 303)


async def again(request: Request) -> Response:
    """Start a run anew, with what a remedy changes, and nothing else that was changed since.

    Where that leaves something to decide, the table asks for it first.
    """
    shelf: Shelf = request.app.state.shelf
    job = job_of(request)
    table = shelf.tables.get(job.about)
    if table is None:
        raise HTTPException(404)
    async with request.form(max_files=0) as form:
        said = {key: str(value) for key, value in form.items()}
    async with table.turn():
        return await _again(shelf, table, job, said)


async def _again(shelf: Shelf, table: Table, job: Job, said: dict[str, str]) -> Response:
    if job.asked is not None and job.asked.columns == table.asked.columns:
        table.draft = deepcopy(job.asked)
    draft = table.asked
    if "most" in said:
        await everybody(shelf, draft, said.pop("most"))
    if columns := draft.listed(said.pop("protect", "")):
        await protect(shelf, table, columns)
    for key, value in said.items():
        await take(shelf, table, key, value)
    await bars(shelf, table)
    if choices(table):
        return RedirectResponse(f"/tables/{table.id}#asks", 303)
    return start(shelf, table)


async def report(request: Request) -> Response:
    """Show the report; it runs nothing, so it may bring its own style."""
    path = release_of(request).release / "report.html"
    if not path.exists():
        raise HTTPException(404)
    return FileResponse(
        path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
    )


async def report_page(request: Request) -> Response:
    """Show the report in the page."""
    job = release_of(request)
    return page("report.html", job=job, table=None)


async def download(request: Request) -> Response:
    """Give the release as a zip file."""
    job = release_to_take(request)
    packed = job.folder / "release.zip"
    if not packed.exists():
        await run_in_threadpool(_pack, job.release, packed)
    take_out(request.app.state.shelf, job)
    return FileResponse(packed, filename="release.zip", media_type="application/zip")


def _pack(folder: Path, target: Path) -> None:
    """Write a release as a zip file that says nothing of when or by whom its files were made."""
    partial = target.with_suffix(".partial")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    name = Path(RELEASE) / path.relative_to(folder)
                    entry = zipfile.ZipInfo(name.as_posix(), NO_TIME)
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    entry.external_attr = 0o644 << 16
                    with path.open("rb") as read, packed.open(entry, "w") as written:
                        shutil.copyfileobj(read, written)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


async def schema(request: Request) -> Response:
    """Give the schema file that repeats a run."""
    job = job_of(request, done=True)
    if job.asked is None:
        raise HTTPException(404)
    text = job.asked.toml(table=job.table)
    named = {"content-disposition": 'attachment; filename="shoal.toml"'}
    return PlainTextResponse(text, media_type="application/toml", headers=named)


async def hierarchy(request: Request) -> Response:
    """Give a hierarchy that the schema file of a run names."""
    job = job_of(request, done=True)
    name = hierarchy_name(request.path_params["place"])
    if not (job.folder / name).exists():
        raise HTTPException(404)
    return FileResponse(job.folder / name, filename=name, media_type="text/csv")


async def folder(request: Request) -> Response:
    """Copy the release into a folder of this computer, which must not be there yet."""
    shelf: Shelf = request.app.state.shelf
    async with request.form(max_files=0) as form:
        place = str(form.get("folder", "")).strip()
    try:
        job = release_to_take(request)
        source = str(job.release)
        said = await run_in_threadpool(shelf.desk.call, "save", source=source, target=place)
    except Refused as refused:
        return page("part_error.html", refusal=refused.refusal)
    take_out(shelf, job)
    return HTMLResponse(fill("part_saved.html", place=said))


ROUTES = [
    Route("/tables/{table}/publish", publish, methods=["POST"]),
    Route("/runs/{job}", run_page),
    Route("/runs/{job}/part", run_part),
    Route("/runs/{job}/events", events),
    Route("/runs/{job}/keep", keep, methods=["POST"]),
    Route("/runs/{job}/cancel", cancel, methods=["POST"]),
    Route("/runs/{job}/again", again, methods=["POST"]),
    Route("/runs/{job}/report.html", report),
    Route("/runs/{job}/report", report_page),
    Route("/runs/{job}/release.zip", download),
    Route("/runs/{job}/shoal.toml", schema),
    Route("/runs/{job}/hierarchy-{place:place}.csv", hierarchy),
    Route("/runs/{job}/folder", folder, methods=["POST"]),
]
