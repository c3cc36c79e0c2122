"""What every principle keeps, whatever it is about; a new one inherits this and names itself."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.notation import parse
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

TRIES = 25
LEVELS = 1e-9


class PrincipleContract:
    """The contract; `asked` is the principle at a level that some groups keep and others do not."""

    asked: Any
    labels = False  # whether the sensitive column has labels, and not numbers

    def value(self, chance: np.random.Generator, rows: int) -> Sensitive | None:
        """Draw a sensitive column with ties and extremes."""
        if self.asked.columns == 0:
            return None
        drawn = chance.choice([0, 1, 1, 2, 3, 5, 8, 13, 400], rows)
        cells = [f"v{one}" for one in drawn] if self.labels else drawn.tolist()
        return Sensitive.of((code_column(pl.Series("s", cells)),))

    def cases(self) -> Any:
        """Draw tables in groups; a principle about a population gets people as well."""
        for seed in range(TRIES):
            chance = np.random.default_rng(seed)
            rows = int(chance.integers(1, 24))
            labels = np.unique(chance.integers(0, max(1, rows // 4), rows), return_inverse=True)[1]
            people = None
            if self.asked.population:
                people = np.bincount(labels) + chance.integers(0, 4, labels.max() + 1)
            yield chance, Groups(labels, people), self.value(chance, rows)

    def changed(self, value: Sensitive | None, rows: np.ndarray) -> Sensitive | None:
        """Return the same values in another order of rows."""
        if value is None:
            return None
        columns = tuple(
            code_column(one.spellings.gather(one.codes[rows]).rename(one.name), kind=self.kind(one))
            for one in value.columns
        )
        return Sensitive.of(columns)

    def kind(self, column: Any) -> str:
        return "numeric" if column.numeric else "categorical"

    def test_it_is_what_it_prints_and_cannot_be_changed(self):
        assert parse(repr(self.asked)) == self.asked
        assert hash(parse(repr(self.asked))) == hash(self.asked)
        for one in fields(self.asked):
            with pytest.raises(AttributeError):
                setattr(self.asked, one.name, 1)

    def test_some_groups_keep_it_and_others_do_not(self):
        verdicts = {self.asked.measure(groups, value).holds for _, groups, value in self.cases()}
        assert verdicts == {True, False}

    def test_the_order_of_rows_and_the_numbers_of_groups_do_not_matter(self):
        for chance, groups, value in self.cases():
            before = self.asked.measure(groups, value)
            rows = chance.permutation(len(groups.labels))
            numbers = chance.permutation(len(groups))
            people = None
            if groups.matches is not None:
                people = np.empty_like(groups.matches)
                people[numbers] = groups.matches
            other = Groups(numbers[groups.labels][rows], people)
            after = self.asked.measure(other, self.changed(value, rows))
            assert after.holds == before.holds
            assert after.risk == pytest.approx(before.risk, rel=1e-9)

    def test_a_group_under_the_least_size_never_holds(self):
        for _, groups, value in self.cases():
            if groups.sizes.min() < self.asked.least:
                assert not self.asked.measure(groups, value).holds

    def test_what_survives_the_union_of_groups_says_so_truly(self):
        if not self.asked.monotone or self.asked.population:
            return  # the description of a union takes in people; see the tests of populations
        for _, groups, value in self.cases():
            if self.asked.measure(groups, value).holds:
                whole = Groups(np.zeros_like(groups.labels))
                assert self.asked.measure(whole, value).holds

    def test_the_strongest_level_holds_and_as_much_or_less_is_kept_exactly_then(self):
        found = 0
        for _, groups, value in self.cases():
            best = self.asked.strongest(groups, value)
            if best is None:
                assert not self.asked.measure(groups, value).holds
                continue
            found += 1
            assert type(best) is type(self.asked)
            assert best.measure(groups, value).holds, (best, groups.labels)
            if self.asked.measure(groups, value).holds:
                better = [
                    (mine - asked if name not in best.looser else asked - mine) >= -LEVELS
                    for name, mine, asked in zip(
                        best.graded, best.levels, self.asked.levels, strict=True
                    )
                ]
                assert any(better), (best, self.asked)
        assert found

    def test_its_risk_is_a_chance_or_says_what_it_is(self):
        assert self.asked.chance != bool(self.asked.scale)

    def test_it_promises_in_words(self):
        said = self.asked.promise("pay")
        assert said.endswith(".")
        assert "--" not in said
        in_days = self.asked.promise_in("pay", "days")
        assert re.sub(r" days?\b", "", in_days) == said

    def test_it_names_its_source_and_is_public(self):
        assert self.asked.source
        assert getattr(shoal.principles, type(self.asked).__name__) is type(self.asked)
