"""The parts of a manifest as records, each value with its type.

Only these and `Manifest` know the keys of manifest.json and their order. What is read is checked
against the types; whether parts agree with each other, and with the files, the audit asks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, Self, get_args

import msgspec
from msgspec import Meta

from shoal.ask import options
from shoal.ask.ask import Ask
from shoal.ask.options import BY_NAME, NAMES, NUMBER, NUMBERS, SHARE, options_of
from shoal.table.files import FORMATS
from shoal.table.forms import PEOPLE, RELEASE, column_form, spelled_as
from shoal.table.grid import REGIONS
from shoal.table.missing import Missing
from shoal.table.schema import KINDS, NOBODY, PSEUDONYM
from shoal.table.trimming import Trim, read_trim

LINE = 200  # characters of a title, or of what is said of who publishes it
LONGEST = 10**7  # characters of any text
WHOLE = 2**53  # counts above it are not those of a table


if TYPE_CHECKING:
    from shoal.ask.options import Option


def one_of(*words: str) -> Meta:
    """Return that a text has to be one of several words."""
    return Meta(pattern=rf"\A(?:{'|'.join(map(re.escape, words))})\Z")


Text = Annotated[str, Meta(max_length=LONGEST)]
Line = Annotated[str, Meta(max_length=LINE)]
Names = Annotated[list[Text], Meta(min_length=1)]
Digest = Annotated[str, Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]
FileName = Annotated[str, Meta(pattern=r"\A[\w-][\w.=-]*(/[\w-][\w.=-]*)?\Z")]
Count = Annotated[int, Meta(ge=0, le=WHOLE)]
Some = Annotated[int, Meta(ge=1, le=WHOLE)]
Several = Annotated[int, Meta(ge=2, le=WHOLE)]
Number = int | float
Positive = Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Chance = Annotated[int, Meta(gt=0, le=1)] | Annotated[float, Meta(gt=0, le=1)]
Yes = Literal[True] | None  # what is false is not said
Type = Annotated[str, one_of(*KINDS)]
DecimalSign = Annotated[str, one_of(".", ",")]
Policy = Annotated[str, one_of(*get_args(Missing))]
Regions = Annotated[str, one_of(REGIONS)]
Nobody = Annotated[str, one_of(NOBODY)]


class Record(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a manifest: its keys in the order of the file; a key at its default is left out."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as JSON has them."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def but(self, **changes: Any) -> Self:
        """Return a copy with other values."""
        return msgspec.structs.replace(self, **changes)

    def say(self, **changes: Any) -> None:
        """Put values in their places."""
        for name, value in changes.items():
            setattr(self, name, value)


class StatedNode(Record):
    """A node of a published hierarchy: what stands above it, and how many values lie under it.

    These are values of published rows, an exception on purpose beside `rows_in`: the loss is
    measured by them, and no promise about a sensitive value rests on who has which quasi value.
    Where presence is protected, they are values of the population.
    """

    name: Text
    parent: Text | None
    leaves: Some


class StatedNodes(Record):
    """What a column of nodes covers: its values are counted, the nodes that were used are named."""

    leaves: Some
    nodes: Annotated[list[StatedNode], Meta(min_length=1)]


class StatedColumn(Record):
    """What is said of one column; only a quasi column has a kind and a domain.

    A domain is a list of labels, the two ends of an interval with null where numbers are missing,
    or nodes.
    """

    name: Text
    role: Annotated[str, one_of("quasi", "sensitive", "other", PSEUDONYM)]
    kind: Annotated[str, one_of("interval", "set", "node")] | None = None
    domain: list[Text | Number | None] | StatedNodes | None = None
    hierarchy: Text | None = None
    type: Type | None = None
    step: Positive | None = None
    bounds: Annotated[list[Text | Number], Meta(min_length=2, max_length=2)] | None = None
    never_mix: Yes = None
    weight: Positive | None = None
    date_format: Text | None = None
    round: Positive | None = None
    bottom: Number | None = None
    top: Number | None = None
    survey_weight: Yes = None
    missing: Policy | None = None
    near: Positive | None = None
    said: Nobody | None = None

    @property
    def quasi(self) -> bool:
        """Whether it is a quasi-identifier."""
        return self.role == "quasi"

    @property
    def dates(self) -> bool:
        """Whether it holds dates."""
        return self.type == "date"

    @property
    def has_ends(self) -> bool:
        """Whether its cells are intervals.

        Those of a column that is never mixed have one value, which is both ends.
        """
        return self.kind == "interval"

    @property
    def has_gap(self) -> bool:
        """Whether some of its numbers are missing."""
        return self.has_ends and self.values[-1] is None

    @property
    def values(self) -> list[Any]:
        """The labels of its domain, or the ends."""
        assert isinstance(self.domain, list)
        return self.domain

    @property
    def tree(self) -> StatedNodes:
        """The nodes of its domain."""
        assert isinstance(self.domain, StatedNodes)
        return self.domain

    @property
    def trim(self) -> Trim:
        """What was done to its numbers."""
        return read_trim(self.name, step=self.round, bottom=self.bottom, top=self.top)

    def form_in(self, form: str) -> str:
        """Return its form in a release of a form."""
        return column_form(form, never_mix=bool(self.never_mix))

    def published_as(self, form: str) -> tuple[str, ...]:
        """Return the names of the columns that it is published as."""
        own = self.form_in(form)
        return spelled_as(self.name, own, interval=self.has_ends, gap=self.has_gap)

    def stands_in(self, stem: str) -> bool:
        """Return whether it stands in one of the tables of a release."""
        return stem == RELEASE or (self.role != "sensitive") is (stem == PEOPLE)


class StatedTable(Record, kw_only=True):
    """What is said of a linked table; of rows that were left out, where the owner says it."""

    rows_in: Some | None = None
    dropped: Count | None = None
    rows: Count
    suppressed: Count | None = None
    capped: Count | None = None
    columns: Annotated[list[StatedColumn], Meta(min_length=1)]


class StatedBirth(Record):
    """The groups that were born in one round of a series, where cells are regions.

    Their numbers begin with `first`. `gone` are the cells, in the order of the quasi columns, of
    those that are not published any more; they were when they were born.
    """

    first: Count
    gone: list[list[Text]]


class StatedLoss(Record):
    """What was lost, of all columns and of each."""

    gcp: Share
    ncp: dict[str, Share]


class StatedRisk(Record):
    """What was measured of a requirement."""

    principle: Text
    holds: bool
    risk: Number
    bound: Number


class StatedExposed(Record):
    """An exposed column: how many people are alone with their cell, who is said to know it."""

    column: Text
    alone: Count | None
    said: Nobody | None


class StatedAbove(Record):
    """The largest chance of being found by exposed cells too, and who is above the threshold."""

    largest: Chance
    above: Share


class StatedChances(Record):
    """The chance of being found by quasi cells, and by exposed ones too."""

    quasi: Chance
    with_exposed: StatedAbove


class StatedInference(Record):
    """The shares of people of whom an exposed cell is certain, or likely."""

    certain: Share
    likely: Share


class StatedLearning(Record):
    """The share of people of whom a reader learns more than a requirement allows."""

    principle: Text
    share: Share


def _stated(option: Option) -> object:
    """Return the type of what a manifest says of an option; at what is usual it says nothing."""
    if option.name in OWN_TYPES:
        return OWN_TYPES[option.name]
    if option.flag or option.secret:
        return Literal[True]
    if option.kind == BY_NAME and not option.within:
        return Names
    words = [word for word in option.words if word != option.usual]
    text: object = Annotated[str, one_of(*words)] if words else Text
    if option.kind == BY_NAME:
        entry: object = Text | Number if float in option.takes else text
        return dict[str, Text | Literal[True] if option.place else entry]  # type: ignore[misc]
    whole = Several if option.usual == 1 else Some
    kinds: dict[str, object] = {NAMES: Names, NUMBERS: dict[str, Positive], SHARE: Text | Number}
    return (kinds | {options.WHOLE: whole, NUMBER: Positive}).get(option.kind, text)


# What is said otherwise than it is asked: in which columns something stands in a schema file.
OWN_TYPES = {"schema": Names, "format": Annotated[str, one_of(*FORMATS)]}

if TYPE_CHECKING:

    class StatedAsk(Record):
        """The public part of what was asked, by the names of options."""

        def __init__(self, **said: object) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    StatedAsk = msgspec.defstruct(
        "StatedAsk",
        [
            (one.name, Optional[_stated(one)], None)  # noqa: UP045 - a type that is made
            for one in options_of(Ask).values()
            if one.in_asked
        ],
        bases=(Record,),
        module=__name__,
        omit_defaults=True,
        forbid_unknown_fields=True,
    )


def loss_of(ncp: dict[str, float]) -> StatedLoss:
    """Return the loss of columns, and their mean."""
    import numpy as np

    return StatedLoss(gcp=float(np.mean(list(ncp.values()))), ncp=ncp)
