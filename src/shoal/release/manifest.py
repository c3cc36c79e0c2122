"""The manifest of a release: what it says of itself, as a record whose every part has a type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from shoal.ask.fields import CONTEXT
from shoal.exact import percent, without_lost
from shoal.progress import Brief
from shoal.release.stated import (
    Chance,
    Count,
    DecimalSign,
    Digest,
    FileName,
    Line,
    Names,
    Record,
    Regions,
    Some,
    StatedAsk,
    StatedBirth,
    StatedChances,
    StatedColumn,
    StatedExposed,
    StatedInference,
    StatedLearning,
    StatedLoss,
    StatedRisk,
    StatedTable,
    Text,
    Yes,
    loss_of,
    one_of,
)
from shoal.table.forms import FORMS, KNOWN, PEOPLE, TWO_TABLES, UNKNOWN, stems
from shoal.table.schema import NODE, PERSON, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MANIFEST, REPORT = "manifest.json", "report.html"
HELD = ("held_out", "held_out_people")  # of a control group, where there is one
COUNTS = ("rows_in", "dropped", "suppressed", "suppressed_people", "capped")  # of rows left out
VERDICTS = ("holds", "holds-with-open-questions", "does-not-hold")
LATER: Any = UNSET  # of what is measured after the rest is said; a manifest that is read has it


class Manifest(Brief, Record, kw_only=True):
    """What a release says of itself; None, or nothing in a list, for what it does not say."""

    _brief = ("form", "rows", "people", "groups", "require", "verdict")

    shoal: Annotated[str, Meta(pattern=r"\A[0-9]+\.[0-9]+[\w.+-]{0,40}\Z")]
    id: Annotated[str, Meta(pattern=r"\A[0-9a-f]{32}\Z")]
    title: Line | None = None
    form: Annotated[str, one_of(*FORMS)]
    rows_in: Some | None = None
    dropped: Count | None = None
    rows: Some
    suppressed: Count | None = None
    groups: Some | None
    columns: Annotated[list[StatedColumn], Meta(min_length=1)]
    require: Names
    method: Text
    asked: StatedAsk
    measured: list[StatedRisk]
    loss: StatedLoss
    digests: dict[FileName, Digest]
    people: Some | None = None
    suppressed_people: Count | None = None
    capped: Count | None = None
    rows_known: bool | None = None
    alone: Count | None = None
    escaped: Yes = None
    decimal: DecimalSign | None = None
    tables: dict[str, StatedTable] = field(default_factory=dict)
    nodes: Some | None = None
    cells: Regions | None = None
    heterogeneous: Yes = None
    adversary: Names | None = None
    reproducible: Yes = None
    coarsened_from: Digest | None = None
    held_out: Count | None = None
    held_out_people: Count | None = None
    births: list[StatedBirth] = field(default_factory=list)
    previous: Digest | UnsetType | None = UNSET  # null in the first release of a series
    context: dict[Annotated[str, one_of(*CONTEXT)], Line] = field(default_factory=dict)
    date: Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")] = LATER
    threshold: Chance = LATER
    exposed: list[StatedExposed] = LATER
    found: StatedChances | None = LATER
    inferred: dict[str, StatedInference] | None = LATER
    learned: list[StatedLearning] | None = LATER
    verdict: Annotated[str, one_of(*VERDICTS)] = LATER

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; that rows do not hide people is said first."""
        found = super().to_dict()
        return found if self.alone is None else {"rows_known": False, "alone": self.alone} | found

    def to_json(self) -> str:
        """Return the text of manifest.json."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def told(self, settings: dict[str, Any], clock: str) -> dict[str, Any]:
        """Return what the owner is told: what is said, what is withheld, and times."""
        times = {"seconds": settings.get("seconds", {}), "seconds_by": clock}
        return self.to_dict() | settings.get("withheld", {}) | times

    @property
    def lacking(self) -> list[str]:
        """What is measured and not said yet."""
        later = ("date", "threshold", "exposed", "found", "inferred", "learned", "verdict")
        return [name for name in later if getattr(self, name) is UNSET]

    @property
    def grouped(self) -> bool:
        """Whether rows are published in groups."""
        return self.groups is not None

    @property
    def in_series(self) -> bool:
        """Whether it is a release of a series, in which rows may stand for nobody."""
        return self.previous is not UNSET

    @property
    def later_round(self) -> bool:
        """Whether groups of earlier releases stand in it, with what was published of them first."""
        return self.in_series and self.previous is not None

    @property
    def quasi(self) -> list[StatedColumn]:
        """The quasi columns."""
        return [column for column in self.columns if column.quasi]

    def named(self, *roles: str) -> list[str]:
        """Return the names of the columns of a role, or of several."""
        return [column.name for column in self.columns if column.role in roles]

    @property
    def by_name(self) -> dict[str, StatedColumn]:
        """The columns, by their names."""
        return {column.name: column for column in self.columns}

    @property
    def every_column(self) -> Iterator[StatedColumn]:
        """The columns, and those of linked tables under both names."""
        yield from self.columns
        for name in self.tables:
            yield from self.linked_columns(name)

    def linked_columns(self, table: str) -> list[StatedColumn]:
        """Return the columns of a linked table under both names."""
        return [one.but(name=f"{table}.{one.name}") for one in self.tables[table].columns]

    @property
    def own_columns(self) -> list[str]:
        """The columns that the release has of its own, beside `group`."""
        said = {NODE: self.nodes is not None, REAL: self.in_series, PERSON: self.people is not None}
        return [name for name, there in said.items() if there]

    @property
    def survey_weight(self) -> str | None:
        """The column of survey weights, if there is one."""
        return next((one.name for one in self.columns if one.survey_weight), None)

    @property
    def kinds(self) -> dict[str, str]:
        """How the cells of every quasi column are to be read."""
        return {one.name: one.kind for one in self.columns if one.kind is not None}

    @property
    def of_people(self) -> dict[str, Any]:
        """What is said of people, as a schema takes it."""
        if self.people is None:
            return {}
        return {"person": PERSON, "rows": KNOWN if self.rows_known else UNKNOWN}

    @property
    def headers(self) -> dict[str, list[str]]:
        """The header of each table of the release.

        Whose values are whose is not said beside everybody's quasi values.
        """
        first = [RESERVED, *self.own_columns] if self.grouped else []
        return {
            stem: [name for name in first if stem != PEOPLE or name != PERSON]
            + [
                name
                for column in self.columns
                if column.stands_in(stem)
                for name in column.published_as(self.form)
            ]
            for stem in stems(self.form)
        }

    def withhold(self) -> dict[str, Any]:
        """Take out how many rows were left out and why, and return that.

        The loss is then that of the published rows alone: with the others it would tell how many.
        """
        names = (*COUNTS, *HELD)
        gone = {name: said for name in names if (said := getattr(self, name)) is not None}
        self.say(**dict.fromkeys(names))
        for table in self.tables.values():
            table.say(rows_in=None, dropped=None, suppressed=None, capped=None)
        rows, suppressed = self.rows, gone.get("suppressed", 0)
        self.loss = loss_of(
            {name: without_lost(lost, rows, suppressed) for name, lost in self.loss.ncp.items()}
        )
        return gone


# What an analyst may conclude, by what the manifest says: no draw is needed.

VALID, APPROXIMATE, REFUSED = STATUSES = ("valid", "approximate", "refused")  # from good to bad
WORDS = {VALID: "valid", APPROXIMATE: "approximate", REFUSED: "not from this release"}
NARROW = 0.1  # of the range of a column that cells cover on average, where estimates are likely
ENOUGH = 50  # groups, below which cells are so wide that ordinary slopes are off
SIZES_ALONE = (
    "Only group sizes are required, so values were not separated on purpose. An ordinary "
    "regression on the published table comes near that on the original where cells are narrow. "
    "Its standard errors do not count how wide they are."
)
EXACT = (
    "Oblivious() forms groups without regard to who has which value, so the model needs no "
    "correction for how groups were formed."
)
PRICE = (
    "Readers can tell who is in the table, because quasi-identifiers are published exactly: this "
    "suits research under an agreement."
)


class NoConclusion(Exception):
    """What cannot be concluded from a release, whatever is asked."""


def conclusion_of(manifest: Manifest) -> tuple[str, str]:
    """Return what a regression on a release is: valid, approximate or refused, and why.

    `shoal estimate` looks at the values too, and may still refuse.
    """
    if sizes_alone(manifest.require):
        if manifest.groups is not None and manifest.groups < ENOUGH:
            return REFUSED, (
                f"The release has {manifest.groups:,} groups (at least {ENOUGH} are needed). With "
                "so few groups, slopes of an ordinary regression may be far off."
            )
        return APPROXIMATE, SIZES_ALONE
    try:
        check_drawable(manifest)
    except NoConclusion as refusal:
        return REFUSED, str(refusal)
    found = caveats(manifest)
    if manifest.form != TWO_TABLES:
        lost, name = max(((one, name) for name, one in manifest.loss.ncp.items()), default=(0, ""))
        if lost > NARROW:
            return REFUSED, (
                f"Cells of {name} cover {percent(lost, 0)} of its range on average (limit "
                f"{percent(NARROW, 0)}). They are too wide for estimates. Ask the owner for the "
                "form two-tables."
            )
        why = "Use shoal estimate: it may still refuse this release for its wide cells."
        return APPROXIMATE, f"{' '.join(found)} {why}"
    if found:
        return APPROXIMATE, f"{' '.join(found)} Use shoal estimate. {PRICE}"
    return VALID, f"{EXACT} Use shoal estimate, which refuses what it cannot tell. {PRICE}"


def sizes_alone(require: Sequence[str]) -> bool:
    """Return whether only the sizes of groups are required, so that values were not separated."""
    return bool(require) and all(one.startswith("KAnonymity(") for one in require)


def check_analysable(manifest: Manifest) -> None:
    """Raise where a release does not publish everybody's quasi-identifiers, in groups."""
    check_drawable(manifest)
    if manifest.form != TWO_TABLES:
        msg = (
            f"The form {manifest.form} publishes quasi-identifiers as ranges or sets, and this "
            "analysis needs their exact values. Ask the owner for the form two-tables."
        )
        raise NoConclusion(msg)


