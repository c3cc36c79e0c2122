"""SQLite and DuckDB files: tables come out of them and releases go into them, whole or not."""

import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import shoal as package
from shoal.errors import AuditFailed, InputError, OutputError
from shoal.table.databases.access import name_of, read_address_text, write_address
from shoal.table.reading import read_table
from system.shell import ROLES, Outcome, names_in, shoal

EPSILON_M = "EpsilonM(epsilon=500, m=3)"
ASKED = (*ROLES, "--sensitive", "salary", "--require", EPSILON_M)
KINDS = ("sqlite", "duckdb")


def connect(kind: str, path: Path) -> Any:
    return sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, table: Path, tmp_path: Path) -> str:
    """Return the address of a database with a table `people` in it."""
    path = tmp_path / "people.db"
    frame = pl.read_csv(table)
    connection = connect(request.param, path)
    columns = ", ".join(
        f"{name} {'text' if kind == pl.String else 'bigint' if kind == pl.Int64 else 'double'}"
        for name, kind in frame.schema.items()
    )
    connection.execute(f"create table people ({columns})")
    connection.executemany(
        f"insert into people values ({', '.join('?' * frame.width)})", frame.rows()
    )
    connection.commit()
    connection.close()
    return f"{request.param}:///{path}"


def refused(outcome: Outcome, code: int, *words: str) -> None:
    assert (outcome.code, outcome.out) == (code, ""), outcome
    assert "unforeseen" not in outcome.err
    for word in words:
        assert word in outcome.said, (word, outcome)


def test_a_query_is_published_into_a_table_that_keeps_the_promise(
    database: str, table: Path
) -> None:
    target = database + "?table=published"
    done = shoal(
        "anonymize", database, "--query", "select * from people;", *ASKED, "--output", target
    )
    assert done.code == 0, done
    found = read_table(target)
    assert found.columns == ["group", "age", "note", "town", "score", "salary"]
    assert sorted(found["salary"]) == sorted(pl.read_csv(table)["salary"])
    again = ("--quasi", "age,town,score", "--sensitive", "salary", "--require", EPSILON_M)
    assert shoal("audit", target, *again).code == 0
    assert shoal("audit", database, "--query", "select * from published", *again).code == 0
    for query in ("select * from published", "select * from people"):
        compared = shoal("audit", database, "--query", query, *again[:4], "--json")
        assert compared.json()["rows"] == 300


@pytest.mark.few(1)
def test_the_original_of_an_audit_may_be_a_query(database: str, table: Path, place: Path) -> None:
    made = shoal(
        "anonymize", table, *ROLES, "--sensitive", "salary", "--require", "KAnonymity(k=3)",
        "--method", "Freeform()", "--output", place / "out",
    )  # fmt: skip
    assert made.code == 0, made
    query = ("--query", "select * from people")
    assert shoal("audit", place / "out", "--original", database + "?table=people").code == 0
    assert shoal("audit", place / "out", "--original", database, *query).code == 0
    attacked = shoal("attack", place / "out", "--original", database, *query)
    assert attacked.code == 0, attacked
    refused(shoal("audit", place / "out", *query), 2, "reads a release only", "--query")


@pytest.mark.few(1)
def test_a_published_table_is_replaced_only_by_force_and_no_other_table_ever(
    database: str,
) -> None:
    def publish(name: str, *options: str) -> Outcome:
        target = f"{database}?table={name}"
        return shoal("anonymize", database + "?table=people", *ASKED, "--output", target, *options)

    assert publish("again").code == 0
    refused(publish("again"), 4, "'again' already exists", "--force")
    assert publish("again", "--force").code == 0
    refused(publish("people"), 4, "'people' already exists")
    refused(publish("people", "--force"), 4, "'people'", "not a release")
    refused(publish("PEOPLE", "--force"), 4, "'PEOPLE'", "not a release")
    assert "name" in read_table(database + "?table=people").columns


