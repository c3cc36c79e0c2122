"""How often estimates from releases hold the truth, on simulated and on real tables.

Samples of 3,000 rows are published and analysed, and the whole table is the truth. Seeds are
0, 1, 2 and so on. There are five lines: `true` (the model is true), `valid` (real tables), `mild`
and `corrected` (groups that look at values, far from the limit and near it), and `time` (processor
time of one regression, of 3,000 and 100,000 rows). Without options all of them are measured.
Results are appended to a file, a line a sample, so that runs can go on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.estimation import analyses as what
from shoal.estimation import completing, judging
from shoal.estimation.analyses import Analysis
from shoal.estimation.completing import Problem
from shoal.estimation.opening import Analysable, open_release
from shoal.release.manifest import Manifest
from shoal.release.stated import StatedAsk, StatedLoss
from shoal.runs.estimating import answer
from shoal.table.coding import code_lenient

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
ROWS = 3000
M = 5
SECONDS = {3_000: 2, 100_000: 60}  # of processor time that one estimate may take, by rows


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
    return table.sample(60_000, seed=1, shuffle=True).cast({"sex": pl.String})


def read(name, **options):
    return pl.read_csv(DATA / f"{name}.csv.gz", infer_schema_length=None, **options)


TABLES = {  # table, quasi columns, sensitive column
    "census": (workers, ["age", "education", "hours", "sex"], "income"),
    "wages": (
        lambda: workers().filter(pl.col("wage") > 0).with_columns(state=pl.format("s{}", "state")),
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
    "labels": (
        lambda: read("census_acs2024_50k").filter(pl.col("age") >= 18),
        ["age", "sex", "marital", "workclass"],
        "income",
    ),
    "space": (
        lambda: read("kc_house_sales"),
        ["bedrooms", "bathrooms", "floors", "yr_built"],
        "sqft_living",
    ),
    "taxes": (
        lambda: read("casc_census"),
        ["AGI", "PTOTVAL", "EMCONTRB"],
        "FEDTAX",
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
    shapes = {name: column for one in found for name, column in one.shapes.items()}
    responses = {name: column for one in found for name, column in one.responses.items()}
    return Analysis("everything", value, tuple(names), fit, terms, shapes, responses)


@cache
def read_whole(name):
    """Return the quasi columns, the sensitive column, and the whole table."""
    if name == "true":
        return ["age", "education", "hours", "sex"], "income", simulated(200_000, 99)
    make, quasi, value = TABLES[name]
    return quasi, value, make().select(*quasi, value).drop_nulls()


@cache
def limit_of(name, method, rows):
    """Return the largest ε that a method reaches on a sample, within a few per cent."""
    quasi, value, table = read_whole(name)
    sample = table.sample(rows, with_replacement=True, seed=12345)
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


SEEN: list[
    dict[str, object]
] = []  # what the draws of the latest samples said, for who looks for better rules


def watched(completed, diagnose=judging.Diagnosis.of):
    SEEN.append(vars(diagnosis := diagnose(completed)))
    return diagnosis


@dataclass
class Trial:
    """A table, a method and a requirement: samples of it are published and analysed."""

    name: str
    method: str
    share: float
    anyway: bool
    rows: int = ROWS
    answered: bool = False

    def prepare(self) -> None:
        """Read the table; the whole of it is the truth, and its limit says what ε is."""
        self.quasi, self.value, self.table = read_whole(self.name)
        everyone = np.arange(self.table.height, dtype=np.int32)
        self.truth = self.asked(original(self.table, self.quasi, self.value)).fit(everyone)[0]
        self.epsilon = limit_of(self.name, self.method, self.rows) * self.share

    def asked(self, release):
        """Return everything that is asked of a release, as one analysis."""
        return asked(release, self.quasi, self.value, self.table)

    def sample(self, seed):
        """Publish and analyse one sample; None where the requirement is not achievable on it."""
        if self.name == "true":
            sample = simulated(self.rows, seed)
        else:
            sample = self.table.sample(self.rows, with_replacement=True, seed=seed)
        everybody = np.arange(self.rows, dtype=np.int32)
        mine = self.asked(original(sample, self.quasi, self.value)).fit(everybody)
        try:
            made = publish(sample, self.quasi, self.value, self.method, self.epsilon)
        except shoal.NotAchievable:
            return None
        begun = time.process_time()
        release = open_release(made)
        SEEN.clear()
        found = answer(release, self.asked, 20, 2, seed, anyway=self.anyway)
        return {
            "table": self.name,
            "method": self.method,
            "share": self.share,
            "rows": self.rows,
            "seed": seed,
            "epsilon": self.epsilon,
            "seconds": time.process_time() - begun,
            "truth": self.truth.tolist(),
            "original": np.stack([mine[0], np.sqrt(mine[1])]).tolist(),
            "status": found.status,
            "reason": found.reason,
            "diagnosis": SEEN[-1:],
            "telling": judging.between_groups(Problem(release, self.value)),
            "quantities": [
                [q.estimate, q.se, q.low, q.high, q.naive, q.missing, q.rhat, q.status, q.reason]
                for q in found.quantities
            ],
        }


def time_one(rows):
    """Print the processor time of one regression with two chains that are not lengthened."""
    table = simulated(rows, 0)
    release = open_release(publish(table, table.columns[:-1], "income", "Oblivious()", 1000.0))
    doubled, completing.DOUBLED = completing.DOUBLED, 0

    def regression(one):
        return what.regression(one, "log(income) ~ age + education + hours + sex", logit=False)

    begun = time.process_time()
    found = answer(release, regression, 20, 2, 0, anyway=True)
    taken = time.process_time() - begun
    completing.DOUBLED = doubled
    most = SECONDS.get(rows)
    limit = f" (at most {most})" if most else ""
    print(f"{rows:,} rows: {taken:.1f} s of processor time{limit}, {found.status}", flush=True)


STATUSES = ("valid", "approximate", "refused")
REASONS = {  # what is refused for, by a piece of the sentence that says so
    "a heap": "cannot follow such a heap",
    "groups hardly differ": "Groups hardly differ",
    "half of the information missing": "information about the slopes",
    "chains disagree on slopes": "of the slopes that Shoal always checks (at most",
    "off the model": "from what the model expects",
    "bias not measured": "not be measured",
    "chains disagree on it": "The chains do not agree on",
    "much of it missing": "of the information about it is missing",
}
HEADER = """\
table        method        share  samples  answers: valid approximate refused
  status       quantities  coverage (original's), more ± its error  estimate / original's
               spread / original's  off
  why          of the answers, how many are refused for each reason; several may hold"""


def show(path):
    """Print what the file has, some lines for each table, method and share.

    "more" is the difference of both coverages, with its standard error over samples. Estimates over
    the original's are of quantities that differ from 0; spreads are standard deviations over
    samples, of quantities that were answered in ten or more, the median of them. `off` is the error
    against the original in standard errors between tables: 1 is right.
    """
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(HEADER)
    by_key = defaultdict(list)
    for r in rows:
        by_key[r["table"], r["method"], r["share"], r.get("rows", ROWS)].append(r)
    for key, some in sorted(by_key.items()):
        print_one(key, some)


def print_one(key, some):
    found: dict[str, dict] = {status: defaultdict(list) for status in STATUSES}
    refused = 0
    why: Counter[str] = Counter()
    for turn, r in enumerate(some):
        truth, (own, error) = np.array(r["truth"]), np.array(r["original"])
        refused += 0 if r["quantities"] else len(truth)
        for reason in whole_reasons(r):
            why[reason] += len(truth)
        for place, (estimate, se, low, high, _, missing, _, *said) in enumerate(r["quantities"]):
            status = said[0]
            for reason in reasons_of(said[-1]) if status == "refused" else ():
                why[reason] += 1
            t, o, e = truth[place], own[place], error[place]
            between = np.sqrt(missing) * se
            found[status][place].append(
                (
                    low <= t <= high,
                    abs(o - t) <= 1.96 * e,
                    estimate if abs(t) > 4 * e else np.nan,
                    o,
                    estimate - t,
                    o - t,
                    (estimate - o) / between if missing > 0.001 else np.nan,
                    turn,
                )
            )
    counts = [sum(map(len, found[status].values())) for status in STATUSES]
    counts[-1] += refused
    shares = " ".join(f"{one / sum(counts):.2f}" for one in counts)
    seconds = np.median([r["seconds"] for r in some])
    rows = "" if key[3] == ROWS else f"  {key[3]:,} rows"
    print(
        f"{key[0]:12s} {key[1]:13s} {key[2]:5.2f}  {len(some):4d}  {shares}  {seconds:.1f} s{rows}"
    )
    for status, places in found.items():
        if places:
            print(f"  {status:12s} {figures(places, len(some))}")
    told = (f"{one} {count / sum(counts):.2f}" for one, count in sorted(why.items()))
    if why:
        print(f"  {'why':12s} {', '.join(told)}")


def whole_reasons(record):
    """Return why a whole release is refused, where no quantity says it by itself."""
    return () if record["quantities"] else reasons_of(record["reason"])


def reasons_of(sentences):
    """Return the reasons in what was said of a refusal."""
    return [reason for reason, piece in REASONS.items() if piece in sentences] or ["another"]


def figures(places, samples):
    every = {place: np.array(rows, float) for place, rows in places.items()}
    table = np.concatenate([*every.values()])
    more = table[:, 0] - table[:, 1]  # answers that hold the truth where the original does not
    rest = np.bincount(table[:, 7].astype(int), more - more.mean())
    margin = np.sqrt((rest**2).sum()) / len(more)
    often = [rows for rows in every.values() if len(rows) >= samples / 4]
    enough = [rows for rows in often if len(rows) >= 10]
    hits = [rows[:, 0].mean() for rows in enough]
    ratios = known(rows[:, 2].mean() / rows[:, 3].mean() for rows in often)
    spreads = [rows[:, 4].std() / rows[:, 5].std() for rows in enough if rows[:, 5].std() > 0]
    offs = known(np.sqrt(np.nanmean(rows[:, 6] ** 2)) for rows in enough)
    ranged = f", each {min(hits):.2f} to {max(hits):.2f}" if enough else ""
    ratio = f"{np.median(ratios):.3f}, {min(ratios):.2f} to {max(ratios):.2f}" if ratios else "–"
    off = f"{np.median(offs):.2f}, at most {max(offs):.2f}" if offs else "–"
    spread = f"{np.median(spreads):.2f}, at most {max(spreads):.2f}" if spreads else "–"
    return (
        f"{len(table):6d}  {table[:, 0].mean():.3f} ({table[:, 1].mean():.3f}), "
        f"{more.mean():+.3f} ± {margin:.3f}{ranged}  {ratio}  {spread}  {off}"
    )


def known(numbers):
    """Return the numbers that are known."""
    return [one for one in numbers if np.isfinite(one)]


REAL = ("census", "houses", "medications")
ROWS_OF_THE_TABLE = {  # the lines of the table of targets: tables, method, shares, anyway
    "true": (("true",), "Oblivious()", (0.12, 0.9), True),
    "valid": (tuple(TABLES), "Oblivious()", (0.12, 0.9), False),
    "mild": (REAL, "Exchange()", (0.12,), False),
    "corrected": (REAL, "Exchange()", (0.9,), False),
}


def trials_of(line, options):
    """Yield the trials of a line, of those tables and shares that were asked for."""
    tables, method, shares, anyway = ROWS_OF_THE_TABLE[line]
    for name in options.tables.split(",") if options.tables else tables:
        for share in map(float, options.shares.split(",")) if options.shares else shares:
            yield Trial(name, method, share, anyway or options.anyway, options.rows or ROWS)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", default=",".join([*ROWS_OF_THE_TABLE, "time"]))
    parser.add_argument("--rows", type=int, help="of each sample, in place of 3,000")
    parser.add_argument("--tables", help="of these alone")
    parser.add_argument("--shares", help="of the limit, in place of the line's own")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first sample")
    parser.add_argument("--anyway", action="store_true")
    parser.add_argument(
        "--patience", type=int, default=200, help="samples, all refused, after which one goes on"
    )
    parser.add_argument("--output", default="estimate.jsonl")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    out = Path(options.output)
    lines = [] if options.show else options.lines.split(",")
    if "time" in lines:
        for rows in [options.rows] if options.rows else SECONDS:
            time_one(rows)
    trials = [one for line in lines if line != "time" for one in trials_of(line, options)]
    judging.Diagnosis.of = watched  # type: ignore[method-assign]
    for one in trials:
        one.prepare()
    for turn, seed in enumerate(range(options.first, options.first + options.samples)):
        for trial in trials:  # all in turn, so that what is there early is of all
            if turn >= options.patience and not trial.answered:
                continue
            record = trial.sample(seed)
            if record is not None:
                trial.answered |= record["status"] != "refused" or trial.anyway
                with out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
    if out.exists():
        show(out)


if __name__ == "__main__":
    main()
