"""After the verdict: certificate and dossier, with the questions that only people can answer."""

from __future__ import annotations

import shutil
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse
from starlette.routing import Route

from shoal.views import words as views
from shoal.views.dossier import NORMS, by_column, read_norm
from shoal.web.draft import CONTEXT
from shoal.web.guard import REPORT_POLICY
from shoal.web.looking import MOST_FIELDS
from shoal.web.pages import page
from shoal.web.publishing import release_to_take
from shoal.web.state import room_for, stored_name
from shoal.web.worker import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.draft import Draft
    from shoal.web.state import Job, Shelf, Table
    from shoal.web.worker import Values

PARTS = {"public": "", "private": "-private"}
KINDS = {"html": "text/html", "docx": "application/octet-stream"}
SCHEMA = "shoal.toml"
CERTIFICATE = "certificate.html"
CONTROLS = "controls"


def _asked(request: Request) -> tuple[Job, Table | None, Draft, str]:
    """Return the run that an address names, its table, what was decided, and the norm."""
    shelf: Shelf = request.app.state.shelf
    job, norm = release_to_take(request), request.path_params["norm"]
    if job.asked is None or norm not in NORMS:
        raise HTTPException(404)
    return job, shelf.tables.get(job.about), job.asked, norm


async def choose_norm(request: Request) -> Response:
    """Go to the dossier by the norm that was chosen."""
    job = release_to_take(request)
    async with request.form(max_files=0, max_fields=1) as form:
        norm = str(form.get("norm", ""))
    return RedirectResponse(f"/runs/{job.id}/dossier/{norm if norm in NORMS else NORMS[0]}", 303)


async def show_dossier(request: Request) -> Response:
    """Show what a norm asks of people, with what they have answered, and the files to take."""
    job, table, draft, name = _asked(request)
    norm = read_norm(name)
    answers = job.outcome["manifest"].get(CONTEXT, {}) | draft.rest.get(CONTEXT, {})
    fields = [one for section in norm["section"] for one in section["field"]]
    asks = [one for one in fields if "answer" in one or "columns" in one]
    names = _columns(job)
    told = {key: by_column(answers.get(key, ""), names)[0]
            for one in asks for key in one.get("columns", ())}  # fmt: skip
    left = sum(
        not all(answers.get(key) for key in one.get("answer", ()))
        or any(len(told[key]) < len(names) for key in one.get("columns", ()))
        for one in asks
    )
    known = {"norm": norm, "asks": asks, "answers": answers, "left": left}
    known |= {"names": names, "told": told, "controls": _controls(job) is not None}
    return page("dossier.html", job=job, table=table, **known)


async def answer_dossier(request: Request) -> Response:
    """Take the answers of people; they become part of the schema file and of the public part."""
    job, table, draft, name = _asked(request)
    keys = {key for section in read_norm(name)["section"] for one in section["field"]
            for key in one.get("answer", ())}  # fmt: skip
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as form:
        said = {key: _lines(str(form[key])) for key in keys if key in form}
        said |= _by_column(job, name, form, draft.rest.get(CONTEXT, {}))
    answered = deepcopy(draft)
    known = {key: text for key, text in (draft.rest.get(CONTEXT, {}) | said).items() if text}
    answered.rest[CONTEXT] = known
    await _write(request, job, table, answered, name, "html")  # or refuse what cannot stand there
    job.asked = answered
    (job.folder / CERTIFICATE).unlink(missing_ok=True)  # which repeats some of the answers
    if table is not None:
        table.asked.rest[CONTEXT] = table.asked.rest.get(CONTEXT, {}) | known
    return RedirectResponse(f"/runs/{job.id}/dossier/{name}#saved", 303)


def _columns(job: Job) -> list[str]:
    """Return the published columns, for each of which some norms ask people."""
    return [one["name"] for one in job.outcome["manifest"]["columns"]]


def _by_column(job: Job, norm: str, form: FormData, before: Mapping[str, str]) -> dict[str, str]:
    """Return the answers that people give for each column, after lines that name no column."""
    found = {}
    for key in (key for section in read_norm(norm)["section"] for one in section["field"]
                for key in one.get("columns", ())):  # fmt: skip
        said = {name: _lines(str(form.get(f"{key}-{place}", "")))
                for place, name in enumerate(_columns(job))}  # fmt: skip
        if f"{key}-0" in form:
            others = by_column(before.get(key, ""), list(said))[1]
            lines = [f"{name}: {text}" for name, text in said.items() if text]
            found[key] = "\n".join([*others, *lines])
    return found


