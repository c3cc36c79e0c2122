"""What the page holds while it is open: tables and runs, each in a directory of its own."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import threading
import time
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.errors import ShoalError
from shoal.views.whole import Whole
from shoal.web.kept import Project
from shoal.web.worker import CRASHED, Refusal, Refused, Stopped, Worker, no_process, unforeseen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from shoal.ask.ask import Ask
    from shoal.web.draft import Draft
    from shoal.web.kept import KeptRun

ENDINGS = (
    ".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather",
    ".ipc", ".xlsx", ".xls", ".dta", ".sav", ".sas7bdat",
)  # fmt: skip
PACKED = (".gz", ".zst")
RELEASE = "release"
MOST_PAST = 100  # decisions that can be undone
IMPROVE = "improve"
PART_OF = {"partition": "search", "repair": "search", "seek": "search", "anneal": IMPROVE}
ROOM, TIMES = 768 * 2**20, 100  # bytes of memory, and times its size, that reading a file may take
KNOWN_FROM = 0.03  # the share of a run from which the time that is left is told


def new_id() -> str:
    """Return a name that tells nothing and fits into an address and a path."""
    return secrets.token_hex(8)


def stored_name(name: str) -> str:
    """Return the name a table is kept under: of the name that came with it only a known ending.

    >>> stored_name("../../etc/people.CSV.gz"), stored_name("wards")
    ('table.csv.gz', 'table')
    """
    low, packed = name.lower(), ""
    for ending in PACKED:
        if low.endswith(ending):
            low, packed = low.removesuffix(ending), ending
    return "table" + next((e for e in ENDINGS if low.endswith(e)), "") + packed


def room_for(path: Path) -> int:
    """Return how much memory reading a file that came may take: it may unpack to far more.

    Tables of all kinds took less than 150 times the size of a small file, and 30 of a large one.
    """
    return ROOM + TIMES * path.stat().st_size


def hierarchy_name(place: int | str) -> str:
    """Return the name that the hierarchy of a column is kept under."""
    return f"hierarchy-{place}.csv"


@dataclass
class Table:
    """A table that was opened; `facts` is None while it is being read."""

    name: str
    path: Path
    folder: Path
    id: str = field(default_factory=new_id)
    said: dict[str, Any] = field(default_factory=dict)  # how the owner says that it is read
    opened: dict[str, Any] | None = None  # how it was read: what was assumed, and what is shown
    kept: set[str] = field(default_factory=set)  # columns without a name that are used
    confirmed: bool = False  # whether the owner has said that this is the table
    checked: bool = False  # whether it was brought to learn what it keeps, not to publish it
    share: float = 0.0  # of the file that has been read, while it is being read
    facts: dict[str, Any] | None = None
    digest: bytes | None = field(default=None, repr=False)  # of the file that was read; kept here
    problem: Refusal | None = None
    draft: Draft | None = None
    priced: tuple[Ask | None, dict[str, Any]] = (None, {})  # the last price, and of what
    refused: tuple[Ask | None, Refusal | None] = (None, None)  # what has no price, and why
    ahead: tuple[Ask | None, Refusal | None, list[tuple[str, str]]] = (None, None, [])  # of all
    past: list[Draft] = field(default_factory=list)  # what was decided before, and now
    weighed: Ask | None = None  # of what a price was tried last, also in vain
    bare: list[str] = field(default_factory=list)  # columns to protect that nothing is about
    going: dict[str, Any] = field(default_factory=dict)  # how many rows will go, and why
    considered: list[dict[str, Any]] = field(default_factory=list)  # what is shown as required
    reading: threading.Lock = field(default_factory=threading.Lock)
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)  # one decision after the other
    turns: tuple[int, int] = (0, 0)  # decisions that came, and the one that is being worked out
    columns: dict[int, dict[str, Any]] = field(default_factory=dict)  # what is known of each
    links: dict[str, Path] = field(default_factory=dict)  # where linked tables are
    whom: int | None = None  # the row of the person who is shown, None for the most exposed one
    drawn: int = 0  # how often rows were drawn
    sampled: int = 0  # how many rows prices are tried on
    room: int | None = None  # bytes of memory that reading it may take, None for as much as it does

    @property
    def tried_whole(self) -> bool:
        """Whether prices are tried on all rows: what they do not reach, the table does not."""
        return self.facts is not None and self.facts["rows"] <= self.sampled

    def sample(self, drawn: int, link: str | None = None) -> str:
        """Return where some of its rows are, to try prices on, or those of a linked table."""
        own = "" if link is None else f"-{self.asked.linked[link][1][0]}"
        return str(self.folder / f"sample-{drawn}{own}.parquet")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the decisions before this one, which need not be worked out to their end."""
        mine = self.turns[0] + 1
        self.turns = mine, self.turns[1]
        async with self.deciding:
            self.turns = self.turns[0], mine
            yield

    @property
    def overtaken(self) -> bool:
        """Whether something newer was decided than what is being worked out."""
        return self.turns[0] > self.turns[1]

    @property
    def how(self) -> dict[str, Any]:
        """How it is read."""
        return {"said": self.said, "memory": self.room}

    @property
    def linked(self) -> dict[str, str]:
        """Where the linked tables are of which something is to be published."""
        return {name: str(self.links[name]) for name in self.asked.used_links}

    @property
    def asked(self) -> Draft:
        """What the owner has decided so far."""
        assert self.draft is not None
        return self.draft

    def note(self) -> None:
        """Keep what is decided now, so that it can be returned to."""
        if not self.past or self.past[-1] != self.draft:
            self.past = [*self.past, deepcopy(self.asked)][-MOST_PAST:]

    @property
    def ask(self) -> Ask:
        """What is asked for now."""
        return self.asked.ask_in(self.folder)

    def copy_to(self, folder: Path) -> Draft:
        """Return what is decided now, with its hierarchies copied into a folder of its own."""
        try:
            for path in self.folder.glob(hierarchy_name("*")):
                shutil.copyfile(path, folder / path.name)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return deepcopy(self.asked)


