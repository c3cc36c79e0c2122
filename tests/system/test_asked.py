"""What a manifest says was asked for agrees with its other parts and with the files."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.audit.files import audit_directory
from shoal.release.stated import StatedAsk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TREE = {"south": ["Aix", "Bari"], "north": ["Delft", "Essen"]}
# Nothing else in the files shows these, or only that a number is too small or too large.
UNSEEN = {
    "seconds": "how long a search may take leaves no trace",
    "batch": "who waits is not published",
    "delimiter": "it is the input's, which is not published",
    "encoding": "it is the input's, which is not published",
    "population": "it is seen by requirements that need one, and may be given to others",
    "keep_other": "it is seen by other columns beside two tables, and may be said without",
    "engine": "parts of one machine leave no trace; those of Spark do",
}
LOWER = {"least_real"}  # groups may have more real people, so a smaller number is true as well
HIGHER = {"most_rows", "suppress"}  # people have fewer rows, and fewer are left out
FOUND = {"method", "date_format", "most_rows", "least_real"}  # as if nobody had said it


def people(rows: int, seed: int = 1) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "who": [f"p{place // 2}" for place in range(rows)],
            "age": [str(draw.randint(18, 90)) for _ in range(rows)],
            "town": [draw.choice(["Aix", "Bari", "Delft", "Essen"]) for _ in range(rows)],
            "zip": [f"0{draw.randint(1000, 1300)}" for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "born": [f"{draw.randint(1, 28):02}.05.19{draw.randint(40, 99)}" for _ in range(rows)],
            "size": [draw.choice(["small", "large"]) for _ in range(rows)],
            "pay": [str(draw.randint(1, 90) * 1000) for _ in range(rows)],
            "ill": [draw.choice(["flu", "cold", "asthma"]) for _ in range(rows)],
            "w": [draw.choice(["10", "20", "32.5"]) for _ in range(rows)],
            "gap": [draw.choice(["1", "2", None, "9"]) for _ in range(rows)],
        }
    )


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "columns": (
        {
            "quasi": ["age", "zip", "town"],
            "sensitive": ["pay"],
            "other": ["ill", "size"],
            "nobody_knows": ["ill"],
            "never_mix": ["sex"],
            "survey_weight": "w",
            "types": {"zip": "code", "size": "ordered"},
            "order": {"size": ["small", "large"]},
            "weights": {"age": 2.5},
            "round": {"age": 5},
            "bottom": {"pay": 2000},
            "top": {"pay": "80000"},
            "decimal": ".",
        },
        {"escape_formulas": True, "method": "Exchange()", "seconds": 0.5},
    ),
    "nodes": (
        {
            "quasi": ["zip", "town", "born"],
            "sensitive": "ill",
            "hierarchies": {"zip": "Prefix()", "town": TREE},
            "date_formats": {"born": "DD.MM.YYYY"},
            "pseudonymize": ["who"],
        },
        {"format": "parquet", "withhold_counts": True, "key": b"0123456789abcdef"},
    ),
    "people": (
        {"quasi": "age", "sensitive": "pay", "person": "who", "rows": "unknown"},
        {},
    ),
    "left out": (
        {"quasi": "age", "sensitive": "ill"},
        {"require": "FrequencyL(l=3)", "suppress": "20%"},
    ),
    "held out": ({"quasi": "age", "sensitive": "pay"}, {"hold_out": "20%"}),
    "people held out": (
        {"quasi": "age", "sensitive": "pay", "person": "who"},
        {"hold_out": "20%"},
    ),
    "percentiles": (
        {"quasi": "age", "sensitive": "pay", "top": {"pay": "90%"}},
        {},
    ),
    "few rows": ({"quasi": "age", "sensitive": "pay", "person": "who", "most_rows": 1}, {}),
    "gaps dropped": ({"quasi": ["age", "gap"], "sensitive": "pay"}, {"missing": "drop"}),
    "gaps kept": ({"quasi": ["age", "gap"], "sensitive": "pay"}, {"missing": "value"}),
    "gaps protected": ({"quasi": "age", "sensitive": "gap"}, {"missing": "value"}),
    "gaps of a column": (
        {"quasi": ["age", "gap"], "sensitive": "pay", "missing_cells": {"gap": "value"}},
        {"engine": "Local(shard=60)"},
    ),
    "regions": ({"quasi": ["age", "sex"], "sensitive": "pay"}, {"cells": "regions"}),
    "two tables": (
        {"quasi": ["age", "town"], "sensitive": "ill", "other": "size"},
        {
            "form": "two-tables",
            "require": "FrequencyL(l=2)",
            "keep_other": True,
            "method": "Mondrian(relaxed=True)",
        },
    ),
    "everybody": (
        {"quasi": ["age", "sex"], "sensitive": "pay"},
        {"require": "KMap(k=3)", "population": people(400, 2)},
    ),
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    where = tmp_path_factory.mktemp("asked")
    table = people(120)
    made = {}
    for name, (roles, options) in CASES.items():
        made[name] = where / name.replace(" ", "-")
        how: dict[str, Any] = {"require": "KAnonymity(k=3)"} | options
        if "hold_out" in how:
            how["hold_out_file"] = where / f"{made[name].name}.csv"
        shoal.results.Run.over(table, shoal.Schema(**roles), output=made[name], **how).publish()
    first = table.unique("who", keep="first", maintain_order=True)
    one = shoal.Schema(quasi=["age", "town"], sensitive="pay", person="who")
    for turn in range(2):
        made["series"] = where / f"round{turn}"
        shoal.results.Run.over(
            first[turn : 40 + 10 * turn],
            one,
            require="KAnonymity(k=3)",
            ledger=where / "ledger",
            least_real=3,
            batch=2,
            output=made["series"],
        ).publish()
    both = shoal.Schema(quasi="age", sensitive=["pay", "visits.ill"], person="who")
    made["linked"] = where / "linked"
    linked: Any = {"visits": people(120, 3).select("who", "ill")}
    shoal.anonymize(first, both, require="KAnonymity(k=3)", linked=linked).write(made["linked"])
    made["coarser"] = where / "coarser"
    shoal.coarsen(made["columns"], require="KAnonymity(k=6)").write(made["coarser"])
    return made


def altered(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield how a value of `asked` may be altered, and what becomes of it; None is left out."""
    yield "gone", None
    if isinstance(value, list):
        yield "more", [*value, "another"]
        yield "other", ["another", *value[1:]]
        if len(value) > 1:
            yield "fewer", value[1:]
    elif isinstance(value, dict):
        for key, one in value.items():
            rest = {k: v for k, v in value.items() if k != key}
            if rest:
                yield "fewer", rest
            yield "renamed", rest | {"another": one}
            yield from ((how, value | {key: to}) for how, to in altered(name, one) if how != "gone")
    elif isinstance(value, str):
        words = {
            "type": ["categorical", "numeric", "date", "code"],
            "method": ["Exchange()", "Split()", "Mondrian()"],
            "hierarchy": ["Prefix()", "Bins(width=5)"],
            "date_format": ["DD.MM.YYYY", "YYYY/MM/DD"],
            "missing": ["drop", "value"],
            "missing_cells": ["drop", "value", "error"],
            "suppress": ["0.001%"],
            "hold_out": ["10%"],
            "format": ["parquet", "feather"],
            "engine": ["Spark()"],
            "decimal": [".", ","],
            "bottom": ["40%", "1", "90%"],
            "top": ["60%", "1", "10%"],
        }
        yield from (("other", one) for one in words.get(name, ["another"]) if one != value)
        if name == "suppress":
            yield "higher", "90%"
    elif value is not True:
        yield "higher", value + 1
        yield "lower", value / 2 if isinstance(value, float) else value - 1