def test_nothing_stays_where_the_written_table_is_not_accepted(database: str) -> None:
    frame = pl.DataFrame({"a": [1, 2], 'odd "name"': ["x", None]})

    def refuse(table: pl.DataFrame) -> None:
        assert table.rows() == frame.rows()
        msg = "no"
        raise AuditFailed(msg)

    for name in ("rejected", 'quo"ted'):
        with pytest.raises(AuditFailed):
            write_address(f"{database}?table={name}", frame, force=False, accept=refuse)
        with pytest.raises(InputError):
            read_table(f"{database}?table={name}")
    write_address(database + "?table=kept", frame, force=False, accept=lambda table: table)
    with pytest.raises(AuditFailed):
        write_address(database + "?table=kept", frame, force=True, accept=refuse)
    assert read_table(database + "?table=kept").rows() == frame.rows()


def release() -> package.Release:
    table = pl.DataFrame({"age": [20, 21, 22, 23], "pay": [1, 2, 3, 4]})
    schema = package.Schema(quasi="age", sensitive="pay")
    return package.anonymize(table, schema, require="KAnonymity(k=2)")


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_file_appears_whole_or_not_at_all(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{kind}:///{place}/new.db?table=t"

    def refuse(*_given: object) -> None:
        (staged,) = place.iterdir()  # until it is accepted, only its owner can read it
        assert stat.S_IMODE(staged.stat().st_mode) == 0o700
        msg = "no"
        raise AuditFailed(msg)

    with monkeypatch.context() as changed:
        changed.setattr("shoal.runs.outlets.accept", refuse)
        with pytest.raises(AuditFailed):
            release().write(address)
    assert names_in(place) == []
    release().write(address)
    assert names_in(place) == ["new.db"]
    with pytest.raises(OutputError, match="directory is missing"):
        release().write(f"{kind}:///{place}/no/new.db?table=t")


KILLED = """
import os, signal, sys
import polars as pl
import shoal, shoal.runs.outlets

shoal.runs.outlets.accept = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
table = pl.DataFrame({"age": [20, 21, 22, 23], "pay": [1, 2, 3, 4]})
schema = shoal.Schema(quasi="age", sensitive="pay")
shoal.anonymize(table, schema, require="KAnonymity(k=2)").write(sys.argv[1])
"""


def test_no_log_of_duckdb_stays_beside_a_database_that_was_written_or_read(place: Path) -> None:
    """An empty one is a leftover, and tells that somebody was here."""
    address = f"duckdb:///{place}/new.db?table=t"
    for force in (False, True):
        release().write(address, force=force)
        assert names_in(place) == ["new.db"]
    assert read_table(address).height == release().table.height
    assert names_in(place) == ["new.db"]


def test_of_a_killed_run_nothing_is_left_by_the_next_one(place: Path) -> None:
    """Neither the file nor what DuckDB writes beside it."""
    address = f"duckdb:///{place}/new.db?table=t"
    done = subprocess.run([sys.executable, "-c", KILLED, address], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [name.endswith(".partial") for name in names_in(place)] == [True]
    release().write(address)
    assert names_in(place) == ["new.db"]


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("select nope from people", "nope"),
        ("selec 1", "selec"),
        ("delete from people", ""),
        ("drop table people", ""),
        ("select 1 as a, 2 as a", "'a'"),
        ("select * from nowhere", "nowhere"),
        (" ; ", "empty"),
    ],
)
def test_a_failing_query_is_told_and_changes_nothing(database: str, query: str, word: str) -> None:
    refused(shoal("plan", database, "--query", query, "--sensitive", "salary"), 2, word)
    assert read_table(database + "?table=people").height == 300


