"""The audit of several releases: each alone, and what they say of each other.

From the public files alone. A release of a series holds the digest of the manifest before: groups
live unchanged or are gone, and no number is used again. A coarser release holds the digest of the
finer one's manifest: its groups are unions of the finer ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.nesting import not_nested
from shoal.audit.published import read_spelled
from shoal.audit.tables import digest_of, read_manifest
from shoal.audit.verdict import BROKEN, HOLDS, OPEN
from shoal.errors import InputError, UsageError
from shoal.progress import Brief
from shoal.release.ledger import read_ledger
from shoal.release.manifest import MANIFEST
from shoal.table.schema import PERSON, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.audit.published import Published
    from shoal.audit.verify import Audit
    from shoal.release.manifest import Manifest

# What is said of a column and stays the same in all releases of a series.
LASTING = (
    *("name", "role", "kind", "hierarchy", "type", "never_mix"),
    *("date_format", "round", "bottom", "top"),
)


@dataclass(frozen=True, eq=False)
class Part:
    """One release among several, as it was read."""

    name: str
    manifest: Manifest
    digest: str
    audit: Audit
    directory: Path

    @classmethod
    def of(cls, directory: Path, measure: Callable[[Path], Audit]) -> Part:
        """Read and audit a release."""
        manifest = read_manifest(directory)
        digest = digest_of(directory / MANIFEST)
        return cls(directory.name, manifest, digest, measure(directory), directory)

    @cached_property
    def published(self) -> Published:
        """The published tables, or raise."""
        return read_spelled(self.directory, self.manifest)

    @property
    def table(self) -> pl.DataFrame:
        """The published table; where there are two, boxes beside values."""
        return self.published.table

    @cached_property
    def groups(self) -> dict[int, tuple[tuple[Any, ...], ...]]:
        """The rows of each group but for `real`, sorted, so that equal groups are equal."""
        return group_rows(self.published)

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The number of rows of each group."""
        return dict(self.table.group_by(pl.col(RESERVED).cast(pl.Int64)).len().iter_rows())

    @cached_property
    def real(self) -> dict[int, list[int]]:
        """The numbers of real people that rows of each group state, in every table."""
        parts = [one for one in (self.table, self.published.people) if one is not None]
        every = pl.concat([part.select(pl.col(RESERVED, REAL).cast(pl.String)) for part in parts])
        by = every.group_by(pl.col(RESERVED).cast(pl.Int64)).agg(
            pl.col(REAL).cast(pl.Int64, strict=False).unique()
        )
        return dict(by.iter_rows())


def group_rows(published: Published) -> dict[int, tuple[tuple[Any, ...], ...]]:
    """Return the rows of each group, sorted, of people too where they stand apart.

    Numbers that are drawn anew are left out.
    """
    rows = _group_rows(published.table)
    if published.people is None:
        return rows
    people = _group_rows(published.people)
    return {group: (*some, *people.get(group, ())) for group, some in rows.items()}


def _group_rows(table: pl.DataFrame) -> dict[int, tuple[tuple[Any, ...], ...]]:
    columns = [name for name in table.columns if name not in {RESERVED, REAL, PERSON}]
    rows = table.select(
        pl.col(RESERVED).cast(pl.Int64),
        pl.struct(pl.col(columns).cast(pl.String).fill_null("")).alias("row"),
    )
    by = rows.group_by(RESERVED).agg("row")
    return {
        group: tuple(sorted(tuple(row.values()) for row in some)) for group, some in by.iter_rows()
    }


