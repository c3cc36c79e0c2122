"""The report of a release made from published groups, apart because it knows no original.

It is computed from published rows alone, because whatever else it said would be more than they
tell: nothing is compared with the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.runs.again import citations
from shoal.runs.facts import LIMITS, group_sizes, stated
from shoal.utility.fidelity import kept_columns
from shoal.utility.maps import loss_map
from shoal.views.commands import Command

if TYPE_CHECKING:
    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData
    from shoal.runs.spread import SpreadRelease

NESTED = (
    "It was made from a finer release alone: whoever has both learns what the finer one tells.",
)
SERIES = (
    "It is one of a series. A group is published unchanged or not at all, so all releases together "
    "tell no more than the first one of each group, provided that whether somebody stays or leaves "
    "does not depend on the sensitive value among people of equal quasi values.",
    "Rows of people who left are published as before and stand for nobody; `real` says how many "
    "people of a group are still there.",
)


def collect_recast(release: ReleaseData, audit: Audit, threshold: float | str) -> dict[str, Any]:
    """Gather what published rows tell."""
    series = "previous" in release.manifest
    return stated(release.manifest, audit, threshold) | {
        "series": series,
        "sizes": group_sizes(release),
        "map": loss_map(release),
        "fidelity": {"columns": kept_columns(release)},
        "limits": (*(SERIES if series else NESTED), *LIMITS),
        "citations": citations(release),
        "command": _command(release).folded,
    }


def collect_spread(
    manifest: dict[str, Any], audit: Audit, release: SpreadRelease, threshold: float | str
) -> dict[str, Any]:
    """Gather what is known of a release that nobody holds whole."""
    asked = [("require", one) for one in manifest["require"]]
    schema = release.schema
    roles = [
        (role, ",".join(getattr(schema, role)))
        for role in ("quasi", "sensitive", "other")
        if getattr(schema, role)
    ]
    how = [("method", manifest["method"]), ("engine", "Spark()"), ("output", "DIR")]
    return stated(manifest, audit, threshold) | {
        "series": False,
        "spread": len([name for name in manifest["digests"] if "/" in name]),
        "sizes": release.sizes,
        "map": None,
        "fidelity": {"columns": []},
        "limits": LIMITS,
        "citations": citations(release),
        "command": Command("anonymize", ("TABLE",), (*roles, *asked, *how)).folded,
    }


def _command(release: ReleaseData) -> Command:
    asked = [("require", one) for one in release.manifest["require"]]
    if "previous" in release.manifest:
        return Command("audit", ("BEFORE", "DIR"))
    return Command("coarsen", ("FINER",), (*asked, ("output", "DIR")))
