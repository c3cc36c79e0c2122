"""Text in other encodings than UTF-8, as UTF-8: whoever reads it sees no other."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING

from shoal.errors import InputError, UsageError

if TYPE_CHECKING:
    from typing import BinaryIO


def check_encoding(encoding: str) -> str:
    """Return an encoding of text that is known, or raise."""
    try:
        "".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        msg = f"--encoding takes a name such as latin-1, cp1252 or utf-16. Got {encoding!r}."
        raise UsageError(msg) from None
    return encoding


class InUtf8(io.RawIOBase):
    """A stream of text in some encoding, read as UTF-8; a read gives about as much as asked for."""

    def __init__(self, source: BinaryIO, encoding: str, name: str) -> None:
        self.source, self.name, self.encoding = source, name, encoding
        self.decoder = codecs.getincrementaldecoder(check_encoding(encoding))()
        self.lines = 0

    def read(self, size: int = -1) -> bytes:
        """Return more of the text, nothing at its end."""
        text = b""
        more = b"first"
        while more and not text:
            more = self.source.read(size)
            text = self._decoded(more)
        self.lines += text.count(b"\n")
        return text

    def _decoded(self, data: bytes) -> bytes:
        try:
            return self.decoder.decode(data, final=not data).encode("utf-8")
        except UnicodeError as problem:
            before = getattr(problem, "object", b"")[: getattr(problem, "start", 0)]
            said = before if isinstance(before, str) else before.decode(self.encoding, "ignore")
            line = self.lines + said.count("\n") + 1
            msg = (
                f"{self.name!r} is not {self.encoding}: line {line} cannot be read so. Choose "
                "another --encoding."
            )
            raise InputError(msg) from None


def in_utf8(data: bytes, encoding: str, name: str) -> bytes:
    """Return the bytes of a text as UTF-8."""
    return b"".join(iter(InUtf8(io.BytesIO(data), encoding, name).read, b""))
