"""What was left out of a release and what that paid back, for its owner alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suppression:
    """How many rows were left out, and why.

    Attributes
    ----------
    in_the_way : rows without which a requirement could not hold or was not reached.
    costly : rows left out because the others lose less without them.
    before, after : GCP without and with leaving out the costly ones; 0 where nothing might be left
        out. Every cell of a row left out counts as 1, and ranges and labels are those of what is
        published in the end, in both; so `after` is the GCP of the manifest.
    """

    in_the_way: int = 0
    costly: int = 0
    before: float = 0.0
    after: float = 0.0

    @property
    def rows(self) -> int:
        """How many rows were left out."""
        return self.in_the_way + self.costly

    def __str__(self) -> str:
        """Say it to the owner."""
        sentences = []
        if self.in_the_way:
            sentences.append(f"Suppressed {_rows(self.in_the_way)} that stood in the way.")
        if self.costly:
            sentences.append(
                f"Suppressed {_rows(self.costly)} that cost the others more: GCP {self.before:.4f} "
                f"before, {self.after:.4f} after, both by the ranges that are published."
            )
        return " ".join(sentences)


def _rows(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"
