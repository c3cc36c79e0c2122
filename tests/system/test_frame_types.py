"""Columns that are only carried come out of every library's frames as they went in."""

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal

ROWS = 12
SCHEMA = shoal.Schema(quasi="age", sensitive="pay", other="x")
KNOWN = [20, 20, 21, 21, 30, 30, 31, 31, 40, 40, 41]
AGES = {"all published": [*KNOWN, 99], "one left out": [*KNOWN, None]}
PAYS = list(range(ROWS))
LARGE = [2**53 + 1 + 2 * place for place in range(ROWS - 1)]
DAYS = [dt.date(2020, 1, 1 + place) for place in range(ROWS)]
MOMENTS = [dt.datetime(2020, 1, 1, 5, place, 0, 123000 + place) for place in range(ROWS)]  # noqa: DTZ001 - without a zone
SPANS = [dt.timedelta(seconds=place) for place in range(ROWS)]
WORDS = ["low", "mid", "high", None] * 3
NUMBERS = [decimal.Decimal(f"{place}.50") for place in range(ROWS)]
ORDER = ["low", "mid", "high"]

POLARS: dict[str, pl.Series] = {
    **{str(kind): pl.Series(range(ROWS), dtype=kind) for kind in (
        pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32,
        pl.UInt64, pl.Float32, pl.Float64)},
    "large": pl.Series([*LARGE, None]),
    "unsigned": pl.Series([2**64 - 1] * ROWS, dtype=pl.UInt64),
    "bool": pl.Series([True, False, None] * 4),
    "string": pl.Series(WORDS),
    "categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "enum": pl.Series(WORDS, dtype=pl.Enum(ORDER)),
    "date": pl.Series(DAYS),
    **{f"datetime {unit}": pl.Series(MOMENTS, dtype=pl.Datetime(unit))
       for unit in ("ms", "us", "ns")},
    "zoned": pl.Series(MOMENTS).dt.replace_time_zone("Europe/Berlin"),
    "duration": pl.Series(SPANS),
    "time": pl.Series([moment.time() for moment in MOMENTS]),
    "decimal": pl.Series(NUMBERS),
    "list": pl.Series([[place, None] for place in range(ROWS)]),
    "array": pl.Series([[place, 1] for place in range(ROWS)], dtype=pl.Array(pl.Int8, 2)),
    "struct": pl.Series([{"a": place, "b": "x"} for place in range(ROWS)]),
    "binary": pl.Series([bytes([place, 255]) for place in range(ROWS)]),
    "null": pl.Series([None] * ROWS),
}  # fmt: skip

PANDAS: dict[str, Any] = {
    **{kind: np.arange(ROWS).astype(kind) for kind in (
        "int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex128")},
    **{kind: pd.array([*range(ROWS - 1), None], dtype=kind) for kind in (
        "Int8", "Int16", "Int32", "UInt8", "UInt64", "Float32", "Float64")},
    "Int64": pd.array([*LARGE, None], dtype="Int64"),
    "bool": np.array([True, False] * 6),
    "boolean": pd.array([True, False, None] * 4, dtype="boolean"),
    "object": np.array(WORDS, object),
    "str": pd.array(WORDS, dtype="str"),
    "string": pd.array(WORDS, dtype="string"),
    "string[pyarrow]": pd.array(WORDS, dtype="string[pyarrow]"),
    "category": pd.Categorical(WORDS),
    "ordered": pd.Categorical(WORDS, categories=ORDER, ordered=True),
    "category of numbers": pd.Categorical([3, 1, 2] * 4, categories=[3, 1, 2], ordered=True),
    "dates": np.array(DAYS, object),
    "decimals": np.array(NUMBERS, object),
    "bytes": np.array([bytes([place]) for place in range(ROWS)], object),
    "mixed": np.array([1, "a", None, 2.5] * 3, object),
    "lists": pd.Series([[place] for place in range(ROWS)]),
    "datetime s": np.array(MOMENTS, "datetime64[s]"),
    "datetime us": np.array(MOMENTS, "datetime64[us]"),
    "datetime ns": np.array(MOMENTS, "datetime64[ns]"),
    "zoned": pd.Series(MOMENTS).dt.tz_localize("Europe/Berlin"),
    "timedelta": pd.Series(SPANS),
    "period": pd.period_range("2020", periods=ROWS, freq="M"),
    "interval": pd.interval_range(0, ROWS),
    "sparse": pd.arrays.SparseArray([0, 1] * 6),
    **{f"arrow {kind}": pd.array(cells, dtype=pd.ArrowDtype(kind)) for kind, cells in (
        (pa.int32(), [*range(ROWS - 1), None]), (pa.string(), WORDS), (pa.date32(), DAYS),
        (pa.bool_(), [True, None] * 6), (pa.timestamp("us"), MOMENTS),
        (pa.decimal128(10, 2), NUMBERS), (pa.decimal256(50, 2), NUMBERS))},
}  # fmt: skip

