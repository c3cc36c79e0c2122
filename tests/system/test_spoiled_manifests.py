"""Whatever a manifest says, whoever reads the release gets an answer or a sentence."""

from __future__ import annotations

import json
import random
import shutil
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from shoal.audit.described import Wrong
from shoal.audit.tables import check_shape
from system.test_manifests import WRONG, changed, places, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# What may stand somewhere in a manifest, so that more than the shape has to be looked at.
ODD = (0, 1, 2, 0.5, 2**53, 1e300, 1e-300, "KAnonymity(k=2)", "Split()", "a", "*", ["a"], [1, 9])
SPOILED = 6  # manifests of each kind
REQUIRE = "EpsilonM(epsilon=300, m=3)"
KINDS: dict[str, dict[str, Any]] = {
    "groups": {},
    "people": {"person": "pid"},
    "two tables": {"form": "two-tables", "method": "Oblivious()"},
    "no groups": {"require": "KAnonymity(k=3)", "method": "Freeform()"},
    "regions": {"cells": "regions"},
    "nodes": {"types": {}, "never_mix": "sex", "hierarchies": {"age": "Quantiles(parts=3)"}},
}


def made(place: Path, kind: str) -> Path:
    chance = random.Random(1)
    rows = range(60)
    table = pl.DataFrame(
        {
            "pid": [n // 2 for n in rows],
            "age": [chance.randint(18, 80) for _ in rows],
            "sex": [chance.choice("mf") for _ in rows],
            "pay": [chance.randint(0, 9999) for _ in rows],
            "note": [chance.choice("xy") for _ in rows],
        }
    )
    said: dict[str, Any] = {"require": REQUIRE, "seed": 1} | KINDS[kind]
    of_schema = {
        key: said.pop(key) for key in ("person", "never_mix", "types", "hierarchies") if key in said
    }
    other = [] if kind == "two tables" else ["note"]
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="pay", other=other, **of_schema)
    release = shoal.anonymize(table, schema, **said)
    release.write(place)
    return place


def readers(directory: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield everything that reads a release directory."""
    sheet = directory.parent / "sheet.html"
    sheet.unlink(missing_ok=True)
    yield "audit", lambda: shoal.audit(directory)
    yield "several", lambda: shoal.audit_series([directory, directory])
    yield "report", lambda: shoal.report(directory)
    yield "certificate", lambda: shoal.certificate(directory, sheet)
    yield "coarsen", lambda: shoal.coarsen(directory, require=[])
    yield "count", lambda: shoal.count(directory, "age > 30")
    yield "read", lambda: shoal.measures.read(directory)
    yield "attack", lambda: shoal.attack([directory], seed=1)
    yield "estimate", lambda: shoal.estimate(directory, share="pay > 5000", tables=2, chains=1)


def spoiled(manifest: dict[str, Any], chance: random.Random) -> Iterator[tuple[Any, Any]]:
    """Yield manifests that are of the right shape and say something else, one for each place."""
    every = list(places(manifest))
    for path in chance.sample(every, len(every)):
        values = [*WRONG, *ODD]
        chance.shuffle(values)
        for value in values:
            other = changed(manifest, path, put(value))
            if other == manifest:
                continue
            try:
                check_shape(json.loads(json.dumps(other, allow_nan=False)))
            except (Wrong, ValueError):
                continue
            yield (path, value), other
            break


@pytest.mark.parametrize("kind", KINDS)
def test_every_reader_of_a_spoiled_manifest_ends_in_a_sentence(kind: str, tmp_path: Path) -> None:
    directory = made(tmp_path / "out", kind)
    manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
    chance, tried = random.Random(kind), 0
    for (path, value), other in islice(spoiled(manifest, chance), SPOILED):
        tried += 1
        (directory / "manifest.json").write_text(json.dumps(other), "utf-8")
        for name, read in readers(directory):
            try:
                read()
            except shoal.ShoalError:
                continue  # which is a sentence with an exit code
            except Exception as fault:
                msg = f"{name} of a manifest with {value!r} at {path}"
                raise AssertionError(msg) from fault
    assert tried == SPOILED


def test_what_a_method_cannot_have_made_is_noticed(tmp_path: Path) -> None:
    wrong = {"groups": "Freeform()", "no groups": "Split()", "regions": "Exchange()"}
    wrong |= {"two tables": "Split()", "people": "Ring()"}
    for kind, method in wrong.items():
        directory = made(tmp_path / kind, kind)
        path = directory / "manifest.json"
        manifest = json.loads(path.read_text("utf-8"))
        manifest["method"] = method
        if "method" in manifest["asked"]:
            manifest["asked"]["method"] = method
        path.write_text(json.dumps(manifest), "utf-8")
        found = shoal.audit(directory)
        assert not found.holds
        assert any(method in one for one in found.problems), (kind, found.problems)
        with pytest.raises(shoal.AuditFailed, match=method.replace("(", r"\(").replace(")", r"\)")):
            shoal.report(directory)
        shutil.rmtree(directory)


def test_the_audit_says_what_only_the_owner_knows(tmp_path: Path) -> None:
    directory = made(tmp_path / "out", "groups")
    (stated,) = shoal.audit(directory).stated
    for said in ("the method ", "the threshold 1/11", "the date", "rows were left out"):
        assert said in stated
