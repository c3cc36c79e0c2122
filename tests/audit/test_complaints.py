"""What does not hold is said with what was measured, what is allowed, and on which side of it."""

import polars as pl
import pytest

import shoal
from shoal.views.sentences import risk_and_bound

TABLE = pl.DataFrame({"age": ["20"] * 3 + ["30"] * 3, "pay": [1, 1, 5, 1, 7, 9]})
SCHEMA = shoal.Schema(quasi="age", sensitive="pay")
WHERE = "groups of equal published cells"


@pytest.mark.parametrize(
    ("require", "says"),
    [
        (
            "EpsilonM(epsilon=2, m=2)",
            f"in 2 of 2 {WHERE}: measured 2 in 3 (66.7%), allowed at most 1 in 2 (50%). "
            "The smallest group has 3 rows.",
        ),
        ("AlphaK(alpha=0.4, k=2)", "measured 2 in 3 (66.7%), allowed at most 2 in 5 (40%)."),
        ("TCloseness(t=0.1)", "measured 0.3334 (distance from the whole table), allowed at most"),
        ("DistinctL(l=3)", "measured 0.5 (1 divided by the number of different values), allowed"),
        ("RecursiveCL(c=1, l=2)", "beside the rarer ones), allowed less than 0.5."),
        (
            "Variance(at_least=1000)",
            "share of what is required that is lacking), allowed at most 0",
        ),
    ],
)
def test_a_complaint_compares_like_with_like(require: str, says: str) -> None:
    (said, *_) = shoal.audit(TABLE, SCHEMA, require=require).complaints()
    assert f"{require} does not hold in " in said
    assert says in said


@pytest.mark.parametrize(
    ("require", "says"),
    [
        ("KMap(k=4)", "in 1 of 2 descriptions: measured 1 in 3 (33.3%), allowed at most 1 in 4"),
        ("KMap(k=7)", "measured 1 in 3 (33.3%), allowed at most 1 in 7 (14.3%)"),
        ("DeltaPresence(low=0.9, high=1)", "measured 1 in 2 (50%), allowed at least 9 in 10 (90%)"),
        ("DeltaPresence(low=0, high=0.6)", "measured 1 in 1 (100%), allowed at most 3 in 5 (60%)"),
    ],
)
def test_shares_of_a_population_too(require: str, says: str) -> None:
    everybody = pl.DataFrame({"age": ["20"] * 6 + ["30"] * 3})
    (said, *_) = shoal.audit(TABLE, SCHEMA, require=require, population=everybody).complaints()
    assert says in said


def test_a_description_that_fits_nobody_is_said_to() -> None:
    everybody = pl.DataFrame({"age": ["20"] * 6})
    (said, *_) = shoal.audit(TABLE, SCHEMA, require="KMap(k=2)", population=everybody).complaints()
    assert "descriptions: a description fits nobody in the population table." in said


@pytest.mark.parametrize(
    ("principle", "risk", "bound", "says"),
    [
        ("KAnonymity(k=3)", 0.5, 1 / 3, ("50%", "1 in 3 (33.3%)")),
        ("pay: EpsilonM(epsilon=2, m=5)", 2 / 3, 0.2, ("66.7%", "1 in 5 (20%)")),
        ("KMap(k=3)", 2.0, 1 / 3, ("over 100%", "1 in 3 (33.3%)")),
        ("TCloseness(t=0.2)", 0.375, 0.2, ("0.375", "0.2")),
    ],
)
def test_tables_write_chances_as_people_do(principle, risk, bound, says) -> None:
    assert risk_and_bound({"principle": principle, "risk": risk, "bound": bound}) == says
