"""The formats a release can be written in; each is also the ending of its file."""

from __future__ import annotations

TEXT = ("csv", "tsv", "jsonl")
PACKED = ("gz", "zst")
FORMATS = (
    *TEXT,
    "parquet",
    "feather",
    "xlsx",
    *(f"{text}.{packed}" for text in TEXT for packed in PACKED),
)
TABLES = tuple(f"release.{ending}" for ending in FORMATS)
EXCEL_ROWS = 1_048_576  # of a sheet, its header included


def separator_of(format: str) -> str | None:
    """Return what separates the cells of a format, None where nothing does."""
    return {"csv": ",", "tsv": "\t"}.get(format.partition(".")[0])
