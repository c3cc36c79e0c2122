"""A control group is kept back before anything is computed, in a private file of its own."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal
from system.shell import shoal as command

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ("--quasi", "age,zip", "--sensitive", "salary", "--require", "EpsilonM(epsilon=50, m=3)")


def people(rows: int, first: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(first)
    return pl.DataFrame(
        {
            "who": [f"p{one}" for one in range(first, first + rows)],
            "age": random.integers(16, 90, rows),
            "zip": random.integers(100, 200, rows),
            "salary": random.integers(0, 10_000, rows),
        }
    )


def publish(table: pl.DataFrame, tmp_path: Path, *more: str, name: str = "out") -> dict:
    table.write_csv(tmp_path / "people.csv")
    held = ("--hold-out", "25%", "--hold-out-file", str(tmp_path / "controls.csv"))
    done = command(
        "anonymize", tmp_path / "people.csv", *ASKED, *held, *more, "--output", tmp_path / name
    )
    assert done.code == 0, done.err
    return json.loads((tmp_path / name / "manifest.json").read_text("utf-8"))


def test_the_release_is_that_of_the_others_alone(tmp_path: Path) -> None:
    table = people(200)
    linkage = tmp_path / "linkage.csv"
    manifest = publish(table, tmp_path, "--seed", "3", "--linkage", str(linkage))
    controls = pl.read_csv(tmp_path / "controls.csv")
    assert stat.S_IMODE((tmp_path / "controls.csv").stat().st_mode) == 0o600
    assert controls.columns == ["age", "zip", "salary"]
    counts = {name: manifest[name] for name in ("rows_in", "rows", "held_out")}
    assert counts == {"rows_in": 200, "rows": 150, "held_out": 50}
    assert "held_out_people" not in manifest
    # The linkage names rows as they came in: those that it leaves out are the controls.
    linked = pl.read_csv(linkage)["row"].to_list()
    left = [row for row in range(200) if row not in set(linked)]
    assert table[left].drop("who").equals(controls)
    alone = tmp_path / "alone.csv"
    table[sorted(linked)].write_csv(alone)
    again = tmp_path / "again"
    assert command("anonymize", alone, *ASKED, "--seed", "3", "--output", again).code == 0
    for name in ("release.csv", "codebook.csv"):
        assert (again / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    assert command("audit", tmp_path / "out").code == 0
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "as a control group" in report


def test_whole_people_are_held_out(tmp_path: Path) -> None:
    table = pl.concat([people(120), people(120).with_columns(salary=pl.col("salary") + 1)])
    manifest = publish(table, tmp_path, "--person", "who")
    held = pl.read_csv(tmp_path / "controls.csv")
    assert (manifest["held_out"], manifest["held_out_people"]) == (60, 30)
    assert held["who"].value_counts()["count"].unique().to_list() == [2]
    assert command("audit", tmp_path / "out").code == 0
    schema = shoal.Schema(person="who")
    found = shoal.attack(
        [tmp_path / "out"], schema, original=table, control=tmp_path / "controls.csv"
    ).to_dict()
    assert {one["members"]["count"] for one in found["controlled"]} >= {90}


LAYOUTS = {
    "encoding": (["--encoding", "latin-1"], lambda text: text.encode("latin-1")),
    "delimiter": (["--delimiter", ";"], lambda text: text.replace(",", ";").encode()),
    "header": (["--header-row", "3"], lambda text: f"A title\n\n{text}".encode()),
    "last": (["--skip-last", "1"], lambda text: f"{text}Source: a survey\n".encode()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_private_file_is_read_whatever_the_original_looks_like(
    tmp_path: Path, layout: str
) -> None:
    """Controls that are read wrongly are not found in the original, and count as members."""
    options, written = LAYOUTS[layout]
    rows = people(60).with_columns(town=pl.Series(["ä", "ö", "ü"] * 20)).drop("who")
    table, controls = tmp_path / "people.csv", tmp_path / "controls.csv"
    table.write_bytes(written(rows.write_csv()))
    held = ("--hold-out", "25%", "--hold-out-file", controls, "--quiet")
    asked = ("--quasi", "age,town", "--sensitive", "salary", "--require", "KAnonymity(k=3)")
    out = tmp_path / "out"
    done = command("anonymize", table, *asked, *options, *held, "--output", out)
    assert done.code == 0, done.err
    done = command("attack", out, "--original", table, "--control", controls, *options, "--json")
    assert done.code == 0, done.err
    (one,) = [one for one in done.json()["controlled"] if one["attack"] == "linking"]
    assert (one["members"]["count"], one["controls"]["count"]) == (45, 15)
    # A control group that looks like the original is read like it.
    other = tmp_path / "others.csv"
    other.write_bytes(written(rows[:20].write_csv()))
    done = command("attack", out, "--original", table, "--control", other, *options, "--json")
    (one,) = [one for one in done.json()["controlled"] if one["attack"] == "linking"]
    assert (one["members"]["count"], one["controls"]["count"]) == (40, 20)


def test_controls_that_are_not_found_in_the_original_are_remarked_on(tmp_path: Path) -> None:
    table = people(80)
    publish(table, tmp_path)
    controls = pl.read_csv(tmp_path / "controls.csv")
    for known, wrong in ((controls, False), (controls.with_columns(pl.col("zip") + 500), True)):
        found = shoal.attack([tmp_path / "out"], original=table, control=known)
        said = [one for one in found.remarks if "held out 20 rows" in one]
        assert bool(said) is wrong


def test_without_groups_the_original_is_that_of_the_others_too(tmp_path: Path) -> None:
    """Controls may fit published rows, so it is never guessed who of the original was published."""
    linkage = tmp_path / "linkage.csv"
    asked = ("--quasi", "age", "--sensitive", "salary", "--require", "KAnonymity(k=3)")
    people(40).write_csv(tmp_path / "people.csv")
    held = ("--hold-out", "25%", "--hold-out-file", tmp_path / "controls.csv", "--seed", "1")
    made = ("--method", "Freeform()", "--linkage", linkage, "--output", tmp_path / "out")
    done = command("anonymize", tmp_path / "people.csv", *asked, *held, *made)
    assert done.code == 0, done.err
    whole = command("audit", tmp_path / "out", "--original", tmp_path / "people.csv")
    assert whole.code == 2
    assert "Give the original without the rows that were left out" in " ".join(whole.err.split())
    kept = sorted(pl.read_csv(linkage)["row"].to_list())
    people(40)[kept].write_csv(tmp_path / "published.csv")
    others = command("audit", tmp_path / "out", "--original", tmp_path / "published.csv")
    assert others.code == 0, others.out


def test_withheld_counts_say_nothing_of_it(tmp_path: Path) -> None:
    manifest = publish(people(80), tmp_path, "--withhold-counts")
    assert "held_out" not in json.dumps(manifest)
    assert "hold_out" not in manifest["asked"]
    assert command("audit", tmp_path / "out").code == 0


def test_a_manifest_has_to_add_up(tmp_path: Path) -> None:
    manifest = publish(people(80), tmp_path)
    path = tmp_path / "out" / "manifest.json"
    for wrong in ({"held_out": 3}, {"held_out_people": 2}):
        path.write_text(json.dumps(manifest | wrong), "utf-8")
        assert command("audit", tmp_path / "out").code != 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--hold-out", "5%"), "--hold-out-file"),
        (("--hold-out-file", "c.csv"), "--hold-out"),
        (("--hold-out", "0%", "--hold-out-file", "c.csv"), "above 0%"),
        (("--hold-out", "100%", "--hold-out-file", "c.csv"), "below 100%"),
        (("--hold-out", "many", "--hold-out-file", "c.csv"), "control group is a share"),
        (("--hold-out", "0.1%", "--hold-out-file", "c.csv"), "would keep nobody back"),
        (("--hold-out", "5%", "--hold-out-file", "out/c.csv"), "inside the release"),
        (("--hold-out", "5%", "--hold-out-file", "people.csv"), "replace the input"),
        (("--hold-out", "5%", "--hold-out-file", "c.csv", "--engine", "Spark()"), "Spark"),
    ],
)
def test_what_cannot_be_held_out_is_refused(
    more: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people(60).write_csv("people.csv")
    done = command("anonymize", "people.csv", *ASKED, *more, "--output", "out")
    assert done.code == 2
    assert said in done.said
    assert {one.name for one in tmp_path.iterdir()} == {"people.csv"}


def test_without_a_release_there_is_no_file_and_an_old_one_stays(tmp_path: Path) -> None:
    table = people(60).with_columns(salary=pl.lit(1))
    table.write_csv(tmp_path / "people.csv")
    controls = tmp_path / "controls.csv"
    held = ("--hold-out", "20%", "--hold-out-file", controls, "--output", tmp_path / "out")
    assert command("anonymize", tmp_path / "people.csv", *ASKED, *held).code == 3
    assert not controls.exists()
    controls.write_text("mine", "utf-8")
    assert command("anonymize", tmp_path / "people.csv", *ASKED, *held, "--force").code == 3
    assert controls.read_text("utf-8") == "mine"


def test_a_schema_file_can_ask_for_it(tmp_path: Path) -> None:
    people(80).write_csv(tmp_path / "people.csv")
    (tmp_path / "shoal.toml").write_text(
        'table = "people.csv"\nquasi = ["age", "zip"]\nsensitive = ["salary"]\n'
        'require = ["EpsilonM(epsilon=50, m=3)"]\noutput = "out"\n'
        'hold_out = "25%"\nhold_out_file = "controls.csv"\n',
        "utf-8",
    )
    done = command("anonymize", "--schema", tmp_path / "shoal.toml")
    assert done.code == 0, done.err
    assert pl.read_csv(tmp_path / "controls.csv").height == 20


def test_in_a_series_nobody_who_is_held_out_is_published_later(tmp_path: Path) -> None:
    ledger = ("--person", "who", "--ledger", str(tmp_path / "ledger"), "--force")
    salaries: list[set[int]] = []
    held: list[set[str]] = []
    tables = [people(120), pl.concat([people(120), people(100, 500)])]
    tables = [one.with_columns(salary=pl.int_range(pl.len()) * 100) for one in tables]
    for place, table in enumerate([*tables, tables[1]]):
        manifest = publish(table, tmp_path, *ledger, name=f"out{place}")
        controls = pl.read_csv(tmp_path / "controls.csv")
        held.append(set(controls["who"]))
        salaries.append(set(pl.read_csv(tmp_path / f"out{place}" / "release.csv")["salary"]))
        assert manifest["held_out"] == manifest["held_out_people"] == controls.height
        assert manifest["rows_in"] == table.height
        assert not salaries[-1] & set(controls["salary"])
        assert command("audit", tmp_path / f"out{place}").code == 0
    assert held[0] < held[1] == held[2]
    later = ("anonymize", tmp_path / "people.csv", *ASKED, *ledger, "--output", tmp_path / "later")
    for share in ("10%", "40%", None):  # others would be held out, who were published before
        more = ("--hold-out", share, "--hold-out-file", tmp_path / "c.csv") if share else ()
        done = command(*later, *more)
        assert done.code == 2
        assert "'hold out' = 1/4" in done.said
        assert not (tmp_path / "c.csv").exists()
    assert "this run has nothing" in done.said
