"""What pages have to tell: where a promise ends, and where Shoal chose what a paper leaves open."""

import re
from pathlib import Path

import pytest

import shoal
from shoal.web.draft import ROLES

DOCS = Path(__file__).parents[2] / "docs"
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
