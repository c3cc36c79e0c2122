"""A table made k-anonymous by anonypy: run by run.py in the environment of the peers."""

from __future__ import annotations

import json
import sys
import time

import pandas as pd
from anonypy import Preserver


def main() -> None:
    source, target, said = sys.argv[1:]
    asked = json.loads(said)
    table = pd.read_csv(source, keep_default_na=False)
    for name in asked["quasi"]:
        if table[name].dtype == object:
            table[name] = table[name].astype("category")
    start = time.perf_counter()
    preserver = Preserver(table, asked["quasi"], asked["sensitive"])
    rows = preserver.anonymize_k_anonymity(k=asked["k"])
    seconds = time.perf_counter() - start
    # A row of its result stands for `count` people, and its cells are lists of one text.
    made = pd.DataFrame(rows)
    made = made.loc[made.index.repeat(made["count"])].drop(columns="count")
    for name in asked["quasi"]:
        made[name] = made[name].str[0]
    made.to_csv(target, index=False)
    print(json.dumps({"call": seconds}))


if __name__ == "__main__":
    main()
