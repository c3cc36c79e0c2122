"""What notebooks show of a release, an audit and a plan, and of how far something is."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import polars as pl
import pytest

import shoal
from shoal.views import notebook

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
    assert "Not every requirement holds." in shown
    assert "KAnonymity(k=2) does not hold in 1 of 2 groups of equal published cells: " in shown
    assert "measured 1 in 1 (100%), allowed at most 1 in 2 (50%). The smallest" in shown
    assert '<td class="n">100%</td><td class="n">1 in 2 (50%)</td><td>no</td>' in shown


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


class ZMQInteractiveShell:
    """The shell of a notebook, by its name."""


class Below:
    """What is displayed below a cell: everything that stood there, one after the other."""

    def __init__(self) -> None:
        self.stood: list[str] = []

    def display(self, page: str, *, display_id: bool) -> "Below":
        assert display_id
        return self.update(page)

    def update(self, page: str) -> "Below":
        self.stood.append(page)
        return self


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Below:
    """A notebook in which everything takes long."""
    below = Below()
    shell = SimpleNamespace(get_ipython=ZMQInteractiveShell)
    shown = SimpleNamespace(HTML=str, display=below.display)
    monkeypatch.setitem(sys.modules, "IPython", cast("ModuleType", shell))
    monkeypatch.setitem(sys.modules, "IPython.display", cast("ModuleType", shown))
    monkeypatch.setattr(notebook, "PATIENCE", 0.0)
    monkeypatch.setattr(notebook, "EVERY", 0.0)
    return below


def test_progress_shows_in_a_notebook_and_is_gone_at_the_end(cell: Below, tmp_path: Path) -> None:
    release = shoal.anonymize(TABLE, SCHEMA, require="EpsilonM(epsilon=100, m=2)")
    assert any("Searching for groups" in one for one in cell.stood)
    assert cell.stood[-1] == ""
    cell.stood.clear()
    release.write(tmp_path / "out")
    assert any("Writing the release" in one for one in cell.stood)
    assert cell.stood[-1] == ""


def test_progress_that_fails_leaves_nothing_below_the_cell(cell: Below) -> None:
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(TABLE, SCHEMA, require="KAnonymity(k=9)")
    assert cell.stood[-1:] in ([], [""])


def test_whoever_watches_by_himself_sees_no_bar(cell: Below) -> None:
    heard = []
    shoal.anonymize(
        TABLE,
        SCHEMA,
        require="KAnonymity(k=2)",
        progress=lambda phase, share: heard.append((phase, share)),
    )
    assert heard
    assert cell.stood == []


def test_nothing_is_drawn_outside_of_notebooks(cell: Below, monkeypatch) -> None:
    monkeypatch.setitem(
        sys.modules, "IPython", cast("ModuleType", SimpleNamespace(get_ipython=lambda: None))
    )
    shoal.anonymize(TABLE, SCHEMA, require="KAnonymity(k=2)")
    assert cell.stood == []


def test_results_say_themselves_in_a_line_without_arrays() -> None:
    release = shoal.anonymize(TABLE, SCHEMA, require="KAnonymity(k=2)")
    require = "EpsilonM(epsilon=100, m=2)"
    asked = shoal.measures.Workload(quasi=1, queries=5).draw(TABLE, SCHEMA, seed=1)
    for result in (
        release,
        release.audit(),
        shoal.audit(TABLE, SCHEMA, require=require),
        shoal.measures.levels(TABLE, SCHEMA),
        shoal.plan(TABLE, SCHEMA),
        shoal.plan(TABLE, SCHEMA, m=2),
        shoal.plan(TABLE, SCHEMA, require="FrequencyL(l=2)"),
        shoal.plan(TABLE, SCHEMA, require="Dissimilarity(epsilon=9, delta=0.5, k=2)"),
        shoal.compare(TABLE, SCHEMA, require=require, queries=0),
        shoal.tune(TABLE, SCHEMA, require="KAnonymity(k=2)", vary="k=2,3"),
        shoal.inspect(TABLE),
        asked,
        asked.error(release),
    ):
        said = repr(result)
        assert said.startswith(f"<{type(result).__name__}")
        assert "array(" not in said
        assert "\n" not in said
        assert len(said) < 300
    said = "<Audit: rows=8, groups=4, holds=True, verdict='holds-with-open-questions'>"
    assert repr(release.audit()) == said