def check_drawable(manifest: Manifest) -> None:
    """Raise where nothing can be concluded of columns together, however narrow cells are."""
    check_rows_are_people(manifest)
    if manifest.heterogeneous:
        msg = (
            "This release has no groups, so no one can compute how likely each pairing of people "
            "and values is. A release by Oblivious() in the form two-tables allows estimates."
        )
        raise NoConclusion(msg)
    if manifest.form == TWO_TABLES:
        return
    nodes = [c.name for c in manifest.columns if c.kind == "node"]
    gaps = [c.name for c in manifest.columns if c.domain is not None and c.has_gap]
    unread = {
        "cells that are regions": manifest.cells is not None,
        "linked tables": bool(manifest.tables),
        f"nodes of a hierarchy in {nodes[0]}" if nodes else "": bool(nodes),
        f"missing numbers in {gaps[0]}" if gaps else "": bool(gaps),
    }
    for said, there in unread.items():
        if there:
            msg = (
                f"This release has {said}, and the model cannot draw quasi-identifiers from "
                "those. Ask the owner for the form two-tables, which publishes them exactly."
            )
            raise NoConclusion(msg)


def check_rows_are_people(manifest: Manifest) -> None:
    """Raise where errors cannot be computed because rows are not people, each one of them."""
    if manifest.in_series and manifest.people not in {None, manifest.rows}:
        msg = (
            "Some rows of this release are placeholders for people who left, and an estimate would "
            "count them as people. Weigh each row by real divided by the size of its group instead."
        )
        raise NoConclusion(msg)
    if manifest.people not in {None, manifest.rows}:
        msg = (
            "Some people have several rows in this release, and the model treats rows as "
            "independent. A release with one row per person allows estimates."
        )
        raise NoConclusion(msg)


