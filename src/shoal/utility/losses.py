"""All losses of a release, each with its formula, range and direction.

The papers' loss is how much of the domain published cells cover; less is better:

loss(t*) = Σ |t*.A| / |A| over the quasi columns, where |t*.A| counts the values that a cell covers
and |A| those of the domain: numbers in steps of the finest published decimal, labels one by one
(EM Section 6; XC Section V-C has the same of a group). Range: above 0, to the number of quasi
columns. It differs from NCP in that a cell of one value still covers one.

Non-uniform entropy is the share of the bits that recoding hides, 0 to 1; less is better. A value v
in a cell c costs -log2 P(v | c), where P is the distribution of the column in the original: hiding
a rare value among frequent ones costs more than the other way round. The sum over rows and columns
is divided by what it would be if every cell covered its whole domain. A suppressed row's cells do.
0 for a column of one value (De Waal, Willenborg: Information loss through global recoding and local
suppression. 1999; Gionis, Tassa: k-Anonymization with Minimal Loss of Information. TKDE 2009).

Which original row became which published row need not be known: with f the counts in the original,
the sum of -log2 (f(v) / f(c)) is that of log2 f(c) over published rows less that of log2 f(v) over
original ones.

Other losses look at the sizes of groups and at what was left out, whatever cells say.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.principles.requirement import requirements
from shoal.utility.columns import Intervals, Spread
from shoal.utility.lossy import Measured, ends_in_units, kl_divergence
from shoal.utility.sets import Leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from shoal.table.column import Column


def _by_box(release: Measured) -> NDArray[np.float64]:
    covered = np.zeros(len(release.boxes.sizes))
    for place, column in enumerate(release.boxes.quasi.values()):
        covered += release.by_box(place, column.sizes / column.extent)
    return covered


def coverage_per_tuple(release: Measured) -> float:
    """Return the mean of loss(t*) over rows; a suppressed row covers the whole domain."""
    return release.mean(_by_box(release), suppressed=len(release.boxes.quasi))


def coverage_per_group(release: Measured) -> float | None:
    """Return the mean of loss(G) over groups; suppressed rows are in none."""
    if release.groups is None:
        return None
    firsts = release.groups.order[release.groups.starts[:-1]]
    return float(_by_box(release)[release.box_of[firsts]].mean())


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
        column.name for column in release.manifest.columns if column.role == "sensitive"
    )
    asked = requirements(release.manifest.require, sensitive)
    return average / max(1, *(one.principle.least for one in asked))


def suppression(release: Measured) -> float:
    """Return the share of the rows that were left out. Range: 0 to 1."""
    return release.suppressed / release.rows


def non_uniform_entropy(release: Measured) -> float | None:
    """Return the mean over quasi columns."""
    if release.original is None:
        return None
    losses = []
    columns = zip(release.original.quasi, release.boxes.quasi.values(), strict=True)
    for place, (column, cells) in enumerate(columns):
        counts = np.bincount(column.codes, minlength=column.distinct)
        covered = np.log2(np.maximum(_counted(column, cells, counts), 1))
        hidden = release.mean(release.by_box(place, covered), suppressed=np.log2(release.rows))
        known = float(counts @ np.log2(counts)) / release.rows
        most = np.log2(release.rows) - known
        losses.append((hidden - known) / most if most > 0 else 0.0)
    return float(np.mean(losses))


def _counted(column: Column, cells: Spread, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many original rows have a value in each published cell."""
    before = np.concatenate([[0], np.cumsum(counts)])
    if isinstance(cells, Intervals):
        values, lows, highs = ends_in_units(column, cells)
        first, last = np.searchsorted(values, lows, "left"), np.searchsorted(values, highs, "right")
        numbers = before[last] - before[first]
        if column.gap is None:
            return numbers
        return numbers * ~cells.cover.alone + counts[column.gap] * cells.cover.gaps
    if cells.leaves is not None:
        assert cells.cover.domain.tree is not None
        runs = map(Leaves.of(column).run, cells.cover.domain.tree.names)
        begins, ends = np.array(list(runs))[cells.cover.nodes].T
        return before[ends] - before[begins]
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    by_label = np.array([counts[rank_of[x]] if x in rank_of else 0 for x in cells.labels])
    held = cells.held
    return np.bincount(held.owners, by_label[held.ranks], len(held)).astype(np.int64)


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
        name: release.mean(release.by_box(place, column.cover.loss()), suppressed=1)
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
    source: Any, *, original: Any = None, hierarchies: Mapping[str, object] | None = None
) -> dict[str, float]:
    """Measure every loss that is defined for a release, by name; `ncp[age]` is that of a column.

    A heterogeneous release has no groups, so losses of groups are left out. Losses that compare
    with the original are left out where it is not given. `describe_losses` explains each loss.

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
