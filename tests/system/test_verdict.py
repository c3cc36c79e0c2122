"""One verdict, from the published files: what is refused, what stays open, and who says it."""

import csv
import json
import random
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import jvm
import shoal
from reference import verdict as oracle
from shoal.errors import Exposing
from shoal.exact import upward
from system.shell import shoal as command

HEADER = ("patient", "mark", "age", "zip", "pay", "ward", "stay", "day", "weight")
NEAR = {"pay": (lambda u, v: abs(int(u) - int(v)) <= 5, Fraction(1, 3))}
REQUIRE = "EpsilonM(epsilon=5, m=3)"


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def word(number):
    return "".join(chr(97 + (number // 26**place) % 26) for place in range(3))


def table(path, rows=60, seed=1):
    chance = random.Random(seed)
    return write(
        path,
        HEADER,
        [
            [
                f"p{number // 2}",
                f"{word(number)} thing",
                20 + number // 2,
                f"0{chance.randint(1000, 9999)}",
                number * 10,
                chance.choice(["A", "B", ""]),
                chance.choice(["1", "1.5", "2", "9"]),
                "1" if number < rows // 2 else "2",
                number % 5 + 1,
            ]
            for number in range(rows)
        ],
    )


def anonymize(given, target, *more, other="ward,stay", require=REQUIRE):
    return command(
        "anonymize", given, "--quasi", "age", "--sensitive", "pay", "--require", require,
        *(["--other", other] if other else []), "--output", target, *more,
    )  # fmt: skip


def expected(directory):
    """Return what a manifest has to say of exposed columns, by the definition."""
    found = oracle.measure(oracle.published(directory, NEAR))
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    assert {one["column"]: one["alone"] for one in manifest["exposed"]} == found["alone"]
    assert manifest["found"] == {
        "quasi": upward(found["quasi"]),
        "with_exposed": {"largest": upward(found["largest"]), "above": upward(found["above"])},
    }
    assert manifest["inferred"] == {
        name: {"certain": upward(certain), "likely": upward(likely)}
        for name, (certain, likely) in found["inferred"].items()
    }
    assert [one["share"] for one in manifest["learned"]] == list(
        map(upward, found["learned"].values())
    )
    assert manifest["verdict"] == oracle.verdict(found, holds=True)
    return manifest


WAYS = {
    "rows": (),
    "nobody knows": ("--nobody-knows", "ward"),
    "weights and means": ("--survey-weight", "weight", "--form", "means"),
    "bounds": ("--form", "bounds"),
    "people": ("--person", "patient"),
    "unknown rows": ("--person", "patient", "--rows", "unknown"),
    "two tables": ("--form", "two-tables", "--keep-other"),
    "threshold": ("--threshold", "1/2"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_manifest_says_what_the_files_show_and_an_audit_says_the_same(way, tmp_path):
    done = anonymize(table(tmp_path / "t.csv"), tmp_path / "out", *WAYS[way], "--json")
    assert done.code == 0, done.err
    manifest = expected(tmp_path / "out")
    said = [one["said"] for one in manifest["exposed"]]
    assert said == ["nobody" if "--nobody-knows" in WAYS[way] else None, None]
    facts = done.json()
    audited = command("audit", tmp_path / "out", "--json").json()
    for key in ("threshold", "exposed", "found", "inferred", "learned", "verdict"):
        assert manifest[key] == facts[key] == audited[key], key


@pytest.mark.parametrize("role", ["--quasi", "--other"])
def test_an_audit_repeats_what_the_owner_stated_of_any_column(role, tmp_path):
    """Whatever role a column has that looks like names, and wherever the manifest keeps it."""
    firsts, lasts = ("Anna", "Peter", "Maria", "Thomas", "Laura"), ("Smith", "Garcia", "Jones")
    names = [f"{first} {last}" for first in firsts for last in lasts]
    rows = [[20 + n % 8, name, 10 * n] for n, name in enumerate(names)]
    given = write(tmp_path / "t.csv", ("age", "contact", "pay"), rows)
    stated = ("--quasi", "age", role, "contact", "--nobody-knows", "contact")
    options = ("--sensitive", "pay", "--require", "KAnonymity(k=4)", "--output")
    done = command("anonymize", given, *stated, *options, tmp_path / "out")
    assert done.code == 0, done.err
    audited = command("audit", tmp_path / "out")
    assert "which columns no reader knows" in " ".join((audited.out + audited.err).split())


def test_what_is_certain_of_columns_that_nothing_protects_is_said_where_people_sign(tmp_path):
    rows = [[20 + n % 8, "no" if n % 40 else "yes", 10 * n] for n in range(80)]
    given = write(tmp_path / "t.csv", ("age", "ill", "pay"), rows)
    options = ("--quasi", "age", "--sensitive", "pay", "--nobody-knows", "ill", "--other", "ill")
    required = ("--require", "KAnonymity(k=4)", "--output")
    done = command("anonymize", given, *options, *required, tmp_path / "out")
    assert done.code == 0, done.err
    certain = json.loads((tmp_path / "out/manifest.json").read_text())["inferred"]["ill"]["certain"]
    assert 0.05 < certain < 1
    done = command("certificate", tmp_path / "out", tmp_path / "c.html")
    assert done.code == 0, done.err
    told = f"can infer ill with certainty for {100 * certain:.4g}% of the people"
    said = (
        f"No requirement protects ill. A reader who knows the quasi-identifiers of a person {told}"
    )
    for name in ("c.html", "out/report.html"):
        assert said in " ".join((tmp_path / name).read_text("utf-8").split()), name


def test_a_threshold_that_rests_on_numbers_of_rows_says_so(tmp_path):
    rows = [[f"p{n // 2}" if n < 40 else f"q{n}", 20 + n % 2, 10 * n] for n in range(120)]
    given = write(tmp_path / "t.csv", ("who", "age", "pay"), rows)
    options = ("--quasi", "age", "--sensitive", "pay", "--person", "who", "--rows", "unknown")
    required = ("--require", "KAnonymity(k=11)", "--nobody-knows", "pay", "--output")
    done = command("anonymize", given, *options, *required, tmp_path / "out")
    assert done.code == 0, done.err
    said = " ".join(command("audit", tmp_path / "out").out.split())
    assert "Meets the threshold for public release, if this statement is true" in said
    assert "no reader knows pay of a person or how many rows a person has" in said


def test_linked_tables_and_a_series_are_counted_too(tmp_path):
    given = write(tmp_path / "t.csv", ("p", "age", "pay"), [[n, 20 + n, 10 * n] for n in range(12)])
    visits = [[n % 12, "abc"[n % 3], f"w{n % 7}"] for n in range(24)]
    linked = write(tmp_path / "v.csv", ("p", "diagnosis", "ward"), visits)
    done = command(
        "anonymize", given, "--quasi", "age", "--sensitive", "pay,visits.diagnosis",
        "--person", "p", "--linked", f"visits={linked}", "--other", "visits.ward",
        "--require", f"pay: {REQUIRE}", "--nobody-knows", "visits.ward",
        "--output", tmp_path / "linked",
    )  # fmt: skip
    assert done.code == 0, done.err
    manifest = expected(tmp_path / "linked")
    assert [(one["column"], one["said"]) for one in manifest["exposed"]] == [
        ("visits.diagnosis", None),
        ("visits.ward", "nobody"),
    ]
    for number, last in enumerate((30, 26, 30)):
        rows = [[n, 20 + n, 10 * n, "AB"[n % 2]] for n in range(4 * number, last)]
        now = write(tmp_path / "now.csv", ("p", "age", "pay", "ward"), rows)
        done = command(
            "anonymize", now, "--quasi", "age", "--sensitive", "pay", "--other", "ward",
            "--person", "p", "--ledger", tmp_path / "ledger", "--require", REQUIRE,
            "--output", tmp_path / f"r{number}",
        )  # fmt: skip
        assert done.code == 0, done.err
        manifest = expected(tmp_path / f"r{number}")
        assert command("audit", tmp_path / f"r{number}").code == 0
    assert manifest["people"] < manifest["rows"]  # some left


def test_texts_of_one_person_each_are_refused_wherever_a_release_is_asked_for(tmp_path):
    given = table(tmp_path / "t.csv")
    for more in ((), ("--dry-run",), ("--method", "Split()"), ("--output", "-")):
        done = anonymize(given, tmp_path / "out", *more, other="ward,mark")
        assert done.code == 3, more
        assert "Column 'mark' is published unchanged, and 100% of the rows are unique" in done.said
        assert "--nobody-knows mark." in done.said
        assert not (tmp_path / "out").exists()
    schema = shoal.Schema(quasi="age", sensitive="pay", other=["mark", "ward"])
    with pytest.raises(shoal.NotAchievable) as refused:
        shoal.anonymize(pl.read_csv(given), schema, require=REQUIRE)
    assert isinstance(refused.value, Exposing)
    assert refused.value.columns == ("mark",)
    assert {("identifying", "mark"), ("quasi", "mark"), ("nobody_knows", "mark")} <= {
        *refused.value.fix
    }
    done = anonymize(
        given, tmp_path / "out", "--nobody-knows", "mark", "--require", "KAnonymity(k=3)",
        other="mark",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert expected(tmp_path / "out")["verdict"] == "holds"
    assert "--nobody-knows mark" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "states that no reader knows mark" in " ".join(done.out.split())


def test_they_are_refused_as_a_secret_and_without_groups_too(tmp_path):
    given = table(tmp_path / "t.csv")
    done = anonymize(given, tmp_path / "out", "--sensitive", "mark", other=None,
                     require="KAnonymity(k=3)")  # fmt: skip
    assert (done.code, "Column 'mark' is published unchanged" in done.said) == (3, True)
    done = anonymize(given, tmp_path / "out", other=None, require="KAnonymity(k=3)")
    assert done.code == 0  # a secret that is no text is an open question
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["exposed"] == [{"column": "pay", "alone": 60, "said": None}]
    assert manifest["verdict"] == "holds-with-open-questions"
    asked = ("--method", "Freeform()", "--require", "KAnonymity(k=3)")
    done = command("anonymize", given, "--quasi", "age", "--other", "mark", *asked,
                   "--output", tmp_path / "loose")  # fmt: skip
    assert (done.code, "Column 'mark' is published unchanged" in done.said) == (3, True)


def test_names_are_refused_by_what_they_are_wherever_a_release_is_asked_for(tmp_path):
    rows = [[n % 40, n % 7, f"{GIVEN[n % 12]} {TOWNS[n % 9]}"] for n in range(240)]
    given = write(tmp_path / "t.csv", ("age", "pay", "city"), rows)
    for more in ((), ("--dry-run",), ("--suppress", "5%"), ("--output", "-")):
        done = anonymize(given, tmp_path / "out", *more, other="city", require="KAnonymity(k=3)")
        assert done.code == 3, more
        assert "Column 'city' looks like names of people (100% of its cells" in done.said
        assert "--nobody-knows city." in done.said
        assert not (tmp_path / "out").exists()
    more = ("--nobody-knows", "city")
    assert not anonymize(
        given, tmp_path / "out", *more, other="city", require="KAnonymity(k=3)"
    ).code


def in_pairs(notes):
    """Publish people in groups of two, with these notes."""
    people = range(len(notes))
    frame = pl.DataFrame(
        {"age": [n // 2 for n in people], "pay": [n % 2 * 100 for n in people], "note": notes}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", other="note")
    return shoal.anonymize(frame, schema, require="EpsilonM(epsilon=5, m=2)", method="Split()")


def test_only_over_half_of_the_people_and_more_than_50_values_are_refused():
    shared = [f"s{n // 2}" for n in range(104)]
    for own, refused in ((52, False), (54, True)):
        notes = [f"own{n}" for n in range(own)] + shared[own:]
        if refused:
            with pytest.raises(Exposing):
                in_pairs(notes)
        else:
            assert in_pairs(notes).audit().statement()["exposed"][0]["alone"] == own
    few = [f"v{n % 50}" for n in range(104)]  # nobody shares one in a group
    assert in_pairs(few).audit().statement()["exposed"][0]["alone"] == 104
    with pytest.raises(Exposing):
        in_pairs([f"v{n % 51}" for n in range(104)])


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        ([f"{word(n)} thing" for n in range(80)], True),
        ([f"{word(n // 2)} thing" for n in range(80)], False),  # 40 texts are few
        ([f"{word(n // 2)} thing" for n in range(120)], True),  # two each are not
        ([f"{word(n // 3)} thing" for n in range(180)], False),
        ([f"0{1000 + n}" for n in range(80)], False),
        ([f"SW{n}A {n % 9}AA" for n in range(80)], False),
        ([f"C{1000 + n}ABC" for n in range(80)], False),
        ([f"I{n}.3" for n in range(80)], False),
        (["字" + chr(0x4E00 + n) for n in range(80)], True),
    ],
)
def test_a_quasi_column_of_texts_that_hardly_anybody_shares_is_refused(labels, refused):
    frame = pl.DataFrame({"who": labels, "pay": [10 * n for n in range(len(labels))]})
    asked: Any = {"require": REQUIRE, "method": "Split()"}
    schema = shoal.Schema(quasi="who", sensitive="pay")
    if not refused:
        shoal.anonymize(frame, schema, **asked)
        return
    with pytest.raises(Exposing, match="looks like names or free text") as problem:
        shoal.anonymize(frame, schema, **asked)
    assert ("nobody_knows", "who") in problem.value.fix
    stated = shoal.Schema(quasi="who", sensitive="pay", nobody_knows="who")
    release = shoal.anonymize(frame, stated, **asked)
    assert release.manifest.columns[0].said == "nobody"
    tree = shoal.Schema(quasi="who", sensitive="pay", hierarchies={"who": "Prefix()"})
    shoal.anonymize(frame, tree, **asked)
    called = shoal.Schema(quasi="who", sensitive="pay", hierarchies={"who": "Grouped(size=3)"})
    with pytest.raises(Exposing, match="whose nodes are not called after them"):
        shoal.anonymize(frame, called, **asked)


GIVEN = [
    "James",
    "Mary",
    "Anna",
    "Peter",
    "Robert",
    "Linda",
    "Susan",
    "Karen",
    "Paul",
    "Emma",
    "Helen",
    "Laura",
]
TOWNS = [
    "Charlotte",
    "Victoria",
    "Florence",
    "Madison",
    "Jackson",
    "Paris",
    "Lyon",
    "Berlin",
    "Oslo",
    "Rome",
    "Bern",
    "Augusta",
]


ROLES = ("quasi", "protected", "sensitive", "other", "prefix", "grouped", "listed")


def published(frame: Any, header: str, role: str, **said: Any) -> shoal.Release:
    """Publish a column beside `age`, in one of the ways that show cells of it."""
    trees = {"prefix": "Prefix()", "grouped": "Grouped(size=3)", "listed": "listed"}
    if role == "listed":  # nodes show what the labels, which are numbers, do not
        codes = {name: str(100 + n) for n, name in enumerate(sorted({*frame[header]}))}
        frame = frame.with_columns(pl.col(header).replace_strict(codes))
        said["hierarchies"] = {header: {name: [code] for name, code in codes.items()}}
    elif role in trees:
        said["hierarchies"] = {header: trees[role]}
    if role == "quasi" or role in trees:
        schema = shoal.Schema(quasi=header, sensitive="age", **said)
        return shoal.anonymize(frame, schema, require="EpsilonM(epsilon=1, m=3)", method="Split()")
    said["other" if role == "other" else "sensitive"] = header
    schema = shoal.Schema(quasi="age", **said)
    require = "FrequencyL(l=3)" if role == "protected" else "KAnonymity(k=3)"
    return shoal.anonymize(frame, schema, require=require)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("header", "cells", "refused"),
    [
        ("name", GIVEN, True),
        ("Patient name", [f"N{n}" for n in range(12)], True),
        ("surname", TOWNS, True),
        ("who", GIVEN, True),
        ("who", [f"{one} Smith" for one in GIVEN], True),
        ("who", [f"{one.lower()}@mail.org" for one in GIVEN], True),
        ("who", [f"+49 30 12345{n}" for n in range(12)], True),
        ("city", [f"+49 30 12345{n}" for n in range(12)], True),
        ("city", TOWNS, False),
        ("city", GIVEN, True),
        ("hospital_name", [f"Saint {one}" for one in GIVEN], False),
        ("name", GIVEN[:5], True),
        ("name", GIVEN[:4], False),
        ("who", [f"code {n}" for n in range(12)], False),
    ],
)
def test_names_are_refused_in_every_role_however_often_they_repeat(header, cells, refused, role):
    """As they are, as sets, as nodes of hierarchies, and as values that are protected."""
    repeated = [cells[n % len(cells)] for n in range(12 * len(cells))]
    frame = pl.DataFrame({header: repeated, "age": [n % 50 for n in range(len(repeated))]})
    if not refused:
        published(frame, header, role)
        return
    with pytest.raises(Exposing, match=f"Column '{header}' looks like ") as problem:
        published(frame, header, role)
    assert {("nobody_knows", header), ("identifying", header)} <= {*problem.value.fix}
    published(frame, header, role, nobody_knows=header)


@pytest.mark.spark
@pytest.mark.parametrize("role", ROLES[:5])
def test_names_are_refused_on_spark_too(role):
    repeated = [GIVEN[n % len(GIVEN)] for n in range(240)]
    ages = [n % 50 for n in range(240)]
    trees = {"who": "Prefix()"} if role == "prefix" else {}
    known = role in {"quasi", "prefix"}
    require = "EpsilonM(epsilon=1, m=3)" if known else "KAnonymity(k=3)"
    asked: Any = {"require": "FrequencyL(l=3)" if role == "protected" else require}
    asked["engine"] = jvm.engine()
    places: Any = {"quasi": "who" if known else "age", "sensitive": "age" if known else ()}
    if not known:
        places["other" if role == "other" else "sensitive"] = "who"
    for cells, refused in ((repeated, True), ([TOWNS[n % 12] for n in range(240)], False)):
        frame = jvm.frame(pl.DataFrame({"who": cells, "age": ages}))
        schema = shoal.Schema(**places, hierarchies=trees)
        if not refused:
            assert shoal.anonymize(frame, schema, **asked).manifest.rows == 240
            continue
        with pytest.raises(Exposing, match="looks like names of people"):
            shoal.anonymize(frame, schema, **asked)


def test_a_column_with_few_values_that_splits_groups_leaves_a_question_open(tmp_path):
    done = anonymize(table(tmp_path / "t.csv"), tmp_path / "out", other="ward")
    manifest = expected(tmp_path / "out")
    assert manifest["verdict"] == "holds-with-open-questions"
    audited = command("audit", tmp_path / "out")
    assert (done.code, audited.code) == (0, 0)
    for out in (done.out, audited.out):
        said = " ".join(out.split())
        assert "Verdict: Holds, with open questions" in said
        assert "ward is published unchanged, and no requirement protects it." in said
        assert "A reader who also knows ward learns more than" in said
        for way in ("--quasi ward", "--require", "--identifying ward", "--nobody-knows ward"):
            assert way in said
        assert "Meets the threshold" not in said


def test_a_column_that_tells_nothing_apart_leaves_none(tmp_path):
    more = ("--never-mix", "day")
    done = anonymize(table(tmp_path / "t.csv"), tmp_path / "out", *more, other=None)
    assert done.code == 0, done.err
    assert "Verdict: Holds\n" in done.out
    assert expected(tmp_path / "out")["exposed"] == []


@pytest.mark.parametrize("strict", [True, False])
def test_the_threshold_is_met_only_where_everything_holds(strict, tmp_path):
    require = "EpsilonM(epsilon=5, m=11)" if strict else REQUIRE
    done = anonymize(table(tmp_path / "t.csv"), tmp_path / "out", other=None, require=require)
    said = " ".join(done.out.split())
    assert ("Meets the threshold for public release." in said) == strict
    assert ("Does not meet the threshold for public release." in said) == (not strict)


FORGED = {
    "exposed": lambda m: m["exposed"][0].update(alone=0),
    "said": lambda m: m["exposed"][0].update(said="nobody"),
    "left out": lambda m: m["exposed"].pop(),
    "quasi": lambda m: m["found"].update(quasi=0.01),
    "largest": lambda m: m["found"]["with_exposed"].update(largest=0.2),
    "above": lambda m: m["found"]["with_exposed"].update(above=0.0),
    "null": lambda m: m.update(found=None),
    "inferred": lambda m: m["inferred"]["ward"].update(likely=0.0),
    "learned": lambda m: m["learned"].clear(),
    "verdict": lambda m: m.update(verdict="holds"),
    "threshold": lambda m: m.update(threshold=0.9),
    "everything": lambda m: (
        m["columns"][2].update(said="nobody"),
        m["exposed"][0].update(said="nobody"),
        m.update(verdict="holds"),
    ),
}


@pytest.mark.few(7)
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_verdict_fails_the_audit(what, tmp_path):
    anonymize(table(tmp_path / "t.csv"), tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    assert manifest["columns"][2]["name"] == "ward"
    FORGED[what](manifest)
    path.write_text(json.dumps(manifest), "utf-8")
    done = command("audit", tmp_path / "out", "--json")
    assert done.code == 1, done.out
    assert done.json()["verdict"] == "does-not-hold"
    assert "Verdict: Does not hold" in command("audit", tmp_path / "out").out


def test_without_groups_nothing_is_measured_and_that_is_a_question(tmp_path):
    given = table(tmp_path / "t.csv")
    verdicts = []
    for number, known in enumerate(((), ("--nobody-knows", "ward"))):
        target = tmp_path / f"out{number}"
        done = command(
            "anonymize", given, "--quasi", "age,zip", "--other", "ward", "--require",
            "KAnonymity(k=3)", "--method", "Freeform()", "--output", target, *known,
        )  # fmt: skip
        assert done.code == 0, done.err
        manifest = json.loads((target / "manifest.json").read_text("utf-8"))
        assert manifest["found"] is manifest["inferred"] is manifest["learned"] is None
        assert manifest["exposed"][0]["alone"] is None
        assert "Meets the threshold" not in done.out
        assert command("audit", target, "--original", given).code == 0
        verdicts.append(manifest["verdict"])
    assert verdicts == ["holds-with-open-questions", "holds"]


def test_a_schema_file_says_who_knows_what(tmp_path):
    table(tmp_path / "t.csv")
    (tmp_path / "shoal.toml").write_text(
        'table = "t.csv"\nquasi = "age"\nsensitive = "pay"\nother = ["mark", "stay"]\n'
        f'nobody_knows = ["mark"]\nrequire = "{REQUIRE}"\n[columns.stay]\nnear = 0.5\n',
        "utf-8",
    )
    run = ("anonymize", "--schema", tmp_path / "shoal.toml", "--output", tmp_path / "out")
    assert command(*run).code == 0
    manifest = expected(tmp_path / "out")
    assert [one["said"] for one in manifest["exposed"]] == ["nobody", None]
    assert manifest["columns"][-1] == {"name": "stay", "role": "other", "near": 0.5}
    (tmp_path / "shoal.toml").write_text(
        (tmp_path / "shoal.toml").read_text("utf-8").replace('["mark"]', '["makr"]'), "utf-8"
    )
    done = command(*run, "--force")
    assert (done.code, "--nobody-knows names 'makr', which is not published" in done.said) == (
        2,
        True,
    )


def test_groups_that_look_the_same_do_not_hide_what_an_exposed_column_tells() -> None:
    """Sixty groups of two with one description: who knows the group and `mark` knows the pay."""
    table = pl.DataFrame(
        {
            "age": ["30"] * 60 + ["31"] * 60,
            "pay": [str(1000 * n) for n in range(120)],
            "mark": [str(n % 2) for n in range(120)],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", other="mark")
    release = shoal.anonymize(table, schema, require="EpsilonM(epsilon=10, m=2)", seed=1)
    shown = release.table
    by_group = shown.group_by("group", "mark").len().filter(pl.col("len") == 1)["len"].sum()
    assert by_group
    (learned,) = release.manifest.learned or []
    assert learned.share >= by_group / 120
    assert release.manifest.verdict == "holds-with-open-questions"


@pytest.mark.parametrize(
    "more", ["FrequencyL(l=1)", "DistinctL(l=1)", "AlphaK(alpha=1, k=1)", "EntropyL(l=1)"]
)
def test_what_limits_nothing_protects_no_column(tmp_path, more):
    rows = [[20 + n % 40, 1000 * n, f"j{n % 30}"] for n in range(60)]
    given = write(tmp_path / "t.csv", ("age", "pay", "job"), rows)
    roles = ("--quasi", "age", "--sensitive", "pay,job", "--require", f"pay: {REQUIRE}")
    verdicts = []
    for place, also in {"without": (), "with": ("--require", f"job: {more}")}.items():
        done = command("anonymize", given, *roles, *also, "--output", tmp_path / place, "--seed", 1)
        assert done.code == 0, done.err
        manifest = json.loads((tmp_path / place / "manifest.json").read_text())
        assert [one["column"] for one in manifest["exposed"]] == ["job"]
        assert command("audit", tmp_path / place).code == 0
        verdicts.append(manifest["verdict"])
    assert verdicts == ["holds-with-open-questions"] * 2


def test_what_limits_anything_protects_its_column(tmp_path):
    rows = [[20 + n % 4, 1000 * n, f"j{n % 30}"] for n in range(60)]
    given = write(tmp_path / "t.csv", ("age", "pay", "job"), rows)
    roles = ("--quasi", "age", "--sensitive", "pay,job", "--require", f"pay: {REQUIRE}")
    for number, more in enumerate(["FrequencyL(l=2)", "TCloseness(t=0.9)", "DistinctL(l=2)"]):
        also = ("--require", f"job: {more}", "--output", tmp_path / str(number))
        done = command("anonymize", given, *roles, *also)
        assert done.code == 0, done.err
        manifest = json.loads((tmp_path / str(number) / "manifest.json").read_text())
        assert manifest["exposed"] == []
