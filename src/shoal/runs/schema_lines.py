"""Lines of a schema file: comments, lists, and how the file of a table is read."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from shoal.ask.ask import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.assumed import Assumption
    from shoal.inspection.assuming import Opened

WIDTH = 92


def comment(text: str) -> list[str]:
    """Return the lines of a comment."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return [f"# {line}" for line in textwrap.wrap(plain, WIDTH, break_on_hyphens=False)]


def listed(names: tuple[str, ...]) -> str:
    """Return a list of names, a line each where they are many."""
    shown = quoted(names)
    if len(shown) <= WIDTH:
        return shown
    return "[\n" + "".join(f"  {quoted(name)},\n" for name in names) + "]"


def reading_lines(assumed: Sequence[Assumption]) -> list[str]:
    """Return how the file is read, where that has to be said, each with its reason."""
    said: list[str] = []
    for one in assumed:
        if not one.needed or one.column:
            continue
        said += comment(one.why if one.sure else f"? {one.why}")
        ways = [f"# {one.key} = {quoted(way)}" for way in one.choices]
        said += ways if one.value is None else [f"{one.key} = {quoted(one.value)}"]
        said.append("")
    return said


def code_lines(opened: Opened | None) -> dict[str, list[str]]:
    """Return for each column the lines that say which of its cells mean missing."""
    if opened is None:
        return {}
    why: dict[str, list[str]] = {}
    for one in opened.assumed:
        if one.key == "missing_codes":
            why.setdefault(one.column, []).extend(
                comment(one.why if one.sure else f"? {one.why} Do they mean missing?")
            )
    return {
        name: [*why.get(name, ()), f"missing_codes = {quoted(list(codes))}"]
        for name, codes in opened.layout.missing_codes.items()
    }
