"""Which words of Shoal a picture shows, so that a test notices when Shoal says something else.

A picture cannot be compared with one that is taken anew: clocks, fonts and browsers differ. So what
is kept beside each picture is the pieces of text from templates and code that are in view on it,
and the digest of its file. A piece is what stands between tags and between what is filled in.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import html
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "docs" / "assets"
KEPT = ASSETS / "pictures.json"
LEAST = 9  # letters from which a piece of two words or more is not anywhere by chance
BETWEEN = re.compile(
    r"\{#.*?#\}|<(?:script|style)\b.*?</(?:script|style)>|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL
)
IN_VIEW = """() => {
  const found = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode, range = document.createRange();
    range.selectNodeContents(text);
    const seen = text.parentElement.checkVisibility() && [...range.getClientRects()].some(
      (one) => one.width > 1 && one.bottom > 0 && one.top < innerHeight);
    if (!seen) continue;
    let block = text.parentElement;
    while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement;
    found.set(block, (found.get(block) ?? "") + text.data);
  }
  return [...found.values()];
}"""


def plain(text: str) -> str:
    """Return a text with single spaces and one kind of quotation marks."""
    return " ".join(html.unescape(text).replace("’", "'").split())


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in what a file of TOML holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def of_file(file: Path) -> Iterator[str]:
    """Yield what a source file says, in pieces between tags and what is filled in."""
    for text in whole(file):
        yield from re.split(r"\{\w*\}", text) if file.suffix == ".py" else (text,)


def whole(file: Path) -> Iterator[str]:
    """Yield the texts of a source file, with the names of what is filled into those of code."""
    source = file.read_text("utf-8")
    if file.suffix == ".html":
        # What an expression chooses from is said too.
        chosen = re.findall(r"\{\{.*?\}\}|\{%.*?%\}", source, re.DOTALL)
        yield from re.findall(r'"([^"<>]+)"', " ".join(chosen))
        yield from BETWEEN.split(source)
    elif file.suffix == ".toml":
        yield from texts(tomllib.loads(source))
    else:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@functools.cache
def pieces() -> frozenset[str]:
    """Return what the sources say now."""
    source = Path(shoal.__file__).parent
    files = [one for end in ("py", "html", "toml") for one in source.rglob(f"*.{end}")]
    said = {plain(piece).strip(" .,:;()") for file in files for piece in of_file(file)}
    return frozenset(one for one in said if " " in one and sum(map(str.isalpha, one)) >= LEAST)


def shown(lines: list[str]) -> list[str]:
    """Return the pieces of the sources that stand in what is in view, the longest of each place."""
    text = "\n".join(map(plain, lines))
    found = []
    for piece in sorted(pieces(), key=lambda one: (-len(one), one)):
        if re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", text):
            found.append(piece)
            text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "…", text)
    return sorted(found)


def digest(picture: Path) -> str:
    """Return the digest of a picture's file."""
    return hashlib.sha256(picture.read_bytes()).hexdigest()[:16]


def kept() -> dict[str, Any]:
    """Return what is kept beside the pictures, by the name of each."""
    return json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}


def keep(picture: Path, lines: list[str]) -> None:
    """Keep the words of a picture that was just taken."""
    all_of_them = kept() | {
        picture.name: {
            "digest": digest(picture),
            "version": shoal.__version__,
            "words": shown(lines),
        }
    }
    there = {name: all_of_them[name] for name in sorted(all_of_them) if (ASSETS / name).exists()}
    KEPT.write_text(json.dumps(there, indent=1, ensure_ascii=False) + "\n", "utf-8")
