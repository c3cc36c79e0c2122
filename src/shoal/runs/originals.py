"""The original table and its control group, read as the schema file that names the table says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask.options import READING, options_of
from shoal.errors import ShoalError
from shoal.runs.run import Run
from shoal.table.reading import take_frame

if TYPE_CHECKING:
    import polars as pl

    from shoal.ask.ask import Ask


def read_original(source: Any, said: Ask) -> pl.DataFrame:
    """Return a table: as a schema file says, where that names it, and else as it is."""
    if not isinstance(source, str | Path):
        return take_frame(source)
    return take_frame(Run(table=str(source), **_how(source, said)).frame())


def read_controls(source: Any, original: Any, people: pl.DataFrame, said: Ask) -> pl.DataFrame:
    """Return the control group of an original: as Shoal writes one, or read like the original.

    Whatever the original looks like, Shoal writes a plain CSV file with columns of the original.
    """
    how = _how(original, said) if isinstance(original, str | Path) else {}
    if not isinstance(source, str | Path) or not how:
        return read_original(source, said)
    with suppress(ShoalError):
        plain = Run(table=str(source), missing_codes=how["missing_codes"]).frame()
        if set(plain.columns) <= set(people.columns):
            return take_frame(plain)
    return take_frame(Run(table=str(source), **how).frame())


def _how(source: str | Path, said: Ask) -> dict[str, Any]:
    """Return how a schema file says that a table is read; nothing where it names another."""
    if [Path(one).resolve() for one in said.table] != [Path(source).resolve()]:
        return {}
    reading = [name for name, one in options_of(type(said)).items() if one.panel == READING]
    return {name: getattr(said, name) for name in reading}
