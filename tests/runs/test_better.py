"""What a search tells of its best so far is what is published if it ends there."""

from typing import Any

import pytest

import shoal
from shoal.datasets.census import census
from shoal.runs.run import Run

REQUIRE = "EpsilonM(epsilon=1000, m=4)"
ROLES: dict[str, Any] = {"quasi": ["age", "birthplace"], "sensitive": "income"}


def told(stop, rows=3000):
    """Return what a search tells, and what is lost in the end; it is to end after so many."""
    losses: list[float] = []
    table = census(rows)
    run = Run(
        table=table,
        schema=shoal.Schema(**ROLES),
        require=REQUIRE,
        method="Exchange()",
        seconds=300.0,
        better=losses.append,
        enough=lambda: len(losses) >= stop,
    )
    return losses, run.release().loss


@pytest.mark.long
def test_the_last_that_is_told_is_what_is_published():
    losses, loss = told(40)
    assert len(losses) > 5
    assert losses == sorted(losses, reverse=True)  # the best so far never gets worse
    assert loss == pytest.approx(losses[-1])
    assert losses[0] > losses[-1]  # something was gained


@pytest.mark.parametrize("stop", [1, 2, 4, 9])
def test_whoever_has_enough_gets_no_worse_than_was_told(stop):
    losses, loss = told(stop)
    assert len(losses) <= stop + 3  # it ends soon
    assert loss <= min(losses[:stop]) * (1 + 1e-9)


def test_a_search_over_parts_tells_nothing_of_one_of_them():
    table = census(900).with_row_index("who")
    table = table.vstack(table.head(200)).vstack(table.head(50))
    losses: list[float] = []
    schema = shoal.Schema(**ROLES, person="who")
    run = Run(table=table, schema=schema, require="KAnonymity(k=3)", better=losses.append)
    run.release()
    assert losses == []
