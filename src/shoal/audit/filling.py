"""Filling large multisets with small ones, so that each small one is used and nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

STEPS = 2_000_000  # looks at small ones that several large ones could take

Trail = list[tuple[int, int]]  # what was done, to be undone: given away, or (-1 - it) ruled out


class Filling:
    """Small multisets, large ones, and into which large ones each small one would fit."""

    def __init__(
        self, small: list[Counter[int]], large: list[Counter[int]], fits: list[set[int]]
    ) -> None:
        self.small, self.large, self.fits = small, large, fits
        self.owner = [-1] * len(small)
        self.wanted: dict[int, list[int]] = {}
        for place, some in enumerate(fits):
            for where in some:
                self.wanted.setdefault(where, []).append(place)

    def run(self, accept: Callable[[list[int]], bool]) -> list[int] | None:
        """Return the large one of each small one, None where there is no way that is accepted.

        Whoever fits one place alone goes there; where several are left, one is tried after the
        other. Raises `TimeoutError` where that takes too long.
        """
        steps = STEPS
        stack: list[tuple[int, Iterator[int], Trail]] = []
        good = self._settle(list(range(len(self.small))), [])
        while True:
            left = [place for place, where in enumerate(self.owner) if where < 0]
            if good and not left:
                steps -= len(self.small)
                if not any(self.large) and accept(self.owner):
                    return self.owner
                good = False
            if good:
                steps -= len(left)
                place = min(left, key=lambda one: len(self.fits[one]))
                stack.append((place, iter(sorted(self.fits[place])), []))
            if steps < 0:
                raise TimeoutError
            if not self._next(stack):
                return None
            good = self._settle([stack[-1][0]], stack[-1][2])

    def _next(self, stack: list[tuple[int, Iterator[int], Trail]]) -> bool:
        """Try the next place for the last one that was tried, or for one before; False: none."""
        while stack:
            place, rest, trail = stack.pop()
            self._undo(trail)
            where = next(rest, None)
            if where is not None:
                trail = [(-1 - place, other) for other in self.fits[place] if other != where]
                self.fits[place] = {where}
                stack.append((place, rest, trail))
                return True
        return False

    def _settle(self, queue: list[int], trail: Trail) -> bool:
        """Give away whoever fits one place alone; return False where somebody fits none."""
        while queue:
            place = queue.pop()
            if self.owner[place] >= 0 or len(self.fits[place]) > 1:
                continue
            if not self.fits[place]:
                return False
            (where,) = self.fits[place]
            if not self.small[place] <= self.large[where]:
                return False
            self.owner[place] = where
            self.large[where] = self.large[where] - self.small[place]
            trail.append((place, where))
            queue += self._rule_out(where, trail)
        return True

    def _rule_out(self, where: int, trail: Trail) -> list[int]:
        """Rule a place out for all that fit no more; return them."""
        gone = [
            other
            for other in self.wanted[where]
            if self.owner[other] < 0
            and where in self.fits[other]
            and not self.small[other] <= self.large[where]
        ]
        for other in gone:
            self.fits[other].discard(where)
            trail.append((-1 - other, where))
        return gone

    def _undo(self, trail: Trail) -> None:
        for place, where in reversed(trail):
            if place < 0:
                self.fits[-1 - place].add(where)
            else:
                self.owner[place] = -1
                self.large[where] = self.large[where] + self.small[place]
        trail.clear()
