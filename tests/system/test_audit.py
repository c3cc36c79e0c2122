"""A release that was tampered with is rejected; an honest one is not."""

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forged import reported
from reference import release as oracle
from system.shell import Row, anonymize, people, shoal, write_csv

REQUIREMENTS = ("EpsilonM(epsilon=500, m=3)", "Window(width=500, m=3)", "KAnonymity(k=5)")
COLUMNS = ("--quasi", "age,town,score", "--sensitive", "salary")


@pytest.fixture(scope="module", params=REQUIREMENTS)
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("honest")
    table = write_csv(base / "table.csv", people())
    assert anonymize(table, base / "out", require=request.param).code == 0
    return base / "out"


@pytest.fixture
def copy(honest: Path, tmp_path: Path) -> Path:
    """Return a copy of the release that a test may spoil."""
    return copied(honest, tmp_path)


def copied(directory: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(directory, tmp_path / "out"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("plain")
    table = write_csv(base / "table.csv", people())
    assert anonymize(table, base / "out", require=REQUIREMENTS[0]).code == 0
    return base / "out"


@pytest.fixture
def one(plain: Path, tmp_path: Path) -> Path:
    """Return a copy of one release, for spoiling what has nothing to do with its requirement."""
    return copied(plain, tmp_path)


def published(directory: Path) -> list[Row]:
    return oracle.read_release(directory).rows


def rewrite(directory: Path, rows: list[Row]) -> None:
    """Write other rows, and a digest that fits them: so that more than the digest has to notice."""
    path = write_csv(directory / "release.csv", rows)
    digest = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    restate(directory, lambda manifest: manifest["digests"].update({path.name: digest}))


def restate(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), "utf-8")
    reported(directory)


def rejected(directory: Path) -> str:
    outcome = shoal("audit", directory, "--json")
    assert outcome.code == 1, outcome
    found = outcome.json()
    assert found["holds"] is False
    assert "Traceback" not in outcome.err
    return " ".join(found["problems"])


def test_untouched_release_is_accepted(copy: Path) -> None:
    outcome = shoal("audit", copy, "--json")
    assert outcome.code == 0, outcome
    found = outcome.json()
    assert found["holds"] is True
    assert found["problems"] == []
    assert found["rows"] == 300
    assert shoal("audit", copy).code == 0


def test_release_written_again_row_by_row_is_accepted(copy: Path) -> None:
    # Shows that the tests below fail for what they change, not for being rewritten.
    rewrite(copy, published(copy))
    restate(copy, lambda _: None)
    assert shoal("audit", copy).code == 0


def test_audit_measures_what_the_oracle_measures(copy: Path) -> None:
    release = oracle.read_release(copy)
    found = shoal("audit", copy, "--json").json()
    kinds: dict[str, dict[str, Any]] = {
        REQUIREMENTS[0]: {"kind": "absolute", "epsilon": 500, "m": 3},
        REQUIREMENTS[1]: {"kind": "window", "width": 500, "m": 3},
        REQUIREMENTS[2]: {"kind": "k-anonymity", "k": 5},
    }
    for entry in found["measured"]:
        requirement = {"column": "salary"} | kinds[entry["principle"]]
        groups = release.groups() if entry["by"] == "group" else release.boxes()
        worst = oracle.worst_risk(groups, requirement)
        assert worst <= entry["risk"] <= float(worst) + 1e-12
    by = {entry["by"] for entry in found["measured"]}
    monotone = "EpsilonM" not in found["measured"][0]["principle"]
    assert by == ({"group", "cells"} if monotone else {"group"})


@pytest.mark.parametrize("honest", REQUIREMENTS[:2], indirect=True)
def test_sensitive_value_copied_from_a_neighbour_is_rejected(copy: Path) -> None:
    rows = published(copy)
    size = min(map(len, oracle.read_release(copy).groups().values()))
    group = next(g for g, rs in oracle.read_release(copy).groups().items() if len(rs) == size)
    first, *others = (row for row in rows if row["group"] == group)
    for other in others[: size // 3]:  # of at most |G| / m, one more than allowed
        other["salary"] = first["salary"]
    rewrite(copy, rows)
    rejected(copy)


def test_row_moved_to_another_group_is_rejected(copy: Path) -> None:
    rows = published(copy)
    cells = ("age", "town", "score")
    target = next(r for r in rows if any(r[c] != rows[0][c] for c in cells))
    rows[0]["group"] = target["group"]
    rewrite(copy, rows)
    assert "different published cells" in rejected(copy)


@pytest.mark.parametrize("column", ["age", "town", "score"])
def test_one_changed_quasi_cell_is_rejected(copy: Path, column: str) -> None:
    rows = published(copy)
    other = next(row for row in rows if row[column] != rows[0][column])
    rows[0][column] = other[column]
    rewrite(copy, rows)
    rejected(copy)


def test_quasi_cells_of_a_whole_group_made_finer_are_rejected(copy: Path) -> None:
    rows = published(copy)
    group = next(row["group"] for row in rows if row["age"].startswith("["))
    for row in rows:
        if row["group"] == group:
            row["age"] = oracle.parse_interval(row["age"])[0]
    rewrite(copy, rows)
    rejected(copy)


def test_dropped_row_is_rejected(copy: Path) -> None:
    rewrite(copy, published(copy)[1:])
    assert "300" in rejected(copy)


def test_row_published_twice_is_rejected(copy: Path) -> None:
    rows = published(copy)
    rewrite(copy, [*rows, rows[0]])
    rejected(copy)


@pytest.mark.parametrize("cell", ["nonsense", "[5, 1]", "[0, 1, 2]", "-7", "[18, 999]", ""])
def test_cell_that_is_no_interval_of_the_domain_is_rejected(one: Path, cell: str) -> None:
    rows = published(one)
    group = rows[0]["group"]
    for row in rows:
        if row["group"] == group:
            row["age"] = cell
    rewrite(one, rows)
    rejected(one)


@pytest.mark.parametrize("cell", ["Atlantis", '["Aalen", "Atlantis"]', "[", '["Aalen"', "[1]", ""])
def test_cell_that_is_no_set_of_known_labels_is_rejected(one: Path, cell: str) -> None:
    rows = published(one)
    group = next(row["group"] for row in rows if row["town"] == "Aalen")  # loses nothing as it is
    for row in rows:
        if row["group"] == group:
            row["town"] = cell
    rewrite(one, rows)
    rejected(one)


def _risk(manifest: dict[str, Any]) -> None:
    manifest["measured"][0]["risk"] /= 2


def _bound(manifest: dict[str, Any]) -> None:
    manifest["measured"][0]["bound"] = 1.0


def _unmeasured(manifest: dict[str, Any]) -> None:
    manifest["measured"] = []


def _gcp(manifest: dict[str, Any]) -> None:
    manifest["loss"]["gcp"] *= 0.99


def _ncp(manifest: dict[str, Any]) -> None:
    manifest["loss"]["ncp"]["town"] += 0.01


def _missing_ncp(manifest: dict[str, Any]) -> None:
    del manifest["loss"]["ncp"]["town"]


def _rows(manifest: dict[str, Any]) -> None:
    manifest["rows"] += 1


def _groups(manifest: dict[str, Any]) -> None:
    manifest["groups"] -= 1


def _suppressed(manifest: dict[str, Any]) -> None:
    manifest["suppressed"] = 5


def _role(manifest: dict[str, Any]) -> None:
    """Hide that a column singles people out."""
    column = next(c for c in manifest["columns"] if c["name"] == "age")
    column["role"] = "other"
    del column["kind"], column["domain"]


@pytest.mark.parametrize(
    "change",
    [_risk, _bound, _unmeasured, _gcp, _ncp, _missing_ncp, _rows, _groups, _suppressed, _role],
)
def test_manifest_that_does_not_tell_the_truth_is_rejected(
    one: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    restate(one, change)
    rejected(one)


def test_audit_against_more_than_was_promised_is_rejected(copy: Path) -> None:
    outcome = shoal("audit", copy, "--require", "KAnonymity(k=299)", "--json")
    assert outcome.code == 1
    assert outcome.json()["holds"] is False


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda d: (d / "manifest.json").unlink(),
    "no table": lambda d: (d / "release.csv").unlink(),
    "cut manifest": lambda d: (d / "manifest.json").write_text("{", "utf-8"),
    "list as manifest": lambda d: (d / "manifest.json").write_text("[]", "utf-8"),
    "binary manifest": lambda d: (d / "manifest.json").write_bytes(b"\xff\xfe"),
    "empty table": lambda d: (d / "release.csv").write_bytes(b""),
    "cut table": lambda d: (d / "release.csv").write_bytes((d / "release.csv").read_bytes()[:-20]),
    "no columns": lambda d: restate(d, lambda m: m.pop("columns")),
    "text as columns": lambda d: restate(d, lambda m: m.update(columns="age")),
    "column without name": lambda d: restate(d, lambda m: m.update(columns=[{}])),
    "list as loss": lambda d: restate(d, lambda m: m.update(loss=[])),
    "text as rows": lambda d: restate(d, lambda m: m.update(rows="many")),
    "unknown principle": lambda d: restate(d, lambda m: m.update(require=["Nonsense()"])),
    "number as requirement": lambda d: restate(d, lambda m: m.update(require=5)),
    "no domain": lambda d: restate(d, lambda m: m["columns"][0].pop("domain")),
    "text in domain": lambda d: restate(d, lambda m: m["columns"][0].update(domain=["x"])),
    "column twice": lambda d: restate(d, lambda m: m["columns"].append(m["columns"][0])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_broken_release_directory_is_refused_with_a_sentence(one: Path, damage: str) -> None:
    DAMAGES[damage](one)
    outcome = shoal("audit", one)
    assert outcome.code in {1, 2}
    assert "unforeseen" not in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.err or outcome.out


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_plain_table_with_group_column_is_measured_by_group(
    honest: Path, tmp_path: Path, format: str
) -> None:
    (require,) = json.loads((honest / "manifest.json").read_text("utf-8"))["require"]
    rows = published(honest)
    path = tmp_path / f"plain.{format}"
    if format == "csv":
        write_csv(path, rows)
    else:
        pl.DataFrame(rows).write_parquet(path)
    assert shoal("audit", path, *COLUMNS, "--require", require).code == 0
    stronger = require.replace("m=3", "m=100").replace("k=5", "k=100")
    outcome = shoal("audit", path, *COLUMNS, "--require", stronger, "--json")
    assert outcome.code == 1
    assert outcome.json()["holds"] is False


def test_plain_table_without_group_column_is_measured_by_equal_cells(tmp_path: Path) -> None:
    lines = ["zip,pay"] + [f"{z},{z + 1000 * i}" for z in (1, 2, 3) for i in range(4)]
    path = tmp_path / "plain.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    columns = ("--quasi", "zip", "--sensitive", "pay", "--json")
    for require, code in (
        ("EpsilonM(epsilon=999, m=4)", 0),
        ("EpsilonM(epsilon=1000, m=4)", 1),
        ("Window(width=2999, m=2)", 1),
        ("Window(width=999, m=4)", 0),
        ("KAnonymity(k=4)", 0),
        ("KAnonymity(k=5)", 1),
    ):
        outcome = shoal("audit", path, *columns, "--require", require)
        assert outcome.code == code, require
        found = outcome.json()
        assert (found["rows"], found["groups"], found["holds"]) == (12, 3, code == 0)


def test_rows_with_missing_quasi_cells_count_in_an_audit(tmp_path: Path) -> None:
    # Grouping by default discards missing keys and hides a unique record.
    path = tmp_path / "plain.csv"
    path.write_text("zip,pay\n1,10\n1,20\n,30\n", "utf-8")
    columns = ("--quasi", "zip", "--sensitive", "pay", "--json")
    outcome = shoal("audit", path, *columns, "--require", "KAnonymity(k=2)")
    assert outcome.code == 1
    assert outcome.json()["rows"] == 3


def test_plain_table_needs_columns_and_a_requirement(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("zip,pay\n1,10\n", "utf-8")
    for options in ((), ("--quasi", "zip"), ("--require", "KAnonymity(k=2)")):
        outcome = shoal("audit", path, *options)
        assert outcome.code == 2
        assert "--quasi" in outcome.err
        assert outcome.out == ""


def test_audit_of_nothing_is_refused(tmp_path: Path) -> None:
    outcome = shoal("audit", tmp_path / "nowhere", *COLUMNS, "--require", "KAnonymity(k=2)")
    assert outcome.code == 2
    assert "nowhere" in outcome.err


def test_release_csv_reads_with_the_standard_reader(honest: Path) -> None:
    with (honest / "release.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file, strict=True))) == 301


def test_a_release_with_groups_may_be_audited_with_its_original_which_is_not_needed(
    plain: Path,
) -> None:
    table = plain.parent / "table.csv"
    alone, beside = (
        shoal("audit", plain, "--json"),
        shoal("audit", plain, "--original", table, "--json"),
    )
    assert (alone.code, beside.code) == (0, 0)
    (said,) = beside.json()["remarks"]
    assert "the original is not needed" in said
    assert alone.json() == beside.json() | {"remarks": []}
    assert shoal("audit", plain, "--original", plain.parent / "absent.csv").code == 2
