"""The report of a release, made anew from its directory alone; and whether the one there is it.

The codebook is compared with the tables likewise, while an audit has them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.manifest import REPORT, read_manifest
from shoal.errors import InputError
from shoal.release.places import PUBLIC, write_whole
from shoal.runs.facts import facts, facts_of, same
from shoal.table.strict import read_json
from shoal.utility.codebook import untrue_codebook
from shoal.utility.shown import shown
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.audit.forms import Tables
    from shoal.audit.verify import Audit

FACTS = re.compile(r'<script type="application/json" id="facts">(.*?)</script>', re.DOTALL)


def report(directory: str | Path, output: str | Path | None = None) -> str:
    """Return the report of a release, made from its tables and its manifest and nothing else.

    Under the version of Shoal that wrote the release, it is `report.html` byte for byte.

    Parameters
    ----------
    directory : the release.
    output : a file to write it to as well, which must not exist.
    """
    from shoal.views.html import render_report

    page = render_report(facts_of(directory))
    if output is not None:
        write_whole(output, page, force=False, mode=PUBLIC)
    return page


class Looking:
    """Looks at the tables of a release that is audited, for what its other files say of them."""

    def __init__(self, release: Any) -> None:
        self._release = release
        self._untrue: list[str] = []

    def __call__(self, tables: Tables, manifest: dict[str, Any]) -> dict[str, Any]:
        """Compare the codebook with tables while they are at hand, and return what these show."""
        self._untrue = untrue_codebook(Path(self._release), tables, manifest)
        return shown(tables, manifest)

    def compared(self, found: Audit) -> Audit:
        """Return an audit that says as well where codebook and report say something else."""
        if found.shown is None:
            return found
        directory = Path(self._release)
        manifest = read_manifest(directory)
        untrue = [*self._untrue, *untrue_report(directory, manifest, found)]
        unread: tuple[str, ...] = ()
        if manifest["shoal"] != __version__:
            unread = (
                f"The release says that Shoal {manifest['shoal']} wrote it, and this is "
                f"{__version__}. The numbers of {REPORT} were checked, its sentences were not: "
                "audit it with that version, or make the report anew with shoal report.",
            )
        return replace(
            found, problems=(*found.problems, *untrue), warnings=(*found.warnings, *unread)
        )


def untrue_report(directory: Path, manifest: dict[str, Any], found: Audit) -> list[str]:
    """Return a sentence where a report shows something else than the tables beside it."""
    if found.shown is None:
        return []
    known = facts(manifest, None if manifest["groups"] is None else found.alike, found.shown)
    try:
        page = (directory / REPORT).read_bytes().decode("utf-8")
        (text,) = FACTS.findall(page)
        told = read_json(text)
    except (OSError, ValueError, InputError):
        return [f"{REPORT} does not hold its facts, so it cannot be compared with the tables."]
    if not same(told, known):
        return [f"{REPORT} shows other facts than the published tables and the manifest."]
    if manifest["shoal"] != __version__:
        return []
    from shoal.views.html import render_report

    if render_report(known) != page:
        return [f"{REPORT} is not the page that Shoal {__version__} makes of this release."]
    return []
