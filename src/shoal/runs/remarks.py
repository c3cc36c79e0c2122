"""What the owner should know before publishing, as data: each view says it in its own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.inspection.spellings import look_alikes
from shoal.methods.choice import why
from shoal.table.pseudonyms import warning
from shoal.wording import option, spell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shoal.runs.release import Release
    from shoal.table.schema import Schema


@dataclass(frozen=True)
class Remark:
    """A sentence about a run, its options named as data; `warning` where something may be amiss."""

    sentence: str
    warning: bool = False

    def __str__(self) -> str:
        return spell(self.sentence)


Tell = Callable[[Remark], None]


def unheard(_remark: Remark) -> None:
    """Say nothing."""


def about_columns(columns: Sequence[str], schema: Schema) -> Iterator[Remark]:
    """Name the columns that have no role."""
    dropped = [name for name in columns if schema.role(name) is None]
    if dropped:
        yield Remark(f"Dropped, because nothing gives them a role: {', '.join(dropped)}.")


def about_release(
    release: Release, *, named: bool, escaped: bool, seed: int | None
) -> Iterator[Remark]:
    """Say what the owner should know of a release; `named`: whether its method was asked for."""
    reason = why(release.manifest["method"], len(release.coded), release.requirements)
    if (first := release.settings.get("instead_of")) is not None:
        yield Remark(
            f"By {release.manifest['method']}, which lost least of what was found in the time that "
            f"was given; with more of it, {first} loses less."
        )
    elif reason is not None and not named:
        yield Remark(reason)
    if seed is not None:
        yield Remark(
            "made with a seed, so the order of rows can be worked out. For testing only.",
            warning=True,
        )
    if release.schema.pseudonymize:
        yield Remark(warning(release.schema.pseudonymize), warning=True)
    for one in release.requirements:
        if len(one.columns) > 1 and not one.named:
            yield Remark(
                f"{one!r} speaks of {' and '.join(one.columns)} together, as one value, and not of "
                f"either alone. To protect each, ask for '{one.columns[0]}: {one!r}' and so on.",
                warning=True,
            )
    if release.manifest["groups"] == 1:
        yield Remark(
            "all rows are in one group, so the quasi columns tell nothing any more. Ask for less, "
            "or see with `shoal tune` where that begins.",
            warning=True,
        )
    yield from _about_labels(release)
    yield from _about_rows(release, escaped=escaped)


def _about_labels(release: Release) -> Iterator[Remark]:
    """Say which columns have labels that only look like one value."""
    for column in (*release.coded.quasi, *release.coded.sensitive):
        if column.numeric:
            continue
        counts = np.bincount(column.codes, minlength=column.distinct)
        found = look_alikes(column.spellings, counts)
        if found is not None:
            rows = int(counts[found.which].sum())
            yield Remark(
                f"{found.text} in {column.name!r} ({rows:,} rows). Each spelling counts as a value "
                "of its own, and a group that holds several seems more diverse than it is. Make "
                "them one first.",
                warning=True,
            )


def _about_rows(release: Release, *, escaped: bool) -> Iterator[Remark]:
    """Say which rows are missing, and which cells a spreadsheet would run."""
    suppression = release.suppression
    if sentence := str(suppression):
        yield Remark(sentence)
    if warning := suppression.out_of_step(len(release.coded), release.manifest.get("people")):
        yield Remark(warning, warning=True)
    if dropped := release.manifest["dropped"]:
        yield Remark(f"Left out {dropped} rows with missing cells.")
    if release.formulas and escaped:
        yield Remark(f"Escaped {release.formulas} cells that a spreadsheet would run.")
    elif release.formulas:
        yield Remark(
            f"{release.formulas} cells, headers included, begin with = + - @, a tab or a carriage "
            f"return, and a spreadsheet would run them as formulas. Use {option('escape_formulas')}"
            " to defuse them.",
            warning=True,
        )
