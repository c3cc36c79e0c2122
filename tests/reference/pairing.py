"""Sharing out a group's values among its people by definition: plain dictionaries, pair by pair.

A group is a pair of lists: its people, each a tuple with one band a column, and the bands of its
values. Likings are given by (column, band of people, band of values). A third list says how many
values each of the people is due beside the others; without it, all are due equally many.
"""

from math import prod


def dues(people, values, weights=None):
    """Return how many values each person is due."""
    weights = weights or [1] * len(people)
    return [len(values) * weight / sum(weights) for weight in weights]


def shared_out(people, values, likings, rounds, weights=None, close=1e-9):
    """Return how many of the values of each band each person has."""
    bands = sorted({*values})
    found = [
        {s: prod(likings[c, b, s] for c, b in enumerate(person)) for s in bands}
        for person in people
    ]
    for _ in range(rounds):
        factors = {s: values.count(s) / sum(one[s] for one in found) for s in bands}
        found = [{s: one[s] * factors[s] for s in bands} for one in found]
        found = [
            {s: one[s] * due / sum(one.values()) for s in bands}
            for one, due in zip(found, dues(people, values, weights), strict=True)
        ]
        if max(abs(factor - 1) for factor in factors.values()) < close:
            break
    return found


def found_with(groups, likings, rounds, shift=0):
    """Return how many values of each band the people of each band are found with."""
    found = dict.fromkeys(likings, 0.0)
    for place, (people, _, *weights) in enumerate(groups):
        values = groups[(place + shift) % len(groups)][1]
        given = shared_out(people, values, likings, rounds, *weights)
        for person, shares in zip(people, given, strict=True):
            for s, share in shares.items():
                for c, b in enumerate(person):
                    found[c, b, s] += share
    return found


def differences(found, columns):
    """Return Pearson's statistic of each column's table."""
    told = []
    for column in range(columns):
        table = {(b, s): count for (c, b, s), count in found.items() if c == column}
        whole = sum(table.values())
        expected = {
            (b, s): sum(n for (one, _), n in table.items() if one == b)
            * sum(n for (_, one), n in table.items() if one == s)
            / whole
            for b, s in table
        }
        told.append(
            sum((table[cell] - one) ** 2 / one for cell, one in expected.items() if one > 0)
        )
    return told


def learned(groups, keys, turns, rounds, prior):
    """Return likings after some turns of sharing out and of fitting."""
    columns = 1 + max(c for c, _, _ in keys)
    every = [s for _, values, *_ in groups for s in values]
    usual = {s: every.count(s) / len(every) for s in {*every}}
    likings = dict.fromkeys(keys, 1.0)
    for turn in range(turns):
        found = found_with(groups, likings, rounds)
        expected = dict.fromkeys(keys, 0.0)
        for people, values, *weights in groups:
            for person, due in zip(people, dues(people, values, *weights), strict=True):
                chances = {
                    s: share * prod(likings[c, b, s] for c, b in enumerate(person))
                    for s, share in usual.items()
                }
                for s, chance in chances.items():
                    for c, b in enumerate(person):
                        expected[c, b, s] += due * chance / sum(chances.values())
        for c, b, s in keys:
            before = prior * usual[s]
            change = (found[c, b, s] + before) / (expected[c, b, s] + before)
            likings[c, b, s] *= change ** (1 / columns if turn else 1)
    return likings


def placed_count(groups, columns, asked, rounds):
    """Count rows whose value is asked for, each with the part of every column that is asked for.

    A column is its likings and, by group, its places (bands, weights) with the part of each that is
    asked for; of value i of a group `asked` says whether it is.
    """
    total = 0.0
    for number, (_, values) in enumerate(groups):
        inside = dict.fromkeys(values, 1.0)
        for likings, by_group in columns:
            bands, weights, marks = by_group[number]
            given = shared_out([(b,) for b in bands], values, likings, rounds, weights)
            for s in inside:
                marked = sum(one[s] * mark for one, mark in zip(given, marks, strict=True))
                inside[s] *= marked / values.count(s)
        total += sum(inside[s] for s, one in zip(values, asked[number], strict=True) if one)
    return total