@dataclass
class Job:
    """A run under way or done; `version` grows with whatever there is to be seen of it."""

    table: str  # its name
    kind: str
    promise: str
    folder: Path
    seconds: float = 0.0  # that a search may take, 0 for as long as it likes
    checks: Path | None = None  # a release that was made before
    saved: Path | None = None  # where its release goes, if not into its folder
    ledger: str = ""  # of the series that it is a round of
    about: str = ""  # the id of the table or run that it is about
    asked: Draft | None = None  # as it was when the run began
    id: str = field(default_factory=new_id)
    name: str = ""  # that the owner gave it
    finer: str = ""  # the id of the run whose release it makes coarser
    price: float | None = None  # the share of the detail that it is to lose
    taken: bool = False  # whether its release was downloaded or saved
    together: dict[str, list[str]] = field(default_factory=dict)  # with other runs, by their ids
    state: str = "running"
    begun: float = field(default_factory=time.time)
    took: float = 0.0
    phases: dict[str, list[float]] = field(default_factory=dict)  # share, begun, ended
    outcome: Any = None
    problem: Refusal | None = None
    remedies: list[tuple[str, str]] | None = None  # those that work, once they were tried
    version: int = 0
    share: float = 0.0  # of the whole, by time
    asked_to_end: bool = False  # with the best that was found so far
    losses: list[tuple[float, float]] = field(default_factory=list)  # when the best lost how much
    whole: Whole = field(default_factory=Whole, repr=False)
    worker: Worker = field(default_factory=Worker, repr=False)
    ended: threading.Event = field(default_factory=threading.Event, repr=False)
    certifying: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def called(self) -> str:
        """What the owner calls it, or when it was begun."""
        return self.name or f"the run of {time.strftime('%H:%M', time.localtime(self.begun))}"

    @property
    def done(self) -> bool:
        """Whether nothing more will happen."""
        return self.state != "running"

    def progress(self, phase: str, share: float) -> None:
        """Note how far a phase is."""
        now = time.time()
        self.share = self.whole.share(phase, share)
        phase = PART_OF.get(phase, phase)
        known = self.phases.setdefault(phase, [0.0, now, now])
        known[0], known[2] = share, now
        for other, entry in self.phases.items():
            if other != phase:
                entry[0] = 1.0
        self.version += 1

    def better(self, loss: float) -> None:
        """Note what the best so far loses."""
        if not self.losses or loss < self.losses[-1][1]:
            self.losses.append((time.time() - self.begun, loss))
            self.version += 1

    @property
    def release(self) -> Path:
        """Where the release is that it makes, or checks."""
        return self.checks or self.saved or self.folder / RELEASE

    @property
    def hierarchies(self) -> list[int]:
        """The places of columns whose hierarchies lie beside its schema file."""
        found = self.folder.glob(hierarchy_name("*"))
        return sorted(int(one.stem.rpartition("-")[2]) for one in found)

    @property
    def left(self) -> float | None:
        """The seconds that it will still take, None while that is not known."""
        now = time.time()
        if self.share < KNOWN_FROM:
            return None
        left = (now - self.begun) * (1 - self.share) / self.share
        searched = self.phases.get("search")
        if self.seconds and searched is not None and "recode" not in self.phases:
            left = max(left, searched[1] + self.seconds - now)  # all of it may be used
        return left

    @property
    def part(self) -> float:
        """How much of the time has passed, 0 while that is not known."""
        spent, left = time.time() - self.begun, self.left
        return spent / (spent + left) if left is not None and spent + left > 0 else 0.0

    @property
    def improving(self) -> bool:
        """Whether something that holds was found, and better is being looked for."""
        known = self.phases.get(IMPROVE)
        return not self.done and known is not None and known[0] < 1

    @property
    def sought(self) -> float:
        """The seconds after which the search ended, or that have passed while it goes on."""
        known = self.phases.get(IMPROVE)
        ended = time.time() if self.improving or known is None else known[2]
        return ended - self.begun

    def keep(self) -> None:
        """Have the run go on with the best that it has found."""
        self.asked_to_end = True
        self.worker.enough()
        self.version += 1

    def cancel(self) -> None:
        """End the run at once, and wait until nothing is left of it."""
        self.worker.stop()
        self.ended.wait()

    def run(self, name: str, keep: Callable[[Job], None], **arguments: Any) -> None:
        """Have the work done, and note how it ended; whatever happens, it has ended then.

        What was made is kept before anybody sees that it is there.
        """
        state, problem = "failed", CRASHED
        try:
            self.outcome = self.worker.call(name, self.progress, self.better, **arguments)
            keep(self)
            state = "done"
        except Refused as refused:
            problem = refused.refusal
        except Stopped:
            state = "cancelled"
        except Exception as other:  # noqa: BLE001 - somebody waits for it
            problem = unforeseen(other)
        finally:
            self.end(state, problem)

    def end(self, state: str, problem: Refusal) -> None:
        """Note how the run ended; nothing is kept of one that made nothing."""
        self.took = time.time() - self.begun
        if state != "done":
            shutil.rmtree(self.folder, ignore_errors=True)
        if state == "failed":
            self.problem = problem
        self.state = state
        self.version += 1
        self.ended.set()
        self.worker.stop()


