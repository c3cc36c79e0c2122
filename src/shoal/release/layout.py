"""How what was found becomes published rows: whose cells each row bears, whose values it carries.

The one place that tells groups from a generalization graph. Rows come in an order of chance, from
the operating system or a seed for tests; what was left out is for the owner alone.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.exact import percent
from shoal.principles.groups import Groups
from shoal.sampling import check_seed, secure_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.kernels.chacha import Stream
    from shoal.release.graph import GeneralizationGraph
    from shoal.table.coded import Coded
    from shoal.table.partition import PersonOf

    Found = Groups | GeneralizationGraph


ADVERSARY = (
    "The limit of 1/k is for a reader who knows the quasi-identifiers of everyone in the table, "
    "the "
    "published file and the method, even which k published rows each person was matched to, but "
    "not the random choice among them: each of the k is a person's own with probability 1/k.",
    "It is about one person at a time, before any true link is known: a reader who learns some "
    "people's rows can rule these out for others.",
    "Published cells can cover people whom a row was not made for. A reader who does not know the "
    "matches sees at least k rows for everyone, not all of them equally likely.",
    "k-anonymity hides which row is a person's, not the sensitive value: the k rows can carry "
    "equal or close values. An audit against the original shows its owner how close.",
)


@dataclass(frozen=True, eq=False)
class Layout:
    """Published rows in their random order."""

    bears: NDArray[np.int32]  # the cell that each published row bears
    carries: NDArray[np.int32]  # the coded row whose remaining values it carries
    bearers: NDArray[np.int64]  # how many rows bear each cell
    numbers: NDArray[np.int32] | None  # the group number of each published row
    groups: int | None
    adversary: tuple[str, ...] = ()  # what the guarantee is about, where groups do not say it
    lines: NDArray[np.int64] | None = None  # the order of a table of people apart from values
    persons: NDArray[np.int32] | None = None  # the number of the person of each published row
    real: NDArray[np.int64] | None = None  # the real people of each row's group, in a series
    nodes: NDArray[np.int64] | None = None  # the number of the node that each row's group is from
    orders: tuple[NDArray[np.int64], ...] = ()  # the random order of each linked table

    @property
    def borne(self) -> NDArray[np.int64]:
        """The cell that each coded row is published with."""
        found = np.empty(len(self.bears), np.int64)
        found[self.carries] = self.bears
        return found

    def of_linked(self, table: int, whom: PersonOf, linked: PersonOf) -> Layout:
        """Return the rows of a linked table in their random order.

        `whom` says whom the rows of the first table are about, `linked` those of the linked one.
        """
        assert self.numbers is not None
        assert self.persons is not None
        rows = np.empty(len(whom), np.int64)  # of each person one that is published
        rows[whom.labels[self.carries]] = np.arange(len(self.carries))
        order = self.orders[table]
        theirs = rows[linked.labels[order]]
        return Layout(
            self.bears[theirs],
            order.astype(np.int32),
            self.bearers,
            self.numbers[theirs],
            self.groups,
            persons=self.persons[theirs],
        )

    def of_people(self) -> Layout:
        """Return the rows of a table of people, in an order that tells nothing of the values'."""
        one = np.arange(len(self.carries))
        if self.persons is not None:  # a row of each, whichever: their quasi values are alike
            one = np.unique(self.persons, return_index=True)[1]
        order = self.lines
        if order is None:
            (order,) = Randomness().permutations(len(one))
        assert self.numbers is not None
        rows = one[order]
        people = self.carries[rows]
        return replace(
            self,
            bears=people,
            carries=people,
            numbers=self.numbers[rows],
            persons=None,
            real=None if self.real is None else self.real[rows],
            nodes=None if self.nodes is None else self.nodes[rows],
        )


def row_counts(coded: Coded) -> Groups:
    """Return the people with equally many rows, in every table."""
    counts = (whom.sizes for whom in coded.persons)
    return Groups.alike(len(coded.person_of), ((each, int(each.max()) + 1) for each in counts))


