"""No command says anything that a terminal would obey, whatever names and cells a table has."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import polars as pl
import pytest

from shoal.views.terminal import ORDERS, plain, plain_json
from system.shell import Outcome, shoal

if TYPE_CHECKING:
    from pathlib import Path

CLEAR = "\x1b[2J\x1b]0;owned\x07"  # clears the screen and sets the title
CSI = "\x9b31m"
TURN = "\u202egnp.exe"
AGE, TOWN, PAY, ILL = f"age{CLEAR}", f"town{TURN}", f"pay{CSI}", "ill\x08\x08\x08ok"
SPARE = "spare\r\x1b[1A\nshoal: everything holds"
ROLES = ("--quasi", f"{AGE},{TOWN}", "--sensitive", f"{PAY},{ILL}")
FEW = ("--require", f"{PAY}: EpsilonM(epsilon=100, m=2)", "--require", "KAnonymity(k=2)")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "table.csv"
    pl.DataFrame(
        {
            AGE: [20 + row % 30 for row in range(60)],
            TOWN: [f"{'xyz'[row % 3]}{CLEAR}{CSI}{TURN}" for row in range(60)],
            PAY: [row * 977 % 1500 for row in range(60)],
            ILL: [f"{'flu' if row % 2 else 'cold'}\x1b[8m\x07\x7f" for row in range(60)],
            SPARE: [f"{row}{CLEAR}" for row in range(60)],
        }
    ).write_csv(path)
    return path


def obeyed(outcome: Outcome) -> set[str]:
    """What a terminal would obey in what was said, but for the ends of lines."""
    said = (outcome.out + outcome.err).replace("\n", "")
    return {sign for sign in said if unicodedata.category(sign) in {"Cc", "Zl", "Zp"}} | (
        set(ORDERS.findall(said))
    )


def commands(table: Path, place: Path) -> list[tuple[object, ...]]:
    asked, many = (*ROLES, *FEW), ("--require", f"{ILL}: DistinctL(l=9)")
    return [
        ("inspect", table),
        ("inspect", table, "--json"),
        ("init", table, "--output", place / "shoal.toml"),
        ("anonymize", table, *asked, "--output", place / "out"),
        ("anonymize", table, *asked, "--output", place / "other", "--json"),
        ("anonymize", table, *asked, "--dry-run"),
        ("anonymize", table, *asked, *many, "--output", place / "no"),
        ("anonymize", table, *ROLES, *FEW[2:], "--quasi", f"{AGE}x", "--output", place / "no"),
        ("anonymize", table, *asked, "--type", f"{TOWN}=numeric", "--output", place / "no"),
        ("audit", place / "out"),
        ("audit", table, *asked),
        ("plan", table, "--sensitive", PAY),
        ("compare", table, *asked, "--method", "Split()", "--method", "Exchange()"),
        ("attack", place / "out", "--original", table),
        ("count", place / "out", f"{AGE} > {CLEAR}"),
        (f"bad{CLEAR}",),
    ]  # fmt: skip


def test_nothing_said_is_obeyed(hostile: Path, tmp_path: Path) -> None:
    ends = []
    for command in commands(hostile, tmp_path):
        outcome = shoal(*command)
        assert "unforeseen" not in outcome.err, (command, outcome)
        assert obeyed(outcome) == set(), (command, outcome)
        assert not outcome.err.startswith("shoal: everything holds")
        assert "\nshoal: everything holds" not in outcome.out + outcome.err, command
        ends.append(outcome.code)
    assert ends[:6] == [0] * 6
    assert {0, 2, 3} <= set(ends)


def test_json_means_what_it_did(hostile: Path) -> None:
    found = shoal("inspect", hostile, "--json").json()
    assert [column["name"] for column in found["columns"]] == [AGE, TOWN, PAY, ILL, SPARE]


def test_every_character_keeps_its_meaning_or_is_pictured() -> None:
    for number in range(0x110000):
        sign = chr(number)
        category = unicodedata.category(sign)
        turns = unicodedata.bidirectional(sign) in {
            "LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI",
        }  # fmt: skip
        if category in {"Cc", "Zl", "Zp"} or turns:
            assert unicodedata.category(plain(sign)) == "So", hex(number)
            assert plain_json(sign) == f"\\u{number:04x}"
        elif category != "Cf":
            assert plain(sign) == sign, hex(number)
