"""A principle together with the sensitive columns it is about, and how both are written."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shoal.errors import UnknownColumn, UsageError, option
from shoal.exact import at_most
from shoal.notation import parse
from shoal.principles.base import Principle
from shoal.principles.groups import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shoal.principles.groups import GuessBound


MOST = 1_000  # requirements: each is measured by itself


@dataclass(frozen=True)
class Requirement:
    """A principle, and the sensitive columns it is about (none named: all of them together)."""

    principle: Principle
    columns: tuple[str, ...] = ()
    # Whether the columns were asked for, and so belong to the notation.
    named: bool = field(default=True, compare=False)

    def __repr__(self) -> str:
        front = f"{'+'.join(self.columns)}: " if self.columns and self.named else ""
        return f"{front}{self.principle!r}"

    def promise(self, unit: str = "") -> str:
        """Say in plain words what it promises about its columns, a unit after each width."""
        said = self.principle.promise_in(" and ".join(self.columns), unit)
        if self.guess is None or self.principle.pairs is None:
            return said
        if not self.principle.pairs.by_distance:  # all others say it themselves
            return said
        other = self.guess.any
        if other >= 1:
            return f"{said} {UNLIMITED}"
        return f"{said.removesuffix('.')} (any other guess: at most {at_most(100 * other)}%)."

    @property
    def guess(self) -> GuessBound | None:
        """How guesses of its columns are bounded, None where it bounds none."""
        return self.principle.guess_of(len(self.columns))

    @property
    def binds(self) -> bool:
        """Whether it limits anything: what a group of one person meets by itself limits nothing."""
        return self.principle.least > 1 or not self.principle.by_itself

    def resolve(self, sensitive: Sequence[str], *linked: Sequence[str]) -> Requirement:
        """Name the columns it is about, and check that the principle fits them.

        Without names it is about all of the table, or where that has none, of the only linked table
        that has any.
        """
        tables = (sensitive, *linked)
        for name in self.columns:
            if not any(name in some for some in tables):
                known = [one for some in tables for one in some]
                raise UnknownColumn(name, known, "among the sensitive ones")
        if self.columns and not any({*self.columns} <= {*some} for some in tables):
            msg = (
                f"{self!r} takes columns of different tables together, and rows of one do not "
                "belong to rows of the other. Ask for each by itself."
            )
            raise UsageError(msg)
        alone = linked[0] if not sensitive and len(linked) == 1 else sensitive
        columns = self.columns or tuple(alone)
        if self.principle.columns == 0:
            return replace(self, columns=())
        if not columns:
            msg = (
                f"{self.principle!r} is about a sensitive column: name one with "
                f"{option('sensitive')}."
            )
            raise UsageError(msg)
        if self.principle.numeric and len(columns) > 1:
            name = columns[0]
            msg = (
                f"{self.principle!r} is about one numeric column, but there are {len(columns)}: "
                f"{', '.join(columns)}. Say which, as in '{name}: {self.principle!r}'."
            )
            raise UsageError(msg)
        return replace(self, columns=columns, named=self.named and bool(self.columns))


TERM = re.compile(r":\s*(?=[A-Za-z_]\w*\s*\()")

Require = Principle | Requirement | str


def requirements(
    require: Require | Iterable[Require],
    sensitive: Sequence[str],
    *linked: Sequence[str],
    files: bool = True,
) -> list[Requirement]:
    """Read one requirement or several, in Python or in the notation, and resolve their columns.

    What is required twice is returned once. `sensitive` are the columns of a table, `linked` those
    of the tables that are linked with it.
    Without `files`, one that would open a file is refused.
    """
    several = [require] if isinstance(require, Principle | Requirement | str) else list(require)
    if not several:
        msg = (
            "Nothing is required. Say what must hold: "
            f"{option('require', 'EpsilonM(epsilon=4500, m=5)')}."
        )
        raise UsageError(msg)
    if len(several) > MOST:
        msg = f"{len(several):,} requirements were given, and at most {MOST:,} are taken."
        raise UsageError(msg)
    every = [*sensitive, *(name for some in linked for name in some)]
    found = (
        read_requirement(one, every, files=files).resolve(sensitive, *linked) for one in several
    )
    return list(dict.fromkeys(found))


def asked_of(asked: Iterable[Requirement]) -> dict[str, bool]:
    """Return the columns that requirements are about, and whether any needs numbers there."""
    found: dict[str, bool] = {}
    for one in asked:
        numbers = one.principle.numbers_of(len(one.columns))
        for name, number in zip(one.columns, numbers, strict=True):
            found[name] = found.get(name, False) or number
    return found


def _parted(text: str, sensitive: Sequence[str], *, files: bool) -> tuple[str, str]:
    """Part the names of columns from the term behind them; names may hold any characters."""
    heads = [(text[: found.start()].strip(), text[found.end() :]) for found in TERM.finditer(text)]
    for names, term in heads:
        if names in sensitive or all(name.strip() in sensitive for name in names.split("+")):
            return names, term
    for names, term in heads:
        with suppress(UsageError):
            parse(term, files=files)
            return names, term
    return heads[0] if heads and "(" not in heads[0][0] else ("", text)


def read_requirement(one: Require, sensitive: Sequence[str], *, files: bool = True) -> Requirement:
    """Read one requirement as it is written; whether it fits the columns is not asked yet."""
    if isinstance(one, Requirement):
        return one
    if isinstance(one, Principle):
        return Requirement(one)
    names, tail = _parted(one, sensitive, files=files)
    columns = (
        (names,) if names in sensitive or not names else tuple(n.strip() for n in names.split("+"))
    )
    principle = parse(tail, files=files)
    if not isinstance(principle, Principle):
        msg = f"{tail.strip()} is a {principle.role}, but a requirement is needed here."
        raise UsageError(msg)
    return Requirement(principle, columns if names else ())


WITHOUT_POPULATION = (
    "{!r} is about a population: name the table of everyone who could be in the table with "
    f"{option('population')}."
)
NOT_OF_PEOPLE = (
    "{!r} cannot be used if several rows may be about one person. It limits a share of the people "
    "whom a description fits. If Shoal publishes only some of a person's rows, they fit other "
    "people. Require KMap instead, or publish one row of each person in a table without "
    f"{option('person')}."
)
NOT_OF_LINKED = (
    "{!r} cannot be used with linked tables if a reader may know how many rows a person has in "
    "each: the population table does not show these numbers. Leave the linked tables out, or state "
    f"that no reader knows them: {option('rows', 'unknown')}."
)


def check_population(asked: Iterable[Requirement], *, given: bool) -> None:
    """Raise where a requirement needs a population and there is none."""
    for one in asked:
        if one.principle.population and not given:
            raise UsageError(WITHOUT_POPULATION.format(one.principle))


def check_whose(asked: Iterable[Requirement], *, linked: bool, known: bool) -> None:
    """Raise where what is about a population has no meaning for people with several rows."""
    for one in asked:
        if one.principle.population and one.principle.disjoint:
            raise UsageError(NOT_OF_PEOPLE.format(one.principle))
        if one.principle.population and linked and known:
            raise UsageError(NOT_OF_LINKED.format(one.principle))
