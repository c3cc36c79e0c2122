"""Earlier runs and this one: names, a comparison, undo, a second release, a round of a series."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from shoal.exact import percent
from shoal.sampling import within
from shoal.views import verdict
from shoal.views.words import one_in
from shoal.web import words
from shoal.web.draft import counted
from shoal.web.looking import bars, draw, in_turn, table_of
from shoal.web.pages import page
from shoal.web.publishing import counts_people, decide_first, job_of, release_of, start
from shoal.web.standing import choices
from shoal.web.state import Job
from shoal.web.worker import Refusal, Refused

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request
    from starlette.responses import Response

    from shoal.web.state import Shelf
    from shoal.web.worker import Values

MOST_NAME = 80
SEVERAL = (
    "People have several rows in these releases. Shoal cannot measure yet what two such releases "
    "reveal together. Make a coarser release from the earlier one instead."
)
NOT_WHOLE = (
    "A round of a series needs the whole path of its ledger and of a new folder for its release, "
    "for example /home/anna/fund.ledger and /home/anna/fund-2026."
)
NO_PERSON = (
    "A series needs a column that marks a person, so that Shoal knows whom rows of several rounds "
    "are about. Give one column the role “Marks one person’s rows”."
)
NO_TABLE = "The table that these releases were made from is not open any more. Open it again."


async def name_run(request: Request) -> Response:
    """Take what the owner calls a run; no file says it."""
    job = job_of(request, done=True)
    async with request.form(max_files=0, max_fields=1) as form:
        said = " ".join(str(form.get("name", "")).split())
    job.name = "".join(sign for sign in said if sign.isprintable())[:MOST_NAME]
    request.app.state.shelf.keep(job)
    return RedirectResponse(f"/runs/{job.id}", 303)


async def choose_other(request: Request) -> Response:
    """Go to the comparison with another run."""
    job = release_of(request)
    async with request.form(max_files=0, max_fields=1) as form:
        other = str(form.get("other", ""))
    return RedirectResponse(f"/runs/{job.id}/beside/{other}", 303)


async def beside_page(request: Request) -> Response:
    """Show two runs side by side."""
    shelf: Shelf = request.app.state.shelf
    job, other = release_of(request), shelf.jobs.get(request.path_params["other"])
    if other not in shelf.made() or job not in shelf.made():
        raise HTTPException(404)
    assert other is not None
    known: Values = {
        "lines": run_lines(job, other),
        "same": not shelf.file_of(job).isdisjoint(shelf.file_of(other)),
        "kin": shelf.origin(job) == shelf.origin(other),
    }
    return page("beside.html", job=job, other=other, **known)


def run_lines(*jobs: Job) -> list[tuple[str, ...]]:
    """Return what two runs have in common, line by line: risk, loss and rows."""
    made = [one.outcome["manifest"] for one in jobs]
    every = {risk["principle"] for one in made for risk in one["measured"]}
    sides = [{_named(r["principle"], one, every): r for r in one["measured"]} for one in made]
    lines = [("Verdict", *(verdict.says(one) for one in made))]
    found = [(one.get("found") or {}).get("quasi") for one in made]
    lines.append(("Finding a person’s row, at most", *map(_chance, found)))
    asked = dict.fromkeys(text for side in sides for text in side)
    lines += [(text, *(_measured(side.get(text)) for side in sides)) for text in asked]
    lines.append(("Detail lost", *(percent(one["loss"]["gcp"]) for one in made)))
    columns = dict.fromkeys(name for one in made for name in one["loss"]["ncp"])
    for name in columns:
        lost = (one["loss"]["ncp"].get(name) for one in made)
        lines.append((f"Detail lost in {name}", *("–" if x is None else percent(x) for x in lost)))
    lines.append(("Rows published", *(words.whole(one["rows"]) for one in made)))
    if all("rows_in" in one and "previous" not in one for one in made):
        gone = (words.whole(one["rows_in"] - one["rows"]) for one in made)
        lines.append(("Rows left out", *gone))
    rows = ("–" if one["groups"] is None else words.whole(one["groups"]) for one in made)
    lines.append(("Groups", *rows))
    return lines


def _named(text: str, made: Values, every: Collection[str]) -> str:
    """Name a requirement with its column where another run does, which has more to protect."""
    protected = [one["name"] for one in made["columns"] if one["role"] == "sensitive"]
    whole = f"{protected[0]}: {text}" if len(protected) == 1 else text
    return whole if whole in every else text


def _chance(share: float | None) -> str:
    return "not measured" if share is None else f"{one_in(share)} ({percent(share, 1)})"


def _measured(one: Values | None) -> str:
    """Say what was measured of a requirement, where it was asked for."""
    if one is None:
        return "not required"
    return "holds" if one["holds"] else "does not hold"


async def coarsen_run(request: Request) -> Response:
    """Make a coarser release of a release, for a second audience."""
    shelf: Shelf = request.app.state.shelf
    finer = release_of(request)
    async with request.form(max_files=0, max_fields=1) as form:
        most = counted(str(form.get("most", ""))) or words.EVERYBODY
    said = f"coarser than {finer.called}: groups of at least {most}"
    folder = shelf.folder("runs")
    job = Job(finer.table, "publish", said, folder, about=finer.about, finer=finer.id)
    known: Values = {"folder": str(finer.release), "output": str(job.release)}
    try:
        shelf.start(job, "coarsen", **known, most=most)
    except Refused as refused:
        return page("error.html", 429, refusal=refused.refusal, back=f"/runs/{finer.id}")
    return RedirectResponse(f"/runs/{job.id}", 303)


async def read_together(request: Request) -> Response:
    """Measure what this release and others that were taken reveal together, and show it."""
    shelf: Shelf = request.app.state.shelf
    job = release_of(request)
    table = shelf.tables.get(job.about)
    if table is None:
        raise Refused(Refusal(NO_TABLE))
    for other in shelf.unread_together(job):
        if counts_people(job) or counts_people(other):
            raise Refused(Refusal(SEVERAL))
        known: Values = {"original": str(table.path), "person": None, **table.asked.reads}
        known["folders"] = [str(other.release), str(job.release)]
        found = await run_in_threadpool(shelf.bench.call, "together", **known)
        job.together[other.id] = [_revealed(one, other) for one in found] or [
            f"{other.called} and this release share no column to protect."
        ]
    return RedirectResponse(f"/runs/{job.id}", 303)


async def not_given(request: Request) -> Response:
    """Take the owner's statement that nobody has the downloads before this one; no file says it."""
    shelf: Shelf = request.app.state.shelf
    job = release_of(request)
    if job not in shelf.made():
        raise HTTPException(404)
    for other in shelf.unread_together(job):
        other.taken = False  # until it is taken once more
        shelf.keep(other)
        said = (
            f"You stated that the download of {other.called} was not given to anybody and is "
            "deleted. Shoal cannot check this. If it is not true, a reader can combine both "
            "releases."
        )
        job.outcome["remarks"].append((said, True))
    return RedirectResponse(f"/runs/{job.id}", 303)


