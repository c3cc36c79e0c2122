"""Proximity principles straight from their definitions, in exact rationals.

Sources: EM = Li, Tao, Xiao, "Preservation of Proximity Privacy in Publishing Numerical Sensitive
Data" (SIGMOD 2008); DL = the (delta,l)-diversity revision of it.

Every number is taken as the exact decimal it is written as, ``Fraction(str(x))``, so no comparison
needs a tolerance. Kinds of proximity and their parameters:

=========  ================  ==================================================================
kind       parameters        u is proximate to v when
=========  ================  ==================================================================
absolute   epsilon           v - epsilon <= u <= v + epsilon               (EM Definition 6)
relative   epsilon in [0,1]  v - epsilon|v| <= u <= v + epsilon|v|         (EM Definition 6)
general    below, above      v - below <= u <= v + above                   (EM Definition 8)
delta-l    delta             [u-delta, u+delta] meets [v-delta, v+delta]   (DL Definitions 3, 4)
equality   none              u = v                                         (DL Definition 1)
=========  ================  ==================================================================

``window`` (parameter: width) is not a relation between members; ``risk``, ``holds``, ``maxsize``,
``largest_m`` and ``achievable`` accept it all the same. ``chain`` (parameter: epsilon) is about the
members that are reached in steps of at most epsilon; ``maxsize`` counts their steps.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import count

Number = int | float | str | Fraction

LARGEST_BRUTE_FORCE = 8


def exact(number: Number) -> Fraction:
    """Return the number as the exact decimal it is written as."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def _not_negative(name: str, number: Number) -> Fraction:
    value = exact(number)
    if value < 0:
        message = f"{name} must not be negative, got {number}"
        raise ValueError(message)
    return value


def neighbourhood(kind: str, v: Number, **params: Number) -> tuple[Fraction, Fraction]:
    """Return the ends of the closed private neighbourhood I(v) (EM Definitions 4, 6 and 8)."""
    centre = exact(v)
    if kind == "absolute":
        below = above = _not_negative("epsilon", params.pop("epsilon"))
    elif kind == "relative":
        epsilon = _not_negative("epsilon", params.pop("epsilon"))
        if epsilon > 1:
            message = f"a relative epsilon lies in [0, 1], got {epsilon}"
            raise ValueError(message)
        below = above = epsilon * abs(centre)
    elif kind == "general":
        below = _not_negative("below", params.pop("below"))
        above = _not_negative("above", params.pop("above"))
    elif kind == "equality":
        below = above = Fraction(0)
    else:
        message = f"no private neighbourhood is known for {kind!r}"
        raise ValueError(message)
    _nothing_left(kind, params)
    return centre - below, centre + above


def _nothing_left(kind: str, params: dict[str, Number]) -> None:
    if params:
        message = f"{kind} does not take {sorted(params)}"
        raise TypeError(message)


def proximate(kind: str, u: Number, v: Number, **params: Number) -> bool:
    """Say whether u is proximate to v: whether u lies in I(v), or delta-intervals meet (DL)."""
    if kind == "delta-l":
        delta = _not_negative("delta", params.pop("delta"))
        _nothing_left(kind, params)
        first, second = exact(u), exact(v)
        return max(first - delta, second - delta) <= min(first + delta, second + delta)
    low, high = neighbourhood(kind, v, **params)
    return low <= exact(u) <= high


def _members(values: Sequence[Number]) -> list[Fraction]:
    if not values:
        message = "a group has at least one member"
        raise ValueError(message)
    return [exact(value) for value in values]


def member_risk(values: Sequence[Number], v: Number, kind: str, **params: Number) -> Fraction:
    """Return x/|G|, x the members whose values are proximate to v (EM Definition 5)."""
    members = _members(values)
    return Fraction(sum(proximate(kind, u, v, **params) for u in members), len(members))


def risk(values: Sequence[Number], kind: str, **params: Number) -> Fraction:
    """Return the largest risk of a member: max over v of |{u in G: u proximate to v}| / |G|.

    A member is proximate to itself, so a one-member group has risk 1. For ``window`` the risk is
    the share of the group in its fullest interval of the given width.
    """
    members = _members(values)
    if kind == "window":
        return Fraction(window_count(members, **params), len(members))
    if kind == "chain":
        return Fraction(chain_count(members, **params), len(members))
    return max(member_risk(members, v, kind, **params) for v in members)


def holds(values: Sequence[Number], kind: str, m: int, **params: Number) -> bool:
    """Say whether the risk is at most 1/m (EM Definitions 7 and 9, DL Definition 5)."""
    return risk(values, kind, **params) <= Fraction(1, m)


def window_count(values: Sequence[Number], width: Number) -> int:
    """Return the most members that any closed interval of this width holds, wherever it lies.

    An interval can be moved right until its left end is a member without losing one, so only the
    intervals that start at a member are looked at.
    """
    members, length = _members(values), _not_negative("width", width)
    return max(sum(low <= u <= low + length for u in members) for low in members)


