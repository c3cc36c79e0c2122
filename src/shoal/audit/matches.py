"""The audit of a release without groups: whom rows match, and how near their values are.

The published rows are compared with the original table, which only the owner has; without it nobody
can count whom a published row matches.

k-anonymity says nothing about nearness: the published rows that a person matches can carry close
values. The risk of a person is the share of the rows that match the person whose value lies within
a width of the person's own (EM Definition 5, with the matching rows in place of a group). Widths
are shares of the column's spread, the distance from its 5th to its 95th percentile, so that a few
extreme values do not stretch them; of a categorical column only equal values are near.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import check_rows
from shoal.audit.verify import Audit, Finding
from shoal.distances.counting import band_of_column
from shoal.errors import InputError, UsageError
from shoal.notation import exact
from shoal.table.coding import QUANTITY, code_lenient
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.audit.regularity import MatchGraph
    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Coded
    from shoal.table.column import Column


WIDTHS = (0.0, 0.01, 0.05, 0.1)  # of the spread
SPREAD = (0.05, 0.95)
LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class CandidateRisk:
    """The risks of all people for one sensitive column and one width."""

    column: str
    width: float
    risks: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Return what an owner should see of it."""
        return {
            "column": self.column,
            "width": self.width,
            "mean": float(self.risks.mean()),
            "median": float(np.median(self.risks)),
            "worst": float(self.risks.max()),
            "likely": int((self.risks >= LIKELY).sum()),
        }


def candidate_risks(
    published: pl.DataFrame,
    original: Coded,
    graph: MatchGraph,
    *,
    widths: Sequence[float] | None = None,
) -> Iterator[CandidateRisk]:
    """Measure for every sensitive column how near candidates are to each person's own value.

    `widths` are in units of the columns; without them each column has its own.
    """
    for column in original.sensitive:
        known = column.spellings.gather(column.codes)
        carried = published[column.name].cast(pl.String)
        kind = QUANTITY if column.numeric else "categorical"
        texts = pl.concat([known.alias(column.name), carried]).replace(MISSING_LABEL, None)
        both = code_lenient(texts, kind=kind)
        own, codes = both.codes[: len(original)].copy(), both.codes[len(original) :].copy()
        chosen = _widths(column) if widths is None else widths
        near, totals = _count(graph, own, codes, *_bands(both, chosen))
        for place, width in enumerate(chosen):
            yield CandidateRisk(column.name, width, near[place] / np.maximum(totals, 1))


def _widths(column: Column) -> list[float]:
    """Return the widths of a column, in its own units."""
    if not column.numeric:
        return [0.0]
    reach = spread(column.numbers[column.codes[column.codes != column.gap]])
    return sorted({share * reach for share in WIDTHS})


def spread(numbers: NDArray) -> float:
    """Return the distance from the 5th to the 95th percentile, or the largest double if beyond."""
    low, high = np.quantile(numbers.astype(np.float64) / 4, SPREAD)  # differences stay in reach
    return 4 * float(min(high - low, sys.float_info.max / 4))


def _bands(column: Column, widths: Sequence[float]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the first and the last code within each width of each code."""
    codes = np.tile(np.arange(column.distinct, dtype=np.int32), (len(widths), 1))
    if not column.numeric:
        return codes, codes.copy()
    bands = [band_of_column(column, exact(width), exact(width)) for width in widths]
    return np.array([band.first for band in bands]), np.array([band.last for band in bands])


def _count(
    graph: MatchGraph,
    own: NDArray[np.int32],
    codes: NDArray[np.int32],
    first: NDArray[np.int32],
    last: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count near candidates of every person, and all of them."""
    from shoal.kernels.freeform.coverage import count_near  # loaded only where it is needed
    from shoal.kernels.freeform.tree import build

    order, tree = build(graph.points, graph.boxes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    slots = place[graph.record_class]
    record_starts = np.concatenate([[0], np.cumsum(graph.records[order])]).astype(np.int64)
    people_starts = np.concatenate([[0], np.cumsum(graph.originals)]).astype(np.int64)
    near = np.zeros((len(first), len(own)), np.int64)
    totals = np.zeros(len(own), np.int64)
    boxes = graph.boxes.take(order)
    count_near(
        graph.points.spans, graph.points.masks, graph.points.words, people_starts,
        np.argsort(graph.class_of, kind="stable"), *boxes, record_starts,
        codes[np.argsort(slots, kind="stable")], tree.starts, tree.ends, tree.lefts, tree.lows,
        tree.highs, tree.masks, own, first, last, np.empty(len(tree.starts), np.int64),
        np.empty(len(order), np.int64), np.zeros(first.shape[1] + 1, np.int64), totals, near,
    )  # fmt: skip
    return near, totals


def published_among(published: pl.DataFrame, original: Coded, left_out: int) -> Coded:
    """Return the originals that were published, where it can be told whom a release left out.

    Whoever is published matches a row at least, the own one. So where exactly as many as were left
    out match none, these are they; where fewer do, some choice among the others would have to be
    believed, and a person who is singled out could be taken for one who is not there.
    """
    from shoal.audit.regularity import MatchGraph, published_boxes

    if not left_out:
        return original
    matching = MatchGraph(original.line, published_boxes(published, original)).matches > 0
    missing = int((~matching).sum())
    if missing != left_out or len(original) != published.height + left_out:
        msg = (
            f"Of {len(original):,} rows of the original {left_out:,} were left out, and "
            f"{missing:,} match no published row: Shoal cannot determine who was published. Give "
            "the original without the rows that were left out."
        )
        raise InputError(msg)
    return original.subset(np.flatnonzero(matching))


def audit_matches(
    published: pl.DataFrame,
    original: Coded,
    requirements: Sequence[Requirement],
    *,
    candidates: bool = False,
) -> Audit:
    """Measure k-anonymity between a published table and the original it was made from.

    A person's risk is 1 / min(matches, disjoint assignments): the published rows that the person
    matches, and how many assignments of all people to rows exist that share no pair. With
    `candidates`, how near the values of each person's matches are to the person's own is measured
    as well.
    """
    from shoal.audit.regularity import MatchGraph, published_boxes

    check_rows(published)
    for one in requirements:
        if not one.principle.sizes_only:
            msg = f"{one!r} cannot be measured on a release without groups; KAnonymity(k=…) can."
            raise UsageError(msg)
    graph = MatchGraph(original.line, published_boxes(published, original))
    problems = []
    if published.height != len(original):
        problems.append(
            f"The original has {len(original)} rows and the release {published.height}, so they "
            "cannot be matched one to one."
        )
    matches = graph.matches
    findings = []
    for one in requirements:
        assignments = graph.regularity(min(one.principle.least, len(original)))
        measured = one.principle.measure_matches(np.minimum(matches, assignments))
        findings.append(Finding(one, "matches", measured))
    risks: tuple[CandidateRisk, ...] = ()
    if candidates and not problems:
        risks = tuple(candidate_risks(published, original, graph))
    return Audit(
        published.height,
        None,
        tuple(findings),
        tuple(problems),
        matches=matches,
        candidates=risks,
    )
