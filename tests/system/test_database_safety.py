"""Databases: addresses in schema files, exact numbers, and queries that cannot write anything."""

import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from shoal.errors import InputError
from shoal.table.databases.access import seen_from, to_keep
from shoal.table.reading import read_table
from system.shell import names_in, shoal

KINDS = ("sqlite", "duckdb")
ROWS = 60
COLUMNS = "age integer, zip text, salary integer"


def connect(kind: str, path: Path) -> Any:
    return sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))


def fill(kind: str, path: Path, table: str = "people") -> None:
    connection = connect(kind, path)
    connection.execute(f'create table "{table}" ({COLUMNS})')
    rows = [(20 + place % 40, f"{10000 + place % 7}", place * 37) for place in range(ROWS)]
    connection.executemany(f'insert into "{table}" values (?, ?, ?)', rows)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("table", ["people", "odd name & more%"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_init_writes_for_a_database_can_be_run_from_anywhere(
    kind: str, table: str, absolute: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("data of mine", "settings", "elsewhere"):
        (place / folder).mkdir()
    fill(kind, place / "data of mine" / "people #1.db", table)
    monkeypatch.chdir(place)
    begin = f"{place}/" if absolute else ""
    path = f"{begin}data%20of%20mine/people%20%231.db"
    name = table.replace("%", "%25").replace("&", "%26").replace(" ", "+")
    made = shoal("init", f"{kind}:///{path}?table={name}", "--output", "settings/shoal.toml")
    assert made.code == 0, made
    monkeypatch.chdir(place / "elsewhere")
    asked = ("--require", "KAnonymity(k=3)", "--output", "out")
    done = shoal("anonymize", "--schema", "../settings/shoal.toml", *asked)
    assert done.code == 0, done


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:xyzzy@host:5432/name?table=t",
        "postgres://host/name?user=me&password=xyzzy&table=t",
        "postgresql://me:x%2Fyxyzzy@/name?host=/run&sslpassword=xyzzy&table=a.b",
    ],
)
def test_no_password_is_written_into_a_schema_file(address: str) -> None:
    kept = to_keep(address, Path("/somewhere"))
    assert "xyzzy" not in kept
    assert "me" in kept
    assert kept.rpartition("table=")[2] == address.rpartition("table=")[2]
    assert seen_from(kept, Path("/elsewhere")) == kept


UNKNOWN = (
    "mysql://me:xyzzy@host/name",
    "mssql+pyodbc://me:xyzzy@host",
    "s3://bucket/xyzzy",
    "file:///nowhere/xyzzy",
    "postgresql:/me:xyzzy@host/name",
    "postgres:me:xyzzy@host",
    "postgresql://me:xyzzy/slash@host/name",
    "postgresql://me:xyzzy#sign@host/name",
    "postgresql://me:xyzzy?mark@host/name",
    "postgresql://me:xyzzy@sign@host/name",
    "postgresql://me:xyzzy:colon@host:port/name",
    "postgresql://me:xyzzy]bracket@[host/name",
)


@pytest.mark.parametrize("address", UNKNOWN)
def test_an_address_that_cannot_be_used_is_refused_without_a_part_of_it(
    address: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in a message nor as a directory that has a password in its name."""
    monkeypatch.chdir(place)
    Path("people.csv").write_text("age,pay\n1,1\n1,2\n")
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "KAnonymity(k=2)")
    for arguments in (
        ("anonymize", "people.csv", *asked, "--output", address),
        ("anonymize", "people.csv", *asked, "--output", address + "?table=t"),
        ("anonymize", "people.csv", *asked, "--output", "out", "--linkage", address),
        ("anonymize", "people.csv", *asked, "--output", "out", "--owner-report", address),
        ("anonymize", address, *asked, "--output", "out"),
        ("plan", address, "--sensitive", "pay"),
        ("inspect", address, "--query", "select 1"),
        ("init", address, "--output", "out.toml"),
        ("audit", address, *asked),
    ):
        found = shoal(*arguments)
        assert found.code == 2, (arguments, found)
        assert "address" in found.said
        assert "xyzzy" not in found.out + found.err
    assert names_in(place) == ["people.csv"]


READS = (
    "select * from people",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 9) select n from r",
    "select age, count(*) over (partition by zip) as c from people order by 2 limit 5",
)
WRITES = {
    "sqlite": (
        "vacuum into 'made.db'",
        "vacuum",
        "attach 'made.db' as other",
        "pragma user_version = 7",
        "pragma query_only = off",
        "pragma journal_mode = wal",
        "create temp table t as select 1 as a",
        "insert into people values (1, 'a', 2)",
        "update people set age = 0 returning age",
        "delete from people returning age",
        "drop table people",
        "select load_extension('made')",
        "select 1 as a; drop table people",
    ),
    "duckdb": (
        "copy people to 'made.csv'",
        "copy people to 'made.parquet' (format parquet)",
        "attach 'made.db' as other",
        "export database 'made'",
        "select 1 as a; copy people to 'made.csv'",
        "set enable_external_access = true",
        "set lock_configuration = false; set enable_external_access = true",
        "pragma enable_profiling = 'json'; set profile_output = 'made.json'; select 1 as a",
        "insert into people values (1, 'a', 2)",
        "delete from people",
        "drop table people",
        "create table t as select 1 as a",
        "install httpfs",
        "load httpfs",
        "select * from read_csv('secret.csv')",
        "select * from 'secret.csv'",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_cannot_write(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(kind, place / "people.db")
    (place / "secret.csv").write_text("a\n1\n")
    monkeypatch.chdir(place)
    before = (place / "people.db").read_bytes()
    for query in READS:
        assert read_table(f"{kind}:///people.db", query=query).height
    for query in WRITES[kind]:
        with pytest.raises(InputError):
            read_table(f"{kind}:///people.db", query=query)
        assert names_in(place) == ["people.db", "secret.csv"], query
        assert (place / "people.db").read_bytes() == before, query


def test_numbers_of_duckdb_stay_exact_on_the_whole_way(place: Path) -> None:
    path = place / "people.db"
    connection = duckdb.connect(str(path))
    connection.execute(
        "create table people as select range::decimal(20, 2) + 0.50 as fee, "
        "(range * 1.10)::decimal(38, 10) as fine, "
        "170141183460469231731687303715884105000::hugeint + range::hugeint as huge, "
        "interval 3 day as span from range(30)"
    )
    connection.close()
    table = read_table(f"duckdb:///{path}?table=people")
    assert isinstance(table["fee"].dtype, pl.Decimal)
    assert sorted(table["fee"]) == [Decimal(f"{place}.50") for place in range(30)]
    top = 170141183460469231731687303715884105000
    assert sorted(map(int, table["huge"])) == [top + place for place in range(30)]
    roles = ("--quasi", "huge", "--sensitive", "fee", "--other", "fine,span")
    target = f"duckdb:///{path}?table=published"
    done = shoal(
        "anonymize", f"duckdb:///{path}?table=people", *roles, "--require",
        "EpsilonM(epsilon=2, m=3)", "--output", target,
    )  # fmt: skip
    assert done.code == 0, done
    found = read_table(target)
    assert found.schema["fee"] == table.schema["fee"]
    assert found.schema["fine"] == table.schema["fine"]
    assert sorted(found["fine"]) == sorted(table["fine"])
    refused = shoal(
        "anonymize", f"duckdb:///{path}?table=people", "--quasi", "span", "--sensitive", "fee",
        "--require", "KAnonymity(k=2)", "--output", place / "out",
    )  # fmt: skip
    assert refused.code == 2
    assert "'span' holds" in refused.said