def alone_with_their_rows(coded: Coded, groups: Groups) -> int:
    """Count the people who are the only one of their group with so many rows."""
    counts, labels = row_counts(coded), coded.person_of.of_part(groups.labels)
    return int((Groups.of(labels * len(counts) + counts.labels).sizes == 1).sum())


def lay_out(
    found: Found,
    coded: Coded,
    randomness: Randomness,
    *,
    apart: bool = False,
) -> Layout:
    """Put rows, and the numbers of groups, into a random order; people `apart` into another.

    Where rows are about people, these get numbers in a random order too. Linked tables have orders
    of their own. In a heterogeneous release a row carries the values of its true match.
    """
    if isinstance(found, Groups):
        whom, linked = coded.person_of, coded.linked
        known = None if whom.given else found.nodes
        rows, ids, *more = randomness.permutations(
            len(found.labels),
            len(found),
            *[len(whom)] * (apart + whom.given),
            *(len(one.rows) for one in linked),
            *([] if known is None else [int(known.max()) + 1]),
        )
        nodes = None if known is None else more.pop()
        more, orders = more[: len(more) - len(linked)], more[len(more) - len(linked) :]
        carries = rows.astype(np.int32)
        bears = found.labels[carries].astype(np.int32)
        return Layout(
            bears,
            carries,
            found.sizes,
            ids.astype(np.int32)[bears],
            len(found),
            lines=more[0] if apart else None,
            persons=more[-1].astype(np.int32)[whom.labels[carries]] if whom.given else None,
            orders=tuple(orders),
            nodes=None if known is None or nodes is None else nodes[known][bears],
        )
    (rows,) = randomness.permutations(len(found))
    carries = found.true_matches(randomness.stream())[rows].astype(np.int32)
    ones = np.ones(len(found), np.int64)
    return Layout(rows.astype(np.int32), carries, ones, None, None, ADVERSARY)


@dataclass(frozen=True)
class Randomness:
    """Random orders; secure unless a seed is given."""

    seed: int | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same orders again."""
        return self.seed is not None

    def permutations(self, *sizes: int) -> list[NDArray[np.int64]]:
        """Return a random order of each of the given sizes; secure ones are the system's own."""
        if self.seed is not None:
            generator = np.random.Generator(np.random.PCG64(self.seed))
            return [generator.permutation(size) for size in sizes]
        return secure_orders(*sizes)

    def below(self, *draws: tuple[int, int]) -> list[NDArray[np.int64]]:
        """Return for each (bound, count) so many numbers from 0 to under the bound, all alike.

        Secure: straight from the operating system, as the orders are. Words past the last whole
        multiple of the bound are drawn again, so that no number is likelier than another.
        """
        if self.seed is not None:
            generator = np.random.Generator(np.random.PCG64((self.seed, len(draws))))
            return [generator.integers(bound, size=count) for bound, count in draws]
        return [_secure_below(bound, count) for bound, count in draws]

    def stream(self) -> Stream:
        """Return a cryptographic stream for choices inside kernels, its key used for nothing else.

        Secure: the key is 256 bits from the operating system.
        """
        from shoal.kernels.chacha import fresh_stream, stream_of

        if self.seed is None:
            return fresh_stream()
        return stream_of(hashlib.sha256(f"shoal {self.seed}".encode()).digest())


def _secure_below(bound: int, count: int) -> NDArray[np.int64]:
    words = np.frombuffer(os.urandom(8 * count), np.uint64).copy()
    last = np.uint64(2**64 - 2**64 % bound - 1)
    while (over := np.flatnonzero(words > last)).size:
        words[over] = np.frombuffer(os.urandom(8 * over.size), np.uint64)
    return (words % np.uint64(bound)).astype(np.int64)


