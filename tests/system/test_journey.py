"""From a table to a release that an oracle which never imports shoal accepts."""

import gzip
import json
import re
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reference import release as oracle
from system.shell import Outcome, Row, anonymize, names_in, people, run, shoal, write_csv

FILES = ["codebook.csv", "manifest.json", "release.csv", "report.html"]
KEYS = [
    "asked",
    "columns",
    "date",
    "digests",
    "dropped",
    "exposed",
    "form",
    "found",
    "groups",
    "id",
    "inferred",
    "learned",
    "loss",
    "measured",
    "method",
    "require",
    "rows",
    "rows_in",
    "shoal",
    "suppressed",
    "threshold",
    "verdict",
]
SPLITS = ("Split()", "Split(partition='round-robin')", 'Split(partition="round-robin")')
PROXIMITY: dict[str, dict[str, Any]] = {
    "EpsilonM(epsilon=500, m=3)": {"kind": "absolute", "epsilon": 500, "m": 3},
    "EpsilonM(epsilon=0.02, m=3, relative=True)": {"kind": "relative", "epsilon": 0.02, "m": 3},
    "Neighbourhood(below=200, above=600, m=3)": {
        "kind": "general",
        "below": 200,
        "above": 600,
        "m": 3,
    },
    "DeltaL(delta=250, l=3)": {"kind": "delta-l", "delta": 250, "l": 3},
}
MONOTONE: dict[str, dict[str, Any]] = {
    "Window(width=500, m=3)": {"kind": "window", "width": 500, "m": 3},
    "KAnonymity(k=5)": {"kind": "k-anonymity", "k": 5},
}
DECIMAL: dict[str, dict[str, Any]] = {
    "EpsilonM(epsilon=0.25, m=4)": {"kind": "absolute", "epsilon": 0.25, "m": 4},
    "EpsilonM(epsilon=0.05, m=3, relative=True)": {"kind": "relative", "epsilon": 0.05, "m": 3},
    "Window(width=0.5, m=4)": {"kind": "window", "width": 0.5, "m": 4},
}
CASES = [
    *((spelled, method) for spelled in PROXIMITY for method in SPLITS[:2]),
    *((spelled, method) for spelled in MONOTONE for method in ("Split()", "Mondrian()")),
]
EPSILON_M = "EpsilonM(epsilon=500, m=3)"


