"""What exposed columns show of people, and the verdict: the definitions, slowly, without shoal.

A published table is a list of rows, dictionaries of texts (None where a cell is missing), with
``group``, its quasi columns, and maybe ``person`` and ``real``. Columns of linked tables are
called by both names. A reader who knows some cells of a person takes it for its candidates:

- people of one group (``alone``) or with equal quasi cells (all else), and with equally many rows
  in every table where these are known;
- whose rows can be paired so that cells of exposed columns are alike: spelled alike, or numbers
  at most ``near`` apart.

Of the n rows of a group in a series r are real, and no reader knows which: every choice of r rows
with the person among them is tried, and the worst counts. Candidates are those of one group there.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Row = Mapping[str, Any]
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Person:
    """Where a person stands, and its rows in every table."""

    group: Any
    quasi: tuple[Any, ...]
    rows: Mapping[str, Sequence[Row]]
    real: int | None = None

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows the person has in each table."""
        return tuple(len(self.rows[name]) for name in sorted(self.rows))


@dataclass(frozen=True)
class Published:
    """Published tables, exposed columns (True: nobody knows them), and what is required.

    ``required`` says of values whether two are near, and how large a share of candidates may have
    one near to a value of theirs; by column.
    """

    rows: Sequence[Row]
    quasi: Sequence[str]  # of `beside`, where there is one
    said: Mapping[str, bool]
    threshold: Fraction
    near: Mapping[str, Fraction] = field(default_factory=dict)
    known: bool = True
    linked: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    beside: Sequence[Row] | None = None
    required: Mapping[str, tuple[Callable[[Any, Any], bool], Fraction]] = field(
        default_factory=dict
    )


def people_of(
    rows: Sequence[Row], quasi: Sequence[str], linked: Mapping[str, Sequence[Row]]
) -> list[Person]:
    """Return everybody; without a person column every row is somebody by itself."""
    own: dict[Any, list[Row]] = {}
    for place, row in enumerate(rows):
        own.setdefault(row.get("person", place), []).append(row)
    return [
        Person(
            some[0]["group"],
            tuple(some[0][name] for name in quasi),
            {"": some}
            | {
                name: [row for row in table if row[f"{name}.person"] == who]
                for name, table in linked.items()
            },
            None if "real" not in some[0] else int(some[0]["real"]),
        )
        for who, some in own.items()
    ]


def alike(one: Person, other: Person, names: Collection[str], near: Mapping[str, Fraction]) -> bool:
    """Return whether the rows of two people can be paired so that all cells are alike."""
    for table in one.rows:
        own = [name for name in names if _table_of(name, one.rows) == table]
        if not own:
            continue
        first, second = one.rows[table], other.rows[table]
        if len(first) != len(second):
            return False
        if not any(
            all(
                _same(a[name], b[name], near.get(name))
                for a, b in zip(first, order, strict=True)
                for name in own
            )
            for order in permutations(second)
        ):
            return False
    return True


def _table_of(name: str, tables: Iterable[str]) -> str:
    return next((one for one in tables if one and name.startswith(f"{one}.")), "")


def _same(a: Any, b: Any, near: Fraction | None) -> bool:
    if a == b:
        return True
    numbers = [NUMBER.fullmatch(cell) for cell in (a, b) if isinstance(cell, str)]
    if near is None or len(numbers) < 2 or None in numbers:
        return False
    return abs(Fraction(a) - Fraction(b)) <= near


@dataclass(frozen=True)
class Side:
    """People, and whom each may be taken for."""

    everybody: Sequence[Person]
    key: Callable[[Person], Any]
    near: Mapping[str, Fraction]

    def mates(self, one: Person) -> list[Person]:
        """Return those a person may be taken for by the quasi cells, itself among them."""
        return [other for other in self.everybody if self.key(other) == self.key(one)]

    def choices(self, one: Person) -> Iterator[list[Person]]:
        """Yield those who may be real, the person among them."""
        if one.real is None:
            yield list(self.everybody)
            return
        others = [
            other for other in self.everybody if other.group == one.group and other is not one
        ]
        for some in combinations(others, one.real - 1):
            yield [one, *some]

    def shares(self, one: Person, names: Collection[str]) -> list[tuple[int, int]]:
        """Return how many of its real candidates are alike, and how many there are, by choice."""
        found = []
        for real in self.choices(one):
            mates = [mate for mate in real if self.key(mate) == self.key(one)]
            found.append((sum(alike(one, mate, names, self.near) for mate in mates), len(mates)))
        return found

    def inferred(self, one: Person, name: str) -> list[tuple[int, int]]:
        """Return the same of a column, and how many have a cell of the person in any of their rows.

        Each cell of the person's rows counts by itself.
        """
        table = _table_of(name, one.rows)
        found = self.shares(one, [name])
        for cell in {row[name] for row in one.rows[table]}:
            for real in self.choices(one):
                mates = [mate for mate in real if self.key(mate) == self.key(one)]
                having = sum(
                    any(_same(cell, row[name], self.near.get(name)) for row in mate.rows[table])
                    for mate in mates
                )
                found.append((having, len(mates)))
        return found

    def fewest(self, one: Person, names: Collection[str]) -> int:
        """Return how many real candidates are alike at least."""
        return min(found for found, _ in self.shares(one, names))

    def count(self, which: Callable[[Person], bool]) -> int:
        """Count people; of a group in a series, at most the real ones."""
        found: dict[Any, list[int]] = {}
        for one in self.everybody:
            real = len(self.everybody) if one.real is None else one.real
            found.setdefault(one.group, [real, 0])[1] += which(one)
        return sum(min(real, counted) for real, counted in found.values())

    def people(self) -> int:
        """Count the real people."""
        return self.count(lambda _: True)


