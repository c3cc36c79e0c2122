"""Identifying columns as keyed hashes: who has no key cannot make them, and the key is nowhere."""

import hashlib
import hmac
import json
from pathlib import Path

import polars as pl
import pytest

import shoal as package
from reference.release import read_table
from shoal.errors import UsageError
from system.shell import Outcome, Row, names_in, shoal, write_csv

KEY = "xyzzy-secret-of-the-owner"
ASKED = (
    "--quasi", "age,town", "--sensitive", "salary", "--pseudonymize", "name",
    "--require", "EpsilonM(epsilon=500, m=3)",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_KEY", raising=False)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY + "\n", "utf-8")
    return path


def pseudonym(value: str) -> str:
    return hmac.new(KEY.encode(), value.encode(), hashlib.sha256).hexdigest()[:32]


def refused(outcome: Outcome, *words: str) -> None:
    assert (outcome.code, outcome.out) == (2, ""), outcome
    for word in words:
        assert word in outcome.said, (word, outcome)


@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl", "xlsx"])
def test_values_become_keyed_hashes_beside_their_own_sensitive_values(
    table: Path, rows: list[Row], key: Path, place: Path, format: str
) -> None:
    out = place / "out"
    done = shoal("anonymize", table, *ASKED, "--key-file", key, "--output", out, "--format", format)
    assert done.code == 0, done
    assert "Warning: Published as pseudonyms: 'name'." in done.said
    assert "can join releases" in done.said
    published = package.audit(out)
    assert published.holds
    assert shoal("audit", out).code == 0
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert [(c["name"], c["role"]) for c in manifest["columns"]] == [
        ("name", "pseudonym"), ("age", "quasi"), ("town", "quasi"), ("salary", "sensitive")
    ]  # fmt: skip
    assert "can join releases" in (out / "report.html").read_text("utf-8")
    for path in out.iterdir():
        data = path.read_bytes()
        assert b"xyzzy" not in data
        assert b"Zaphod" not in data
    if format == "csv":
        _, found = read_table(out / "release.csv")
        assert {(row["name"], row["salary"]) for row in found} == {
            (pseudonym(row["name"]), row["salary"]) for row in rows
        }


def test_the_key_may_come_from_the_environment_and_equal_names_stay_equal(
    rows: list[Row], place: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = [row | {"name": "" if n < 5 else row["name"][:9]} for n, row in enumerate(rows)]
    table = write_csv(place / "t.csv", changed)
    assert shoal("anonymize", table, *ASKED, "--key-file", key, "--output", place / "a").code == 0
    monkeypatch.setenv("SHOAL_KEY", KEY)
    assert shoal("anonymize", table, *ASKED, "--output", place / "b").code == 0
    names = [sorted(r["name"] for r in read_table(place / d / "release.csv")[1]) for d in "ab"]
    assert names[0] == names[1]
    assert names[0] == sorted(pseudonym(r["name"]) if r["name"] else "" for r in changed)


def test_bad_keys_are_refused_before_anything_is_read(place: Path, key: Path) -> None:
    asked = ("anonymize", place / "nothing.csv", *ASKED, "--output", place / "out")
    refused(shoal(*asked), "--key-file", "SHOAL_KEY")
    refused(shoal(*asked, "--key-file", place / "nokey"), "'nokey'")
    key.write_bytes(b"fifteen bytes..\r\n")
    refused(shoal(*asked, "--key-file", key), "15 bytes", "at least 16")
    key.write_text(KEY, "utf-8")
    plain = [*ASKED[:4], *ASKED[6:]]
    without = shoal(
        "anonymize", place / "x.csv", *plain, "--key-file", key, "--output", place / "o"
    )
    refused(without, "--pseudonymize")
    assert names_in(place) == []


def test_columns_have_one_role(table: Path, key: Path, place: Path) -> None:
    asked = ("anonymize", table, *ASKED, "--key-file", key, "--output", place / "out")
    refused(shoal(*asked, "--other", "name"), "'name' has two roles")
    refused(shoal(*asked, "--pseudonymize", "nmae"), "'nmae'", "Did you mean 'name'")
    assert shoal(*asked, "--identifying", "name").code == 0


def test_in_python() -> None:
    people = pl.DataFrame({"who": [7, 8, 9, None], "age": [1, 2, 3, 4], "pay": [1, 20, 300, 4000]})
    schema = package.Schema(quasi="age", sensitive="pay", pseudonymize="who")
    require = package.principles.KAnonymity(k=2)
    release = package.anonymize(people, schema, require=require, key=KEY.encode())
    assert set(release.table["who"]) == {pseudonym("7"), pseudonym("8"), pseudonym("9"), None}
    assert KEY not in repr(vars(release))
    for wrong in (None, b"short", KEY):
        with pytest.raises(UsageError, match="key"):
            package.anonymize(people, schema, require=require, key=wrong)  # type: ignore[arg-type]


def test_a_schema_file_can_say_it(table: Path, key: Path, place: Path) -> None:
    (place / "shoal.toml").write_text(
        'quasi = ["age"]\nsensitive = "salary"\npseudonymize = "name"\n'
        'require = "KAnonymity(k=3)"\n',
        "utf-8",
    )
    done = shoal(
        "anonymize", table, "--schema", place / "shoal.toml", "--key-file", key,
        "--output", place / "out",
    )  # fmt: skip
    assert done.code == 0, done
    header, _ = read_table(place / "out" / "release.csv")
    assert header == ["group", "name", "age", "salary"]
