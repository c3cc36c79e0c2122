"""The tables behind the figures: where each is from, its digest, and how to make the census ones.

    python benchmarks/sources.py                          # compare the tables with their digests
    python benchmarks/sources.py --make SOURCE OUTPUT     # make the census tables

SOURCE is a folder with the person files of the American Community Survey of 2024, one year, PUMS
(U.S. Census Bureau), as Parquet files `p_01.parquet` and so on, one for each state. The digests
are of those in github.com/mikesimonsen/acs-pums-explorer at a32352c, `data/parquet/pums`, which
lacks California and Texas. A digest is of the cells, so that another compression of a file does
not change it. Exit code 2: a table is missing; 1: it is not the table of the figures.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import DATA

ARX = "github.com/arx-deidentifier/arx at aacd487, data/adult.csv"
SDCMICRO = "github.com/sdcTools/sdcMicro at cf32510, data"
TABLES = {
    "acs2024_workers.parquet": (
        "made by --make",
        "75240623c31d62811ab72b5163a564f00ab92316ab2909aec323f44739312754",
    ),
    "sal_acs2024_500k.csv.gz": (
        "made by --make",
        "492806b6c8dad842e4dfc9e370276508196dad4233882ca38586e19a0460808f",
    ),
    "census_acs2024_50k.csv.gz": (
        "made by --make",
        "86862947734ffc788fddefcf2bca4b2274c06cb0506c791b84cebe5bee4457ff",
    ),
    "adult_arx.csv.gz": (
        f"{ARX}, with commas",
        "2dc6b45aa5244ac8f8b471859d30d851375c4006059442ddddc8b0c8dc17339e",
    ),
    "cup_arx.csv.gz": (
        "github.com/fstahnke/arx-new-algorithms at 297fa72, data/cup.csv",
        "fa159846e9ed1821e8165385cca20c4f68e82c8bfb3c67f31e0111565e49427e",
    ),
    "kc_house_sales.csv.gz": (
        "King County house sales, the last sale of each house",
        "f8edebfbf868ee2f87c489ae099a5f9959d241f13e33229902002336a6f641e8",
    ),
    "diabetes130_patients.csv.gz": (
        "UCI Diabetes 130-US hospitals, first encounters",
        "18bcb34cd725c9a41e35a866eb28d199b67658937b058d18bce99f455a84023d",
    ),
    "casc_census.csv.gz": (
        f"{SDCMICRO}/CASCrefmicrodata.rda",
        "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b",
    ),
    "casc_tarragona.csv.gz": (
        f"{SDCMICRO}/Tarragona.rda",
        "d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4",
    ),
    "casc_eia.csv.gz": (
        f"{SDCMICRO}/EIA.rda",
        "4df54e21b3451e3c0b6081fa1c9ef5dbd8f09d484925ed2ade759b78b4869d1b",
    ),
}
WORKERS: dict[str, Any] = {
    "age": "AGEP",
    "sex": "SEX",
    "marital": "MAR",
    "race": "RAC1P",
    "hispanic": "HISP",
    "education": "SCHL",
    "workclass": "COW",
    "state": pl.col("STATE").cast(pl.Int64),
    "puma": pl.col("STATE").cast(pl.Int64) * 100_000 + pl.col("PUMA").cast(pl.Int64),
    "occupation": "OCCP",
    "industry": "INDP",
    "hours": pl.col("WKHP").fill_null(0),
    "wage": pl.col("WAGP").fill_null(0),
    "income": "PINCP",
}
SALARIES = ["age", "sex", "marital", "race", "education", "workclass", "state", "puma"]
SALARIES += ["occupation", "income"]
GRADES = [f"Grade {number}" for number in range(1, 12)]
LABELS = {  # by code, from 1
    "sex": ["Male", "Female"],
    "marital": ["Married", "Widowed", "Divorced", "Separated", "Never married"],
    "race": [
        "White",
        "Black",
        "American Indian",
        "Alaska Native",
        "American Indian or Alaska Native (other)",
        "Asian",
        "Pacific Islander",
        "Other",
        "Two or more",
    ],
    "education": [
        *("No schooling", "Preschool", "Kindergarten", *GRADES, "Grade 12 no diploma"),
        *("High school diploma", "GED", "Some college <1 year", "Some college 1+ years"),
        *("Associate", "Bachelor", "Master", "Professional", "Doctorate"),
    ],
    "workclass": [
        *("Private for-profit", "Private not-for-profit", "Local government"),
        *("State government", "Federal government", "Self-employed not incorporated"),
        *("Self-employed incorporated", "Unpaid family worker", "Unemployed"),
    ],
}


def make(source: Path) -> dict[str, pl.DataFrame]:
    """Return the census tables: all workers, salaries in a range, and some with labels."""
    files = sorted(source.glob("p_*.parquet"))
    if not files:
        sys.exit(f"{source} has no file p_*.parquet.")
    people = pl.concat([pl.read_parquet(file) for file in files])
    employed = pl.col("AGEP").ge(16) & pl.col("OCCP").is_not_null() & pl.col("PINCP").gt(0)
    workers = people.filter(employed).select(**WORKERS).cast(pl.Int64)
    ranged = workers.filter(pl.col("age") <= 93, pl.col("income").is_between(1_000, 100_000))
    adults = drawn(workers.filter(pl.col("age") <= 93), 50_000, seed=7)
    named = [
        pl.col(name).replace_strict(dict(enumerate(labels, 1)), return_dtype=pl.String)
        for name, labels in LABELS.items()
    ]
    return {
        "acs2024_workers.parquet": workers,
        "sal_acs2024_500k.csv.gz": drawn(ranged, 500_000, seed=20240501).select(SALARIES),
        "census_acs2024_50k.csv.gz": adults.select("age", *named, "income"),
    }


def drawn(frame: pl.DataFrame, rows: int, *, seed: int) -> pl.DataFrame:
    """Return some rows in a random order."""
    return frame[np.random.RandomState(seed).permutation(frame.height)[:rows]]


def read(path: Path) -> pl.DataFrame:
    """Return a table as it is used."""
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


def digest(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of the cells, as CSV."""
    return hashlib.sha256(frame.write_csv().encode()).hexdigest()


def compare(folder: Path) -> int:
    """Print of each table whether it is the one of the figures, and return the exit code."""
    codes = [0]
    for name, (origin, known) in TABLES.items():
        path = folder / name
        found = digest(read(path)) if path.exists() else None
        codes.append(2 if found is None else int(found != known))
        state = {None: "missing", known: "as in the figures"}.get(found, f"another: {found}")
        print(f"{name}: {state} ({origin})")
    return max(codes)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--make", type=Path, nargs=2, metavar=("SOURCE", "OUTPUT"))
    asked = parser.parse_args()
    if asked.make is None:
        sys.exit(compare(DATA))
    source, output = asked.make
    output.mkdir(parents=True, exist_ok=True)
    for name, frame in make(source).items():
        if name.endswith(".parquet"):
            frame.write_parquet(output / name, compression="zstd")
        else:
            frame.write_csv(output / name, compression="gzip")
        print(f"{name}: {frame.height:,} rows, {digest(frame)}")


if __name__ == "__main__":
    main()
