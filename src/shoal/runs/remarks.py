"""What the owner should know before publishing, as data: each view says it in its own way.

A report counts rows, or with a person column people, before and after publication.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import option, spell
from shoal.exact import percent
from shoal.principles.groups import NOTHING
from shoal.sampling import draw
from shoal.table.grid import REGIONS
from shoal.table.schema import PSEUDONYM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.inspection.whom import Advice
    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Suppression
    from shoal.release.manifest import Manifest
    from shoal.runs.release import Release
    from shoal.runs.spread import SpreadRelease
    from shoal.table.schema import Schema

    Codes = Mapping[str, NDArray[np.int32]]


@dataclass(frozen=True)
class Remark:
    """A sentence about a run, its options named as data; `warning` where something may be wrong.

    `roles` says that owners who gave every column its role know it already.
    """

    sentence: str
    warning: bool = False
    roles: bool = False

    def __str__(self) -> str:
        return spell(self.sentence)


LIKELY = 2  # how strongly a name has to speak of people: an id will do, a household will not

Tell = Callable[[Remark], None]


def unheard(_remark: Remark) -> None:
    """Say nothing."""


def about_columns(columns: Sequence[str], schema: Schema) -> Iterator[Remark]:
    """Name the columns that have no role."""
    dropped = [name for name in columns if schema.role(name) is None]
    if dropped:
        yield Remark(f"Not published (no role assigned): {', '.join(dropped)}.", roles=True)


class AlsoPeople(list[str]):
    """Names of columns, and with them every name that may be of whom rows are about."""

    def __contains__(self, name: object) -> bool:
        """Return whether a column is one of them, or may say whom rows are about."""
        if super().__contains__(name) or not isinstance(name, str):
            return super().__contains__(name)
        from shoal.inspection.whom import may_say_whom

        return may_say_whom(name)


def about_whom(table: pl.DataFrame, schema: Schema) -> Iterator[Remark]:
    """Warn where a column that is not published seems to repeat because people have several rows.

    Where no name of a column says so, of what the owner calls identifying the best is asked about.
    """
    if schema.person is not None or len(table) < 2:
        return
    asked: dict[str, Advice] = {}
    told = False
    for name in table.columns:
        role, column = schema.role(name), table[name]
        if role not in {None, "identifying", PSEUDONYM}:
            continue
        if column.dtype.is_float() or column.dtype.is_nested() or column.dtype == pl.Null:
            continue
        from shoal.inspection.whom import asks_whom, whom_rows_are_about

        filled = len(column) - column.null_count()
        found = whom_rows_are_about(name, column.drop_nulls().n_unique(), filled)
        if found is not None and found.strength >= LIKELY:
            told = True
            yield Remark(
                "The guarantee counts rows, but several rows seem to be about one person: column "
                f"{name!r} has {found.why.partition(':')[0]}. To count people instead, set "
                f"{option('person', name)}.",
                warning=True,
            )
        elif role == "identifying":
            counts = column.drop_nulls().cast(pl.String).alias(name).value_counts(name="#rows")
            advice = asks_whom(name, counts[name], counts["#rows"].to_numpy().astype(np.int64))
            asked |= {name: advice} if advice else {}
    if asked:
        from shoal.inspection.whom import numbers_each

        numbered = filter(numbers_each, table.columns)
        each = any(table[name].n_unique() == len(table) for name in numbered)
        asked = {name: one for name, one in asked.items() if one.strength > 1 or not each}
    if asked and not told:
        name, best = max(asked.items(), key=lambda one: one[1].strength)
        repeats = str(best.question).partition(":")[0]
        yield Remark(
            f"The guarantee counts rows. Column {name!r} has {repeats}. If one person can have "
            f"several rows, set {option('person', name)}, or better a column with a number for "
            "each person.",
            warning=True,
        )


def about_names(header: Sequence[str], schema: Schema) -> Iterator[Remark]:
    """Ask whether rows are about people, where names of columns are known and no cells."""
    if schema.person is not None:
        return
    for name in header:
        if schema.role(name) not in {None, "identifying"}:
            continue
        from shoal.inspection.whom import names_people

        if names_people(name):
            yield Remark(
                f"The guarantee counts rows. Column {name!r} may identify the person behind a "
                f"row. If one person can have several rows, set {option('person', name)}.",
                warning=True,
            )


def about_release(
    release: Release, *, named: bool, escaped: bool, seed: int | None
) -> Iterator[Remark]:
    """Say what the owner should know of a release; `named`: whether its method was asked for."""
    method, rows = release.manifest.method, len(release.coded)
    from shoal.methods.choice import why

    reason = why(method, rows, release.requirements, release.form, release.coded.cells)
    if (first := release.settings.get("instead_of")) is not None:
        yield Remark(
            f"By {release.manifest.method}, which lost least of the methods that finished in "
            f"the given time. With more time, {first} loses less."
        )
    elif reason is not None and not named:
        yield Remark(reason)
    if seed is not None:
        yield Remark(
            "This release was made with a seed, so a reader can work out the order of "
            "rows. Use it for testing only.",
            warning=True,
        )
    yield from about_review(release.manifest)
    if release.schema.pseudonymize:
        from shoal.runs.keyed import about_keys
        from shoal.table.pseudonyms import warning

        yield Remark(warning(release.schema.pseudonymize), warning=True)
        yield from about_keys(release)
    yield from about_required(release.requirements, release.schema, release.manifest.groups)
    yield from _about_bounds(release)
    places = draw(rows, LOOKED_AT).places
    asked = {name for one in release.requirements for name in one.columns}
    quasi, protected = release.coded.quasi, release.coded.sensitive
    yield from about_telling(
        {one.name: one.codes[places] for one in quasi},
        {one.name: one.codes[places] for one in protected if one.name in asked},
    )
    for column in (*release.coded.quasi, *release.coded.sensitive):
        if not column.numeric:
            counts = np.bincount(column.codes, minlength=column.distinct)
            yield from about_labels(column.name, column.spellings, counts)
    yield from _about_rows(release, escaped=escaped)


def about_spread(release: SpreadRelease) -> Iterator[Remark]:
    """Say what the owner should know of a release by Spark."""
    rows, people = release.manifest.rows, release.manifest.people
    yield from about_review(release.manifest)
    yield from about_required(release.requirements, release.schema, release.manifest.groups)
    yield from release.of_cells
    yield from about_left_out(release.suppression, rows, people, release.facts["dropped"])


def about_review(manifest: Manifest) -> Iterator[Remark]:
    """Say that a release should have been reviewed by now."""
    review = manifest.context.get("review_date", "")
    if review and date.fromisoformat(review) < date.today():  # noqa: DTZ011 - where the owner is
        yield Remark(f"The date of review, {review}, has passed.", warning=True)


def about_required(
    asked: Sequence[Requirement], schema: Schema, groups: int | None
) -> Iterator[Remark]:
    """Say what the requirements leave open, and where they leave nothing of the quasi columns."""
    for one in asked:
        if not one.binds and not one.principle.population:
            yield Remark(NOTHING.format(one), warning=True)
        if len(one.columns) > 1 and not one.named:
            yield Remark(
                f"{one!r} treats {' and '.join(one.columns)} together as one value and does not "
                f"protect either alone. To protect each, require '{one.columns[0]}: {one!r}' "
                "and so on.",
                warning=True,
            )
    covered = {name for one in asked for name in one.columns}
    bare = [name for name in chain(*schema.protected) if name not in covered]
    if covered and bare:
        it, was = ("it", "It is") if len(bare) == 1 else ("them", "They are")
        yield Remark(
            f"No requirement protects {', '.join(bare)}. {was} marked as sensitive, so readers "
            f"learn whatever the groups show of {it}.",
            warning=True,
        )
    if groups == 1:
        yield Remark(
            "All rows are in one group, so the quasi-identifiers show nothing any more. "
            "Require less; `shoal tune` shows where this begins.",
            warning=True,
        )


def _about_bounds(release: Release) -> Iterator[Remark]:
    """Say which columns have regions that end at somebody's values, for want of public bounds."""
    if release.coded.cells != REGIONS:
        return
    bare = [
        repr(column.name)
        for column in release.coded.quasi
        if column.numeric and column.bounds is None and column.name not in release.schema.never_mix
    ]
    if bare:
        yield Remark(
            f"No bounds are given for {', '.join(bare)}, so the outermost regions end at the "
            "smallest and the largest published value, which are values of people. State in "
            "the schema file which values are possible, for example bounds = [0, 120] under "
            "[columns.age].",
            warning=True,
        )


