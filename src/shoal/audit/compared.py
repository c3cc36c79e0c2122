"""What an attack reaches on people of a release, beside people of the same population outside it.

What succeeds on a control as often comes from general knowledge, or from chance: only the
difference comes from being in the release. Both shares have Wilson's interval, their difference has
Newcombe's. Under 400 controls no difference is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.audit.guessing import how_near
from shoal.exact import percent
from shoal.sampling import newcombe, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

ENOUGH = 400  # controls
SINGLING, LINKING, INFERENCE, LEARNING, FINDING = (
    "singling out",
    "linking",
    "inference",
    "learning",
    "finding",
)
MARGIN = (
    "Members are the people in the table, controls are people who are not in it. ± is the 95% "
    "margin of error."
)


@dataclass(frozen=True)
class Rate:
    """How often something was so, of so many people or descriptions; a mean of chances too."""

    share: float
    count: int

    def to_dict(self) -> dict[str, Any]:
        """Return the share, Wilson's interval of it, and of how many."""
        low, high = wilson(self.share, self.count)
        return {"share": self.share, "low": low, "high": high, "count": self.count}


@dataclass(frozen=True)
class Compared:
    """How often one attack succeeds on members and on controls.

    `controls` is None for what only members can suffer. `bounded` says that it is the largest share
    there can be, because there are too few controls to weigh descriptions by; then the difference
    is the least there can be. `enough` says whether there are controls enough for a difference.
    """

    release: str
    attack: str
    members: Rate
    controls: Rate | None = None
    column: str | None = None
    epsilon: float | None = None
    sets: tuple[Sequence[str], Sequence[str]] | None = None
    bounded: bool = False
    enough: bool = True
    number: int = 0  # controls there are

    @property
    def difference(self) -> tuple[float, float, float] | None:
        """How much more often it succeeds on members, and the ends of the interval."""
        if self.controls is None or not self.enough:
            return None
        ends = newcombe(
            self.members.share, self.members.count, self.controls.share, self.controls.count
        )
        return self.members.share - self.controls.share, *ends

    def to_dict(self) -> dict[str, Any]:
        """Return both shares, the difference, and a sentence."""
        found = self.difference
        difference, low, high = (None, None, None) if found is None else found
        return {
            "release": self.release,
            "attack": self.attack,
            "column": self.column,
            "epsilon": self.epsilon,
            "sets": None if self.sets is None else [list(one) for one in self.sets],
            "members": self.members.to_dict(),
            "controls": None if self.controls is None else self.controls.to_dict(),
            "controls_at_most": self.bounded,
            "too_few": self.controls is not None and not self.enough,
            "difference": difference,
            "low": low,
            "high": high,
            "title": self.title,
            "sentence": self._sentence(),
        }

    @property
    def title(self) -> str:
        """What the attack is called beside others, for example in a chart."""
        if self.attack in {INFERENCE, LEARNING}:
            near = "" if self.epsilon is None else f" {how_near(self.epsilon)}"
            return f"{self.attack}: {self.column}{near}"
        return self.attack

    def _sentence(self) -> str:
        members = percent(self.members.share, 1)
        if self.controls is None:
            return (
                f"A reader of {self.release} who knows the quasi-identifiers of a person in the "
                f"table, and picks one of the rows that fit, picks that person's row with a chance "
                f"of {members} on average."
            )
        controls = percent(self.controls.share, 1)
        if self.attack == SINGLING:
            said = (
                f"The least likely description that a reader of {self.release} can take from a "
                f"published cell fits exactly one person in the table for {members} of cells. By "
                "chance, a description as rare fits exactly one person for "
            )
            said += f"at most {controls}" if self.bounded else controls
            return f"{said}: {self._points()}"
        return (
            f"{self._lead()} for {members} of the people in the table, and for {controls} of "
            f"people who are not in it: {self._points()}"
        )

    def _lead(self) -> str:
        if self.attack == LINKING:
            assert self.sets is not None
            first, second = (" and ".join(one) for one in self.sets)
            return (
                f"A reader of {self.release} is led to the same group by {first} as by {second}, "
                "and so links what two sources know"
            )
        near = "" if self.epsilon is None else f" {how_near(self.epsilon)}"
        if self.attack == LEARNING and self.epsilon is None:
            return f"A classifier trained on {self.release} names the right class of {self.column}"
        if self.attack == LEARNING:
            return f"A model of all groups of {self.release} together guesses {self.column}{near}"
        return f"A reader of {self.release} guesses {self.column}{near}"

    def _points(self) -> str:
        if self.difference is None:
            return (
                f"{self.number:,} controls are too few to say how much comes from being in the "
                f"release (at least {ENOUGH} are needed)."
            )
        difference, low, high = self.difference
        points = f"{100 * difference:.1f} points"
        margin = f"(± {100 * max(high - difference, difference - low):.1f})"
        least = "at least " if self.bounded else ""
        if low > 0:
            return f"{least}{points} {margin} come from being in the release."
        if self.bounded and difference <= 0:
            return "no more than chance, as far as these controls can show."
        return f"the difference of {least}{points} {margin} may be chance."