def measure(given: Published) -> dict[str, Any]:
    """Return what a manifest says, shares and chances as rationals."""
    known = [name for name, nobody in given.said.items() if not nobody]
    people = people_of(given.rows, given.quasi if given.beside is None else (), given.linked)

    def kind(one: Person) -> Any:
        """Return what candidates share beside quasi cells."""
        return one.counts if given.known else None, one.real is not None and one.group

    group = Side(people, lambda p: (p.group, kind(p)), given.near)
    cells = Side(people, lambda p: (p.quasi, kind(p)), given.near)
    if given.beside is None:
        sides, exposed = [(group, cells, list(given.said))], known
        found = _worst([(cells, known)])
        by_quasi = cells
    else:
        apart = people_of(given.beside, given.quasi, {})
        shown = [name for name in given.said if name in given.beside[0]]
        of_group = Side(apart, lambda p: p.group, given.near)
        by_quasi = Side(apart, lambda p: (p.quasi, kind(p)), given.near)
        values = [name for name in given.said if name not in shown]
        sides = [(of_group, by_quasi, shown), (group, group, values)]
        parts = [(by_quasi, [name for name in known if name in shown])]
        exposed = [name for name in known if name in values]
        if exposed:
            parts.append((group, exposed))
        found = _worst(parts)
    everybody = by_quasi.people()
    quasi = Fraction(1, min(by_quasi.fewest(one, ()) for one in by_quasi.everybody))
    limit = max(given.threshold, quasi)
    learned = _learned(given, group, exposed) if exposed else {}
    columns = {
        name: _column(of_group, of_cells, name)
        for of_group, of_cells, names in sides
        for name in names
    }
    return {
        "alone": {name: columns[name][0] for name in given.said},
        "inferred": {
            name: tuple(Fraction(n, everybody) for n in columns[name][1:]) for name in given.said
        },
        "quasi": quasi,
        "largest": max(found),
        "above": Fraction(sum(chance > limit for chance in found), everybody),
        "learned": {name: Fraction(n, everybody) for name, n in learned.items()},
    }


def verdict(found: Mapping[str, Any], *, holds: bool) -> str:
    """Return the verdict on what was measured."""
    if not holds:
        return "does-not-hold"
    if found["above"] > Fraction(5, 100) or any(found["learned"].values()):
        return "holds-with-open-questions"
    return "holds"


def _column(group: Side, cells: Side, name: str) -> tuple[int, int, int]:
    return (
        group.count(lambda p: group.fewest(p, [name]) == 1),
        cells.count(lambda p: any(same == all_ for same, all_ in cells.inferred(p, name))),
        cells.count(lambda p: any(2 * same > all_ for same, all_ in cells.inferred(p, name))),
    )


def _worst(parts: Sequence[tuple[Side, Collection[str]]]) -> list[Fraction]:
    """Return people's chances of being found: of each group as many as it has people, the worst."""
    found: dict[Any, list[Fraction]] = {}
    for side, names in parts:
        for one in side.everybody:
            found.setdefault(one.group, []).append(Fraction(1, side.fewest(one, names)))
    first = parts[0][0].everybody
    there = {
        group: sum(one.group == group for one in first) for group in {one.group for one in first}
    }
    there |= {one.group: one.real for one in first if one.real is not None}
    return [
        chance
        for group, chances in found.items()
        for chance in sorted(chances, reverse=True)[: there[group]]
    ]


def _learned(given: Published, side: Side, names: Collection[str]) -> dict[str, int]:
    """Count the people of groups among whom a requirement breaks, by exposed cells as spelled."""
    broken = {}
    for column, (close, bound) in given.required.items():
        people = 0
        for one in side.everybody:
            mates = [mate for mate in side.mates(one) if alike(one, mate, names, {})]
            table = _table_of(column, one.rows)
            values = [{row[column] for row in mate.rows[table]} for mate in mates]
            most = max(
                (
                    sum(any(close(u, v) for u in theirs) for theirs in values)
                    for some in values
                    for v in some
                ),
                default=0,
            )
            people += Fraction(most, len(mates)) > bound
        broken[column] = min(people, side.people())
    return broken


def published(directory: Path, required: Mapping[str, Any]) -> Published:
    """Return the tables of a release directory, read with csv and json alone."""
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    stems = ["people", "values"] if manifest["form"] == "two-tables" else ["release"]
    tables = [_read(directory / f"{stem}.csv") for stem in stems]
    quasi = [one["name"] for one in manifest["columns"] if one["role"] == "quasi"]
    columns = [(one["name"], one) for one in manifest["columns"]]
    linked = {}
    for name, said in manifest.get("tables", {}).items():
        rows = _read(directory / f"{name}.csv")
        linked[name] = [{f"{name}.{key}": cell for key, cell in row.items()} for row in rows]
        columns += [(f"{name}.{one['name']}", one) for one in said["columns"]]
    shown = [
        name for name in tables[0][0] if name.removesuffix("_low").removesuffix("_high") in quasi
    ]
    return Published(
        tables[-1],
        shown,
        {
            name: one.get("said") == "nobody"
            for name, one in columns
            if one["role"] in {"sensitive", "other"}
            and name not in required
            and "survey_weight" not in one
        },
        Fraction(str(manifest["threshold"])),
        {name: Fraction(str(one["near"])) for name, one in columns if "near" in one},
        manifest.get("rows_known", True),
        linked,
        tables[0] if len(tables) == 2 else None,
        required,
    )


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: cell or None for key, cell in row.items()} for row in csv.DictReader(file)]
