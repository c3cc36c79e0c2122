"""A promise about dates names days, whether the schema or the cells say that they are dates."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

import shoal
from shoal.views.sentences import promised


def seen(rows: int = 60) -> list[str]:
    return [str(dt.date(2020, 1, 1) + dt.timedelta(days=9 * n)) for n in range(rows)]


@pytest.mark.parametrize("types", [{}, {"seen": "date"}])
@pytest.mark.parametrize("require", ["EpsilonM(epsilon=30, m=3)", "DeltaL(delta=30, l=3)"])
def test_widths_of_dates_are_in_days(types, require):
    table = pl.DataFrame({"age": [str(20 + n % 30) for n in range(60)], "seen": seen()})
    schema = shoal.Schema(quasi="age", sensitive="seen", types=types)
    release = shoal.anonymize(table, schema, require=require)
    assert release.manifest.columns[-1].type == "date"
    (one,) = release.requirements
    assert "30 days" in promised(one, release.manifest.to_dict())
    assert release.audit().holds


def test_labels_that_look_like_dates_are_not_said_to_be_any():
    """Whether all are dates may rest on rows that are left out, unless a width needs them all."""
    table = pl.DataFrame({"age": [str(20 + n % 30) for n in range(60)], "seen": seen()})
    schema = shoal.Schema(quasi="age", sensitive="seen")
    release = shoal.anonymize(table, schema, require="FrequencyL(l=2)")
    assert release.manifest.columns[-1].type is None
