"""How often estimates from releases hold the truth, on simulated and on real tables.

A row is a table and a requirement: samples of 3,000 rows are published and analysed, and the whole
table is the truth. `--true`: the model is true; `--exchange`: groups that look at values.
Results are appended to a file, a line a sample, so that runs can be continued and added up.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.estimation import analyses as what
from shoal.estimation.analyses import Analysis
from shoal.estimation.opening import Analysable, open_release
from shoal.release.manifest import Manifest
from shoal.release.stated import StatedAsk, StatedLoss
from shoal.runs.estimating import answer
from shoal.table.coding import code_lenient

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
ROWS = 3000
M = 5


def simulated(rows, seed):
    """People whose values follow the model: a normal score that is linear in the quasi columns."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 75, rows)
    sex = random.integers(1, 3, rows)
    education = np.clip((random.normal(17, 3, rows) + 0.02 * (age - 45)).round(), 1, 24)
    hours = np.clip(random.normal(40 - 4 * (sex == 2), 10, rows).round(), 1, 80)
    mean = 8.2 + 0.018 * age + 0.07 * education + 0.015 * hours - 0.25 * (sex == 2)
    value = np.round(np.exp(mean + random.normal(0, 0.6, rows)))
    columns = {"age": age, "education": education, "hours": hours, "sex": sex, "income": value}
    return pl.DataFrame(columns).cast(pl.Int64)


def workers():
    table = pl.read_parquet(DATA / "acs2024_workers.parquet")
    return table.sample(400_000, seed=1, shuffle=True).cast({"sex": pl.String})


def read(name, **options):
    return pl.read_csv(DATA / f"{name}.csv.gz", infer_schema_length=None, **options)


TABLES = {  # table, quasi columns, sensitive column
    "census": (workers, ["age", "education", "hours", "sex"], "income"),
    "wages": (
        lambda: workers().filter(pl.col("wage") > 0).cast({"state": pl.String}),
        ["age", "education", "state", "sex"],
        "wage",
    ),
    "houses": (
        lambda: read("kc_house_sales"),
        ["sqft_living", "bedrooms", "lat", "yr_built"],
        "price",
    ),
    "medications": (
        lambda: read("diabetes130_patients").filter(pl.col("gender") != "Unknown/Invalid"),
        ["time_in_hospital", "num_procedures", "number_diagnoses", "gender"],
        "num_medications",
    ),
    "laboratory": (
        lambda: read("diabetes130_patients").filter(pl.col("gender") != "Unknown/Invalid"),
        ["time_in_hospital", "num_medications", "number_diagnoses", "gender"],
        "num_lab_procedures",
    ),
    "adult-hours": (
        lambda: read("adult_uci"),
        ["age", "education-num", "sex", "marital-status"],
        "hours-per-week",
    ),
    "donations": (
        lambda: read("cup_arx").filter(pl.col("GENDER").is_in(["Female", "Male"])),
        ["AGE", "INCOME", "NGIFTALL", "GENDER"],
        "RAMNTALL",
    ),
    "electricity": (
        lambda: read("casc_eia").filter(pl.col("RESREVENUE") > 0),
        ["MONTH", "RESSALES", "COMSALES", "INDSALES"],
        "RESREVENUE",
    ),
    "informs": (
        lambda: (
            read("informs_demographics")
            .filter((pl.col("income") > 0) & (pl.col("education_years") >= 0))
            .cast({"sex": pl.String})
        ),
        ["birth_year", "education_years", "poverty", "sex"],
        "income",
    ),
    "survey": (
        lambda: read("sdcmicro_testdata").cast({"sex": pl.String, "urbrur": pl.String}),
        ["age", "sex", "urbrur", "relat"],
        "expend",
    ),
    "hourly-wages": (
        lambda: pl.read_parquet(DATA / "census_income_kdd.parquet").filter(
            (pl.col("wage_per_hour") > 0) & (pl.col("age") >= 18)
        ),
        ["age", "weeks_worked", "sex", "education"],
        "wage_per_hour",
    ),
    "taxes": (
        lambda: read("casc_census"),
        ["AFNLWGT", "FEDTAX", "EMCONTRB", "STATETAX"],
        "PTOTVAL",
    ),
}


