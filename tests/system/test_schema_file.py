"""From `shoal inspect` over `shoal init` to a release, and a schema file that is wrong."""

import json
import os
import random
from pathlib import Path

import polars as pl
import pytest

from shoal.datasets.census import census
from system.shell import Row, names_in, shoal, write_csv


def staff(rows: int = 120) -> list[Row]:
    chance = random.Random(5)
    return [
        {
            "staff_id": str(1000 + number),
            "full name": f"Person {number:03d}",
            "age": str(chance.randint(20, 60)),
            "zip": f"{chance.randint(1, 30):05d}",
            "grade of entry": chance.choice(["low", "medium", "high"]),
            "hired": f"20{chance.randint(10, 20)}-{chance.randint(1, 12):02d}-03",
            "salary": str(chance.randint(1000, 90_000)),
            "wave": "1",
        }
        for number in range(rows)
    ]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", staff())


def test_inspect_prints_at_eighty_columns(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = shoal("inspect", people)
    assert found.code == 0
    *lines, command = found.out.splitlines()  # which is to be typed, so it is not folded
    assert command.startswith("shoal init ")
    assert max(map(len, lines)) <= 80
    for word in ("staff_id", "identifying", "salary", "sensitive", "leave out", "unique"):
        assert word in found.out
    assert "Person" not in found.out  # names are shown as a pattern


def test_inspect_as_json(people: Path) -> None:
    found = shoal("inspect", people, "--json").json()
    assert found["rows"] == 120
    assert found["protect"] == ["salary"]
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["full name"] == "identifying"
    assert roles["wave"] is None


def test_inspect_of_three_hundred_columns_is_readable(tmp_path: Path) -> None:
    table = pl.DataFrame({f"c{i}": [(i * k) % 11 for k in range(60)] for i in range(1, 301)})
    table.write_csv(tmp_path / "wide.csv")
    found = shoal("inspect", tmp_path / "wide.csv")
    assert found.code == 0
    assert "c300" in found.out
    assert len(found.out.splitlines()) < 4 * 300


def test_init_then_anonymize_is_one_short_command_each(people: Path, tmp_path: Path) -> None:
    file = tmp_path / "conf" / "shoal.toml"
    file.parent.mkdir()
    assert shoal("init", people, "--output", file).code == 0
    assert names_in(file.parent) == ["shoal.toml"]
    released = shoal("anonymize", "--schema", file, "--quiet", "--json")
    assert released.code == 0, released
    manifest = released.json()
    assert all(one["holds"] for one in manifest["measured"])
    columns = {column["name"]: column["role"] for column in manifest["columns"]}
    assert columns["salary"] == "sensitive"
    assert columns["zip"] == "quasi"
    assert "full name" not in columns
    assert (file.parent / "published" / "report.html").exists()  # beside the file, not here
    assert str(tmp_path) not in json.dumps(manifest)


def test_the_named_table_overrules_the_one_of_the_file(people: Path, tmp_path: Path) -> None:
    file = tmp_path / "shoal.toml"
    shoal("init", people, "--output", file)
    other = write_csv(tmp_path / "other.csv", staff(60))
    out = tmp_path / "out"
    done = shoal("anonymize", other, "--schema", file, "--output", out, "--quiet", "--json")
    assert done.json()["rows"] == 60
    assert not (tmp_path / "published").exists()


def test_the_other_commands_use_the_file_too(people: Path, tmp_path: Path) -> None:
    file = tmp_path / "shoal.toml"
    shoal("init", people, "--output", file)
    assert shoal("plan", "--schema", file, "--json").json()["sensitive"] == "salary"
    compared = shoal("compare", "--schema", file, "--method", "Split()", "--json")
    assert compared.code == 0, compared
    assert shoal("anonymize", "--schema", file, "--quiet").code == 0
    table = tmp_path / "published" / "release.csv"
    audited = shoal("audit", table, "--schema", file, "--quiet", "--json")
    assert audited.code == 0, audited
    attacked = shoal("attack", tmp_path / "published", "--schema", file, "--quiet", "--json")
    assert attacked.code == 0, attacked


def test_the_file_of_the_demo_table_works(tmp_path: Path) -> None:
    census(4000).write_csv(tmp_path / "census.csv")
    file = tmp_path / "shoal.toml"
    assert shoal("init", tmp_path / "census.csv", "--output", file).code == 0
    assert 'sensitive = ["income"]' in file.read_text("utf-8")
    assert "EpsilonM(" in file.read_text("utf-8")
    assert shoal("anonymize", "--schema", file, "--quiet").code == 0


def test_a_table_without_complete_rows_is_published_whole(tmp_path: Path) -> None:
    rows = [{"age": str(k % 7) * (k % 2), "year": str(k % 5) * (1 - k % 2)} for k in range(40)]
    table = write_csv(tmp_path / "gaps.csv", rows)
    done = shoal("init", table, "--output", tmp_path / "shoal.toml")
    assert done.code == 0, done
    assert shoal("anonymize", "--schema", tmp_path / "shoal.toml").code == 0
    released = (tmp_path / "published" / "release.csv").read_text("utf-8")
    assert len(released.splitlines()) == 41  # every row is kept


def test_init_replaces_nothing_without_being_told(people: Path, tmp_path: Path) -> None:
    file = tmp_path / "shoal.toml"
    file.write_text("mine", "utf-8")
    refused = shoal("init", people, "--output", file)
    assert (refused.code, file.read_text("utf-8")) == (4, "mine")
    assert "--force" in refused.err
    assert shoal("init", people, "--output", file, "--force").code == 0
    assert "quasi" in file.read_text("utf-8")
    before = people.read_bytes()
    assert shoal("init", people, "--output", people, "--force").code == 2
    assert shoal("init", people, "--output", tmp_path, "--force").code == 4
    assert people.read_bytes() == before
    assert names_in(tmp_path) == ["people.csv", "shoal.toml"]


def test_a_schema_file_is_not_taken_unasked(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shoal("init", "people.csv").code == 0
    assert shoal("anonymize", "people.csv", "--output", "out").code == 2
    assert not os.path.lexists("out")


def test_no_table_at_all_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "shoal.toml"
    file.write_text('quasi = "age"\nrequire = "KAnonymity(k=2)"\noutput = "out"', "utf-8")
    refused = shoal("anonymize", "--schema", file)
    assert refused.code == 2
    assert "No table was named" in refused.err


HEAD = 'table = "people.csv"\nquasi = ["age", "zip"]\nsensitive = "salary"\noutput = "out"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('require = "EpsilonM(epsilon=1, n=2)"', ["line 5, require", "'m'"]),
        ('require = [\n"KAnonymity(k=2)",\n"Epsilon(m=2)"]', ["line 7, require", "EpsilonM"]),
        ('require = "Split()"', ["line 5, require", "method"]),
        ('require = "KAnonymity(k=2)"\nmethod = "Splitt()"', ["line 6, method", "'Split'"]),
        ('require = "KAnonymity(k=2)"\nformat = "cvs"', ["line 6, format", "csv"]),
        ('require = "KAnonymity(k=2)"\nsuppress = "lots"', ["line 6, suppress", "1%"]),
        ('require = "KAnonymity(k=2)"\nother = ["wvae"]', ["line 6, other", "'wave'"]),
        ('require = "KAnonymity(k=2)"\n[columns.zpi]\ntype="code"', ["line 6, columns.zpi", "zip"]),
        ('require = "KAnonymity(k=2)"\nidentifying = ["age"]', ["line 6, identifying", "line 2"]),
        ('require = "KAnonymity(k=2)"\nseed = 1', ["line 6, seed", "no such key"]),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_line_and_key(
    people: Path, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "shoal.toml"
    file.write_text(HEAD + text, "utf-8")
    refused = shoal("anonymize", "--schema", file)
    assert (refused.code, refused.out) == (2, "")
    for word in ["shoal.toml", *words]:
        assert word in refused.err, refused.err
    assert not (tmp_path / "out").exists()


def test_columns_may_have_names_that_look_like_notation(tmp_path: Path) -> None:
    """`Kosten (EUR)` was released, and then the command could not print what it had measured."""
    names = {"salary": "Kosten (EUR)", "grade of entry": "Stufe: neu (1)", "age": "Alter (J.)"}
    rows = [{names.get(key, key): cell for key, cell in row.items()} for row in staff()]
    path, place = write_csv(tmp_path / "people.csv", rows), tmp_path / "out"
    (tmp_path / "s.toml").write_text(
        f'table = "{path}"\nquasi = ["Alter (J.)", "zip"]\n'
        'sensitive = ["Kosten (EUR)", "Stufe: neu (1)"]\n'
        'require = ["Kosten (EUR): EpsilonM(epsilon=500, m=3)", '
        '"Stufe: neu (1): FrequencyL(l=2)", "KAnonymity(k=3)"]\n'
    )
    made = shoal("anonymize", "--schema", tmp_path / "s.toml", "--output", place)
    assert made.code == 0, made.said
    assert "EUR" in made.out
    owner = ("--schema", tmp_path / "s.toml", "--original", path)
    coarser = ("--require", "KAnonymity(k=6)", "--output", tmp_path / "coarser")
    for arguments in (
        ("audit", place),
        ("audit", place, "--original", path),
        ("report", place),
        ("attack", place, "--original", path),
        ("show", place, *owner, "--row", 3),
        ("dossier", place, "--norm", "nist", *owner, "--output", tmp_path / "d.html"),
        ("coarsen", place, *coarser),
        ("audit", tmp_path / "coarser"),
    ):
        done = shoal(*arguments)
        assert done.code == 0, (arguments[0], done.said)
