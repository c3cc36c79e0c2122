"""Distances between labels: equality, edits, a table of pairs, a person's own function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.distances.base import Distance
from shoal.distances.relation import Band, equality
from shoal.errors import BadParameter, InputError, UsageError
from shoal.table.reading import read_table, take_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive

LONGEST = 64  # characters of a string whose edits are counted


@dataclass(frozen=True, repr=False)
class Equality(Distance):
    """0 for equal values, 1 for any others; over one or several columns."""

    metric = True
    most = None

    def sides(self, count: int) -> int:  # noqa: ARG002 - the same for all
        """Return 1: an unlisted value is equal to none, and from 1 on everything is near."""
        return 1

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return 0 where the values are equal and 1 elsewhere."""
        self.check(sensitive)
        return (left != right).astype(np.float64)

    def relation(self, sensitive: Sensitive, epsilon: Fraction) -> Band:
        """Return the relation in which only equal values are near, or all from 1 on."""
        if epsilon < 1:
            return equality(sensitive.distinct)
        last = np.full(sensitive.distinct, sensitive.distinct - 1, np.int32)
        return Band(np.zeros(sensitive.distinct, np.int32), last)


@dataclass(frozen=True, repr=False)
class Edit(Distance):
    """The edit (Levenshtein) distance of short strings: insertions, deletions, substitutions."""

    metric = True

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the number of edits between each pair."""
        from shoal.kernels.text import edit_distances

        texts = [label for (label,) in sensitive.texts()]
        long = max(texts, key=len)
        if len(long) > LONGEST:
            msg = (
                f"Edit() is for short strings, and {sensitive.name} has one of {len(long)} "
                f"characters; {LONGEST} is the most."
            )
            raise InputError(msg)
        letters = np.zeros((len(texts), max(len(long), 1)), np.int32)
        for row, text in enumerate(texts):
            letters[row, : len(text)] = [ord(letter) for letter in text]
        lengths = np.array([len(text) for text in texts], np.int64)
        found = np.empty(len(left))
        edit_distances(letters, lengths, left.astype(np.int64), right.astype(np.int64), found)
        return found


@dataclass(frozen=True, repr=False)
class Lookup(Distance):
    """A precomputed table of label pairs; either order of a pair serves.

    Parameters
    ----------
    pairs : triples of two labels and their distance.
    file : a CSV or Parquet file of three columns instead: label, label, distance. Its contents
        become `pairs`, so that what is published can be checked without it.
    """

    pairs: tuple[tuple[str, str, float], ...] = ()
    file: str | None = None

    metric = False
    opens = ("file",)

    def __post_init__(self) -> None:
        if self.file is not None:
            if not isinstance(self.file, str):
                raise BadParameter("Lookup", "file", "the path of a file", self.file)
            taken = Lookup.of(read_table(self.file))
            object.__setattr__(self, "pairs", taken.pairs)
            object.__setattr__(self, "file", None)
        triples = []
        if not isinstance(self.pairs, tuple | list):
            raise BadParameter("Lookup", "pairs", "a list of triples", self.pairs)
        for pair in self.pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 3:
                raise BadParameter("Lookup", "pairs", "triples of label, label, distance", pair)
            first, second, length = pair
            triples.append((str(first), str(second), _length(length, (first, second))))
        object.__setattr__(self, "pairs", tuple(triples))

    @classmethod
    def of(cls, frame: Any) -> Lookup:
        """Take the pairs from a frame of three columns."""
        table = take_frame(frame)
        if table.width != 3:
            msg = f"A table of distances has three columns, this one has {table.width}."
            raise InputError(msg)
        return cls(pairs=tuple(table.rows()))

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the listed distance of each pair, 0 for a label and itself."""
        labels = [label for (label,) in sensitive.texts()]
        code = {label: place for place, label in enumerate(labels)}
        matrix = np.full((len(labels), len(labels)), np.nan)
        np.fill_diagonal(matrix, 0)
        for first, second, length in self.pairs:
            if first not in code or second not in code:
                continue
            one, two = code[first], code[second]
            if not np.isnan(matrix[one, two]) and matrix[one, two] != length:
                msg = (
                    f"The distance of {first!r} and {second!r} is not symmetric or not 0 to itself."
                )
                raise InputError(msg)
            matrix[one, two] = matrix[two, one] = length
        if np.isnan(matrix).any():
            one, two = np.argwhere(np.isnan(matrix))[0]
            msg = f"The table of distances lacks the pair {labels[one]!r}, {labels[two]!r}."
            raise InputError(msg)
        return matrix[left, right]


