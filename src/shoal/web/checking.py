"""Step 5, of its own: check, attack, compare and tune; what the commands print, as pages."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse
from starlette.routing import Route

from shoal.web import words
from shoal.web.guard import REPORT_POLICY
from shoal.web.looking import table_of
from shoal.web.opening import opened, store
from shoal.web.pages import page
from shoal.web.publishing import counts_people, job_of
from shoal.web.state import Job, Table, room_for, stored_name
from shoal.web.worker import FULL, Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf
    from shoal.web.worker import Values

MANIFEST = "manifest.json"
PAGE = "page.html"
MOST_FILES = 1_000
BROKEN = "This zip file cannot be unpacked: it is broken, or under a password."
OF_TABLES = {"survey": "Table measured", "compare": "Methods compared", "tune": "Tuned"}


async def check_page(request: Request) -> Response:
    """Show what can be checked."""
    shelf: Shelf = request.app.state.shelf
    ready = [one for one in shelf.jobs.values() if one.state == "done"]
    made = [one for one in ready if one.checks is None and one.release.is_dir()]
    return page("check.html", made=made[::-1], tables=shelf.read)


async def upload(request: Request) -> Response:
    """Take a release as a zip file and check it, or any published table and look at it."""
    shelf: Shelf = request.app.state.shelf
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("release")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Refused(Refusal("No file came. Choose a release or a table."))
        name = Path(file.filename.replace("\\", "/")).name or "table"
        folder = shelf.folder("runs")
        kept = folder / stored_name(file.filename)
        await run_in_threadpool(store, file, kept)
    if not await run_in_threadpool(is_release, kept):
        return opened(shelf, Table(name, kept, folder, room=room_for(kept), checked=True))
    job = Job(name, "audit", "check of a release", folder)
    try:
        await run_in_threadpool(unpack, kept, job.release)
    except (Refused, OSError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return _started(shelf, job, "audit", folder=str(job.release), memory=room_for(kept))


def is_release(path: Path) -> bool:
    """Whether a file is a zip file that has a manifest."""
    if not zipfile.is_zipfile(path):
        return False
    with _unbroken(), zipfile.ZipFile(path) as packed:
        return any(PurePosixPath(name).name == MANIFEST for name in packed.namelist())


@contextmanager
def _unbroken() -> Iterator[None]:
    """Refuse a zip file that cannot be read: broken, under a password, packed by other means."""
    try:
        yield
    except OSError as problem:
        if problem.errno in FULL:  # of the disk, not of the file
            raise
        raise Refused(Refusal(BROKEN)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        raise Refused(Refusal(BROKEN)) from None


def unpack(path: Path, target: Path) -> None:
    """Unpack the files that stand beside the manifest; of their paths only plain names are kept."""
    with _unbroken(), zipfile.ZipFile(path) as packed:
        entries = [one for one in packed.infolist() if not one.is_dir()]
        (home, *more) = [
            PurePosixPath(one.filename).parent
            for one in entries
            if PurePosixPath(one.filename).name == MANIFEST
        ]
        beside = [one for one in entries if PurePosixPath(one.filename).parent == home]
        if more or len(beside) > MOST_FILES:
            msg = "This zip file holds several releases, or more than a release has."
            raise Refused(Refusal(msg))
        if sum(one.file_size for one in beside) > room_for(path):  # no more than said is unpacked
            msg = (
                "This zip file unpacks to far more than its size. Unpack it, then check its table."
            )
            raise Refused(Refusal(msg))
        target.mkdir(mode=0o700)
        for one in beside:
            name = PurePosixPath(one.filename).name
            if not name.strip(".") or "\\" in name or "\0" in name:
                raise Refused(Refusal("This zip file has a file without a proper name."))
            with packed.open(one) as source, (target / name).open("xb") as kept:
                shutil.copyfileobj(source, kept)


async def check_run(request: Request) -> Response:
    """Check an earlier release, or attack it, or all that were made of its table."""
    shelf: Shelf = request.app.state.shelf
    job = job_of(request, done=True)
    kind = request.path_params["kind"]
    release = job.release
    if kind not in {"audit", "attack"} or not release.is_dir():
        raise HTTPException(404)
    folder = shelf.folder("runs")
    if kind == "audit":
        made = Job(job.table, kind, "check of a release", folder, checks=release, about=job.about)
        return _started(shelf, made, kind, folder=str(release))
    made = Job(job.table, kind, "what an attacker learns", folder, about=job.about)
    async with request.form(max_files=0, max_fields=2) as form:
        table = shelf.tables.get(str(form.get("original", job.about)))
        control = shelf.tables.get(str(form.get("control", "")))
    known: dict[str, Any] = {"original": None, "person": None, "control": None}
    if control is not None:
        if table is None or table is control:
            raise Refused(Refusal(words.CONTROL))
        known["control"] = {"path": str(control.path), **control.asked.reads}
    if table is not None:
        known |= {"original": str(table.path), **table.asked.reads}
    if counts_people(job):
        known["person"] = next(iter(table.asked.named("person")), None) if table else None
        if known["person"] is None:
            raise Refused(Refusal(words.WHOSE_ROWS))
    return _started(shelf, made, kind, folder=str(release), page=str(folder / PAGE), **known)


async def check_table(request: Request) -> Response:
    """Survey a table as it is, or compare methods or tune a parameter on it."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    kind = request.path_params["kind"]
    if kind not in OF_TABLES:
        raise HTTPException(404)
    folder = shelf.folder("runs")
    made = Job(table.name, kind, OF_TABLES[kind], folder, about=table.id)
    known: Values = {
        "ask": table.copy_to(folder).of_file.ask_in(folder),
        "path": str(table.path),
        "page": str(folder / PAGE),
        "linked": table.linked,
    }
    return _started(shelf, made, kind, **known)


def _started(shelf: Shelf, job: Job, name: str, **arguments: Any) -> Response:
    try:
        shelf.start(job, name, **arguments)
    except Refused as refused:
        return page("error.html", 429, refusal=refused.refusal, back="/check")
    return RedirectResponse(f"/runs/{job.id}", 303)


async def found_page(request: Request) -> Response:
    """Show what a command found; it runs nothing, so it may bring its own style."""
    path = job_of(request, done=True).folder / PAGE
    if not path.exists():
        raise HTTPException(404)
    return FileResponse(
        path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
    )


ROUTES = [
    Route("/check", check_page),
    Route("/check", upload, methods=["POST"]),
    Route("/runs/{job}/page.html", found_page),
    Route("/runs/{job}/check/{kind}", check_run, methods=["POST"]),
    Route("/tables/{table}/check/{kind}", check_table, methods=["POST"]),
]
