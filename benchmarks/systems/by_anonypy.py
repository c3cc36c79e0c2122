"""Mondrian by the package anonypy: k-anonymity, which protects no sensitive value."""

from __future__ import annotations

REQUIREMENTS = ("anonypy==0.2.1", "pandas==2.3.3", "numpy==2.0.2")
SETTINGS = {f"k = {k}": {"k": k} for k in (5, 10)}


def make(source, target, case, setting, seed) -> None:
    from random import Random

    import pandas as pd
    from anonypy import Preserver
    from completion import complete_cells

    table = pd.read_csv(source)
    made = pd.DataFrame(
        Preserver(table, case["quasi"], case["sensitive"]).anonymize_k_anonymity(k=setting["k"])
    )
    # A row of its result stands for `count` people, and its cells are lists of one text.
    made = made.loc[made.index.repeat(made["count"])].drop(columns="count")
    for name in case["quasi"]:
        made[name] = made[name].map(lambda cell: str(cell[0] if isinstance(cell, list) else cell))
    made.to_csv(target.with_suffix(".cells.csv"), index=False)
    random = Random(seed)
    for name in case["quasi"]:
        made[name] = complete_cells(made[name].tolist(), random)
    made[table.columns].to_csv(target, index=False)