def _lines(text: str) -> str:
    """Return what was typed, its lines ended as a schema file ends them."""
    return "\n".join(text.split("\r\n")).strip()


async def dossier_file(request: Request) -> Response:
    """Give the public part of a dossier, or its private annex, to print or to edit."""
    job, table, draft, name = _asked(request)
    part, kind = request.path_params["part"], request.path_params["kind"]
    if part not in PARTS or kind not in KINDS:
        raise HTTPException(404)
    made = await _write(request, job, table, draft, name, kind)
    path = made.with_name(f"{made.stem}{PARTS[part]}{made.suffix}")
    if kind == "html":
        policy = {"content-security-policy": REPORT_POLICY}
        return FileResponse(path, media_type=KINDS[kind], headers=policy)
    return FileResponse(path, media_type=KINDS[kind], filename=path.name)


def _controls(job: Job) -> Path | None:
    """Return where the people are who are not in the release, None where nobody gave them."""
    return next(iter(job.folder.glob(f"{CONTROLS}*")), None)


async def take_controls(request: Request) -> Response:
    """Take people who are not in the release, for the annex; without a file none are known."""
    job, table, draft, name = _asked(request)
    if table is None:
        raise HTTPException(404)
    async with request.form(max_files=1, max_fields=1) as form:
        file = form.get("controls")
        if old := _controls(job):
            old.unlink()
        if isinstance(file, UploadFile) and file.filename:
            kept = job.folder / f"{CONTROLS}-{stored_name(file.filename)}"
            with kept.open("xb") as target:
                await run_in_threadpool(shutil.copyfileobj, file.file, target)
            try:
                await _write(request, job, table, draft, name, "html")
            except Refused as refused:
                kept.unlink()
                raise Refused(refused.refusal.about(kept.name, file.filename)) from None
    return RedirectResponse(f"/runs/{job.id}/dossier/{name}#annex", 303)


async def _write(
    request: Request, job: Job, table: Table | None, draft: Draft, norm: str, kind: str
) -> Path:
    """Have both parts written beside the release, in the folder of the run; return the public."""
    shelf: Shelf = request.app.state.shelf
    known: Values = {"folder": str(job.release), "norm": norm}
    known |= {"ask": draft.of_file.ask_in(job.folder), "schema": str(job.folder / SCHEMA)}
    known |= {"output": str(job.folder / f"dossier-{norm}.{kind}")}
    if table is not None:
        known |= {"path": str(table.path)}
        if control := _controls(job):
            known |= {"control": str(control), "memory": room_for(control) + room_for(table.path)}
    async with job.certifying:
        (job.folder / SCHEMA).write_text(draft.toml(), "utf-8", newline="\n")
        return Path(await run_in_threadpool(shelf.bench.call, "dossier", **known))


async def certificate(request: Request) -> Response:
    """Show the certificate of a release, two pages to print and sign, with what was answered."""
    shelf: Shelf = request.app.state.shelf
    job = release_to_take(request)
    path = job.folder / CERTIFICATE
    async with job.certifying:
        if not path.exists():
            known: dict[str, Any] = {"folder": str(job.release), "page": str(path)}
            answers = {} if job.asked is None else job.asked.rest.get(CONTEXT, {})
            known["context"] = {key: answers[key] for key in views.CONTEXT if answers.get(key)}
            await run_in_threadpool(shelf.bench.call, "certificate", **known)
    return FileResponse(
        path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY}
    )


ROUTES = [
    Route("/runs/{job}/certificate.html", certificate),
    Route("/runs/{job}/dossier", choose_norm, methods=["POST"]),
    Route("/runs/{job}/dossier/{norm}", show_dossier),
    Route("/runs/{job}/dossier/{norm}", answer_dossier, methods=["POST"]),
    Route("/runs/{job}/dossier/{norm}/controls", take_controls, methods=["POST"]),
    Route("/runs/{job}/dossier/{norm}/{part}.{kind}", dossier_file),
]
