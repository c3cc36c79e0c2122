"""The pages of the documentation, and the blocks of code on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
DOCUMENTS = tuple(sorted(DOCS.rglob("*.md")))
PAGES = (README, *DOCUMENTS)
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$(\s*)", re.DOTALL | re.MULTILINE)
RUNS = ("python", "sh", "console")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the name of the file it stands for, and what it says."""

    language: str
    title: str | None
    text: str
    line: int
    output: str | None = None  # what a block that runs is said to print


def name_of(page: Path) -> str:
    """Return the name of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page; a `text` block right after one that runs is its output."""
    source = page.read_text("utf-8")
    found: list[Block] = []
    end = -1
    for fence in FENCE.finditer(source):
        language, title, text, _ = fence.groups()
        line = source.count("\n", 0, fence.start()) + 1
        follows = fence.start() == end and found and found[-1].language in RUNS
        end = fence.end()
        if language == "text" and title is None and follows:
            before = found.pop()
            found.append(Block(before.language, before.title, before.text, before.line, text))
        else:
            found.append(Block(language, title, text, line))
    return found


def sections(page: Path) -> dict[str, str]:
    """Return what stands under each heading of the second level."""
    parts = re.split(r"^## (.+)\n", page.read_text("utf-8"), flags=re.MULTILINE)
    return {
        heading.strip(): text.strip()
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }
