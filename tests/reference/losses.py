"""Losses by their formulas, row by row and point by point, over published rows as text."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import log2, prod

from reference.queries import decimals, points, steps


def domain_points(domain, kind, places):
    """Return all values of a domain."""
    if kind == "set":
        return list(domain)
    low, high = (Fraction(str(end)) * 10**places for end in domain)
    return [Fraction(unit, 10**places) for unit in range(int(low), int(high) + 1)]


def coverage(rows, kinds, domains, suppressed):
    """Return the mean of the sum over columns of values covered / values of the domain."""
    places = steps(rows, kinds, domains)
    total = Fraction(len(kinds) * suppressed)
    for row in rows:
        for name, kind in kinds.items():
            whole = domain_points(domains[name], kind, places.get(name))
            total += Fraction(len(points(row[name], kind, places.get(name))), len(whole))
    return total / (len(rows) + suppressed)


def coverage_of_groups(rows, kinds, domains):
    """Return the same for one row of each group."""
    one = list({row["group"]: row for row in rows}.values())
    places = steps(rows, kinds, domains)
    total = sum(
        Fraction(
            len(points(row[name], kind, places.get(name))),
            len(domain_points(domains[name], kind, places.get(name))),
        )
        for row in one
        for name, kind in kinds.items()
    )
    return total / len(one)


def discernibility(rows, suppressed):
    """Return for every row how many it cannot be told from, all rows for a suppressed one."""
    sizes = Counter(row["group"] for row in rows)
    n = len(rows) + suppressed
    return sum(sizes[row["group"]] for row in rows) + suppressed * n


def non_uniform_entropy(pairs, original, kinds, suppressed):
    """Return the bits hidden as a share of all, the mean over columns.

    `pairs` are (original row, published row), the latter None for a suppressed one.
    """
    shares = []
    for name, kind in kinds.items():
        values = [row[name] for row in original]
        hidden = most = 0.0
        for known, published in pairs:
            same = values.count(known[name])
            inside = len(values)
            if published is not None:
                inside = sum(covers(published[name], kind, value) for value in values)
            hidden += log2(inside / same)
            most += log2(len(values) / same)
        shares.append(hidden / most if most else 0.0)
    return sum(shares) / len(shares)


def covers(cell, kind, value):
    """Return whether a published cell covers a value."""
    if kind == "set":
        return value in points(cell, kind, None)
    low, high = cell[1:-1].split(", ") if cell.startswith("[") else (cell, cell)
    return Fraction(low) <= Fraction(str(value)) <= Fraction(high)


def kl_divergence(published, original, kinds, sensitive, suppressed):
    """Return the divergence in bits: all points of all published rows are listed."""
    places = {
        name: decimals([str(row[name]) for row in original])
        for name, kind in kinds.items()
        if kind == "interval"
    }
    mass: defaultdict = defaultdict(Fraction)
    for row in published:
        cells = [points(row[name], kind, places.get(name)) for name, kind in kinds.items()]
        for point in product(*cells):
            mass[*point, row[sensitive]] += Fraction(1, prod(map(len, cells)))
    extents = 1
    for name, kind in kinds.items():
        values = [row[name] for row in original]
        if kind == "set":
            extents *= len(set(values))
        else:
            ends = [Fraction(str(end)) * 10 ** places[name] for end in (min(values), max(values))]
            extents *= int(ends[1] - ends[0]) + 1
    extents *= len({row[sensitive] for row in original})
    true = Counter(
        (
            *(row[n] if k == "set" else Fraction(str(row[n])) for n, k in kinds.items()),
            row[sensitive],
        )
        for row in original
    )
    n = len(original)
    return sum(
        count / n * log2(count / float(mass[point] + Fraction(suppressed, extents)))
        for point, count in true.items()
    )
