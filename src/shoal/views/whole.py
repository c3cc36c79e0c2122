"""One bar for a whole command: how far it is by time, from how far each of its phases is.

A phase tells which share of it is done, and so how long it will still take. What comes after it is
expected to take as long, in relation to the phases that were measured, as it usually does. The
share that is shown is the time that has passed over the time that all will take; it never falls.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = {
    "read": "Reading the table",
    "code": "Coding its values",
    "search": "Searching for groups",
    "partition": "Dividing rows among groups",
    "repair": "Mending groups",
    "seek": "Mending the last groups",
    "improve": "Making groups tighter",
    "anneal": "Making groups tighter in the time that is left",
    "recode": "Making cells coarser",
    "write": "Writing the release",
    "audit": "Measuring the written files",
    "trials": "Trying other methods and parameters",
    "report": "Writing the report",
    "owner": "Writing the owner's report",
    "compare": "Comparing methods",
    "tune": "Trying parameters",
    "learn": "Learning from releases",
    "chains": "Drawing completed tables",
}
# What phases usually take, in units in which reading and coding a table take one each.
USUAL = {
    "read": 1.0, "code": 1.0, "search": 12.0, "recode": 0.5, "write": 1.0, "audit": 2.0,
    "report": 60.0,
}  # fmt: skip
MEASURED = ("read", "code")  # phases by which the others are expected to take their time
AT_LEAST = {"code": 0.1, "search": 0.5, "write": 0.05, "audit": 0.1, "report": 0.4}  # seconds
AT_MOST = {"report": 4.0}  # of large tables a report looks at some rows
WITHIN_SEARCH = ("partition", "repair", "seek", "improve", "anneal")  # of a search, in any order
IMPROVING = 0.5  # of the time until few groups are left to mend is what tightening takes, about
MENDING = 0.4  # is shown at most while groups are mended: the last ones may take most of the time
SURE = 0.02  # of a phase: from there on what it says of itself is believed


class Whole:
    """How far a whole command is, told phase by phase; a search may have a time `budget`.

    Examples
    --------
    >>> clock = iter([0, 0, 1, 2, 3, 4])
    >>> whole = Whole(lambda: float(next(clock)))
    >>> [round(whole.share("tune", done), 2) for done in (0.0, 0.25, 0.5, 0.75, 1.0)]
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    def __init__(
        self, now: Callable[[], float] = time.monotonic, *, budget: float | None = None
    ) -> None:
        self._now = now
        self._budget = budget  # seconds that a search was given, and takes
        self._search_begun: float | None = None
        self._begun = now()
        self._phase = ""
        self._phase_begun = self._begun
        self._taken: dict[str, float] = {}
        self._projected: dict[str, float] = {}
        self._most = 0.0

    def share(self, phase: str, done: float) -> float:
        """Take in how far a phase is, and return how far the whole is."""
        now = self._now()
        if phase != self._phase:
            if self._phase:
                passed = now - self._phase_begun
                self._taken[self._phase] = self._taken.get(self._phase, 0.0) + passed
            self._phase, self._phase_begun = phase, now
        if phase == "search" and self._search_begun is None:
            self._search_begun = now
        if phase in MEASURED:
            self._projected = {phase: (now - self._phase_begun) / done} if done >= SURE else {}
        untold = phase == "report" or (phase in WITHIN_SEARCH and self._budget is None)
        if untold and done < SURE:
            return self._most  # nobody knows how long it takes here before it tells
        left = self._left_in_phase(phase, done, now) + self._left_after(phase)
        if phase in USUAL and not self._units():
            return self._most  # nothing is known yet of how long anything takes here
        passed = now - self._begun
        if passed + left > 0:
            most = MENDING if untold and phase == "repair" else 1.0
            self._most = max(self._most, min(most, passed / (passed + left)))
        return self._most

    def _left_in_phase(self, phase: str, done: float, now: float) -> float:
        passed = now - self._phase_begun
        searching = phase == "search" or phase in WITHIN_SEARCH
        if searching and self._search_begun is not None and self._budget is not None:
            return max(0.0, self._search_begun + self._budget - now)
        improving = 0.0
        if phase in ("repair", "seek") and self._search_begun is not None:
            until = now if phase == "repair" else self._phase_begun
            improving = IMPROVING * (until - self._search_begun)
        if phase == "repair":
            return improving
        if done >= SURE:
            return passed * (1 - min(done, 1.0)) / done + improving
        return max(0.0, self._expected(phase) - passed)

    def _left_after(self, phase: str) -> float:
        """Return how long the phases that have not begun will take."""
        if phase not in USUAL and phase not in WITHIN_SEARCH:
            return 0.0
        order = list(USUAL)
        place = order.index("search" if phase in WITHIN_SEARCH else phase)
        return sum(self._expected(one) for one in order[place + 1 :])

    def _expected(self, phase: str) -> float:
        """Return how long a phase usually takes, by how long reading and coding took here."""
        if phase == "search" and self._budget is not None:
            return self._budget
        known = self._units()
        unit = sum(known.values()) / sum(USUAL[one] for one in known) if known else 0.0
        usual = unit * USUAL.get(phase, 0.0) + AT_LEAST.get(phase, 0.0)
        return min(usual, AT_MOST.get(phase, usual))

    def _units(self) -> dict[str, float]:
        """Return how long reading and coding took, or will have taken."""
        over = {one: spent for one, spent in self._taken.items() if one in MEASURED}
        return self._projected | over