LOOKED_AT = 100_000  # that are looked at, drawn at random from more
OFTEN = 5  # rows that a value must have to say what goes with it
RULED_OUT = Fraction(9, 10)  # of the wrong guesses have to be right with the other column


def follows(known: NDArray[np.int32], guessed: NDArray[np.int32]) -> Fraction | None:
    """Return how often the value of a row follows from another column's, None where it does not.

    Whoever knows nothing guesses the most frequent value; whoever knows the other column, the most
    frequent one beside it. It follows where nine in ten of the wrong guesses become right: Goodman
    and Kruskal's lambda (1954), over the values of the other column that five rows have.
    """
    counts = np.bincount(known)
    there = counts[known] >= OFTEN
    rows = int(there.sum())
    if 2 * rows < len(known):
        return None
    values = int(guessed.max()) + 1
    pairs, sizes = np.unique(known[there] * np.int64(values) + guessed[there], return_counts=True)
    largest = np.zeros(len(counts), np.int64)
    np.maximum.at(largest, pairs // values, sizes)
    right, alone = int(largest.sum()), int(np.bincount(guessed[there]).max())
    if alone == rows or Fraction(right - alone, rows - alone) < RULED_OUT:
        return None
    return Fraction(right, rows)


def about_telling(known: Codes, guessed: Codes) -> Iterator[Remark]:
    """Warn of columns marked as known that tell a protected one: no requirement can mend that.

    Each is some rows of a column, as codes under its name.
    """
    for (one, codes), (other, told) in product(known.items(), guessed.items()):
        share = follows(codes, told)
        if share is not None:
            yield Remark(
                f"{one!r} alone determines {other!r} in {percent(share)} of the rows whose {one!r} "
                "is not rare. A reader who knows the first of a person can infer the second in any "
                "group, and no requirement prevents this. Protect the first too, with "
                f"{option('sensitive', one)}, or leave it out.",
                warning=True,
            )


def about_labels(name: str, labels: pl.Series, counts: NDArray[np.int64]) -> Iterator[Remark]:
    """Say which labels of a column only look like one value, by how many rows have each."""
    from shoal.inspection.suspect import look_alikes

    found = look_alikes(labels, counts)
    if found is not None:
        rows = int(counts[found.which].sum())
        yield Remark(
            f"{found.text} in {name!r} ({rows:,} rows). Shoal counts each spelling as a value "
            "of its own, so a group with several spellings seems more diverse than it is. Use "
            "one spelling for each value.",
            warning=True,
        )


def about_left_out(
    suppression: Suppression, rows: int, people: int | None, dropped: int
) -> Iterator[Remark]:
    """Say which rows are missing beside so many that are published."""
    if sentence := str(suppression):
        yield Remark(sentence)
    if warning := suppression.out_of_step(rows, people):
        yield Remark(warning, warning=True)
    if dropped:
        yield Remark(f"Excluded {dropped} rows because they have missing values.")


def _about_rows(release: Release, *, escaped: bool) -> Iterator[Remark]:
    """Say which rows are missing, and which cells a spreadsheet would run."""
    rows, people = len(release.coded), release.manifest.people
    yield from about_left_out(release.suppression, rows, people, release.facts["dropped"])
    if release.formulas and escaped:
        yield Remark(
            f"Put an apostrophe before {release.formulas} cells that a spreadsheet would run as "
            "formulas."
        )
    elif release.formulas:
        yield Remark(
            f"{release.formulas} cells, headers included, begin with = + - @, a tab or a "
            "carriage return, so a spreadsheet would run them as formulas. To prevent this, "
            f"use {option('escape_formulas')}.",
            warning=True,
        )