class Shelf:
    """Everything that is open, under one directory; safe to use from several threads."""

    def __init__(self, home: Path, *, most_runs: int = 2) -> None:
        self.home, self.most_runs = home, most_runs
        self.tables: dict[str, Table] = {}
        self.jobs: dict[str, Job] = {}
        # The first looks, the second prices what is decided, the third what could be instead.
        self.desk, self.bench, self.till = Worker(), Worker(), Worker()
        self._lock = threading.Lock()
        self.project = Project()

    def keep(self, job: Job) -> None:
        """Keep what has changed of a run, where the owner wants a project."""
        with self._lock, suppress(OSError, ShoalError):  # a full disk ends no run
            self.project.note(job, self.tables.get(job.about), self.home)

    def taken_before(self, job: Job) -> list[KeptRun]:
        """Return the kept runs whose releases of its table were taken before this page was open."""
        return self.project.taken_before(self.tables.get(job.about), job, set(self.jobs))

    @property
    def read(self) -> list[Table]:
        """The tables that were read, the last one first."""
        return [one for one in self.tables.values() if one.facts is not None][::-1]

    def made(self) -> list[Job]:
        """Return the runs that have made a release here, the last one first."""
        done = (one for one in self.jobs.values() if one.kind == "publish" and one.state == "done")
        return sorted(done, key=lambda job: -job.begun)

    def unread_together(self, job: Job) -> list[Job]:
        """Return the runs whose releases of one table were taken, and not read with this one."""
        return [
            other
            for other in self.made()
            if other.taken
            and (job.ledger or not job.taken)  # else it was out before them
            and not self.file_of(other).isdisjoint(self.file_of(job))
            and self.origin(other) != self.origin(job)  # a coarser one adds nothing
            and not (job.ledger and job.ledger == other.ledger)  # nor does a round of its series
            and other.id not in job.together
        ]

    def file_of(self, job: Job) -> set[Path | bytes | str]:
        """Return what a published file is known by, as a copy of it is; a series has several."""
        rounds = (one for one in self.made() if job.ledger and one.ledger == job.ledger)
        about = {one.about for one in (job, *rounds)}
        return about.union(*({t.path, t.digest or t.id} for t in map(self.tables.get, about) if t))

    def origin(self, job: Job) -> str:
        """Return the id of the run from whose release a release was made, by joining groups."""
        while job.finer in self.jobs:
            job = self.jobs[job.finer]
        return job.id

    def folder(self, kind: str) -> Path:
        """Make a directory for a table or a run."""
        (made := self.home / kind / new_id()).mkdir(mode=0o700, parents=True)
        return made

    def start(self, job: Job, name: str, **arguments: Any) -> Job:
        """Start a run in a process of its own, or refuse where too many are under way."""
        with self._lock:
            busy = [one for one in self.jobs.values() if not one.done]
            if len(busy) >= self.most_runs:
                shutil.rmtree(job.folder, ignore_errors=True)
                said = f"{len(busy)} runs are under way, the most that Shoal does at a time."
                raise Refused(Refusal(f"{said} Wait for one of them, or cancel it.", kind="Busy"))
            self.jobs[job.id] = job
        try:
            threading.Thread(
                target=job.run, args=(name, self.keep), kwargs=arguments, daemon=True
            ).start()
        except RuntimeError as problem:  # the system gives no more threads
            job.end("failed", no_process(problem))
        return job

    def close(self) -> None:
        """End all work at once."""
        workers = (self.desk, self.bench, self.till)
        for worker in (*workers, *(job.worker for job in self.jobs.values())):
            worker.stop()
