"""What is said of a frontier: where protection grows, whether there is a knee, what a trial is."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.notation import known_terms, parse
from shoal.principles.base import Principle
from shoal.principles.groups import Groups
from shoal.runs import trials as trials_module
from shoal.runs.knees import FEWEST
from shoal.runs.tune import Frontier, Setting, bend_of, parameters
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive
from shoal.views.pages import frontier_part
from shoal.views.tables import print_frontier

if TYPE_CHECKING:
    from pathlib import Path

# One of each, and for every parameter a weaker or stricter value.
PRINCIPLES: dict[str, dict[str, Any]] = {
    "AlphaK(alpha=0.5, k=3)": {"alpha": 0.7, "k": 4},
    "BetaLikeness(beta=0.5)": {"beta": 1.0},
    "Chain(epsilon=1, m=2)": {"epsilon": 2, "m": 3},
    "DeltaDisclosure(delta=0.2)": {"delta": 2.0},
    "DeltaL(delta=1, l=2)": {"delta": 2, "l": 3},
    "Dissimilarity(epsilon=1, delta=0.5, k=2, distance=Absolute())":
        {"epsilon": 2, "delta": 0.8, "k": 4},
    "DistinctL(l=2)": {"l": 3},
    "EntropyL(l=1.5)": {"l": 2.5},
    "EpsilonM(epsilon=1, m=2)": {"epsilon": 2, "m": 3},
    "FrequencyL(l=2)": {"l": 3},
    "KAnonymity(k=2)": {"k": 4},
    "KE(k=2, e=2)": {"k": 3, "e": 4},
    "MUniqueness(m=2)": {"m": 4},
    "Neighbourhood(below=1, above=1, m=2)": {"below": 3, "above": 3, "m": 3},
    "RecursiveCL(c=1.5, l=2)": {"c": 3.0, "l": 3},
    "TCloseness(t=0.2)": {"t": 0.4},
    "Variance(at_least=1)": {"at_least": 4},
    "Window(width=1, m=2)": {"width": 2, "m": 3},
}  # fmt: skip
OF_A_POPULATION = {"KMap", "DeltaPresence"}  # said in their own tests


def _tables() -> list[tuple[Groups, Sensitive]]:
    chance = np.random.default_rng(3)
    found = []
    for _ in range(150):
        rows, count = int(chance.integers(4, 13)), int(chance.integers(1, 3))
        labels = np.arange(rows) % count
        values = pl.Series("pay", chance.integers(0, chance.integers(2, 12), rows).astype(str))
        value = Sensitive.of((code_column(values, kind="numeric"),))
        found.append((Groups.alike(rows, [(labels.astype(np.int32), count)]), value))
    return found


TABLES = _tables()


def test_every_principle_and_every_parameter_is_tried():
    known = {
        name
        for name, term in known_terms().items()
        if isinstance(term, type) and issubclass(term, Principle) and dataclasses.is_dataclass(term)
    }
    tried = {notation.partition("(")[0] for notation in PRINCIPLES}
    assert tried == known - OF_A_POPULATION
    for notation, others in PRINCIPLES.items():
        assert set(others) == set(parameters(_principle(notation)))


@pytest.mark.parametrize(
    ("notation", "parameter"),
    [(notation, name) for notation, others in PRINCIPLES.items() for name in others],
)
def test_a_looser_value_holds_wherever_a_stricter_one_does(notation, parameter):
    low = _principle(notation)
    changed: dict[str, Any] = {parameter: PRINCIPLES[notation][parameter]}
    high = dataclasses.replace(low, **changed)  # type: ignore[type-var]
    stricter, looser = (low, high) if parameter in low.looser else (high, low)
    differ = 0
    for groups, value in TABLES:
        strict, loose = (one.measure(groups, value).holds for one in (stricter, looser))
        assert loose or not strict
        differ += loose and not strict
    assert differ  # so the direction is not a matter of taste


def _principle(notation: str) -> Principle:
    found = parse(notation)
    assert isinstance(found, Principle)
    return found


def frontier(losses: list[float | None], *, grows: bool = True) -> Frontier:
    points = [
        Setting(place + 2.0, "", loss, 1, 0.1, None if loss is not None else "No.")
        for place, loss in enumerate(losses)
    ]
    bend = bend_of(points, grows=grows, rows=10)
    return Frontier(10, "Split()", (), "k", 3, grows, tuple(points), bend)


@pytest.mark.parametrize("seed", range(40))
def test_the_word_for_more_protection_is_that_of_the_parameter_whatever_the_losses(seed):
    chance = np.random.default_rng(seed)
    losses = [None if chance.random() < 0.2 else float(loss) for loss in chance.random(8)]
    for grows, word, other in ((True, "as k grows", "as k falls"),
                               (False, "as k falls", "as k grows")):  # fmt: skip
        found = frontier(losses, grows=grows)
        assert other not in found.sentence
        reached = [loss for loss in losses if loss is not None]
        assert (word in found.sentence) == (len(reached) >= FEWEST)
        if found.knee is not None:
            assert len(reached) >= FEWEST
            ends = (reached[0], reached[-1]) if grows else (reached[-1], reached[0])
            assert ends[0] < ends[1]


def test_the_mirrored_curve_has_the_mirrored_knee():
    losses: list[float | None] = [0.0, 0.01, 0.02, 0.03, 0.4, 0.9]
    one, other = frontier(losses), frontier(losses[::-1], grows=False)
    assert one.knee is not None
    assert other.knee is not None
    assert one.knee.place == len(losses) - 1 - other.knee.place
    assert one.knee.rises
    assert other.knee.rises


def test_four_points_and_even_curves_have_no_knee():
    assert "4 points were reached" in frontier([0.1, None, 0.1, 0.1, 0.9]).sentence
    assert "1 point was reached" in frontier([None, 0.1, None]).sentence
    assert "evenly" in frontier([0.1, 0.2, 0.3, 0.4, 0.52]).sentence
    assert "does not cost more" in frontier([0.5, 0.2, 0.3, 0.4, 0.4]).sentence


def test_a_trial_that_fails_says_nothing_against_the_release(tmp_path: Path, monkeypatch):
    """Values of which only all rows together have enough for the requirement."""
    chance = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"age": chance.integers(20, 80, 300), "pay": np.repeat(np.arange(12), 25) * 1000}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(frame, schema, require="FrequencyL(l=12)")
    monkeypatch.setattr(trials_module, "SAMPLE", 40)  # in which some value is too frequent
    release.owner_report(tmp_path / "owner.html", trials=True)
    text = re.sub(r"<[^>]+>", " ", (tmp_path / "owner.html").read_text("utf-8"))
    trials = " ".join(text[text.index("What more protection costs") :].split())
    assert "--seconds" not in text
    assert "--suppress" not in trials.partition("What the guarantee")[0]
    assert "Tried on 40 of 300 rows, drawn at random" in trials
    assert f"loses {release.loss:.2%}" in trials
    assert re.search(r"12 not in this trial asked for; the release keeps it", trials)


def test_rows_that_are_left_out_count_as_lost_where_the_curve_bends():
    """What loses little of few rows is not cheap: the curve rises where rows go."""
    losses = [0.05, 0.06, 0.07, 0.03, 0.02, 0.01]
    gone = [0, 0, 0, 20, 40, 60]
    points = [
        Setting(place + 2.0, "", loss, 1, 0.1, left_out=left)
        for place, (loss, left) in enumerate(zip(losses, gone, strict=True))
    ]
    assert bend_of(points, grows=True, rows=10**9) is None  # so few of many: it seems to fall
    bend = bend_of(points, grows=True, rows=100)
    assert bend is not None
    assert (bend.place, bend.rises) == (2, True)


def test_rows_left_out_of_people_who_have_many_are_told(capsys):
    rng = np.random.default_rng(3)
    counts = 1 + rng.poisson(1.5, 120)
    who = np.repeat(np.arange(120), counts)
    table = pl.DataFrame(
        {"who": who, "age": rng.integers(20, 60, 120)[who], "ill": rng.integers(0, 6, len(who))}
    )
    schema = shoal.Schema(quasi="age", sensitive="ill", person="who")
    found = shoal.tune(table, schema, require="KAnonymity(k=4)", vary="k=2,4,8")
    for point in found.points:
        made = shoal.anonymize(
            table, schema, require=f"KAnonymity(k={point.value:g})", method=found.method
        )
        assert (point.left_out > 0) == (made.manifest.rows < table.height)
        assert point.left_out + made.manifest.rows == pytest.approx(table.height, abs=20)
    assert any(point.left_out for point in found.points)
    print_frontier(found.to_dict())
    assert "left out" in capsys.readouterr().out
    assert "rows left out" in frontier_part(found.to_dict())
    rows = pl.DataFrame({"age": range(40), "ill": [row % 5 for row in range(40)]})
    roles = shoal.Schema(quasi="age", sensitive="ill")
    plain = shoal.tune(rows, roles, require="KAnonymity(k=4)", vary="k=2,4")
    assert "left out" not in frontier_part(plain.to_dict())
