"""The project: what outlives a restart of the page, if the owner wants it.

It is one file on this computer that its owner alone can read. Of each run it holds what was asked,
the price, the verdict, where the table is and the digest of its file. There is no copy of a table
in it and nothing about single people.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from shoal.views.pages import write_page

if TYPE_CHECKING:
    from shoal.web.state import Job, Table

FILE = "project.json"
BROKEN = (
    "The project file {} cannot be read, so nothing is taken from it. Delete the project here, or "
    "move the file away."
)


class KeptRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is kept of a run."""

    id: str
    begun: float
    table: str  # its name
    path: str | None  # where it is, None where it was only dropped onto the page
    digest: str | None  # of its file, by which a second release is noticed
    name: str  # that the owner gave the run
    promise: str
    toml: str  # what was asked
    price: float | None  # the share of the detail that it was to lose
    lost: float
    rows: int
    verdict: str
    ledger: str = ""  # of the series that it is a round of
    taken: bool  # whether its release was downloaded or saved

    @property
    def called(self) -> str:
        """What the owner calls it, or what it promises."""
        return self.name or self.promise


class KeptProject(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file."""

    version: int = 1
    runs: tuple[KeptRun, ...] = ()


def place_of_project() -> Path:
    """Return where the project of this person is."""
    said = Path(os.environ.get("XDG_DATA_HOME", ""))
    home = said if said.is_absolute() else Path.home() / ".local" / "share"
    return home / "shoal" / FILE


@dataclass
class Project:
    """The project of this person; nothing is written until the owner asks for it."""

    path: Path = field(default_factory=place_of_project)
    problem: str = ""

    @property
    def on(self) -> bool:
        """Whether there is one."""
        return self.path.exists()

    @property
    def runs(self) -> tuple[KeptRun, ...]:
        """What is kept, the last run first; nothing where the file cannot be read."""
        self.problem = ""
        if not self.on:
            return ()
        try:
            found = msgspec.json.decode(self.path.read_bytes(), type=KeptProject)
        except (OSError, msgspec.MsgspecError):
            self.problem = BROKEN.format(self.path)
            return ()
        return tuple(sorted(found.runs, key=lambda one: -one.begun))

    def begin(self, runs: list[KeptRun]) -> None:
        """Begin one with the runs that there are."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.on:
            self._write(tuple(runs))

    def note(self, job: Job, table: Table | None, home: Path) -> None:
        """Keep what there is now of a run, where there is a project."""
        run = kept_run(job, table, home) if self.on else None
        if run is not None:
            self.keep(run)

    def keep(self, run: KeptRun) -> None:
        """Keep a run, in place of what was kept of it before."""
        others = tuple(one for one in self.runs if one.id != run.id)
        if self.on and not self.problem:
            self._write((*others, run))

    def delete(self) -> None:
        """Delete it, and its directory where nothing else is in it."""
        self.path.unlink(missing_ok=True)
        if self.path.parent.is_dir() and not any(self.path.parent.iterdir()):
            self.path.parent.rmdir()

    def taken_before(self, table: Table | None, job: Job, known: set[str]) -> list[KeptRun]:
        """Return the runs whose release of a table was taken while an earlier page was open."""
        if table is None:
            return []
        own = {str(table.path), table.digest.hex() if table.digest else ""}
        kept = [one for one in self.runs if one.taken and one.id not in known]
        kept = [one for one in kept if not one.ledger or one.ledger != job.ledger]
        return [one for one in kept if own & {one.path or "-", one.digest or "-"}]

    def _write(self, runs: tuple[KeptRun, ...]) -> None:
        data = msgspec.json.format(msgspec.json.encode(KeptProject(runs=runs)))
        write_page(self.path, data.decode(), force=True)


def kept_run(job: Job, table: Table | None, home: Path) -> KeptRun | None:
    """Return what is kept of a run, None of one that has made nothing, or was asked elsewhere."""
    if job.kind != "publish" or not job.outcome or job.asked is None:
        return None
    made = job.outcome["manifest"]
    where = None if table is None or table.path.is_relative_to(home) else str(table.path)
    return KeptRun(
        id=job.id,
        begun=job.begun,
        table=job.table,
        path=where,
        digest=table.digest.hex() if table is not None and table.digest else None,
        name=job.name,
        promise=job.promise,
        toml=job.asked.toml(table=where or job.table),
        price=job.price,
        lost=made["loss"]["gcp"],
        rows=made["rows"],
        verdict=made["verdict"],
        ledger=job.ledger,
        taken=job.taken,
    )
