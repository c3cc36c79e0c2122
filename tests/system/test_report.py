"""The report for everybody and the one for the owner: what each says, and what it must not."""

import html
import re
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.datasets.census import census
from shoal.runs.owner import riskiest
from shoal.utility.selectivity import errors_by_selectivity
from system.shell import anonymize, names_in, people, write_csv
from system.shell import shoal as command

EPSILON_M = "EpsilonM(epsilon=1000, m=3)"
HEADINGS = (
    "May I publish this?",
    "What is promised to the people in it?",
    "What was left out?",
    "What does a cell show?",
    "Which questions can be answered, and how well?",
    "How was it checked, and how can I check it again?",
    "What does the promise not cover?",
    "How was it made, and how is it cited?",
)
PRIVATE = (
    *("Riskiest groups", "Riskiest records", "in the riskiest groups", "Who is most at risk"),
    *("Before", "A regression on both tables", "Pairs of columns", "How close counts come"),
    *("has to lose under the same requirements", "What is achievable on this table", "Seconds:"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a place with a table, its release and its owner's report."""
    base = tmp_path_factory.mktemp("made")
    table = write_csv(base / "table.csv", people(120))
    options = ("--owner-report", base / "owner.html", "--trials")
    outcome = anonymize(table, base / "out", *options, require=EPSILON_M)
    assert outcome.code == 0, outcome
    return base


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


def loads_nothing(page: str) -> bool:
    """Return whether a page has no program and asks for nothing; its facts are data."""
    plain = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    plain = re.sub(r'<script type="application/json" id="facts">[^<]*</script>', "", plain)
    return not re.search(r"https?:|//\w+\.\w|<script|<link|<iframe|@import|url\((?!#)|<img", plain)


def test_report_answers_every_question_and_loads_nothing(made: Path) -> None:
    page = text_of(made / "out" / "report.html")
    for heading in HEADINGS:
        assert heading in page
    assert loads_nothing(page)
    assert "1\xa0in\xa011 (9.1%)" in page
    assert "at least 11 rows" in page


@pytest.mark.parametrize("other", [[], ["occupation"]])
@pytest.mark.parametrize("method", ["Exchange()", "Freeform()"])
def test_every_answer_of_a_report_is_a_sentence(
    method: str, other: list[str], tmp_path: Path
) -> None:
    schema = shoal.Schema(
        quasi=["age", "birthplace"], sensitive="income", other=other, nobody_knows=other
    )
    made = shoal.anonymize(census(90), schema, require="KAnonymity(k=4)", method=method)
    made.write(tmp_path / "out")
    page = text_of(tmp_path / "out" / "report.html")
    answers = re.findall('<p class="answer">(.*?)</p>', page, re.DOTALL)
    assert len(answers) == 8
    assert [one for one in answers if len(one.split()) < 3] == []


def test_what_compares_with_the_original_stands_in_the_owners_report_alone(made: Path) -> None:
    page, owner = text_of(made / "out" / "report.html"), text_of(made / "owner.html")
    for words in PRIVATE:
        assert words not in page, words
        assert words in owner, words
    assert "in its group" not in page  # the reason why a record is at risk
    assert "in its group" in owner


def test_owner_report_says_first_that_it_is_private(made: Path) -> None:
    page = text_of(made / "owner.html")
    body = page[page.index("<main") :]
    assert body.index("Private. Do not publish it.") < body.index("Holds")


def test_owner_report_has_trials_where_they_were_asked_for(made: Path, tmp_path: Path) -> None:
    page = text_of(made / "owner.html")
    assert loads_nothing(page)
    for words in ("What more protection costs", "asked for", "Methods compared", "Split()"):
        assert words in page
    private = ("--owner-report", tmp_path / "owner.html")
    assert anonymize(made / "table.csv", tmp_path / "out", *private, require=EPSILON_M).code == 0
    plain = text_of(tmp_path / "owner.html")
    assert "Methods compared" not in plain
    assert "--trials" in plain


def test_trials_without_an_owners_report_are_refused(made: Path, tmp_path: Path) -> None:
    outcome = anonymize(made / "table.csv", tmp_path / "out", "--trials", require=EPSILON_M)
    assert outcome.code == 2
    assert "--owner-report" in outcome.said
    assert names_in(tmp_path) == []


def test_owner_report_is_readable_by_its_owner_alone(made: Path) -> None:
    assert stat.S_IMODE((made / "owner.html").stat().st_mode) == 0o600
    assert names_in(made) == ["out", "owner.html", "table.csv"]
    assert names_in(made / "out") == ["codebook.csv", "manifest.json", "release.csv", "report.html"]


def test_owner_report_is_not_replaced_without_force(made: Path, tmp_path: Path) -> None:
    taken = tmp_path / "owner.html"
    taken.write_text("mine")
    options = ("--owner-report", taken)
    outcome = anonymize(made / "table.csv", tmp_path / "out", *options, require=EPSILON_M)
    assert outcome.code == 4
    assert "--owner-report" in outcome.said
    assert "--force" in outcome.said
    assert taken.read_text() == "mine"
    assert names_in(tmp_path) == ["owner.html"]
    release = shoal.anonymize(
        pl.DataFrame({"a": [1, 2]}), shoal.Schema(quasi="a"), require="KAnonymity(k=2)"
    )
    with pytest.raises(shoal.OutputError, match="exists"):
        release.owner_report(taken)
    release.owner_report(taken, force=True)
    assert "Owner" in text_of(taken)
    assert stat.S_IMODE(taken.stat().st_mode) == 0o600


def test_owner_report_cannot_lie_inside_a_release(made: Path, tmp_path: Path) -> None:
    inside = ("--owner-report", tmp_path / "out" / "owner.html")
    outcome = anonymize(made / "table.csv", tmp_path / "out", *inside, require=EPSILON_M)
    assert outcome.code == 2
    assert "private" in outcome.said
    assert not (tmp_path / "out").exists()
    release = shoal.anonymize(
        pl.DataFrame({"a": [1, 2]}), shoal.Schema(quasi="a"), require="KAnonymity(k=2)"
    )
    with pytest.raises(shoal.UsageError, match="private"):
        release.owner_report(made / "out" / "owner.html")


@pytest.mark.parametrize("verb", ["attack", "audit", "compare", "tune"])
def test_no_private_page_lies_in_a_release(made: Path, verb: str) -> None:
    table, out = made / "table.csv", made / "out"
    roles = ("--quasi", "age", "--sensitive", "salary")
    asked: dict[str, list[Any]] = {
        "attack": [out],
        "audit": [table, *roles],
        "compare": [table, *roles, "--require", EPSILON_M],
        "tune": [table, *roles, "--require", EPSILON_M, "--vary", "m"],
    }
    before = names_in(out)
    for page in (out / "page.html", out / "below" / "page.html"):
        outcome = command(verb, *asked[verb], "--report", page)
        assert outcome.code == 2, outcome
        assert "private and cannot lie inside a release" in outcome.said
    assert names_in(out) == before


def test_linkage_and_owner_report_cannot_be_one_file(made: Path, tmp_path: Path) -> None:
    both = tmp_path / "private"
    options = ("--owner-report", both, "--linkage", tmp_path / "." / "private")
    outcome = anonymize(made / "table.csv", tmp_path / "out", *options, require=EPSILON_M)
    assert outcome.code == 2
    assert "same file" in outcome.said
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("threshold", ["0", "-0.1", "1.5", "nan", "inf", "1/0", "3/2", "one", ""])
def test_threshold_outside_its_range_is_refused(made: Path, tmp_path: Path, threshold: str) -> None:
    options = ("--threshold", threshold)
    outcome = anonymize(made / "table.csv", tmp_path / "out", *options, require=EPSILON_M)
    assert outcome.code == 2
    assert "threshold" in outcome.said
    assert names_in(tmp_path) == []


MEETS = "Meets the threshold for public release"


@pytest.mark.parametrize(
    ("k", "options", "meets"),
    [
        (11, (), True),
        (12, (), True),
        (10, (), False),
        (11, ("--threshold", "0.09"), False),  # to the letter
        (11, ("--threshold", "1/11"), True),
        (4, ("--threshold", "0.5"), False),  # above the usual one: not judged
        (12, ("--threshold", "0.5"), False),
        (12, ("--threshold", "1/12"), True),
    ],
)
def test_usual_limit_is_one_in_eleven_itself_included(
    tmp_path: Path, k: int, options: tuple[str, ...], *, meets: bool
) -> None:
    ages = [age for age in (20, 30, 40) for _ in range(k)]
    pays = [1000 * place for place in range(len(ages))]
    pl.DataFrame({"age": ages, "pay": pays}).write_csv(tmp_path / "people.csv")
    roles = ("--quasi", "age", "--sensitive", "pay", "--nobody-knows", "pay")
    require = f"KAnonymity(k={k})"
    out = tmp_path / "out"
    assert anonymize(tmp_path / "people.csv", out, *roles, *options, require=require).code == 0
    sheet = tmp_path / "sheet.html"
    assert command("certificate", out, sheet).code == 0  # by the threshold of the release
    for page in (text_of(out / "report.html"), text_of(sheet)):
        assert (MEETS in page) == meets
        if "Report" in page:
            assert ("To readers under an agreement, yes" in page) != meets
        asked = Fraction(options[1]) if options else Fraction(1, 11)
        assert ("European Medicines Agency" in page) == (
            asked == Fraction(1, 11) and "Report" in page
        )


def test_reports_escape_whatever_a_table_holds(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    table = pl.DataFrame(
        {
            evil: [f"<b>cell {place % 4}</b>" for place in range(60)],
            'it\'s "x" & y': [place % 30 for place in range(60)],
            "<i>ill</i>": [f"<u>{place % 5}</u>" for place in range(60)],
            "&lt;": ["</script><em>x</em>"] * 60,
        }
    )
    schema = shoal.Schema(quasi=table.columns[:2], sensitive=table.columns[2], other="&lt;")
    release = shoal.anonymize(table, schema, require="DistinctL(l=2)")
    release.write(tmp_path / "out")
    release.owner_report(tmp_path / "owner.html")
    shown = release._repr_html_() + release.audit()._repr_html_()
    pages = [text_of(tmp_path / "out" / "report.html"), text_of(tmp_path / "owner.html"), shown]
    for page in pages:
        for tag in ("<script>", "<b>cell", "<i>ill", "<u>1", "<em>x"):
            assert tag not in page
        assert "&lt;script&gt;" in page
        assert page.count("</script>") == page.count('<script type="application/json"')
    assert "&lt;u&gt;" in pages[0]
    assert shoal.audit(tmp_path / "out").holds


def test_fewer_queries_are_asked_of_many_rows_and_none_of_few() -> None:
    table = pl.DataFrame({"a": range(80), "b": [place % 9 for place in range(80)]})
    schema = shoal.Schema(quasi=["a", "b"])
    release = shoal.anonymize(table, schema, require="KAnonymity(k=4)")
    found = errors_by_selectivity(release)
    errors = found["errors"]
    assert found["queries"] == 200
    assert [one["selectivity"] for one in errors] == [0.01, 0.02, 0.05, 0.1, 0.2]
    assert all(0 <= one["median"] <= one["p95"] for one in errors)
    assert errors_by_selectivity(release, work=80 * 5 * 31)["queries"] == 31
    assert errors_by_selectivity(release, work=1000)["queries"] == 20
    few = shoal.anonymize(table.head(8), schema, require="KAnonymity(k=4)")
    assert "only 8 rows" in errors_by_selectivity(few)["skipped"]


def test_release_that_changes_nothing_answers_without_error() -> None:
    table = pl.DataFrame({"a": [1, 2, 3] * 40, "b": ["x", "y", "z"] * 40})
    release = shoal.anonymize(table, shoal.Schema(quasi=["a", "b"]), require="KAnonymity(k=4)")
    assert release.loss == 0
    assert all(one["p95"] == 0 for one in errors_by_selectivity(release)["errors"])


def test_owner_sees_the_values_of_the_groups_at_risk() -> None:
    table = pl.DataFrame(
        {"a": [1, 1, 1, 50, 50, 50], "ill": ["flu", "flu", "flu", "flu", "cold", "cough"]}
    )
    schema = shoal.Schema(quasi="a", sensitive="ill")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)")
    (strips,) = riskiest(release)["strips"]
    assert strips["strips"][0]["labels"] == [("flu", 3)]
    assert {label for label, _ in strips["strips"][1]["labels"]} == {"flu", "cold", "cough"}


def test_heterogeneous_release_has_both_reports(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "a": range(60),
            "b": [p * 7 % 13 for p in range(60)],
            "pay": [p * 11 % 40 for p in range(60)],
        }
    )
    schema = shoal.Schema(quasi=["a", "b"], sensitive="pay")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", method="Freeform()")
    release.write(tmp_path / "out")
    release.owner_report(tmp_path / "owner.html")
    page = text_of(tmp_path / "out" / "report.html")
    assert "This release has no groups" in page
    assert "person's matches" not in html.unescape(page)
    assert "person's matches" in html.unescape(text_of(tmp_path / "owner.html"))


def test_a_trial_that_fails_does_not_stand_in_the_way(monkeypatch, tmp_path) -> None:
    def refuse(*_given: object, **_options: object) -> None:
        msg = "there is nothing to compare"
        raise shoal.UsageError(msg)

    monkeypatch.setattr("shoal.runs.trials.compare", refuse)
    table = pl.DataFrame({"a": range(12)})
    release = shoal.anonymize(table, shoal.Schema(quasi="a"), require="KAnonymity(k=2)")
    release.owner_report(tmp_path / "owner.html", trials=True)
    page = text_of(tmp_path / "owner.html")
    assert "Not tried: there is nothing to compare" in page
    assert "What more protection costs" in page


def test_a_release_in_which_a_row_is_found_for_certain_is_not_recommended(tmp_path: Path) -> None:
    table = pl.DataFrame({"age": range(30), "pay": [1000 * n for n in range(30)]})
    schema = shoal.Schema(quasi="age", sensitive="pay", nobody_knows="pay")
    shoal.anonymize(table, schema, require="KAnonymity(k=1)").write(tmp_path / "out")
    page = text_of(tmp_path / "out" / "report.html")
    assert "Not to readers who may know a person" in page
    assert "yes, subject" not in page
