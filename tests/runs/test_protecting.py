"""What the page requires of one more column can be kept beside everything that is required."""

import random
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.ask.ask import Ask
from shoal.runs.run import Run
from shoal.web.work import Hand

ROLES = {"age": "quasi", "town": "quasi", "pay": "sensitive", "ill": "sensitive"}
BEFORE = ["pay: FrequencyL(l=2)", "KAnonymity(k=4)"]


def people(*shares):
    """Return a table of some towns, of 40 people each, of whom such a share is not ill."""
    draw = random.Random(1)
    rows = [
        {
            "age": draw.randint(20, 60),
            "town": f"town {place}",
            "pay": draw.randint(1, 9000),
            "ill": "no" if i < 40 * share else draw.choice("abcdefgh"),
        }
        for place, share in enumerate(shares)
        for i in range(40)
    ]
    return pl.DataFrame(rows)


def protected(table, require=BEFORE):
    """Return what is asked for with one more column protected, where towns are never mixed."""
    hand = Hand()
    hand.tables["t"], hand.found["t"] = table, shoal.inspect(table)
    ask = Ask(
        quasi=("age", "town"),
        sensitive=("pay", "ill"),
        never_mix=("town",),
        require=tuple(require),
    )
    own = ["pay", "ill"]
    made = hand.protect("t", [*require], ["ill"], own=own, roles=ROLES, linked={}, ask=ask)
    return replace(ask, require=tuple(made))


@pytest.mark.parametrize(
    ("shares", "able"),
    [((0.2, 0.2), True), ((0.2, 0.45), True), ((0.2, 0.55), False), ((0.3, 1.0), False)],
)
def test_what_is_required_of_one_more_column_is_achievable_or_nothing_is(shares, able):
    """Of all people few enough have one value; of those of one town, more."""
    table = people(*shares)
    ask = protected(table)
    added = [one for one in ask.require if one not in BEFORE]
    assert bool(added) == able
    Run.of(ask, table=table).release()


def test_where_the_others_cannot_be_kept_one_that_can_is_required_all_the_same():
    made = protected(people(0.2, 0.2), ["pay: FrequencyL(l=90)"]).require
    assert made == ("pay: FrequencyL(l=90)", "ill: FrequencyL(l=4)")
