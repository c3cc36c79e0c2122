"""A table published by Shoal in a fresh process, measured as the peers are: run by run.py."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import polars as pl

import shoal


def main() -> None:
    source, target, said = sys.argv[1:]
    asked = json.loads(said)
    table = pl.read_csv(source)
    hierarchies = {}
    if asked["hierarchies"]:
        levels = json.loads(Path(asked["hierarchies"]).read_text("utf-8"))
        paths = {name: zip(*levels[name], strict=True) for name in asked["quasi"]}
        hierarchies = {
            name: shoal.hierarchies.Listed(paths=tuple(tuple(map(str, path)) for path in found))
            for name, found in paths.items()
        }
    schema = shoal.Schema(
        quasi=asked["quasi"], sensitive=asked["sensitive"], hierarchies=hierarchies
    )
    start = time.perf_counter()
    release = shoal.anonymize(table, schema, require=asked["require"], method=asked["method"])
    made = release.table
    seconds = time.perf_counter() - start
    made.write_csv(target)
    print(json.dumps({"call": seconds}))


if __name__ == "__main__":
    main()
