"""The audit of a heterogeneous release: the published rows against the original table.

Only the owner has the original; without it nobody can count whom a published row matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.verify import Audit, Finding, check_rows
from shoal.errors import UsageError
from shoal.principles.k_anonymity import KAnonymity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from shoal.audit.candidates import CandidateRisk
    from shoal.principles.requirement import Requirement
    from shoal.schema.table import Coded


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
    from shoal.audit.boxes import published_boxes
    from shoal.audit.candidates import candidate_risks
    from shoal.audit.regularity import MatchGraph

    check_rows(published)
    for one in requirements:
        if not isinstance(one.principle, KAnonymity):
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
        assert isinstance(one.principle, KAnonymity)
        assignments = graph.regularity(min(one.principle.k, len(original)))
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
