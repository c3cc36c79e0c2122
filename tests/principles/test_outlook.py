"""What a plan says of any requirement, against every partition of small tables."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from shoal.errors import BadParameter
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

ASKED = [
    shoal.principles.KAnonymity(k=3),
    shoal.principles.DistinctL(l=3),
    shoal.principles.EntropyL(l=2.5),
    shoal.principles.FrequencyL(l=3),
    shoal.principles.AlphaK(alpha=0.4, k=3),
    shoal.principles.RecursiveCL(c=1.5, l=2),
    shoal.principles.TCloseness(t=0),
    shoal.principles.BetaLikeness(beta=0.5, enhanced=True),
    shoal.principles.DeltaDisclosure(delta=0.1),
    shoal.principles.MUniqueness(m=2),
    shoal.principles.KE(k=3, e=4),
    shoal.principles.Variance(at_least=6.5),
    shoal.principles.EpsilonM(epsilon=1, m=2),
    shoal.principles.EpsilonM(epsilon=0.4, m=2, relative=True),
    shoal.principles.Neighbourhood(below=0, above=2, m=2),
    shoal.principles.DeltaL(delta=1, l=2),
    shoal.principles.Window(width=2, m=2),
    shoal.principles.Chain(epsilon=1, m=2),
]
SCHEMA = shoal.Schema(sensitive="s")


def partitions(rows):
    """Yield every partition of so many rows, as group labels in order of appearance."""
    labels = [0] * rows

    def extend(place, used):
        if place == rows:
            yield np.array(labels)
            return
        for label in range(used + 1):
            labels[place] = label
            yield from extend(place + 1, max(used, label + 1))

    yield from extend(1, 1)


ALL = {rows: [Groups(labels) for labels in partitions(rows)] for rows in (4, 5, 6)}


def tables(number, seed):
    chance = random.Random(seed)
    for _ in range(number):
        rows = chance.choice(list(ALL))
        yield [chance.randint(-1, 7) for _ in range(rows)]


def achievable(principle, values):
    value = Sensitive.of((code_column(pl.Series("s", values)),))
    return any(principle.measure(groups, value).holds for groups in ALL[len(values)])


def with_limit(principle, limit, step):
    """Return the principle with one parameter at its limit, or a step beyond it, None if none."""
    names = ["below", "above"] if limit.parameter not in vars(principle) else [limit.parameter]
    try:
        return dataclasses.replace(principle, **dict.fromkeys(names, limit.limit + step))
    except BadParameter:
        return None


@pytest.mark.few(12)
@pytest.mark.parametrize("asked", ASKED, ids=repr)
def test_what_is_achievable_and_how_far(asked):
    verdicts = set()
    for values in tables(6, seed=repr(asked)):
        found = shoal.plan(pl.DataFrame({"s": values}), SCHEMA, require=asked)
        assert found.rows == len(values)
        assert found.achievable == achievable(asked, values), values
        verdicts.add(found.achievable)
        for limit in found.limits:
            if limit.limit is None:
                continue
            beyond = {"at most": 1, "at least": -1e-9 * max(limit.limit, 1e-9), "under": 0}
            within = {"at most": 0, "at least": 0, "under": -1e-6 * max(limit.limit, 1)}
            ok = with_limit(asked, limit, within[limit.must])
            if ok is not None and limit.parameter != "k":
                assert achievable(ok, values), (values, ok)
            over = with_limit(asked, limit, beyond[limit.must])
            if over is not None:
                assert not achievable(over, values), (values, over)
    assert verdicts


def known(table, asked):
    found = shoal.plan(table, SCHEMA, require=asked)
    assert isinstance(found, shoal.results.Guarantee)
    return found


@pytest.mark.more
def test_the_largest_delta_and_epsilon_of_a_dissimilarity():
    seen = 0
    for values in tables(examples(25), seed=4):
        table = pl.DataFrame({"s": values})
        for delta, k in ((1, 2), (0.5, 2), (0.5, 3), (0.3, 3)):
            asked = shoal.principles.Dissimilarity(
                epsilon=1, delta=delta, k=k, distance=shoal.distances.Absolute()
            )
            found = known(table, asked)
            if found.largest_delta is not None:
                certain = dataclasses.replace(asked, delta=found.largest_delta)
                assert known(table, certain).guaranteed
                assert achievable(certain, values), (values, certain)
            if found.largest_epsilon is not None:
                seen += 1
                certain = dataclasses.replace(asked, epsilon=found.largest_epsilon)
                assert known(table, certain).guaranteed
                assert achievable(certain, values), (values, certain)
                unit = 10.0 ** (len(str(int(found.largest_epsilon))) - 4)
                more = dataclasses.replace(asked, epsilon=round(found.largest_epsilon + unit, 6))
                assert not known(table, more).guaranteed
    assert seen >= examples(11)


def test_a_plan_does_not_guess_about_a_population():
    with pytest.raises(shoal.UsageError, match="population"):
        shoal.plan(pl.DataFrame({"s": [1, 2]}), SCHEMA, require=shoal.principles.KMap(k=2))
