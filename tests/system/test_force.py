"""What `--force` replaces: a release, every file of it, and nothing that is somebody's own."""

from pathlib import Path

import pytest

from system.shell import anonymize, names_in, people, shoal, write_csv

FORMS = ["intervals", "bounds", "means", "two-tables"]
OWN = ["people.csv", "values.csv", "release.tsv", "notes.txt", "codebook.md", ".hidden", "kept/"]
ASKED = "EpsilonM(epsilon=500, m=2)"


def publish(place: Path, *options: str, require: str = ASKED) -> int:
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


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("command", ["anonymize", "coarsen", "scripts"])
def test_an_output_without_a_name_is_refused_and_nothing_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, force: tuple[str, ...]
) -> None:
    """An empty name leads to the working directory, which is somebody's own."""
    write_csv(tmp_path / "table.csv", people(40))
    assert publish(tmp_path) == 0
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("mine")
    monkeypatch.chdir(home)
    if command == "anonymize":
        found = anonymize(tmp_path / "table.csv", Path(), "--output", "", *force, require=ASKED)
        code = found.code
    else:
        options = () if command == "scripts" else ("--require", "KAnonymity(k=4)", *force)
        code = shoal(command, tmp_path / "out", *options, "--output", "").code
    assert code == 2
    assert names_in(home) == ["thesis.tex"]
    assert names_in(Path.cwd()) == ["thesis.tex"]
