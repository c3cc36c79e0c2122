"""Frames that are not there yet: lazy ones, relations of DuckDB, Arrow datasets, read in batches.

Such a frame is a question, and might be answered in another order the next time. So it is asked
once, for the columns that are needed, and what is published comes from that answer alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.errors import InputError, ShoalError
from shoal.table.columns import Gathered, Handed
from shoal.table.files import load
from shoal.table.forms import check_header
from shoal.table.frames import arrow_columns, hold_times, only_used

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    # The columns, the types of those that are wanted, and these in batches.
    Opened = tuple[list[str], dict[str, pl.DataType], Iterator[pl.DataFrame]]

BATCH = 2**16  # rows that are taken at a time


class Streamed(Handed):
    """A table that was read from a frame in batches, and what its columns were there.

    Whoever takes it holds it alone; who asks again has the frame read again.
    """

    def __init__(self, frame: Any, wanted: Collection[str]) -> None:
        self.frame = frame
        table, self.kinds = _read(frame, wanted, lean=True)
        super().__init__(table)

    def take(self) -> pl.DataFrame:
        """Return the table, the first time that which was read with the columns that are needed."""
        return super().take() if self._held else read_stream(self.frame)

    def give(self, table: pl.DataFrame, carried: Collection[str]) -> object:
        """Return a published table as Polars or Arrow; carried columns have the types they had.

        Lists, structs, bytes and durations are text, as in files.
        """
        columns = []
        for column in table:
            kind = self.kinds.get(column.name) if column.name in carried else None
            if kind is None or kind.is_nested() or kind in (pl.Binary, pl.Duration):
                columns.append(column)  # which has text where files have no other way to hold it
            elif isinstance(kind, pl.Enum):
                texts = column.cast(pl.String)
                labels = kind.categories if len(kind.categories) else texts.drop_nulls().unique()
                columns.append(only_used(texts.cast(pl.Enum(labels))))
            else:
                columns.append(column.cast(kind))
        whole = pl.DataFrame(columns)
        return whole if isinstance(self.frame, pl.LazyFrame) else whole.to_arrow()


def is_stream(frame: Any) -> bool:
    """Return whether a frame can be read in batches, without loading what it might be of."""
    return isinstance(frame, pl.LazyFrame) or _is_dataset(frame) or _is_relation(frame)


def _is_dataset(frame: Any) -> bool:
    return hasattr(frame, "scanner") and type(frame).__module__.startswith("pyarrow")


def _is_relation(frame: Any) -> bool:
    return type(frame).__name__ == "DuckDBPyRelation"


def read_stream(frame: Any) -> pl.DataFrame:
    """Return all of a frame that can be read in batches."""
    return _read(frame, None, lean=False)[0]


def _read(
    frame: Any, wanted: Collection[str] | None, *, lean: bool
) -> tuple[pl.DataFrame, dict[str, pl.DataType]]:
    """Return a table; columns that are not wanted have their name and place, and no cells."""
    how = _lazy if isinstance(frame, pl.LazyFrame) else _arrow
    gathered, rows = Gathered(lean=lean), 0
    try:
        header, kinds, batches = how(frame, wanted)
        for batch in batches:
            gathered.add(batch)
            rows += batch.height
    except Exception as problem:
        room = type(problem).__module__.lstrip("_").partition(".")[0]
        if isinstance(problem, ShoalError) or not (
            isinstance(problem, OSError) or room in {"polars", "pyarrow", "duckdb"}
        ):
            raise
        # Its text may hold cells, so only its kind is told.
        msg = f"The frame cannot be read as a table ({type(problem).__name__})."
        raise InputError(msg) from None
    return hold_times(gathered.table(header, rows)), kinds


def _lazy(frame: pl.LazyFrame, wanted: Collection[str] | None) -> Opened:
    header = frame.collect_schema().names()
    check_header(header, "the frame")
    kept = frame.select(name for name in header if wanted is None or name in wanted)
    schema = kept.collect_schema()

    def batches() -> Iterator[pl.DataFrame]:
        yield schema.to_frame(eager=True)
        if hasattr(kept, "collect_batches"):
            yield from kept.collect_batches(chunk_size=BATCH, maintain_order=True)
        else:  # a Polars that has no batches yet
            yield from kept.collect().iter_slices(BATCH)

    return header, dict(schema), batches()


def _arrow(frame: Any, wanted: Collection[str] | None) -> Opened:
    arrow = load("pyarrow", extra="duckdb", what="A relation of DuckDB")
    header = list(frame.schema.names if _is_dataset(frame) else frame.columns)
    check_header(header, "the frame")
    kept = [name for name in header if wanted is None or name in wanted]
    if _is_dataset(frame):
        scanned = frame.scanner(columns=kept, batch_size=BATCH, **_frugally(frame))
        found, schema = scanned.to_batches(), scanned.projected_schema
    else:
        some = frame.select(", ".join(map(_quoted, kept))) if kept else frame.limit(0)
        found = arrow.RecordBatchReader.from_stream(some)
        schema = found.schema
    listed = [one.name for one in schema if arrow.types.is_dictionary(one.type)]

    def taken(table: Any) -> pl.DataFrame:
        for name in listed:  # every batch has a dictionary of its own
            at = schema.get_field_index(name)
            plain = table.column(at).cast(schema.field(at).type.value_type)
            table = table.set_column(at, name, plain)
        return arrow_columns(table).select(kept)

    empty = taken(schema.empty_table())

    def batches() -> Iterator[pl.DataFrame]:
        yield empty
        for batch in found:
            yield taken(arrow.Table.from_batches([batch]))

    return header, dict(empty.schema) | dict.fromkeys(listed, pl.Enum([])), batches()


def _frugally(dataset: Any) -> dict[str, Any]:
    """Return how a dataset is scanned so that no more is held than what is taken at a time."""
    how = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
    if getattr(getattr(dataset, "format", None), "default_extname", None) == "parquet":
        from pyarrow.dataset import ParquetFragmentScanOptions

        # By default all columns of a file are fetched before the first of its rows is given.
        how["fragment_scan_options"] = ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True
        )
    return how


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
