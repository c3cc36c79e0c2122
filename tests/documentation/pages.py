"""The pages of the documentation, and the blocks of code on them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, *sorted(DOCS.rglob("*.md")))
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$(\s*)", re.DOTALL | re.MULTILINE)
RUNS = ("python", "sh", "sql", "r")
EXCEPTIONS = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text("utf-8"))["block"]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the name of the file it stands for, and what it says."""

    language: str
    title: str | None
    text: str
    line: int
    output: str | None = None  # what a block that runs is said to print

    @property
    def runs(self) -> bool:
        """Whether this is a program, and not a file or something to look at."""
        return self.title is None and self.language in RUNS


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
        follows = fence.start() == end and found and found[-1].runs
        end = fence.end()
        if language == "text" and title is None and follows:
            before = found.pop()
            found.append(Block(before.language, before.title, before.text, before.line, text))
        else:
            found.append(Block(language, title, text, line))
    return found


def excused(page: Path, block: Block) -> bool:
    """Return whether a block is one of the few that tests do not run."""
    return any(
        one["page"] == name_of(page) and block.text.startswith(one["begins"]) for one in EXCEPTIONS
    )


def tried(page: Path) -> list[Block]:
    """Return the blocks of a page that tests go through: files to write and programs to run."""
    return [
        block
        for block in blocks(page)
        if (block.runs or block.title is not None) and not excused(page, block)
    ]


def sections(page: Path) -> dict[str, str]:
    """Return what stands under each heading of the second level."""
    parts = re.split(r"^## (.+)\n", page.read_text("utf-8"), flags=re.MULTILINE)
    return {
        heading.strip(): text.strip()
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def script(name: str) -> Any:
    """Return one of the programs that make parts of the documentation."""
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
