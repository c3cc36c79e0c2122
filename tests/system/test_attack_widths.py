"""The grid of the vulnerability: widths in the units of the distance, and a sentence about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import shoal as library
from shoal.views.text import print_attack
from system.shell import shoal

if TYPE_CHECKING:
    from pathlib import Path


def release(rows: int = 120) -> pl.DataFrame:
    chance = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "q": (np.arange(rows) // 6).astype(str),
            "pay": chance.integers(0, 500, rows) * 100,
            "hours": chance.integers(0, 60, rows),
            "word": chance.choice(["a", "bb", "ccc", "dddd", "eeeeeeee"], rows),
        }
    )


def attack(sensitive: list[str], **options: object) -> library.results.Attack:
    schema = library.Schema(quasi="q", sensitive=sensitive)
    return library.attack([release()], schema, **options)  # type: ignore[arg-type]


def test_labels_are_equal_or_not_whatever_the_width() -> None:
    found = attack(["word", "pay"], epsilons=[500, 9000])
    labels, numbers = found.vulnerability
    assert (labels.epsilons, numbers.epsilons) == ((0,), (500, 9000))
    assert "500" not in labels.to_dict()["sentence"]
    assert "the same as" in labels.to_dict()["sentence"]
    assert any("labels of word" in remark for remark in found.remarks)
    assert not any("pay" in remark for remark in found.remarks)
    same = attack(["word"], epsilons=[500], distance=library.distances.Equality())
    assert same.vulnerability[0].epsilons == (0,)
    assert any("labels" in remark for remark in same.remarks)
    assert not any("labels" in remark for remark in attack(["word"]).remarks)


def test_widths_are_in_the_units_of_the_distance() -> None:
    plain = attack(["pay"]).vulnerability[0]
    assert plain.epsilons[-1] > 10_000
    named = attack(["pay"], distance=library.distances.Absolute()).vulnerability[0]
    assert (named.epsilons, named.breaches) == (plain.epsilons, plain.breaches)
    scaled = attack(["pay", "hours"], distance=library.distances.Lp(p="max")).vulnerability[0]
    assert scaled.epsilons[-1] == 0.3
    units = attack(
        ["pay", "hours"], distance=library.distances.Lp(p=1, scale="none")
    ).vulnerability[0]
    assert units.epsilons[-1] > 10_000
    edits = attack(["word"], distance=library.distances.Edit()).vulnerability[0]
    assert edits.epsilons == (0, 1, 2)  # whole numbers of edits
    for one in (plain, scaled, units, edits):
        assert np.diff(np.array(one.breaches), axis=0).min() >= 0
        assert one.breaches[0] != one.breaches[-1]  # the grid shows something


def test_widths_do_not_depend_on_the_order_of_the_rows() -> None:
    schema = library.Schema(quasi="q", sensitive=["pay", "hours"])
    distance = library.distances.Lp(p=1, scale="none")
    found = {
        library.attack([release().sample(fraction=1, shuffle=True, seed=seed)], schema,
                       distance=distance).vulnerability[0].epsilons
        for seed in range(5)
    }  # fmt: skip
    assert len(found) == 1


@pytest.mark.parametrize("deltas", [None, [0.5], [0.5, 0.8], [0.1, 0.33, 0.999], [1], [0]])
def test_the_sentence_is_about_a_number_of_its_table(
    deltas: list[float] | None, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = attack(["pay"], deltas=deltas).to_dict()
    (one,) = facts["vulnerability"]
    print_attack(facts)
    lines = capsys.readouterr().out.splitlines()
    (head,) = [line for line in lines if line.startswith("epsilon ")]
    shown = [float(delta) for delta in re.findall(r"delta (\S+)", head)]
    assert shown == one["shown"]
    assert set(shown) <= {entry["delta"] for entry in one["grid"]}
    share, width, others = re.search(  # type: ignore[union-attr]
        r"In (\S+)% of .* within (\S+) of that of more than (\S+)% of", one["sentence"]
    ).groups()
    column = [round(100 * (1 - delta), 6) for delta in shown].index(float(others))
    (row,) = [line.split() for line in lines if line.split()[:1] == [width]]
    assert row[1 + column] == f"{share}%"


def test_an_original_with_decimal_commas_is_read_as_its_release(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    ages, pays = chance.integers(200, 600, 150) / 10, chance.integers(10**5, 10**6, 150) / 100
    rows = zip(ages.tolist(), pays.tolist(), strict=True)
    texts = [(f"{age:.1f}".replace(".", ","), f"{pay:,.2f}") for age, pay in rows]
    with (tmp_path / "t.csv").open("w") as file:
        file.write("age;pay\n")
        for age, pay in texts:
            file.write(f"{age};{pay.translate(str.maketrans(',.', '.,'))}\n")
    pl.DataFrame({"age": ages, "pay": pays}).write_csv(tmp_path / "plain.csv")
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "EpsilonM(epsilon=100, m=3)")
    signs = ("--delimiter", ";")
    place = tmp_path / "out"
    made = shoal(
        "anonymize", tmp_path / "t.csv", *signs, "--decimal", ",", *asked, "--output", place
    )
    assert made.code == 0
    found = shoal("attack", place, "--original", tmp_path / "t.csv", *signs, "--json").json()
    assert all(one["unmatched"] == 0 for one in found["linking"])
    assert not any("could not be read" in remark for remark in found["remarks"])
    plain = shoal("attack", place, "--original", tmp_path / "plain.csv", "--json").json()
    assert plain["linking"] == found["linking"]  # the same numbers, however they are spelled
    assert plain["learning"] == found["learning"]
