"""Ten rounds of a series: what an attacker reaches, how many rows stand for nobody, and the loss.

`python benchmarks/series.py`: 5,000 people, of whom 10 % leave and as many join in every round.

The attacker knows everybody's group and who is in the table in every round. Intersection: a
person's candidates are the values that the groups of all rounds have in common, weighted by how
often. Subtraction: where a group is published again with other rows, what went or came are the
values of whoever left or joined.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from common import load

import shoal

if TYPE_CHECKING:
    from collections.abc import Iterator

PEOPLE, SHARE, ROUNDS = 5000, 10, 10
EPSILON, M = 2000, 5
SCHEMA = shoal.Schema(quasi=["age", "puma", "occupation"], sensitive="income", person="who")


class Attacker:
    """What somebody knows who has seen all releases so far."""

    def __init__(self) -> None:
        self.candidates: dict[int, Counter[int]] = {}
        self.groups: dict[int, tuple[set[int], Counter[int]]] = {}
        self.worst = 0.0

    def sees(
        self, where: dict[int, int], rows: dict[int, Counter[int]], own: dict[int, int]
    ) -> None:
        """Take in a release: the group of each person, and the values of each group."""
        for who, group in where.items():
            seen = self.candidates.get(who)
            values = rows[group]
            self.candidates[who] = (
                Counter(values)
                if seen is None
                else Counter({v: n * values[v] for v, n in seen.items() if v in values})
            )
            self.worst = max(self.worst, near(self.candidates[who], own[who]))
        inside: dict[int, set[int]] = {}
        for who, group in where.items():
            inside.setdefault(group, set()).add(who)
        for group, values in rows.items():
            before = self.groups.get(group)
            if before is not None:
                for people, some in (
                    (before[0] - inside[group], before[1] - values),
                    (inside[group] - before[0], values - before[1]),
                ):
                    if some:
                        self.worst = max([self.worst, *(near(some, own[who]) for who in people)])
            self.groups[group] = inside[group], values


def near(values: Counter[int], own: int) -> float:
    """Return the share of candidates within epsilon of a person's own value."""
    return sum(n for v, n in values.items() if abs(v - own) <= EPSILON) / values.total()


def rounds() -> Iterator[dict[str, float]]:
    """Publish all rounds, and yield what each of them comes to."""
    table, _ = load("sal_acs2024_500k.csv.gz", 100_000)
    draw = np.random.default_rng(5)
    pool = draw.permutation(table.height)
    now, used = list(pool[:PEOPLE]), PEOPLE
    table = table.with_row_index("who")
    own = dict(zip(table["who"].to_list(), table["income"].to_list(), strict=True))
    attacker = Attacker()
    with tempfile.TemporaryDirectory() as place:
        for turn in range(ROUNDS + 1):
            if turn:
                gone = set(draw.choice(now, len(now) // SHARE, replace=False).tolist())
                fresh = pool[used : used + PEOPLE // SHARE].tolist()
                now, used = [one for one in now if one not in gone] + fresh, used + len(fresh)
            frame = table[now]
            done = shoal.results.Run(
                table=frame,
                schema=SCHEMA,
                require=shoal.principles.EpsilonM(epsilon=EPSILON, m=M),
                ledger=Path(place) / "ledger",
                output=Path(place) / f"round{turn}",
                linkage=Path(place) / f"links{turn}",
            ).publish()
            rows = pl.read_csv(Path(place) / f"round{turn}" / "release.csv")
            links = pl.read_csv(Path(place) / f"links{turn}")
            groups = rows["group"].gather(links["release_row"]).to_list()
            where = dict(zip(frame["who"].gather(links["row"]).to_list(), groups, strict=True))
            values: dict[int, Counter[int]] = {}
            for group, income in zip(
                rows["group"].to_list(), rows["income"].to_list(), strict=True
            ):
                values.setdefault(group, Counter())[income] += 1
            attacker.sees(where, values, own)
            facts = done.facts
            yield {
                "rows": facts["rows"],
                "placeholders": 1 - facts["people"] / facts["rows"],
                "gcp": facts["loss"]["gcp"],
                "worst": attacker.worst,
            }


def main() -> None:
    """Print every round."""
    print(f"{PEOPLE:,} people; epsilon {EPSILON}, m {M}")
    for turn, one in enumerate(rounds()):
        print(
            f"round {turn}: {one['rows']:,} rows, counterfeits {one['placeholders']:.1%}, "
            f"GCP {one['gcp']:.4f}, worst posterior {one['worst']:.3f} (1/m = {1 / M:.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
