"""List every sentence that a user may see, with file and line: `python scripts/sentences.py`.

    python scripts/sentences.py [--long 30] [--count] [PART ...]

From code: help, errors, remarks and what views say, every text of three words or more that is no
docstring; docstrings of what is public. From templates: the text between tags, attributes that are
read, and what an expression chooses from. From scripts and styles of pages: their texts. From
norms: what they ask. From programs that load a release: comments, and what they stop with. From the
documentation and the README: paragraphs, list items and cells, without code. What is filled in is
`{…}`. Signatures, patterns, queries, markup and references to papers are left out. With `--count`
only numbers are printed: sentences and words a sentence for each part; with `--long N`, only
sentences of more than N words. PART is one of those that `--count` lists.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import shoal
from shoal.names import homes

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"
WORD = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ'’-]*")
ENDS = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!et al\.)\s+(?=[A-Z“\"{`*])")
SPACES = [shoal, *(getattr(shoal, one) for one, home in homes("shoal").items() if home == "shoal")]
PUBLIC = {name for space in SPACES for name in dir(space)}  # they have a docstring for users
FILLED = "{…}"
FEW = 3  # words from which a text says something
NEITHER = re.compile(  # a sentence nor part of one
    r"\\[bdsSw]|\(\?|\(\.\*|\[::1\]|^\w+\(u?int\d|^void\("  # patterns and signatures of kernels
    r"|^(?:SELECT|INSERT|CREATE|PRAGMA|ATTACH|COPY|INSTALL)\b|===|=>|::|\[\w+=|>>>|^[#./\[]\w"
    r"|^[A-ZÀ-Ý][\w.'’-]+(?:,| and| et al).* \(?(?:19|20)\d\d\)?$"  # references to papers
)
READ = re.compile(r"\b(?:placeholder|aria-label|title|alt)=\"([^\"]*)\"")
CHOSEN = re.compile(r"(?:\{\{|\{%).*?(?:\}\}|%\})", re.DOTALL)
LATEST = re.compile(r"^## .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class Sentence(NamedTuple):
    """One sentence, and where it stands."""

    part: str
    file: Path
    line: int
    text: str

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(WORD.findall(self.text))

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.text}"


def parted(part: str, file: Path, line: int, text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text."""
    plain = " ".join(text.split())
    for one in ENDS.split(plain):
        if len(WORD.findall(one)) >= FEW and not NEITHER.search(one):
            yield Sentence(part, file, line, one)


def literal(node: ast.AST) -> str | None:
    """Return the text that an expression spells, None where it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(one.value) if isinstance(one, ast.Constant) else FILLED for one in node.values
        )
    return None


def paragraphs(docstring: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring without its headings and examples, an entry each."""
    plain = re.sub(r"^.+\n-{3,}$", "", docstring, flags=re.MULTILINE)
    for text in re.split(r"\n\s*\n|\n(?=\w+ : )", plain):
        if not text.lstrip().startswith(">>>"):
            yield text


