"""Count queries against their definition, on small random published tables."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference.queries import anatomy_count, expected_count
from shoal.utility.queries import BoxTable, ExactTable
from shoal.utility.sets import Numbers
from stated import stated
from tables import QUASI, frame, schema, tables

PLACES = {"west": ["p", "q"], "east": ["r"], "*": ["p", "q", "r"]}
KINDS: dict[str, Any] = {
    "age": "interval",
    "rate": "interval",
    "job": "set",
    "home": PLACES,
    "pay": "exact",
    "ill": "exact",
}
SCHEMA = shoal.Schema(
    quasi=["age", "rate", "job", "home"],
    sensitive=["pay", "ill"],
    hierarchies={"home": {"west": ["p", "q"], "east": ["r"]}},
)
DOMAINS: dict[str, Any] = {
    "age": [-3, 4],
    "rate": [0.5, 2],
    "job": ["a", "b", 'c"'],
    "home": {
        "leaves": 3,
        "nodes": [
            {"name": name, "parent": parent, "leaves": leaves}
            for name, parent, leaves in [
                ("*", None, 3),
                ("west", "*", 2),
                ("east", "*", 1),
                ("p", "west", 1),
                ("q", "west", 1),
                ("r", "east", 1),
            ]
        ],
    },
}

ages = st.integers(-3, 4)
rates = st.sampled_from(["0.5", "0.7", "1", "2"])


def interval(ends):
    return st.tuples(ends, ends).map(lambda pair: sorted(pair, key=float)).map(spelled)


def spelled(pair):
    low, high = map(str, pair)
    return low if low == high else f"[{low}, {high}]"


def spelled_set(labels):
    return labels[0] if len(labels) == 1 else json.dumps(labels)


rows = st.lists(
    st.fixed_dictionaries(
        {
            "age": interval(ages),
            "rate": interval(rates),
            "job": st.lists(
                st.sampled_from(DOMAINS["job"]), min_size=1, max_size=3, unique=True
            ).map(spelled_set),
            "home": st.sampled_from(["p", "q", "r", "west", "east", "*"]),
            "pay": st.integers(-2, 6),
            "ill": st.sampled_from("xyz"),
        }
    ),
    min_size=1,
    max_size=8,
)
numbers = st.sampled_from([-10, -3, -1, 0, 0.5, 0.6, 0.65, 1, 1.2, 2, 3.5, 10**30])
compared = st.sampled_from(["<", "<=", "==", "!=", ">=", ">"])
atoms = st.one_of(
    st.builds("{} {} {}".format, st.sampled_from(["age", "rate", "pay"]), compared, numbers),
    st.builds("{} {} {}".format, numbers, compared, st.sampled_from(["age", "rate", "pay"])),
    st.builds(
        "{} {} {} {} {}".format,
        numbers,
        st.sampled_from(["<", "<="]),
        st.sampled_from(["age", "rate", "pay"]),
        st.sampled_from(["<", "<="]),
        numbers,
    ),
    st.builds(
        "{} {} {}".format,
        st.just("job"),
        st.sampled_from(["in", "not in"]),
        st.sampled_from(["{'a', 'b'}", "['a']", "('b', 'c\"')"]),
    ),
    st.sampled_from(["home == 'p'", "home in {'q', 'r'}", "home != 'r'"]),
    st.sampled_from(["job == 'a'", "ill != 'x'", "ill in {'x', 'y'}", "pay in {1, 2, 5}"]),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)


def box_table(published):
    table = pl.DataFrame(published).with_columns(pl.col("pay").cast(pl.String))
    columns = [
        {
            "name": name,
            "role": "quasi",
            "kind": "node" if name == "home" else KINDS[name],
            "domain": DOMAINS[name],
        }
        for name in SCHEMA.quasi
    ] + [{"name": name, "role": "sensitive"} for name in SCHEMA.sensitive]
    return BoxTable.of(table, stated(columns), SCHEMA)


def python(condition):
    """Return the condition as Python itself understands it, with exact decimals."""
    decimals = re.sub(r"\d+\.\d+", r"F('\g<0>')", condition)
    return lambda point: bool(eval(decimals, {"F": Fraction}, dict(point)))  # our own text


@given(rows, conditions)
@settings(deadline=None, max_examples=examples(150))
def test_a_count_is_the_sum_of_the_shares_of_points_for_which_the_condition_holds(
    published, condition
):
    if any(label not in {row["ill"] for row in published} for label in "xyz"):
        published = [*published, *({**published[0], "ill": label} for label in "xyz")]
    answers = box_table(published)
    found = shoal.count(answers, condition)
    expected = expected_count(published, KINDS, DOMAINS, python(condition))
    assert found == pytest.approx(float(expected), abs=1e-9)


@given(tables(), conditions.filter(lambda text: not re.search("rate|ill|home", text)))
@settings(deadline=None)
def test_the_original_is_counted_row_by_row(table, condition):
    known = shoal.Schema(quasi=["age", "job"], sensitive="pay")
    original = frame({"age": table["age"], "job": table["job"], "pay": table["salary"]})
    labels = frame({"age": [0, 0], "job": ["b", 'c"'], "pay": [0, 0]})
    original = pl.concat([original, labels, labels.with_columns(pl.lit("a").alias("job"))])
    answers = ExactTable.of(original, known)
    holds = python(condition)
    assert shoal.count(answers, condition) == sum(map(holds, original.to_dicts()))


@given(tables(), st.lists(conditions, min_size=2, max_size=4))
@settings(deadline=None, max_examples=examples(20))
def test_answers_do_not_depend_on_what_is_held_for_the_next_query(table, asked):
    known = shoal.Schema(quasi=["age", "job"], sensitive="pay")
    original = frame({"age": table["age"], "job": table["job"], "pay": table["salary"]})
    labels = frame({"age": [0] * 3, "job": ["a", "b", 'c"'], "pay": [0] * 3})
    answers = ExactTable.of(pl.concat([original, labels]), known)
    asked = [one for one in asked if not re.search("rate|ill|home", one)]
    held = [shoal.count(answers, one) for one in (*asked, *asked)]
    with mock.patch("shoal.utility.queries.KEPT", 0):
        bare = ExactTable.of(pl.concat([original, labels]), known)
        assert [shoal.count(bare, one) for one in (*asked, *asked)] == held
        assert len(bare.rows._stacked) <= 1


@given(tables(most=12), st.integers(1, 4), st.booleans(), st.integers(0, 10**6))
@settings(deadline=None, max_examples=examples(20))
def test_releases_answer_from_memory_and_from_files_as_the_definition_says(
    tmp_path_factory, table, k, free, seed
):
    k = min(k, len(table["age"]))
    table["zip"] = [min(code, 12) for code in table["zip"]]  # every point is tried
    release = shoal.anonymize(
        frame(table),
        schema(),
        require=shoal.principles.KAnonymity(k=k),
        method="Freeform()" if free else "Mondrian()",
    )
    chance = np.random.default_rng(seed)
    low, high = sorted(chance.integers(0, 10, 2).tolist())
    pay = int(chance.integers(0, 30))
    job = str(chance.choice(table["job"]))
    condition = f"{low} <= age <= {high} and zip < 11 and (job == '{job}' or salary > {pay})"
    kinds = {"age": "interval", "zip": "interval", "job": "set", "salary": "exact"}
    domains = {
        c["name"]: c["domain"] for c in release.manifest.to_dict()["columns"] if "domain" in c
    }
    published = [
        {**row, "salary": int(row["salary"])}
        for row in release.published.select(*QUASI, "salary").to_dicts()
    ]
    expected = float(expected_count(published, kinds, domains, python(condition)))
    assert release.count(condition) == pytest.approx(expected, abs=1e-9)
    for kind in ("csv", "parquet"):
        directory = tmp_path_factory.mktemp("queries") / "out"
        release.write(directory, format=kind)
        assert shoal.count(directory, condition) == pytest.approx(expected, abs=1e-9)


@given(tables(most=20), st.integers(0, 9), st.integers(0, 30))
@settings(deadline=None)
def test_two_tables_answer_by_all_pairings_of_a_group(table, age, pay):
    both = shoal.rivals.Anatomy(l=1).publish(frame(table), schema())
    found = shoal.count(both, f"age <= {age} and job in {{'{table['job'][0]}'}} and salary > {pay}")
    expected = anatomy_count(
        both.quasi.to_dicts(),
        both.sensitive.to_dicts(),
        lambda row: row["age"] <= age and row["job"] == table["job"][0],
        lambda row: row["salary"] > pay,
    )
    assert found == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(
    "ages",
    [
        [10**place for place in range(26)],
        [-(10**37), 0, 1, 10**37],
        [-(2**63), 0, 2**63],
    ],
)
def test_queries_are_drawn_from_ranges_that_no_machine_word_holds(ages: list[int]) -> None:
    people = pl.DataFrame({"age": [str(age) for age in ages], "pay": range(len(ages))})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    workload = shoal.measures.Workload(quasi=1, sensitive=0, selectivity=0.5, queries=60)
    drawn = workload.draw(people, schema, seed=1)
    size, begins = max(ages) - min(ages) + 1, set()
    for query, truth in zip(drawn.queries, drawn.truth, strict=True):
        asked = query["age"]
        assert isinstance(asked, Numbers)
        ((low, _), (high, _)) = asked.cuts
        assert abs(2 * (high - low + 1) - size) * 10**9 <= size
        assert truth == sum(low <= age <= high for age in ages) > 0
        begins.add(low)
    assert len(begins) > 50