def chain_count(values: Sequence[Number], epsilon: Number) -> int:
    """Return the most members that are reached from one of them in steps of at most epsilon."""
    left, longest = _members(values), 0
    while left:
        reached = [left.pop()]
        for v in reached:
            step = [u for u in left if proximate("absolute", u, v, epsilon=epsilon)]
            for u in step:
                left.remove(u)
            reached += step
        longest = max(longest, len(reached))
    return longest


def left(values: Sequence[Number], v: Number, kind: str, **params: Number) -> list[Fraction]:
    """Return the members that are at most v and proximate to v (EM Definition 10)."""
    members = _members(values)
    return [u for u in members if u <= exact(v) and proximate(kind, u, v, **params)]


def right(values: Sequence[Number], v: Number, kind: str, **params: Number) -> list[Fraction]:
    """Return the members that are at least v and proximate to v (EM Definition 10)."""
    members = _members(values)
    return [u for u in members if u >= exact(v) and proximate(kind, u, v, **params)]


def size(values: Sequence[Number], v: Number, kind: str, **params: Number) -> int:
    """Return max(|left(v, G)|, |right(v, G)|) (EM equation 4)."""
    return max(len(left(values, v, kind, **params)), len(right(values, v, kind, **params)))


def maxsize(values: Sequence[Number], kind: str, **params: Number) -> int:
    """Return the largest size(v, G) over the members v (EM Definition 11)."""
    members = _members(values)
    if kind == "window":
        return window_count(members, **params)
    kind = "absolute" if kind == "chain" else kind
    return max(size(members, v, kind, **params) for v in members)


def generalizable(
    values: Sequence[Number], kind: str, m: int, *, k: int = 1, **params: Number
) -> bool:
    """Say whether |G| >= max(m, k) * maxsize(G) (EM Theorem 1; k as issue 2 adds it)."""
    return len(values) >= max(m, k) * maxsize(values, kind, **params)


def largest_m(values: Sequence[Number], kind: str, **params: Number) -> int:
    """Return floor(n / maxsize), the largest achievable m (EM Theorem 1)."""
    return len(values) // maxsize(values, kind, **params)


def _gap(low: Fraction, high: Fraction, *, relative: bool) -> Fraction:
    if not relative:
        return high - low
    largest = max(abs(low), abs(high))
    return (high - low) / largest if largest else Fraction(0)


def epsilon_bound(values: Sequence[Number], m: int, *, relative: bool = False) -> Fraction | None:
    """Return the number that epsilon must stay strictly under, or None where nothing bounds it.

    EM Theorem 2: the minimum over i = 1..n-h of t(i+h) - t(i), with h = floor(n/m) and t ascending;
    relative: each gap is divided by max(|t(i)|, |t(i+h)|), 0/0 being 0. It bounds
    max(below, above) for ``general``. For m = 1 there is no pair, hence None; for m > n each value
    pairs with itself, hence 0: no epsilon works. A relative bound lies in [0, 2]; above 1 every
    epsilon up to 1 works.
    """
    if m < 1:
        message = f"m must be at least 1, got {m}"
        raise ValueError(message)
    ordered = sorted(_members(values))
    h = len(ordered) // m
    return min(
        (_gap(*pair, relative=relative) for pair in zip(ordered, ordered[h:], strict=False)),
        default=None,
    )


def frontier(values: Sequence[Number], *, relative: bool = False) -> list[tuple[int, Fraction]]:
    """Return (m, epsilon_bound) for every m from 2 while the bound is above 0."""
    points: list[tuple[int, Fraction]] = []
    for m in count(2):
        bound = epsilon_bound(values, m, relative=relative)
        if not bound:
            return points
        points.append((m, bound))
    raise AssertionError


def set_partitions(items: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Yield every partition of the items into non-empty blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        yield [(first,), *partition]
        for place, block in enumerate(partition):
            yield [*partition[:place], (first, *block), *partition[place + 1 :]]


def _partition_exists(n: int, admissible: Callable[[tuple[int, ...]], bool]) -> bool:
    if n > LARGEST_BRUTE_FORCE:
        message = f"brute force is for at most {LARGEST_BRUTE_FORCE} members, got {n}"
        raise ValueError(message)
    return any(all(map(admissible, partition)) for partition in set_partitions(range(n)))


def achievable(
    values: Sequence[Number], kind: str, m: int, *, k: int = 1, **params: Number
) -> bool:
    """Say whether some partition has only groups that hold and have at least k members.

    The definition of EM Problems 1 and 2, by trying all set partitions (at most 8 members).
    """
    members = _members(values)

    @cache
    def admissible(block: tuple[int, ...]) -> bool:
        return len(block) >= k and holds([members[i] for i in block], kind, m, **params)

    return _partition_exists(len(members), admissible)
