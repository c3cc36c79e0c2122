"""What a reader who models all groups of a release believes of each person, beside other readers.

Of the census workers 20,000 are published in two tables, and 20,000 others are "elsewhere". Four
readers guess everyone's value to within ε, by the window of width 2ε that they believe in most:

- with the release: one to whom all rows of the group are equally likely, and one who fits the model
  of `shoal estimate` to all groups;
- without it: one who knows the values of the people elsewhere, and one who fits the model to them.

`belief` is what the model gives to all values within ε of a person's own.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
import polars as pl
from estimate import UNSAID, limit_of, read_whole

import shoal
from shoal.estimation.attacking import fitted
from shoal.estimation.bases import number_basis, quasi_basis
from shoal.estimation.chains import BURN, Sampler, one_thread
from shoal.estimation.completing import Problem
from shoal.estimation.opening import Analysable, labels_of, numbers_of
from shoal.table.coding import code_lenient

DRAWS, APART = 100, 4  # completed tables that beliefs are made of, iterations between them
ASKED = 2000  # people whom readers without the release guess
CASES = (  # method, m, ε or the share of the largest that the method reaches on 3,000 rows
    ("Exchange()", 5, 4500),
    ("Oblivious()", 5, 4500),
    ("Oblivious()", 5, 0.9),
)


def best_windows(draws, width):
    """Return where the fullest window of each line of numbers begins."""
    ordered = np.sort(draws, axis=1)
    fullest = np.zeros(len(ordered), np.int64)
    begin = ordered[:, 0].copy()
    for place in range(ordered.shape[1]):
        inside = (ordered[:, place:] <= ordered[:, [place]] + width).sum(1)
        better = inside > fullest
        fullest[better], begin[better] = inside[better], ordered[better, place]
    return begin


def right(begin, width, own):
    """Return whose own value lies in the window that begins there."""
    return (begin <= own) & (own <= begin + width)


def opened(table, quasi, value, method, m, epsilon):
    """Publish people; return the release by groups, and the own value of each member."""
    known = table.with_columns(pid=pl.int_range(pl.len()))
    people, values = shoal.anonymize(
        known,
        shoal.Schema(quasi=quasi, sensitive=value, other="pid", nobody_knows="pid"),
        require=shoal.principles.EpsilonM(epsilon=epsilon, m=m),
        method=method,
        form="two-tables",
        keep_other=True,
        seed=1,
    ).table
    people, values = people.sort("group"), values.sort("group")
    starts = np.append(np.flatnonzero(people["group"].diff().fill_null(1)), people.height)
    columns = {name: code_lenient(people[name]) for name in quasi}
    release = Analysable(UNSAID, starts, columns, {value: code_lenient(values[value])})
    return release, table[value].to_numpy()[people["pid"].cast(pl.Int64).to_numpy()]


def features_of(*tables, quasi):
    """Return the features of the people of some tables, one below the other."""
    kinds = {name: None if tables[0][name].dtype.is_numeric() else "categorical" for name in quasi}
    every = pl.concat([table.select(pl.col(quasi).cast(pl.String)) for table in tables])
    columns = {name: code_lenient(every[name], kind=kinds[name]) for name in quasi}
    numbers = {n: numbers_of(c).astype(float) for n, c in columns.items() if c.numeric}
    labels = {n: c.codes.astype(np.int64) for n, c in columns.items() if not c.numeric}
    return quasi_basis(numbers, labels)


def from_elsewhere(elsewhere, asked, quasi, value, width, seed):
    """Return where the window begins that a model of other people holds for likeliest."""
    basis = features_of(elsewhere, asked, quasi=quasi)
    rows = elsewhere.height
    numbers = np.sort(elsewhere[value].to_numpy().astype(float))
    values = number_basis(numbers)
    inside = type(basis)(basis.features[:rows].copy(), basis.block, basis.plain, basis.crossed)
    ordered = np.argsort(elsewhere[value].to_numpy(), kind="stable")
    inside.features[:] = inside.features[ordered]  # each has the own value
    with one_thread():
        sampler = Sampler(np.arange(rows + 1), values, inside, seed)
        _, chances = fitted(sampler, basis.features[rows:])
    each = chances / values.rows  # of one value in a band
    last = np.searchsorted(numbers, numbers + width, side="right")
    begin = np.empty(asked.height)
    for place, weights in enumerate(each):
        sums = np.concatenate([[0.0], np.cumsum(weights[values.band])])
        begin[place] = numbers[np.argmax(sums[last] - sums[:-1])]
    return begin


def difference(one, other):
    """Return a difference of shares of the same people and its margin."""
    away = one.astype(float) - other
    return f"{100 * away.mean():+.1f} ± {196 * away.std() / np.sqrt(len(away)):.1f} points"


def wideness(problem, group):
    """Return how far the quasi values of each person's group lie apart."""
    starts = problem.release.starts
    scores = problem.quasi.features[:, problem.quasi.block == 0]
    means = np.add.reduceat(scores, starts[:-1]) / np.diff(starts)[:, None]
    spread = np.sqrt(((scores - means[group]) ** 2).mean(1))
    return (np.add.reduceat(spread, starts[:-1]) / np.diff(starts))[group]


