"""The encoding of a text, which all of its lines decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.table.delimited import BOM, MIXED, either

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

PART = 2**22  # bytes that are looked at in one go
UTF16 = (b"\xff\xfe", b"\xfe\xff")
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16", MIXED)
LETTERS = set("äöüÄÖÜßéèêëàâáçñóòôúùûíìîïåÅæÆøØœ§°µ€–—„“”‘’…«»´·²³½\xa0")


@dataclass
class Scanned:
    """The encoding of a text, None for UTF-8, why, and whether that is sure."""

    encoding: str | None = None
    why: str = ""
    sure: bool = True


def tell_encoding(source: BinaryIO, watch: Callable[[], None]) -> Scanned:
    """Read a text once, to tell its encoding: UTF-8, else what its lines can be."""
    head = source.read(4)
    if head[:2] in UTF16:
        return Scanned("utf-16", "The file begins with the mark of UTF-16.")
    if len(head) == 4 and 0 in head and head.count(0) == 2:
        little = head[0] != 0
        name = "utf-16-le" if little else "utf-16-be"
        return Scanned(name, "Every second byte is empty, as in UTF-16 without its mark.")
    rest = head.removeprefix(BOM)
    good = bad = 0
    letters: set[str] = set()
    while True:
        more = source.read(PART)
        data = rest + more
        end = data.rfind(b"\n") + 1 if more else len(data)
        part, rest = data[:end], data[end:]
        if not part.isascii() and not (good and bad):
            own = _lines_of(part, letters)
            good, bad = good + own[0], bad + own[1]
        watch()
        if not more:
            return _judged(good, bad, letters)


def _lines_of(part: bytes, letters: set[str]) -> tuple[int, int]:
    """Return how many lines beyond ASCII are UTF-8, and how many are not."""
    try:
        part.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return 1, 0
    good = bad = 0
    for line in part.split(b"\n"):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            good += 1
        except UnicodeDecodeError:
            letters.update(one for one in either(line) if ord(one) > 127)
            bad += 1
    return good, bad


def _judged(good: int, bad: int, letters: set[str]) -> Scanned:
    if not bad:
        return Scanned(None, "Every line is UTF-8.")
    usual = letters <= LETTERS
    if good:
        why = (
            "Some lines are UTF-8 and others are not. Shoal reads the others as cp1252. Check "
            "words with accents."
        )
        return Scanned(MIXED, why, sure=usual)
    name = "latin-1" if letters & {chr(at) for at in (129, 141, 143, 144, 157)} else "cp1252"
    why = f"Some lines are not UTF-8. As {name} (Western European), they read as words."
    if not usual:
        why = f"Some lines are not UTF-8. Shoal reads them as {name}: check words with accents."
    return Scanned(name, why, sure=usual)
