"""The small language in which a person asks for a count, read strictly, never evaluated.

`30 <= age <= 40 and sex == "F"`, `town in {"Ulm", "Aalen"}`, `not (income > 50000 or age < 18)`.
A column is compared with numbers, with labels or with dates in quotes, whichever it holds; the name
of a node of a hierarchy stands for the labels under it. A column whose name is no plain word stands
in backquotes. One sign of equality means the same as two.

A condition becomes a sum of queries, each with a coefficient: `not a` is 1 - a, `a or b` is
a + b - ab, and the product of two queries asks for what both ask for. So overlapping alternatives
are counted once, whatever columns they are about.
"""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import UnknownColumn, UsageError, nearest
from shoal.notation import brief, exact
from shoal.table.dates import parse_dates
from shoal.utility.columns import Intervals
from shoal.utility.sets import Numbers, Set, below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from shoal.utility.columns import Exact, Sets, Spread

DEPTH = 50  # how deep brackets may nest
MOST = 1000  # queries that one condition may become
LARGEST = 1e300
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`([^`]*)`|((?<![<>=!])=(?!=))""")
HELP = "Write it as 30 <= age <= 40 and town in {'Ulm', 'Aalen'}."
FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}

Product = frozenset[tuple[str, Set]]  # one set a column
Sum = dict[Product, int]
EVERYTHING: Sum = {frozenset(): 1}


def count(source: Any, condition: str) -> float:
    """Return the expected number of rows for which a condition holds.

    Where the release has survey weights, it is the number of people of the population that they
    estimate.

    Parameters
    ----------
    source : a release, its directory, or what a rival published.
    condition : comparisons joined by and, or, not, for example
        "30 <= age <= 40 and income > 50000".
    """
    from shoal.utility.queries import queryable

    answers = queryable(source)
    found = read_condition(condition, answers.columns)
    number = getattr(answers, "estimate", answers.count)  # people of a population, by weights
    return float(sum(factor * number(dict(query)) for query, factor in found.items()))


def read_condition(text: str, columns: Mapping[str, Exact | Spread]) -> Sum:
    """Read a condition on some columns as a sum of queries."""
    if not isinstance(text, str):
        msg = f"A condition is text, not a {type(text).__name__}. {HELP}"
        raise UsageError(msg)
    names: dict[str, str] = {}

    def plain(found: re.Match[str]) -> str:
        if found[2] is not None:
            return "=="
        if found[1] is None:
            return found[0]
        word = f"column_{len(names)}_"
        while word in columns:
            word += "_"
        names[word] = found[1]
        return f" {word} "

    try:
        tree = ast.parse(QUOTED.sub(plain, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        msg = _bare_name(text, columns) or f"Cannot read the condition {brief(text)}. {HELP}"
        raise UsageError(msg) from None
    try:
        return _Parser(text, columns, names).condition(tree, DEPTH)
    except UsageError:
        if bare := _bare_name(text, columns):
            raise UsageError(bare) from None
        raise


def _bare_name(text: str, columns: Iterable[str]) -> str | None:
    """Return a sentence about a column whose name needs backquotes and has none, if there is one.

    Of several names that stand there, the longest is the one that was meant.
    """
    outside = QUOTED.sub(lambda found: found[2] or " ", text)
    for name in sorted(columns, key=len, reverse=True):
        plain = name.isidentifier() and not keyword.iskeyword(name)
        worded = any(map(str.isalpha, name))
        if worded and not plain and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", outside):
            return f"In {brief(text)}, the name of column {name!r} needs backquotes: `{name}`."
    return None


@dataclass(frozen=True)
class _Parser:
    text: str
    columns: Mapping[str, Exact | Spread]
    names: Mapping[str, str]  # what stood in backquotes

    def condition(self, node: ast.expr, depth: int) -> Sum:
        if depth == 0:
            msg = f"The condition {brief(self.text)} nests too deeply."
            raise UsageError(msg)
        match node:
            case ast.BoolOp(op=op, values=values):
                found = [self.condition(value, depth - 1) for value in values]
                return self._all(found) if isinstance(op, ast.And) else self._any(found)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _not(self.condition(operand, depth - 1))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                pairs = zip((left, *rights), ops, rights, strict=False)
                return self._all(self._comparison(*pair) for pair in pairs)
        raise self._refusal(node, "a comparison")

    def _all(self, parts: Iterable[Sum]) -> Sum:
        found = EVERYTHING
        for part in _gathered(parts, every=True):
            found = self._checked(_times(found, part))
        return found

    def _any(self, parts: Iterable[Sum]) -> Sum:
        found: Sum = {}
        for part in _gathered(parts, every=False):
            found = self._checked(_plus(_plus(found, part), _times(found, part), -1))
        return found

    def _checked(self, found: Sum) -> Sum:
        if len(found) > MOST:
            msg = f"The condition {brief(self.text)} has too many alternatives. Ask in parts."
            raise UsageError(msg)
        return found

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Sum:
        if isinstance(right, ast.Name) and type(op) in FLIPPED:
            left, op, right = right, FLIPPED[type(op)](), left
        if not isinstance(left, ast.Name):
            raise self._refusal(left, "the name of a column")
        name = self.names.get(left.id, left.id)
        if name not in self.columns:
            raise UnknownColumn(name, list(self.columns))
        column = self.columns[name]
        if column.numeric or isinstance(column, Intervals):
            return _one(name, self._numbers(name, op, right))
        if _speaks_of_numbers(right):
            wanted = column.sized(self._numbers(name, op, right))
            if wanted is not None:
                return _one(name, wanted)
        return _one(name, self._labels(name, column, op, right))

    def _numbers(self, name: str, op: ast.cmpop, node: ast.expr) -> Numbers:
        if isinstance(op, ast.In | ast.NotIn):
            values = {self._number(name, item) for item in self._items(node)}
            found = Numbers.shared([Numbers.from_to(value, value) for value in values], 1)
            return found if isinstance(op, ast.In) else ~found
        value = self._number(name, node)
        match op:
            case ast.Lt():
                return below(value, equal=False)
            case ast.LtE():
                return below(value, equal=True)
            case ast.Gt():
                return ~below(value, equal=True)
            case ast.GtE():
                return ~below(value, equal=False)
            case ast.Eq():
                return Numbers.from_to(value, value)
            case ast.NotEq():
                return ~Numbers.from_to(value, value)
        raise self._refusal(node, "compared by <, <=, ==, !=, >=, > or in")

    def _number(self, name: str, node: ast.expr) -> Fraction:
        if self.columns[name].dates:
            return self._day(name, node)
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value) if abs(value) <= LARGEST:
                return exact(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -self._number(name, node.operand)
        msg = (
            f"In {brief(self.text)}, column {name!r} holds numbers, and {self._part(node)} is "
            "not a number."
        )
        raise UsageError(msg)

    def _day(self, name: str, node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            read = parse_dates(pl.Series([node.value]))
            if read is not None:
                return Fraction(int(read[0][0]), read[1])
        msg = (
            f"In {brief(self.text)}, column {name!r} holds dates, and {self._part(node)} is not "
            "a date: write it as '1980-12-31'."
        )
        raise UsageError(msg)

    def _labels(
        self, name: str, column: Exact | Sets, op: ast.cmpop, node: ast.expr
    ) -> frozenset[str]:
        if not isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            msg = (
                f"In {brief(self.text)}, column {name!r} holds labels, which have no order: "
                "compare them by ==, != or in."
            )
            raise UsageError(msg)
        items = self._items(node) if isinstance(op, ast.In | ast.NotIn) else [node]
        found: set[str] = set()
        for item in items:
            label = self._label(name, item)
            named = column.named(label)
            if named is None:
                known = column.labels.to_list()
                msg = f"Column {name!r} has no label {brief(label)}{nearest(label, known)}"
                raise UsageError(msg)
            found |= named
        wanted = found if isinstance(op, ast.Eq | ast.In) else set(column.labels) - found
        return frozenset(wanted)

    def _label(self, name: str, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        msg = (
            f"In {brief(self.text)}, column {name!r} holds labels: put {self._part(node)} in "
            "quotes if it is one."
        )
        raise UsageError(msg)

    def _items(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.Set | ast.List | ast.Tuple):
            return node.elts
        raise self._refusal(node, "a set such as {1, 2}")

    def _part(self, node: ast.expr) -> str:
        shown = ast.unparse(node)
        for word, name in self.names.items():
            shown = shown.replace(word, f"`{name}`")
        return brief(shown)

    def _refusal(self, node: ast.expr, wanted: str) -> UsageError:
        return UsageError(f"In {brief(self.text)}, {self._part(node)} is not {wanted}. {HELP}")


def _speaks_of_numbers(node: ast.expr) -> bool:
    """Return whether a column is compared with numbers alone."""
    parts = node.elts if isinstance(node, ast.Set | ast.List | ast.Tuple) else [node]
    plain = [
        part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) else part
        for part in parts
    ]
    return all(
        isinstance(part, ast.Constant)
        and isinstance(part.value, int | float)
        and not isinstance(part.value, bool)
        for part in plain
    )


def _one(name: str, wanted: Set) -> Sum:
    return {frozenset({(name, wanted)}): 1} if wanted else {}


def _not(part: Sum) -> Sum:
    return _plus(EVERYTHING, part, -1)


def _plus(first: Sum, second: Sum, factor: int = 1) -> Sum:
    total = dict(first)
    for query, times in second.items():
        total[query] = total.get(query, 0) + factor * times
    return {query: times for query, times in total.items() if times}


def _times(first: Sum, second: Sum) -> Sum:
    total: Sum = {}
    for one, times in first.items():
        for other, more in second.items():
            both = _product(one, other)
            if both is not None:
                total[both] = total.get(both, 0) + times * more
    return {query: times for query, times in total.items() if times}


def _product(one: Product, other: Product) -> Product | None:
    """Return the query for what both ask for, None where that is nothing."""
    sets = dict(one)
    for name, wanted in other:
        if isinstance(wanted, Numbers) and name in sets and wanted.apart(sets[name]):  # type: ignore[arg-type]
            return None
    for name, wanted in other:
        sets[name] = sets[name] & wanted if name in sets else wanted  # type: ignore[operator]
        if not sets[name]:
            return None
    return frozenset(sets.items())


def _gathered(parts: Iterable[Sum], *, every: bool) -> Iterator[Sum]:
    """Yield parts of which those about one and the same column, alone, have become one.

    It asks for what `every` one of them asks for, or any.
    """
    alone: dict[str, list[Any]] = {}
    for part in parts:
        column = next(iter(part), frozenset()) if list(part.values()) == [1] else frozenset()
        if len(column) == 1:
            ((name, wanted),) = column
            alone.setdefault(name, []).append(wanted)
        else:
            yield part
    for name, sets in alone.items():
        if isinstance(sets[0], Numbers):
            wanted = Numbers.shared(sets, len(sets) if every else 1)
        else:
            wanted = frozenset.intersection(*sets) if every else frozenset().union(*sets)
        yield _one(name, wanted)
