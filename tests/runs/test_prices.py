"""What other choices would cost is what they cost, and what is offered can be kept."""

import polars as pl
import pytest

import shoal
from shoal.ask.ask import Ask
from shoal.runs import prices
from shoal.runs.run import Run


@pytest.fixture(scope="module")
def people():
    rows = 900
    return pl.DataFrame(
        {
            "age": [17 + i * i % 71 for i in range(rows)],
            "zip": [1000 + i * 37 % 211 for i in range(rows)],
            "sex": ["fm"[i * 7 % 3 % 2] for i in range(rows)],
            "pay": [i * 7919 % 997 for i in range(rows)],
        }
    )


@pytest.fixture
def decided():
    def asked(require='["EpsilonM(epsilon=40, m=5)", "KAnonymity(k=6)"]', more=""):
        roles = 'quasi = ["age", "zip", "sex"]\nsensitive = "pay"\n'
        return Ask.from_toml(f"{roles}require = {require}\n{more}")

    return asked


def test_a_price_is_the_loss_of_a_release(people, decided):
    ask = decided('"KAnonymity(k=4)"', 'method = "Split()"\n')
    found = prices.price(people, ask)
    whole = Run.of(ask, table=people).release()
    assert found["loss"] == whole.manifest.loss.to_dict()
    assert found["rows"] == people.height
    fewer = prices.price(people, ask, drop="zip")
    assert set(fewer["loss"]["ncp"]) == {"age", "sex"}


def test_every_alternative_can_be_published_and_is_something_else(people, decided):
    ask = decided()
    lost = prices.price(people, ask)["loss"]["ncp"]
    found = prices.alternatives(people, ask, lost)
    assert [one["kind"] for one in found] == ["everybody", "wider", "suppress", "drop"]
    for one in found:
        changes = {key: value for key, value in one.items() if key not in {"kind", "drop", "at"}}
        if one["kind"] == "drop":
            assert lost[one["drop"]] == max(lost.values())
            changes["quasi"] = [name for name in lost if name != one["drop"]]
        run = Run.of(ask, table=people, **changes)
        assert run.release().audit().holds
    everybody = next(one for one in found if one["kind"] == "everybody")
    assert everybody["require"] == ["EpsilonM(epsilon=40, m=5)", "KAnonymity(k=11)"]


def test_what_is_for_everybody_already_may_be_for_people_we_know(people, decided):
    ask = decided('"KAnonymity(k=20)"', 'suppress = "1%"\nnever_mix = "sex"\n')
    lost = prices.price(people, ask)["loss"]["ncp"]
    found = prices.alternatives(people, ask, lost)
    assert [one["kind"] for one in found] == ["known", "drop"]
    assert found[0]["require"] == ["KAnonymity(k=5)"]
    assert found[1]["drop"] != "sex"  # what is never mixed loses nothing


def test_the_usual_method_is_the_one_that_a_run_takes(people, decided):
    for require in ('"EpsilonM(epsilon=40, m=4)"', '"TCloseness(t=0.4)"', '"KAnonymity(k=4)"'):
        ask = decided(require)
        found = prices.methods(people, ask)
        (usual,) = [one["method"] for one in found if one["usual"]]
        assert Run.of(ask, table=people).release().manifest.method == usual
        for one in found:
            assert Run.of(ask, table=people, method=one["method"]).release().audit().holds


def test_forms_are_told_by_the_error_of_counts_or_by_why_they_cannot_be_had(people, decided):
    found = {one["form"]: one for one in prices.forms(people, decided('"FrequencyL(l=4)"'))}
    assert list(found) == ["intervals", "bounds", "means", "two-tables"]
    assert found["intervals"]["error"] == found["bounds"]["error"] > 0
    assert found["two-tables"]["error"] < found["intervals"]["error"]
    assert found["two-tables"]["regression"] == "approximate"
    assert found["intervals"]["regression"] == "approximate"  # its cells are narrow
    refused = {one["form"]: one for one in prices.forms(people, decided())}
    assert "KAnonymity" in refused["two-tables"]["problem"]


def test_a_promise_out_of_reach_has_no_price(people, decided):
    with pytest.raises(shoal.NotAchievable):
        prices.price(people, decided('"EpsilonM(epsilon=600, m=9)"'))
