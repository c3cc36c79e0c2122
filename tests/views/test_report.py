"""What the report says of random releases, against plain definitions."""

import datetime as dt
import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import exposure as oracle
from shoal.audit.identification import check_threshold, exposure, least_size
from shoal.audit.published import as_read, plain_text
from shoal.runs.owner import _answer, members
from shoal.utility.queries import BoxTable
from shoal.utility.selectivity import answers_of, exact_table
from shoal.utility.shown import shown
from shoal.utility.workload import Workload
from tables import QUASI, frame, schema, tables

ASKED = ["KAnonymity(k=2)", "EpsilonM(epsilon=1, m=2)", "DistinctL(l=2)"]


def loss_map(release: shoal.Release) -> dict[str, Any] | None:
    """Return the map of the loss, from the published cells."""
    found: dict[str, Any] | None = shown(as_read(release))["map"]
    return found


def released(
    table: dict[str, list], require: str, method: str | None = None
) -> shoal.Release | None:
    try:
        return shoal.anonymize(frame(table), schema(), require=require, method=method)
    except shoal.NotAchievable:
        return None


@settings(deadline=None, max_examples=examples(50))
@given(tables(), st.sampled_from(ASKED), st.sampled_from(["1/11", "0.09", "0.2", "0.5", "1"]))
def test_exposure_is_what_its_definition_says(
    table: dict[str, list], require: str, threshold: str
) -> None:
    release = released(table, require)
    if release is None:
        return
    counted, limit = members(release), check_threshold(threshold)
    whom = counted.coded, counted.before, counted.after
    facts = exposure(release, release.audit(), *whom, limit)
    published = release.published
    before = list(zip(*(map(float_or_text, table[name]) for name in QUASI), strict=True))
    after = list(published.select(QUASI).iter_rows())
    for found, rows in ((facts["before"], before), (facts["after"], after)):
        known = oracle.identification(rows, threshold)
        assert found["unique"] == pytest.approx(float(known["unique"]))
        assert found["largest_risk"] == pytest.approx(float(known["largest"]))
        assert found["average_risk"] == pytest.approx(float(known["average"]))
        assert Fraction(repr(found["average_risk"])) >= known["average"]  # as written, never down
        assert found["above"] == pytest.approx(float(known["above"]))
        assert found["largest_kept"] == (known["largest"] <= Fraction(threshold))
        assert found["average_kept"] == (known["average"] <= Fraction(threshold))
    for guess in facts["guesses"]:
        values = published["salary"].to_list()
        groups = published["group"].to_list()
        assert guess["after"] == pytest.approx(float(oracle.guessed(groups, values)))
        assert guess["blind"] == pytest.approx(float(oracle.guessed([0] * len(values), values)))
        assert guess["before"] == pytest.approx(float(oracle.guessed(before, table["salary"])))
    assert bool(facts["guesses"]) == ("EpsilonM" not in require)


def float_or_text(cell: Any) -> Any:
    return cell if isinstance(cell, str) else float(cell)


@given(st.integers(1, 400), st.integers(1, 400))
def test_threshold_asks_for_the_fewest_rows_that_keep_it(part: int, whole: int) -> None:
    limit = Fraction(min(part, whole), max(part, whole))
    size = least_size(limit)
    assert Fraction(1, size) <= limit
    assert size == 1 or Fraction(1, size - 1) > limit


@settings(deadline=None, max_examples=examples(50))
@given(tables(), st.sampled_from([None, "Freeform()"]), st.integers(0, 2**32 - 1))
def test_boxes_from_the_recoding_answer_as_the_published_text_does(
    table: dict[str, list], method: str | None, seed: int
) -> None:
    release = released(table, "KAnonymity(k=2)", method)
    if release is None:
        return
    questions = Workload(quasi=2, sensitive=1, selectivity=0.5, queries=5).draw(
        frame(table), schema(), seed=seed
    )
    exact, boxes = exact_table(release), answers_of(release)
    text = BoxTable.of(plain_text(release), release.manifest, release.schema)
    for query, truth in zip(questions.queries, questions.truth, strict=True):
        assert exact.count(query) == truth
        assert boxes.count(query) == pytest.approx(text.count(query))


