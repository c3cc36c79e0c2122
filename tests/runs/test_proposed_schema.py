"""A schema file that was made for a table can be read, and leads to a release that holds."""

import tempfile
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from shoal.inspection.inspect import inspect
from shoal.runs.proposal import propose
from shoal.runs.schema_file import proposed_schema

NAMES = st.sampled_from(
    ["age", "zip", "sex", "a b", 'q"uote', "dotted.name", "line\nbreak", "x", "hired", "ärea", "#"]
)
COLUMNS = (
    st.integers(0, 90).map(str),
    st.integers(0, 999).map(lambda number: f"{number:05d}"),
    st.sampled_from(["m", "f"]),
    st.sampled_from(["low", "medium", "high"]),
    st.sampled_from(["[0-10)", "[10-20)", "[20-30)"]),
    st.dates().map(str),
    st.sampled_from(["yes", "no"]),
    st.sampled_from(["", "?", "x y", "1", "\x7f", "\\", '"']),
    st.floats(-1e9, 1e9).map(repr),
)
SENSITIVE = (
    st.integers(0, 100_000).map(str),
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["flu", "flu", "flu", "ulcer"]),
    st.floats(0, 1).map(repr),
)


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 40))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))

    def column(kinds, empty):
        cells = draw(st.sampled_from(kinds))
        return draw(st.lists(cells | st.none() if empty else cells, min_size=rows, max_size=rows))

    cells = {name: column(COLUMNS, draw(st.booleans())) for name in names}
    cells["salary"] = column(SENSITIVE, draw(st.booleans()))
    return pl.DataFrame(
        {name: pl.Series(some, dtype=pl.String).replace("", None) for name, some in cells.items()}
    )


@settings(max_examples=examples(12))
@given(tables())
def test_the_file_is_usable_at_once(table):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "shoal.toml"
        text, complete = proposed_schema(table, "people.csv")
        file.write_text(text, "utf-8")
        run = shoal.load(file, table=table)
    found = inspect(table)
    proposals = propose(table, found, count=1)
    assert list(found.named("quasi")) == list(run.schema.quasi)
    assert list(found.named("identifying")) == list(run.schema.identifying)
    assert complete == bool(proposals)
    if not proposals:
        assert not run.require
        return
    assert run.release().audit().holds


def test_a_survey_weight_is_not_called_left_out_and_one_value_is_one():
    table = pl.DataFrame(
        {"age": [i % 70 for i in range(200)], "sampling_weight": [100] * 200, "income": range(200)}
    )
    text, _ = proposed_schema(table, "people.csv")
    assert 'survey_weight = "sampling_weight"' in text
    assert '# "sampling_weight": survey weight: ' in text
    assert "; 1 value." in text
    assert "1 values" not in text
