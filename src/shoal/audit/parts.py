"""The part files of a release: there, readable to their end, and with the same columns."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.audit.digests import is_ordinary
from shoal.errors import InputError
from shoal.table.files import part_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, eq=False)
class PartFiles:
    """Parts of one table: their paths, how many rows each has, and the columns of all."""

    paths: tuple[Path, ...]
    heights: tuple[int, ...]
    columns: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows they have together."""
        return sum(self.heights)


def find_parts(directory: Path, stem: str, stated: Iterable[str]) -> PartFiles | None:
    """Return the parts of a table among the files that a manifest states, None where it has none.

    Nothing but the ends of the files is read.
    """
    names = part_files(stem, stated)
    if not names:
        return None
    paths, heights = [], []
    first: list[tuple[str, pl.DataType]] | None = None
    for name in names:
        path = directory / name
        if not is_ordinary(path):
            msg = f"{directory.name!r} has no {name}, or it is no ordinary file."
            raise InputError(msg)
        with _whole(path):
            file = pl.scan_parquet(path, glob=False)
            found = list(file.collect_schema().items())
            heights.append(int(file.select(pl.len()).collect().item()))
        if first is not None and found != first:
            msg = f"{name} has other columns than {names[0]}, or others of their types."
            raise InputError(msg)
        first = found
        paths.append(path)
    return PartFiles(tuple(paths), tuple(heights), tuple(column for column, _ in first or ()))


def read_part(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Return a part, or some of its columns."""
    with _whole(path):
        return pl.read_parquet(path, columns=columns, glob=False)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        msg = f"{path.name!r} is not a whole Parquet file ({reason}). Fetch it again."
        raise InputError(msg) from None
