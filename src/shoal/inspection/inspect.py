"""What a table is: per column its type, its values, a role to give it, and what looks wrong.

The table's owner reads it. Of the cells it repeats the range of numbers and dates, labels that
many rows share, and otherwise a pattern with letters and digits masked.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.inspection.advise import advise, to_protect
from shoal.inspection.infer import Inferred, infer
from shoal.inspection.profile import Kinship, Profile, kin, usable
from shoal.inspection.suspect import Suspicion, suspect
from shoal.progress import Brief
from shoal.sampling import draw
from shoal.table.dates import to_iso
from shoal.table.missing import MISSING_LABEL, is_missing
from shoal.table.reading import take_frame
from shoal.table.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.inspection.whom import Advice

LABELS = 20  # distinct labels up to which the most frequent are shown
SHOWN = 3
MASKED = 10_000  # distinct cells of which the patterns are taken
WIDEST = 30  # characters of a pattern


@dataclass(frozen=True)
class ColumnInspection:
    """One column; `role` None means to leave it out, `type` None that it can have no role.

    `question` is what only the owner can answer, where name and cells leave a doubt about the role.
    `offer` is the role that a yes gives it.
    """

    name: str
    type: str | None
    reason: str
    distinct: int
    missing: int
    values: dict[str, Any]
    role: str | None
    why: str
    order: tuple[str, ...]
    suspicions: tuple[Suspicion, ...]
    date_formats: tuple[str, ...] = ()
    question: str | None = None
    offer: str | None = None


@dataclass(frozen=True, repr=False)
class Inspection(Brief):
    """A table: its columns, which of them determine one another, and how unique people are in it.

    `unique` is the share of rows that no other equals in all suggested quasi columns. `protect`
    names the sensitive columns that are suggested to be published, the one that most can be
    promised about first. `incomplete` counts the rows in which a cell of these or of a quasi column
    is missing.
    """

    _brief = ("rows", "roles", "unique")

    rows: int
    columns: tuple[ColumnInspection, ...]
    kinship: tuple[Kinship, ...]
    unique: float | None
    protect: tuple[str, ...]
    incomplete: int = 0

    @property
    def roles(self) -> dict[str, str | None]:
        """The role that is suggested for each column, None where it is for none."""
        return {column.name: column.role for column in self.columns}

    def named(self, role: str) -> tuple[str, ...]:
        """Return the columns for which a role is suggested."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def schema(self) -> Schema:
        """The suggested schema, with one sensitive column."""
        return self.schema_of(self.protect[:1])

    def schema_of(self, sensitive: Sequence[str]) -> Schema:
        """Return the suggested schema with some sensitive columns."""
        used = (*self.named("quasi"), *sensitive)
        return Schema(
            quasi=self.named("quasi"),
            sensitive=tuple(sensitive),
            identifying=self.named("identifying"),
            person=next(iter(self.named("person")), None),
            types={c.name: c.type for c in self.columns if c.type and c.name in used},
            order={c.name: c.order for c in self.columns if c.order and c.name in used},
            date_formats={
                c.name: c.date_formats[0]
                for c in self.columns
                if c.date_formats and c.type == "date" and c.name in used
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the inspection as plain values, like the JSON of the command."""
        return asdict(self) | {
            "protect": list(self.protect),
            "columns": [
                asdict(column)
                | {
                    "order": list(column.order),
                    "suspicions": _plain(column),
                    "date_formats": list(column.date_formats),
                }
                for column in self.columns
            ],
            "kinship": [asdict(one) | {"text": one.text} for one in self.kinship],
        }

    def _repr_html_(self) -> str:
        """Show the columns as a table, in a notebook."""
        rows = []
        for column in self.columns:
            asked = [column.question] if column.question else []
            remarks = [column.why, *asked, *(one.text for one in column.suspicions)]
            cells = (
                column.name,
                column.role or "leave out",
                column.type or "none",
                f"{column.distinct:,}",
                f"{column.missing:,}",
                "; ".join(remarks),
            )
            rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
        head = "".join(
            f"<th>{word}</th>" for word in ("column", "role", "type", "values", "missing", "why")
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _plain(column: ColumnInspection) -> list[dict[str, str]]:
    return [asdict(one) for one in column.suspicions]


def inspect(frame: Any) -> Inspection:
    """Look at a table: types with reasons, suggested roles with reasons, and what looks wrong.

    Parameters
    ----------
    frame : a pandas, Polars or PyArrow table; it is not changed.

    Examples
    --------
    >>> import polars, shoal
    >>> people = polars.DataFrame({"age": [31, 42, 42], "salary": [1000, 2000, 3500]})
    >>> [(column.name, column.role) for column in shoal.inspect(people).columns]
    [('age', 'quasi'), ('salary', 'sensitive')]
    """
    table = take_frame(frame)
    refused = {column.name: problem for column in table if (problem := usable(column))}
    profiles = [Profile.of(column) for column in table if column.name not in refused]
    types = _pairs([infer(profile) for profile in profiles])
    kinship = kin(profiles)
    advice = advise(profiles, types, kinship)
    protect = tuple(profiles[place].name for place in to_protect(advice, profiles))
    known = {
        profile.name: _column(profile, kind, advised)
        for profile, kind, advised in zip(profiles, types, advice, strict=True)
    }
    quasi = [name for name, column in known.items() if column.role == "quasi"]
    return Inspection(
        rows=table.height,
        columns=tuple(
            known[name] if name in known else _refused(name, refused[name])
            for name in table.columns
        ),
        kinship=tuple(kinship),
        unique=_unique(table, quasi) if quasi and table.height else None,
        protect=protect,
        incomplete=_incomplete(table, [*quasi, *protect]),
    )


def _incomplete(table: pl.DataFrame, names: Sequence[str]) -> int:
    """Count the rows in which a cell of some columns is missing."""
    lacking = [pl.Series(is_missing(table[name])) for name in names]
    if not lacking:
        return 0
    return int(pl.DataFrame(lacking).select(pl.any_horizontal(pl.all())).to_series().sum())


def _refused(name: str, problem: str) -> ColumnInspection:
    why = "it cannot be used as it is"
    return ColumnInspection(name, None, problem, 0, 0, {}, None, why, (), ())


def _pairs(types: Sequence[Inferred]) -> list[Inferred]:
    """Return types in which latitude and longitude stand only together."""
    kinds = [one.kind for one in types]
    if kinds.count("latitude") == kinds.count("longitude") == 1:
        return list(types)
    alone = Inferred(
        "numeric", "every cell is a number; half of a place, the other half is missing"
    )
    return [alone if one.kind in {"latitude", "longitude"} else one for one in types]


def _column(profile: Profile, kind: Inferred, advised: Advice) -> ColumnInspection:
    return ColumnInspection(
        name=profile.name,
        type=kind.kind,
        reason=kind.reason,
        distinct=profile.distinct,
        missing=profile.missing,
        values=_values(profile, kind, private=advised.role in {"identifying", "person"}),
        role=advised.role,
        why=advised.why,
        # Missing cells, should they count as a value, stand before the first label.
        order=(MISSING_LABEL,) * bool(kind.order and profile.missing) + kind.order,
        suspicions=suspect(profile, kind),
        date_formats=kind.ways,
        question=advised.question,
        offer=advised.offer,
    )


def _values(profile: Profile, kind: Inferred, *, private: bool) -> dict[str, Any]:
    """Return what may be shown of the cells."""
    if not profile.distinct:
        return {}
    if kind.kind in {"numeric", "latitude", "longitude"} and profile.numbers is not None:
        low, high = int(profile.numbers.argmin()), int(profile.numbers.argmax())
        return {"low": profile.cells[low], "high": profile.cells[high]}
    if kind.kind == "date":
        days = to_iso(profile.cells, kind.ways[0]) if kind.ways else profile.cells
        return {"low": days.min(), "high": days.max()}
    if profile.distinct <= LABELS and not private:
        return {"most_frequent": [list(pair) for pair in profile.most_frequent(SHOWN)]}
    return {"pattern": pattern(profile.cells)}


def pattern(cells: pl.Series) -> str:
    """Return the most frequent shape of cells: letters as `a` and `A`, digits as `9`.

    Of many cells some are looked at, drawn at random.

    >>> pattern(pl.Series(["B12 3XY", "C45 6ZW", "none"]))
    'A99 9AA'
    """
    masked = (
        cells.gather(draw(len(cells), MASKED).places)
        .str.replace_all(r"\p{Lu}", "A")
        .str.replace_all(r"[\p{L}--\p{Lu}]", "a")
        .str.replace_all(r"\p{Nd}", "9")
    )
    shapes = masked.value_counts().sort("count", masked.name, descending=[True, False])
    shape = str(shapes[masked.name][0])
    return shape if len(shape) <= WIDEST else shape[: WIDEST - 1] + "…"


def _unique(table: pl.DataFrame, quasi: Sequence[str]) -> float:
    counts = table.lazy().group_by(list(quasi)).agg(pl.len().alias("#rows")).collect()["#rows"]
    return int((counts == 1).sum()) / table.height
