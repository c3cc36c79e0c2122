"""The level that a principle reports holds as it is written, and the next stronger one does not."""

from __future__ import annotations

import dataclasses
import random
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from shoal.errors import BadParameter
from shoal.exact import above, at_least, at_most, downward, upward, written
from shoal.notation import known_terms, parse
from shoal.principles.base import Principle
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

TABLES = 60
ASKED = [
    shoal.principles.KAnonymity(k=1),
    shoal.principles.DistinctL(l=1),
    shoal.principles.EntropyL(l=1),
    shoal.principles.FrequencyL(l=1),
    shoal.principles.AlphaK(alpha=1, k=1),
    shoal.principles.AlphaK(alpha=1, k=3),
    shoal.principles.RecursiveCL(c=1, l=1),
    shoal.principles.RecursiveCL(c=1, l=2),
    shoal.principles.RecursiveCL(c=1, l=3),
    shoal.principles.TCloseness(t=1),
    shoal.principles.TCloseness(t=1, ground="ordered"),
    shoal.principles.BetaLikeness(beta=1),
    shoal.principles.BetaLikeness(beta=1, enhanced=True),
    shoal.principles.DeltaDisclosure(delta=1),
    shoal.principles.MUniqueness(m=1),
    shoal.principles.KE(k=1, e=0),
    shoal.principles.KE(k=2, e=0),
    shoal.principles.Variance(at_least=0),
    shoal.principles.EpsilonM(epsilon=0.3, m=1),
    shoal.principles.EpsilonM(epsilon=0.5, m=1, relative=True),
    shoal.principles.Neighbourhood(below=0, above=2, m=1),
    shoal.principles.DeltaL(delta=0.25, l=1),
    shoal.principles.Window(width=1, m=1),
    shoal.principles.Chain(epsilon=1, m=1),
    shoal.principles.Dissimilarity(epsilon=1, delta=0, k=1),
    shoal.principles.Dissimilarity(epsilon=0.3, delta=0, k=3),
    shoal.principles.KMap(k=1),
    shoal.principles.DeltaPresence(high=1),
]
# The enhanced bound -ln q is judged in multiples of 2^-40, so a gain nearer to it counts as above.
NOT_TIGHT = {"BetaLikeness(beta=1, enhanced=True)"}
VALUES = [
    lambda chance: chance.randint(0, 3),
    lambda chance: chance.randint(-2, 8),
    lambda chance: round(chance.uniform(0, 3), 1),
    lambda chance: chance.choice([0.1, 0.2, 0.3, 0.7, -0.1, 1e-9, 123456.789]),
    lambda chance: chance.choice([-1.7e308, 1.7e308, 0.0, 5e-324, 1.5]),
    lambda chance: chance.choice([2**60, 2**60 + 1, 2**60 + 3, -(2**60)]),
]


def tables():
    """Random groups with ties, duplicates and extremes: labels, values, and a population."""
    chance = random.Random(12)
    for place in range(TABLES):
        draw = VALUES[place % len(VALUES)]
        sizes = [chance.randint(1, 9) for _ in range(chance.randint(1, 5))]
        if place % 3 == 0:  # groups that are all alike keep what others do not
            whole = [draw(chance) for _ in range(chance.randint(1, 9))]
            rows = [whole + whole * chance.randint(0, 1) for _ in sizes]
        else:
            rows = [[draw(chance) for _ in range(size)] for size in sizes]
        labels = np.repeat(np.arange(len(rows)), [len(group) for group in rows])
        people = np.array([len(group) + chance.randint(0, 4) for group in rows])
        if place % 11 == 10:
            people[0] = 0
        column = code_column(pl.Series("s", [v for group in rows for v in group]))
        yield Groups(labels, people), Sensitive.of((column,))


def reading(principle, parameter, spelled):
    """Read a principle back from its notation with one parameter spelled anew."""
    fields = {f.name: getattr(principle, f.name) for f in dataclasses.fields(principle)}
    parts = [
        f"{name}={spelled if name == parameter else repr(value)}" for name, value in fields.items()
    ]
    return parse(f"{type(principle).__name__}({', '.join(parts)})")