@dataclass(frozen=True)
class Suppression:
    """How many rows were left out, and why.

    Attributes
    ----------
    in_the_way : rows without which a requirement could not hold or was not reached.
    costly : rows left out because the others lose less without them.
    of_people : where whole people were left out, who are what is counted above, how many rows
        they had.
    capped : rows left out of people who are published.
    torn : people, counted among those in the way, whose own rows are never mixed with one another.
    linked : of each linked table, how many rows of people left out, and of others, are not there.
    before, after : GCP without and with leaving out the costly ones; 0 where nothing might be left
        out, and where parts of a table were searched apart. Every cell of a row left out counts as
        1, and ranges and labels are those of what is published in the end, in both; so `after` is
        the GCP of the manifest.
    """

    in_the_way: int = 0
    costly: int = 0
    before: float = 0.0
    after: float = 0.0
    of_people: int | None = None
    capped: int = 0
    torn: int = 0
    linked: tuple[tuple[int, int], ...] = ()

    @property
    def people(self) -> int:
        """How many people were left out, where every row is somebody's own how many rows."""
        return self.in_the_way + self.costly

    @property
    def rows(self) -> int:
        """How many rows were left out."""
        return self.people if self.of_people is None else self.of_people

    def beside(self, torn: int, rows: Sequence[int]) -> Suppression:
        """Return it with people who had left before, and their rows here and in linked tables."""
        assert self.of_people is not None
        linked = zip(self.linked, rows[1:], strict=True)
        return replace(
            self,
            in_the_way=self.in_the_way + torn,
            torn=self.torn + torn,
            of_people=self.of_people + rows[0],
            linked=tuple((gone + more, capped) for (gone, capped), more in linked),
        )

    def capping(self, rows: tuple[int, int], linked: Sequence[tuple[int, int]] = ()) -> Suppression:
        """Return it with rows that were never offered, of people who are left out and of others."""
        both = zip(self.linked, linked, strict=True)
        return replace(
            self,
            of_people=rows[0] + (self.of_people or 0),
            capped=self.capped + rows[1],
            linked=tuple((one[0] + more[0], one[1] + more[1]) for one, more in both),
        )

    def again(self, more: Suppression) -> Suppression:
        """Return it with rows of people that another search of what was left leaves out too."""
        linked = zip(self.linked, more.linked, strict=True)
        return replace(
            self,
            before=0.0,
            after=0.0,
            capped=self.capped + more.capped,
            linked=tuple((gone, capped + also) for (gone, capped), (_, also) in linked),
        )

    def __str__(self) -> str:
        """Say it to the owner."""
        sentences = []
        if self.of_people is not None:
            who = "1 person" if self.people == 1 else f"{self.people:,} people"
            if self.people:
                sentences.append(f"Suppressed {who}, that is {_rows(self.rows)}.")
            if self.torn:
                which = "All" if self.torn == self.people else f"{self.torn:,}"
                sentences.append(
                    f"{which} of them because their own rows differ in a column that is "
                    "never mixed. All rows of a person must be in one group."
                )
            kinds = [("", self.capped), *(("linked ", capped) for _, capped in self.linked)]
            sentences += [
                f"Shoal left out {_rows(capped, kind)} of people with many rows, so that enough "
                "others have the same number of rows."
                for kind, capped in kinds
                if capped
            ]
            return " ".join(sentences)
        if self.in_the_way:
            sentences.append(
                f"Suppressed {_rows(self.in_the_way)}: with them, the requirement could not be met."
            )
        if self.costly:
            gain = (
                f": GCP {self.before:.4f} before, {self.after:.4f} after, both by the ranges that "
                "are published"
                if self.before
                else ""
            )
            sentences.append(
                f"Suppressed {_rows(self.costly)}, so that the other rows keep more detail{gain}."
            )
        return " ".join(sentences)

    def out_of_step(self, rows: int, people: int | None) -> str:
        """Say where a larger share of rows than of people was left out, of so many published."""
        if people is None or not self.people:
            return ""
        of_people = self.people / (people + self.people)
        of_rows = self.rows / (rows + self.rows)
        if of_rows <= of_people:
            return ""
        return (
            f"Shoal removed {percent(of_people, 2)} of people but {percent(of_rows, 2)} of "
            "rows: people with many rows were removed more often. This makes counts and totals of "
            "rows too low."
        )


def _rows(count: int, kind: str = "") -> str:
    return f"{count:,} {kind}row" if count == 1 else f"{count:,} {kind}rows"
