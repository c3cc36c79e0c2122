"""A control group: people who are kept back before anything is computed, to measure attacks by.

Whole people are drawn, each as likely as any other. Their rows go into a private file; of them only
their number is published. In a series it follows from the ledger's key whom a person's first
appearance decides about: nobody is drawn twice, and whoever is held out is never published later.
"""

from __future__ import annotations

import hmac
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import UsageError, option
from shoal.exact import read_share
from shoal.release.layout import Randomness
from shoal.release.places import Waiting, whole_file
from shoal.table.coded import persons_of
from shoal.table.databases.access import is_outlet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from shoal.release.ledger import Ledger
    from shoal.release.manifest import Manifest
    from shoal.runs.run import Run

WHOLE = 2**256  # one more than the largest digest, as a number


@dataclass(frozen=True, eq=False)
class Held:
    """The rows of a control group, and those that are left, by their places in the input.

    `people` is how many people are held out, where rows say whom they are about.
    """

    table: pl.DataFrame
    kept: NDArray[np.int64]
    people: int | None

    @classmethod
    def of(cls, run: Run, table: pl.DataFrame, gone: NDArray[np.bool_]) -> Held:
        """Part a table; kept of the control group are the columns that a release is made of."""
        rows = np.flatnonzero(gone)
        columns = [name for name in table.columns if name in run.wanted]
        person = run.schema.person
        people = None if person is None else table[person][rows].n_unique()
        return cls(
            table[rows].select(pl.col(columns).cast(pl.String)), np.flatnonzero(~gone), people
        )

    @property
    def counts(self) -> dict[str, int]:
        """What a manifest says of them."""
        people = {} if self.people is None else {"held_out_people": self.people}
        return {"held_out": self.table.height, **people}

    def state(self, manifest: Manifest) -> None:
        """Say in a manifest how many they are."""
        manifest.say(rows_in=(manifest.rows_in or 0) + self.table.height, **self.counts)


def check_hold_out(run: Run) -> None:
    """Raise where a control group cannot be kept back as it is asked for."""
    if run.hold_out is None and run.hold_out_file is None:
        return
    if run.hold_out is None or run.hold_out_file is None:
        msg = (
            "A control group needs its size and a private file: give both "
            f"{option('hold_out', '5%')} and {option('hold_out_file', 'controls.csv')}."
        )
        raise UsageError(msg)
    _share(run)
    if run.linked:
        msg = (
            f"{option('hold_out')} cannot be combined with {option('linked')}: the control group "
            "is one table. Leave out one of them."
        )
        raise UsageError(msg)
    if run.output is not None and is_outlet(str(run.output)):
        msg = (
            f"{option('hold_out')} needs a release directory, whose manifest says how many people "
            f"were held out. Give {option('output')} a directory."
        )
        raise UsageError(msg)


def _share(run: Run) -> Fraction:
    share = read_share(run.hold_out, "The control group")
    if not 0 < share < 1:
        msg = f"{option('hold_out')} is a share above 0% and below 100%. Got {run.hold_out!r}."
        raise UsageError(msg)
    return share


def hold_out(run: Run, table: pl.DataFrame) -> Held:
    """Draw the control group of a table."""
    if run.schema.persons:
        run.schema.check(table.columns)
    whom = persons_of(table, run.schema.person)
    people = len(whom)
    count = int(people * _share(run))
    if not count:
        msg = (
            f"{option('hold_out', run.hold_out)} of {people:,} people would keep nobody back. "
            "Hold out a larger "
            "share. An attack needs at least 400 controls to report a difference."
        )
        raise UsageError(msg)
    (order,) = Randomness(run.seed).permutations(people)
    chosen = np.zeros(people, bool)
    chosen[order[:count]] = True
    return Held.of(run, table, whom.of_row(chosen))


def hold_out_in_series(
    run: Run, table: pl.DataFrame, ledger: Ledger, people: Sequence[str]
) -> Held:
    """Return the control group of a series: those of its people who are here now."""
    limit = _share(run) * WHOLE
    digests = (hmac.digest(ledger.key, b"hold-out\0" + one.encode(), "sha256") for one in people)
    gone = [int.from_bytes(one) < limit for one in digests]
    return Held.of(run, table, np.array(gone, bool))


@contextmanager
def held_file(run: Run, held: pl.DataFrame | None) -> Iterator[list[Waiting]]:
    """Stage the private file, where there is one, and take it back where a run fails."""
    if held is None or run.hold_out_file is None:
        yield []
        return
    with whole_file(
        run.hold_out_file, held.write_csv, force=run.force, what="hold_out_file"
    ) as waiting:
        yield [waiting]