def _revealed(one: Values, other: Job) -> str:
    """Say what two releases reveal of a column, each alone and both together."""
    first, second, both = (
        f"{percent(one['pinned'][key], 1)}{within(one['pinned_error'][key])}"
        for key in ("first", "second", "both")
    )
    left = one["mean_values"]
    return (
        f"A reader who has {other.called} and this release learns the {one['column']} of {both} "
        f"of people with certainty. From each release alone: {first} and {second}. For a person "
        f"{left['both']:.3g} values remain on average, of {left['first']:.3g} and "
        f"{left['second']:.3g}.{one['drawn']}"
    )


@in_turn
async def undo(request: Request) -> Response:
    """Return to what was decided before the last change."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    if len(table.past) > 1:
        whom = table.asked.named("person")
        table.past.pop()
        table.draft = deepcopy(table.past[-1])
        if table.asked.named("person") != whom:
            await draw(shelf, table)
    return RedirectResponse(f"/tables/{table.id}#decide", 303)


@in_turn
async def publish_round(request: Request) -> Response:
    """Start a run that is a round of a series: it needs a ledger, and a place that stays."""
    shelf: Shelf = request.app.state.shelf
    table = table_of(request)
    async with request.form(max_files=0, max_fields=2) as form:
        ledger, place = (str(form.get(key, "")).strip() for key in ("ledger", "folder"))
    if not (Path(ledger).is_absolute() and Path(place).is_absolute()):
        raise Refused(Refusal(NOT_WHOLE))
    if not table.asked.named("person"):
        raise Refused(Refusal(NO_PERSON))
    await bars(shelf, table)
    if undecided := choices(table):
        return decide_first(table, undecided)
    return start(shelf, table, ledger, place)


ROUTES = [
    Route("/tables/{table}/round", publish_round, methods=["POST"]),
    Route("/tables/{table}/undo", undo, methods=["POST"]),
    Route("/runs/{job}/name", name_run, methods=["POST"]),
    Route("/runs/{job}/beside", choose_other, methods=["POST"]),
    Route("/runs/{job}/beside/{other}", beside_page),
    Route("/runs/{job}/coarsen", coarsen_run, methods=["POST"]),
    Route("/runs/{job}/together", read_together, methods=["POST"]),
    Route("/runs/{job}/not-given", not_given, methods=["POST"]),
]
