"""A time budget: what reaches the requirement is published, whatever method found it."""

import polars as pl
import pytest

import shoal
from shoal.methods.exchange import Exchange
from shoal.methods.splitting import Split

TABLE = pl.DataFrame({"a": [p * 7 % 40 for p in range(60)], "s": [p * 11 % 53 for p in range(60)]})
SCHEMA = shoal.Schema(quasi="a", sensitive="s")


@pytest.fixture
def slow(monkeypatch):
    def search(self, task):
        if task.seconds is not None:
            msg = "Not reached in time."
            raise shoal.NotAchievable(msg)
        pytest.fail("the search has a budget")

    monkeypatch.setattr(Exchange, "search", search)


def test_another_method_publishes_where_the_usual_one_runs_out_of_time(slow) -> None:
    run = shoal.results.Run(
        table=TABLE, schema=SCHEMA, require="EpsilonM(epsilon=2, m=3)", seconds=1
    )
    release = run.release()
    assert release.audit().holds
    assert release.manifest.method == "Split()"
    assert release.settings["instead_of"] == "Exchange()"


def test_a_method_that_was_asked_for_is_not_exchanged_for_another(slow) -> None:
    with pytest.raises(shoal.NotAchievable, match="in time"):
        shoal.anonymize(
            TABLE, SCHEMA, require="EpsilonM(epsilon=2, m=3)", seconds=1, method="Exchange()"
        )


def test_what_nobody_can_reach_is_refused_all_the_same() -> None:
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(TABLE, SCHEMA, require="EpsilonM(epsilon=50, m=40)", seconds=1)


def test_what_is_quickest_goes_first_and_the_rest_of_the_time_is_the_usual_methods(monkeypatch):
    """The whole search ends with its budget, and what loses least of both is published."""
    given, told = [], []
    whole = Exchange.search

    def search(self, task):
        given.append(task.seconds)
        told.append("Exchange()")
        return whole(self, task)

    split = Split.search

    def first(self, task):
        told.append("Split()")
        return split(self, task)

    monkeypatch.setattr(Exchange, "search", search)
    monkeypatch.setattr(Split, "search", first)
    release = shoal.results.Run(
        table=TABLE, schema=SCHEMA, require="EpsilonM(epsilon=2, m=3)", seconds=2
    ).release()
    assert told == ["Split()", "Exchange()"]
    assert given[0] is not None
    assert 0 < given[0] < 2
    losses = [
        shoal.anonymize(TABLE, SCHEMA, require="EpsilonM(epsilon=2, m=3)", method=method).loss
        for method in ("Split()", "Exchange()")
    ]
    assert release.loss <= min(losses)


def test_where_the_quickest_took_all_of_the_time_no_other_begins(monkeypatch):
    def search(self, task):
        pytest.fail("no time was left")

    monkeypatch.setattr(Exchange, "search", search)
    release = shoal.results.Run(
        table=TABLE, schema=SCHEMA, require="EpsilonM(epsilon=2, m=3)", seconds=1e-9
    ).release()
    assert release.manifest.method == "Split()"
    assert release.audit().holds
