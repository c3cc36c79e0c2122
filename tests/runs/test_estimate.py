"""What a dry run says of time: within a factor of two, by searching samples."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.datasets.census import census
from shoal.methods.base import Method, Task
from shoal.runs import estimate
from shoal.runs.estimate import search_seconds
from shoal.runs.run import Run
from shoal.views.whole import WORDS

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
        # Those of a search that takes far longer yet are a little longer too.
        most = method.takes(len(task.coded)) * estimate.SHARE * 2  # the estimate is off by that
        most = min(estimate.PLENTY, max(estimate.ENOUGH, most))
        assert all(method.takes(size) <= most for size in sizes[estimate.FEWEST - 1 : -1])


class Phased(Clockwork):
    """A search whose last groups are sought among all others: little work, until it is most."""

    def takes(self, rows: int) -> float:
        return sum(self.phases(rows).values())

    def phases(self, rows: int) -> dict[str, float]:
        thousands = rows / 1000
        return {
            "repair": 0.3 * thousands,
            "seek": self.unit * thousands**self.power,
            "improve": 0.07 * thousands**1.1,
        }

    def search(self, task: Task) -> Any:
        self.sizes.append(len(task.coded))
        for phase, seconds in self.phases(len(task.coded)).items():
            for share in (0.0, 0.5):
                task.progress(phase, share)
                self.time += seconds / 2 * self.chance.uniform(1, 1 + self.noise)


@pytest.mark.parametrize("power", [1.0, 2.0, 2.2])
@pytest.mark.parametrize("unit", [0.0, 0.01, 0.1, 1.0])
def test_a_phase_that_outgrows_the_others_is_continued_by_itself(task, unit, power):
    for seed in range(5):
        method = Phased(unit, power, 0.15, seed)
        found = search_seconds(method, task, method.now)
        assert 0.6 < found / method.takes(len(task.coded)) < 1.7
        # No sample but the last is of more work than may be done before.
        assert all(method.takes(size) <= estimate.PLENTY for size in sorted(method.sizes)[:-1])


def test_a_search_near_the_limit_tells_what_it_takes_by_phase():
    """Of the last wrong groups, those that see all others: a phase, as long as it takes."""
    hard = "EpsilonM(epsilon=7900, m=5)"
    _, task, method = Run(schema=SCHEMA, require=hard, method="Exchange()").ready(census(2000))
    told: list[tuple[str, float]] = []
    method.search(replace(task, progress=lambda phase, share: told.append((phase, share))))
    shares = [share for phase, share in told if phase == "seek"]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] < 1
    assert {phase for phase, _ in told} <= WORDS.keys()


def test_an_estimate_of_a_real_search_is_within_a_factor_of_two(monkeypatch):
    """By the processor's own clock, which other work on the machine does not move much."""
    monkeypatch.setattr(estimate, "ENOUGH", 0.05)  # so that there is something to continue
    hard = "EpsilonM(epsilon=6000, m=5)"  # nearer the limit, sizes that fail come and go
    _, task, method = Run(schema=SCHEMA, require=hard, method="Exchange()").ready(census(4000))
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