DICTIONARY = pa.DictionaryArray.from_arrays(
    pa.array([0, 1, 2, None] * 3, pa.int8()), pa.array(ORDER), ordered=True
)
ARROW: dict[str, Any] = {
    **{str(kind): pa.array(range(ROWS), kind) for kind in (
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
        pa.uint64(), pa.float32(), pa.float64(), pa.date64())},
    "large": pa.array([*LARGE, None]),
    "bool": pa.array([True, None] * 6),
    **{str(kind): pa.array(WORDS, kind) for kind in (
        pa.string(), pa.large_string(), pa.string_view())},
    **{str(kind): pa.array([b"\x00\xff"] * ROWS, kind) for kind in (
        pa.binary(), pa.large_binary(), pa.binary(2))},
    "dictionary": pa.array(WORDS).dictionary_encode(),
    "ordered dictionary": DICTIONARY,
    "date32": pa.array(DAYS),
    **{f"timestamp {unit}": pa.array(MOMENTS).cast(pa.timestamp(unit), safe=False)
       for unit in ("s", "ms", "us", "ns")},
    "zoned": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "time32": pa.array([place * 1000 for place in range(ROWS)], pa.time32("ms")),
    "time64": pa.array(range(ROWS), pa.time64("us")),
    "duration": pa.array(SPANS),
    "decimal128": pa.array(NUMBERS, pa.decimal128(10, 2)),
    "decimal256": pa.array(NUMBERS, pa.decimal256(50, 2)),
    "list": pa.array([[place] for place in range(ROWS)]),
    "struct": pa.array([{"a": place} for place in range(ROWS)]),
    "interval": pa.array([(1, 2, 3)] * ROWS, pa.month_day_nano_interval()),
    "null": pa.nulls(ROWS),
}  # fmt: skip


def published(frame: Any, **how: Any) -> shoal.Release:
    release = shoal.anonymize(frame, SCHEMA, require="KAnonymity(k=2)", seed=1, **how)
    assert release.audit().holds
    return release


@pytest.mark.few(11)
@pytest.mark.parametrize("name", POLARS)
@pytest.mark.parametrize("ages", AGES)
def test_polars_columns_come_out_as_they_came(name: str, ages: str) -> None:
    frame = pl.DataFrame({"age": AGES[ages], "pay": PAYS, "x": POLARS[name]})
    release = published(frame, missing="drop")
    given = frame["x"].gather(release.linkage)
    if isinstance(given.dtype, pl.Enum) and release.table.height < ROWS:
        assert release.table["x"].to_list() == given.to_list()
    else:
        assert release.table["x"].equals(given, check_dtypes=True, null_equal=True)


@pytest.mark.parametrize("name", PANDAS)
@pytest.mark.parametrize("ages", AGES)
def test_pandas_columns_come_out_as_they_came(name: str, ages: str) -> None:
    frame = pd.DataFrame(
        {"age": pd.array(AGES[ages], dtype="Int64"), "pay": PAYS, "x": PANDAS[name]}
    )
    frame.index = pd.Index([f"person {place}" for place in range(ROWS)], name="who")
    release = published(frame, missing="drop")
    given = frame["x"].iloc[release.linkage].reset_index(drop=True)
    pd.testing.assert_series_equal(release.table["x"], given, check_exact=True)
    assert release.table.index.equals(pd.RangeIndex(len(given)))
    assert release.table.index.name is None


