"""The tables that stand in for those of the papers, and one measured release of them."""

from __future__ import annotations

import sys
import time
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
from common import READABLE, gcp, load, yardstick

import shoal
from shoal.errors import NotAchievable
from shoal.methods.base import Method, Task
from shoal.principles.requirement import requirements
from shoal.table.coded import Coded, code_table
from shoal.utility.columns import Intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from shoal.principles.base import Principle
    from shoal.principles.groups import Groups

T = TypeVar("T")
PAPER = shoal.methods.Split(partition="round-robin")
EM_METHODS = {
    "Split, round-robin": PAPER,
    "Split": shoal.methods.Split(),
    "Exchange": shoal.methods.Exchange(),
}
XC_METHODS = {"XColor": shoal.methods.XColor(), "Exchange": shoal.methods.Exchange()}

# The survey's codes under the taxonomies of XC, two levels above the labels at most (Table III).
TAXONOMIES: dict[str, Any] = {
    "sex": {"anybody": ["1", "2"]},
    "marital": {"anybody": [{"married": ["1"]}, {"no longer": ["2", "3", "4"]}, {"never": ["5"]}]},
    "race": {
        "anybody": [
            {"white": ["1"]},
            {"black": ["2"]},
            {"native": ["3", "4", "5"]},
            {"asian or pacific": ["6", "7"]},
            {"other or mixed": ["8", "9"]},
        ]
    },
}


@dataclass(frozen=True, eq=False)
class Subject:
    """A table with its roles, and where it is from."""

    frame: pl.DataFrame
    schema: shoal.Schema
    source: str

    def release(self, require: Principle, method: Method) -> shoal.Release | None:
        """Publish the table, or return None where the method does not reach the requirement."""
        try:
            return shoal.anonymize(self.frame, self.schema, require=require, method=method)
        except NotAchievable:
            return None

    def seconds(self, require: Principle, method: Method) -> float | None:
        """Return the processor's seconds of a search on the coded table, None where it fails.

        The best of three where the first one takes less than a second.
        """
        coded = code_table(self.frame, self.schema)
        _ = coded.space
        task = Task(coded, tuple(requirements(require, self.schema.sensitive)))
        took: list[float] = []
        while not took or (max(took) < 1 and len(took) < 3):
            try:
                took.append(clocked(partial(method.search, task))[1])
            except NotAchievable:
                return None
        return min(took)

    @cached_property
    def lexsort(self) -> float:
        """The processor's seconds of numpy.lexsort over the quasi columns."""
        return yardstick(self.frame, list(self.schema.quasi), now=time.process_time)

    def timed(self, require: Principle, method: Method) -> dict[str, float | None]:
        """Return the seconds of a search, and as a multiple of numpy.lexsort."""
        seconds = self.seconds(require, method)
        return {"seconds": seconds, "lexsorts": seconds and seconds / self.lexsort}


def clocked(work: Callable[[], T]) -> tuple[T, float]:
    """Return what some work finds, and the processor's seconds that it takes.

    What is over before the clock moves is done again until it can be read.
    """
    runs, start = 0, time.process_time()
    while True:
        found = work()
        runs += 1
        took = time.process_time() - start
        if took >= READABLE:
            return found, took / runs


def loss(coded: Coded, found: Groups | shoal.results.GeneralizationGraph) -> float:
    """Return the global certainty penalty of what a method found."""
    return found.gcp if isinstance(found, shoal.results.GeneralizationGraph) else gcp(coded, found)


def errors(questions: shoal.measures.CountQueries, source: Any) -> dict[str, float | None]:
    """Return how far answers are off, None where there is nothing to ask.

    `even` is the mean error of the papers' estimator, which spreads rows evenly over their cells.
    The other three are by Shoal's, which takes cells several times as wide as usual to be widened
    by one member.
    """
    if source is None:
        return {"mean": None, "median": None, "p95": None, "even": None}
    error = questions.error(source)
    even = questions.compare(evenly(shoal.measures.queryable(source))).mean
    return {"mean": error.mean, "median": error.median, "p95": error.p95, "even": even}


def evenly(answers: Any) -> Any:
    """Return what answers count queries with its rows spread evenly over their cells.

    It is a copy: a release keeps what answers it, and is asked again.
    """
    answers = copy(answers)
    if hasattr(answers, "quasi"):
        vars(answers)["quasi"] = {
            name: replace(column, gathered=None) if isinstance(column, Intervals) else column
            for name, column in answers.quasi.items()
        }
    return answers


def salaries(rows: int) -> Subject:
    """Return what stands in for SAL of EM: ages 16 to 93, incomes from 1,000 to 100,000."""
    frame, source = load("sal_acs2024_500k.csv.gz", rows)
    schema = shoal.Schema(quasi=["age", "puma", "occupation"], sensitive="income")
    return Subject(frame, schema, source)


def lives(rows: int) -> tuple[Subject, tuple[float, ...]]:
    """Return what stands in for SAL of XC, and the weights of its sensitive columns.

    Incomes are in steps of 2,000, which makes about the 50 values of the paper's Table III. Sex,
    marital status and race are categories with taxonomies, as there. Work class is a taxonomy
    there and the number of its code here: a distance between two classes is the difference of
    their codes. Synthetic tables have fewer columns: two sensitive ones, and two quasi columns, of
    which one is put under a taxonomy.
    """
    frame, source = load("sal_acs2024_500k.csv.gz", rows)
    frame = frame.with_columns(pl.col("income") // 2000)
    if "education" not in frame.columns:
        schema = shoal.Schema(
            quasi=["age", "puma"],
            sensitive=["occupation", "income"],
            hierarchies={"puma": "Grouped(size=8)"},
        )
        return Subject(frame, schema, source), (0.5, 0.5)
    schema = shoal.Schema(
        quasi=["age", *TAXONOMIES],
        sensitive=["education", "workclass", "income"],
        hierarchies=TAXONOMIES,
    )
    return Subject(frame, schema, source), (0.4, 0.2, 0.4)


def people(rows: int) -> Subject:
    """Return the census table of HK: all but the income as quasi columns."""
    frame, source = load("census_acs2024_50k.csv.gz", rows)
    quasi = [name for name in frame.columns if name != "income"]
    return Subject(frame, shoal.Schema(quasi=quasi), source)
