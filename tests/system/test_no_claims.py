"""No file says that a release is anonymous, or that nobody can be found."""

import re
from pathlib import Path

import pytest

from system.shell import anonymize, people, shoal, write_csv

# `k-anonymous` is a term, and a sentence may say what Shoal does not claim.
CLAIM = re.compile(
    r"(?<!not )\b(is|are|be) (now |fully |completely )?(anonymous|anonymi[sz]ed|safe|compliant)\b"
    r"|\b(nobody|no one|no person) can (be )?(found|identif|singled|recogni)"
    r"|\bcannot be (found|identified|singled|recogni)|\bguarantees? anonymity\b",
    re.IGNORECASE,
)


def test_the_look_for_claims_finds_them():
    for said in (
        "This release is anonymous.",
        "Nobody can be found in it.",
        "A person cannot be identified.",
    ):
        assert CLAIM.search(said), said
    assert not CLAIM.search("The table is 5-anonymous; Shoal does not say that it is not safe.")


@pytest.mark.parametrize(
    ("form", "require"),
    [
        ("intervals", "EpsilonM(epsilon=900, m=3)"),
        ("bounds", "KAnonymity(k=11)"),
        ("means", "FrequencyL(l=2)"),
        ("two-tables", "EpsilonM(epsilon=900, m=3)"),
    ],
)
def test_no_file_of_a_release_claims_more_than_was_measured(
    form: str, require: str, tmp_path: Path
):
    table, out = write_csv(tmp_path / "table.csv", people(80)), tmp_path / "out"
    options = ("--form", form, "--owner-report", tmp_path / "owner.html", "--keep-other")
    assert anonymize(table, out, *options, require=require).code == 0
    assert shoal("certificate", out, tmp_path / "certificate.html").code == 0
    assert shoal("scripts", out, "--output", tmp_path / "programs").code == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != table]
    assert len(files) >= 7
    for path in files:
        text = re.sub(r"<[^>]*>|\s+", " ", path.read_text("utf-8"))
        found = CLAIM.search(re.sub(r" +", " ", text))
        assert found is None, (path.name, text[found.start() - 80 : found.end() + 80])
