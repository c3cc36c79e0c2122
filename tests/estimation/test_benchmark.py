"""What the benchmark of estimates adds up: which quantities count, and why answers are refused."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from estimation.people import published, simulated
from shoal.estimation import judging
from shoal.estimation.completing import Problem
from shoal.estimation.opening import open_release
from shoal.estimation.pooling import pool
from shoal.runs import correcting

if TYPE_CHECKING:
    from types import ModuleType

PLACE = Path(__file__).parents[2] / "benchmarks" / "estimate.py"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_estimates", PLACE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, found)
    spec.loader.exec_module(found)
    return found


def sample(turn: int, estimate: float, *, odd: bool, refused: str = "") -> dict[str, Any]:
    """Return what one sample came to: two quantities, of which `odd` says that the second is."""
    answered = [estimate, 0.1, 0.0, 2.0, 1.0, 0.1, 1.0]
    own = [*answered, "refused", refused] if refused else [*answered, "valid", "It is exact."]
    second = [9.0, *answered[1:], "valid", "It is exact."] if odd else [*own]
    return {
        "table": "made",
        "method": "Oblivious()",
        "share": 0.5,
        "seed": turn,
        "seconds": 1.0,
        "truth": [1.0, 1.0],
        "original": [[1.0, 1.0], [0.1, 0.1]],
        "status": "valid",
        "reason": "",
        "quantities": [own, second],
    }


def shown(benchmark: ModuleType, records: list[dict[str, Any]], tmp_path: Path, capsys: Any) -> str:
    path = tmp_path / "some.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    benchmark.show(path)
    return str(capsys.readouterr().out)


def test_quantities_that_are_seldom_answered_do_not_widen_the_range(benchmark, tmp_path, capsys):
    random = np.random.default_rng(1)
    alike = [sample(turn, 1 + random.normal(0, 0.01), odd=False) for turn in range(20)]
    for one in alike:
        one["quantities"][1][7:] = ["approximate", "The chains do not agree on age."]
    for often, most in ((4, "1.0"), (5, "9.0")):
        records = [*alike[often:], *(sample(turn, 1.0, odd=True) for turn in range(often))]
        line = next(
            line
            for line in shown(benchmark, records, tmp_path, capsys).splitlines()
            if line.startswith("  valid")
        )
        assert f"to {most}" in line, often


def test_why_answers_are_refused_is_said_with_the_share_of_each_reason(benchmark, tmp_path, capsys):
    few = [
        sample(0, 1.0, odd=True, refused="The chains do not agree on age."),
        sample(1, 1, odd=True),
    ]
    whole = sample(2, 1.0, odd=False) | {"quantities": [], "reason": "Groups hardly differ by …"}
    said = shown(benchmark, [*few, whole], tmp_path, capsys)
    assert "why          chains disagree on it 0.17, groups hardly differ 0.33" in said


def test_every_sentence_of_a_refusal_has_a_name(benchmark):
    names = set()
    heap = pl.when(pl.int_range(600) % 5 == 0).then(50_000).otherwise("income")
    heaped = simulated(600, 9).with_columns(income=heap).with_columns(pl.col("income").shuffle(1))
    for sentence in (
        *judging.Diagnosis(0.9, 0.9, 9.0).reasons(),
        *judging.before(Problem(open_release(published(heaped, 400)), "income")),
        correcting.NOT_REACHED,
        correcting.NOT_AGAIN,
        "The chains do not agree on age.",
        *judging.own_limits(pooled(), 0),
    ):
        names |= {*benchmark.reasons_of(sentence)}
    assert names == {*benchmark.REASONS}


def pooled() -> Any:
    return pool(np.array([[0.0], [9.0]]), np.array([[0.1], [0.1]]))


def test_one_estimate_is_timed(benchmark, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "SECONDS", {300: 60})
    benchmark.time_one(300)
    assert "300 rows:" in (said := capsys.readouterr().out)
    assert "s of processor time (at most 60)" in said


def test_readers_name_the_fullest_window(monkeypatch):
    monkeypatch.syspath_prepend(str(PLACE.parent))
    for name in ("estimate", "reader"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    reader = importlib.import_module("reader")
    random = np.random.default_rng(1)
    draws = random.integers(0, 30, (50, 9)).astype(float)
    begin = reader.best_windows(draws, 4)
    for line, first in zip(draws, begin, strict=True):
        inside = [((line >= one) & (line <= one + 4)).sum() for one in line]
        assert ((line >= first) & (line <= first + 4)).sum() == max(inside)
    own = np.full(50, 15.0)
    assert reader.right(begin, 4, own).tolist() == [one <= 15 <= one + 4 for one in begin]
    same = np.array([True, False, True])
    assert reader.difference(same, same) == "+0.0 ± 0.0 points"
    assert reader.difference(same, ~same).startswith("+33.3 ± 106.7")
    for name in ("estimate", "reader"):
        sys.modules.pop(name, None)
