"""Tables and graphs for the tests of heterogeneous generalization."""

from __future__ import annotations

import numpy as np
import polars as pl

import shoal
from shoal.datasets.census import census
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import Coded, code_table

GREEDY = shoal.methods.Freeform(assignment="greedy")
SORT = shoal.methods.Freeform(assignment="sort")
EXACT = shoal.methods.Freeform()
ALL = (GREEDY, SORT, EXACT)

PAPER = pl.DataFrame(
    {"age": [59, 57, 39, 28, 41, 37, 40, 53], "salary": [25, 27, 47, 41, 20, 59, 35, 34]}
)


def people(rows: int) -> pl.DataFrame:
    """The quasi columns of the embedded census: two numeric ones and a categorical one."""
    return census(rows).select("age", "birthplace", "occupation")


def random_table(n: int, seed: int, columns: int = 3) -> pl.DataFrame:
    """A table of numbers and labels with ties, constant columns and many labels."""
    rng = np.random.default_rng(seed)
    frame = {}
    for c in range(columns):
        values = rng.integers(0, int(rng.choice([1, 2, 5, 70, 400])), n)
        frame[f"c{c}"] = values if rng.random() < 0.5 else [f"v{v:04}" for v in values]
    return pl.DataFrame(frame)


def coded(frame: pl.DataFrame) -> Coded:
    return code_table(frame, shoal.Schema(quasi=frame.columns))


def graph(
    frame: pl.DataFrame,
    k: int,
    method: shoal.methods.Freeform | shoal.methods.Ring = EXACT,
    seconds: float | None = 0.0,
) -> shoal.results.GeneralizationGraph:
    """The graph of a method, improved for some seconds (None: as long as it thinks best)."""
    asked = tuple(requirements(shoal.principles.KAnonymity(k=k), []))
    return method.search(Task(coded(frame), asked, seconds=seconds))


def kinds(frame: pl.DataFrame) -> list[str]:
    return ["interval" if frame[name].dtype.is_numeric() else "set" for name in frame.columns]
