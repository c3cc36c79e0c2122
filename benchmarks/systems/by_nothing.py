"""Every column shuffled by itself: nothing to find about a person, and nothing to learn."""

from __future__ import annotations

import polars as pl

REQUIREMENTS = ()
SETTINGS: dict[str, dict] = {"columns shuffled": {}}


def make(source, target, case, setting, seed) -> None:  # noqa: ARG001
    table = pl.read_csv(source)
    shuffled = [
        table[name].sample(fraction=1, shuffle=True, seed=seed + at)
        for at, name in enumerate(table.columns)
    ]
    pl.DataFrame(shuffled).write_csv(target)