UNSAID = Manifest(
    shoal=shoal.__version__,
    id="",
    form="two-tables",
    rows=1,
    groups=1,
    columns=[],
    require=[],
    method="",
    asked=StatedAsk(),
    measured=[],
    loss=StatedLoss(0, {}),
    digests={},
)


def original(table, quasi, value):
    """Return a table as an analyst would have it, everybody in a group of their own."""
    columns = {name: code_lenient(table[name]) for name in (*quasi, value)}
    starts = np.arange(table.height + 1)
    return Analysable(
        UNSAID, starts, {name: columns[name] for name in quasi}, {value: columns[value]}
    )


def asked(release, quasi, value, whole):
    """Return everything that is asked of a table, as one analysis; the whole gives thresholds."""
    few = [name for name in quasi if release.quasi[name].numeric or whole[name].n_unique() <= 8]
    quoted = [f"`{name}`" for name in few]
    right = " + ".join(quoted)
    numbers = whole[value]
    middle = numbers.median()
    found = [what.regression(release, f"`{value}` ~ {right}", logit=False)]
    if numbers.min() > 0:
        found.append(what.regression(release, f"log(`{value}`) ~ {right}", logit=False))
    found.append(what.regression(release, f"`{value}` > {middle} ~ {right}", logit=True))
    found.append(what.correlations(release, value))
    for name in quasi:
        if release.quasi[name].numeric and whole[name].n_unique() > 8:
            low, high = whole[name].quantile(0.25), whole[name].quantile(0.75)
            found.append(what.means(release, f"`{value}`", f"`{name}` <= {low}"))
            found.append(what.quantiles(release, 0.9, value, f"`{name}` >= {high}"))
        elif 1 < whole[name].n_unique() <= 3:
            found.append(what.quantiles(release, 0.5, value, name))
    names = [f"{place}:{name}" for place, one in enumerate(found) for name in one.names]

    def fit(order):
        fits = [one.fit(order) for one in found]
        return tuple(np.concatenate([one[k] for one in fits]) for k in (0, 1))

    terms = tuple({term for one in found for term in one.terms})
    return Analysis("everything", value, tuple(names), fit, terms)


def intervals(fit):
    return np.stack([fit[0], np.sqrt(fit[1])])


def limit_of(table, quasi, value, method):
    """Return the largest ε that a method reaches on a sample, within a few per cent."""
    sample = table.sample(ROWS, with_replacement=True, seed=12345)
    numbers = sample[value].cast(pl.Float64)
    low, high = 0.0, float(numbers.quantile(0.95) - numbers.quantile(0.05))
    for _ in range(9):
        middle = (low + high) / 2
        try:
            publish(sample, quasi, value, method, middle)
            low = middle
        except shoal.NotAchievable:
            high = middle
    return low


def publish(sample, quasi, value, method, epsilon):
    schema = shoal.Schema(quasi=quasi, sensitive=value)
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=M)
    return shoal.anonymize(sample, schema, require=require, method=method, form="two-tables")


