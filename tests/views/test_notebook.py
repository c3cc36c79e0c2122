"""What notebooks show of a release, an audit and a plan."""

import polars as pl

import shoal

TABLE = pl.DataFrame(
    {
        "age": [17, 19, 20, 24, 29, 34, 39, 45],
        "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    }
)
SCHEMA = shoal.Schema(quasi="age", sensitive="salary")


def test_release_shows_its_verdict_and_what_was_measured(tmp_path) -> None:
    release = shoal.anonymize(TABLE, SCHEMA, require="EpsilonM(epsilon=100, m=2)")
    before = release._repr_html_()
    assert "8 rows" in before
    assert "Verdict: Holds." in before
    assert "<td>yes</td>" in before
    assert f"{100 * release.loss:.2f}%" in before
    release.write(tmp_path / "out")
    assert release._repr_html_() == before


def test_release_with_open_questions_says_which() -> None:
    shown = shoal.anonymize(TABLE, SCHEMA, require="KAnonymity(k=2)")._repr_html_()
    assert "Verdict: Holds, with open questions." in shown
    assert "salary is published unchanged, and no requirement protects it." in shown


def test_audit_shows_what_does_not_hold() -> None:
    published = pl.DataFrame({"age": ["20", "20", "30"], "salary": [1, 9, 5]})
    found = shoal.audit(published, SCHEMA, require="KAnonymity(k=2)")
    shown = found._repr_html_()
    assert "NOT everything holds" in shown
    assert "does not hold in 1 of 2" in shown


def test_plan_shows_the_frontier_and_answers() -> None:
    shown = shoal.plan(TABLE, SCHEMA)._repr_html_()
    assert "epsilon must stay under" in shown
    answer = shoal.plan(TABLE, SCHEMA, epsilon=15, m=3)._repr_html_()
    assert "the largest m is" in answer
    assert "must stay under 20" in answer
    assert "achievable" in answer


def test_plan_escapes_the_name_of_its_column() -> None:
    named = TABLE.rename({"salary": "<b>pay</b>"})
    shown = shoal.plan(named, shoal.Schema(sensitive="<b>pay</b>"))._repr_html_()
    assert "<b>pay" not in shown
    assert "&lt;b&gt;pay" in shown