@pytest.mark.parametrize("name", ARROW)
@pytest.mark.parametrize("ages", AGES)
def test_arrow_columns_come_out_as_they_came(name: str, ages: str) -> None:
    fields = [
        pa.field("age", pa.int64(), metadata={"unit": "years"}),
        pa.field("pay", pa.int64()),
        pa.field("x", ARROW[name].type, metadata={"from": "a form"}),
    ]
    said = pa.schema(fields, metadata={"survey": "2020", "pandas": "{}"})
    frame = pa.table([AGES[ages], PAYS, ARROW[name]], schema=said)
    release = published(frame, missing="drop")
    table = release.table
    cells = frame["x"].to_pylist()
    assert table["x"].to_pylist() == [cells[row] for row in release.linkage]
    assert table.schema.field("x").equals(fields[2].remove_metadata(), check_metadata=True)
    assert table.schema.field("age").equals(pa.field("age", pa.string()), check_metadata=True)
    assert table.schema.metadata is None  # it is about the table as it was


def test_categories_of_rows_left_out_are_not_in_the_frame() -> None:
    words = ["a", "b"] * 5 + ["a", "secret"]
    columns = {"age": AGES["one left out"], "pay": PAYS}
    dictionary = pa.array(words).dictionary_encode()
    arrow = pd.array(words, dtype=pd.ArrowDtype(dictionary.type))
    frames = [
        pd.DataFrame({"x": pd.Categorical(words), **columns}),
        pd.DataFrame({"x": arrow, **columns}),
        pa.table({"x": dictionary, **columns}),
        pl.DataFrame({"x": pl.Series(words, dtype=pl.Enum(["a", "b", "secret"])), **columns}),
    ]
    for frame in frames:
        release = published(frame, missing="drop")
        assert len(release.linkage) == ROWS - 1
        column = release.table["x"]
        if isinstance(frame, pl.DataFrame):
            known = column.dtype.categories.to_list()
        elif frame is frames[0]:
            known = column.cat.categories.tolist()
        else:
            cells = column if isinstance(frame, pa.Table) else pa.chunked_array([column.array])
            known = cells.chunk(0).dictionary.to_pylist()
        assert sorted(known) == ["a", "b"]


COLUMNS = {"age": AGES["all published"], "pay": PAYS}
FOREIGN = {
    "period": pd.DataFrame({**COLUMNS, "x": PANDAS["period"]}),
    "interval": pd.DataFrame({**COLUMNS, "x": PANDAS["interval"]}),
    "complex128": pd.DataFrame({**COLUMNS, "x": PANDAS["complex128"]}),
    "types": pd.DataFrame({**COLUMNS, "x": PANDAS["mixed"]}),
    "decimal256": pa.table({**COLUMNS, "x": ARROW["decimal256"]}),
    "month_day_nano": pa.table({**COLUMNS, "x": ARROW["interval"]}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_types_that_cannot_be_used_are_named_only_where_they_are_used(name: str) -> None:
    frame = FOREIGN[name]
    dropped = shoal.Schema(quasi="age", sensitive="pay")
    assert shoal.anonymize(frame, dropped, require="KAnonymity(k=2)").audit().holds
    for quasi, sensitive in (("x", "pay"), ("age", "x")):
        schema = shoal.Schema(quasi=quasi, sensitive=sensitive)
        with pytest.raises(shoal.InputError, match=f"'x' holds .*{name}"):
            shoal.anonymize(frame, schema, require="KAnonymity(k=2)")


@pytest.mark.parametrize("column", ["kind", "pay", "age"])
@pytest.mark.parametrize("library", [pl, pd])
def test_an_empty_text_is_missing_as_between_two_commas(library: Any, column: str) -> None:
    """Whoever reads a release finds nothing there, so nothing is what was there."""
    cells = {
        "kind": ["p", "q", "r"] * 10,
        "age": [str(20 + place % 7) for place in range(30)],
        "pay": ["u", "v", "w", "t", "s"] * 6,
    }
    cells[column][3] = ""
    frame = library.DataFrame(cells)
    schema = shoal.Schema(quasi=["kind", "age"], sensitive="pay", types={"age": "numeric"})
    asked: dict[str, Any] = {"require": "FrequencyL(l=2)", "seed": 1}
    with pytest.raises(shoal.InputError, match=f"'{column}' has 1 missing cell"):
        shoal.anonymize(frame, schema, **asked)
    kept: dict[Any, int] = {"drop": 29, "value": 30}
    for missing, rows in kept.items():
        assert len(shoal.anonymize(frame, schema, missing=missing, **asked).table) == rows


@pytest.mark.parametrize("order", [["high", "low", "mid"], ["mid", "high", "low"]])
def test_ordered_categories_are_split_in_their_order(order: list[str]) -> None:
    words = order * 4
    asked: dict[str, Any] = {"require": "KAnonymity(k=4)", "seed": 1}
    said = shoal.Schema(quasi="x", sensitive="pay", order={"x": order})
    plain = shoal.Schema(quasi="x", sensitive="pay")
    expected = shoal.anonymize(pl.DataFrame({"x": words, "pay": PAYS}), said, **asked)
    dictionary = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 4, pa.int32()), pa.array(order), ordered=True
    )
    categories = pd.Categorical(words, categories=order, ordered=True)
    for frame in (
        pd.DataFrame({"x": categories, "pay": PAYS}),
        pa.table({"x": dictionary, "pay": PAYS}),
        pl.DataFrame({"x": words, "pay": PAYS}, schema_overrides={"x": pl.Enum(order)}),
    ):
        release = shoal.anonymize(frame, plain, **asked)
        assert release.manifest.columns[0].domain == order
        assert release.published.equals(expected.published)
        assert release.audit().holds


