"""A series of releases under a ledger: what lives, what goes, what is remembered, what is found."""

import csv
import json
import random
import shutil
import stat
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from reference import series as oracle
from shoal.release.ledger import locked, read_ledger
from system.shell import redone, write_csv
from system.shell import shoal as command

SCHEMA = shoal.Schema(quasi=["age", "town"], sensitive="pay", other="note", person="who")
EPSILON, M = 3, 2
REQUIRE = f"EpsilonM(epsilon={EPSILON}, m={M})"
Person = dict[str, str]


def somebody(draw: random.Random, number: int) -> Person:
    return {
        "who": f"p{number}",
        "age": draw.choice(["20", "20.0", "31", "44", "5e1"]),
        "town": draw.choice("abc"),
        "pay": str(draw.choice([0, 10, 20, 20, 30, 99])),
        "note": draw.choice(["x", "y"]),
    }


def publish(where: Path, name: str, people: list[Person], **more):
    return next_run(
        where, people, output=where / name, linkage=where / f"{name}.links", **more
    ).publish()


def next_run(where: Path, people: list[Person], **more: Any) -> shoal.results.Run:
    said: dict[str, Any] = {"schema": SCHEMA, "require": REQUIRE, "output": where / "next"} | more
    return shoal.results.Run(table=pl.DataFrame(people), ledger=where / "ledger", **said)