def in_code(file: Path) -> Iterator[Sentence]:
    """Yield what the texts of a module say, and its public docstrings."""
    tree = ast.parse(file.read_text("utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings: set[ast.AST] = set()
    inside: set[ast.AST] = set()  # parts of others, and lists of words that stand in one text
    public = {
        some
        for node in tree.body
        if isinstance(node, documented) and getattr(node, "name", "") in PUBLIC
        for some in [node, *(node.body if isinstance(node, ast.ClassDef) else [])]
        if not getattr(some, "name", "_").startswith("_")
    }
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            docstrings.add(first.value)
            if node in public:
                for part in paragraphs(ast.get_docstring(node) or ""):
                    yield from parted("docstrings", file, first.lineno, part)
        if isinstance(node, ast.JoinedStr):
            inside.update(ast.walk(node))
            inside.discard(node)
        if isinstance(node, ast.Attribute) and node.attr == "split":
            inside.add(node.value)
    for node in ast.walk(tree):
        text = literal(node)
        if text is None or node in docstrings or node in inside or " " not in text.strip():
            continue
        line = getattr(node, "lineno", 1)
        if re.search(r"</?[a-z]+[ >]", text):
            yield from said_in(text, file, line)
        else:
            yield from parted("code", file, line, text)


def _replaced(instead: str, found: re.Match[str]) -> str:
    """Return what stands in for something, over as many lines."""
    return instead + "\n" * found[0].count("\n")


def in_template(file: Path) -> Iterator[Sentence]:
    """Yield what stands between the tags of a template, and what its tags and expressions say."""
    yield from said_in(file.read_text("utf-8"), file, 1)


def said_in(text: str, file: Path, line: int) -> Iterator[Sentence]:
    """Yield what some markup says, which begins in a line."""
    begins = line
    for found in READ.finditer(text):
        at = begins + text.count("\n", 0, found.start())
        value = re.sub(r"\{%.*?%\}", "", re.sub(r"\{\{.*?\}\}", FILLED, found[1]))
        yield from parted("attributes", file, at, value)
    for found in CHOSEN.finditer(text):
        at = begins + text.count("\n", 0, found.start())
        for one in re.findall(r'"([^"<>]*)"', found[0]):
            yield from parted("templates", file, at, one)
    for pattern, instead in (
        (r"\{#.*?#\}|<!--.*?-->|<(script|style)\b.*?</\1>", ""),
        (r"\{%.*?%\}", ""),
        (r"\{\{.*?\}\}", FILLED),
        (r"</?(b|i|em|strong|code|span|a|abbr|kbd|q)\b[^>]*>", ""),
    ):
        text = re.sub(pattern, partial(_replaced, instead), text, flags=re.DOTALL)
    for piece in re.split(r"(<[^>]*>)", text):
        if not piece.startswith("<"):
            lead = len(piece) - len(piece.lstrip())
            yield from parted("templates", file, line + piece[:lead].count("\n"), piece)
        line += piece.count("\n")


def in_script(file: Path) -> Iterator[Sentence]:
    """Yield the texts of a script or a style sheet: what it writes on a page."""
    texts = r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`" if file.suffix == ".js" else r'content: "([^"]*)"'
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.lstrip().startswith(("//", "/*", "*")):
            for found in re.finditer(texts, line):
                text = re.sub(r"\$\{[^}]*\}", FILLED, next(filter(None, found.groups()), ""))
                if " " in text:
                    yield from parted("scripts", file, number, text)


def in_norm(file: Path) -> Iterator[Sentence]:
    """Yield what a norm asks and says, from the lines of its file that give a text."""
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if found := re.fullmatch(r"\w+ = \"(.*)\"", line):
            yield from parted("norms", file, number, found[1])


def in_loader(file: Path) -> Iterator[Sentence]:
    """Yield the comments of a program that loads a release, and what it stops with."""
    block: list[str] = []
    start = 1
    quoted = False  # within the docstring of a program in Python
    for number, line in enumerate([*file.read_text("utf-8").splitlines(), ""], 1):
        comment = re.match(r"(?:#|\*|//)(?: |$)", line)
        text = line[comment.end() :] if comment else line
        if quoted or comment or line.startswith('"""'):
            quoted ^= line.count('"""') % 2 == 1
            text = text.replace('"""', "")
            if text.strip() and not text.startswith("  "):
                start = start if block else number
                block.append(text)
                continue
        else:
            for found in re.finditer(r'(?:stop\(|Error\(f?|^ +)"([^"]+)"', line):
                yield from parted("loaders", file, number, re.sub(r"\{\w+\}", FILLED, found[1]))
        if block:
            yield from parted("loaders", file, start, " ".join(block))
            block = []


def in_page(file: Path, part: str) -> Iterator[Sentence]:
    """Yield what a page of the documentation says outside its code."""
    text = file.read_text("utf-8")
    if file.name == "CHANGELOG.md":
        latest = LATEST.search(text)
        text = text[: latest.end()] if latest else text
    fenced, start = False, 1
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
            line = ""  # noqa: PLW2901 - ends a paragraph
        elif fenced:
            continue
        begins = re.match(r"\s*([-*] |\d+\. |\||#|>|!!!)", line) is not None
        if (begins or not line.strip()) and block:
            yield from _paragraph(part, file, start, " ".join(block))
            block = []
        if line.strip():
            start = start if block else number
            block.append(line.strip())


def _paragraph(part: str, file: Path, line: int, text: str) -> Iterator[Sentence]:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]*>", "", text).strip("#>-* ")
    for cell in text.strip("|").split("|") if text.startswith("|") else [text]:
        yield from parted(part, file, line, cell)


def sentences() -> list[Sentence]:
    """Return all of them."""
    found: list[Sentence] = []
    for file in sorted(SOURCE.rglob("*.py")):
        found += in_code(file)
    for file in sorted(SOURCE.rglob("*.html")):
        found += in_template(file)
    for file in sorted((SOURCE / "web" / "static").glob("*.*s")):
        found += in_script(file)
    for file in sorted((SOURCE / "views" / "norms").glob("*.toml")):
        found += in_norm(file)
    for file in sorted((SOURCE / "release" / "loaders").glob("[!_]*")):
        found += in_loader(file)
    for file in sorted((ROOT / "docs").rglob("*.md")):
        found += in_page(file, "documentation")
    for name in ("README.md", "CHANGELOG.md"):
        found += in_page(ROOT / name, "README" if name == "README.md" else "changelog")
    return found


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--long", type=int, default=0, metavar="N")
    parser.add_argument("--count", action="store_true")
    asked = parser.parse_args()
    every = sentences()
    parts = list(dict.fromkeys(one.part for one in every))
    if unknown := {*asked.parts} - {*parts}:
        sys.exit(f"There is no part {unknown.pop()!r}: {', '.join(parts)}.")
    wanted = [one for one in every if not asked.parts or one.part in asked.parts]
    if asked.count:
        for part in [*parts, None]:
            some = [one.words for one in wanted if part is None or one.part == part]
            if some:
                mean = sum(some) / len(some)
                sys.stdout.write(f"{part or 'all':14} {len(some):6,} {mean:5.1f} words\n")
        return
    for one in wanted:
        if one.words > asked.long:
            sys.stdout.write(f"{one}\n")


if __name__ == "__main__":
    main()
