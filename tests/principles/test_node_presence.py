"""Whom of a population a node fits: by its rule, whatever values the table happens to have."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import msgspec
import polars as pl
import pytest

import shoal
from amount import examples
from reference.pools import NUMBERS, POOLS
from reference.recoding import rule_covers
from shoal.audit.published import Published
from shoal.audit.verify import audit_table
from shoal.release.manifest import Manifest

BORN = ["1990-02-01", "1990-03-05", "1991-05-05", "1991-06-07"]
MONTHS = [f"{year}-{month:02}-{10 + month % 2}" for year in (1990, 1991) for month in range(1, 13)]
SCHEMA = shoal.Schema(quasi="born", sensitive="ill", hierarchies={"born": "Calendar()"})
FEW = pl.DataFrame({"born": BORN, "ill": list("abcd")})
SEEDS = examples(60)
EVERYBODY = pl.DataFrame({"born": BORN + MONTHS})


def test_people_whose_exact_value_no_row_has_are_under_a_node() -> None:
    # Single days fit one person each, who is in the table; a quarter would fit 2 of 5.
    release = shoal.anonymize(
        FEW, SCHEMA, require="DeltaPresence(low=0.6, high=1)", population=EVERYBODY
    )
    assert sorted(release.table["born"]) == BORN
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(
            FEW,
            SCHEMA,
            require=["DeltaPresence(low=0.6, high=1)", "KAnonymity(k=2)"],
            population=EVERYBODY,
        )
    for require in ("KMap(k=20)", "DeltaPresence(high=0.5)"):
        release = shoal.anonymize(FEW, SCHEMA, require=require, population=EVERYBODY)
        assert release.audit().holds


def audited(release: shoal.Release, population: pl.DataFrame) -> Any:
    """Audit what is published, by its manifest alone, as a stranger would."""
    manifest = msgspec.convert(json.loads(release.manifest.to_json()), Manifest)
    published = Published(release.published, manifest)
    return audit_table(published, published.require, population)


@pytest.mark.more
def test_the_search_and_a_stranger_count_as_the_definition_does() -> None:
    """Random tables of up to 12 rows, of every rule and type, and what is refused of them."""
    released = refused = 0
    for seed in range(SEEDS):
        draw = random.Random(seed)
        name, pool, rule = POOLS[seed % len(POOLS)]
        known = draw.sample(pool, draw.randint(1, len(pool)))
        cells = [draw.choice(known) for _ in range(draw.randint(2, 12))]
        others = [draw.choice(pool) for _ in range(draw.randint(0, 30))]
        beyond = [draw.choice(["99999", "0"])] if name == "code" else []
        everybody = [*cells, *others, *beyond]
        types = {name: "code"} if name == "code" else {}
        schema = shoal.Schema(quasi=[name], types=types, hierarchies={name: rule})
        table, population = pl.DataFrame({name: cells}), pl.DataFrame({name: everybody})
        k = draw.randint(1, len(everybody) + 1)
        asked = draw.choice([f"KMap(k={k})", "DeltaPresence(high=0.6)"])

        def fits(node: str, rule: str = rule, name: str = name) -> list[str]:
            text = name not in NUMBERS
            spelled = map(str, everybody)  # noqa: B023 - called in the same round
            return [one for one in spelled if rule_covers(rule, node, one, text=text)]

        one_group = ["KMap(k=1)", f"KAnonymity(k={len(cells)})"]
        whole = shoal.anonymize(
            table, schema, require=one_group, method="Mondrian()", population=population
        )
        (top,) = set(whole.published[name])
        try:
            release = shoal.anonymize(table, schema, require=asked, population=population)
        except shoal.NotAchievable:
            refused += 1
            if asked.startswith("KMap"):
                assert len(fits(top)) < k, (seed, top)
            else:
                assert Fraction(len(cells), len(fits(top))) > Fraction(6, 10), (seed, top)
            continue
        released += 1
        counts = release.published[name].value_counts().iter_rows()
        if asked.startswith("KMap"):
            risk = max(Fraction(1, len(fits(cell))) for cell, _ in counts)
        else:
            risk = max(Fraction(rows, len(fits(cell))) for cell, rows in counts)
        for found in (release.audit(), audited(release, population)):
            assert found.holds, (seed, found.complaints())
            assert found.findings[0].measurement.risk == risk, (seed, rule)
    assert released > examples(35)
    assert refused >= examples(3)


PLACES = {"Europe": ["Italy", "Malta", "Spain"], "Asia": ["Japan", "India"]}


def test_a_listed_hierarchy_is_its_owners_to_name(tmp_path: Any) -> None:
    table = pl.DataFrame({"place": ["Italy", "Malta", "Japan", "India"], "ill": list("abcd")})
    people = pl.DataFrame({"place": [*table["place"], "Spain", "Spain"]})
    schema = shoal.Schema(quasi="place", sensitive="ill", hierarchies={"place": PLACES})
    release = shoal.anonymize(table, schema, require="KMap(k=2)", population=people)
    assert set(release.published["place"]) == {"Europe", "Asia"}
    release.write(tmp_path / "out")
    with pytest.raises(shoal.InputError, match="only its owner knows whether 'India'"):
        shoal.audit(tmp_path / "out", population=people)
    with pytest.raises(shoal.InputError, match="only its owner knows"):
        shoal.attack([tmp_path / "out"], original=table)
    owned = {"place": PLACES}
    found = shoal.audit(tmp_path / "out", population=people, hierarchies=owned)
    assert found.holds
    assert found.findings[0].measurement.risk == Fraction(1, 2)
    spain = shoal.audit(tmp_path / "out", require="KMap(k=3)", population=people, hierarchies=owned)
    assert not spain.holds  # Asia fits two
    assert shoal.attack([tmp_path / "out"], original=table, hierarchies=owned).links
    strange = people.vstack(pl.DataFrame({"place": ["Peru"]}))
    with pytest.raises(shoal.InputError, match="lacks the label 'Peru'"):
        shoal.audit(tmp_path / "out", population=strange, hierarchies=owned)
    with pytest.raises(shoal.InputError, match="lacks the label 'Peru'"):
        shoal.anonymize(table, schema, require="KMap(k=2)", population=strange)
