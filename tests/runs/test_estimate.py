"""What a dry run says of time: within a factor of two, by searching samples."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.datasets.census import census
from shoal.methods.base import Method, Task
from shoal.runs import estimate
from shoal.runs.estimate import search_seconds
from shoal.runs.run import Run

SCHEMA = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")


class Clockwork(Method):
    """A method whose search takes as long as it is told, by a clock of its own."""

    def __init__(self, unit: float, power: float, noise: float, seed: int) -> None:
        self.unit, self.power, self.noise = unit, power, noise
        self.chance, self.time = np.random.default_rng(seed), 0.0
        self.sizes: list[int] = []

    def now(self) -> float:
        return self.time

    def takes(self, rows: int) -> float:
        return self.unit * (rows / 1000) ** self.power

    def search(self, task: Task) -> Any:
        rows = len(task.coded)
        self.sizes.append(rows)
        self.time += self.takes(rows) * self.chance.uniform(1, 1 + self.noise)


@pytest.fixture(scope="module")
def task() -> Task:
    return Run(schema=SCHEMA, require="EpsilonM(epsilon=2000, m=5)").ready(census(40_000))[0]


@pytest.mark.parametrize("power", [1.0, 1.2, 1.5, 2.0])
@pytest.mark.parametrize("unit", [0.0001, 0.02, 0.5, 4.0])
def test_an_estimate_is_within_a_factor_of_two(task, unit, power):
    for seed in range(3):
        method = Clockwork(unit, power, 0.15, seed)
        found = search_seconds(method, task, method.now)
        assert 0.5 < found / method.takes(len(task.coded)) < 2
        # Samples end where they begin to take long, whatever the whole table would take.
        sizes = sorted(set(method.sizes))
        assert len(sizes) >= estimate.FEWEST
        assert all(
            method.takes(size) <= estimate.ENOUGH for size in sizes[estimate.FEWEST - 1 : -1]
        )


def test_an_estimate_of_a_real_search_is_within_a_factor_of_two(monkeypatch):
    """By the processor's own clock, which other work on the machine does not move much."""
    monkeypatch.setattr(estimate, "ENOUGH", 0.05)  # so that there is something to continue
    hard = "EpsilonM(epsilon=6000, m=5)"  # nearer the limit, sizes that fail come and go
    task, method = Run(schema=SCHEMA, require=hard, method="Exchange()").ready(census(4000))
    ratios = []
    for _ in range(3):
        found = search_seconds(method, task, time.process_time)
        begun = time.process_time()
        method.search(task)
        ratios.append(found / (time.process_time() - begun))
        if 0.5 < ratios[-1] < 2:
            return
    pytest.fail(f"estimates were {ratios} times what the search took")


def test_a_table_smaller_than_a_sample_is_searched_whole_and_a_sample_may_fail():
    facts = Run(table=census(60), schema=SCHEMA, require="EpsilonM(epsilon=2000, m=3)").rehearse()
    assert facts["seconds"] >= 1
    # No sample of a value that few rows have reaches what the whole table does.
    facts = Run(
        table=census(3000), schema=SCHEMA, require="EpsilonM(epsilon=7000, m=5)", method="Split()"
    ).rehearse()
    assert facts["seconds"] >= 1


@pytest.mark.parametrize("at", [250, 1000, 4000])
def test_code_that_a_larger_sample_loads_is_not_taken_for_work(task: Task, at: int) -> None:
    class Loading(Clockwork):
        def takes(self, rows: int) -> float:
            first = rows == at and self.sizes.count(at) == 1
            return super().takes(rows) + 30 * first

    method = Loading(0.02, 1.2, 0.1, 1)
    found = search_seconds(method, task, method.now)
    assert 0.5 < found / method.takes(len(task.coded)) < 2
