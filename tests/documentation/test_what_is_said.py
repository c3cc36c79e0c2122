"""What pages have to tell: where a promise ends, and where Shoal chose what a paper leaves open."""

from pathlib import Path

import pytest

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