def run(name, method, share, seeds, out, *, anyway):
    if name == "true":
        quasi, value = ["age", "education", "hours", "sex"], "income"
        table = simulated(500_000, 99)
    else:
        make, quasi, value = TABLES[name]
        table = make().select(*quasi, value).drop_nulls()
    whole = original(table, quasi, value)
    everyone = np.arange(table.height, dtype=np.int32)
    truth = asked(whole, quasi, value, table).fit(everyone)[0]
    epsilon = limit_of(table, quasi, value, method) * share
    with out.open("a") as file:
        for seed in seeds:
            if name == "true":
                sample = simulated(ROWS, seed)
            else:
                sample = table.sample(ROWS, with_replacement=True, seed=seed)
            everybody = np.arange(ROWS, dtype=np.int32)
            mine = intervals(
                asked(original(sample, quasi, value), quasi, value, table).fit(everybody)
            )
            record = {
                "table": name,
                "method": method,
                "share": share,
                "seed": seed,
                "epsilon": epsilon,
            }
            try:
                release = open_release(publish(sample, quasi, value, method, epsilon))
            except shoal.NotAchievable:
                continue
            begun = time.process_time()
            everything = partial(asked, quasi=quasi, value=value, whole=table)
            found = answer(release, everything, 20, 2, seed, anyway=anyway)
            record |= {
                "seconds": time.process_time() - begun,
                "names": [one.name for one in found.quantities],
                "truth": truth.tolist(),
                "original": mine.tolist(),
                "status": found.status,
                "reason": found.reason,
                "quantities": [
                    [q.estimate, q.se, q.low, q.high, q.naive, q.missing, q.rhat, q.status]
                    for q in found.quantities
                ],
            }
            file.write(json.dumps(record) + "\n")
            file.flush()


STATUSES = ("valid", "approximate", "refused")
HEADER = """\
table        method        share  samples  shares: valid approximate refused
  status       quantities  coverage (original's)  estimate / original's  spread / original's  off"""


def show(path):
    """Print what the file has, some lines for each table, method and share.

    `off` is the error against the original in standard errors between tables: 1 is right.
    """
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(HEADER)
    for key in sorted({(r["table"], r["method"], r["share"]) for r in rows}):
        some = [r for r in rows if (r["table"], r["method"], r["share"]) == key]
        print_one(key, some)


def print_one(key, some):
    found: dict[str, list] = {status: [] for status in STATUSES}
    refused = 0
    for r in some:
        truth, (own, error) = np.array(r["truth"]), np.array(r["original"])
        refused += 0 if r["quantities"] else len(truth)
        for place, (estimate, se, low, high, _, missing, _, status) in enumerate(r["quantities"]):
            t, o, e = truth[place], own[place], error[place]
            strong = abs(t) > 4 * e
            between = np.sqrt(missing) * se
            found[status].append(
                (
                    low <= t <= high,
                    abs(o - t) <= 1.96 * e,
                    estimate / o if strong else np.nan,
                    se / e,
                    (estimate - o) / between if missing > 0.001 else np.nan,
                )
            )
    total = refused + sum(map(len, found.values()))
    counts = [len(found[status]) + refused * (status == "refused") for status in STATUSES]
    shares = " ".join(f"{one / total:.2f}" for one in counts)
    seconds = np.median([r["seconds"] for r in some])
    print(f"{key[0]:12s} {key[1]:13s} {key[2]:5.2f}  {len(some):4d}  {shares}  {seconds:.1f} s")
    for status, rows in found.items():
        if rows:
            table = np.array(rows, float)
            hit, own = table[:, :2].mean(0)
            ratio, spread = np.nanmedian(table[:, 2:4], 0)
            off = np.sqrt(np.nanmean(table[:, 4] ** 2))
            print(
                f"  {status:12s} {len(rows):6d}      {hit:.3f} ({own:.3f})         {ratio:.3f}"
                f"                  {spread:.2f}                 {off:.2f}"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--method", default="Oblivious()")
    parser.add_argument("--shares", default="0.12,0.9")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--anyway", action="store_true")
    parser.add_argument("--output", default="estimate.jsonl")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    out = Path(options.output)
    if not options.show:
        for name in options.tables.split(","):
            for share in map(float, options.shares.split(",")):
                seeds = range(options.first, options.first + options.samples)
                run(name, options.method, share, seeds, out, anyway=options.anyway)
                print(name, share, "done", file=sys.stderr)
    show(out)


if __name__ == "__main__":
    main()
