"""What a worker does for the page once there is a release: audit, attack, show, document."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.progress import Progress, silent
from shoal.runs import consider as considering
from shoal.runs.attacking import of_one
from shoal.runs.certificate import certified
from shoal.runs.originals import members_of, read_controls, reading_of
from shoal.runs.run import Run
from shoal.views.annex import over
from shoal.views.pages import attack_page, write_page
from shoal.views.person import as_html
from shoal.views.sentences import promised

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from shoal.ask.ask import Ask
    from shoal.principles.requirement import Requirement
    from shoal.runs.preview import BeforeAfter
    from shoal.web.worker import Values


def coarser_promises(asked: Sequence[Requirement], facts: Values) -> list[str]:
    """Say what a coarser release promises: last, which group sizes follow from a larger one."""
    sizes = [one for one in asked if one.principle.sizes_only]
    largest = max((one.principle.least for one in sizes), default=0)
    smaller = [one for one in sizes if one.principle.least < largest]
    said = [promised(one, facts) for one in asked if one not in smaller]
    follows = "This follows from the larger group size, and the finer release promises it too."
    return said + [f"{promised(one, facts)} {follows}" for one in smaller]


@dataclass
class Reader:
    """A worker that reads tables and releases, and remembers tables."""

    progress: Progress = silent
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def coarsen(self, folder: str, output: str, most: int) -> Values:
        """Make a coarser release of a release, in which nobody is found more often than once."""
        finer = json.loads((Path(folder) / "manifest.json").read_text("utf-8"))
        secret = [one["name"] for one in finer["columns"] if one["role"] == "sensitive"]
        texts = considering.as_sure(finer["require"], secret, most)
        made = shoal.coarsen(folder, require=texts, progress=self.progress)
        made.write(output)
        return {
            "manifest": made.facts,
            "promises": [(one, True) for one in coarser_promises(made.requirements, made.facts)],
            "inferred": [],
            "remarks": [],
        }

    def together(
        self, folders: list[str], original: str, person: str | None, **how: Any
    ) -> list[Values]:
        """Return what two releases reveal of people's values together, and each alone."""
        known = self._read(original, **how)
        schema = None if person is None else shoal.Schema(person=person)
        found: list[Values] = shoal.attack(folders, schema, original=known).to_dict()[
            "intersection"
        ]
        return found

    def audit(self, folder: str) -> Values:
        """Measure what a release keeps, from its files."""
        found = shoal.audit(folder)
        made = json.loads((Path(folder) / "manifest.json").read_text("utf-8"))
        return {
            "audit": found.to_dict(),
            "complaints": found.complaints(),
            "promises": [
                (promised(one.requirement, made), one.holds)
                for one in found.findings
                if one.by != "cells"
            ],
        }

    def certificate(self, folder: str, page: str, context: dict[str, str]) -> None:
        """Write the certificate of a release, measured from its files: all of it, or nothing.

        `context` has what the owner said since of who publishes it, and why.
        """
        partial = Path(f"{page}.partial")
        partial.unlink(missing_ok=True)
        certified(Path(folder), partial, context)
        partial.replace(page)

    def person(self, ask: Ask, path: str, folder: str, row: int | None, **how: Any) -> str:
        """Return what a stranger learns about one person, as a piece of a page; kept nowhere."""
        asked = Run.of(ask, table=[path], **how)
        found = shoal.measures.person(
            folder,
            row,
            original=asked.frame(self.progress),
            person=asked.schema.person,
            hierarchies=asked.schema.hierarchies,
        )
        return as_html(found, alone=False)

    def dossier(
        self,
        ask: Ask,
        folder: str,
        norm: str,
        schema: str,
        output: str,
        path: str | None = None,
        control: str | None = None,
        **how: Any,
    ) -> str:
        """Write both parts of a dossier anew; without a table the private one is empty.

        `control` is a table of people who are not in the release.
        """
        made = Path(output)
        for old in (made, made.with_name(f"{made.stem}-private{made.suffix}")):
            old.unlink(missing_ok=True)
        run = Run.of(ask, table=[path], **how) if path else None
        known: Values = {"norm": norm, "schema": schema}
        if run is not None:
            people = run.frame(self.progress)
            known |= {"original": people, "person": run.schema.person}
            if control is not None:
                known["control"] = read_controls(control, people, reading_of(ask))
        return str(shoal.dossier(folder, made, **known).public)

    def attack(
        self,
        folder: str,
        page: str,
        original: str | None,
        person: str | None,
        control: Values | None = None,
        **how: Any,
    ) -> None:
        """Write a page about what an attacker learns from a release, of those who are in it.

        `person` says in the original whom rows are about, where a release counts people. `control`
        says where the control group is and how it is read, where there is one.
        """
        known, remarks = None if original is None else self._read(original, **how), []
        others = None if control is None else self._read(**control)
        if known is not None and (Path(folder) / "manifest.json").is_file():
            known, person, who = members_of(Path(folder), known, person)
            remarks = [over(who)]
        schema = None if person is None else shoal.Schema(person=person)
        found = of_one(shoal.attack([folder], schema, original=known, control=others)).to_dict()
        write_page(page, attack_page(found | {"remarks": [*remarks, *found["remarks"]]}))

    def save(self, source: str, target: str) -> str:
        """Copy a release into a folder that is not there yet; return which."""
        from shoal.runs.publish import copy_release

        return str(copy_release(source, target))

    def beside(self, ask: Ask, path: str, shown: BeforeAfter, **how: Any) -> BeforeAfter:
        """Return published rows beside those of the table that they were made from."""
        run = Run.of(ask, table=[path], **how)
        return shown.beside(run.frame(self.progress), run.schema)

    def _read(self, path: str, **how: Any) -> pl.DataFrame:
        if path not in self.tables:
            self.tables[path] = Run.of(None, table=[path], **how).frame(self.progress)
        return self.tables[path]
