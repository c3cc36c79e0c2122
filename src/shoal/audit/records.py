"""The riskiest records of a published table, each with its risk and the reason for it.

The risk of a record is the share of its group, itself included, whose value is within ε of its
own: what a reader who knows the group can say of it. Records that share their description with
nobody have risk 1 for that alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.nearness import band_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.principles.groups import Groups
    from shoal.relations.forms import Band
    from shoal.schema.sensitive import Sensitive

WORST = 10  # records that are named


def near_to_each(groups: Groups, value: Sensitive, band: Band) -> NDArray[np.int64]:
    """Count for each row the members of its group near to it, itself included."""
    base = groups.labels * value.distinct
    keys = np.sort(base + value.codes)
    first = np.searchsorted(keys, base + band.first[value.codes], "left")
    last = np.searchsorted(keys, base + band.last[value.codes], "right")
    found: NDArray[np.int64] = (last - first).astype(np.int64)
    return found


def riskiest_records(
    published: Published, value: Sensitive, epsilon: float
) -> list[dict[str, Any]]:
    """Name the records of the highest risk, those of smaller groups first among equals.

    Rows are counted from 1, as they stand in the published table.
    """
    groups = published.groups
    near = near_to_each(groups, value, band_of(value, epsilon))
    sizes = groups.sizes[groups.labels]
    risks = near / sizes
    return [
        {
            "row": row + 1,
            "group": published.group_id(int(groups.labels[row])),
            "risk": float(risks[row]),
            "why": _why(int(near[row]), int(sizes[row]), epsilon, value.name),
        }
        for row in np.lexsort((sizes, -risks))[:WORST].tolist()
    ]


def _why(near: int, size: int, epsilon: float, name: str) -> str:
    if size == 1:
        return "alone in its group"
    if near == 1:
        return f"one in {size}, and nobody else is near"
    reach = f"within {epsilon:,g} of its own" if epsilon else "the same"
    return f"{near} of {size} in its group have a {name} {reach}"
