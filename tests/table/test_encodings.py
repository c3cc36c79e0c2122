"""Text in other encodings: the same cells as in UTF-8, however small the pieces it is read in."""

import gzip
import io

import polars as pl
import pytest

import shoal
from shoal.table.delimited import InUtf8, in_utf8
from shoal.table.reading import read_lean, read_table

TEXT = 'age,town,note\n30,Ulm,"zwei\nZeilen"\n31,München,Größe\n32,Köln,\n'
CODECS = ["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig", "mac-roman"]


@pytest.mark.parametrize("encoding", CODECS)
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_any_pieces_give_the_same_text(encoding, size):
    stream = InUtf8(io.BytesIO(TEXT.encode(encoding)), encoding, "table")
    pieces = []
    while piece := stream.read(size):
        pieces.append(piece)
    assert b"".join(pieces).decode() == TEXT
    assert in_utf8(TEXT.encode(encoding), encoding, "table").decode() == TEXT


@pytest.mark.parametrize("encoding", CODECS)
@pytest.mark.parametrize("packed", [False, True])
def test_tables_are_read_alike(tmp_path, encoding, packed):
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    data = TEXT.encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    plain = tmp_path / "plain.csv"
    plain.write_text(TEXT, "utf-8")
    expected = read_table(plain)
    assert read_table(path, encoding=encoding).equals(expected)
    lean = read_lean(path, encoding=encoding)
    assert lean.with_columns(pl.all().cast(pl.String)).equals(expected)


def test_what_cannot_be_read_so_is_told_with_its_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("age,town\n30,Ulm\n31,M".encode("cp1252") + b"\x81\n")
    for read in (read_table, read_lean):
        with pytest.raises(shoal.InputError, match=r"'table.csv' is not cp1252: line 3 "):
            read(path, encoding="cp1252")
    path.write_bytes(TEXT.encode("utf-16")[:-1])
    with pytest.raises(shoal.InputError, match="is not utf-16"):
        read_table(path, encoding="utf-16")


@pytest.mark.parametrize("encoding", ["latin-17", "", "zip", "base64", "\0"])
def test_unknown_encodings_are_refused(tmp_path, encoding):
    path = tmp_path / "table.csv"
    path.write_text(TEXT)
    for read in (read_table, read_lean):
        with pytest.raises(shoal.UsageError, match="`encoding` takes"):
            read(path, encoding=encoding)


def test_files_without_text_have_no_encoding(tmp_path):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    for read in (read_table, read_lean):
        with pytest.raises(shoal.UsageError, match="Omit `encoding`"):
            read(path, encoding="latin-1")