def unseen(name: str, how: str, case: str) -> bool:
    """Return whether no other part of the files can tell that it was altered so."""
    gone = how in {"gone", "fewer"}
    seen = {
        ("population", "everybody", "gone"),
        ("keep_other", "two tables", "gone"),
        ("engine", "gaps of a column", "other"),
        ("batch", "series", "lower"),  # 1 is not said
        ("method", "two tables", "gone"),  # Shoal never chooses it
    }
    return (
        (name in UNSEEN and (name, case, how) not in seen)
        or (name in LOWER and how == "lower")
        or (name in HIGHER and how == "higher")
        or (name in FOUND and gone and (name, case, how) not in seen)
    )


def accepted(directory: Path, case: str) -> bool:
    everybody = people(400, 2) if case == "everybody" else None
    try:
        return audit_directory(directory, population=everybody).holds
    except (shoal.UsageError, shoal.InputError):
        return False


@pytest.mark.few(1)
@pytest.mark.parametrize("case", [*CASES, "series", "linked", "coarser"])
def test_what_was_asked_is_not_altered_unnoticed(case: str, releases: dict[str, Path]) -> None:
    directory = releases[case]
    path = directory / "manifest.json"
    text = path.read_text("utf-8")
    manifest = json.loads(text)
    assert accepted(directory, case)
    try:
        for name, value in manifest["asked"].items():
            for how, other in altered(name, value):
                asked = manifest["asked"] | {name: other}
                asked = {key: one for key, one in asked.items() if one is not None}
                path.write_text(json.dumps(manifest | {"asked": asked}), "utf-8")
                assert accepted(directory, case) is unseen(name, how, case), (name, how, other)
        # A step may have been given for a region, or be the column's own.
        untold = {"schema"} if case == "regions" else set()
        for name in {*FALSE} - manifest["asked"].keys() - untold:
            asked = manifest["asked"] | {name: FALSE[name]}
            path.write_text(json.dumps(manifest | {"asked": asked}), "utf-8")
            assert not accepted(directory, case), name
    finally:
        path.write_text(text, "utf-8")