def _length(value: object, pair: tuple[object, object]) -> float:
    try:
        length = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        length = np.nan
    if not 0 <= length < np.inf:
        both = f"{pair[0]!r} and {pair[1]!r}"
        msg = f"The distance of {both} must be a number of at least 0. Got {value!r}."
        raise InputError(msg)
    return length


@dataclass(frozen=True, repr=False)
class Function(Distance):
    """Your own Python function of two values, called once for each distinct pair.

    Made with `Function.of(f)`. The notation knows it by its name, in this process only: nothing
    that is read from a file can bring code with it.
    """

    name: str
    vectorized: bool = False

    metric = False
    most = None
    known: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {}

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise BadParameter("Function", "name", "the name of a function", self.name)

    @classmethod
    def of(cls, function: Callable[[Any, Any], Any], *, vectorized: bool = False) -> Function:
        """Take a function of two values, or of two arrays of values where it is vectorized.

        A value is a number or a string, and a tuple of them for several columns.
        """
        base = name = getattr(function, "__name__", type(function).__name__)
        turn = 1
        while cls.known.get(name, function) is not function:  # two lambdas, say
            turn += 1
            name = f"{base} {turn}"
        cls.known[name] = function
        return cls(name=name, vectorized=vectorized)

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Call the function, and check that what it returns is a distance."""
        if self.name not in self.known:
            msg = (
                f"The distance function {self.name!r} is not known here. Make it known with "
                f"shoal.distances.Function.of({self.name}) in the same Python process."
            )
            raise UsageError(msg)
        values = _values(sensitive)
        found = self._call(values, left, right)
        back = self._call(values, right, left)
        for bad, what in (
            (~np.isfinite(found), "is not a number"),
            (found < 0, "is negative"),
            ((left == right) & (found != 0), "is not 0 for a value and itself"),
            (found != back, "is not symmetric"),
        ):
            if bad.any():
                place = int(np.flatnonzero(bad)[0])
                one, two = values[left[place]], values[right[place]]
                msg = f"The distance {self.name!r} {what}: {one!r} and {two!r} give {found[place]}."
                raise InputError(msg)
        return found

    def _call(
        self, values: list[Any], left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        function = self.known[self.name]
        if self.vectorized:
            array = np.array(values)
            try:
                return np.asarray(function(array[left], array[right]), float).reshape(len(left))
            except Exception as problem:
                msg = f"The distance {self.name!r} failed on arrays of values: {problem}"
                raise InputError(msg) from problem
        found = np.empty(len(left))
        for place, (one, two) in enumerate(zip(left, right, strict=True)):
            try:
                found[place] = function(values[one], values[two])
            except Exception as problem:
                msg = (
                    f"The distance {self.name!r} failed on {values[one]!r} and {values[two]!r}: "
                    f"{type(problem).__name__}: {problem}"
                )
                raise InputError(msg) from problem
        return found


def _values(sensitive: Sensitive) -> list[Any]:
    """Return the distinct values as Python numbers, strings, or tuples of them."""
    sensitive.texts()
    parts = [
        [column.numbers[p].item() if column.numeric else column.spellings[int(p)] for p in places]
        for column, places in zip(sensitive.columns, sensitive.places.T, strict=True)
    ]
    return parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
