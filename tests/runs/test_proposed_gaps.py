"""Where values to protect are missing, what is proposed leaves room for them."""

import random

import polars as pl
import pytest

from shoal.inspection.inspect import inspect
from shoal.runs.proposal import propose


@pytest.mark.parametrize("missing", [0.08, 0.15])
def test_a_proposal_for_a_column_with_gaps_keeps_most_of_the_detail(missing: float) -> None:
    """A missing value is near to every other: asked for as without gaps, nearly all was lost."""
    draw = random.Random(4)
    table = pl.DataFrame(
        {
            "age": [draw.randrange(20, 90) for _ in range(800)],
            "zip": [f"0213{draw.randrange(8)}" for _ in range(800)],
            "income": [
                None if draw.random() < missing else round(draw.lognormvariate(9, 0.8))
                for _ in range(800)
            ],
        }
    )
    (first,) = propose(table, inspect(table), count=1)
    assert first.sensitive == ("income",)
    assert "EpsilonM" in first.require[0]
    (priced, *_) = propose(table, inspect(table), count=2)
    assert priced.require == first.require
    assert priced.loss is not None
    assert priced.loss < 0.5