def told(method, m, epsilon, rows, seed):
    """Print what readers believe and guess, one method and requirement."""
    quasi, value, table = read_whole("census")
    published, elsewhere = table[:rows], table[rows : 2 * rows]
    if epsilon < 1:
        epsilon *= limit_of("census", method, 3000)
    release, own = opened(published, quasi, value, method, m, epsilon)
    problem, starts, width = Problem(release, value), release.starts, 2 * epsilon
    with one_thread():
        chain = Sampler(starts, problem.values, problem.quasi, seed)
        chain.advance(BURN)
        orders = chain.advance(DRAWS * APART, DRAWS).orders
    numbers = numbers_of(release.values[value]).astype(float)
    drawn = numbers[orders].T
    belief = (np.abs(drawn - own[:, None]) <= epsilon).mean(1)
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    each = np.concatenate([best_windows(numbers[None, a:b], width) for a, b in pairwise(starts)])
    alone = right(each[group], width, own)
    modelled = right(best_windows(drawn, width), width, own)
    some = np.random.default_rng(seed).permutation(rows)[:ASKED]
    asked = pl.DataFrame({name: labels_of(one)[some] for name, one in release.quasi.items()})
    outside = right(from_elsewhere(elsewhere, asked, quasi, value, width, seed), width, own[some])
    every = elsewhere[value].to_numpy().astype(float)
    plain = right(best_windows(every[None, :ASKED], width), width, own[some])
    wide = wideness(problem, group)
    narrowest, widest = (belief[group_of] > 1.001 / m for group_of in quarters(wide))
    print(f"{method}, m = {m}, ε = {epsilon:,.0f}: {rows:,} people in {len(starts) - 1:,} groups")
    print(
        f"  belief in the own value above 1/m for {np.mean(belief > 1.001 / m):.1%}, above 1/2 for "
        f"{np.mean(belief > 0.5):.1%}, above 0.9 for {np.mean(belief > 0.9):.2%}\n"
        f"  above 1/m in the narrowest quarter of groups for {narrowest.mean():.1%}, in the widest "
        f"for {widest.mean():.1%}\n"
        f"  right within ε, with the release: group alone {alone.mean():.1%}, model "
        f"{modelled.mean():.1%}; without it: values elsewhere {plain.mean():.1%}, model from "
        f"elsewhere {outside.mean():.1%}\n"
        f"  what the release adds: to the group alone {difference(alone[some], plain)}, to the "
        f"model {difference(modelled[some], outside)}",
        flush=True,
    )


def quarters(wide):
    """Return who is in the narrowest quarter of the groups, and who in the widest."""
    low, high = np.quantile(wide, [0.25, 0.75])
    return wide <= low, wide >= high


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", help="which of them, by number from 1")
    options = parser.parse_args()
    chosen = [int(one) for one in options.cases.split(",")] if options.cases else range(1, 4)
    for number in chosen:
        method, m, epsilon = CASES[number - 1]
        told(method, m, epsilon, options.rows, options.seed)


if __name__ == "__main__":
    main()
