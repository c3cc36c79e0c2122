"""Which method is taken when nobody names one, and what is said about it."""

import polars as pl
import pytest

import shoal
from shoal.methods import choice
from shoal.principles.requirement import requirements
from system.shell import people, write_csv
from system.shell import shoal as command

TABLE = pl.DataFrame({"age": range(60), "pay": range(0, 6000, 100)})
SCHEMA = shoal.Schema(quasi="age", sensitive="pay")
APART = "Dissimilarity(epsilon=0.1, delta=0.8, k=3, distance=Absolute())"


@pytest.mark.parametrize(
    ("require", "method"),
    [
        ("EpsilonM(epsilon=500, m=2)", "Exchange()"),
        ("KAnonymity(k=3)", "Exchange()"),
        ("FrequencyL(l=2)", "Exchange()"),
        (APART, "Exchange()"),
        ("EntropyL(l=2)", "Mondrian()"),
        ("Window(width=500, m=2)", "Exchange()"),
    ],
)
def test_large_tables_are_exchanged_in_parts(monkeypatch, require, method):
    """No group reaches from one part into the other, and all of them hold."""
    monkeypatch.setattr(shoal.methods.Exchange, "at_once", 30)
    release = shoal.anonymize(TABLE, SCHEMA, require=require)
    assert release.manifest.method == method
    assert release.audit().holds
    ages = release.table["age"].str.json_decode(pl.List(pl.Int64))
    if method == "Exchange()":
        assert ((ages.list.max() < 30) | (ages.list.min() >= 30)).all()


def test_the_command_says_nothing_of_a_method_that_was_named_or_is_usual(tmp_path):
    table = write_csv(tmp_path / "people.csv", people(60))
    roles = ("--quasi", "age,town", "--sensitive", "salary", "--require", "KAnonymity(k=3)")
    usual = command("anonymize", table, *roles, "--output", tmp_path / "usual")
    assert usual.code == 0, usual
    assert "By Split()" not in usual.said
    named = command(
        "anonymize", table, *roles, "--method", "Split()", "--output", tmp_path / "named"
    )
    assert "By Split()" not in named.said


def test_what_is_not_the_usual_method_is_said_to_lose_least():
    """With hierarchies another method can be the best of a sample, however large the table is."""
    asked = requirements("EntropyL(l=2)", ["pay"])
    many = 1_000_001
    assert choice.why("Mondrian()", many, asked) is None
    assert "on 4,000 of 1,000,001 rows" in str(choice.why("Split()", many, asked))
    pairs = requirements("EpsilonM(epsilon=500, m=2)", ["pay"])
    assert choice.why("Exchange()", many, pairs) is None
    assert "loses least on this table" in str(choice.why("Split()", 60, pairs))
