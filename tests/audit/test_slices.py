"""A release in part files is audited slice by slice as it would be in one piece."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from parted import in_parts, with_digests
from shoal.audit import slices

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "intervals": ({}, "pay: EpsilonM(epsilon=20, m=2)", {}),
    "bounds": ({}, ["KAnonymity(k=3)", "mark: FrequencyL(l=2)"], {"form": "bounds"}),
    "means": ({}, "pay: EpsilonM(epsilon=20, m=2)", {"form": "means"}),
    "hierarchy": ({"hierarchies": {"age": "Bins(width=5)"}}, "mark: DistinctL(l=2)", {}),
    "scaled": ({}, "pay: Dissimilarity(epsilon=0.05, delta=0.5, k=4)", {}),
    "quantiles": (
        {},
        "pay: Dissimilarity(epsilon=0.4, delta=0.5, k=4, "
        "distance=Hierarchical(Quantiles(parts=8)))",
        {},
    ),
    "scaled people": ({"person": "who"}, "pay: Dissimilarity(epsilon=0.05, delta=0.5, k=4)", {}),
    "people": ({"person": "who"}, "pay: EpsilonM(epsilon=20, m=2)", {"suppress": "20%"}),
}


def people() -> pl.DataFrame:
    draw = np.random.default_rng(4)
    rows = 400
    return pl.DataFrame(
        {
            "age": draw.integers(17, 70, rows),
            "town": draw.choice(["Ulm", "Bonn", 'a "b"', "[x]"], rows),
            "pay": draw.integers(0, 500, rows),
            "mark": draw.choice(["1", "2", "7.5", "none"], rows, p=[0.4, 0.3, 0.25, 0.05]),
            "who": np.repeat(np.arange(200), 2),
        }
    )


@pytest.fixture(params=CASES)
def released(request, tmp_path) -> Path:
    said, require, how = CASES[request.param]
    roles = {"quasi": ["age", "town"], "sensitive": ["pay", "mark"]}
    schema = shoal.Schema(**(roles | said))
    release = shoal.anonymize(people(), schema, require=require, **how)
    release.write(tmp_path / "out", format="parquet")
    in_parts(tmp_path / "out")
    return tmp_path / "out"


def both(directory: Path, monkeypatch, **how: Any) -> tuple[shoal.Audit, shoal.Audit]:
    """Return the audit in one piece, and in slices of few rows."""
    whole = shoal.audit(directory, **how)
    calls = []
    measured = slices.audit_slice

    def watched(*told):
        calls.append(told)
        return measured(*told)

    with monkeypatch.context() as patched:
        patched.setattr(slices, "AT_ONCE", 60)
        patched.setattr(slices, "audit_slice", watched)
        sliced = shoal.audit(directory, **how)
    assert len(calls) > 3
    assert max(table.height for _, table in calls) < 200
    return whole, sliced


@pytest.mark.few(2)
def test_slices_measure_what_the_whole_does(released, monkeypatch):
    whole, sliced = both(released, monkeypatch)
    assert sliced.holds, sliced.complaints()
    assert whole.holds
    for name in ("rows", "groups", "people", "alone", "remarks", "warnings", "reading"):
        assert getattr(sliced, name) == getattr(whole, name), name
    assert sliced.measured() == whole.measured()
    assert sliced.statement() == whole.statement()
    assert sliced.alike is not None
    assert whole.alike is not None
    assert sorted(sliced.alike) == sorted(whole.alike)
    stricter = ["KAnonymity(k=40)", "mark: FrequencyL(l=9)"]
    if json.loads((released / "manifest.json").read_text()).get("people") is None:
        whole, sliced = both(released, monkeypatch, require=stricter)
        assert not sliced.holds
        assert sliced.measured() == whole.measured()


def spoiled_pay(parts: list[pl.DataFrame]) -> None:
    parts[2] = parts[2].with_columns(pl.col("pay").first())


def lost_rows(parts: list[pl.DataFrame]) -> None:
    parts[1] = parts[1][5:]


def moved_group(parts: list[pl.DataFrame]) -> None:
    parts[0] = parts[0].with_columns(pl.col("group") + 10**6)


SPOILED: dict[str, Callable[[list[pl.DataFrame]], None]] = {
    "values": spoiled_pay,
    "rows": lost_rows,
    "groups": moved_group,
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_is_wrong_in_one_part_is_found_in_slices_too(name, tmp_path, monkeypatch):
    schema = shoal.Schema(quasi=["age", "town"], sensitive=["pay", "mark"])
    release = shoal.anonymize(people(), schema, require="pay: EpsilonM(epsilon=20, m=2)")
    release.write(tmp_path / "out", format="parquet")
    in_parts(tmp_path / "out")
    paths = sorted((tmp_path / "out" / "release.parquet").iterdir())
    parts = [pl.read_parquet(path) for path in paths]
    SPOILED[name](parts)
    for path, part in zip(paths, parts, strict=True):
        part.write_parquet(path)
    assert not shoal.audit(tmp_path / "out").holds  # by its digests alone
    with_digests(tmp_path / "out")
    whole, sliced = both(tmp_path / "out", monkeypatch)
    assert not whole.holds
    assert not sliced.holds
    assert sliced.measured() == whole.measured()


def test_parts_with_other_columns_are_no_one_table(tmp_path, monkeypatch):
    schema = shoal.Schema(quasi=["age", "town"], sensitive=["pay", "mark"])
    shoal.anonymize(people(), schema, require="KAnonymity(k=3)").write(
        tmp_path / "out", format="parquet"
    )
    in_parts(tmp_path / "out")
    path = max((tmp_path / "out" / "release.parquet").iterdir())
    table = pl.read_parquet(path)
    for spoiled in (table.rename({"pay": "wage"}), table.cast({"pay": pl.Int8}, strict=False)):
        spoiled.write_parquet(path)
        with_digests(tmp_path / "out")
        for at_once in (10**6, 60):
            monkeypatch.setattr(slices, "AT_ONCE", at_once)
            with pytest.raises(shoal.InputError, match=r"other columns than .* their types"):
                shoal.audit(tmp_path / "out")


@pytest.mark.few(1)
@pytest.mark.parametrize("at_once", [10**6, 60])
def test_a_part_that_is_not_whole_is_named(at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "AT_ONCE", at_once)
    schema = shoal.Schema(quasi=["age", "town"], sensitive=["pay", "mark"])
    shoal.anonymize(people(), schema, require="KAnonymity(k=3)").write(
        tmp_path / "out", format="parquet"
    )
    in_parts(tmp_path / "out")
    path = max((tmp_path / "out" / "release.parquet").iterdir())
    whole = path.read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")  # of the cells
    for spoiled in (whole[:-100], whole[:1], b"", whole[:4] + bytes(end - 4) + whole[end:]):
        path.write_bytes(spoiled)
        found = shoal.audit(tmp_path / "out")
        assert not found.holds
        assert f"'release.parquet/{path.name}' is not the one" in found.complaints()[0]
        with_digests(tmp_path / "out")
        with pytest.raises(shoal.InputError, match=path.name):
            shoal.audit(tmp_path / "out")
        with pytest.raises(shoal.InputError, match=path.name):
            shoal.count(tmp_path / "out", "pay > 100 and age > 30 and town == 'Ulm'")
        path.write_bytes(whole)
        with_digests(tmp_path / "out")
    path.unlink()
    with pytest.raises(shoal.AuditFailed, match=f"release.parquet/{path.name}' is missing"):
        shoal.count(tmp_path / "out", "pay > 100")
