"""What a public report shows: everything follows from published tables and their manifest.

Nothing else is looked at, so that a report can tell no more than the tables do. Whoever has a
release directory computes the same: the report is made anew from it, and the one there is compared
with that. The codebook is compared with the tables likewise, while an audit has them.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.identification import identification, least_size, threshold_of
from shoal.audit.published import open_checked, read_release
from shoal.audit.tables import find_parts, open_stated, read_manifest, refuse
from shoal.audit.verify import Report, audit_table
from shoal.errors import InputError, OutputError, option
from shoal.notation import read_json
from shoal.release.manifest import REPORT
from shoal.release.places import PUBLIC, write_whole
from shoal.table.forms import RELEASE
from shoal.utility.bias import untrue_codebook
from shoal.utility.shown import shown
from shoal.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.audit.verify import Audit
    from shoal.release.manifest import Manifest


DIGITS = 6  # of numbers, so that every machine computes the same ones
CLOSE = 1e-7  # by which numbers may differ from one version of a library to the next


def facts(
    manifest: Manifest, alike: NDArray[np.int64] | None, seen: dict[str, Any]
) -> dict[str, Any]:
    """Return everything that a report shows, as plain values.

    `alike` counts who share each description, None where there are no groups; `seen` is what the
    tables show.
    """
    stated = manifest.but(
        columns=[one.but(domain=None) for one in manifest.columns],
        digests={name: said for name, said in manifest.digests.items() if name != REPORT},
    ).to_dict()
    exposure, sizes = None, []
    if alike is not None:
        limit = threshold_of(manifest.threshold)
        found = identification(alike, alike, limit)
        exposure = {"threshold": str(limit), "least_size": least_size(limit)} | found
        kinds, counts = np.unique(alike, return_counts=True)
        sizes = [
            {"size": size, "groups": count}
            for size, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        ]
    return {"release": stated, "exposure": exposure, "sizes": sizes, "shown": _plain(seen)}


def facts_of(directory: str | Path) -> dict[str, Any]:
    """Return what the report of a release directory shows, from its tables and its manifest."""
    place = Path(directory)
    manifest = open_stated(place, but=(REPORT,))
    from shoal.audit.slices import AT_ONCE, audit_parts, is_sliced

    if is_sliced(place, manifest, ()):
        parts = find_parts(place, RELEASE, manifest.digests)
        assert parts is not None
        counted = audit_parts(parts, manifest, ())
        refuse(place, list(counted.problems))
        some = read_release(place, manifest, lean=True, most=AT_ONCE)
        return facts(manifest, counted.alike, shown(some))
    published = open_checked(place, manifest, lean=True)
    seen = shown(published)
    if not manifest.grouped:
        return facts(manifest, None, seen)
    return facts(manifest, audit_table(published, ()).alike, seen)


def _plain(value: Any) -> Any:
    """Return values as JSON has them, numbers with as many digits as are the same everywhere."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return float(f"{np.nan_to_num(value):.{DIGITS}g}") if isinstance(value, float) else value


def same(told: Any, known: Any, *, whole: bool = False) -> bool:
    """Return whether facts are the same, but for what two versions of Shoal do not both say.

    With `whole`, everything that is known has to be told.
    """
    if isinstance(told, dict) and isinstance(known, dict):
        if whole and not known.keys() <= told.keys():
            return False
        return all(same(told[key], known[key], whole=whole) for key in told.keys() & known.keys())
    if isinstance(told, list) and isinstance(known, list):
        return len(told) == len(known) and all(map(partial(same, whole=whole), told, known))
    if isinstance(told, int | float) and isinstance(known, int | float):
        return math.isclose(told, known, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(told == known)


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

    if output is not None and os.path.lexists(output):
        msg = f"{Path(output).name!r} exists. Choose another {option('output')}."
        raise OutputError(msg)
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
