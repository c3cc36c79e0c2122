"""The journey of a heterogeneous release: from the command to files, and to their audit."""

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from forged import reported
from reference import heterogeneous as oracle
from reference.release import read_table
from system.shell import QUASI, Outcome, Row, anonymize, people, shoal, write_csv

KINDS = ("interval", "set", "interval")
METHODS = ("Freeform()", "Freeform(assignment='sort')", "Freeform(assignment='greedy')", "Ring()")


def publish(table: Path, output: Path, *options: object, k: int = 5) -> Outcome:
    method = () if "--method" in options else ("--method", "Freeform()")
    return anonymize(table, output, *method, *options, require=f"KAnonymity(k={k})")


def cells(rows: list[Row]) -> list[list[str]]:
    return [[row[name] for name in QUASI] for row in rows]


def manifest_of(directory: Path) -> dict[str, Any]:
    return json.loads((directory / "manifest.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place with a table, its release and its linkage."""
    base = tmp_path_factory.mktemp("made")
    table = write_csv(base / "table.csv", people(200))
    assert publish(table, base / "out", "--linkage", base / "linkage.csv").code == 0
    return base


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the place that a test may spoil."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def audit(place: Path, *options: object) -> Outcome:
    return shoal("audit", place / "out", "--original", place / "table.csv", "--json", *options)


def restate(place: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Change the manifest, its digest of the table being that of the table as it is now."""
    manifest = manifest_of(place / "out")
    table = (place / "out" / "release.csv").read_bytes()
    manifest["digests"]["release.csv"] = f"sha256:{hashlib.sha256(table).hexdigest()}"
    change(manifest)
    (place / "out" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    reported(place / "out")


@pytest.mark.few(2)
@pytest.mark.parametrize("method", METHODS)
def test_every_person_matches_k_rows_in_k_disjoint_assignments(
    method: str, table: Path, place: Path
) -> None:
    assert publish(table, place / "out", "--method", method).code == 0
    _, originals = read_table(table)
    header, published = read_table(place / "out" / "release.csv")
    assert header == ["age", "note", "town", "score", "salary"]
    lists = oracle.match_lists(cells(published), KINDS, cells(originals))
    assert min(map(len, lists)) >= 5
    assert oracle.disjoint_assignments(lists, len(published), 5)
    manifest = manifest_of(place / "out")
    assert manifest["heterogeneous"] is True
    assert manifest["groups"] is None
    assert manifest["method"] == method
    assert manifest["measured"] == [
        {"principle": "KAnonymity(k=5)", "holds": True, "risk": 0.2, "bound": 0.2}
    ]


def test_values_stay_together_and_none_is_lost(made: Path) -> None:
    _, originals = read_table(made / "table.csv")
    _, published = read_table(made / "out" / "release.csv")
    kept = ("note", "salary")
    assert Counter(tuple(row[n] for n in kept) for row in originals) == Counter(
        tuple(row[n] for n in kept) for row in published
    )


def test_the_linkage_names_the_row_that_carries_the_persons_values(made: Path) -> None:
    _, originals = read_table(made / "table.csv")
    _, published = read_table(made / "out" / "release.csv")
    _, links = read_table(made / "linkage.csv")
    assert [int(link["row"]) for link in links] == list(range(200))
    assert sorted(int(link["release_row"]) for link in links) == list(range(200))
    for link in links:
        person, row = originals[int(link["row"])], published[int(link["release_row"])]
        assert person["salary"] == row["salary"]
        assert person["note"] == row["note"]
        assert oracle.matches(cells([row])[0], KINDS, cells([person])[0])


def test_the_loss_is_that_of_the_published_cells(made: Path) -> None:
    _, originals = read_table(made / "table.csv")
    _, published = read_table(made / "out" / "release.csv")
    ncp = {}
    for name, kind in zip(QUASI, KINDS, strict=True):
        whole: list[Any] = [row[name] for row in originals]
        if kind == "interval":
            whole = [float(cell) for cell in whole]
        losses = []
        for row in published:
            cell = row[name]
            spelled = json.loads(cell) if cell.startswith("[") and cell != "[odd]" else [cell]
            values = [float(v) for v in spelled] if kind == "interval" else spelled
            losses.append(float(oracle.cell_loss(values, kind, whole)))
        ncp[name] = sum(losses) / len(losses)
    stated = manifest_of(made / "out")["loss"]
    assert stated["ncp"] == pytest.approx(ncp)
    assert stated["gcp"] == pytest.approx(sum(ncp.values()) / 3)


def test_manifest_and_report_say_whom_the_guarantee_is_about(made: Path) -> None:
    said = " ".join(manifest_of(made / "out")["adversary"])
    report = (made / "out" / "report.html").read_text("utf-8")
    for text in (said, report):
        assert "quasi-identifiers of everyone" in text
        assert "not the sensitive value" in text
    assert "Every person in the table matches at least 5 published rows" in report
    assert "Zaphod" not in report


def test_parquet_is_audited_like_csv(made: Path, tmp_path: Path) -> None:
    assert publish(made / "table.csv", tmp_path / "out", "--format", "parquet").code == 0
    typed = pl.read_parquet(tmp_path / "out" / "release.parquet")
    assert typed.columns == ["age", "note", "town", "score", "salary"]
    assert isinstance(typed.schema["age"], pl.Struct)
    assert typed.schema["town"] == pl.List(pl.String)
    outcome = shoal("audit", tmp_path / "out", "--original", made / "table.csv")
    assert outcome.code == 0, outcome


def test_a_seed_repeats_the_release_and_chance_does_not(made: Path, tmp_path: Path) -> None:
    texts = []
    for name, options in (("a", ("--seed", 7)), ("b", ("--seed", 7)), ("c", ()), ("d", ())):
        assert publish(made / "table.csv", tmp_path / name, *options).code == 0
        texts.append((tmp_path / name / "release.csv").read_bytes())
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3
    assert manifest_of(tmp_path / "a")["reproducible"] is True
    assert "reproducible" not in manifest_of(tmp_path / "c")


def test_the_audit_of_the_owner_shows_matches_and_candidates(made: Path) -> None:
    outcome = audit(made)
    assert outcome.code == 0, outcome
    found = outcome.json()
    assert found["holds"] is True
    assert found["groups"] is None
    assert found["measured"][0]["people"] == 200
    assert found["matches"]["least"] >= 5
    assert [entry["column"] for entry in found["candidates"]] == ["salary"] * 4
    risks = [entry["mean"] for entry in found["candidates"]]
    assert risks == sorted(risks)
    shown = shoal("audit", made / "out", "--original", made / "table.csv").out
    assert "matches" in shown
    assert "hides the row, not the value" in shown


def test_a_stronger_requirement_is_measured_and_found_wanting(made: Path) -> None:
    outcome = audit(made, "--require", "KAnonymity(k=9)")
    assert outcome.code == 1
    assert outcome.json()["measured"][0]["holds"] is False
    assert audit(made, "--require", "KAnonymity(k=2)").code == 0


def test_without_the_original_k_is_not_claimed(made: Path) -> None:
    outcome = shoal("audit", made / "out")
    assert outcome.code == 2
    assert "was not measured" in outcome.said
    assert "--original" in outcome.said
    assert not outcome.out


def test_without_the_original_inconsistent_files_are_still_rejected(copy: Path) -> None:
    header, rows = read_table(copy / "out" / "release.csv")
    write_csv(copy / "out" / "release.csv", rows[1:], header)
    outcome = shoal("audit", copy / "out", "--json")
    assert outcome.code == 1
    assert "199" in " ".join(outcome.json()["problems"])


def respelled(copy: Path, change: Callable[[list[Row]], list[Row]]) -> None:
    """Change the published rows, and the manifest so that its counts and losses agree."""
    header, rows = read_table(copy / "out" / "release.csv")
    rows = change(rows)
    write_csv(copy / "out" / "release.csv", rows, header)
    told = " ".join(shoal("audit", copy / "out", "--json").json()["problems"])
    restate(copy, lambda m: m.update(rows=len(rows), rows_in=len(rows)))
    for name in ("age", "town", "score", "gcp"):
        _, found, rest = told.partition(f"The loss of '{name}' is ")
        if found:
            value = float(rest.split(",")[0])
            where = (lambda m: m["loss"]) if name == "gcp" else (lambda m: m["loss"]["ncp"])
            restate(copy, lambda m: where(m).update({name: value}))  # noqa: B023


def narrow(rows: list[Row]) -> list[Row]:
    row = next(row for row in rows if row["age"].startswith("["))
    row["age"] = str(json.loads(row["age"])[0])
    return rows


def test_one_narrowed_cell_is_rejected(copy: Path) -> None:
    respelled(copy, narrow)
    outcome = audit(copy)
    assert outcome.code == 1
    found = outcome.json()
    assert found["measured"][0]["holds"] is False
    assert found["measured"][0]["risk"] > 0.2


def test_one_dropped_row_is_rejected(copy: Path) -> None:
    respelled(copy, lambda rows: rows[:-1])
    outcome = audit(copy)
    assert outcome.code == 1
    assert outcome.json()["holds"] is False


@pytest.mark.parametrize("name", ["age", "salary", "note"])
def test_one_dropped_column_is_rejected(copy: Path, name: str) -> None:
    header, rows = read_table(copy / "out" / "release.csv")
    write_csv(copy / "out" / "release.csv", rows, [column for column in header if column != name])
    restate(copy)
    outcome = audit(copy)
    assert outcome.code == 1
    assert "The columns are" in outcome.json()["problems"][0]


def test_a_release_without_rows_is_refused(copy: Path) -> None:
    header, _ = read_table(copy / "out" / "release.csv")
    (copy / "out" / "release.csv").write_text(",".join(header) + "\n", "utf-8")
    restate(copy)
    outcome = audit(copy)
    assert outcome.code == 2
    assert "no rows" in outcome.said


def test_another_original_is_rejected(copy: Path) -> None:
    write_csv(copy / "table.csv", people(200, seed=9))
    assert audit(copy).code == 1


def test_a_manifest_that_hides_what_the_release_is_is_rejected(copy: Path) -> None:
    restate(copy, lambda m: m.pop("heterogeneous"))
    outcome = audit(copy)
    assert outcome.code == 2
    assert "heterogeneous" in outcome.said
    restate(copy, lambda m: (m.pop("adversary"), m.update(groups=40)))
    assert shoal("audit", copy / "out", "--json").code == 1


@pytest.mark.parametrize("how", ["invented", "shortened", "reversed"])
def test_whom_the_guarantee_is_about_is_as_shoal_says_it(copy: Path, how: str) -> None:
    said = manifest_of(copy / "out")["adversary"]
    other = {"invented": ["Nobody can be found."], "shortened": said[1:], "reversed": said[::-1]}
    restate(copy, lambda m: m.update(adversary=other[how]))
    outcome = audit(copy)
    assert outcome.code == 2
    assert "'adversary' is not what this version of Shoal says" in outcome.said


def test_a_missing_original_is_a_sentence(made: Path) -> None:
    outcome = shoal("audit", made / "out", "--original", made / "nowhere.csv")
    assert outcome.code == 2
    assert "nowhere.csv" in outcome.said


def test_too_few_rows_are_not_achievable(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "table.csv", people(7))
    outcome = publish(table, tmp_path / "out", k=8)
    assert outcome.code == 3
    assert "the table has 7" in outcome.said
    assert not (tmp_path / "out").exists()
    for name, k in (("equal", 7), ("one-more", 6)):
        assert publish(table, tmp_path / name, k=k).code == 0


def test_requirements_that_need_groups_are_refused(table: Path, place: Path) -> None:
    require = ("--require", "EpsilonM(epsilon=500, m=3)")
    outcome = publish(table, place / "out", *require)
    assert outcome.code == 2
    assert "publishes no groups" in outcome.said
    outcome = publish(table, place / "out", "--method", "Freeform(k=4)")
    assert outcome.code == 2
    assert "do not agree on k" in outcome.said


def test_seconds_are_taken_and_checked(table: Path, place: Path) -> None:
    assert publish(table, place / "out", "--seconds", 0.2).code == 0
    outcome = publish(table, place / "other", "--seconds", -1)
    assert outcome.code == 2
    assert "time budget" in outcome.said


def test_rows_with_missing_cells_may_be_left_out(tmp_path: Path) -> None:
    rows = people(60)
    rows[3]["salary"] = rows[10]["town"] = ""
    table = write_csv(tmp_path / "table.csv", rows)
    for policy, left in (("drop", 58), ("value", 60)):
        if policy == "value":
            rows[3]["salary"] = "1"
            write_csv(table, rows)
        assert publish(table, tmp_path / policy, "--missing", policy).code == 0
        outcome = shoal("audit", tmp_path / policy, "--original", table, "--json")
        assert outcome.code == 0, outcome
        assert outcome.json()["rows"] == left


def test_identical_people_are_published_as_they_are(tmp_path: Path) -> None:
    rows = [dict(row, age="40", town="Aalen", score="1.5") for row in people(90)]
    table = write_csv(tmp_path / "table.csv", rows)
    assert publish(table, tmp_path / "out", k=30).code == 0
    with (tmp_path / "out" / "release.csv").open(encoding="utf-8") as file:
        assert {row["age"] for row in csv.DictReader(file)} == {"40"}
    assert manifest_of(tmp_path / "out")["loss"]["gcp"] == 0
