"""The report of a release, made anew from its directory alone; and whether the one there is it.

The codebook is compared with the tables likewise, while an audit has them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.manifest import read_manifest
from shoal.audit.verify import Report
from shoal.errors import InputError
from shoal.release.manifest import REPORT
from shoal.release.places import PUBLIC, write_whole
from shoal.runs.facts import facts, facts_of, same
from shoal.table.strict import read_json
from shoal.utility.bias import untrue_codebook
from shoal.utility.shown import shown
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.audit.published import Published
    from shoal.audit.verify import Audit

FIRST = (0, 2)  # version, the first one whose manifests say what reports are made from
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

    def __call__(self, published: Published) -> dict[str, Any]:
        """Compare the codebook with tables while they are at hand, and return what these show."""
        self._untrue = untrue_codebook(Path(self._release), published)
        return shown(published)

    def compared(self, found: Audit) -> Audit:
        """Return an audit that says as well where codebook and report say something else."""
        if found.shown is None:
            return found
        directory = Path(self._release)
        manifest = read_manifest(directory)
        known = facts(manifest, None if not manifest.grouped else found.alike, found.shown)
        report = compare_report(directory, known)
        untrue = (*self._untrue, *([report.because or ""] if report.untrue else []))
        return replace(found, problems=(*found.problems, *untrue), report=report)


def compare_report(directory: Path, known: dict[str, Any]) -> Report:
    """Say whether a report shows what is known of its release, in its facts and in its text.

    The page of another version may say it in other words. Then only its facts are compared, which
    every reader of the audit is told: whoever changes the text may change the version as well.
    """
    try:
        page = (directory / REPORT).read_bytes().decode("utf-8")
        (text,) = FACTS.findall(page)
        told = read_json(text)
    except (OSError, ValueError, InputError):
        return Report.false(f"{REPORT} does not hold its facts, so nothing can be compared.")
    whole = isinstance(told, dict) and known.keys() <= told.keys()
    whole = whole and same(told["release"], known["release"], whole=True)
    if not whole or not same(told, known):
        return Report.false(
            f"{REPORT} shows other facts than the published tables and the manifest."
        )
    from shoal.views.html import render_report

    if render_report(known) == page:
        return Report()
    version = known["release"]["shoal"]
    if version == __version__:
        return Report.false(
            f"{REPORT} is not the page that Shoal {__version__} makes of this release."
        )
    if tuple(map(int, version.split(".", 2)[:2])) < FIRST:
        return Report.false(
            f"The manifest says that Shoal {version} wrote it, which wrote no such manifest, and "
            f"{REPORT} is not the page that this version makes of the release."
        )
    return Report(
        compared=False,
        because=f"The text of {REPORT} was NOT compared with the files; only its numbers were. The "
        f"release says that Shoal {version} wrote it, and this is {__version__}. Do not rely on "
        "that text. Audit the release with that version, or read the report that shoal report "
        "makes anew.",
    )
