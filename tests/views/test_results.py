"""What Shoal hands out says itself in one line of a terminal, and never all that it holds."""

import inspect
from dataclasses import fields
from typing import Any

import polars as pl
import pytest

import shoal

TABLE = pl.DataFrame(
    {
        "age": [17, 19, 20, 24, 29, 34, 39, 45],
        "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    }
)
SCHEMA = shoal.Schema(quasi="age", sensitive="salary")
REQUIRE = "EpsilonM(epsilon=100, m=2)"
LONGEST = 300  # characters


def public() -> dict[str, type]:
    """Return every class that has a public name, but for errors."""
    spaces = (shoal, shoal.results, shoal.measures)
    found = {name: getattr(space, name) for space in spaces for name in dir(space)}
    return {
        name: one
        for name, one in found.items()
        if inspect.isclass(one) and not issubclass(one, Exception)
    }


@pytest.mark.parametrize("name", sorted(public()))
def test_no_public_type_dumps_its_fields(name: str) -> None:
    # What `dataclass` writes shows every field, arrays and frames too: for plain ones alone.
    one: Any = public()[name]
    if hasattr(one.__repr__, "__wrapped__"):
        assert {field.type for field in fields(one)} <= {"str", "bool", "int | None"}


def lines(value: object, place: str, seen: set[int]):
    """Yield what a result and everything in it of a public type say."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, tuple(public().values())):
        yield place, repr(value)
    inner = [(f".{name}", one) for name, one in getattr(value, "__dict__", {}).items()]
    if isinstance(value, tuple | list):
        inner = [(f"[{at}]", one) for at, one in enumerate(value)]
    for name, one in inner:
        if isinstance(one, tuple | list) or type(one).__module__.startswith("shoal."):
            yield from lines(one, place + name, seen)


def test_results_and_what_they_hold_say_themselves_in_a_line(tmp_path) -> None:
    out = tmp_path / "out"
    run = shoal.results.Run(table=TABLE, schema=SCHEMA, require=REQUIRE, output=str(out))
    outcome = run.publish()
    release = outcome.release
    TABLE.write_csv(tmp_path / "people.csv")
    found = [
        run,
        outcome,
        release.manifest,
        release.recoding,
        release.coded,
        shoal.audit_series([out]),
        shoal.attack([out], SCHEMA, original=TABLE),
        shoal.measures.person(out, 0, original=TABLE),
        shoal.measures.minimality(TABLE, SCHEMA, require="FrequencyL(l=2)"),
        shoal.open_table(tmp_path / "people.csv"),
        shoal.Ask(table=("people.csv",)),
    ]
    for one in found:
        said = lines(one, type(one).__name__, set())
        for place, text in [*said, (type(one).__name__, repr(one))]:
            assert "\n" not in text, place
            assert "array(" not in text, place
            assert len(text) < LONGEST, place
    assert repr(found[0]) == f"<Run: require={REQUIRE!r}, form='intervals', output={str(out)!r}>"
    assert repr(release.coded) == "<Coded: quasi=1, sensitive=1, rows=8>"


def test_what_is_asked_says_only_what_is_not_as_usual() -> None:
    assert repr(SCHEMA) == "Schema(quasi=('age',), sensitive=('salary',))"
    assert repr(shoal.Ask(table=("a.csv",), batch=3)) == "Ask(table=('a.csv',), batch=3)"
    assert repr(shoal.Schema()) == "Schema()"


def test_an_audit_shows_verdict_risk_and_loss() -> None:
    release = shoal.anonymize(TABLE, SCHEMA, require=REQUIRE)
    shown = release.audit()._repr_html_()
    assert "Verdict: Holds." in shown
    assert '<td class="n">50%</td><td class="n">1 in 2 (50%)</td><td>yes</td>' in shown
    assert f"Information lost (GCP): {100 * release.loss:.2f}%." in shown
    assert "Information lost" not in shoal.audit(TABLE, SCHEMA, require=REQUIRE)._repr_html_()
