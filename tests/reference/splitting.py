"""The splitting algorithms on small tables, to the letter, in exact rationals.

Source: EM section 5.2 ("Splitting", "Partitioning") and, for ``mondrian``, LeFevre, DeWitt and
Ramakrishnan (ICDE 2006) as issue 2 words it. A table is a list of quasi rows; ``kinds`` says
"interval" (numbers) or "set" (labels, ordered as Python sorts them or as ``orders`` gives) for
each column. What the papers leave open is fixed so:

- the median is the lower one: element (|G| - 1) // 2 of the sorted values, repetitions included;
- equal losses (and equal extents) go to the attribute with the lowest index;
- equal sensitive values keep the order of their rows in the round robin.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from reference.proximity import Number, exact, generalizable, holds, maxsize

Cell = int | float | str
Group = frozenset[int]
Orders = Mapping[int, Sequence[Cell]]


class Quasi:
    """The quasi columns of a table, with the extent of each whole column."""

    def __init__(
        self, rows: Sequence[Sequence[Cell]], kinds: Sequence[str], orders: Orders | None = None
    ) -> None:
        """Turn intervals into exact numbers and labels into their places in the order."""
        self.kinds = list(kinds)
        self.columns = [
            _positions([row[index] for row in rows], kind, (orders or {}).get(index))
            for index, kind in enumerate(kinds)
        ]
        everyone = range(len(rows))
        self.extents = [self.extent(index, everyone) for index in range(len(kinds))]

    def extent(self, attribute: int, group: Group | range) -> Fraction:
        """Return high - low for an interval, labels - 1 for a set."""
        values = {self.columns[attribute][row] for row in group}
        if self.kinds[attribute] == "set":
            return Fraction(len(values) - 1)
        return max(values) - min(values)

    def ncp(self, attribute: int, group: Group) -> Fraction:
        """Return the normalized certainty penalty of the group's cell."""
        whole = self.extents[attribute]
        return self.extent(attribute, group) / whole if whole else Fraction(0)

    def loss(self, group: Group) -> Fraction:
        """Return |G| times the sum of the NCP over the attributes."""
        return len(group) * sum(
            (self.ncp(attribute, group) for attribute in range(len(self.kinds))), Fraction(0)
        )

    def halves(self, attribute: int, group: Group) -> tuple[Group, Group]:
        """Return the rows at most, and above, the lower median of the attribute in the group."""
        column = self.columns[attribute]
        median = sorted(column[row] for row in group)[(len(group) - 1) // 2]
        low = frozenset(row for row in group if column[row] <= median)
        return low, group - low


def _positions(cells: list[Cell], kind: str, order: Sequence[Cell] | None) -> list[Fraction]:
    if kind == "interval":
        return [exact(cell) for cell in cells]
    if kind != "set":
        message = f"a quasi column is 'interval' or 'set', got {kind!r}"
        raise ValueError(message)
    places = {label: place for place, label in enumerate(order or sorted(set(cells)))}
    return [Fraction(places[cell]) for cell in cells]


def round_robin(group: Group, sensitive: Sequence[Number], parts: int) -> list[Group]:
    """Deal the members, ascending by sensitive value, to so many parts in turn (EM Theorem 1)."""
    ordered = sorted(group, key=lambda row: (exact(sensitive[row]), row))
    return [frozenset(ordered[start::parts]) for start in range(parts)]


def split(
    rows: Sequence[Sequence[Cell]],
    kinds: Sequence[str],
    sensitive: Sequence[Number],
    kind: str,
    m: int,
    *,
    k: int = 1,
    orders: Orders | None = None,
    **params: Number,
) -> list[Group]:
    """Return the groups of EM's algorithm: recursive splitting, then partitioning.

    A bucket is split at the lower median of the attribute for which both halves are non-empty and
    generalizable, |G| >= max(m, k) * maxsize(G), and the total loss of the halves is least. A
    bucket that cannot be split is kept whole if it holds, else dealt round robin into maxsize(G)
    parts. Groups come depth first, lower half first.
    """
    table = Quasi(rows, kinds, orders)
    everyone = frozenset(range(len(rows)))

    def is_generalizable(group: Group) -> bool:
        return generalizable([sensitive[row] for row in group], kind, m, k=k, **params)

    if not is_generalizable(everyone):
        if len(everyone) >= k and holds(sensitive, kind, m, **params):
            return [everyone]  # only where k > m: Theorem 1 with max(m, k) is then not necessary
        message = "the requirement is not achievable on this table"
        raise ValueError(message)
    groups: list[Group] = []
    for bucket in _split_bucket(table, everyone, is_generalizable):
        groups += partition(bucket, sensitive, kind, m, **params)
    return groups


def _split_bucket(
    table: Quasi, group: Group, is_generalizable: Callable[[Group], bool]
) -> list[Group]:
    best: tuple[Fraction, tuple[Group, Group]] | None = None
    for attribute in range(len(table.kinds)):
        low, high = table.halves(attribute, group)
        if not (low and high and is_generalizable(low) and is_generalizable(high)):
            continue
        loss = table.loss(low) + table.loss(high)
        if best is None or loss < best[0]:
            best = loss, (low, high)
    if best is None:
        return [group]
    return [part for half in best[1] for part in _split_bucket(table, half, is_generalizable)]


def partition(
    group: Group, sensitive: Sequence[Number], kind: str, m: int, **params: Number
) -> list[Group]:
    """Return the bucket whole if it holds, else its maxsize-way round robin (EM, section 5.2)."""
    values = [sensitive[row] for row in group]
    if holds(values, kind, m, **params):
        return [group]
    return round_robin(group, sensitive, maxsize(values, kind, **params))


def mondrian(
    rows: Sequence[Sequence[Cell]],
    kinds: Sequence[str],
    k: int,
    *,
    admissible: Callable[[Group], bool] = lambda _group: True,
    orders: Orders | None = None,
) -> list[Group]:
    """Return the groups of classic Mondrian, depth first, lower half first.

    Attributes are tried by falling NCP of the group (its normalized extent); the first whose
    lower-median cut leaves both sides with at least k members, and admissible, is cut.
    """
    table = Quasi(rows, kinds, orders)

    def fits(group: Group) -> bool:
        return len(group) >= max(k, 1) and admissible(group)

    def cut(group: Group) -> list[Group]:
        widest_first = sorted(
            range(len(kinds)), key=lambda attribute: (-table.ncp(attribute, group), attribute)
        )
        for attribute in widest_first:
            low, high = table.halves(attribute, group)
            if fits(low) and fits(high):
                return cut(low) + cut(high)
        return [group]

    everyone = frozenset(range(len(rows)))
    if not fits(everyone):
        message = "the whole table is not admissible"
        raise ValueError(message)
    return cut(everyone)


def least_loss(
    rows: Sequence[Sequence[Cell]],
    kinds: Sequence[str],
    admissible: Callable[[Group], bool],
    orders: Orders | None = None,
) -> list[Group]:
    """Return the groups of Mondrian where the cut of least loss among admissible ones is made."""
    return _split_bucket(Quasi(rows, kinds, orders), frozenset(range(len(rows))), admissible)


def gcp(
    rows: Sequence[Sequence[Cell]],
    kinds: Sequence[str],
    groups: Sequence[Group],
    orders: Orders | None = None,
) -> Fraction:
    """Return the mean NCP over rows and quasi columns."""
    table = Quasi(rows, kinds, orders)
    total = sum((table.loss(group) for group in groups), Fraction(0))
    return total / (len(rows) * len(kinds))
