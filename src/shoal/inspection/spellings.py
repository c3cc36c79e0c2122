"""Labels that a reader takes for one another and a program does not: `flu`, `Flu` and `flu `.

Each counts as a value of its own, so a group that holds both seems to have two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from shoal.inspection.infer import CONFUSABLE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABELS = 50_000  # distinct cells up to which they are compared with one another
SHOWN = 3


@dataclass(frozen=True, eq=False)
class LookAlikes:
    """How many labels have several spellings, which these are, and those that may be shown."""

    labels: int
    which: NDArray[np.bool_]  # of the distinct cells
    shown: tuple[str, ...]

    @property
    def text(self) -> str:
        """Say how many there are; only labels that several people share are repeated."""
        shown = ", as " + ", ".join(map(repr, self.shown)) if len(self.shown) > 1 else ""
        noun = "label has" if self.labels == 1 else "labels have"
        return f"{self.labels:,} {noun} several spellings that look alike{shown}"


def look_alikes(cells: pl.Series, counts: NDArray[np.int64]) -> LookAlikes | None:
    """Look among distinct labels, that so many rows carry each, for several spellings of one."""
    if len(cells) > LABELS:
        return None
    alike = (
        pl.DataFrame({"label": cells, "folded": folded(cells), "count": counts})
        .filter(pl.col("folded").is_duplicated())
        .sort("folded", "label")
    )
    if not alike.height:
        return None
    which = cells.is_in(alike["label"].implode()).to_numpy()
    shared = alike.filter(pl.col("count") > 1)["label"][:SHOWN]
    return LookAlikes(alike["folded"].n_unique(), which, tuple(shared))


def folded(labels: pl.Series) -> pl.Series:
    """Return labels without what a reader overlooks: case, white space, letters that look alike."""
    plain = (
        labels.str.normalize("NFKC")
        .str.to_lowercase()
        .str.strip_chars()
        .str.replace_all(r"[\s_\x{200b}\x{00ad}]+", " ")
    )
    if labels.str.len_bytes().eq(labels.str.len_chars()).all():
        return plain
    return plain.str.replace_many(CONFUSABLE)
