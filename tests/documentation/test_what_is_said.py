"""What pages have to tell: where a promise ends, and where Shoal chose what a paper leaves open."""

import re
from pathlib import Path

import pytest

import shoal
from documentation.pages import PAGES, name_of, script, tried
from shoal.web.draft import ROLES

words = script("words_shown")
DOCS = Path(__file__).parents[2] / "docs"
PROMISE = re.compile(r"guesses one of the \w+ listed for a \w+'s group")
NEAR = 900  # characters within which a sentence stands beside another
SAID = [
    ("limits.md", "## Minimality", "`Freeform`"),
    ("limits.md", "## Several rows of one person", "--person"),
    ("limits.md", "## Ends of intervals", "published exactly"),
    ("limits.md", "## Pseudonyms", "--pseudonymize"),
    ("definitions/methods/Ring.md", "## Where Shoal chose", "order"),
    ("definitions/methods/Freeform.md", "## Where Shoal chose", "2,000 rows"),
    ("definitions/methods/XColor.md", "## Where Shoal chose", "stuck"),
    ("definitions/principles/EpsilonM.md", "(Lemma 1)", "Shoal needs none"),
    ("reference/files.md", "Nothing vouches for the manifest itself", "owner's word"),
]


@pytest.mark.parametrize(("page", "place", "words"), SAID, ids=[" ".join(one[:2]) for one in SAID])
def test_a_page_tells_it_in_its_place(page: str, place: str, words: str) -> None:
    _, found, rest = (DOCS / page).read_text(encoding="utf-8").partition(place)
    assert found
    assert words in rest.split("\n## ")[0]


def test_the_page_says_the_words_that_the_glossary_gives_to_it() -> None:
    """Every phrase on the left stands in what the page is made of; gaps for columns are dropped."""
    source = Path(shoal.__file__).parent
    files = [one for room in ("web", "ask", "principles") for one in (source / room).rglob("*")]
    spoken = "\n".join(
        re.sub(r" of \{\w+\}", "", words.plain(text)).lower()
        for file in files
        if file.suffix in {".html", ".py"}
        for text in words.whole(file)
    )
    table = (DOCS / "words.md").read_text("utf-8").partition("## All words")[0]
    _, _, *phrases = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
    assert len(phrases) >= 15
    assert [one for one in phrases if words.plain(one).lower() not in spoken] == []


@pytest.mark.parametrize(
    "page",
    [
        one
        for one in (*PAGES, DOCS / "llms.txt")
        if PROMISE.search(" ".join(one.read_text("utf-8").split()))
    ],
    ids=name_of,
)
def test_the_promise_stands_whole_and_beside_its_assumption(page: Path) -> None:
    """Wherever a page says what a guess of a listed value reaches, it says what any other does."""
    text = " ".join(page.read_text("utf-8").split())
    for found in PROMISE.finditer(text):
        after = text[found.end() : found.end() + NEAR]
        assert re.search(r"within .+? with a chance of at most 1 in ", after)
        assert re.search(r"[Aa]ny other guess", after)
        for words in ("group", "equally likely", "nothing else"):
            assert words in after.partition("ther guess")[2], words


def section(page: Path, anchor: str) -> list[str]:
    """Return the code that runs under a heading, or on the whole page where none is named."""
    text = page.read_text("utf-8")
    heads = {0: ""} | {
        text.count("\n", 0, one.start()) + 1: re.sub(r"[^a-z0-9]+", "-", one[1].lower()).strip("-")
        for one in re.finditer(r"^## (.+)$", text, re.MULTILINE)
    }
    return [
        block.text
        for block in tried(page)
        if block.runs
        and (not anchor or heads[max(at for at in heads if at < block.line)] == anchor)
    ]


def test_every_limit_is_shown_by_an_attack_that_runs() -> None:
    """A row of the table leads to a section of the page, and to code that the tests run."""
    page = DOCS / "limits.md"
    text = page.read_text("utf-8")
    rows = re.findall(
        r"^\| \[.+?\]\(#([\w-]+)\) \|.*\| \[.+?\]\(([\w/.-]*)#?([\w-]*)\) \|$", text, re.MULTILINE
    )
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert len(rows) == len(re.findall(r"^\| \[", text, re.MULTILINE)) == len(headings)
    for limit, file, anchor in rows:
        assert any(limit in re.sub(r"\W+", "-", one.lower()) for one in headings), limit
        where = DOCS / file if file else page
        assert file or anchor == limit, f"{limit} runs no attack of its own"
        code = "\n".join(section(where, anchor))
        assert re.search(
            r"shoal[ .](attack|audit|anonymize|measures\.refine)|manifest|found", code
        ), limit


def test_what_the_page_quotes_is_there_to_be_chosen() -> None:
    """A sentence that says to choose “…” names a button, a choice or a heading that exists."""
    source = Path(shoal.__file__).parent
    places = [*(source / "web" / "templates").glob("*.html"), source / "web" / "words.py"]
    places.append(source / "ask" / "fields.py")
    texts = [re.sub(r'"\n\s*"', "", one.read_text("utf-8")) for one in places]
    quoted = {one for text in texts for one in re.findall(r"“([A-Z][^”{]*)”", text)}
    assert len(quoted) > 4
    texts += [one.read_text("utf-8") for one in (source / "views" / "templates").glob("*.html")]
    shown = {one.strip() for text in texts for one in re.findall(r">([^<>{}]+)[<{]", text)}
    either = {
        part for text in texts for part in re.findall(r'else "([A-Z]\w+)" }}([^<>{}]+)<', text)
    }
    there = shown | set(ROLES.values()) | {"".join(one) for one in either}
    assert quoted <= there, quoted - there
    roles = {one for text in texts for one in re.findall(r"“\{\{ roles\.(\w+) \}\}”", text)}
    assert roles
    assert roles <= ROLES.keys()


def test_the_landing_page_has_three_doors_of_three_to_five_pages() -> None:
    page = (DOCS / "index.md").read_text("utf-8")
    doors = re.findall(r"^### (I .+)\n((?:(?!^##).*\n)+)", page, re.MULTILINE)
    assert [name for name, _ in doors] == ["I publish", "I analyse", "I check or attack"]
    for _, steps in doors:
        pages = re.findall(r"^\d\. \[.+?\]\((.+?\.md)\)", steps, re.MULTILINE)
        assert 3 <= len(pages) <= 5
        assert all((DOCS / one).exists() for one in pages)
    before, commands = re.split(r"^```sh\n", page, maxsplit=1, flags=re.MULTILINE)
    assert "assets/andy.svg" in before
    assert len(re.findall(r"^shoal ", commands.partition("```")[0], re.MULTILINE)) == 2
