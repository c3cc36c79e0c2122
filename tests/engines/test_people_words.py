"""Refusals speak of people where rows are about people."""

import polars as pl
import pytest

import shoal

TABLE = pl.DataFrame(
    {
        "who": [0, 0, 1, 1, 2, 2, 3, 3],
        "age": [1, 2, 3, 4, 5, 6, 7, 8],
        "charges": [5, 5, 5, 5, 5, 5, 90, 90],
    }
)


@pytest.mark.parametrize("most", [None, 1])
@pytest.mark.parametrize("suppress", [None, "25%"])
@pytest.mark.parametrize(
    ("require", "method"),
    [
        ("KAnonymity(k=9)", None),
        ("EpsilonM(epsilon=1, m=3)", "Exchange()"),
        ("EpsilonM(epsilon=1, m=3)", "Split()"),
        ("FrequencyL(l=3)", "Mondrian()"),
        ("Dissimilarity(epsilon=1, delta=0.7, k=2)", None),
    ],
)
def test_refusals_count_people(require, method, most, suppress):
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who", most_rows=most)
    with pytest.raises(shoal.NotAchievable) as caught:
        shoal.anonymize(TABLE, schema, require=require, method=method, suppress=suppress)
    said = caught.value.sentence
    assert "people" in said
    for words in ("4 rows", "8 rows", "of the rows", "rows in the way", "out 1 rows"):
        assert words not in said