@dataclass(frozen=True, eq=False, repr=False)
class SeriesAudit(Brief):
    """What was measured on each of several releases, and what is wrong between them."""

    _brief = ("parts", "holds", "verdict")

    parts: tuple[Part, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every release holds and they fit together."""
        return not self.problems and all(part.audit.holds for part in self.parts)

    @property
    def verdict(self) -> str:
        """The worst verdict of any of them; broken where they do not fit together."""
        if not self.holds:
            return BROKEN
        return OPEN if any(part.audit.verdict == OPEN for part in self.parts) else HOLDS

    def complaints(self) -> list[str]:
        """Return a sentence for everything that does not hold."""
        alone = [f"{p.name}: {said}" for p in self.parts for said in p.audit.complaints()]
        return alone + list(self.problems)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, like the JSON of the command."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "releases": [{"release": p.name} | p.audit.to_dict() for p in self.parts],
            "problems": list(self.problems),
            "warnings": list(self.warnings),
        }


def audit_several(
    releases: Sequence[str | Path],
    measure: Callable[[Path], Audit],
    ledger: str | Path | None = None,
) -> SeriesAudit:
    """Audit several releases, each of which is measured by `measure`."""
    for one in releases:
        if not Path(one).is_dir():
            msg = (
                f"{Path(one).name!r} is not a release directory. Only release directories can "
                "be audited together."
            )
            raise UsageError(msg)
    parts = [Part.of(Path(one), measure) for one in releases]
    problems: list[str] = []
    warnings: list[str] = []
    if all(map(_readable, parts)):
        _together(parts, problems, warnings)
        if ledger is not None:
            problems += read_ledger(ledger).disagreements(
                [(part.name, part.digest, part.groups, part.real) for part in parts]
            )
    return SeriesAudit(tuple(parts), tuple(problems), tuple(warnings))


def _readable(part: Part) -> bool:
    """Return whether a table can be compared with others; what is wrong with it is told anyway."""
    try:
        names = part.table.columns
    except InputError:
        return False
    stated = [column.name for column in part.manifest.columns]
    first = [RESERVED, *part.manifest.own_columns]
    return names[: len(first)] == first and set(stated) <= set(names)


def _together(parts: list[Part], problems: list[str], warnings: list[str]) -> None:
    """See what releases say of each other."""
    series = [part for part in parts if part.manifest.in_series]
    if len(series) > 1:
        _check_series(series, problems, warnings)
    elif series and series[0].manifest.previous is not None:
        warnings.append(f"{series[0].name}: the release before it was not given.")
    known = {part.digest: part for part in parts}
    for part in parts:
        if part.manifest.coarsened_from is not None:
            finer = known.get(part.manifest.coarsened_from)
            if finer is None:
                problems.append(
                    f"{part.name}: the release that it was made from is not among these."
                )
            else:
                _check_nesting(finer, part, problems, warnings)
    linked = {part.digest for part in series} if len(series) > 1 else set()
    for part in parts:
        if finer_of(part) in known:
            linked |= {part.digest, finer_of(part)}
    warnings += [
        f"{part.name}: it is not linked to the others, so Shoal audited it alone. To measure "
        "what it reveals together with them, use shoal attack."
        for part in parts
        if part.digest not in linked
    ]


def finer_of(part: Part) -> str:
    """Return the digest of the release that one was made from, if any."""
    return part.manifest.coarsened_from or ""


def _check_nesting(finer: Part, coarser: Part, problems: list[str], warnings: list[str]) -> None:
    wrong, unknown = not_nested(finer.published, coarser.published)
    lacking = [one for one in finer.manifest.require if one not in coarser.manifest.require]
    if lacking:
        wrong.append(f"It lacks a requirement of the finer release: {', '.join(lacking)}.")
    problems += [f"{coarser.name}: {said}" for said in wrong]
    warnings += [f"{coarser.name}: {said}" for said in unknown]


def _check_series(series: list[Part], problems: list[str], warnings: list[str]) -> None:
    """Check every release of a series against those before it."""
    first = series[0]
    if first.manifest.previous is not None:
        warnings.append(f"{first.name}: the release before it was not given.")
    used: set[int] = set()
    for place, part in enumerate(series):
        if place:
            before = series[place - 1]
            problems += [f"{part.name}: {said}" for said in _wrong_after(before, part, used)]
        used |= set(part.groups)


def _wrong_after(before: Part, part: Part, used: set[int]) -> list[str]:
    """Return what is wrong with a release after another, and after all whose groups were used."""
    wrong = []
    if part.manifest.previous != before.digest:
        wrong.append(
            f"It does not follow {before.name}: it names another manifest as the one before."
        )
    wrong += [
        f"Its {key!r} is not that of {before.name}."
        for key in ("require", "form", "decimal")
        if getattr(part.manifest, key) != getattr(before.manifest, key)
    ]
    roles = [
        [[getattr(c, key) for key in LASTING] for c in p.manifest.columns] for p in (before, part)
    ]
    if roles[0] != roles[1]:
        wrong.append(f"Its columns are not those of {before.name}.")
    firsts = [[one.first for one in p.manifest.births] for p in (before, part)]
    if firsts[0] != firsts[1][: len(firsts[0])]:
        wrong.append(f"It and {before.name} disagree about the rounds that groups began in.")
    lived = before.groups.keys() & part.groups.keys()
    changed = [group for group in lived if before.groups[group] != part.groups[group]]
    if changed:
        wrong.append(f"{len(changed)} groups have changed since {before.name}.")
    again = [group for group in part.groups if group in used and group not in before.groups]
    if again:
        wrong.append(f"{len(again)} groups have the number of a group that was removed earlier.")
    born = [group for group in part.groups if group not in used]
    partly = [g for g in born if part.real[g] != [part.sizes[g]]]
    if partly:
        wrong.append(f"{len(partly)} new groups contain placeholders.")
    return wrong
