"""Frames of other libraries: taken column by column, given back as they came.

A column that is only carried is never converted: its cells are gathered from the frame that was
given. Types that nothing can be read from (periods, intervals, complex numbers, integers of 256
bits) are held as text beside the name of their type, and refused by that name where they are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.table.schema import check_header

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

HELD_AS = "held as "  # before the name of a type that Polars does not have


def unheld(kind: pl.DataType) -> str | None:
    """Return the name of a foreign type whose cells are held as text; None for any other type."""
    if isinstance(kind, pl.Struct) and len(kind.fields) == 1:
        name = kind.fields[0].name
        return name.removeprefix(HELD_AS) if name.startswith(HELD_AS) else None
    return None


def take_pandas(frame: Any) -> pl.DataFrame:
    """Take a pandas frame; its index is no column and is left behind."""
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names):
        msg = "names that are not text"
        raise TypeError(msg)
    check_header(names, "the frame")
    columns = (frame.iloc[:, place].reset_index(drop=True) for place in range(len(names)))
    return pl.DataFrame([_from_pandas(c).alias(n) for n, c in zip(names, columns, strict=True)])


def take_arrow(frame: Any) -> pl.DataFrame:
    """Take a PyArrow table."""
    check_header(frame.column_names, "the frame")
    pairs = zip(frame.column_names, frame.columns, strict=True)
    return pl.DataFrame([_from_arrow(column).alias(name) for name, column in pairs])


def _from_pandas(column: Any) -> pl.Series:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.ArrowDtype):
        import pyarrow as pa

        return _from_arrow(pa.chunked_array([pa.array(column.array, from_pandas=True)]))
    if isinstance(kind, pd.PeriodDtype | pd.IntervalDtype) or kind.kind == "c":
        return _as_text(_cells(column), str(kind))
    if isinstance(kind, pd.CategoricalDtype):
        return _categories(column, kind)
    try:
        taken = _series(column)
        if kind == np.dtype(object) and taken.dtype.is_temporal():
            _check_times(column[column.notna()])
    except (
        ArithmeticError,
        ValueError,
        TypeError,
        NotImplementedError,
        pl.exceptions.PolarsError,
    ):
        kinds = {type(cell).__name__ for cell in column[column.notna()]}
        if kinds == {"int"}:  # of more than 64 bits: they are read from their digits
            return pl.Series([None if cell is None else str(cell) for cell in _cells(column)])
        return _as_text(_cells(column), f"{kind} cells of types {', '.join(sorted(kinds))}")
    return taken


def _check_times(cells: Any) -> None:
    """Raise where no type holds all times: dates have no hour, and some may have a zone.

    Whoever converts them takes the type of the first for all, and cuts the others down to it.
    """
    kinds = {
        (hasattr(cell, "hour"), getattr(cell, "tzinfo", None) is None, hasattr(cell, "year"))
        for cell in cells
    }
    if len(kinds) > 1 or any(getattr(cell, "nanosecond", 0) for cell in cells):
        msg = "times of several kinds"
        raise ValueError(msg)


def _series(column: Any) -> pl.Series:
    taken: Any = pl.from_pandas(column)
    assert isinstance(taken, pl.Series)
    return taken


def _cells(column: Any) -> list[Any]:
    """Return the cells of a pandas column, None where one is missing."""
    missing = column.isna().tolist()
    return [None if gone else cell for gone, cell in zip(missing, column.tolist(), strict=True)]


def _categories(column: Any, kind: Any) -> pl.Series:
    """Return categories as what they are categories of, or, where they have an order, with it."""
    labels = _from_pandas(kind.categories.to_series().reset_index(drop=True))
    codes = _series(column.cat.codes).cast(pl.Int64)
    cells = labels.gather(codes.replace(-1, None))
    if not kind.ordered or unheld(labels.dtype):
        return cells.cast(pl.Categorical) if labels.dtype == pl.String else cells
    return _ordered(cells, labels)


def _ordered(cells: pl.Series, labels: pl.Series) -> pl.Series:
    """Return cells as labels with an order."""
    spelled = labels.cast(pl.String)
    if spelled.has_nulls() or spelled.n_unique() < len(spelled):
        return cells
    return cells.cast(pl.String).cast(pl.Enum(spelled))


def _from_arrow(column: Any) -> pl.Series:
    import pyarrow as pa

    kind = column.type
    if _foreign(kind):
        return _as_text(column.to_pylist(), str(kind))
    if pa.types.is_dictionary(kind):
        whole = column.unify_dictionaries().combine_chunks()
        whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        labels = _from_arrow(pa.chunked_array([whole.dictionary]))
        places = pl.from_arrow(whole.indices.cast(pa.int64()))
        assert isinstance(places, pl.Series)
        cells = labels.gather(places)
        if kind.ordered and not unheld(labels.dtype):
            return _ordered(cells, labels)
        return cells.cast(pl.Categorical) if labels.dtype == pl.String else cells
    taken = pl.from_arrow(column)
    assert isinstance(taken, pl.Series)
    return taken


def _foreign(kind: Any) -> bool:
    """Return whether Polars cannot hold an Arrow type; it ends the process where it tries."""
    import pyarrow as pa

    if pa.types.is_nested(kind) and not pa.types.is_dictionary(kind):
        return any(_foreign(kind.field(place).type) for place in range(kind.num_fields))
    if isinstance(kind, pa.BaseExtensionType):
        return True
    if pa.types.is_dictionary(kind):
        return _foreign(kind.value_type)
    return pa.types.is_decimal256(kind) or pa.types.is_interval(kind) or pa.types.is_union(kind)


def _as_text(cells: list[Any], kind: str) -> pl.Series:
    texts = pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    return pl.DataFrame({HELD_AS + kind: texts}).to_struct("")


def give_pandas(table: pl.DataFrame, like: Any, carried: Collection[str], rows: NDArray) -> Any:
    """Return a pandas frame with a new index; carried columns are the rows of `like`."""
    import pandas as pd

    columns = {}
    for name in table.columns:
        if name in carried:
            column = like[name].iloc[rows].reset_index(drop=True)
            columns[name] = column if len(rows) == len(like) else _only_used(column)
        else:
            kind = like[name].dtype if name in like.columns else None
            columns[name] = _text_like(table[name].to_pandas(), kind)
    return pd.DataFrame(columns)


def _text_like(column: Any, kind: Any) -> Any:
    """Return a column of text as the frame holds text."""
    import pandas as pd

    if isinstance(kind, pd.ArrowDtype):
        import pyarrow as pa

        return column.astype(pd.ArrowDtype(pa.string()))
    return (
        column.astype(kind)
        if isinstance(kind, pd.StringDtype) or kind == np.dtype(object)
        else column
    )


def _only_used(column: Any) -> Any:
    """Drop the categories that only rows have which are not published."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if isinstance(column.dtype, pd.ArrowDtype):
        import pyarrow as pa

        if pa.types.is_dictionary(column.dtype.pyarrow_dtype):
            cells = pa.chunked_array([pa.array(column.array)])
            return pd.Series(pd.arrays.ArrowExtensionArray(_used_arrow(cells)))
    return column


