"""A census-like table for trying things out: nobody in it exists."""

from __future__ import annotations

import numpy as np
import polars as pl

ROWS = 60_000
SEED = 20080609
BIRTHPLACES = (
    "Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ironwood", "Juniper",
    "Katsura", "Larch", "Maple", "Nutmeg", "Oak", "Pine", "Quince", "Rowan", "Spruce", "Teak",
    "Upas", "Viburnum", "Willow", "Yew",
)  # fmt: skip
OCCUPATIONS = 120


def census(rows: int = ROWS) -> pl.DataFrame:
    """Make the table: age, birthplace, occupation and yearly income.

    Incomes follow age (rising to the fifties, then falling) and occupation, are spread
    log-normally, and are rounded as people report them: to the hundred, above 20,000 mostly to
    the thousand, and often to the five thousand, so that equal incomes are common.
    """
    random = np.random.Generator(np.random.PCG64(SEED))
    age = np.clip(random.gamma(7.0, 6.0, rows) + 12, 16, 93).astype(int)
    place = random.choice(len(BIRTHPLACES), rows, p=_falling(len(BIRTHPLACES)))
    occupation = random.choice(OCCUPATIONS, rows, p=_falling(OCCUPATIONS))
    wage = random.permutation(np.linspace(np.log(18_000), np.log(62_000), OCCUPATIONS))
    career = 0.55 * np.exp(-(((age - 50) / 22) ** 2)) - 0.25
    income = np.exp(wage[occupation] + career + random.normal(0, 0.45, rows))
    step = np.select(
        [random.random(rows) < 0.35, (income > 20_000) & (random.random(rows) < 0.8)],
        [5_000, 1_000],
        100,
    )
    income = np.clip(np.round(income / step) * step, 1_000, 100_000).astype(int)
    return pl.DataFrame(
        {
            "age": age,
            "birthplace": np.array(BIRTHPLACES)[place],
            "occupation": 10 * (1 + random.permutation(OCCUPATIONS))[occupation],
            "income": income,
        }
    )


def _falling(count: int) -> np.ndarray:
    weights = 1 / (np.arange(count) + 4)
    return weights / weights.sum()