# What is untrue of every release that does not say it.
FALSE: dict[str, Any] = {
    "schema": ["age"],
    "nobody_knows": ["age"],
    "pseudonymize": ["who"],
    "key_file": True,
    "person": True,
    "rows": "unknown",
    "linked": ["visits"],
    "never_mix": ["age"],
    "survey_weight": "pay",
    "type": {"pay": "code"},
    "hierarchy": {"pay": "Prefix()"},
    "weight": {"age": 3},
    "date_format": {"pay": "DD.MM.YYYY"},
    "round": {"pay": 5},
    "bottom": {"pay": 5},
    "top": {"pay": "5%"},
    "missing_cells": {"pay": "value"},
    "decimal": ",",
    "ledger": True,
    "withhold_counts": True,
    "hold_out": "5%",
    "escape_formulas": True,
    "format": "feather",
    "engine": "Spark()",
    "another": True,
}


def said_otherwise(directory: Path, case: str, **said: Any) -> bool:
    """Return whether a manifest is accepted that says something else."""
    path = directory / "manifest.json"
    text = path.read_text("utf-8")
    path.write_text(json.dumps(json.loads(text) | said), "utf-8")
    try:
        return accepted(directory, case)
    finally:
        path.write_text(text, "utf-8")


def test_percentiles_and_rows_that_may_go_exclude_one_another(releases: dict[str, Path]) -> None:
    directory = releases["percentiles"]
    asked = json.loads((directory / "manifest.json").read_text("utf-8"))["asked"]
    assert said_otherwise(directory, "", asked=asked)
    assert not said_otherwise(directory, "", asked=asked | {"suppress": "1%"})


@pytest.mark.few(1)
@pytest.mark.parametrize("case", [*CASES, "series", "linked", "coarser"])
def test_no_manifest_requires_something_twice(case: str, releases: dict[str, Path]) -> None:
    said = json.loads((releases[case] / "manifest.json").read_text("utf-8"))["require"]
    assert said_otherwise(releases[case], case, require=said)
    for again in (said[0], said[0].replace("(", "( ")):
        assert not said_otherwise(releases[case], case, require=[*said, again])


def test_what_is_asked_for_twice_is_required_once() -> None:
    schema = shoal.Schema(quasi="age", sensitive="pay")
    twice = ["EpsilonM(epsilon=500, m=3)", "pay: EpsilonM( epsilon=500, m=3)"]
    release = shoal.anonymize(people(60), schema, require=twice)
    assert release.manifest.require == twice[:1]


def test_every_option_is_tried(releases: dict[str, Path]) -> None:
    said = {
        name
        for directory in releases.values()
        for name in json.loads((directory / "manifest.json").read_text("utf-8"))["asked"]
    }
    assert {*StatedAsk.__struct_fields__} == said | {"delimiter", "encoding"}
