"""Tables with hierarchies, dates, codes and coordinates, from the command to the audit."""

import json
import random
from pathlib import Path

import pytest

from reference import release as oracle
from system.shell import shoal, write_csv

HEADER = ("zip", "born", "job", "lat", "salary")
JOBS = "clerk;office;*\ntypist;office;*\nmason;site;*\nroofer;site;*\n"
ROLES = ("--quasi", "zip,born,job,lat", "--sensitive", "salary", "--type", "zip=code")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    draw = random.Random(7)
    rows = [
        (
            f"0{draw.randint(1000, 1999)}",
            f"{draw.randint(1890, 2004)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            draw.choice(["clerk", "typist", "mason", "roofer"]),
            f"{draw.uniform(47, 48):.3f}",
            str(draw.randint(1000, 90000)),
        )
        for _ in range(400)
    ]
    (tmp_path / "jobs.csv").write_text(JOBS)
    return write_csv(tmp_path / "people.csv", [dict(zip(HEADER, row, strict=True)) for row in rows])


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["Exchange()", "Split()", "Mondrian()"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_nodes_and_dates_pass_an_oracle_and_the_audit(table, tmp_path, method, form):
    require = "KAnonymity(k=4)"
    out, linkage = tmp_path / "out", tmp_path / "linkage.csv"
    done = shoal(
        "anonymize", table, *ROLES, "--hierarchy", "zip=Prefix()", "--weight", "born=2",
        "--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--type", "lat=latitude",
        "--require", require, "--method", method, "--output", out, "--format", form,
        "--linkage", linkage,
    )  # fmt: skip
    assert done.code == 0, done.err
    manifest = json.loads((out / "manifest.json").read_text())
    kinds = {c["name"]: c.get("kind") for c in manifest["columns"]}
    assert kinds == {
        "zip": "node", "born": "interval", "job": "node", "lat": "interval", "salary": None,
    }  # fmt: skip
    assert str(tmp_path) not in (out / "manifest.json").read_text()
    if form == "csv":
        asked = {"kind": "k-anonymity", "k": 4, "column": "salary"}
        paths = {"job": [tuple(line.split(";")) for line in JOBS.split()]}
        found = oracle.problems(out, [asked], original=table, linkage=linkage, paths=paths)
        assert found == []
        release = oracle.read_release(out)
        oracle.add_paths(release, paths)
        _, rows = oracle.read_table(table)
        assert list(oracle.check_tight(release, rows, oracle.read_linkage(linkage))) == []
    assert shoal("audit", out).code == 0


def test_a_freeform_release_with_nodes_is_audited_against_its_original(table, tmp_path):
    out = tmp_path / "out"
    done = shoal(
        "anonymize", table, *ROLES, "--hierarchy", "zip=Prefix()",
        "--hierarchy", f"job={tmp_path / 'jobs.csv'}",
        "--require", "KAnonymity(k=3)", "--method", "Freeform()", "--output", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    listed = ("--hierarchy", f"job={tmp_path / 'jobs.csv'}")
    assert shoal("audit", out, "--original", table, *listed).code == 0


def test_a_node_that_the_hierarchy_lacks_fails_the_audit(table, tmp_path):
    out = tmp_path / "out"
    done = shoal(
        "anonymize", table, *ROLES, "--hierarchy", "zip=Prefix()", "--require", "KAnonymity(k=4)",
        "--output", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    text = (out / "release.csv").read_text()
    node = next(row["zip"] for row in oracle.read_release(out).rows if "*" in row["zip"])
    (out / "release.csv").write_text(text.replace(node, "9****"))
    spoiled = shoal("audit", out)
    assert spoiled.code == 1
    assert "outside its domain" in spoiled.out + spoiled.err


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--type", "zip"), "--type takes column=value"),
        (("--type", "zip=code", "--type", "zip=date"), "names column 'zip' twice"),
        (("--weight", "born=heavy"), "must be a number above 0"),
        (("--hierarchy", "job=none.csv"), "Cannot read the hierarchy 'none.csv'"),
        (("--hierarchy", "salary=Prefix()"), "is not a quasi column"),
        (("--hierarchy", "job=Bins(width=2)"), "needs numbers or dates"),
        (("--type", "colour=code"), "There is no column 'colour'"),
    ],
)
def test_what_is_said_wrongly_of_a_column_is_named(table, tmp_path, option, said):
    quasi = ("--quasi", "zip,born,job,lat", "--sensitive", "salary")
    done = shoal(
        "anonymize", table, *quasi, *option, "--require", "KAnonymity(k=4)",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 2
    assert said in done.said


@pytest.mark.parametrize("length", [31, 32, 33, 34, 200])
@pytest.mark.parametrize("apart", [0, 1, 17])
def test_codes_of_any_length_have_a_node_for_each_of_their_places(tmp_path, length, apart):
    """A release of long codes passes its own audit, wherever codes part."""
    codes = ["a" * length, "a" * apart + "b" * (length - apart), "a" * length + "c"]
    rows = [{"code": codes[row % 3], "pay": str(row)} for row in range(12)]
    done = shoal(
        "anonymize", write_csv(tmp_path / "t.csv", rows), "--quasi", "code", "--sensitive", "pay",
        "--hierarchy", "code=Prefix()", "--type", "code=code", "--require", "KAnonymity(k=5)",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert shoal("audit", tmp_path / "out").code == 0


@pytest.mark.parametrize("parents", [("b", "a"), ("a", "1*"), ("b", "c"), ("*", None)])
def test_nodes_that_stand_above_themselves_or_under_nobody_are_found(tmp_path, parents):
    rows = [{"code": f"1{row % 3}", "pay": str(row)} for row in range(12)]
    done = shoal(
        "anonymize", write_csv(tmp_path / "t.csv", rows), "--quasi", "code", "--sensitive", "pay",
        "--hierarchy", "code=Prefix()", "--type", "code=code", "--require", "KAnonymity(k=4)",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    (column,) = (one for one in manifest["columns"] if one["name"] == "code")
    for name, parent in zip("ab", parents, strict=True):
        column["domain"]["nodes"].append({"name": name, "parent": parent, "leaves": 1})
    path.write_text(json.dumps(manifest))
    found = shoal("audit", tmp_path / "out")
    assert found.code == 2
    assert "has an ancestor of" in found.said or "one root" in found.said
