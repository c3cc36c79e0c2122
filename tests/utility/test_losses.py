"""Losses against their formulas, on small random tables."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import losses as formula
from tables import frame, schema, tables

KINDS = {"age": "interval", "zip": "interval", "job": "set"}


def published(table, require, method, suppress=None):
    table["zip"] = [min(code, 12) for code in table["zip"]]  # every point is tried
    original = frame(table)
    try:
        release = shoal.anonymize(
            original, schema(), require=require, method=method, suppress=suppress
        )
    except shoal.NotAchievable:
        assume(False)
    rows = [{**row, "salary": int(row["salary"])} for row in release.published.to_dicts()]
    domains = {
        c["name"]: c["domain"] for c in release.manifest.to_dict()["columns"] if "domain" in c
    }
    return release, rows, domains, original.to_dicts()


def check_all(release, rows, domains, original):
    suppressed = release.manifest.suppressed
    found = release.losses()
    pairs = [(original[i], row) for i, row in zip(release.linkage.tolist(), rows, strict=True)]
    left = set(range(len(original))) - set(release.linkage.tolist())
    pairs += [(original[i], None) for i in left]
    expected = {
        "gcp": release.manifest.loss.gcp,
        "coverage_per_tuple": formula.coverage(rows, KINDS, domains, suppressed),
        "kl_divergence": formula.kl_divergence(rows, original, KINDS, "salary", suppressed),
        "non_uniform_entropy": formula.non_uniform_entropy(pairs, original, KINDS, suppressed),
        "suppression": suppressed / len(original),
        **{f"ncp[{name}]": value for name, value in release.manifest.loss.ncp.items()},
    }
    if not release.heterogeneous:
        groups = release.manifest.groups
        expected |= {
            "coverage_per_group": formula.coverage_of_groups(rows, KINDS, domains),
            "discernibility": formula.discernibility(rows, suppressed),
            "average_group_size": len(rows) / groups,
            "c_avg": len(rows) / groups / 2,
        }
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(float(value), abs=1e-9), name
    assert {entry["name"] for entry in shoal.measures.describe_losses(found)} == found.keys()


@given(tables(most=10), st.booleans())
@settings(deadline=None, max_examples=examples(40))
def test_losses_are_what_their_formulas_say(table, free):
    method = "Freeform()" if free else "Mondrian()"
    check_all(*published(table, shoal.principles.KAnonymity(k=2), method))


@given(tables(most=10), st.integers(0, 12))
@settings(deadline=None, max_examples=examples(40))
def test_suppressed_rows_count_as_lost_entirely(table, epsilon):
    table["salary"] = [0 if pay % 3 else pay for pay in table["salary"]]
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=2)
    check_all(*published(table, require, "Split()", "60%"))


@given(tables(most=10))
@settings(deadline=None, max_examples=examples(20))
def test_a_release_of_the_table_itself_loses_nothing(table):
    release, *_ = published(table, shoal.principles.KAnonymity(k=1), "Mondrian()")
    if release.loss > 0:
        return
    found = release.losses()
    assert found["kl_divergence"] == pytest.approx(0, abs=1e-9)
    assert found["non_uniform_entropy"] == pytest.approx(0, abs=1e-9)


def test_files_give_the_same_and_need_the_original_for_two_of_them(tmp_path):
    people = pl.DataFrame({"age": [1, 2, 8, 9], "pay": [1, 5, 1, 5]})
    chosen = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(people, chosen, require="EpsilonM(epsilon=1, m=2)")
    release.write(tmp_path / "out")
    whole = shoal.measures.losses(tmp_path / "out", original=people)
    assert whole == pytest.approx(release.losses())
    alone = shoal.measures.losses(str(tmp_path / "out"))
    assert whole.keys() - alone.keys() == {"kl_divergence", "non_uniform_entropy"}
    with pytest.raises(shoal.InputError, match="made from 4 rows, but the original has 3"):
        shoal.measures.losses(tmp_path / "out", original=people.head(3))
    with pytest.raises(shoal.InputError, match="made from another table"):
        shoal.measures.losses(
            tmp_path / "out", original=people.with_columns(pl.lit(7).alias("pay"))
        )
