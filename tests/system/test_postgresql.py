"""A real PostgreSQL server: tables come out of it and releases go into it, whole or not at all."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import psycopg
import pytest

import postgres
from shoal.errors import InputError, OutputError
from shoal.table.databases.access import write_address
from shoal.table.reading import read_table
from system.shell import ROLES, Row, run, shoal

pytestmark = pytest.mark.postgresql
EPSILON_M = "EpsilonM(epsilon=500, m=3)"
ASKED = (*ROLES, "--sensitive", "salary", "--require", EPSILON_M)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres.running() as address:
        yield address


@pytest.fixture(scope="module")
def filled(server: str, rows: list[Row]) -> str:
    """Return the server with a table `people` in it."""
    with psycopg.connect(server) as connection:
        connection.execute(
            "create table people (name text, age int, note text, town text, score numeric(9, 3), "
            "salary bigint, change double precision, unused varchar)"
        )
        with connection.cursor() as cursor:
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(
                f"insert into people values ({marks})", [tuple(row.values()) for row in rows]
            )
    return server


def hidden(*texts: str) -> None:
    for text in texts:
        assert "xyzzy" not in text


@pytest.mark.smoke
def test_a_query_is_published_into_a_table_that_keeps_the_promise(filled: str, rows: list[Row]):
    done = shoal(
        "anonymize", filled, "--query", "select * from people;", *ASKED,
        "--output", filled + "&table=published",
    )  # fmt: skip
    assert done.code == 0, done
    hidden(done.out, done.err)
    with psycopg.connect(filled) as connection:
        salaries = connection.execute("select salary from published order by 1").fetchall()
    assert [str(s) for (s,) in salaries] == [str(s) for s in sorted(int(r["salary"]) for r in rows)]
    audited = shoal(
        "audit", filled, "--query", "select * from published", "--quasi", "age,town,score",
        "--sensitive", "salary", "--require", EPSILON_M, "--json",
    )  # fmt: skip
    assert audited.code == 0, audited
    found = audited.json()
    assert found["holds"]
    assert found["rows"] == len(rows)
    surveyed = shoal(
        "audit", filled + "&table=published", "--quasi", "age,town,score", "--sensitive", "salary"
    )
    assert surveyed.code == 0, surveyed
    hidden(surveyed.out, surveyed.err, audited.out, audited.err)


def test_a_published_table_is_replaced_only_by_force_and_no_other_table_ever(filled: str):
    def publish(table: str, *options: str):
        done = shoal(
            "anonymize", filled + "&table=people", *ASKED, "--output", filled + f"&table={table}",
            *options,
        )  # fmt: skip
        hidden(done.out, done.err)
        return done

    assert publish("again").code == 0
    refused = publish("again")
    assert refused.code == 4
    assert "'again' already exists" in refused.said
    assert publish("again", "--force").code == 0
    for options in ((), ("--force",)):
        assert publish("people", *options).code == 4
    with psycopg.connect(filled) as connection:
        assert connection.execute("select count(*) from people").fetchone() == (300,)


def test_types_and_missing_cells_come_out_as_the_server_has_them(server: str):
    query = (
        "select 1::int2 as i, 9007199254740993 as big, 0.1::float8 as f, 1.50::numeric as exact, "
        "true as b, date '1871-01-18' as d, timestamp '2020-01-02 03:04:05.5' as t, "
        "'' as empty, null::text as missing, E'a\\nb,\"c\"' as odd, '007' as code"
    )
    table = read_table(server, query=query)
    assert [str(kind) for kind in table.dtypes[:7]] == [
        "Int64", "Int64", "Float64", "String", "Boolean", "Date",
        "Datetime(time_unit='us', time_zone=None)",
    ]  # fmt: skip
    row = table.cast(pl.String).row(0)
    assert row[:4] == ("1", "9007199254740993", "0.1", "1.50")
    assert row[7:] == ("", None, 'a\nb,"c"', "007")
    assert read_table(server, query=query + " where false").height == 0
    assert read_table(server, query="select date 'infinity' as d")["d"].to_list() == ["infinity"]


def test_nothing_stays_where_the_written_table_is_not_accepted(server: str):
    def refuse(table: pl.DataFrame):
        assert table.rows() == [(1, "x"), (2, None)]
        msg = "no"
        raise OutputError(msg)

    frame = pl.DataFrame({"a": [1, 2], 'odd "name"': ["x", None]})
    with pytest.raises(OutputError):
        write_address(server + "&table=rejected", frame, force=False, accept=refuse)
    with pytest.raises(InputError, match="rejected"):
        read_table(server + "&table=rejected")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select nope from people", "nope"),
        ("selec 1", "syntax error"),
        ("delete from people", "syntax error"),
        ("select 1 as a, 2 as a", "both named 'a'"),
        ("select 1 from nowhere", "nowhere"),
    ],
)
def test_a_failing_query_is_told(filled: str, query: str, words: str):
    done = shoal("plan", filled, "--query", query, "--sensitive", "salary")
    assert (done.code, done.out) == (2, "")
    assert words in done.said
    hidden(done.err)


def test_a_failing_conversion_shows_no_cell(filled: str):
    done = shoal("plan", filled, "--query", "select name::int from people", "--sensitive", "name")
    assert done.code == 2
    assert "Zaphod" not in done.err
    assert "InvalidTextRepresentation" in done.said


def test_a_wrong_password_and_an_absent_server_are_told_without_the_password(server: str):
    wrong = server.replace("p%40ss", "xyzzy%40")
    nowhere = "postgresql://shoal:xyzzy@localhost:1/x"
    within = "postgresql://localhost:1/x?user=shoal&password=xyzzy"
    odd = "postgresql://shoal:xyzzy@local host:port/x"
    for address in (wrong, nowhere, within, odd):
        read = shoal("plan", address, "--query", "select 1", "--sensitive", "a")
        assert (read.code, read.out) == (2, ""), read
        hidden(read.err)
        write = shoal("anonymize", "x.csv", *ASKED, "--output", address + (
            "&table=x" if "?" in address else "?table=x"))  # fmt: skip
        assert write.code == (2 if address == odd else 4), write
        hidden(write.err)


def test_the_password_is_in_no_file_of_a_release(filled: str, place: Path):
    done = run(
        "anonymize", filled, "--query", "select * from people", *ASKED, "--output", place / "out"
    )
    assert done.code == 0, done
    hidden(done.out, done.err, *(p.read_text("utf-8") for p in (place / "out").iterdir()))


@pytest.mark.parametrize(
    "query",
    [
        "delete from people returning age",
        "select 1 as a) as b; delete from people; select * from (select 1 as a",
        "select 1 as a) as b; commit; delete from people; select * from (select 1 as a",
        "select 1 as a) as b; set transaction read write; delete from people; "
        "select * from (select 1 as a",
        "with gone as (delete from people returning age) select * from gone",
        "select 1 as a) to program 'true' --",
        "select set_config('transaction_read_only', 'off', true), lo_creat(-1)",
    ],
)
def test_a_query_cannot_write(filled: str, query: str) -> None:
    count = "select (select count(*) from people), (select count(*) from pg_largeobject_metadata)"
    with psycopg.connect(filled) as connection:
        before = connection.execute(count).fetchone()
    with pytest.raises(InputError):
        read_table(filled, query=query)
    with psycopg.connect(filled) as connection:
        assert connection.execute(count).fetchone() == before


@pytest.mark.parametrize("force", [False, True])
def test_what_appears_while_a_run_works_is_kept(
    server: str, force: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = server + f"&table=appears{int(force)}"
    table = pl.DataFrame({"a": [1, 2]})
    if force:
        write_address(place, table, force=False, accept=lambda read: read)

    def act(*_asked: object, **_how: object) -> None:
        with psycopg.connect(server) as connection:
            connection.execute(f"drop table if exists appears{int(force)}")
            connection.execute(f"create table appears{int(force)} as select 'mine' as whose")

    # Just after what stands there was looked at for the last time outside of the transaction.
    monkeypatch.setattr("shoal.table.databases.access.check_target", act)
    with pytest.raises(OutputError, match="exists"):
        write_address(place, table, force=force, accept=lambda read: read)
    assert read_table(place)["whose"].to_list() == ["mine"]
