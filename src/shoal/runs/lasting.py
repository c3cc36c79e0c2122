"""Regions of a series: drawn once, by the newcomers of a round, and the same in all later releases.

They depend on nothing but these newcomers and what the schema says, and the ledger keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError, option
from shoal.release.building import as_found
from shoal.release.regions import drawn_texts, remembered
from shoal.release.stated import StatedBirth
from shoal.table.grid import REGIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.release.ledger import Ledger
    from shoal.release.manifest import Manifest
    from shoal.runs.release import Release
    from shoal.runs.run import Run
    from shoal.table.coded import Coded


def fixed_grid(run: Run) -> dict[str, Any]:
    """Return what a ledger fixes of how cells are drawn; None where they are tight.

    Raises where regions would depend on who happens to be in the first table.
    """
    if run.cells != REGIONS:
        return {"cells": None}
    _check_grid(run)
    grid = (run.schema.step, run.schema.bounds)
    step, bounds = ({name: _plain(said) for name, said in one.items()} for one in grid)
    return {"cells": REGIONS, "step": step, "bounds": bounds}


def _plain(said: Any) -> Any:
    return list(map(str, said)) if isinstance(said, list | tuple) else str(said)


def _check_grid(run: Run) -> None:
    schema = run.schema
    for name in (one for one in schema.quasi if one not in schema.never_mix):
        if name in schema.hierarchies:
            continue
        if name not in schema.bounds or name not in schema.step:
            msg = (
                "Regions of a series never change, so they cannot follow from the first table. "
                f"Say bounds and a step of column {name!r} in the schema file, or a hierarchy "
                "if it has labels."
            )
            raise UsageError(msg)
        if schema.missing_cells.get(name, run.missing) == "value":
            msg = (
                f"Regions of a series cannot cover missing numbers, and column {name!r} keeps "
                f"them. Leave those rows out: {option('missing', f'{name}=drop')}."
            )
            raise UsageError(msg)


def take_groups(ledger: Ledger, born: Release, groups: Groups, order: NDArray) -> None:
    """Give new groups their places in a ledger, in the order of their numbers."""
    if born.coded.cells == REGIONS:
        ledger.births.append(len(ledger.groups))
        drawn = remembered(born.coded, as_found(groups, born.recoding.layout))
        ledger.regions += [drawn[group] for group in np.argsort(order).tolist()]
    ledger.groups += [""] * len(groups)  # known when they are written


def with_regions(coded: Coded, ledger: Ledger, numbers: NDArray[np.int64]) -> Coded:
    """Return rows with the regions that the groups of these numbers were born with."""
    if not ledger.regions:
        return coded
    return replace(coded, drawn=[ledger.regions[one] for one in numbers.tolist()])


def say_births(manifest: Manifest, ledger: Ledger, coded: Coded, living: set[int]) -> None:
    """Say where the groups of each round begin, and which regions no group has any more."""
    names = manifest.named("quasi")
    for first, last in pairwise([*ledger.births, len(ledger.groups)]):
        gone = [ledger.regions[one] for one in range(first, last) if one not in living]
        manifest.births.append(StatedBirth(first, drawn_texts(coded, gone, names)))
