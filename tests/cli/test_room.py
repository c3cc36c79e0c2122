"""Calls at any depth of a command cost the same."""

from __future__ import annotations

import resource

from shoal.cli.main import with_room

CALLS = 500


def taken(depth: int) -> int:
    """Return how often many calls at a depth had to be given memory by the system."""
    if depth:
        return taken(depth - 1)

    def nothing() -> None:
        """Return."""

    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        nothing()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_depth_of_a_command_makes_every_call_ask_for_memory():
    def most() -> int:
        return max(map(taken, range(250)))

    assert with_room(most) < CALLS // 2
