"""Frames of other libraries: taken column by column, given back as they came.

A column that is only carried is never converted: its cells are gathered from the frame that was
given. Types that nothing can be read from (periods, intervals, complex numbers, integers of 256
bits) are held as text beside the name of their type, and refused by that name where they are used;
so are times of years that no calendar spells in four digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.table.columns import BEYOND, HELD_AS, unheld
from shoal.table.forms import check_header

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

FIRST, LAST = -719_162, 2_932_896  # days from 1970-01-01 to the first and the last that are spelled
SECONDS = 86_400
UNITS = {"ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second


def take_pandas(frame: Any) -> pl.DataFrame:
    """Take a pandas frame; its index is no column and is left behind."""
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names):
        msg = "names that are not text"
        raise TypeError(msg)
    check_header(names, "the frame")
    columns = (frame.iloc[:, place].reset_index(drop=True) for place in range(len(names)))
    taken = [_from_pandas(c).alias(n) for n, c in zip(names, columns, strict=True)]
    return hold_times(pl.DataFrame(taken))


def take_arrow(frame: Any) -> pl.DataFrame:
    """Take a PyArrow table."""
    check_header(frame.column_names, "the frame")
    return hold_times(arrow_columns(frame))


def arrow_columns(frame: Any) -> pl.DataFrame:
    """Return the columns of a PyArrow table, or of a part of one."""
    pairs = zip(frame.column_names, frame.columns, strict=True)
    return pl.DataFrame([_from_arrow(column).alias(name) for name, column in pairs])


def hold_times(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose times can all be spelled; columns of others are refused where used."""
    return table.with_columns(
        _as_text([None] * len(column), BEYOND).alias(column.name)
        for column in table
        if _is_beyond(column)
    )


def _is_beyond(column: pl.Series) -> bool:
    kind = column.dtype
    if not isinstance(kind, pl.Date | pl.Datetime):
        return False
    day = SECONDS * UNITS[kind.time_unit] if isinstance(kind, pl.Datetime) else 1
    least, most = column.to_physical().min(), column.to_physical().max()
    if not isinstance(least, int) or not isinstance(most, int):
        return False  # all cells are missing
    return least < FIRST * day or most >= (LAST + 1) * day


def _from_pandas(column: Any) -> pl.Series:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.ArrowDtype) or str(kind).startswith("datetime64[s"):
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
    taken = pl.from_arrow(_in_reach(column))
    assert isinstance(taken, pl.Series)
    return taken


def _in_reach(column: Any) -> Any:
    """Return seconds so that milliseconds hold them too; those beyond all years stay beyond."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not pa.types.is_timestamp(kind) or kind.unit != "s":
        return column
    least, most = (pa.scalar(day * SECONDS, pa.int64()) for day in (FIRST - 1, LAST + 2))
    known = pc.max_element_wise(column.cast(pa.int64()), least, skip_nulls=False)
    return pc.min_element_wise(known, most, skip_nulls=False).cast(kind)


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
            columns[name] = _only_used(like[name].iloc[rows].reset_index(drop=True))
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
    """Drop the categories that no published row has."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if isinstance(column.dtype, pd.ArrowDtype) and _lists(column.dtype.pyarrow_dtype):
        import pyarrow as pa

        cells = pa.chunked_array([pa.array(column.array)])
        return pd.Series(pd.arrays.ArrowExtensionArray(_used_arrow(cells)))
    return column


def give_arrow(table: pl.DataFrame, like: Any, carried: Collection[str], rows: NDArray) -> Any:
    """Return a PyArrow table; carried columns are the rows of `like`.

    Metadata stay behind: they are about the table as it was, and may hold any of it.
    """
    import pyarrow as pa

    fields, columns = [], []
    for name in table.columns:
        if name in carried:
            columns.append(_used_arrow(_taken(like.column(name), pa.array(rows))))
            fields.append(_bare(like.schema.field(name)))
            continue
        made = table[name].to_arrow()
        field = pa.field(name, made.type)
        if pa.types.is_large_string(made.type) or pa.types.is_string_view(made.type):
            known = like.schema.field(name) if name in like.column_names else field
            kept = pa.types.is_large_string(known.type) and known is not field
            field = _bare(known.with_type(pa.large_string() if kept else pa.string()))
        columns.append(made.cast(field.type))
        fields.append(field)
    return pa.table(columns, schema=pa.schema(fields))


def _taken(column: Any, rows: Any) -> Any:
    """Return rows of a column; views of text have to be text for that."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    if column.type in plain:
        return column.cast(plain[column.type]).take(rows).cast(column.type)
    return column.take(rows)


def _lists(kind: Any) -> bool:
    """Return whether an Arrow type holds dictionaries, of which some entries may be unpublished."""
    import pyarrow as pa

    inner = range(kind.num_fields)
    return pa.types.is_dictionary(kind) or any(_lists(kind.field(place).type) for place in inner)


def _bare(field: Any) -> Any:
    """Return a field without metadata, where Polars notes every label of a column, used or not."""
    return field.with_type(_bare_type(field.type)).remove_metadata()


def _bare_type(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_struct(kind):
        return pa.struct([_bare(kind.field(place)) for place in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(_bare(kind.key_field), _bare(kind.item_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_bare(kind.value_field), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(_bare(kind.value_field))
    return pa.large_list(_bare(kind.value_field)) if pa.types.is_large_list(kind) else kind


def _used_arrow(column: Any) -> Any:
    """Drop from dictionaries what no published row has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not pa.types.is_dictionary(kind):
        made = pa.array(column.to_pylist(), _bare_type(kind)) if _lists(kind) else None
        return column if made is None else pa.chunked_array([made])
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
    return pl.DataFrame(
        [
            only_used(like[name].gather(rows)) if name in carried else table[name]
            for name in table.columns
        ]
    )


def only_used(column: pl.Series) -> pl.Series:
    """Return a column whose type names no label that none of its cells has."""
    kind = _used_kind(column)
    if kind == column.dtype:
        return column
    cells = column.to_list() if kind.is_nested() else column.cast(pl.String)
    return pl.Series(column.name, cells, kind)


def _used_kind(column: pl.Series) -> pl.DataType:
    """Return the type of a column with those labels alone that its cells have."""
    kind = column.dtype
    if isinstance(kind, pl.Enum):
        used = set(column.drop_nulls().unique().cast(pl.String))
        return pl.Enum([label for label in kind.categories if label in used])
    if isinstance(kind, pl.List):
        return pl.List(_used_kind(column.explode()))
    if isinstance(kind, pl.Array):
        return pl.Array(_used_kind(column.explode()), kind.size)
    if isinstance(kind, pl.Struct):
        return pl.Struct(
            {one.name: _used_kind(column.struct.field(one.name)) for one in kind.fields}
        )
    return kind
