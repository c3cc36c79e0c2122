"""How far the estimated risk in a population is from the true one, on tables that are whole.

    python benchmarks/population.py

Each table is taken for a population, of which samples of four sizes are drawn. The estimate of
`shoal.audit.sampled` from the sample alone is compared with the share of right matches among all
people of the table who have a description that is unique in the sample.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from common import DATA

from shoal.audit.sampled import unique_matches

TABLES: dict[str, tuple[list[str], ...]] = {
    "sal_acs2024_500k": (
        ["age", "sex", "race", "education", "state"],
        ["age", "sex", "puma"],
        ["age", "sex", "marital", "occupation"],
    ),
    "census_acs2024_50k": (
        ["age", "sex", "marital", "race", "education"],
        ["age", "sex", "education", "workclass"],
    ),
    "adult_uci": (
        ["age", "sex", "race", "education", "occupation"],
        ["age", "sex", "native-country", "marital-status"],
    ),
    "fars_arx_10pct": (["iage", "isex", "istatenum"], ["iage", "isex", "ideathmon", "irace"]),
    "cup_arx": (["AGE", "GENDER", "STATE"], ["ZIP", "GENDER"]),
    "informs_demographics": (
        ["birth_year", "birth_month", "sex", "race"],
        ["birth_year", "sex", "marital", "education_years"],
    ),
    "sdcmicro_testdata": (
        ["age", "sex", "relat"],
        ["age", "sex", "roof", "walls", "hhcivil"],
    ),
    "diabetes130_patients": (
        ["race", "gender", "age", "admission_type_id", "time_in_hospital"],
        ["gender", "age", "medical_specialty", "payer_code"],
    ),
}
SHARES = (0.01, 0.05, 0.2, 0.5)


def main() -> None:
    """Print a line a sample, and the median and largest error."""
    chance, errors = np.random.default_rng(7), []
    for name, choices in TABLES.items():
        table = pl.read_csv(DATA / f"{name}.csv.gz", infer_schema_length=None, ignore_errors=True)
        for quasi in choices:
            whom = table.select(pl.struct(quasi).rank("dense")).to_series().to_numpy() - 1
            everybody = np.bincount(whom)
            for share in SHARES:
                drawn = chance.choice(whom, int(len(whom) * share), replace=False)
                sizes = np.bincount(drawn, minlength=len(everybody))
                alone = sizes == 1
                found = unique_matches(sizes[sizes > 0], len(whom))
                if found is None:
                    continue
                truth = alone.sum() / everybody[alone].sum()
                errors.append(abs(float(found) - truth))
                said = f"{truth:.3f} estimated {float(found):.3f}"
                print(f"{name} {share:4.0%} {'+'.join(quasi)}: {said}")
    print(f"{len(errors)} samples: median {np.median(errors):.3f}, largest {max(errors):.3f}")


if __name__ == "__main__":
    main()
