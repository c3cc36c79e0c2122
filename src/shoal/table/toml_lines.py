"""Where keys stand in a TOML text: `tomllib` gives values without their lines.

The text must have been read by `tomllib` before, so that only right TOML is scanned here.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
LONG_QUOTES = ('"""', "'''")


def key_lines(text: str) -> dict[Path, int]:
    """Return the line, counted from 1, of every key and list item by its path.

    >>> key_lines('c.d = ["x", "y"]')[("c", "d", 1)]
    1
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.ends = [place for place, letter in enumerate(text) if letter == "\n"]
        self.lines: dict[Path, int] = {}
        self.tables: dict[Path, int] = {}  # how many entries a list of tables has so far

    def scan(self) -> dict[Path, int]:
        prefix: Path = ()
        self.skip_blank()
        while self.place < len(self.text):
            if self.at("["):
                prefix = self.header()
            else:
                self.pair(prefix)
            self.skip_blank()
        return self.lines

    def at(self, start: str) -> bool:
        return self.text.startswith(start, self.place)

    def note(self, path: Path) -> None:
        self.lines.setdefault(path, bisect_right(self.ends, self.place - 1) + 1)

    def skip_blank(self) -> None:
        """Go on to the next character that is no space, end of line or comment."""
        while self.place < len(self.text):
            if self.at("#"):
                end = self.text.find("\n", self.place)
                self.place = len(self.text) if end < 0 else end
            elif self.text[self.place] in " \t\r\n":
                self.place += 1
            else:
                return

    def header(self) -> Path:
        """Read `[a.b]` or `[[a.b]]` and return what it stands for."""
        several = self.at("[[")
        start = self.place
        self.place += 2 if several else 1
        keys = self.keys()
        after = self.place + (2 if several else 1)
        path: Path = ()
        self.place = start
        for key in keys:
            path = (*path, key)
            self.note(path)
            if path in self.tables and path != tuple(keys):
                path = (*path, self.tables[path] - 1)
        if several:
            self.tables[path] = self.tables.get(path, 0) + 1
            path = (*path, self.tables[path] - 1)
            self.note(path)
        self.place = after
        return path

    def pair(self, prefix: Path) -> None:
        """Read `a.b = value`."""
        start = self.place
        keys = self.keys()
        after = self.place
        self.place = start
        for count in range(len(keys)):
            self.note((*prefix, *keys[: count + 1]))
        self.place = after + 1  # the sign of equality
        self.value((*prefix, *keys))

    def keys(self) -> list[str]:
        """Read keys with dots between them, up to what follows them."""
        found = []
        while True:
            self.skip_blank()
            start = self.place
            if self.text[start] in "\"'":
                self.string()
                (key,) = tomllib.loads(f"{self.text[start : self.place]} = 0")
                found.append(key)
            else:
                while self.place < len(self.text) and self.text[self.place] in BARE:
                    self.place += 1
                found.append(self.text[start : self.place])
            self.skip_blank()
            if not self.at("."):
                return found
            self.place += 1

    def value(self, path: Path) -> None:
        """Pass a value, noting what is in it."""
        self.skip_blank()
        if self.at("["):
            self.items(path)
        elif self.at("{"):
            self.inline(path)
        elif self.text[self.place] in "\"'":
            self.string()
        else:
            while self.place < len(self.text) and self.text[self.place] not in ",]}#\n":
                self.place += 1

    def items(self, path: Path) -> None:
        self.place += 1
        count = 0
        self.skip_blank()
        while not self.at("]"):
            self.note((*path, count))
            self.value((*path, count))
            count += 1
            self.pass_comma()
        self.place += 1

    def inline(self, path: Path) -> None:
        self.place += 1
        self.skip_blank()
        while not self.at("}"):
            self.pair(path)
            self.pass_comma()
        self.place += 1

    def pass_comma(self) -> None:
        self.skip_blank()
        if self.at(","):
            self.place += 1
            self.skip_blank()

    def string(self) -> None:
        """Pass a string of any of the four kinds."""
        quote = self.text[self.place : self.place + 3]
        if quote not in LONG_QUOTES:
            quote = quote[0]
        self.place += len(quote)
        while not self.at(quote):
            self.place += 2 if self.at("\\") and quote[0] == '"' else 1
        self.place += len(quote)
        if len(quote) == 3:  # up to two more quotes belong to the string before its end
            while self.at(quote[0]):
                self.place += 1