def test_a_failing_conversion_shows_no_cell(database: str) -> None:
    query = "select cast(name as integer) as salary from people"
    done = shoal("plan", database, "--query", query, "--sensitive", "salary")
    assert "Zaphod" not in done.err + done.out


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_no_database_are_told(kind: str, place: Path) -> None:
    asked = ("--query", "select 1", "--sensitive", "a")
    refused(shoal("plan", f"{kind}:///{place}/no.db", *asked), 2, "'no.db'", "no such file")
    (place / "text.db").write_bytes(b"not a database, only text" * 400)
    refused(shoal("plan", f"{kind}:///{place}/text.db", *asked), 2, "'text.db'")
    target = f"{kind}:///{place}/text.db?table=t"
    refused(shoal("anonymize", "x.csv", *ASKED, "--output", target), 4, "'text.db'")
    assert (place / "text.db").read_bytes().startswith(b"not a database")


def test_a_cut_database_is_told(database: str) -> None:
    path = read_address_text(database).place
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) // 2])
    refused(shoal("plan", database + "?table=people", "--sensitive", "salary"), 2, "'people.db'")


def test_addresses_are_checked(table: Path) -> None:
    asked = ("--sensitive", "salary")
    refused(shoal("plan", "sqlite://people.db", "--query", "select 1", *asked), 2, "three slashes")
    refused(shoal("plan", "sqlite:///", "--query", "select 1", *asked), 2, "three slashes")
    refused(shoal("plan", "sqlite:///a.db", *asked), 2, "--query", "?table=people")
    both = ("sqlite:///a.db?table=t", "--query", "select 1")
    refused(shoal("plan", *both, *asked), 2, "not both")
    refused(shoal("plan", "duckdb:///a.db?table=", *asked), 2, "one table")
    refused(shoal("anonymize", table, *ASKED, "--output", "sqlite:///a.db"), 2, "?table=published")
    target = ("--output", "sqlite:///a.db?table=t", "--format", "csv")
    refused(shoal("anonymize", table, *ASKED, *target), 2, "--format")


def test_no_password_is_ever_shown() -> None:
    for text in (
        "postgresql://me:xyzzy@host:5432/name?table=t",
        "postgres://host/name?user=me&password=xyzzy&table=t",
    ):
        address = read_address_text(text)
        assert "xyzzy" in address.place
        assert "xyzzy" not in repr(address) + address.shown + name_of(text)
        assert "table=" not in address.place


def test_columns_of_mixed_types_in_sqlite_are_read_as_text(place: Path) -> None:
    connection = sqlite3.connect(place / "odd.db")
    connection.execute("create table odd (a, b, c, d)")
    rows = [(1, 1, None, 2**60), (2.5, "x", None, 0.5), (None, 2.5, None, 1)]
    connection.executemany("insert into odd values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    found = read_table(f"sqlite:///{place}/odd.db?table=odd")
    assert found["a"].to_list() == [1.0, 2.5, None]
    assert found["b"].to_list() == ["1", "x", "2.5"]
    assert found["c"].to_list() == [None, None, None]
    assert found["d"].to_list() == [str(2**60), "0.5", "1"]


def test_batches_of_sqlite_agree_on_a_type(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.table.databases.sqlite.BATCH", 1)
    connection = sqlite3.connect(place / "odd.db")
    connection.execute("create table odd (a, b, c, d)")
    rows = [(1, 1, None, 2**60), (2.5, "x", 3, 0.5), (None, 2.5, None, 1)]
    connection.executemany("insert into odd values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    found = read_table(f"sqlite:///{place}/odd.db?table=odd")
    assert found["a"].to_list() == [1.0, 2.5, None]
    assert found["b"].to_list() == ["1", "x", "2.5"]
    assert found["c"].to_list() == [None, 3, None]
    assert found["d"].to_list() == [str(2**60), "0.5", "1"]


def test_python_writes_into_a_table_too(place: Path) -> None:
    people = pl.DataFrame({"age": range(8), "pay": range(0, 8000, 1000)})
    schema = package.Schema(quasi="age", sensitive="pay")
    release = package.anonymize(people, schema, require=package.principles.KAnonymity(k=2))
    audit = release.write(f"sqlite:///{place}/new.db?table=t")
    assert audit.holds
    assert read_table(f"sqlite:///{place}/new.db?table=t").height == 8
