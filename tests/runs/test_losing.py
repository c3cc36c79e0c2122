"""What a release will lose is estimated from some of its rows, and comes out so."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.runs import losing
from shoal.runs.doing import trial_of
from shoal.runs.look import some_people
from shoal.runs.losing import estimate, reach_of
from shoal.runs.run import Run

WITHIN, POINTS = 0.2, 0.01  # of what the release loses, or of all, where it loses little


def people(rows, seed=1, *, outlier=None, rare=False):
    """Return people by age, ward and size; an outlier stretches sizes, a label is very rare."""
    chance = np.random.default_rng(seed)
    size = np.round(chance.lognormal(3, 0.6, rows), 1)
    sex = chance.choice(["f", "m"], rows)
    if outlier:
        size[0] = outlier
    if rare:
        sex[0] = "not said"
    return pl.DataFrame(
        {
            "age": chance.integers(18, 90, rows),
            "ward": chance.choice([f"w{i}" for i in range(12)], rows),
            "size": size,
            "sex": sex,
            "pay": np.round(chance.lognormal(8, 0.7, rows), 2),
        }
    )


TYPES = {"age": "numeric", "size": "numeric", "ward": "categorical", "sex": "categorical"}


def run(*require, **more):
    schema = shoal.Schema(quasi=list(TYPES), sensitive="pay", types=TYPES)
    return Run(schema=schema, require=require, **more)


ASKED = [
    (("KAnonymity(k=5)",), {}, {}),
    (("EpsilonM(epsilon=300, m=4)", "KAnonymity(k=8)"), {}, {}),
    (("KAnonymity(k=8)",), {"outlier": 5000.0, "rare": True}, {}),
    (("TCloseness(t=0.4)", "KAnonymity(k=8)"), {}, {"suppress": "1%"}),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("require", "of_table", "of_run"), ASKED)
def test_an_estimate_is_within_a_fifth_of_the_release(require, of_table, of_run):
    table = people(3000, **of_table)
    asked = run(*require, **of_run)
    some = some_people(table, None, 1000)
    found = estimate(asked, some, whole=table.height, reach=reach_of(table, asked))
    release = shoal.anonymize(table, asked.schema, require=require, **of_run)
    assert abs(found.gcp - release.loss) < max(WITHIN * release.loss, POINTS)
    assert not found.all_rows
    assert not found.rough


def test_of_all_rows_an_estimate_is_the_loss_itself():
    table = people(700)
    found = estimate(run("KAnonymity(k=5)"), table)
    release = shoal.anonymize(table, run().schema, require="KAnonymity(k=5)")
    assert found.all_rows
    assert found.gcp == pytest.approx(release.loss)
    assert found.ncp == pytest.approx(release.manifest.loss.ncp)


def test_columns_add_up_to_the_whole():
    table = people(3000)
    found = estimate(run("KAnonymity(k=5)"), some_people(table, None, 800), whole=table.height)
    assert found.gcp == pytest.approx(np.mean(list(found.ncp.values())))


def test_an_estimate_like_another_tries_as_many_rows_once(monkeypatch):
    table = people(3000)
    some = some_people(table, None, 800)
    first = estimate(run("KAnonymity(k=5)"), some, whole=table.height)
    heard = []

    def listened(one, *more):
        heard.append(one.table.height)
        return trial_of(one, *more)

    monkeypatch.setattr(losing, "trial_of", listened)
    like = (400, first.factor)
    other = estimate(run("KAnonymity(k=9)"), some, whole=table.height, like=like)
    assert heard == [400]
    assert other.factor == first.factor
    assert other.gcp > first.gcp


def test_what_takes_too_long_is_an_upper_bound(monkeypatch):
    table = people(3000)
    some = some_people(table, None, 800)
    asked = run("EpsilonM(epsilon=300, m=4)", "KAnonymity(k=8)")
    usual = estimate(asked, some, whole=table.height)
    monkeypatch.setattr(losing, "PARTS", ((1, 1),))
    found = estimate(asked, some, whole=table.height, patience=0.0)
    assert found.rough
    assert found.gcp >= usual.gcp


def test_what_no_rows_reach_is_refused():
    with pytest.raises(shoal.NotAchievable):
        estimate(run("KAnonymity(k=900)"), people(800), whole=2000)
