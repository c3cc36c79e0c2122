"""Simulated people whose values follow the model, and what is published of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl

import shoal

QUASI = ["age", "hours", "sex"]
TRUTH = {"Intercept": 9.0, "age": 0.02, "hours": 0.015, "C(sex)[T.2]": -0.3}


def simulated(rows: int, seed: int) -> pl.DataFrame:
    """Return people whose log income is linear in their quasi columns, with normal errors."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(18, 75, rows), random.integers(1, 3, rows)
    hours = np.clip(random.normal(40, 10, rows).round(), 1, 80).astype(np.int64)
    mean = 9.0 + 0.02 * age + 0.015 * hours - 0.3 * (sex == 2)
    income = np.round(np.exp(mean + random.normal(0, 0.5, rows))).astype(np.int64)
    return pl.DataFrame({"age": age, "hours": hours, "sex": sex, "income": income})


def published(table: pl.DataFrame, epsilon: float, **options: Any) -> shoal.Release:
    """Publish a table as two tables, by a method that leaves the likelihood exact."""
    asked: dict[str, Any] = {"method": "Oblivious()", "form": "two-tables", "seed": 1} | options
    schema = asked.pop("schema", shoal.Schema(quasi=QUASI, sensitive="income"))
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=4)
    return shoal.anonymize(table, schema, require=require, **asked)


@cache
def release() -> shoal.Release:
    """Return a release from which much can be concluded."""
    return published(simulated(900, 1), 800)
