"""Labels in an order that was given: how hierarchies gather them, and who can say so afterwards."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal

SIZES = ["tiny", "small", "medium", "large", "huge"]  # not the order of the alphabet


def _table(seed: int, rows: int) -> pl.DataFrame:
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "size": [chance.choice(SIZES) for _ in range(rows)],
            "age": [chance.randint(20, 40) for _ in range(rows)],
            "pay": list(range(rows)),
        }
    )


def _schema(**more: Any) -> shoal.Schema:
    return shoal.Schema(
        quasi=["size", "age"], sensitive="pay", hierarchies={"size": "Grouped(size=2)"}, **more
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("said", ["schema", "categories"])
def test_a_hierarchy_gathers_labels_in_their_order(tmp_path: Path, said: str) -> None:
    position = {label: place for place, label in enumerate(SIZES)}
    for seed in range(8):
        table = _table(seed, rows=14)
        if said == "categories":
            table = table.with_columns(pl.col("size").cast(pl.Enum(SIZES)))
        schema = _schema() if said == "categories" else _schema(order={"size": SIZES})
        release = shoal.anonymize(table, schema, require="KAnonymity(k=2)")
        runs = [cell for cell in release.table["size"].unique() if ".." in cell]
        for low, high in (cell.split("..") for cell in runs):
            assert position[low] < position[high]
        release.write(tmp_path / "out", force=True)
        assert shoal.audit(tmp_path / "out").holds


@pytest.mark.parametrize("require", ["KMap(k=3)", "DeltaPresence(high=0.9)"])
def test_a_population_needs_nodes_whose_names_tell_whom_they_cover(require: str) -> None:
    """The order is not published, so an audit could not count a population under such a node."""
    table = _table(1, rows=12)
    with pytest.raises(shoal.InputError, match="List the hierarchy"):
        shoal.anonymize(
            table,
            _schema(order={"size": SIZES}),
            require=require,
            population=pl.concat([table, table]),
        )
