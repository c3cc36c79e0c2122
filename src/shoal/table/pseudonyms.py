"""Pseudonyms: values replaced by keyed hashes, so that only who has the key can make them."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import InputError, UsageError, option
from shoal.table.coding import check_type

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 16  # bytes of a key
LENGTH = 16  # bytes of a pseudonym: among a thousand million values, two alike once in 10**20 runs
VARIABLE = "SHOAL_KEY"
HOW = (
    f"Put a secret of at least {LEAST} bytes into a file and name it with {option('key_file')}, "
    f"or set {VARIABLE}."
)


def read_key(path: str | Path | None) -> bytes | None:
    """Return the key from a file, else from the environment, without a final line end."""
    if path is None:
        said = os.environ.get(VARIABLE)
        return os.fsencode(said) if said is not None else None
    try:
        return Path(path).read_bytes().rstrip(b"\r\n")
    except OSError as problem:
        msg = f"Cannot read the key file {Path(path).name!r}: {problem.strerror}."
        raise InputError(msg) from None


def check_key(columns: Sequence[str], key: bytes | None) -> None:
    """Raise where pseudonyms have no key, a short one, or a key has no pseudonyms to make."""
    if not columns:
        if key is not None:
            msg = (
                "A key was given, but no column to pseudonymize. Name it: "
                f"{option('pseudonymize')}."
            )
            raise UsageError(msg)
        return
    if key is None:
        msg = f"Pseudonyms need a key. {HOW}"
        raise UsageError(msg)
    if not isinstance(key, bytes):
        msg = f"The key has to be bytes, not {type(key).__name__}."
        raise UsageError(msg)
    if len(key) < LEAST:
        msg = (
            f"The key has only {len(key)} bytes. An attacker who tries all such keys can name "
            f"everyone. {HOW}"
        )
        raise UsageError(msg)


def pseudonymize(table: pl.DataFrame, columns: Sequence[str], key: bytes | None) -> pl.DataFrame:
    """Replace the values of columns by the first 128 bits of HMAC-SHA-256, in hexadecimal.

    The hashed text is the value's own, in UTF-8; equal values have equal pseudonyms, and a missing
    cell stays missing.
    """
    check_key(columns, key)
    if key is None:
        return table
    hashed = []
    for name in columns:
        check_type(table[name])
        texts = table[name].cast(pl.String)
        values = texts.unique().drop_nulls()
        names = pl.Series(
            [hmac.digest(key, value.encode(), "sha256")[:LENGTH].hex() for value in values],
            dtype=pl.String,
        )
        assert names.n_unique() == len(values), "two values share a pseudonym"
        hashed.append(texts.replace_strict(values, names, default=None).alias(name))
    return table.with_columns(hashed)


def warning(columns: Sequence[str]) -> str:
    """Return what the owner and every reader should know about pseudonyms."""
    listed = ", ".join(map(repr, columns))
    return (
        f"Published as pseudonyms: {listed}. A reader can join releases made with the same key "
        "row by row, and can see which rows belong to one person. No requirement covers what "
        "that reveals. Anyone who has the key and a list of names can name everyone."
    )
