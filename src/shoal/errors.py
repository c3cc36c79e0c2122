"""The one error tree: each error keeps its values, says what to do, and knows its exit code.

Options stand in their sentences as data, and each view spells them as its user would say them: the
command line writes a flag, Python an argument (`suppress='1%'`), and the page makes a button.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray


OPEN, PART, CLOSE = "\ue000", "\ue001", "\ue002"  # of a private area: no text has them by chance
MARKED = re.compile(f"{OPEN}([a-z_]+)(?:{PART}([^{CLOSE}]*))?{CLOSE}")

Spelling = Callable[[str, str | None], str]


def option(name: str, value: object = None) -> str:
    """Name an option in a sentence, with a value where one is proposed.

    Examples
    --------
    >>> spell(f"Require less, or let {option('suppress', '1%')} leave out rows.")
    "Require less, or let suppress='1%' leave out rows."
    """
    said = "" if value is None else f"{PART}{value}"
    return f"{OPEN}{name}{said}{CLOSE}"


def in_python(name: str, value: str | None) -> str:
    """Spell an option as an argument of a call."""
    if value is None:
        return f"`{name}`"
    return f"{name}=True" if value == "True" else f"{name}={value!r}"


def spell(sentence: str, how: Spelling = in_python) -> str:
    """Return a sentence with its options spelled for whoever reads it."""
    return MARKED.sub(lambda found: how(found[1], found[2]), sentence)


def named_options(sentence: str) -> tuple[tuple[str, str | None], ...]:
    """Return the options that a sentence names, with what it proposes for them."""
    return tuple((found[1], found[2]) for found in MARKED.finditer(sentence))


class ShoalError(Exception):
    """Anything Shoal refuses to do, as a sentence for a person.

    `fix` has the options that would help, each with a value where one is proposed; `sentence`
    names them as data, for a view to spell, and `str` spells them as Python does.
    """

    exit_code = 2

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(spell(sentence))

    @property
    def fix(self) -> tuple[tuple[str, str | None], ...]:
        """The options that the sentence names."""
        return named_options(self.sentence)


class UsageError(ShoalError):
    """What was asked for makes no sense."""


class InputError(ShoalError):
    """The table (or a file) is not what it has to be."""


class NotAchievable(ShoalError):
    """The requirement cannot hold on this table, or was not reached.

    Where its sentence says so, `limit` is how many may be left out.
    """

    exit_code = 3

    def __init__(self, sentence: str, limit: int | None = None) -> None:
        self.limit = limit
        super().__init__(sentence)


class Hindered(NotAchievable):
    """Not reached; what would help is tried when somebody reads the sentence, and costs searches.

    Trials of which only the price matters are refused without that.
    """

    def __init__(self, explain: Callable[[], str]) -> None:
        super().__init__("")
        del self.sentence
        self._explain = explain

    def __getattr__(self, name: str) -> str:
        if name != "sentence":
            raise AttributeError(name)
        self.sentence = self._explain()
        return self.sentence

    def __str__(self) -> str:
        return spell(self.sentence)

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return NotAchievable, (self.sentence,)


class TooCrowded(NotAchievable):
    """Not achievable or not reached while certain rows are there."""

    def __init__(self, message: str, rows: NDArray[np.int64]) -> None:
        self.rows = rows
        super().__init__(message)


class Exposing(NotAchievable):
    """Columns that would be published tell most people apart."""

    def __init__(self, message: str, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)
        super().__init__(message)


class Naming(Exposing):
    """Columns that would be published look like names, ways to reach people, or free text."""


class AuditFailed(ShoalError):
    """Published files do not keep what was required."""

    exit_code = 1


class OutputError(ShoalError):
    """The output cannot be written."""

    exit_code = 4


class BadParameter(UsageError):
    """A parameter outside what is allowed."""

    def __init__(self, owner: str, name: str, allowed: str, got: object) -> None:
        self.owner, self.name, self.allowed, self.got = owner, name, allowed, got
        shown = repr(got) if len(repr(got)) <= 80 else repr(got)[:80] + "…"
        super().__init__(f"The '{name}' parameter of {owner} must be {allowed}. Got {shown}.")


class BadColumnOption(UsageError):
    """Something said of a column that is outside what is allowed."""

    def __init__(self, column: str, name: str, allowed: str, got: object) -> None:
        self.column, self.name, self.allowed, self.got = column, name, allowed, got
        shown = repr(got) if len(repr(got)) <= 80 else repr(got)[:80] + "…"
        super().__init__(f"The '{name}' of column {column!r} must be {allowed}. Got {shown}.")


class UnknownColumn(UsageError):
    """A column that the table does not have, or has not `among` those that it has to be one of."""

    def __init__(self, column: str, columns: Sequence[str], among: str = "in the table") -> None:
        self.column, self.columns = column, tuple(columns)
        super().__init__(f"There is no column {column!r} {among}{nearest(column, columns)}")


class BadCells(InputError):
    """Cells of one column that cannot be used, with how many and where the first ones are."""

    def __init__(
        self, column: str, what: str, rows: Iterable[int], count: int, advice: str
    ) -> None:
        self.column, self.what, self.count, self.advice = column, what, count, advice
        self.rows = tuple(rows)
        places = ", ".join(str(row) for row in self.rows) + (
            ", …" if count > len(self.rows) else ""
        )
        noun = "cell" if count == 1 else "cells"
        super().__init__(
            f"Column {column!r} has {count} {what} {noun}, first in data "
            f"row{'s' if len(self.rows) > 1 else ''} {places}. {advice}"
        )


def nearest(word: str, words: Sequence[str]) -> str:
    """Close a sentence with the nearest known word, or with all of them."""
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.6) or [
        known for known in words if known.lower() == word.lower()
    ]
    if close:
        return f". Did you mean {close[0]!r}?"
    listed = ", ".join(map(repr, words[:12])) + (", …" if len(words) > 12 else "")
    return f". Known: {listed}." if words else "."
