"""Writing published rows batch by batch: the whole table is never in memory."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.progress import in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def write_csv(
    batches: Iterator[pl.DataFrame], file: Any, separator: str, watch: Callable[[int], None]
) -> None:
    """Write batches as delimited text, calling `watch` with the number of rows written so far."""
    done = 0
    for batch in batches:
        batch.write_csv(file, include_header=not done, separator=separator)
        done += batch.height
        watch(done)


def write_json_lines(
    batches: Iterator[pl.DataFrame], file: Any, watch: Callable[[int], None]
) -> None:
    """Write batches as JSON lines, calling `watch` with the number of rows written so far."""
    done = 0
    for batch in batches:
        batch.write_ndjson(file)
        done += batch.height
        watch(done)


def write_parquet(
    batches: Iterator[pl.DataFrame], path: Path, watch: Callable[[int], None]
) -> None:
    """Write batches as Parquet, calling `watch` with the number of rows handed over so far.

    Polars asks for the batches itself, from a thread of its own, so that the interpreter's own
    thread stays free to hear Ctrl-C. What goes wrong in making a batch is raised as it is.
    """
    from polars.io.plugins import register_io_source

    first = next(batches)
    done = 0
    wrong: list[BaseException] = []

    def source(*_asked: object) -> Iterator[pl.DataFrame]:
        nonlocal done
        try:
            for batch in chain([first], batches):
                yield batch
                done += batch.height
        except BaseException as problem:
            wrong.append(problem)
            raise

    def write() -> None:
        try:
            register_io_source(source, schema=first.schema).sink_parquet(
                path, compression="zstd", statistics=False, maintain_order=True
            )
        except pl.exceptions.PolarsError:
            if wrong:
                raise wrong[0] from None
            raise

    in_threads([write], lambda: watch(done))
