"""The certificate: two pages to sign, measured from the files, and never inside the release."""

import json
from pathlib import Path

import pytest

from system.shell import anonymize, names_in, people, shoal, write_csv


@pytest.fixture
def released(tmp_path: Path) -> Path:
    table = write_csv(tmp_path / "table.csv", people(80))
    options = ("--title", "Salaries of the <b>valley</b>")
    assert (
        anonymize(table, tmp_path / "out", *options, require="EpsilonM(epsilon=900, m=3)").code == 0
    )
    return tmp_path / "out"  # fmt: skip


def test_it_says_what_holds_with_digests_and_a_place_to_sign(released: Path) -> None:
    before = {name: (released / name).read_bytes() for name in names_in(released)}
    file = released.parent / "certificate.html"
    outcome = shoal("certificate", released, file, "--json")
    assert outcome.code == 0, outcome
    assert outcome.json()["holds"]
    page = file.read_text("utf-8")
    manifest = json.loads((released / "manifest.json").read_text("utf-8"))
    for words in (">Holds<", manifest["id"], *manifest["digests"].values(), "signature"):
        assert words in page or words == manifest["digests"]["report.html"]
    assert "&lt;b&gt;valley" in page
    assert "cannot say with more than 1 in 3 certainty" in page
    assert str(released.parent) not in page
    assert {name: (released / name).read_bytes() for name in names_in(released)} == before


def test_a_changed_file_is_certified_as_broken(released: Path) -> None:
    report = released / "report.html"
    report.write_text(report.read_text("utf-8") + " ", "utf-8")
    file = released.parent / "certificate.html"
    assert shoal("certificate", released, file).code == 1
    page = file.read_text("utf-8")
    assert ">Does not hold<" in page
    assert "Not as promised" in page


@pytest.mark.parametrize(
    ("name", "code"),
    [("out/certificate.html", 2), ("table.csv", 4), ("no/where.html", 4), ("c.pdf", 2)],
)
def test_it_replaces_nothing_and_stays_outside(released: Path, name: str, code: int) -> None:
    place = released.parent
    before = (names_in(place), names_in(released), (place / "table.csv").read_bytes())
    outcome = shoal("certificate", released, place / name)
    assert outcome.code == code, outcome
    assert before == (names_in(place), names_in(released), (place / "table.csv").read_bytes())


def test_only_a_release_is_certified(released: Path) -> None:
    place = released.parent
    assert shoal("certificate", place / "table.csv", place / "c.html").code == 2
    assert shoal("certificate", place, place.parent / "c.html").code == 2
