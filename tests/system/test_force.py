"""What `--force` replaces: a release, every file of it, and nothing that is somebody's own."""

from pathlib import Path

import pytest

from system.shell import anonymize, names_in, people, write_csv

FORMS = ["intervals", "bounds", "means", "two-tables"]
OWN = ["people.csv", "values.csv", "release.tsv", "notes.txt", "codebook.md", ".hidden", "kept/"]


def publish(place: Path, *options: str, require: str = "EpsilonM(epsilon=500, m=2)") -> int:
    return anonymize(place / "table.csv", place / "out", *options, require=require).code


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_of_any_form_and_format_is_replaced(tmp_path, form: str, format: str) -> None:
    write_csv(tmp_path / "table.csv", people(40))
    kept = ("--keep-other",) if form == "two-tables" else ()
    assert publish(tmp_path, "--form", form, "--format", format, *kept) == 0
    before = names_in(tmp_path / "out")
    assert publish(tmp_path) == 4
    assert names_in(tmp_path / "out") == before
    assert publish(tmp_path, "--force") == 0
    assert "release.csv" in names_in(tmp_path / "out")
    assert names_in(tmp_path) == ["out", "table.csv"]


@pytest.mark.parametrize("name", OWN)
def test_a_release_with_a_file_of_ones_own_beside_it_is_kept(tmp_path: Path, name: str) -> None:
    write_csv(tmp_path / "table.csv", people(40))
    assert publish(tmp_path) == 0
    own = tmp_path / "out" / name
    own.mkdir() if name.endswith("/") else own.write_text("mine")
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert publish(tmp_path, "--force") == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before
    assert name.endswith("/") or own.read_text() == "mine"
