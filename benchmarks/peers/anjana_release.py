"""A table made k-anonymous by anjana: run by run.py in the environment of the peers.

Hierarchies come as a JSON file: for every column its levels, each a list over the same values.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity


def main() -> None:
    source, target, said = sys.argv[1:]
    asked = json.loads(said)
    table = pd.read_csv(source, keep_default_na=False)
    levels = json.loads(Path(asked["hierarchies"]).read_text("utf-8"))
    hierarchies = {name: dict(enumerate(map(np.array, levels[name]))) for name in asked["quasi"]}
    start = time.perf_counter()
    made = k_anonymity(table, [], asked["quasi"], asked["k"], asked["suppress"], hierarchies)
    seconds = time.perf_counter() - start
    if made.empty:
        sys.exit("anjana returned an empty table.")
    made[[*asked["quasi"], asked["sensitive"]]].to_csv(target, index=False)
    print(json.dumps({"call": seconds}))


if __name__ == "__main__":
    main()
