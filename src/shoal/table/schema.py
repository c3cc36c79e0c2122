"""What each column is: the schema.

It also says how numbers are written, as 1.234,56 or 1,234.56 or 1 234,56 in different countries.
Such cells are read as numbers and published as they came in; only the ends of intervals are spelled
plainly, because intervals are JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shoal.ask.fields import AboutColumns
from shoal.ask.options import MAPS, NAMES, options_of
from shoal.errors import UnknownColumn, UsageError, option
from shoal.notation import is_number
from shoal.progress import Given
from shoal.table.column import hierarchy_of
from shoal.table.dates import check_format, iso_column
from shoal.table.decimals import check_decimal, plain_numbers
from shoal.table.forms import KNOWN, check_person
from shoal.table.grid import read_bounds, read_step
from shoal.table.missing import check_policy
from shoal.table.trimming import Trim, done_first, read_trim

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import polars as pl

    from shoal.table.groupings import Hierarchy


NUMERIC = ("numeric", "latitude", "longitude")
LABELS = ("categorical", "code", "boolean", "ordered")
KINDS = (*NUMERIC, "date", *LABELS)
RESERVED = "group"
REAL = "real"  # how many people of a group are there now, in a series
NODE = "node"  # which part of the cuts of Oblivious() a group comes from
OPTIONS = options_of(AboutColumns)
BY_COLUMN = tuple(name for name, one in OPTIONS.items() if one.within)
CELLS = tuple(n for n in BY_COLUMN if n not in {"types", "order", "hierarchies", "weights"})
PERSON = "person"  # the role of the person column, and the published column of numbers
NOBODY = "nobody"  # who knows a column of a person, where its owner says so
PSEUDONYM = "pseudonym"  # the role of a published column of keyed hashes


@dataclass(frozen=True, init=False, repr=False)
class Schema(Given, AboutColumns):
    """The role of each column; columns without a role are not published.

    Parameters
    ----------
    quasi : names of the columns that others may know about a person; Shoal generalizes them.
    sensitive : names of the columns to protect; Shoal publishes them exactly, in groups.
    identifying : names of the columns that name a person; Shoal does not publish them.
    other : names of the columns to publish unchanged.
    never_mix : names of quasi columns that Shoal publishes exactly: every group has one value of
        each. It searches each combination of these values separately.
    pseudonymize : names of identifying columns of which Shoal publishes keyed hashes.
    types : what columns hold, where the cells should not decide: "numeric", "date" (ISO dates and
        timestamps), "latitude", "longitude", or labels, namely "categorical", "code" (digits that
        are not a number), "boolean" and "ordered".
    order : for categorical quasi columns, their labels in the order that splitting should follow;
        an "ordered" column needs it.
    hierarchies : for quasi columns that are published as nodes of a hierarchy: a file, nested
        nodes, or a hierarchy that is built from the column, for example "Prefix()".
    decimal : the decimal sign of numbers in text cells, "," or "."; with it, thousands may be
        separated by the other sign, a space or an apostrophe. Without it, numbers are as JSON
        writes them.
    person : name of the column that says whom a row is about, where several rows may be about one
        person; guarantees then count people. It is not published.
    most_rows : how many rows of one person are published at most; others are left out at random.
    rows : whether a reader may know how many rows a person has, "known" (the default) or
        "unknown".
    linked : the schemas of linked tables, by their names. Their columns can also stand among the
        others, with names such as `visits.diagnosis`, where the run has a linked table `visits`.
    weights : how much the loss of each quasi column counts in the search. Default: 1.
    date_formats : how columns write dates, for example "dd/mm/yyyy" or "dd mon yyyy". Needed where
        the cells do not show it: 03/04/1948 can be two dates.
    round : numbers. Columns are rounded to multiples of them before the search.
    bottom : lower limits of columns, or percentiles such as "1%", which become round numbers. Lower
        values are set to the limit.
    top : upper limits of columns, or percentiles such as "99%". Higher values are set to the limit.
    step : the distance of the points at which quasi columns of numbers may be cut where cells are
        regions. Default: one in the last digit of the column, or one day.
    bounds : the least and the greatest value that quasi columns of numbers can have, for example
        [0, 120], from public knowledge. The loss is measured by them, and regions fill them.
    near : how exactly a reader knows the numbers of a column that is published unchanged: to within
        this much. Without it, Shoal assumes that readers know numbers as they are spelled.
    missing_cells : what to do about missing cells of single columns, "error", "drop" or "value";
        the policy of the run for the others.
    survey_weight : the column that says how many people of the population a row stands for; it is
        published as the mean of the group's rows, so that their totals stay.
    nobody_knows : names of published columns of which you state that no reader knows a person's
        value. The release repeats it, and what a reader finds through them does not count.

    Examples
    --------
    >>> Schema(quasi=["age", "zip"], sensitive="salary", identifying="name").sensitive
    ('salary',)
    """

    order: Mapping[str, tuple[str, ...]]
    hierarchies: Mapping[str, Hierarchy]
    rows: str
    linked: Mapping[str, Schema]

    def __init__(
        self,
        *,
        quasi: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        identifying: str | Iterable[str] = (),
        other: str | Iterable[str] = (),
        never_mix: str | Iterable[str] = (),
        pseudonymize: str | Iterable[str] = (),
        types: Mapping[str, str] | None = None,
        order: Mapping[str, Iterable[str]] | None = None,
        hierarchies: Mapping[str, object] | None = None,
        weights: Mapping[str, float] | None = None,
        decimal: str | None = None,
        date_formats: Mapping[str, str] | None = None,
        round: Mapping[str, Any] | None = None,
        bottom: Mapping[str, Any] | None = None,
        top: Mapping[str, Any] | None = None,
        step: Mapping[str, Any] | None = None,
        bounds: Mapping[str, Any] | None = None,
        near: Mapping[str, float] | None = None,
        missing_cells: Mapping[str, str] | None = None,
        survey_weight: str | None = None,
        nobody_knows: str | Iterable[str] = (),
        person: str | None = None,
        most_rows: int | None = None,
        rows: str = KNOWN,
        linked: Mapping[str, Schema] | None = None,
    ) -> None:
        given = locals()
        for name in (one.name for one in fields(self)):
            object.__setattr__(self, name, _taken(name, given[name]))
        unmixed = [name for name in self.never_mix if name not in self.quasi]
        object.__setattr__(self, "quasi", (*self.quasi, *unmixed))
        if survey_weight is not None and survey_weight not in self.other:
            object.__setattr__(self, "other", (*self.other, survey_weight))
        named = tuple(name for name in self.identifying if name not in self.pseudonymize)
        object.__setattr__(self, "identifying", named)
        object.__setattr__(self, "nobody_knows", tuple(dict.fromkeys(self.nobody_knows)))
        check_person(person, most_rows, rows, self.pseudonymize)
        self._check_roles()
        if decimal is not None:
            check_decimal(decimal)
        self._check_types()
        self._check_cells()
        self._check_known()
        self._check_quasi_only("hierarchy", self.hierarchies)
        self._check_quasi_only("weight", self.weights)
        self._check_grids()
        for name, weight in self.weights.items():
            if not is_number(weight) or weight <= 0:
                msg = f"The weight of column {name!r} must be a number above 0. Got {weight!r}."
                raise UsageError(msg)

    def _check_roles(self) -> None:
        taken: dict[str, str] = {}
        for role in ("quasi", "sensitive", "identifying", "other", "pseudonymize"):
            for name in getattr(self, role):
                if name in taken:
                    both = f"{taken[name]} and {role}" if taken[name] != role else f"{role}, twice"
                    msg = f"Column {name!r} has two roles: {both}. Choose one."
                    raise UsageError(msg)
                taken[name] = role
        if self.person in taken:
            both = f"person and {taken[self.person]}"
            msg = f"Column {self.person!r} has two roles: {both}. Choose one."
            raise UsageError(msg)

    def _check_types(self) -> None:
        for name, kind in self.types.items():
            if kind not in KINDS:
                msg = f"Column {name!r} cannot be {kind!r}. Types are {', '.join(KINDS)}."
                raise UsageError(msg)
            if kind == "ordered" and name not in self.order:
                msg = f"Column {name!r} is ordered. Give the order of its labels."
                raise UsageError(msg)
            if name in self.order and kind not in LABELS:
                msg = f"Column {name!r} is {kind} and cannot have an order of labels as well."
                raise UsageError(msg)

    def _check_quasi_only(self, what: str, said: Mapping[str, object]) -> None:
        for name in said:
            if name not in self.quasi:
                msg = f"Column {name!r} has a {what} but is not a quasi column."
                raise UsageError(msg)

    def _check_grids(self) -> None:
        """Check what is said of where columns can be cut."""
        for what, said in (("step", self.step), ("bounds", self.bounds)):
            self._check_quasi_only(what, said)
            for name in said:
                if name in self.hierarchies or self.types.get(name) in LABELS or name in self.order:
                    msg = f"Column {name!r} has a {what}, which applies only to numbers and dates."
                    raise UsageError(msg)
        for name, one in self.step.items():
            read_step(name, one)
        for name, ends in self.bounds.items():
            read_bounds(name, ends)

    def _check_cells(self) -> None:
        """Check what is said of the cells of columns."""
        for what, said, kinds in (
            ("date format", self.date_formats, ("date",)),
            ("rounding or threshold", self.trims, NUMERIC),
        ):
            for name in said:
                if name not in self.published:
                    msg = f"Column {name!r} has a {what} but is not published: give it a role."
                    raise UsageError(msg)
                if self.types.get(name, kinds[0]) not in kinds or name in self.order:
                    kind = self.types.get(name, "ordered")
                    msg = f"Column {name!r} is {kind} and cannot have a {what}."
                    raise UsageError(msg)
        for name, policy in self.missing_cells.items():
            check_policy(policy)
            if name not in (*self.quasi, *self.sensitive):
                msg = f"Column {name!r} keeps missing cells in any case: remove its rule for them."
                raise UsageError(msg)

    def _check_known(self) -> None:
        """Check what is said of what readers know of columns."""
        for name, reach in self.near.items():
            if name not in (*self.sensitive, *self.other):
                msg = f"Column {name!r} has `near`: only columns published unchanged can have it."
                raise UsageError(msg)
            if not is_number(reach) or reach <= 0:
                msg = f"The `near` of column {name!r} must be a number above 0. Got {reach!r}."
                raise UsageError(msg)
        for name in self.nobody_knows:
            if name not in self.published:
                msg = (
                    f"{option('nobody_knows')} names {name!r}, which is not published. Name "
                    "published columns only."
                )
                raise UsageError(msg)

    @cached_property
    def trims(self) -> Mapping[str, Trim]:
        """What is done to the numbers of columns before anything else."""
        steps, bottoms, tops = self.round, self.bottom, self.top
        return {
            name: read_trim(
                name,
                step=steps.get(name),
                bottom=bottoms.get(name),
                top=tops.get(name),
                decimal=self.decimal,
            )
            for name in dict.fromkeys((*steps, *bottoms, *tops))
        }

    def done_to(self, name: str) -> str:
        """Return in words what was done to the cells of a column before anything else, if any."""
        return done_first(self.trims.get(name), self.date_formats.get(name))

    def said_of(self, names: Collection[str]) -> dict[str, Any]:
        """Return what is said of the cells of some columns, as arguments of another schema."""
        return {
            key: {name: one for name, one in getattr(self, key).items() if name in names}
            for key in CELLS
        }

    @property
    def published(self) -> tuple[str, ...]:
        """The columns whose cells a release has, recoded or not, in no particular order."""
        return (*self.quasi, *self.sensitive, *self.other)

    def only(self, *roles: str, among: Collection[str] | None = None) -> Schema:
        """Return a schema with the columns of some roles alone, and what is said of them.

        With `among`, of those columns only the ones that are named.
        """
        kept: dict[str, Any] = {
            role: [name for name in getattr(self, role) if among is None or name in among]
            for role in roles
            if role != PERSON
        }
        people = ("person", "most_rows", "rows") if PERSON in roles else ()
        names = {name for some in kept.values() for name in some}

        said: dict[str, Any] = {
            key: {name: one for name, one in getattr(self, key).items() if name in names}
            for key in BY_COLUMN
        }
        return Schema(
            **kept,
            **{name: getattr(self, name) for name in people},
            linked=self._linked_only(*roles, among=among) if PERSON in roles else {},
            never_mix=[name for name in self.never_mix if name in names],
            decimal=self.decimal,
            survey_weight=self.survey_weight if self.survey_weight in names else None,
            nobody_knows=[name for name in self.nobody_knows if name in names],
            **said,
        )

    def _linked_only(self, *roles: str, among: Collection[str] | None) -> dict[str, Schema]:
        """Return the schemas of linked tables with the columns of some roles alone."""
        kept = [role for role in roles if role in {"sensitive", "other", PERSON}]
        some = {name: one.only(*kept, among=among) for name, one in self.linked.items()}
        return {name: one for name, one in some.items() if one.published}

    @property
    def protected(self) -> tuple[tuple[str, ...], ...]:
        """The sensitive columns of the table, and of each linked one that has any."""
        return (self.sensitive, *(one.sensitive for one in self.linked.values() if one.sensitive))

    def read_numbers(self, table: pl.DataFrame, *roles: str) -> pl.DataFrame:
        """Return a table with the numbers of the columns that have these roles spelled plainly.

        So are their dates: as ISO 8601 spells them.
        """
        numeric = [name for name, kind in self.types.items() if kind in NUMERIC]
        names = [name for name in table.columns if self.role(name) in roles]
        dated = [name for name in names if name in self.date_formats]
        table = table.with_columns(
            iso_column(table[name], self.date_formats[name]) for name in dated
        )
        if self.decimal is None:
            return table
        return plain_numbers(table, names, self.decimal, numeric=numeric)

    def role(self, column: str) -> str | None:
        """Return the role of a column, None where it has none."""
        for role in ("quasi", "sensitive", "identifying", "other"):
            if column in getattr(self, role):
                return role
        if column == self.person:
            return PERSON
        return PSEUDONYM if column in self.pseudonymize else None

    def check_quasi(self) -> None:
        """Raise where there is nothing to generalize."""
        if not self.quasi:
            msg = (
                "No quasi-identifier was named. Name the columns to generalize, for example "
                f"{option('quasi', 'age,zip')}."
            )
            raise UsageError(msg)

    @property
    def persons(self) -> tuple[str, ...]:
        """The person column, where there is one."""
        return () if self.person is None else (self.person,)

    @property
    def rows_known(self) -> bool:
        """Whether a reader may know how many rows a person has."""
        return self.rows == KNOWN

    def check(self, columns: list[str]) -> None:
        """Raise where the schema names what the table does not have, or a reserved name."""
        shown = (*self.published, *self.pseudonymize)
        said = (*self.types, *self.order, *(name for key in CELLS for name in getattr(self, key)))
        for name in (*shown, *self.identifying, *self.persons, *said):
            if name not in columns:
                raise UnknownColumn(name, columns)
        self.check_reserved(RESERVED, *[PERSON] * len(self.persons))

    def check_reserved(self, *own: str) -> None:
        """Raise where a published column has the name of one that a release has of its own."""
        for name in own:
            if name in (*self.published, *self.pseudonymize):
                msg = (
                    f"A release has a column {name!r} of its own. "
                    f"Rename the input column {name!r} first."
                )
                raise UsageError(msg)


def _taken(name: str, given: Any) -> Any:
    """Return what is given of a field as it is kept: names as a tuple, what is said of columns."""
    if OPTIONS[name].kind == NAMES:
        return (given,) if isinstance(given, str) else tuple(given)
    if OPTIONS[name].kind not in MAPS:
        return given
    entries = dict(given or {})
    if name == "date_formats":
        return {column: check_format(column, said) for column, said in entries.items()}
    taken: Any = {"order": tuple, "hierarchies": hierarchy_of}.get(name)
    return {column: taken(said) for column, said in entries.items()} if taken else entries
