"""What every method keeps; a new one inherits this and says what it serves."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.methods.base import Method
from shoal.notation import parse
from shoal.principles.groups import Groups

TRIES = 12
SCHEMA = shoal.Schema(quasi=["age", "town", "height"], sensitive="pay")


class MethodContract:
    """The contract; `serves` are requirements it can search for, `refuses` one that it cannot."""

    method: Any
    serves: tuple[str, ...]
    refuses: str | None

    def tables(self) -> Any:
        """Draw small tables with ties, duplicates and a constant column now and then."""
        for seed in range(TRIES):
            chance = np.random.default_rng(seed)
            rows = int(chance.integers(6, 40))
            yield pl.DataFrame(
                {
                    "age": chance.integers(18, 18 + int(chance.integers(1, 60)), rows),
                    "town": chance.choice(["a", "b", "c", "d"], rows),
                    "height": chance.choice([1.5, 1.6, 1.75, 250.0], rows),
                    "pay": chance.integers(0, 5000, rows),
                }
            )

    def runs(self) -> Any:
        for place, table in enumerate(self.tables()):
            require = self.serves[place % len(self.serves)]
            yield shoal.results.Run(
                table=table, schema=SCHEMA, require=require, method=self.method, seed=1
            )

    def test_it_is_what_it_prints(self):
        assert parse(repr(self.method)) == self.method
        assert Method.read(repr(self.method)) == self.method
        assert self.method.source

    def test_what_it_finds_holds_and_has_everybody_once_or_it_says_why_not(self):
        found = 0
        for run in self.runs():
            try:
                release = run.release()
            except shoal.NotAchievable as problem:
                assert str(problem).endswith(".")  # noqa: PT017 - most tables are achievable
                continue
            found += 1
            assert release.audit().holds
            assert sorted(release.linkage.tolist()) == list(range(run.table.height))
        assert found > TRIES // 3

    def test_every_row_is_in_one_group_and_no_group_is_empty(self):
        for run in self.runs():
            task = run.prepare(run.table).task
            try:
                found = self.method.search(task)
            except shoal.NotAchievable:
                continue
            assert len(found.labels if isinstance(found, Groups) else found) == run.table.height
            if isinstance(found, Groups):
                assert found.sizes.min() >= 1
                assert found.labels.min() == 0
                assert task.holds(found)

    def test_the_coded_table_is_left_as_it_was(self):
        run = next(iter(self.runs()))
        task = run.prepare(run.table).task
        columns = (*task.coded.quasi, *task.coded.sensitive)
        before = [column.codes.copy() for column in columns]
        try:
            self.method.search(task)
        except shoal.NotAchievable:
            pytest.fail("the first table has to be achievable, or nothing is tried here")
        assert all((old == new.codes).all() for old, new in zip(before, columns, strict=True))

    def test_what_it_cannot_search_for_is_refused_before_searching(self):
        if self.refuses is None:
            return  # it serves everything
        table = next(iter(self.tables()))
        run = shoal.results.Run(
            table=table, schema=SCHEMA, require=self.refuses, method=self.method
        )
        with pytest.raises(shoal.UsageError, match=type(self.method).__name__):
            run.rehearse()