def caveats(manifest: Manifest, *, exact: bool = False) -> list[str]:
    """Return why answers from a release are approximate, whatever is asked.

    `exact` are those that do not depend on who has which value: however groups were formed.
    """
    found = []
    if not exact and manifest.method != "Oblivious()":
        found.append(
            f"{manifest.method} formed the groups. The model needs no correction for how groups "
            "were formed with plain Oblivious() only."
        )
    if not exact and manifest.form != TWO_TABLES:
        found.append(f"The form {manifest.form} does not publish exact quasi-identifiers.")
    left_out = sum(filter(None, (manifest.suppressed, manifest.dropped, manifest.capped)))
    if manifest.asked.withhold_counts or manifest.rows_in is None:  # as in coarser releases
        found.append("Rows may have been left out: the owner does not publish how many.")
    elif left_out:
        found.append(f"{left_out:,} rows were left out, and they may differ from the others.")
    if manifest.survey_weight is not None:
        found.append(
            f"The survey weight {manifest.survey_weight} is published as the mean of each group."
        )
    changed = [c.name for c in manifest.columns if c.top is not None or c.bottom is not None]
    if changed:
        found.append(f"Extreme values of {', '.join(changed)} were replaced.")
    rounded = [c.name for c in manifest.columns if c.round is not None]
    if rounded:
        found.append(f"Values of {', '.join(rounded)} were rounded.")
    if not exact and any(c.never_mix for c in manifest.columns):
        found.append("Groups were formed within classes of people who are never mixed.")
    return found