def manifest_of(directory: Path) -> dict[str, Any]:
    found = json.loads((directory / "manifest.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def published(directory: Path) -> list[Row]:
    return oracle.read_release(directory).rows


def succeeded(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome
    return outcome


@pytest.mark.few(1)
@pytest.mark.parametrize(("spelled", "method"), CASES)
def test_oracle_accepts_the_release(
    table: Path, place: Path, rows: list[Row], spelled: str, method: str
) -> None:
    requirement = {"column": "salary"} | (PROXIMITY | MONOTONE)[spelled]
    linkage = place / "linkage.csv"
    succeeded(
        anonymize(table, place / "out", "--method", method, "--linkage", linkage, require=spelled)
    )
    assert oracle.problems(place / "out", [requirement], table, linkage) == []
    found = oracle.read_release(place / "out")
    assert list(oracle.check_tight(found, rows, oracle.read_linkage(linkage))) == []
    assert found.manifest["require"] == [spelled]
    assert found.manifest["method"] == method
    assert found.manifest["groups"] > 10


@pytest.mark.few(1)
@pytest.mark.parametrize("spelled", DECIMAL)
def test_oracle_accepts_releases_over_negative_decimals(
    table: Path, place: Path, spelled: str
) -> None:
    requirement = {"column": "change"} | DECIMAL[spelled]
    succeeded(anonymize(table, place / "out", "--sensitive", "change", require=spelled))
    assert oracle.problems(place / "out", [requirement], table) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("method", SPLITS)
def test_epsilon_m_and_k_anonymity_hold_together(table: Path, place: Path, method: str) -> None:
    succeeded(
        anonymize(
            table,
            place / "out",
            "--method",
            method,
            "--require",
            "KAnonymity(k=7)",
            require=EPSILON_M,
        )
    )
    both = [
        {"column": "salary", "kind": "absolute", "epsilon": 500, "m": 3},
        {"column": "salary", "kind": "k-anonymity", "k": 7},
    ]
    assert oracle.problems(place / "out", both, table) == []
    assert min(map(len, oracle.read_release(place / "out").groups().values())) >= 7


def test_requirement_may_name_its_column(table: Path, place: Path) -> None:
    spelled = f"salary: {EPSILON_M}"
    succeeded(anonymize(table, place / "out", "--sensitive", "salary,change", require=spelled))
    requirement = {"column": "salary", "kind": "absolute", "epsilon": 500, "m": 3}
    assert oracle.problems(place / "out", [requirement], table) == []
    assert manifest_of(place / "out")["require"] == [spelled]


def test_directory_holds_three_files_and_nothing_stands_beside_it(table: Path, place: Path) -> None:
    succeeded(anonymize(table, place / "out", require=EPSILON_M))
    assert names_in(place) == ["out"]
    assert names_in(place / "out") == FILES
    assert names_in(table.parent) == [table.name]


def test_input_is_not_changed(table: Path, place: Path) -> None:
    before = table.read_bytes(), table.stat().st_mtime_ns
    succeeded(anonymize(table, place / "out", require=EPSILON_M))
    assert (table.read_bytes(), table.stat().st_mtime_ns) == before


def test_linkage_is_readable_by_its_owner_alone_whatever_the_umask(
    table: Path, place: Path
) -> None:
    roles = ["--quasi", "age,town,score", "--sensitive", "salary", "--require", EPSILON_M]
    linkage = place / "links.csv"
    outcome = run(
        "anonymize", table, *roles, "--output", place / "out", "--linkage", linkage, umask=0o027
    )
    succeeded(outcome)
    assert stat.S_IMODE(linkage.stat().st_mode) == 0o600
    assert stat.S_IMODE((place / "out").stat().st_mode) == 0o750
    for name in FILES:
        assert stat.S_IMODE((place / "out" / name).stat().st_mode) == 0o640
    assert names_in(place) == ["links.csv", "out"]


def test_linkage_names_every_input_row_once(table: Path, place: Path, rows: list[Row]) -> None:
    linkage = place / "links.csv"
    succeeded(anonymize(table, place / "out", "--linkage", linkage, require=EPSILON_M))
    links = oracle.read_linkage(linkage)
    assert sorted(links) == list(range(len(rows)))
    assert sorted(links.values()) == list(range(len(rows)))


def test_manifest_has_the_keys_of_the_design_and_no_others(table: Path, place: Path) -> None:
    succeeded(anonymize(table, place / "out", require=EPSILON_M))
    manifest = manifest_of(place / "out")
    assert sorted(manifest) == KEYS
    assert manifest["rows"] == 300
    assert manifest["suppressed"] == 0
    assert [(c["name"], c["role"]) for c in manifest["columns"]] == [
        ("age", "quasi"),
        ("note", "other"),
        ("town", "quasi"),
        ("score", "quasi"),
        ("salary", "sensitive"),
    ]
    assert {c["name"]: c["kind"] for c in manifest["columns"] if c["role"] == "quasi"} == {
        "age": "interval",
        "town": "set",
        "score": "interval",
    }
    (measured,) = manifest["measured"]
    assert sorted(measured) == ["bound", "holds", "principle", "risk"]
    assert measured["holds"] is True
    assert sorted(manifest["loss"]) == ["gcp", "ncp"]
    assert "seconds" not in manifest  # times are told to the owner alone


def test_public_files_tell_neither_input_path_nor_names_nor_seed(table: Path, place: Path) -> None:
    succeeded(anonymize(table, place / "out", "--seed", 987_654_321, require=EPSILON_M))
    for name in FILES:
        text = (place / "out" / name).read_text("utf-8")
        for private in ("xyzzy", str(table.parent), "Zaphod", "Vogsphere", "987654321", "987,654"):
            assert private not in text, name


def test_json_is_one_object_on_stdout_the_manifest_and_seconds(table: Path, place: Path) -> None:
    outcome = succeeded(anonymize(table, place / "out", "--json", require=EPSILON_M))
    assert outcome.out.count("\n") == 1
    told = outcome.json()
    assert all(seconds >= 0 for seconds in told.pop("seconds").values())
    assert told.pop("seconds_by") == "processor"
    assert told == manifest_of(place / "out")


def test_without_json_a_person_reads_measure_and_bound(table: Path, place: Path) -> None:
    outcome = succeeded(anonymize(table, place / "out", require=EPSILON_M))
    assert EPSILON_M in outcome.out
    assert "1 in 3 (33.3%)" in " ".join(outcome.out.split())
    assert "GCP" in outcome.out
    (seconds,) = [one for one in outcome.out.splitlines() if one.startswith("Seconds: ")]
    phases = ["start", "read", "code", "search", "recode", "write", "audit", "report", "other"]
    assert [one.split()[0] for one in seconds.removeprefix("Seconds: ").split(", ")] == phases


def test_columns_without_a_role_are_dropped_and_listed(table: Path, place: Path) -> None:
    outcome = succeeded(anonymize(table, place / "out", require=EPSILON_M))
    assert "change, unused" in outcome.said
    assert "name" not in oracle.read_release(place / "out").header
    assert "unused" not in oracle.read_release(place / "out").header


def test_quiet_says_nothing_on_stderr(table: Path, place: Path) -> None:
    outcome = succeeded(anonymize(table, place / "out", "--quiet", require=EPSILON_M))
    assert outcome.err == ""


def test_columns_come_in_input_order_after_group(table: Path, place: Path) -> None:
    roles = ("--quasi", "score,town,age", "--sensitive", "change,salary", "--other", "note")
    succeeded(anonymize(table, place / "out", *roles, require=f"salary: {EPSILON_M}"))
    header = oracle.read_release(place / "out").header
    assert header == ["group", "age", "note", "town", "score", "salary", "change"]


def test_kept_cells_come_out_character_for_character(tmp_path: Path, place: Path) -> None:
    odd = ["", " x", "x ", "a,b", '"', '""q""', "a\nb", "a\r\nb", "\t", "NULL", "nan", "007"]
    odd += ["1.0", "1e3", "-0", "+5", "'tis", "ü̈", "\u200f", "\u2028", "💥", "[1, 2]", "{}"]
    salaries = ["1000", "2000.0", "3.0e3", "4000.00", "5E3", "6000", "-7000", "-0", "9000"]
    people_here = [
        {"age": str(20 + i % 9), "pay": salaries[i % 9], "extra": odd[i % len(odd)], "mark": str(i)}
        for i in range(207)
    ]
    table = write_csv(tmp_path / "odd.csv", people_here)
    linkage = place / "links.csv"
    roles = ["--quasi", "age", "--sensitive", "pay", "--other", "extra,mark"]
    roles += ["--nobody-knows", "extra,mark"]
    succeeded(
        anonymize(
            table,
            place / "out",
            *roles,
            "--linkage",
            linkage,
            require="EpsilonM(epsilon=1, m=3)",
        )
    )
    assert oracle.problems(place / "out", [], table, linkage) == []
    after = published(place / "out")
    for source, target in oracle.read_linkage(linkage).items():
        for name in ("pay", "extra", "mark"):
            assert after[target][name] == people_here[source][name]


def test_windows_line_ends_and_byte_order_mark_are_no_part_of_cells(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    plain = write_csv(tmp_path / "plain.csv", [{k: r[k] for k in ("age", "salary")} for r in rows])
    text = plain.read_text("utf-8").replace("\n", "\r\n")
    windows = tmp_path / "windows.csv"
    windows.write_bytes(b"\xef\xbb\xbf" + text.encode())
    roles = ("--quasi", "age", "--sensitive", "salary")
    succeeded(anonymize(windows, place / "out", *roles, require=EPSILON_M))
    assert oracle.problems(place / "out", [], plain) == []


def test_gzip_gives_the_same_release_as_plain_csv(table: Path, place: Path) -> None:
    packed = table.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(table.read_bytes()))
    for source, name in ((table, "plain"), (packed, "packed")):
        succeeded(anonymize(source, place / name, "--seed", 5, require=EPSILON_M))
    first, second = ((place / n / "release.csv").read_bytes() for n in ("plain", "packed"))
    assert first == second


def test_parquet_input_gives_the_release_of_the_same_numbers(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    names = ["age", "note", "town", "salary"]
    small = [{name: row[name] for name in names} for row in rows]
    source = write_csv(tmp_path / "small.csv", small)
    typed = tmp_path / "small.parquet"
    pl.DataFrame(small).with_columns(pl.col("age", "salary").cast(pl.Int64)).write_parquet(typed)
    roles = ("--quasi", "age,town", "--sensitive", "salary", "--other", "note", "--seed", 5)
    for path, name in ((source, "csv"), (typed, "parquet")):
        succeeded(anonymize(path, place / name, *roles, require=EPSILON_M))
    first, second = (published(place / name) for name in ("csv", "parquet"))
    assert first == second


def test_parquet_of_dates_booleans_decimals_and_categories_is_published(
    tmp_path: Path, place: Path
) -> None:
    count = 120
    frame = pl.DataFrame(
        {
            "born": pl.date_range(
                pl.date(1960, 1, 1), pl.date(1960, 1, 1) + pl.duration(days=count - 1), eager=True
            ),
            "employed": [i % 3 == 0 for i in range(count)],
            "grade": pl.Series([f"g{i % 4}" for i in range(count)], dtype=pl.Categorical),
            "pay": pl.Series([str(i * 37 % 101) + ".50" for i in range(count)]).cast(
                pl.Decimal(10, 2)
            ),
            "nothing": pl.Series([None] * count, dtype=pl.Null),
        }
    )
    path = tmp_path / "typed.parquet"
    frame.write_parquet(path)
    roles = ("--quasi", "born,employed,grade", "--sensitive", "pay", "--other", "nothing")
    succeeded(anonymize(path, place / "out", *roles, require="EpsilonM(epsilon=2, m=3)"))
    requirement = {"kind": "absolute", "column": "pay", "epsilon": 2, "m": 3}
    assert oracle.problems(place / "out", [requirement]) == []
    assert sorted(row["pay"] for row in published(place / "out")) == sorted(
        map(str, frame["pay"].to_list())
    )


def test_parquet_output_has_structs_and_lists_and_passes_its_audit(
    table: Path, place: Path
) -> None:
    for spelled in ("csv", "parquet"):
        succeeded(
            anonymize(table, place / spelled, "--format", spelled, "--seed", 3, require=EPSILON_M)
        )
    assert names_in(place / "parquet") == [
        "codebook.csv",
        "manifest.json",
        "release.parquet",
        "report.html",
    ]
    typed = pl.read_parquet(place / "parquet" / "release.parquet")
    assert typed.schema["age"] == pl.Struct({"low": pl.Int64, "high": pl.Int64})
    assert typed.schema["score"] == pl.Struct({"low": pl.Float64, "high": pl.Float64})
    assert typed.schema["town"] == pl.List(pl.String)
    assert typed.schema["salary"] == pl.Int64
    for cells, row in zip(published(place / "csv"), typed.iter_rows(named=True), strict=True):
        assert cells["group"] == str(row["group"])
        assert list(map(int, oracle.parse_interval(cells["age"]))) == list(row["age"].values())
        assert sorted(oracle.parse_set(cells["town"])) == sorted(row["town"])
        assert cells["salary"] == str(row["salary"])
        assert cells["note"] == (row["note"] or "")
    assert shoal("audit", place / "parquet").code == 0
    first, second = (manifest_of(place / name) for name in ("csv", "parquet"))
    for key in set(KEYS) - {"asked", "id", "digests"}:
        assert first[key] == second[key]


@pytest.mark.parametrize("spelled", ["Window(width=500, m=3)", "KAnonymity(k=5)"])
def test_parquet_output_of_awkward_labels_passes_its_audit(
    table: Path, place: Path, spelled: str
) -> None:
    roles = ("--quasi", "town", "--sensitive", "salary", "--format", "parquet")
    succeeded(anonymize(table, place / "out", *roles, require=spelled))
    assert shoal("audit", place / "out").code == 0


def test_seed_repeats_the_release_bit_for_bit_and_is_warned_about(table: Path, place: Path) -> None:
    outcomes = [
        succeeded(anonymize(table, place / name, "--seed", 11, require=EPSILON_M))
        for name in ("one", "two")
    ]
    one, two = ((place / name / "release.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    manifests = [manifest_of(place / name) for name in ("one", "two")]
    assert [manifest.pop("reproducible") for manifest in manifests] == [True, True]
    for manifest in manifests:
        del manifest["id"], manifest["digests"]["report.html"]  # which shows the id
    assert manifests[0] == manifests[1]
    reports = [(place / name / "report.html").read_text("utf-8") for name in ("one", "two")]
    assert len({re.sub(r"[0-9a-f]{32,}", "", report) for report in reports}) == 1
    assert all("warning" in o.err.lower() and "test" in o.err.lower() for o in outcomes)


def test_other_seeds_give_other_orders(table: Path, place: Path) -> None:
    for seed in (1, 2):
        succeeded(anonymize(table, place / str(seed), "--seed", seed, require=EPSILON_M))
    assert published(place / "1") != published(place / "2")


def test_without_seed_two_runs_differ_in_the_order_of_rows(table: Path, place: Path) -> None:
    for name in ("one", "two"):
        outcome = succeeded(anonymize(table, place / name, require=EPSILON_M))
        assert "warning" not in outcome.err.lower()
    one, two = published(place / "one"), published(place / "two")
    assert one != two
    cells = ["age", "note", "town", "score", "salary"]
    assert sorted([r[c] for c in cells] for r in one) == sorted([r[c] for c in cells] for r in two)
    assert "reproducible" not in manifest_of(place / "one")


def correlation(first: list[float], second: list[float]) -> float:
    return float(pl.DataFrame({"a": first, "b": second}).select(pl.corr("a", "b")).item())


def test_neither_rows_nor_group_ids_follow_the_order_of_the_input(
    tmp_path: Path, place: Path
) -> None:
    table = write_csv(tmp_path / "long.csv", people(1500))
    linkage = place / "links.csv"
    succeeded(anonymize(table, place / "out", "--linkage", linkage, require=EPSILON_M))
    links = oracle.read_linkage(linkage)
    groups = [int(row["group"]) for row in published(place / "out")]
    inputs = [float(source) for source in sorted(links)]
    targets = [float(links[source]) for source in sorted(links)]
    ids = [float(groups[links[source]]) for source in sorted(links)]
    # The standard deviation of a correlation is 0.026 over 1,500 rows and about 0.05 over groups.
    assert abs(correlation(inputs, targets)) < 0.16
    assert abs(correlation(inputs, ids)) < 0.3
    assert abs(correlation(targets, ids)) < 0.3
    follows = sum(after == before + 1 for before, after in pairwise(targets))
    assert follows < 15


def test_missing_cells_can_be_dropped_and_are_told(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    holes = [dict(row) for row in rows]
    holes[3]["age"] = holes[9]["salary"] = holes[20]["town"] = ""
    table = write_csv(tmp_path / "holes.csv", holes)
    outcome = succeeded(anonymize(table, place / "out", "--missing", "drop", require=EPSILON_M))
    kept = [row for place_, row in enumerate(holes) if place_ not in {3, 9, 20}]
    requirement = {"kind": "absolute", "column": "salary", "epsilon": 500, "m": 3}
    release = oracle.read_release(place / "out")
    assert release.manifest["rows"] == 297
    assert list(oracle.check_requirements(release, [requirement])) == []
    assert sorted(r["salary"] for r in release.rows) == sorted(r["salary"] for r in kept)
    assert "3 rows" in outcome.said
    assert shoal("audit", place / "out").code == 0


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_missing_labels_can_be_a_value_of_their_own(
    tmp_path: Path, place: Path, rows: list[Row], format: str
) -> None:
    holes = [dict(row) for row in rows]
    for number in range(0, 300, 7):
        holes[number]["town"] = ""
    table = write_csv(tmp_path / "holes.csv", holes)
    options = ("--missing", "value", "--format", format)
    succeeded(anonymize(table, place / "out", *options, require="KAnonymity(k=3)"))
    assert shoal("audit", place / "out").code == 0
    if format == "csv":
        requirement = {"kind": "k-anonymity", "column": "salary", "k": 3}
        assert oracle.problems(place / "out", [requirement], table) == []


def test_missing_sensitive_labels_can_be_a_value_of_their_own(table: Path, place: Path) -> None:
    roles = ("--quasi", "age,town", "--sensitive", "note", "--missing", "value")
    succeeded(anonymize(table, place / "out", *roles, require="KAnonymity(k=3)"))
    assert oracle.problems(place / "out", [], table) == []
    assert shoal("audit", place / "out").code == 0


def test_type_of_a_column_can_be_given_in_a_schema_file(table: Path, place: Path) -> None:
    schema = place / "schema.toml"
    schema.write_text(
        'quasi = ["age", "score"]\nsensitive = "salary"\nother = ["note"]\n'
        f"require = ['{EPSILON_M}']\n"
        "[columns.age]\ntype = 'categorical'\n",
        "utf-8",
    )
    outcome = shoal("anonymize", table, "--schema", schema, "--output", place / "out")
    succeeded(outcome)
    kinds = {c["name"]: c.get("kind") for c in manifest_of(place / "out")["columns"]}
    assert kinds == {"age": "set", "note": None, "score": "interval", "salary": None}
    requirement = {"kind": "absolute", "column": "salary", "epsilon": 500, "m": 3}
    assert oracle.problems(place / "out", [requirement], table) == []


def test_force_replaces_a_release_and_leaves_nothing_beside_it(table: Path, place: Path) -> None:
    succeeded(anonymize(table, place / "out", require=EPSILON_M))
    succeeded(anonymize(table, place / "out", "--force", require="KAnonymity(k=9)"))
    assert manifest_of(place / "out")["require"] == ["KAnonymity(k=9)"]
    assert names_in(place) == ["out"]
    assert names_in(place / "out") == FILES


def test_one_valued_quasi_column_costs_nothing(
    tmp_path: Path, place: Path, rows: list[Row]
) -> None:
    same = [row | {"town": "Ulm", "age": "40"} for row in rows]
    table = write_csv(tmp_path / "same.csv", same)
    succeeded(anonymize(table, place / "out", require=EPSILON_M))
    assert oracle.problems(place / "out", [], table) == []
    assert manifest_of(place / "out")["loss"]["ncp"]["town"] == 0
    assert manifest_of(place / "out")["loss"]["ncp"]["age"] == 0
    assert {row["age"] for row in published(place / "out")} == {"40"}
