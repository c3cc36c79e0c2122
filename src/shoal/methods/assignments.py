"""The solver of sparse assignments, installed by those who need one."""

from __future__ import annotations

from typing import Any

from shoal.table.files import load


def assignments(what: str) -> Any:
    """Return OR-tools' solver, or raise saying what needs it and how it is installed."""
    return load("ortools.graph.python.linear_sum_assignment", extra="matching", what=what)
