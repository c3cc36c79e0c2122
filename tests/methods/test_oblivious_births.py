"""Births in a series by Oblivious(): a reader of two rounds who knows the method learns nothing.

Every assignment of the values to the people of both rounds is gone through, and in each of them
every way that chance may go in either round; the ledger is the product's own, the posterior the
oracle's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference import knowing
from shoal.principles.groups import Groups
from shoal.progress import silent
from shoal.release.layout import Randomness
from shoal.release.ledger import GROUP, WHO, Ledger
from shoal.runs.ledger import fixed_by, take_turn
from shoal.table.partition import renumber

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = shoal.Schema(quasi=["age", "zip"], sensitive="pay", person="who")
AGES = [30, 30, 41, 55, 20, 62]
ZIPS = [4, 9, 1, 36, 16, 25]
REFUSED = shoal.NotAchievable("Nothing is reached.")
FIRST, GONE = 4, 1  # people of the first round, and those of them who left before the second


class Scripted:
    """A method whose chance goes a way that is chosen beforehand, and which says how likely."""

    def __init__(self, method: Any) -> None:
        self.method = method
        self.script: list[int] = []
        self.ways: list[list[Any]] = []

    def search(self, task: Any) -> Any:
        """Search as the method does where chance goes as the script says."""
        alike: dict[tuple[int, ...], Any] = {}  # orders that lead to the same groups are one way
        for groups, chance in self.method.outcomes(task):
            labels = tuple(renumber(groups.labels).tolist())
            alike[labels] = groups, alike.get(labels, (None, Fraction(0)))[1] + chance
        found = list(alike.values())
        if not found:
            raise REFUSED
        place = len(self.ways)
        self.ways.append(found)
        return found[self.script[place] if place < len(self.script) else 0][0]


def two_rounds(world: tuple[int, ...], require: str, method: Any) -> list[int] | None:
    """Publish two rounds into a ledger; return everybody's group, -1 for who waits."""
    people = pl.DataFrame(
        {
            "who": [f"p{n}" for n in range(len(world))],
            "age": AGES[: len(world)],
            "zip": ZIPS[: len(world)],
            "pay": world,
        }
    )
    run = shoal.results.Run(table=people, schema=SCHEMA, require=require, method=method)
    columns = ["age", "zip", "pay"]
    ledger = Ledger.begin(fixed_by(run, columns), columns)
    for table in (people[:FIRST], people[GONE:]):
        try:
            take_turn(ledger, table, run, Randomness(), silent)
        except shoal.NotAchievable:
            return None
        ledger.rounds.append(None)  # type: ignore[arg-type]  # only that there was one is asked
    where = dict(zip(ledger.rows[WHO], ledger.rows[GROUP], strict=True))
    return [where.get(mark, -1) for mark in ledger.mark(people["who"])]


def scripts(scripted: Scripted, publish: Any) -> Iterator[tuple[list[int], Fraction]]:
    """Publish in every way that chance may go, each with its probability."""
    left: list[list[int]] = [[]]
    while left:
        scripted.script, scripted.ways = left.pop(), []
        done = publish()
        for place in range(len(scripted.script), len(scripted.ways)):
            head = scripted.script + [0] * (place - len(scripted.script))
            left += [[*head, other] for other in range(1, len(scripted.ways[place]))]
        taken = scripted.script + [0] * (len(scripted.ways) - len(scripted.script))
        chance = Fraction(1)
        for ways, place in zip(scripted.ways, taken, strict=True):
            chance *= ways[place][1]
        if done is not None:
            yield done, chance


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("require", "values"),
    [
        ("EpsilonM(epsilon=1, m=2)", [0, 0, 1, 5, 5, 5]),
        ("FrequencyL(l=2)", [1, 1, 1, 2, 2, 2]),
        pytest.param("Window(width=2, m=2)", [0, 0, 0, 7, 7, 30], marks=pytest.mark.long),
        pytest.param("EpsilonM(epsilon=2, m=2)", [0, 2, 2, 4, 9, 9], marks=pytest.mark.long),
    ],
)
def test_two_rounds_tell_a_reader_who_knows_the_method_the_groups_alone(
    require, values, monkeypatch
):
    scripted = Scripted(shoal.methods.Oblivious())
    monkeypatch.setattr(shoal.methods.Oblivious, "search", lambda _, task: scripted.search(task))
    tried = []

    def made(world: tuple[int, ...]) -> list[tuple[list[int], Fraction]]:
        found = list(
            scripts(scripted, lambda: two_rounds(world, require, shoal.methods.Oblivious()))
        )
        tried.append(len(found))
        return found

    assert knowing.distance_from_uniform(values, made) == 0
    assert sum(tried) >= 20  # ways in which something was published


def test_births_that_look_at_who_has_what_tell_more(monkeypatch):
    """The check can fail: here the first two share a group only where the first has less."""

    def telling(_: Any, task: Any) -> Groups:
        codes = task.values[0].codes
        pairs = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]] if len(codes) == 4 else [[0, 0]]
        apart = pairs[1:] + pairs[:1]
        for labels in pairs if codes[0] < codes[1] else apart:
            groups = Groups(np.array(labels))
            if task.holds(groups):
                return groups
        raise REFUSED

    monkeypatch.setattr(shoal.methods.Oblivious, "search", telling)

    def made(world: tuple[int, ...]) -> list[tuple[list[int], Fraction]]:
        found = two_rounds(world, "FrequencyL(l=2)", shoal.methods.Oblivious())
        return [] if found is None else [(found, Fraction(1))]

    assert knowing.distance_from_uniform([1, 1, 1, 2, 2, 2], made) == Fraction(1, 2)


def test_newcomers_do_not_wait_because_of_their_values():
    """A round in which nobody is born would tell that the newcomers of it have near values."""
    first = pl.DataFrame(
        {"who": list("abcd"), "age": [1, 2, 3, 4], "zip": [1] * 4, "pay": [1, 2, 1, 2]}
    )
    run = shoal.results.Run(
        table=first, schema=SCHEMA, require="FrequencyL(l=2)", method="Oblivious()"
    )
    columns = ["age", "zip", "pay"]

    def second(newcomers: list[int]) -> Any:
        ledger = Ledger.begin(fixed_by(run, columns), columns)
        take_turn(ledger, first, run, Randomness(), silent)
        ledger.rounds.append(None)  # type: ignore[arg-type]
        more = pl.DataFrame(
            {"who": list("xyz")[: len(newcomers)], "age": 5, "zip": 1, "pay": newcomers},
            schema=first.schema,
        )
        return take_turn(ledger, pl.concat([first, more]), run, Randomness(), silent)

    with pytest.raises(shoal.NotAchievable, match="does not let people wait because of"):
        second([7, 7])
    assert "not published yet" in second([7]).notes[0]  # one alone is too few in any case
    assert not second([7, 8]).notes
