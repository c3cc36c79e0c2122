"""Count queries by definition: every point that a published row may stand for is tried."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from json import loads


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


def expected_count(rows, kinds, domains, holds):
    """Return the sum over rows of the share of their points for which a condition holds."""
    places = steps(rows, kinds, domains)
    total = Fraction(0)
    for row in rows:
        cells = [points(row[name], kind, places.get(name)) for name, kind in kinds.items()]
        tried = [holds(dict(zip(kinds, point, strict=True))) for point in product(*cells)]
        total += Fraction(sum(tried), len(tried))
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
