"""What rows are worth, and what attackers gain: the same measures for every system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import shoal
from shoal.audit.controlled import Sides, against_controls
from shoal.audit.published import open_published

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

QUERIES = 300
LEAST = 0.001  # of the rows: by how much errors of small counts are divided at least


@dataclass(frozen=True, eq=False)
class Case:
    """A table of whole numbers; `bounds` and `bins` are public."""

    name: str
    table: pl.DataFrame
    quasi: list[str]
    sensitive: str
    epsilon: int
    bounds: dict[str, list[int]]
    bins: dict[str, int]

    def drawn(self, seed: int, rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return members, and twice as many controls."""
        table = self.table.sample(3 * rows, shuffle=True, seed=seed)
        return table[:rows], table[rows:]

    def said(self) -> dict[str, Any]:
        """Return what a system is told."""
        return {name: getattr(self, name) for name in CASE}


CASE = ("quasi", "sensitive", "epsilon", "bounds", "bins")


def errors(
    case: Case, members: pl.DataFrame, rows: pl.DataFrame, others: pl.DataFrame, best: float
) -> dict:
    """Return the errors of rows: of counts, of a regression and of a classifier.

    `best` is how well a classifier does that learns from the members.
    """
    return {
        "counts": counts_error(case, members, rows),
        "regression": regression_error(case, members, rows),
        "classifier": best - auc(case, rows, others, members),
    }


def counts_error(case: Case, members: pl.DataFrame, rows: pl.DataFrame) -> float:
    """Return the median relative error of counts over ranges of two quasi columns and the value.

    Every range holds about half of its column, so a query about an eighth of the table.
    """
    random = np.random.default_rng(0)
    exact = {name: members[name].to_numpy() for name in members.columns}
    found = []
    for _ in range(QUERIES):
        names = [*random.choice(case.quasi, 2, replace=False), case.sensitive]
        begins = random.uniform(0, 0.5, 3)
        ranges = [
            (name, *np.quantile(exact[name], [at, at + 0.5]))
            for name, at in zip(names, begins, strict=True)
        ]
        true, guess = (_inside(table, ranges) for table in (members, rows))
        found.append(abs(guess - true) / max(true, LEAST))
    return float(np.median(found))


def _inside(table: pl.DataFrame, ranges: list) -> float:
    return float(
        table.select(
            pl.all_horizontal(pl.col(name).is_between(low, high) for name, low, high in ranges)
        )
        .to_series()
        .mean()  # type: ignore[arg-type]
    )


def regression_error(case: Case, members: pl.DataFrame, rows: pl.DataFrame) -> float:
    """Return how far the slopes of the log of the value are off, relative to the true ones."""
    centre, spread = (getattr(members.select(case.quasi).to_numpy(), one)(axis=0)
                      for one in ("mean", "std"))  # fmt: skip

    def slopes(table: pl.DataFrame) -> NDArray:
        design = (table.select(case.quasi).to_numpy() - centre) / spread
        design = np.column_stack([np.ones(len(design)), design])
        value = np.log(np.maximum(table[case.sensitive].to_numpy(), 1))
        return np.linalg.lstsq(design, value, rcond=None)[0][1:]

    true = slopes(members)
    return float(np.linalg.norm(slopes(rows) - true) / np.linalg.norm(true))


def auc(case: Case, rows: pl.DataFrame, others: pl.DataFrame, members: pl.DataFrame) -> float:
    """Return how well a classifier trained on rows names who of other people is above the median.

    The area under the curve; 0.5 is guessing.
    """
    middle = members[case.sensitive].median()
    above = (rows[case.sensitive] > middle).to_numpy()
    if above.all() or not above.any():
        return 0.5
    model = HistGradientBoostingClassifier(max_iter=60, max_depth=4, random_state=0)
    model.fit(rows.select(case.quasi).to_numpy(), above)
    told = model.predict_proba(others.select(case.quasi).to_numpy())[:, 1]
    return float(roc_auc_score((others[case.sensitive] > middle).to_numpy(), told))


def attacks(
    case: Case, members: pl.DataFrame, controls: pl.DataFrame, target: Path, seed: int
) -> dict[str, dict]:
    """Return what Shoal's attacks reach on members and controls, against what is published."""
    schema = shoal.Schema(quasi=case.quasi, sensitive=case.sensitive)
    cells = target.with_suffix(".cells.csv")
    if target.with_suffix("").is_dir():
        release = open_published(target.with_suffix(""))
    else:
        release = open_published(cells if cells.exists() else target, schema)
    sides = Sides.of(release, members, controls, None)
    found = against_controls(sides, {case.sensitive: [case.epsilon]}, seed)
    return {
        one.attack: {
            "members": one.members.share,
            "controls": None if one.controls is None else one.controls.share,
        }
        for one in found
    }
