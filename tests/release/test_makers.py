"""What is known of methods without loading them is what they are."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import pytest

import shoal.methods
from shoal.errors import UsageError
from shoal.notation import parse
from shoal.release.makers import KNOWN, maker_of

if TYPE_CHECKING:
    from shoal.methods.base import Method

METHODS: dict[str, type[Method]] = {name: getattr(shoal.methods, name) for name in KNOWN}


def test_every_method_is_known_and_nothing_else():
    assert KNOWN.keys() == {*dir(shoal.methods)}
    assert maker_of("KAnonymity") is None


@pytest.mark.parametrize("name", KNOWN)
def test_a_method_is_what_is_known_of_its_name(name):
    method, known = METHODS[name], maker_of(name)
    assert known is not None
    parameters = [
        [(one.name, one.default) for one in dataclasses.fields(of)]  # type: ignore[arg-type]
        for of in (method, known)
    ]
    assert parameters[0] == parameters[1]
    assert {name for name, _ in parameters[0]} == {*KNOWN[name].get("choices", {})}
    for one in ("role", "grouped", "cuts", "unasked", "nodes"):
        assert getattr(method, one) == getattr(known, one)
    assert method.opens == ()  # whoever reads a manifest opens nothing


@pytest.mark.parametrize(
    "said",
    [
        "Exchange()",
        "Exchange(size=5)",
        "Exchange(loss='squared')",
        "Exchange(loss='least')",
        "Exchange(size=0)",
        "Exchange(size=True)",
        "Mondrian(split='least-loss', relaxed=True)",
        "Mondrian(relaxed=1)",
        "Mondrian(split=['widest'])",
        "Split(partition='round-robin')",
        "Split(parts=2)",
        "Oblivious(block=3)",
        "Oblivious(3)",
        "Freeform(k=2, assignment='sort')",
        "Freeform(assignment='best')",
        "Ring(k=1.5)",
        "XColor(1)",
    ],
)
def test_both_read_a_term_alike(said):
    try:
        method = parse(said)
    except UsageError as problem:
        with pytest.raises(UsageError, match=f"^{re.escape(str(problem))}$"):
            parse(said, known=maker_of)
    else:
        read = parse(said, known=maker_of)
        assert repr(read) == repr(method)
        assert read.shows_nodes() == method.shows_nodes()  # type: ignore[attr-defined]
