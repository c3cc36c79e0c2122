"""A coarser release says its largest group size, and of a smaller one that it follows from that."""

from pathlib import Path

import polars as pl

import shoal
from shoal.web.released import Reader, coarser_promises


def test_smaller_group_sizes_come_last_and_are_said_to_follow(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": range(48), "pay": [n * 7 % 48 for n in range(48)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    finer = shoal.anonymize(frame, schema, require=["KAnonymity(k=3)", "DistinctL(l=2)"])
    finer.write(tmp_path / "finer")
    made = shoal.coarsen(tmp_path / "finer", require="KAnonymity(k=12)")
    said = coarser_promises(made.requirements, made.facts)
    assert ["follows from" in one for one in said] == [False, False, True]
    assert [f"1 in {k}" in "".join(said[:2]) for k in (12, 3)] == [True, False]
    assert "1 in 3" in said[2]
    known = Reader().coarsen(str(tmp_path / "finer"), str(tmp_path / "out"), 12)
    assert known["promises"] == [(one, True) for one in said]
    assert not any(
        "follows from" in one for one in coarser_promises(finer.requirements, {**made.facts})
    )
