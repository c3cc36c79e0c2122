"""All losses of a release, each with its formula, range and direction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.loss.coverage import coverage_per_group, coverage_per_tuple
from shoal.loss.divergence import kl_divergence
from shoal.loss.entropy import non_uniform_entropy
from shoal.loss.release import Measured
from shoal.loss.sizes import (
    average_group_size,
    discernibility,
    normalized_group_size,
    suppression,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Loss:
    """One way to measure what was lost. Less is better for all that are listed here."""

    name: str
    title: str
    formula: str
    range: str
    source: str
    better: str = "less"


def _ncp(release: Measured) -> dict[str, float]:
    """Return the NCP of each quasi column, from its published cells."""
    return {
        name: release.mean(
            release.by_box(place, (column.sizes - 1) / max(column.extent - 1, 1)), suppressed=1
        )
        for place, (name, column) in enumerate(release.boxes.quasi.items())
    }


def _gcp(release: Measured) -> float:
    return float(np.mean(list(_ncp(release).values())))


_MEASURES: dict[Loss, Callable[[Measured], float | None]] = {
    Loss(
        "gcp",
        "Global certainty penalty",
        "mean over rows and quasi columns of the cell's width / the domain's width",
        "0 to 1",
        "Ghinita, Karras, Kalnis, Mamoulis. VLDB 2007",
    ): _gcp,
    Loss(
        "coverage_per_tuple",
        "Domain covered, mean over rows",
        "Σ |t*.A| / |A| over quasi columns A",
        "above 0 to the number of quasi columns",
        "Li, Tao, Xiao. SIGMOD 2008, Section 6",
    ): coverage_per_tuple,
    Loss(
        "coverage_per_group",
        "Domain covered, mean over groups",
        "Σ |G.A| / |A| over quasi columns A",
        "above 0 to the number of quasi columns",
        "Wang, Liu. ICDE 2010, Section V",
    ): coverage_per_group,
    Loss(
        "discernibility",
        "Discernibility",
        "Σ |G|² over groups, and n for a suppressed row",
        "n to n²",
        "Bayardo, Agrawal. ICDE 2005",
    ): discernibility,
    Loss(
        "average_group_size",
        "Average group size",
        "rows / groups",
        "1 to n",
        "LeFevre, DeWitt, Ramakrishnan. ICDE 2006",
    ): average_group_size,
    Loss(
        "c_avg",
        "Normalized average group size",
        "rows / groups / least size allowed",
        "from 1",
        "LeFevre, DeWitt, Ramakrishnan. ICDE 2006",
    ): normalized_group_size,
    Loss(
        "kl_divergence",
        "KL divergence from the original, in bits",
        "Σ P log2 (P / Q), Q spread evenly over cells",
        "from 0",
        "Kifer, Gehrke. SIGMOD 2006",
    ): kl_divergence,
    Loss(
        "non_uniform_entropy",
        "Non-uniform entropy",
        "Σ -log2 P(v | cell) as a share of Σ -log2 P(v), mean over quasi columns",
        "0 to 1",
        "De Waal, Willenborg. 1999; Gionis, Tassa. TKDE 2009",
    ): non_uniform_entropy,
    Loss(
        "suppression",
        "Rows left out",
        "suppressed rows / all rows",
        "0 to 1",
        "Samarati. TKDE 2001",
    ): suppression,
}
NCP = Loss(
    "ncp",
    "Normalized certainty penalty of a column",
    "mean over rows of the cell's width / the domain's width",
    "0 to 1",
    "Xu, Wang, Pei, Wang, Shi, Fu. KDD 2006",
)
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (*_MEASURES, NCP)}


def losses(
    source: Any, *, original: Any = None, hierarchies: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """Measure every loss that is defined for a release, by name; `ncp[age]` is that of a column.

    A heterogeneous release has no groups, so that losses of groups are left out, as are those that
    compare with the original where it is not at hand. `describe_losses` tells what they are.

    Parameters
    ----------
    source : a release or its directory. A release in memory knows its original.
    original : the path or frame of the original table, which only its owner has.
    hierarchies : for a directory, those that its owner listed, which its manifest does not hold.
    """
    release = Measured.of(source, original, hierarchies)
    found = {loss.name: measure(release) for loss, measure in _MEASURES.items()}
    known = {name: value for name, value in found.items() if value is not None}
    return known | {f"ncp[{name}]": value for name, value in _ncp(release).items()}


def describe_losses(values: dict[str, float]) -> list[dict[str, Any]]:
    """Return what `losses` measured with title, formula, range, source and direction of each."""
    return [
        asdict(LOSSES[name.partition("[")[0]]) | {"name": name, "value": value}
        for name, value in values.items()
    ]
