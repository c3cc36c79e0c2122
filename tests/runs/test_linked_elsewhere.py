"""What is planned, compared and tuned of a linked table counts people, as a release does."""

import numpy as np
import polars as pl
import pytest

import shoal

REQUIRE = "visits.diagnosis: FrequencyL(l=2)"


@pytest.fixture
def run(tmp_path):
    chance = np.random.default_rng(3)
    people = pl.DataFrame({"patient": range(60), "age": chance.integers(20, 80, 60)})
    whom = np.repeat(np.arange(60), 1 + chance.integers(0, 3, 60))
    visits = pl.DataFrame({"patient": whom, "diagnosis": chance.choice(list("ABCDEF"), len(whom))})
    people.write_csv(tmp_path / "people.csv")
    visits.write_csv(tmp_path / "visits.csv")
    return shoal.results.Run.of(
        table=str(tmp_path / "people.csv"),
        linked={"visits": str(tmp_path / "visits.csv")},
        quasi=["age"],
        sensitive=["visits.diagnosis"],
        person="patient",
        require=[REQUIRE],
    )


def test_a_plan_of_a_linked_table_is_necessary_only(run):
    known = run.plan(require=REQUIRE)
    assert known.necessary_only
    assert known.people == 60
    assert known.achievable is None


def test_methods_are_compared_on_linked_tables_without_a_least_loss_of_rows(run):
    found = run.compare(methods=["Exchange()", "Mondrian()"], queries=20)
    assert [entry.holds for entry in found.entries] == [True, True]
    assert found.least_loss is None
    assert all(entry.times_least is None for entry in found.entries)


def test_a_parameter_is_tuned_on_linked_tables(run):
    found = run.tune(vary="l=2,3")
    assert [point.loss is not None for point in found.points] == [True, True]


@pytest.mark.parametrize("several", [False, True])
def test_rows_of_people_have_no_least_loss_of_rows(several):
    """Six equal values of one person are no crowd: the bound of rows would be too high."""
    frame = pl.DataFrame(
        {
            "who": [0, 0, 0, 1, 1, 1] if several else range(6),
            "age": [1, 1, 1, 2, 2, 2],
            "charges": [5, 5, 5, 90, 90, 90],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who" if several else None)
    found = shoal.compare(
        frame, schema, require="EpsilonM(epsilon=1, m=2)", methods=["Exchange()"], queries=0
    )
    assert (found.least_loss is None) == several
