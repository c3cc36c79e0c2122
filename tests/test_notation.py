"""The one notation: what is printed can be read back, and nothing else can be read."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import shoal
from shoal.errors import BadParameter, UsageError
from shoal.notation import known_terms, parse
from shoal.principles.requirement import read_requirement, requirements

TERMS = [
    shoal.principles.EpsilonM(epsilon=4500, m=5),
    shoal.principles.EpsilonM(epsilon=0.2, m=2, relative=True),
    shoal.principles.Neighbourhood(below=20, above=10000, m=2),
    shoal.principles.DeltaL(delta=7.5, l=2),
    shoal.principles.Window(width=30, m=2),
    shoal.principles.Chain(epsilon=30, m=2),
    shoal.principles.KAnonymity(k=10),
    shoal.principles.EntropyL(l=2.5),
    shoal.principles.RecursiveCL(c=3, l=2),
    shoal.principles.TCloseness(t=0.2, ground="ordered"),
    shoal.principles.TCloseness(
        t=0.2, ground=shoal.distances.Hierarchical(levels=(("a", "*"), ("b", "*")))
    ),
    shoal.principles.BetaLikeness(beta=1, enhanced=True),
    shoal.methods.Split(),
    shoal.methods.Split(partition="round-robin"),
    shoal.methods.Mondrian(),
    shoal.methods.Oblivious(),
    shoal.methods.Oblivious(block=640),
]


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_a_term_reads_back_equal_to_itself(term):
    assert parse(repr(term)) == term
    assert hash(parse(repr(term))) == hash(term)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_a_term_cannot_be_changed(term):
    with pytest.raises(AttributeError):
        term.epsilon = 1


def test_defaults_are_not_spelt_out():
    assert (
        repr(shoal.principles.EpsilonM(epsilon=1, m=2, relative=False))
        == "EpsilonM(epsilon=1, m=2)"
    )
    assert repr(shoal.methods.Split(partition="cheapest")) == "Split()"


def test_single_and_double_quotes_are_alike():
    assert parse("Split(partition='round-robin')") == parse('Split(partition="round-robin")')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EpsilonM",
        "EpsilonM(4500, 5, True, 1)",
        "EpsilonM(epsilon=4500)",
        "EpsilonM(epsilon=4500, m=5, k=3)",
        "EpsilonM(epsilon=4500, m=5, m=6)",
        "EpsilonM(epsilon=__import__('os'), m=5)",
        "__import__('os').system('true')",
        "EpsilonM(**{'epsilon': 1, 'm': 2})",
        "EpsilonM(epsilon=1+1, m=2)",
        "Term()",
        "Principle()",
        "5",
        "EpsilonM(epsilon=1, m=2",
        "[" * 300,
    ],
)
def test_anything_else_is_refused_with_a_sentence(text):
    with pytest.raises(UsageError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_nothing_stands_beside_a_term_that_says_nothing(term):
    """A remark in a manifest would be a place for anything, and read as if it were not there."""
    text = repr(term)
    for remark in ("#", "  # kept", "\n# kept", "#)"):
        with pytest.raises(UsageError, match="Cannot read"):
            parse(text + remark)
        with pytest.raises(UsageError, match="Cannot read"):
            parse(text.replace("(", f"({remark}\n", 1))


def test_a_sign_of_remarks_within_quotes_is_a_letter():
    term = shoal.distances.Lookup(pairs=(("#1", "a # b", 2),))
    assert parse(repr(term)) == term


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'EpsilonM'"):
        parse("EpsilonN(epsilon=1, m=2)")


@pytest.mark.parametrize(
    ("cls", "parameters", "name"),
    [
        (shoal.principles.EpsilonM, {"epsilon": -1, "m": 2}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": float("nan"), "m": 2}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": float("inf"), "m": 2}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": True, "m": 2}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": "1", "m": 2}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": 1.5, "m": 2, "relative": True}, "epsilon"),
        (shoal.principles.EpsilonM, {"epsilon": 1, "m": 0}, "m"),
        (shoal.principles.EpsilonM, {"epsilon": 1, "m": 2.0}, "m"),
        (shoal.principles.EpsilonM, {"epsilon": 1, "m": 2, "relative": 1}, "relative"),
        (shoal.principles.DeltaL, {"delta": 1, "l": 0}, "l"),
        (shoal.principles.Window, {"width": -1, "m": 2}, "width"),
        (shoal.principles.KAnonymity, {"k": 0}, "k"),
        (shoal.methods.Split, {"partition": "random"}, "partition"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(cls, parameters, name):
    with pytest.raises(BadParameter) as caught:
        cls(**parameters)
    assert caught.value.name == name
    assert caught.value.got is parameters[name]


def test_numpy_numbers_are_taken_as_numbers():
    assert shoal.principles.EpsilonM(
        epsilon=np.float64(0.5), m=int(np.int64(2))
    ) == shoal.principles.EpsilonM(epsilon=0.5, m=2)


def test_a_requirement_names_its_columns_in_front():
    (one,) = requirements("income: EpsilonM(epsilon=1, m=2)", ["income", "age"])
    assert one.columns == ("income",)
    assert repr(one) == "income: EpsilonM(epsilon=1, m=2)"
    (unnamed,) = requirements(shoal.principles.EpsilonM(epsilon=1, m=2), ["income"])
    assert unnamed.columns == ("income",)
    assert repr(unnamed) == "EpsilonM(epsilon=1, m=2)"


def test_one_numeric_principle_on_two_columns_together_is_bad_usage():
    with pytest.raises(UsageError, match="one numeric column"):
        requirements(shoal.principles.EpsilonM(epsilon=1, m=2), ["income", "age"])


def test_a_method_is_not_a_requirement():
    with pytest.raises(UsageError, match="a method"):
        requirements("Split()", ["income"])


def test_python_takes_arguments_in_the_order_of_the_notation():
    apart = {"DeltaPresence"}  # its first parameter has a default, and its second has none
    for name, term in known_terms().items():
        kinds = {one.kind for one in inspect.signature(term).parameters.values()}
        assert (inspect.Parameter.KEYWORD_ONLY in kinds) == (name in apart), name
    assert shoal.principles.EpsilonM(2000, 5) == parse("EpsilonM(2000, 5)")


NAMES = ["Kosten (EUR)", "Cost: total (EUR)", "a + (b)", "pay", "[x] (", "it's"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("term", TERMS[:10], ids=repr)
def test_a_requirement_is_read_where_nobody_says_which_columns_there_are(name, term):
    assert read_requirement(f"{name}: {term!r}", ()).principle == term
    assert read_requirement(f"{name}: {term!r}", [name]).columns == (name,)
    assert read_requirement(repr(term), ()).columns == ()
