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
    ("require", "large", "method"),
    [
        ("EpsilonM(epsilon=500, m=2)", 60, "Exchange()"),
        ("EpsilonM(epsilon=500, m=2)", 59, "Split()"),
        ("KAnonymity(k=3)", 59, "Split()"),
        ("FrequencyL(l=2)", 59, "Split()"),
        (APART, 59, "Exchange()"),  # nothing else serves
        ("EntropyL(l=2)", 59, "Mondrian()"),
        ("Window(width=500, m=2)", 60, "Exchange()"),
        ("Window(width=500, m=2)", 59, "Split()"),
    ],
)
def test_large_tables_are_split_where_that_serves(monkeypatch, require, large, method):
    monkeypatch.setattr(choice, "LARGE", large)
    release = shoal.anonymize(TABLE, SCHEMA, require=require)
    assert release.manifest["method"] == method
    named = shoal.anonymize(TABLE, SCHEMA, require="KAnonymity(k=3)", method="Exchange()")
    assert named.manifest["method"] == "Exchange()"


def test_the_command_says_why_it_did_not_take_the_usual_method(monkeypatch, tmp_path):
    table = write_csv(tmp_path / "people.csv", people(60))
    roles = ("--quasi", "age,town", "--sensitive", "salary", "--require", "KAnonymity(k=3)")
    usual = command("anonymize", table, *roles, "--output", tmp_path / "usual")
    assert usual.code == 0, usual
    assert "By Split()" not in usual.said
    monkeypatch.setattr(choice, "LARGE", 59)
    large = command("anonymize", table, *roles, "--output", tmp_path / "large")
    assert large.code == 0, large
    assert "By Split(), because the table has more than 59 rows" in large.said
    named = command(
        "anonymize", table, *roles, "--method", "Split()", "--output", tmp_path / "named"
    )
    assert "By Split()" not in named.said


def test_only_what_was_spared_is_said_to_lose_less():
    """With hierarchies another method can be the best of a sample, however large the table is."""
    asked = requirements("EntropyL(l=2)", ["pay"])
    many = choice.LARGE + 1
    assert choice.why("Mondrian()", many, asked) is None
    assert "loses least" in str(choice.why("Split()", many, asked))
    pairs = requirements("EpsilonM(epsilon=500, m=2)", ["pay"])
    assert "Exchange()" in str(choice.why("Split()", many, pairs))
    assert "loses least" in str(choice.why("Split()", 60, pairs))