DAYS = st.dates(dt.date(2019, 1, 1), dt.date(2021, 12, 31)).map(str)
CODES = st.sampled_from(["100", "101", "110", "111", "205", "250"])


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.tuples(DAYS, CODES, st.integers(0, 9)), min_size=2, max_size=30), st.data())
def test_dates_and_nodes_answer_as_the_published_text_does(
    rows: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    table = pl.DataFrame(rows, schema=["day", "zip", "pay"], orient="row")
    roles = shoal.Schema(quasi=["day", "zip"], sensitive="pay", hierarchies={"zip": "Prefix()"})
    release = shoal.anonymize(table, roles, require="KAnonymity(k=2)")
    asked = Workload(selectivity=data.draw(st.sampled_from([0.6, 1.0])), queries=4)
    questions = asked.draw(exact_table(release), roles, seed=1)
    known = asked.draw(table, roles, seed=1)
    assert questions.truth.tolist() == known.truth.tolist()
    boxes = answers_of(release)
    text = BoxTable.of(plain_text(release), release.manifest, release.schema)
    for query in questions.queries:
        assert boxes.count(query) == pytest.approx(text.count(query))
    found = loss_map(release)
    assert found is None or sum(one["rows"] for one in found["squares"]) == pytest.approx(
        1, abs=0.01
    )


@settings(deadline=None, max_examples=examples(50))
@given(tables(), st.sampled_from([None, "Freeform()"]))
def test_map_spreads_every_row_over_its_box(table: dict[str, list], method: str | None) -> None:
    labels = dict.fromkeys(("age", "zip"), "categorical")
    roles = shoal.Schema(quasi=QUASI, sensitive="salary", types=labels)
    try:
        release = shoal.anonymize(frame(table), roles, require="KAnonymity(k=2)", method=method)
    except shoal.NotAchievable:
        return
    found = loss_map(release)
    ncp = release.manifest.loss.ncp
    domains = {one.name: one.values for one in release.manifest.quasi}
    wide = [name for name in QUASI if len(domains[name]) > 1]
    if found is None:
        assert len(wide) < 2
        return
    names = [found["x"]["name"], found["y"]["name"]]
    assert names == sorted(wide, key=lambda name: -ncp[name])[:2]
    boxes, losses = [], []
    for cells in release.published.select(names).iter_rows():
        covered = [covers(cell, domains[name]) for name, cell in zip(names, cells, strict=True)]
        shares = [
            (len(own) - 1) / (len(domains[name]) - 1)
            for name, own in zip(names, covered, strict=True)
        ]
        boxes.append((covered[0], covered[1]))
        losses.append(sum(shares) / 2)
    known = oracle.squares(boxes, losses)
    drawn = {(one["x"], one["y"]): (one["rows"], one["loss"]) for one in found["squares"]}
    assert drawn.keys() == known.keys()
    for place, (rows, loss) in known.items():
        assert drawn[place] == (pytest.approx(rows), pytest.approx(loss, abs=1e-9))


def covers(cell: str, labels: list[str]) -> list[int]:
    """Return the places of the labels that a published cell covers; each is a square here."""
    shown = json.loads(cell) if cell.startswith("[") else [cell]
    return [place for place, label in enumerate(labels) if label in shown]


def test_map_names_no_number_that_lies_inside_a_box() -> None:
    data = pl.DataFrame({"x": [10, 13, 17, 50, 54, 57], "y": [1, 1, 2, 8, 9, 9]})
    release = shoal.anonymize(data, shoal.Schema(quasi=["x", "y"]), require="KAnonymity(k=3)")
    found = loss_map(release)
    assert found is not None
    assert not {"13", "54"} & set(found["x"]["names"] + found["y"]["names"])


@given(st.lists(st.integers(-1000, 1000), min_size=400, max_size=400), st.integers(0, 99))
@settings(deadline=None, max_examples=examples(25))
def test_map_of_many_numbers_keeps_all_rows_and_the_loss(values: list[int], start: int) -> None:
    """With squares that are intervals, sums over the map are those of the table."""
    data = pl.DataFrame({"x": values, "y": [start + place % 37 for place in range(400)]})
    plain = shoal.Schema(quasi=["x", "y"])
    release = shoal.anonymize(data, plain, require="KAnonymity(k=4)")
    found = loss_map(release)
    if found is None:
        return
    rows = np.array([one["rows"] for one in found["squares"]])
    loss = np.array([one["loss"] for one in found["squares"]])
    assert rows.sum() == pytest.approx(1, abs=0.01)  # the faintest squares are left out
    assert rows @ loss == pytest.approx(release.loss, rel=0.02, abs=1e-3)


def test_an_agreement_is_no_reason_for_fewer_than_are_usual_under_one(tmp_path):
    schema = shoal.Schema(quasi="age", sensitive="pay", nobody_knows="pay")
    for k, said in ((2, "Not yet. Even for readers under an agreement"), (5, "To readers under")):
        people = pl.DataFrame({"age": [row // k for row in range(60)], "pay": range(60)})
        shoal.anonymize(people, schema, require=f"KAnonymity(k={k})").write(tmp_path / str(k))
        assert said in " ".join((tmp_path / str(k) / "report.html").read_text("utf-8").split()), k


@pytest.mark.parametrize("alike", [False, True])
def test_the_row_most_at_risk_is_not_named_alone_where_others_are_as_risky(alike):
    records = [{"row": 7, "group": 2, "risk": 0.6, "why": "3 of 5 are near"}]
    records.append(records[0] | {"row": 9, "risk": 0.6 if alike else 0.4})
    said = _answer([{"column": "pay", "riskiest_records": records}])
    assert said.startswith("Row 7 of the release, in group 2, by its pay: 3 of 5 are near.")
    assert ("Other rows have the same risk." in said) == alike


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("KAnonymity(k=1)", True),
        ("KAnonymity(k=2)", False),
        ("FrequencyL(l=1)", True),
        ("AlphaK(alpha=1, k=1)", True),
        ("AlphaK(alpha=1, k=2)", False),
        ("EpsilonM(epsilon=5, m=1)", True),
        ("Window(width=5, m=1)", True),
        ("Window(width=5, m=2)", False),
    ],
)
def test_what_limits_nothing_is_not_promised_in_any_file(text, nothing, tmp_path):
    table = pl.DataFrame({"age": list(range(40)), "pay": [100 * (n % 20) for n in range(40)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    shoal.anonymize(table, schema, require=text).write(tmp_path / "out")
    shoal.certificate(tmp_path / "out", tmp_path / "certificate.html")
    for page in (tmp_path / "out" / "report.html", tmp_path / "certificate.html"):
        said = re.sub(r"<[^>]+>", "", page.read_text("utf-8"))
        assert ("limits nothing: every guess may be right" in said) == nothing
        assert not re.search(r"chance of at most (1 in 1\b|100%)", said) or not nothing
