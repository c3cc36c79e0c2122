"""What a public report shows: everything follows from published tables and their manifest.

Nothing else is looked at, so that a report can tell no more than the tables do. Whoever has a
release directory computes the same.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.identification import identification, least_size, threshold_of
from shoal.audit.published import open_checked, read_release
from shoal.audit.tables import find_parts, open_stated, refuse
from shoal.audit.verify import audit_table
from shoal.release.manifest import REPORT
from shoal.table.forms import RELEASE
from shoal.utility.shown import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
