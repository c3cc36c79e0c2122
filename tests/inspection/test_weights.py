"""Weights: those of surveys are told from those of bodies, or their owner is asked."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.inspection.advise import weighing


def column(name: str, low: float, high: float, *others: str, whole: bool = False) -> Any:
    chance = random.Random(2)
    cells = [round(chance.uniform(low, high), 0 if whole else 4) for _ in range(200)]
    if whole:
        cells = [int(cell) for cell in cells]
    beside = {other: [row % 7 for row in range(200)] for other in others}
    table = pl.DataFrame({name: cells, "age": [20 + row % 50 for row in range(200)], **beside})
    return next(one for one in shoal.inspect(table).columns if one.name == name)


@pytest.mark.parametrize("name", ["weight", "Gewicht", "poids", "peso", "wt"])
@pytest.mark.parametrize(("low", "high"), [(0.3, 3.2), (0.5, 1.5), (200, 4000)])
def test_numbers_that_no_body_has_are_asked_about(name: str, low: float, high: float) -> None:
    found = column(name, low, high)
    assert (found.role, found.offer) == (None, "survey-weight")
    assert "survey weight" in str(found.question)


@pytest.mark.parametrize("name", ["weight", "Gewicht", "poids", "peso"])
def test_kilograms_are_asked_about_beside_columns_of_a_survey_alone(name: str) -> None:
    assert column(name, 45, 120).offer is None
    assert column(name, 45, 120, "stratum").offer == "survey-weight"
    assert column(name, 45, 120, "stratum", whole=True).offer is None
    assert column(name, -1, 3).offer is None


@pytest.mark.parametrize("name", ["birth_weight", "body weight", "ideal_weight"])
def test_weights_of_bodies_are_none_of_surveys(name: str) -> None:
    assert column(name, 0.5, 3.0).offer is None
    assert weighing(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "survey_weight",
        "final_wt",
        "gewicht_design",
        "poids_sondage",
        "peso_muestral",
        "Hochrechnungsfaktor",
        "fnlwgt",
        "calib_weight",
        "Designgewicht",
        "pondération",
        "hhweight",
        "PERWT",
        "Haushaltsgewicht",
    ],
)
def test_a_name_tells_a_survey_weight(name: str) -> None:
    assert weighing(name)
    said = column(name, 40, 90)
    assert "survey weight" in said.why
    assert said.offer == "survey-weight"  # who leaves it out unasked counts wrongly
