"""Releases by Shoal: forms, methods, m from 3 to 10, tight cells and regions."""

from __future__ import annotations

REQUIREMENTS = ()
SETTINGS = {
    f"{method} {form} {cells}, m = {m}": {
        "method": f"{method}()", "form": form, "cells": cells, "m": m,
    }
    for method, form, cells, levels in (
        ("Exchange", "intervals", "tight", (3, 10)),
        ("Exchange", "means", "tight", (5,)),
        ("Exchange", "bounds", "tight", (5,)),
        ("Split", "intervals", "tight", (3, 10)),
        ("Split", "intervals", "regions", (3, 10)),
        ("Oblivious", "intervals", "tight", (3, 10)),
        ("Oblivious", "intervals", "regions", (3, 10)),
        ("Oblivious", "two-tables", "tight", (3, 10)),
    )
    for m in levels
} | {
    f"Mondrian intervals {cells}, k = {k}": {
        "method": "Mondrian()", "form": "intervals", "cells": cells, "k": k,
    }
    for cells in ("tight", "regions")
    for k in (5, 10)
}  # fmt: skip


def make(source, target, case, setting, seed) -> None:
    from random import Random

    import polars as pl
    from completion import complete_cells

    import shoal

    table = pl.read_csv(source)
    bounds = {name: case["bounds"][name] for name in case["quasi"]}
    schema = shoal.Schema(quasi=case["quasi"], sensitive=case["sensitive"], bounds=bounds)
    require = (
        f"EpsilonM(epsilon={case['epsilon']}, m={setting['m']})"
        if "m" in setting
        else f"KAnonymity(k={setting['k']})"
    )
    release = shoal.anonymize(
        table, schema, require=require, method=setting["method"], form=setting["form"],
        cells=setting["cells"], seed=seed,
    )  # fmt: skip
    place = target.with_suffix("")
    release.write(place)
    if setting["form"] == "two-tables":
        completed = place.with_suffix(".completed")
        shoal.complete(place, completed, tables=2, chains=2, seed=seed, anyway=True)
        drawn = pl.read_csv(completed / "completed.csv")
        made = drawn.filter(pl.col(".imp") == 1).select(table.columns)
    else:
        made = release.table_as("intervals")
        random = Random(seed)
        made = made.with_columns(
            pl.Series(name, complete_cells(made[name].cast(pl.String).to_list(), random))
            for name in case["quasi"]
        ).select(table.columns)
    made.write_csv(target)
