"""The report of a release that was made from published groups: a coarser one, or one of a series.

It is computed from published rows alone, because whatever else it said would be more than they
tell: nothing is compared with the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.audit.identification import check_threshold, identification, least_size
from shoal.exact import upward
from shoal.runs.facts import LIMITS, SHOWN, citations, group_sizes
from shoal.utility.distribution import distribution
from shoal.utility.maps import loss_map
from shoal.views.commands import Command

if TYPE_CHECKING:
    from shoal.audit.verify import Audit
    from shoal.release.release import ReleaseData

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


def collect_recast(release: ReleaseData, audit: Audit, threshold: float) -> dict[str, Any]:
    """Gather what published rows tell."""
    manifest = release.manifest
    limit = check_threshold(threshold)
    assert audit.alike is not None
    series = "previous" in manifest
    return {
        "manifest": manifest,
        "series": series,
        "requirements": [
            finding.to_dict()
            | {
                "promise": finding.requirement.principle.promise(
                    " and ".join(finding.requirement.columns)
                ),
                "source": finding.requirement.principle.source,
                "risk": upward(finding.measurement.risk),
            }
            for finding in audit.findings
        ],
        "sizes": group_sizes(release),
        "found": identification(audit.alike, audit.alike, limit),
        "threshold": threshold,
        "least_size": least_size(limit),
        "map": loss_map(release),
        "values": [distribution(column) for column in release.coded.sensitive[:SHOWN]],
        "limits": (*(SERIES if series else NESTED), *LIMITS),
        "citations": citations(release),
        "command": _command(release).folded,
    }


def _command(release: ReleaseData) -> Command:
    asked = [("require", one) for one in release.manifest["require"]]
    if "previous" in release.manifest:
        return Command("audit", ("BEFORE", "DIR"))
    return Command("coarsen", ("FINER",), (*asked, ("output", "DIR")))
