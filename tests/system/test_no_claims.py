"""No file says that a release is anonymous, or that nobody can be found."""

import re
from pathlib import Path

import pytest

import shoal as shoal_package
from system.shell import anonymize, people, shoal, write_csv

# `k-anonymous` is a term, and a sentence may say what Shoal does not claim.
CLAIM = re.compile(
    r"(?<!not )\b(is|are|be) (now |fully |completely )?(anonymous|anonymi[sz]ed|safe|compliant)\b"
    r"|\b(nobody|no one|no person)('s( \w+){1,3})? can (be )?(\w+ly )?"
    r"(found|identif|singled|recogni|known|learn)"
    r"|\bcannot be (found|identified|singled|recogni)|\bguarantees? anonymity\b",
    re.IGNORECASE,
)


def test_the_look_for_claims_finds_them():
    for said in (
        "This release is anonymous.",
        "Nobody can be found in it.",
        "A person cannot be identified.",
        "so that nobody's sensitive value can be nearly known",
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


NORMS = ("ema", "hipaa", "iso27559", "gdpr", "ico", "nist", "fivesafes")
KINDS: dict[str, list[tuple[str, ...]]] = {  # the options of one release, or of each of several
    "regions": [("--cells", "regions", "--quasi", "age,town")],
    "no groups": [("--method", "Freeform()")],
    "readers who know the method": [("--method", "Oblivious()")],
    "a series": [("--ledger", "ledger")] * 2,
    "withheld": [("--withhold-counts", "--suppress", "10%", "--format", "parquet")],
}


def claims(text: str) -> list[str]:
    """Return what claims too much, in a text or a page."""
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>|\s+", " ", text))
    denied = "(does not say|No (dossier|file) says) that (a|the) release is anonymous"
    plain = re.sub(denied, "", plain)
    return [plain[one.start() - 80 : one.end() + 80] for one in CLAIM.finditer(plain)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_release_of_any_kind_claims_more(kind: str, tmp_path: Path) -> None:
    """Its files, what the terminal says, the dossier of every norm, and a coarser release."""
    table = write_csv(tmp_path / "table.csv", people(80))
    require = "KAnonymity(k=4)" if kind == "no groups" else "EpsilonM(epsilon=900, m=3)"
    said = []
    for turn, options in enumerate(KINDS[kind]):
        out = tmp_path / f"out{turn}"
        more = [str(tmp_path / one) if one == "ledger" else one for one in options]
        if kind == "a series":
            more += ["--person", "name", "--identifying", "unused"]
        done = anonymize(table, out, *more, require=require)
        assert done.code == 0, done
        said.append(done)
        original = ("--original", table) if kind == "no groups" else ()
        said.append(shoal("audit", out, *original))
        said.extend(
            shoal("dossier", out, "--norm", norm, "--output", tmp_path / f"{norm}{turn}.html")
            for norm in NORMS
        )
    if kind in {"withheld", "readers who know the method"}:
        coarser = ("--output", tmp_path / "coarser", "--require", "KAnonymity(k=10)")
        said.append(shoal("coarsen", tmp_path / "out0", *coarser))
    assert all(one.code == 0 for one in said), [one for one in said if one.code]
    for one in said:
        assert not claims(one.out + one.err)
    texts = [one for one in tmp_path.rglob("*") if one.suffix in {".html", ".json", ".csv", ".py"}]
    assert len(texts) > len(NORMS)
    for path in texts:
        assert not claims(path.read_text("utf-8")), path.name


def test_nor_does_what_says_what_shoal_is() -> None:
    """The package, its project file, its citation, the first page and the help."""
    root = Path(shoal_package.__file__).parents[2]
    names = ("pyproject.toml", "zensical.toml", "CITATION.cff", "README.md", "docs/index.md")
    texts = [(root / name).read_text("utf-8") for name in names]
    for text in (*texts, str(shoal_package.__doc__), shoal("--help").out):
        assert not claims(text)