def test_ordered_categories_with_missing_cells_keep_their_order() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(WORDS, ORDER, ordered=True), "pay": PAYS})
    schema = shoal.Schema(quasi="x", sensitive="pay")
    release = shoal.anonymize(frame, schema, require="KAnonymity(k=3)", missing="value")
    assert release.manifest.columns[0].domain == [*ORDER, ""]


UTC = dt.UTC
BERLIN = dt.timezone(dt.timedelta(hours=1))
TIMES: dict[str, tuple[list[Any], bool]] = {
    "a date, then an hour": ([DAYS[0], MOMENTS[0]], False),
    "an hour, then a date": ([MOMENTS[0], DAYS[0]], False),
    "a zone, then none": ([MOMENTS[0].replace(tzinfo=UTC), MOMENTS[0]], False),
    "none, then a zone": ([MOMENTS[0], MOMENTS[0].replace(tzinfo=UTC)], False),
    "a nanosecond": ([MOMENTS[0], pd.Timestamp(1_600_000_000_000_000_001)], False),
    "dates": (DAYS[:2], True),
    "hours": (MOMENTS[:2], True),
    "zones": ([MOMENTS[0].replace(tzinfo=UTC), MOMENTS[0].replace(tzinfo=BERLIN)], True),
    "missing": ([DAYS[0], None], True),
}


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("name", TIMES)
def test_times_of_several_kinds_are_not_cut_down_to_one(name: str, role: str) -> None:
    cells, taken = TIMES[name]
    column = pd.Series(cells * (ROWS // 2), dtype=object)
    plain = {"age": range(ROWS), "pay": range(ROWS)}
    frame = pd.DataFrame(plain | {"age" if role == "quasi" else "pay": column})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    if taken:
        shoal.anonymize(frame, schema, require="KAnonymity(k=2)", missing="value")
    else:
        with pytest.raises(shoal.InputError, match="holds object cells of types"):
            shoal.anonymize(frame, schema, require="KAnonymity(k=2)", missing="value")


@pytest.mark.parametrize("first", [10**25, -(2**63) - ROWS - 1, 2**64])
def test_integers_of_any_size_are_numbers_in_a_column_of_objects(first: int) -> None:
    ages = [first + place for place in range(ROWS)]
    frame = pd.DataFrame({"age": pd.Series(ages, dtype=object), "pay": PAYS})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(frame, schema, require=f"KAnonymity(k={ROWS})")
    assert set(release.table["age"]) == {f"[{ages[0]}, {ages[-1]}]"}


@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_two_columns_of_one_name_are_named(kind: str) -> None:
    frame = pa.table([[7, 8], [1, 2], [7, 8]], names=["age", "pay", "age"])
    schema = shoal.Schema(quasi="age", sensitive="pay")
    with pytest.raises(shoal.InputError, match="both named 'age'"):
        shoal.anonymize(
            frame if kind == "arrow" else frame.to_pandas(), schema, require="KAnonymity(k=2)"
        )