def linked(where: Path, name: str, people: list[Person]) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the group and the published row of each person, by the linkage."""
    rows = [row for group in _rows(where / name) for row in [group]]
    with (where / f"{name}.links").open() as file:
        links = {int(one["row"]): int(one["release_row"]) for one in csv.DictReader(file)}
    return {people[row]["who"]: (rows[at]["group"], rows[at]) for row, at in links.items()}


def _rows(directory: Path) -> list[dict[str, str]]:
    with (directory / "release.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def plain(rows: list[dict[str, str]]) -> list[tuple[str, ...]]:
    kept = ("age", "town", "pay", "note")
    return sorted(tuple(row[name] for name in kept) for row in rows)


@pytest.mark.parametrize("seed", range(3))
def test_a_series_tells_no_more_than_the_first_release_of_each_group(seed, tmp_path):
    draw = random.Random(seed)
    people = [somebody(draw, number) for number in range(16)]
    away: list[Person] = []
    count = 16
    births: dict[str, list[str]] = {}
    history: dict[str, list[Any]] = {}
    values: dict[str, int] = {}
    names: list[str] = []
    for turn in range(4):
        if turn:
            gone = draw.sample(people, 4)
            back = [one for one in away if draw.random() < 0.4]
            people = [one for one in people if one not in gone] + back
            away = [one for one in away if one not in back] + gone
            fresh = [somebody(draw, count + place) for place in range(8)]
            people, count = people + fresh, count + 8
        draw.shuffle(people)
        names.append(f"r{turn}")
        try:
            publish(tmp_path, names[-1], people)
        except shoal.NotAchievable:
            assert turn == 0
            pytest.skip("nothing can be made of these people")
        where = linked(tmp_path, names[-1], people)
        _, groups = oracle.read(tmp_path / names[-1])
        for person in people:
            values.setdefault(person["who"], int(person["pay"]))
        for number, rows in groups.items():
            inside = {who for who, (group, _) in where.items() if group == number}
            assert {row["real"] for row in rows} == {str(len(inside))}
            assert inside
            if number not in births:
                births[number] = sorted(inside)
                assert len(inside) == len(rows)
            assert inside <= set(births[number])
            history.setdefault(number, []).append((turn, inside, rows))
        manifest = json.loads((tmp_path / names[-1] / "manifest.json").read_text())
        assert manifest["people"] == len(where)
        assert manifest["rows"] == sum(map(len, groups.values()))
    members = [who for some in births.values() for who in some]
    assert len(set(members)) == len(members)  # one group each, for ever
    for number, seen in history.items():
        turns = [turn for turn, _, _ in seen]
        assert turns == list(range(turns[0], turns[0] + len(turns)))  # never used again
        assert len({tuple(plain(rows)) for _, _, rows in seen}) == 1
        rounds = [(inside, [int(row["pay"]) for row in rows]) for _, inside, rows in seen]
        worst = oracle.worst_posterior(births[number], values, rounds, EPSILON)
        assert worst <= Fraction(1, M)
    found = shoal.audit_series([tmp_path / name for name in names], ledger=tmp_path / "ledger")
    assert found.holds, found.complaints()
    assert not found.warnings


def test_the_oracle_sees_that_rows_of_people_who_left_must_stay():
    values = {"a": 0, "b": 10, "c": 20, "d": 30}
    everybody = set(values)
    kept = [(everybody, [0, 10, 20, 30]), (everybody - {"a"}, [0, 10, 20, 30])]
    deleted = [kept[0], (everybody - {"a"}, [10, 20, 30])]
    assert oracle.worst_posterior(list(values), values, kept, 3) == Fraction(1, 4)
    assert oracle.worst_posterior(list(values), values, deleted, 3) == 1


@pytest.fixture
def series(tmp_path):
    draw = random.Random(4)
    people = [
        somebody(draw, number) | {"pay": str(100 * number), "age": str(20 + number)}
        for number in range(30)
    ]
    publish(tmp_path, "a", people[:20])
    publish(tmp_path, "b", people[3:26])
    publish(tmp_path, "c", people[5:])
    return tmp_path, people


def test_whatever_is_changed_is_found(series):
    where, _ = series
    given = [where / name for name in "abc"]
    assert shoal.audit_series(given).holds
    rows = _rows(where / "c")
    old = {row["group"] for row in _rows(where / "b")}
    place = next(p for p, row in enumerate(rows) if row["group"] in old)
    changed = [dict(row) for row in rows]
    changed[place]["note"] = "z"
    redone(where / "c", changed)
    assert any("groups have changed since" in one for one in shoal.audit_series(given).problems)
    fewer = [dict(row) for p, row in enumerate(rows) if p != place]
    redone(where / "c", fewer, rows=len(fewer))
    assert any("groups have changed since" in one for one in shoal.audit_series(given).problems)
    swapped = shoal.audit_series([given[1], given[0]])
    assert any("does not follow" in one for one in swapped.problems)
    skipped = shoal.audit_series([where / "a", where / "c"])
    assert any("does not follow" in one for one in skipped.problems)


def test_the_ledger_knows_what_public_files_cannot(series):
    where, _ = series
    rows = _rows(where / "a")
    numbers = {row["group"] for row in rows}
    one = min(numbers)
    fake = [dict(row, real="1") if row["group"] == one else dict(row) for row in rows]
    real = len(rows) - sum(row["group"] == one for row in rows) + 1
    redone(where / "a", fake, people=real, rows_in=real)
    found = shoal.audit_series([where / "a"], ledger=where / "ledger")
    assert any("does not list this release" in said for said in found.problems)
    said = read_ledger(where / "ledger")
    assert [one.appeared for one in said.rounds] == [True] * 3
    text = (where / "ledger").read_text()
    assert '"p3"' not in text
    assert stat.S_IMODE((where / "ledger").stat().st_mode) == 0o600


def test_changed_values_and_boxes_stay_as_published(series):
    where, people = series
    now = [dict(one) for one in people[5:]]
    now[0]["pay"] = "7"
    now[1]["age"] = "999"
    outcome = publish(where, "d", now)
    said = " ".join(str(one) for one in outcome.remarks)
    assert "People with a new value in your table: 1." in said
    assert "because they moved: 1." in said
    log = (where / "ledger.log").read_text()
    assert f"{now[0]['who']},pay changed" in log
    assert f"{now[1]['who']},left the box: age" in log
    assert shoal.audit_series([where / name for name in "abcd"], ledger=where / "ledger").holds


def test_every_public_file_says_that_a_later_round_shows_what_was_published_first(series):
    where, _ = series
    for name, later in (("a", False), ("c", True)):
        public = where / name
        book = pl.read_csv(public / "codebook.csv").filter(
            pl.col("role").is_in(["quasi", "sensitive", "other"])
        )
        assert set(book["done"].str.contains("first release of the person in the series")) == {
            later
        }
        certificate = command("certificate", public, where / f"{name}.html")
        assert certificate.code == 0, certificate.err
        for said in ((public / "report.html").read_text(), (where / f"{name}.html").read_text()):
            assert ("the release still shows what was published first" in said) == later
            assert ("published exactly" not in said) == later


def test_a_group_with_too_few_is_dropped_and_its_people_never_come_back(series):
    where, people = series
    _, before = oracle.read(where / "c")
    where_now = linked(where, "c", people[5:])
    group = where_now["p25"][0]
    inside = [who for who, (number, _) in where_now.items() if number == group]
    left = [one for one in people[5:] if one["who"] not in inside[1:]]
    publish(where, "d", left, least_real=2)
    _, groups = oracle.read(where / "d")
    assert group not in groups
    assert set(groups) <= set(before)
    outcome = publish(where, "e", people[5:], least_real=2)
    assert group not in oracle.read(where / "e")[1]
    assert "stay out of the series" in " ".join(map(str, outcome.remarks))
    assert shoal.audit_series([where / name for name in "abcde"], ledger=where / "ledger").holds


def test_newcomers_wait_for_each_other(series):
    where, people = series
    draw = random.Random(9)
    fresh = [somebody(draw, 100 + n) | {"pay": str(5000 + 100 * n)} for n in range(4)]
    outcome = publish(where, "d", people[5:] + fresh[:2], batch=4)
    assert "2 of 4 needed" in " ".join(map(str, outcome.remarks))
    assert outcome.facts["suppressed_people"] == 2
    after = publish(where, "e", people[5:] + fresh, batch=4)
    assert after.facts["suppressed_people"] == 0


def test_a_round_that_never_appeared_is_published_unchanged(series, monkeypatch):
    where, people = series
    draw = random.Random(9)
    fresh = [somebody(draw, 100 + n) | {"pay": str(5000 + 100 * n)} for n in range(8)]

    def fails(*_, **_how):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("shoal.release.places.swap_in", fails)
        with pytest.raises(shoal.OutputError):
            publish(where, "d", people[8:] + fresh[:4])
    assert not (where / "d").exists()
    committed = read_ledger(where / "ledger")
    assert committed.pending
    outcome = publish(where, "d", people[9:] + fresh)
    assert "did not finish publishing" in " ".join(map(str, outcome.remarks))
    again = read_ledger(where / "ledger")
    assert again.groups == committed.groups
    assert again.rounds[-1].real == committed.rounds[-1].real
    publish(where, "e", people[9:] + fresh)
    assert shoal.audit_series([where / name for name in "abcde"], ledger=where / "ledger").holds


def test_one_that_appeared_before_its_run_was_stopped_is_not_published_twice(series):
    where, people = series
    said = json.loads((where / "ledger").read_text())
    said["rounds"][-1]["appeared"] = False
    (where / "ledger").write_text(json.dumps(said))
    outcome = publish(where, "d", people[6:])
    assert "did not finish publishing" not in " ".join(map(str, outcome.remarks))
    assert shoal.audit_series([where / name for name in "abcd"], ledger=where / "ledger").holds


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("part", "changed"),
    [
        (("fixed",), None),
        (("fixed",), []),
        (("fixed", "date_formats"), []),
        (("groups", 0), {}),
        (("gone",), [[]]),
        (("rows", "town"), None),
        (("rows", "\x00person", 0), None),
        (("rows", "\x00group", 0), None),
        (("rounds", 0, "real"), []),
    ],
)
def test_a_ledger_of_which_a_part_was_changed_is_refused_in_a_sentence(series, part, changed):
    where, people = series
    said = json.loads((where / "ledger").read_text())
    within = said
    for name in part[:-1]:
        within = within[name]
    within[part[-1]] = changed
    (where / "ledger").write_text(json.dumps(said))
    with pytest.raises(shoal.InputError, match="missing or changed"):
        publish(where, "d", people[6:])
    assert not (where / "d").exists()


def test_a_ledger_without_a_column_of_the_table_is_refused_in_a_sentence(series):
    where, people = series
    said = json.loads((where / "ledger").read_text())
    del said["rows"]["town"]
    (where / "ledger").write_text(json.dumps(said))
    with pytest.raises(shoal.InputError, match="missing or changed"):
        publish(where, "d", people[6:])


def test_an_audit_counts_people_and_none_who_left(series, tmp_path):
    where, people = series
    publish(where, "d", people[7:])
    manifest = json.loads((where / "d" / "manifest.json").read_text("utf-8"))
    assert manifest["people"] < manifest["rows"]
    found = command("audit", where / "d", "--json").json()
    assert (found["rows"], found["people"]) == (manifest["rows"], manifest["people"])


def test_columns_without_a_role_are_named_in_every_round(series, tmp_path):
    where, people = series
    table = write_csv(tmp_path / "now.csv", [one | {"spare": "1"} for one in people[5:]])
    done = command(
        "anonymize", table, "--quasi", "age,town", "--sensitive", "pay", "--other", "note",
        "--require", REQUIRE, "--ledger", where / "ledger", "--output", where / "d",
        "--person", "who",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Not published (no role assigned): spare." in done.said
    assert "note is published unchanged, and no requirement protects it." in done.out


def test_refusals_have_their_codes(series, tmp_path):
    where, people = series
    table = write_csv(tmp_path / "now.csv", people[5:])
    said = [
        "anonymize", table, "--quasi", "age,town", "--sensitive", "pay", "--other", "note",
        "--require", REQUIRE, "--ledger", where / "ledger", "--output", where / "d",
    ]  # fmt: skip
    assert command(*said).code == 2  # no person column
    said += ["--person", "who"]
    named = write_csv(tmp_path / "real.csv", [one | {"real": "1"} for one in people[5:]])
    reserved = [named if word == table else word for word in said] + ["--other", "real"]
    assert command(*reserved).code == 2
    assert "Rename the input column 'real' first" in command(*reserved).said
    other = [REQUIRE.replace("m=2", "m=3") if word == REQUIRE else word for word in said]
    refused = command(*other)
    assert refused.code == 2
    assert "ledger has" in refused.said
    assert command(*["age" if word == "age,town" else word for word in said]).code == 2
    with locked(where / "ledger"):
        held = command(*said)
    assert held.code == 4
    assert "Another run is using" in held.said
    twice = write_csv(tmp_path / "twice.csv", [*people[5:], people[9]])
    assert command(*[twice if word == table else word for word in said]).code == 2
    before = (where / "ledger").read_text()
    assert not (where / "d").exists()
    done = command(*said)
    assert done.code == 0, done.err
    assert (where / "ledger").read_text() != before
    checked = command("audit", *(where / n for n in "abcd"), "--ledger", where / "ledger")
    assert checked.code == 0, checked.out
    assert command("coarsen", where / "d", "--require", REQUIRE, "--output", where / "x").code == 2


@pytest.mark.few(1)
@pytest.mark.parametrize("said", ["", "x", "-1", "0", "1", "99"])
def test_one_release_tells_which_numbers_of_real_people_are_wrong(series, said):
    where, _ = series
    rows = _rows(where / "b")
    for place, row in enumerate(rows):
        inside = [one for one in rows if one["group"] == row["group"]]
        if row["real"] == said or len(inside) < 2:
            continue
        other = [dict(one) for one in rows]
        other[place]["real"] = said
        redone(where / "b", other)
        assert not shoal.audit(where / "b").holds
    redone(where / "b", rows)
    assert shoal.audit(where / "b").holds


@pytest.mark.parametrize("built", ["Quantiles(parts=2)", "Grouped(size=2)"])
def test_what_is_gathered_anew_from_every_table_is_refused_at_once(tmp_path, built):
    people = [somebody(random.Random(1), number) for number in range(40)]
    table = write_csv(tmp_path / "now.csv", people)
    said = [
        "anonymize", table, "--person", "who", "--quasi", "age", "--sensitive", "pay",
        "--hierarchy", f"age={built}", "--require", REQUIRE, "--ledger", tmp_path / "ledger",
        "--output", tmp_path / "out",
    ]  # fmt: skip
    refused = command(*said)
    assert refused.code == 2
    assert "from release to release" in refused.said
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(
    "require",
    [
        "Dissimilarity(epsilon=0.1, delta=0.3, k=4)",
        "Dissimilarity(epsilon=0.1, delta=0.3, k=4, distance=Hierarchical(Bins(width=10)))",
        "Dissimilarity(epsilon=0.1, delta=0.3, k=4, distance=Composite([Lp()]))",
        "TCloseness(t=0.5)",
        "BetaLikeness(beta=1)",
    ],
)
def test_what_is_scaled_by_every_table_is_refused_in_the_first_round(tmp_path, require):
    draw = random.Random(1)
    people = pl.DataFrame([somebody(draw, number) for number in range(40)])
    places: dict[str, Any] = {"ledger": tmp_path / "ledger", "output": tmp_path / "out"}
    run = shoal.results.Run(table=people, schema=SCHEMA, require=require, **places)
    for do in (run.publish, run.rehearse):
        with pytest.raises(shoal.UsageError, match="changes from release to release"):
            do()
    assert not list(tmp_path.iterdir())
    unscaled = require.replace("k=4)", "k=4, distance=Lp(scale='none'))")
    if unscaled != require:
        shoal.results.Run(table=people, schema=SCHEMA, require=unscaled, **places).publish()


def test_what_is_said_of_a_series_needs_one(tmp_path):
    people = [somebody(random.Random(1), number) for number in range(40)]
    table = write_csv(tmp_path / "now.csv", people)
    for more in (["--batch", "5"], ["--least-real", "2"]):
        refused = command(
            "anonymize", table, "--quasi", "age", "--sensitive", "pay", "--require", REQUIRE,
            "--output", tmp_path / "out", *more,
        )  # fmt: skip
        assert refused.code == 2
        assert "--ledger" in refused.said


def test_a_column_keeps_its_type_for_good(series):
    where, people = series
    table = write_csv(where / "now.csv", people[5:])
    said = [
        "anonymize", table, "--person", "who", "--quasi", "age,town", "--sensitive", "pay",
        "--other", "note", "--require", REQUIRE, "--ledger", where / "ledger",
    ]  # fmt: skip
    refused = command(*said, "--type", "age=categorical", "--output", where / "d")
    assert refused.code == 2, refused.said
    assert "reads 'age' as numeric" in refused.said
    done = command(*said, "--type", "age=numeric", "--output", where / "d")
    assert done.code == 0, done.said


METHODS = [None, "Split()", "Exchange()", "Oblivious()"]


@pytest.mark.parametrize("form", ["intervals", "means", "two-tables"])
@pytest.mark.parametrize("least", [2, 3, 7])
def test_no_group_of_any_round_has_fewer_real_people_than_asked(form, least, tmp_path):
    draw = random.Random(least)
    people = [somebody(draw, n) | {"pay": str(100 * n)} for n in range(45)]
    schema = replace(SCHEMA, other=())
    how = {"form": form, "schema": schema, "least_real": least}
    method = METHODS[draw.randrange(len(METHODS))]
    for name, first, last in (("a", 0, 20), ("b", 2, 24), ("c", 4, 45)):
        publish(tmp_path, name, people[first:last], method=method, **how)
        stem = "values" if form == "two-tables" else "release"
        rows = pl.read_csv(tmp_path / name / f"{stem}.csv").to_dicts()
        links = pl.read_csv(tmp_path / f"{name}.links")["release_row"]
        real = Counter(rows[row]["group"] for row in links)  # those of the table, by the linkage
        assert all(row["real"] == real[row["group"]] >= least for row in rows)
    given = [tmp_path / name for name in "abc"]
    assert shoal.audit_series(given, ledger=tmp_path / "ledger").holds


@pytest.mark.parametrize("method", METHODS[1:])
def test_every_method_forms_groups_of_so_many_real_people(method, tmp_path):
    people = [somebody(random.Random(n), n) | {"pay": str(100 * n)} for n in range(24)]
    publish(tmp_path, "a", people, least_real=5, method=method)
    assert min(int(row["real"]) for row in _rows(tmp_path / "a")) >= 5


def test_more_real_people_than_there_are_is_refused_and_nothing_is_written(tmp_path):
    people = [somebody(random.Random(n), n) | {"pay": str(100 * n)} for n in range(20)]
    with pytest.raises(shoal.NotAchievable, match="at least 50 people who are in the table"):
        publish(tmp_path, "a", people, least_real=50)
    assert not list(tmp_path.iterdir())
    table = write_csv(tmp_path / "in.csv", people)
    told = command(
        "anonymize", table, "--quasi", "age,town", "--sensitive", "pay", "--person", "who",
        "--require", REQUIRE, "--ledger", tmp_path / "ledger", "--output", tmp_path / "a",
        "--least-real", "50",
    )  # fmt: skip
    assert told.code == 3
    assert "--least-real" in told.err
    publish(tmp_path, "b", people[:12], least_real=2)
    before = (tmp_path / "ledger").read_bytes()
    # 8 newcomers wait, and no group is large enough
    with pytest.raises(shoal.NotAchievable, match="fewer than 9 people who are still"):
        publish(tmp_path, "c", people, least_real=9)
    with pytest.raises(shoal.NotAchievable, match="fewer than 9 people who are still"):
        next_run(tmp_path, people, least_real=9).rehearse()
    assert (tmp_path / "ledger").read_bytes() == before
    assert not (tmp_path / "c").exists()


def test_a_refusal_says_why_groups_of_so_many_were_looked_for(tmp_path):
    people = [somebody(random.Random(n), n) | {"pay": str(100 * n)} for n in range(20)]
    apart = replace(SCHEMA, never_mix=("town",))
    fewest = min(Counter(one["town"] for one in people).values())
    with pytest.raises(shoal.NotAchievable, match=f"least_real='{fewest + 1}': a lower"):
        publish(tmp_path, "a", people, schema=apart, least_real=fewest + 1)
    publish(tmp_path, "a", people, schema=apart, least_real=fewest)


def test_a_group_with_fewer_real_people_than_asked_fails_the_audit(series):
    where, _ = series
    rows = _rows(where / "c")
    fewest = min(int(row["real"]) for row in rows)
    asked = _manifest(where / "c")["asked"]
    for least in (1, fewest, fewest + 1):
        redone(where / "c", rows, asked=asked | ({} if least == 1 else {"least_real": least}))
        found = shoal.audit(where / "c")
        assert found.holds is (least <= fewest), found.complaints()


def _manifest(directory: Path) -> dict[str, Any]:
    return json.loads((directory / "manifest.json").read_text())


def test_a_round_that_has_to_appear_first_is_not_published_under_another_least(series):
    where, people = series
    said = json.loads((where / "ledger").read_text())
    said["rounds"][-1]["appeared"] = False
    (where / "ledger").write_text(json.dumps(said))
    shutil.rmtree(where / "c")
    (where / "c.links").unlink()
    fewest = min(said["rounds"][-1]["real"].values())
    with pytest.raises(shoal.NotAchievable, match=f"at most {fewest}"):
        publish(where, "c", people[5:], least_real=fewest + 1)
    publish(where, "c", people[5:], least_real=fewest)
    assert shoal.audit_series([where / name for name in "abc"], ledger=where / "ledger").holds


def test_an_older_ledger_is_refused_where_the_log_or_a_release_knows_of_later_ones(tmp_path):
    people = [somebody(random.Random(n), n) | {"pay": str(100 * n)} for n in range(40)]
    where = tmp_path / "here"
    where.mkdir()
    ledger, log = where / "ledger", where / "ledger.log"
    copies = []
    for turn, name in enumerate("abc"):
        publish(where, name, people[turn : 20 + 5 * turn])
        copies.append(ledger.read_bytes())
    noted = log.read_bytes()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    before = sorted(where.iterdir())

    def refused(*words: str) -> None:
        with pytest.raises(shoal.UsageError, match=".*".join((*words, "Restore the newest copy"))):
            publish(where, "d", people)
        with pytest.raises(shoal.UsageError, match="Restore the newest copy"):
            next_run(where, people).rehearse()
        assert sorted(where.iterdir()) == before

    for copy in copies[:2]:
        ledger.write_bytes(copy)
        refused("ledger.log", "lists 3")  # by the log
        log.write_bytes(b"")
        refused("follows one that is in the ledger")  # by releases beside
        assert ledger.read_bytes() == copy
        log.write_bytes(noted)
    table = write_csv(tmp_path / "in.csv", people)
    told = command(
        "anonymize", table, "--quasi", "age,town", "--sensitive", "pay", "--person", "who",
        "--other", "note", "--require", REQUIRE, "--ledger", ledger, "--output", where / "d",
    )  # fmt: skip
    assert told.code == 2
    assert "--ledger" in told.err
    ledger.unlink()  # lost altogether
    before.remove(ledger)
    refused("is missing", "of its series")
    ledger.write_bytes(copies[1])  # what nobody knows of any more cannot be noticed
    shutil.move(where / "c", tmp_path / "elsewhere")
    log.unlink()
    publish(where, "d", people)
    shutil.move(tmp_path / "elsewhere", where / "c")
    found = shoal.audit_series([where / name for name in "abcd"], ledger=ledger)
    assert not found.holds