def next_stronger(found, parameter):
    """Return what the next number with as many digits says, None where the parameter ends."""
    rising = found.rising if parameter != "high" else False
    level = getattr(found, parameter)
    if level == sys.float_info.max:
        return None
    spelled = Decimal(str(level))
    unit = Decimal(1).scaleb(min(int(spelled.as_tuple().exponent), 0))
    if isinstance(level, float) and "e+" in str(level):
        unit = Decimal(1).scaleb(int(spelled.as_tuple().exponent))
    for step in range(1, 2000):
        other = spelled + (unit * step if rising else -unit * step)
        if other != other.normalize() + 0:  # more digits than decimals hold: a whole number
            other = Decimal(int(level) + step)
        text = str(int(level) + step) if isinstance(level, int) else str(other)
        try:
            stronger = reading(found, parameter, text)
        except BadParameter:
            return None
        if getattr(stronger, parameter) != level:
            return stronger
    raise AssertionError(found)


def test_every_principle_of_the_registry_has_levels():
    known = {name for name, term in known_terms().items() if issubclass(term, Principle)}
    assert known == {type(one).__name__ for one in ASKED}
    assert {repr(one) for one in ASKED} | NOT_TIGHT > NOT_TIGHT


@pytest.mark.few(12)
@pytest.mark.parametrize("asked", ASKED, ids=repr)
def test_a_level_holds_as_written_and_the_next_one_does_not(asked):
    held = 0
    for groups, value in tables():
        if (
            isinstance(asked, shoal.principles.Dissimilarity)
            and abs(float(value.numbers[-1])) > 1e300
        ):
            with pytest.raises(shoal.InputError, match="cannot compare"):
                asked.measure(groups, value)
            continue
        found = asked.strongest(groups, value)
        if found is None:
            weakest = {"c": 10**9, "beta": 10**9, "delta": 700, "alpha": 1}
            falling = [name for name in asked.graded if not asked.rising]
            weak = {name: weakest[name] for name in falling if name in weakest}
            assert not dataclasses.replace(asked, **weak).measure(groups, value).holds
            continue
        held += 1
        again = Principle.read(repr(found))
        assert again == found
        assert again.measure(groups, value).holds, found
        for parameter in asked.graded:
            stronger = next_stronger(found, parameter)
            if stronger is not None and repr(asked) not in NOT_TIGHT:
                assert not stronger.measure(groups, value).holds, (found, stronger)
    assert held > TABLES // 10


@pytest.mark.more
def test_one_rounding_is_safe_as_written():
    chance = random.Random(5)
    ratios = [
        Fraction(part, whole) for whole in range(1, examples(200)) for part in range(whole + 1)
    ]
    ratios += [
        Fraction(chance.randint(-(10**20), 10**20), chance.randint(1, 10**9)) for _ in "x" * 300
    ]
    ratios += [Fraction(1, 10**400), Fraction(2**53), Fraction(2**53 * 3 + 1, 3), Fraction(10**300)]
    for ratio in ratios:
        low, high = downward(ratio), upward(ratio)
        assert (
            written(low) <= ratio <= written(high) < written(above(ratio))
            or written(above(ratio)) == written(high) > ratio
        )
        if low != high and isinstance(high, float):
            assert written(np.nextafter(high, -np.inf).item()) < ratio
            assert written(np.nextafter(low, np.inf).item()) > ratio
        assert Fraction(at_least(ratio)) <= ratio <= Fraction(at_most(ratio))
        for digits in (1, 3, 6, 12):
            below, over = downward(ratio, digits), upward(ratio, digits)
            assert written(below) <= ratio <= written(over)
            assert over - below <= abs(high) * 10.0 ** (1 - digits) * 1.001 + 5e-324


def test_what_an_audit_reports_can_be_required():
    chance = random.Random(3)
    schema = shoal.Schema(quasi=["q"], sensitive="s")
    tried = 0
    for _ in range(12):
        rows = [(chance.randint(1, 3), chance.choice([0.1, 0.2, 0.7, 3, 4])) for _ in range(14)]
        table = pl.DataFrame(rows, schema={"q": pl.Int64, "s": pl.Float64}, orient="row")
        (column,) = shoal.measures.levels(table, schema).to_dict()["columns"]
        for level in column["levels"]:
            if level["level"] is None:
                assert level["holds"] is None
                continue
            from shoal.views.tables import level_name, level_value

            name = level_name(level).replace(
                f"({level['parameter']}", f"({level['parameter']}={level_value(level)}", 1
            )
            for asked in (level["holds"], name):
                assert shoal.audit(table, schema, require=asked).holds, asked
                tried += 1
    assert tried > 200
