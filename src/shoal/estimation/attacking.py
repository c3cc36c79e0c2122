"""The model of all groups together as an attacker.

A reader fits the model of `shoal estimate` to a release in two tables: how values go with quasi
columns, and who in a group has which value, drawn in turn. About a person whose quasi values are
published the reader believes what the draws give that person; about anybody else, what the model
says of such people. The guess is the window of width 2ε that is believed likeliest. Members and
controls are treated alike.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.compared import LEARNING, Compared
from shoal.audit.linking import code_both, windows
from shoal.estimation.bases import quasi_basis
from shoal.estimation.chains import BURN, Sampler, expect_bands, one_thread
from shoal.estimation.completing import Problem
from shoal.estimation.opening import installed, labels_of, numbers_of, open_release
from shoal.release.manifest import NoConclusion
from shoal.table.coding import QUANTITY, code_lenient

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.audit.controlled import Sides
    from shoal.estimation.opening import Analysable
    from shoal.table.column import Column

DRAWS = 40  # completed tables that beliefs are made of
APART = 5  # iterations between two of them


def guess_by_model(
    source: Any, sides: Sides, wanted: Mapping[str, Sequence[float]], seed: int | None
) -> list[Compared]:
    """Guess every protected column of both sides by the model; nothing where it does not apply.

    It takes a release directory in two tables with one row a person, and the extra `estimate`.
    """
    if not installed() or not isinstance(source, str | Path) or not Path(source).is_dir():
        return []
    try:
        release = open_release(source)
    except NoConclusion:
        return []
    joined = {name: _joined(column, sides.table[name]) for name, column in release.quasi.items()}
    if sides.table.height > sides.everybody or any(one.gap is not None for one in joined.values()):
        return []
    found: list[Compared] = []
    for name, widths in wanted.items():
        found += _guessed(Problem(release, name), joined, sides, widths, seed)
    return found


def _joined(published: Column, known: pl.Series) -> Column:
    """Code a quasi column of the release and of the people together, the release's first."""
    texts = pl.Series(known.name, labels_of(published), pl.String)
    kind = QUANTITY if published.numeric else "categorical"
    return code_lenient(pl.concat([texts, known.cast(pl.String)]), kind=kind)


def _guessed(
    problem: Problem,
    joined: Mapping[str, Column],
    sides: Sides,
    widths: Sequence[float],
    seed: int | None,
) -> list[Compared]:
    release, name = problem.release, problem.column
    rows = release.rows
    basis = quasi_basis(
        {n: numbers_of(c).astype(np.float64) for n, c in joined.items() if c.numeric},
        {n: c.codes.astype(np.int64) for n, c in joined.items() if not c.numeric},
    )
    people = [*sides.drawn(seed)]
    some = np.concatenate(people)
    with one_thread():
        sampler = Sampler(
            release.starts,
            problem.values,
            replace(basis, features=np.ascontiguousarray(basis.features[:rows])),
            seed,
        )
        orders, chances = fitted(sampler, basis.features[rows + some])
    values = release.values[name]
    numeric = values.numeric
    texts = pl.Series(name, labels_of(values), pl.String)
    column, count = code_both(sides.table[name], texts, numeric=numeric)
    own, carried = column.codes[:count][some], column.codes[count:]
    beliefs = _beliefs(release, joined, some, orders, carried, column.distinct)
    # Within a band of values, every row's value is as likely as any other's.
    each = chances / problem.values.rows
    right = np.zeros((len(some), len(widths)), bool)
    lasts = [windows(column, width) for width in widths]
    for place in range(len(some)):
        belief = beliefs[place]
        if belief is None:
            weights = each[place][problem.values.band]
            belief = np.bincount(carried, weights, minlength=column.distinct)
        sums = np.concatenate([[0.0], np.cumsum(belief)])
        for at, last in enumerate(lasts):
            first = int(np.argmax(sums[last + 1] - sums[:-1]))
            right[place, at] = first <= own[place] <= last[first]
    inside = len(people[0])
    return [
        sides.compare(LEARNING, right[:inside, at], right[inside:, at], column=name, epsilon=width)
        for at, width in enumerate(widths)
    ]


def fitted(
    sampler: Sampler, features: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return completed tables, and how likely each band of values is for some other people."""
    sampler.advance(BURN)
    features = np.ascontiguousarray(features)
    bands = len(sampler.counts)
    mean = np.zeros((len(features), bands))
    chances = np.empty_like(mean)
    orders = []
    for _ in range(DRAWS):
        orders.append(sampler.advance(APART, 1).orders[0])
        scores = features @ sampler.theta
        expect_bands(scores, sampler.shares, sampler.centres, chances)
        mean += chances / DRAWS
    return np.stack(orders), mean


def _beliefs(
    release: Analysable,
    joined: Mapping[str, Column],
    some: NDArray[np.int64],
    orders: NDArray[np.int32],
    carried: NDArray[np.int32],
    distinct: int,
) -> list[NDArray[np.int64] | None]:
    """Return how often each value was drawn for the members who may be each person.

    None where nobody's published quasi values are the person's.
    """
    rows = release.rows
    codes = np.stack([one.codes for one in joined.values()])
    _, which = np.unique(codes, axis=1, return_inverse=True)
    which = which.ravel()
    order = np.argsort(which[:rows], kind="stable")
    ends = [np.searchsorted(which[:rows][order], which[rows + some], side) for side in SIDES]
    drawn = carried[orders]
    return [
        np.bincount(drawn[:, order[begin:end]].ravel(), minlength=distinct) if end > begin else None
        for begin, end in zip(*ends, strict=True)
    ]


SIDES: tuple[Any, Any] = ("left", "right")
