"""What people type without thinking is understood: parameters by place, one =, short flags."""

from __future__ import annotations

import dataclasses

import polars as pl
import pytest

import shoal
from shoal.cli.main import commands
from shoal.notation import known_terms, parse
from shoal.utility.expression import read_condition

WRITTEN = [
    ("EpsilonM(4500, 5)", shoal.principles.EpsilonM(epsilon=4500, m=5)),
    ("EpsilonM(0.2, 5, True)", shoal.principles.EpsilonM(epsilon=0.2, m=5, relative=True)),
    ("EpsilonM(4500, m=5)", shoal.principles.EpsilonM(epsilon=4500, m=5)),
    ("Neighbourhood(20, 100, 2)", shoal.principles.Neighbourhood(below=20, above=100, m=2)),
    ("DeltaPresence(0.1, 0.5)", shoal.principles.DeltaPresence(low=0.1, high=0.5)),
    ("RecursiveCL(3, 2)", shoal.principles.RecursiveCL(c=3, l=2)),
    ("KE(3, 100)", shoal.principles.KE(k=3, e=100)),
    ("AlphaK(0.5, 4)", shoal.principles.AlphaK(alpha=0.5, k=4)),
    ("Window(30, 2)", shoal.principles.Window(width=30, m=2)),
    ("Split('round-robin')", shoal.methods.Split(partition="round-robin")),
    (
        "Dissimilarity(0.1, 0.8, 10, Lp(1))",
        shoal.principles.Dissimilarity(
            epsilon=0.1, delta=0.8, k=10, distance=shoal.distances.Lp(p=1)
        ),
    ),
]


@pytest.mark.parametrize(("text", "term"), WRITTEN)
def test_parameters_by_place_mean_those_by_name_and_are_printed_with_their_names(text, term):
    assert parse(text) == term
    assert "=" in repr(parse(text))
    assert parse(repr(parse(text))) == term


def test_every_term_takes_its_parameters_in_the_order_of_the_reference():
    for name, term in known_terms().items():
        names = [field.name for field in dataclasses.fields(term)]  # type: ignore[arg-type]
        many = ", ".join(["1"] * (len(names) + 1))
        with pytest.raises(shoal.UsageError, match=", ".join(names) or "no parameters"):
            parse(f"{name}({many})")


@pytest.mark.parametrize("text", ["EpsilonM(1, epsilon=2, m=3)", "EpsilonM(*[1, 2])"])
def test_a_parameter_is_given_once_and_by_itself(text):
    with pytest.raises(shoal.UsageError, match="EpsilonM"):
        parse(text)


PEOPLE = pl.DataFrame(
    {
        "hours-per-week": [10, 20, 30, 40],
        "hours": [1, 2, 3, 4],
        "class": ["a", "b", "a", "b"],
        "a = b": [1, 1, 2, 2],
        "é 2": [5, 6, 7, 8],
        "pay": [1, 2, 3, 4],
    }
)
COLUMNS = [name for name in PEOPLE.columns if name != "pay"]


@pytest.fixture(scope="module")
def release():
    schema = shoal.Schema(
        quasi="pay", sensitive="hours", other=[c for c in COLUMNS if c != "hours"]
    )
    return shoal.anonymize(PEOPLE, schema, require="KAnonymity(k=1)")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("hours = 2", "hours == 2"),
        ("hours=2 and `class`='a'", "hours==2 and `class`=='a'"),
        ("`a = b` = 2", "`a = b` == 2"),
        ("not hours = 2 or hours >= 3", "not hours == 2 or hours >= 3"),
        ("hours != 2", "hours != 2"),
        ("2 <= hours <= 3", "2 <= hours <= 3"),
    ],
)
def test_one_sign_of_equality_means_two_and_stays_within_quotes(release, one, two):
    assert release.count(one) == release.count(two)
    columns = release.answers().columns
    assert read_condition(one, columns) == read_condition(two, columns)


def test_a_sign_of_equality_in_a_label_is_part_of_the_label():
    table = pl.DataFrame({"q": [1, 2], "s": ["a=b", "c"]})
    made = shoal.anonymize(table, shoal.Schema(quasi="q", sensitive="s"), require="KAnonymity(k=1)")
    assert made.count("s = 'a=b'") == 1


@pytest.mark.parametrize("name", [name for name in COLUMNS if name != "hours"])
@pytest.mark.parametrize("form", ["{} > 20", "hours > 1 and {} = 20", "20 < {}", "{} in {{20}}"])
def test_a_name_that_needs_backquotes_is_named(release, name, form):
    with pytest.raises(shoal.UsageError, match="needs backquotes") as told:
        release.count(form.format(name))
    assert f"`{name}`" in str(told.value)


def test_other_mistakes_are_told_as_they_are(release):
    with pytest.raises(shoal.UsageError, match="no column 'hour'"):
        release.count("hour > 1 and `hours-per-week` > 3")


def test_output_and_quiet_have_their_short_flags():
    short = {"output": "-o", "quiet": "-q"}
    found = 0
    for command in commands("").commands.values():
        for one in command.params:
            if one.name in short:
                assert short[one.name] in one.opts, (command.name, one.name)
                found += 1
    assert found > len(short)
