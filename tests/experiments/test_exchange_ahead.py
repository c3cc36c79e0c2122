"""Figure 5 of EM at a small size: Exchange answers better than round-robin wherever both can."""

from __future__ import annotations

import pytest

import shoal
from shoal.datasets.census import census

SCHEMA = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
TABLE = census(4000)
KINDS = {"absolute": 4500.0, "relative": 0.125}


@pytest.fixture(scope="module")
def asked() -> list[shoal.measures.CountQueries]:
    """Queries over 2, 3 and 4 columns."""
    return [
        shoal.measures.Workload(quasi=quasi, selectivity=0.1, queries=150).draw(
            TABLE, SCHEMA, seed=1
        )
        for quasi in (1, 2, 3)
    ]


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 7])
def test_exchange_is_behind_at_no_m_and_no_number_of_columns(
    asked: list[shoal.measures.CountQueries], kind: str, m: int
) -> None:
    require = shoal.principles.EpsilonM(epsilon=KINDS[kind], m=m, relative=kind == "relative")
    ours, paper = (
        shoal.anonymize(TABLE, SCHEMA, require=require, method=method, seed=1).answers()
        for method in (shoal.methods.Exchange(), shoal.methods.Split(partition="round-robin"))
    )
    for questions in asked:
        assert questions.compare(ours).mean < 0.9 * questions.compare(paper).mean
