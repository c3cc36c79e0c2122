"""The method that is taken where nobody names one loses least of those that serve in its time."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.datasets.census import census
from shoal.errors import UsageError

SCHEMA = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
OTHERS = ("Exchange()", "Split()", "Mondrian()", "Mondrian(split='least-loss')")
ASKED = [
    ["KAnonymity(k=5)"],
    ["EpsilonM(epsilon=3000, m=3)"],
    ["FrequencyL(l=6)"],
    ["AlphaK(alpha=0.25, k=6)"],
    *([f"Window(width={width}, m={m})"] for width in (0, 2000, 8000) for m in (2, 4)),
    ["Window(width=15000, m=3)"],
    ["Window(width=4000, m=3)", "KAnonymity(k=8)"],
    ["Window(width=4000, m=3)", "FrequencyL(l=5)"],
    ["Window(width=2000, m=2)", "EpsilonM(epsilon=1500, m=3)"],
]


@pytest.mark.parametrize("require", ASKED, ids=" ".join)
def test_no_other_method_loses_less(require):
    rows = np.random.default_rng(3).permutation(60_000)[:900]
    table = census()[rows.tolist()]

    def loss(method: str | None) -> float:
        try:
            release = shoal.anonymize(table, SCHEMA, require=require, method=method)
        except UsageError:
            return np.inf
        return float(release.manifest["loss"]["gcp"])

    least = min(map(loss, OTHERS))
    assert np.isfinite(least)
    assert loss(None) <= least
