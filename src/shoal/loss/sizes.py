"""Losses that look at the sizes of groups and at what was left out, whatever cells say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.requirement import requirements

if TYPE_CHECKING:
    from shoal.loss.release import Measured


def discernibility(release: Measured) -> float | None:
    """Return Σ |G|² over groups, and n for every suppressed row. Range: n to n².

    Each row costs as many as it cannot be told from (Bayardo, Agrawal: Data Privacy through Optimal
    k-Anonymization. ICDE 2005).
    """
    if release.groups is None:
        return None
    sizes = release.groups.sizes.astype(np.float64)
    return float(sizes @ sizes + release.suppressed * release.rows)


def average_group_size(release: Measured) -> float | None:
    """Return the published rows divided by the groups. Range: 1 to n."""
    if release.groups is None:
        return None
    return release.published.height / len(release.groups)


def normalized_group_size(release: Measured) -> float | None:
    """Return C_avg, the average group size divided by the least that is allowed. Range: from 1.

    The least is the largest of what the requirements ask for: k of KAnonymity, m of EpsilonM and so
    on (LeFevre, DeWitt, Ramakrishnan: Mondrian. ICDE 2006).
    """
    average = average_group_size(release)
    if average is None:
        return None
    sensitive = tuple(
        column["name"] for column in release.manifest["columns"] if column["role"] == "sensitive"
    )
    asked = requirements(release.manifest["require"], sensitive)
    return average / max(1, *(one.principle.least for one in asked))


def suppression(release: Measured) -> float:
    """Return the share of the rows that were left out. Range: 0 to 1."""
    return release.suppressed / release.rows