def give_arrow(table: pl.DataFrame, like: Any, carried: Collection[str], rows: NDArray) -> Any:
    """Return a PyArrow table; carried columns are the rows of `like`, with their metadata."""
    import pyarrow as pa

    fields, columns = [], []
    for name in table.columns:
        if name in carried:
            column = _taken(like.column(name), pa.array(rows))
            columns.append(column if len(rows) == like.num_rows else _used_arrow(column))
            fields.append(like.schema.field(name))
            continue
        made = table[name].to_arrow()
        field = pa.field(name, made.type)
        if pa.types.is_large_string(made.type) or pa.types.is_string_view(made.type):
            known = like.schema.field(name) if name in like.column_names else field
            kept = pa.types.is_large_string(known.type) and known is not field
            field = known.with_type(pa.large_string() if kept else pa.string())
        columns.append(made.cast(field.type))
        fields.append(field)
    # What pandas noted there is about the index and the columns as they were.
    said = {key: value for key, value in (like.schema.metadata or {}).items() if key != b"pandas"}
    return pa.table(columns, schema=pa.schema(fields, metadata=said or None))


def _taken(column: Any, rows: Any) -> Any:
    """Return rows of a column; views of text have to be text for that."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    if column.type in plain:
        return column.cast(plain[column.type]).take(rows).cast(column.type)
    return column.take(rows)


def _used_arrow(column: Any) -> Any:
    """Drop from a dictionary what no published row has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not pa.types.is_dictionary(kind):
        return column
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    used = pc.sort_indices(pc.unique(pc.drop_null(whole.indices)))
    used = pc.unique(pc.drop_null(whole.indices)).take(used)
    places = pc.index_in(whole.indices, used).cast(kind.index_type)
    made = pa.DictionaryArray.from_arrays(places, whole.dictionary.take(used), ordered=kind.ordered)
    return pa.chunked_array([made])


def give_polars(
    table: pl.DataFrame, like: pl.DataFrame, carried: Collection[str], rows: NDArray[np.int64]
) -> pl.DataFrame:
    """Return a Polars frame; carried columns are the rows of `like`."""

    def columns() -> Iterator[pl.Series]:
        for name in table.columns:
            column = like[name].gather(rows) if name in carried else table[name]
            if isinstance(column.dtype, pl.Enum) and len(rows) < like.height:
                used = set(column.drop_nulls().cast(pl.String))
                labels = [label for label in column.dtype.categories if label in used]
                column = column.cast(pl.String).cast(pl.Enum(labels))
            yield column

    return pl.DataFrame(list(columns()))
