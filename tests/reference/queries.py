"""Count queries by definition: every point that a published row may stand for is tried."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from json import loads
from math import prod


def decimals(numbers):
    """Return the most decimals that any of some numbers, as they are spelled, has."""
    exponents = (Decimal(text).normalize().as_tuple().exponent for text in numbers)
    return max(max(0, -int(exponent)) for exponent in exponents)


def ends(cell):
    """Return the two ends of a published interval as texts."""
    return cell[1:-1].split(", ") if cell.startswith("[") else [cell, cell]


def points(cell, kind, places):
    """Return all values that a published cell may stand for."""
    if kind == "exact":
        return [cell]
    if kind == "set":
        return loads(cell) if cell.startswith("[") else [cell]
    if isinstance(kind, dict):  # a hierarchy: the labels under each node
        return kind.get(cell, [cell])
    low, high = (Fraction(end) * 10**places for end in ends(cell))
    return [Fraction(unit, 10**places) for unit in range(int(low), int(high) + 1)]


def steps(rows, kinds, domains):
    """Return for each interval column the decimals in which it counts."""
    found = {}
    for name, kind in kinds.items():
        if kind == "interval":
            cells = [end for row in rows for end in ends(row[name])]
            found[name] = decimals([*cells, *map(repr, domains[name])])
    return found


def chances(cells, places):
    """Return for each interval of a column how likely each of its points is.

    All alike; but where a cell is over four times as wide as is usual, which is the width that half
    of the rows keep within, its rows are at its ends, within the usual width, at either in
    proportion to one row and those that cells up to the usual width, spread evenly, have there.
    """
    whole = [points(cell, "interval", places) for cell in cells]
    usual = sorted(map(len, whole))[(len(whole) - 1) // 2]
    narrow = [some for some in whole if len(some) <= usual]
    found = {}
    for cell, some in zip(cells, whole, strict=True):
        chance = dict.fromkeys(some, Fraction(1, len(some)))
        if len(some) > 4 * usual:
            ends = some[:usual], some[-usual:]
            there: list[Fraction] = [
                sum((Fraction(len({*other} & {*end}), len(other)) for other in narrow), Fraction(1))
                for end in ends
            ]
            chance = dict.fromkeys(some, Fraction(0))
            for end, count in zip(ends, there, strict=True):
                for point in end:
                    chance[point] += count / sum(there, Fraction(0)) / usual
        found[cell] = chance
    return found


def expected_count(rows, kinds, domains, holds):
    """Return the sum over rows of how likely a condition holds for the points of their cells."""
    places = steps(rows, kinds, domains)
    known = {name: chances([row[name] for row in rows], places[name]) for name in places}
    total = Fraction(0)
    for row in rows:
        cells = []
        for name, kind in kinds.items():
            some = points(row[name], kind, places.get(name))
            even = dict.fromkeys(some, Fraction(1, len(some)))
            cells.append((known[name][row[name]] if name in known else even).items())
        for point in product(*cells):
            values = dict(zip(kinds, (value for value, _ in point), strict=True))
            if holds(values):
                total += prod((chance for _, chance in point), start=Fraction(1))
    return total


def anatomy_count(quasi, sensitive, holds_quasi, holds_sensitive):
    """Return the expected count over two tables: all pairings of a group's rows are alike."""
    total = Fraction(0)
    for group in {row["group"] for row in quasi}:
        first = [row for row in quasi if row["group"] == group]
        second = [row for row in sensitive if row["group"] == group]
        pairs = [holds_quasi(a) and holds_sensitive(b) for a in first for b in second]
        total += Fraction(sum(pairs), len(first))
    return total
