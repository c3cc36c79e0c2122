"""Time and large integers are compared as integers, by whoever reads a release.

Every release of random timestamps, in several units and spellings, passes its own audit, and all
readers of its files agree with exact arithmetic on the cells as they are spelled.
"""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.table.reading import read_table

START = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 10**9
SCHEMA = shoal.Schema(quasi="when", sensitive="pay")


def spelled(nanoseconds: int, chance: np.random.Generator) -> str:
    """Spell a moment in one of the ways of ISO 8601, with as many digits as it needs."""
    seconds, rest = divmod(nanoseconds, SECOND)
    moment = START + timedelta(seconds=seconds)
    zone = ""
    match chance.integers(4):
        case 1:
            zone = "Z"
        case 2:
            moment, zone = moment + timedelta(hours=5, minutes=30), "+05:30"
        case 3:
            moment, zone = moment - timedelta(hours=3), "-0300"
    text = moment.strftime("%Y-%m-%dT%H:%M:%S" if chance.integers(2) else "%Y-%m-%d %H:%M:%S")
    digits = f"{rest:09d}"
    shortest = digits.rstrip("0")
    digits = digits[: max(len(shortest), int(chance.integers(1, 10)))]
    return text + (f".{digits}" if shortest or chance.integers(2) else "") + zone


def exactly(text: str) -> Fraction:
    """Read a moment back, in seconds, with nothing of the package."""
    whole, dot, tail = text.strip('"').partition(".")
    digits = ""
    while dot and tail and tail[0].isdigit():
        digits, tail = digits + tail[0], tail[1:]
    if not dot:
        for sign in ("Z", "+", "-"):
            at = whole.rfind(sign)
            if at > 12:
                whole, tail = whole[:at], whole[at:]
                break
    if len(whole) == 10:
        whole += "T00:00:00"
    moment = datetime.fromisoformat(whole).replace(tzinfo=UTC)
    shift = Fraction(0)
    if tail and tail != "Z":
        figures = tail[1:].replace(":", "")
        shift = Fraction(int(figures[:2]) * 3600 + int(figures[2:]) * 60)
        shift = -shift if tail[0] == "-" else shift
    days = moment - START
    return days.days * 86400 + days.seconds + Fraction(int(digits or 0), 10 ** len(digits)) - shift


def ends(cell: str) -> tuple[str, str]:
    low, high = json.loads(cell) if cell.startswith("[") else (cell, cell)
    return str(low), str(high)


STEPS = {"days": 86400 * SECOND, "ms": 10**6, "us": 10**3, "ns": 1}


def moments(unit: str, count: int, chance: np.random.Generator) -> list[int]:
    """Draw moments of a unit, some of them equal and some next to one another."""
    step = STEPS[unit]
    span = (10**9 if chance.integers(2) else 10**7) * SECOND // step
    drawn = chance.integers(-span // 4, span, count)
    drawn[: count // 4] = drawn[0] + chance.integers(0, 3, count // 4)
    return [int(place) * step for place in drawn]


def published(directory: Path) -> list[tuple[str, str]]:
    """Return the ends of every published cell, as the file has them."""
    (path,) = directory.glob("release.*")
    if path.suffix == ".csv":
        cells = pl.read_csv(path, infer_schema=False)["when"]
        return [ends(cell) for cell in cells]
    if path.suffix == ".parquet":
        typed = pl.read_parquet(path)["when"]
        low, high = (typed.struct.field(end).cast(pl.String) for end in ("low", "high"))
        return list(zip(low, high, strict=True))
    lines = [json.loads(line)["when"] for line in path.read_text().splitlines()]
    return [(str(low), str(high)) for low, high in lines]


def check_cells(directory: Path, truth: list[str], read: Any) -> None:
    """Check the domain, and that every loss is what the published cells say."""
    manifest = json.loads((directory / "manifest.json").read_text())
    known = sorted(map(read, truth))
    domain = manifest["columns"][0]["domain"]
    assert [read(str(end)) for end in domain] == [known[0], known[-1]]
    span = known[-1] - known[0]
    cells = [(read(low), read(high)) for low, high in published(directory)]
    assert {end for cell in cells for end in cell} <= set(known)
    widths = [high - low for low, high in cells]
    assert min(widths) >= 0
    gcp = float(sum(widths) / len(widths) / span) if span else 0.0
    assert manifest["loss"]["gcp"] == pytest.approx(gcp, rel=1e-9, abs=1e-15)
    assert shoal.measures.losses(directory)["gcp"] == pytest.approx(gcp, rel=1e-9, abs=1e-15)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["Freeform()", "Split()"])
@pytest.mark.parametrize("unit", STEPS)
def test_every_reader_agrees_on_random_timestamps(unit: str, method: str, tmp_path: Path) -> None:
    for seed in range(5):
        chance = np.random.default_rng([seed, len(unit)])
        drawn = moments(unit, 60, chance)
        texts = [spelled(one, chance) for one in drawn]
        frame = pl.DataFrame({"when": texts, "pay": list(range(60))})
        release = shoal.anonymize(frame, SCHEMA, require="KAnonymity(k=3)", method=method, seed=1)
        assert release.audit().holds
        assert release.losses()["gcp"] == pytest.approx(release.loss, rel=1e-9, abs=1e-15)
        if seed < 3:  # one format each
            target = tmp_path / str(seed)
            assert release.write(target, format=("csv", "parquet", "jsonl")[seed]).holds
            found = shoal.audit(target, original=frame if method == "Freeform()" else None)
            assert (found.holds, found.problems) == (True, ())
            check_cells(target, texts, exactly)
            attacked = shoal.attack([target], original=frame)
            assert all(link["unmatched"] == 0 for link in attacked.to_dict()["linking"])
        middle = sorted(drawn)[30]
        expected = sum(one <= middle for one in drawn)
        asked = f"when <= '{spelled(middle, chance)}'"
        exact = pl.DataFrame({"pay": list(range(60)), "when": texts})
        swapped = shoal.anonymize(
            exact, shoal.Schema(quasi="pay", sensitive="when"), require="DistinctL(l=2)", seed=1
        )
        assert swapped.count(asked) == expected


@pytest.mark.few(2)
@pytest.mark.parametrize("unit", STEPS)
def test_people_of_a_population_are_matched_in_another_spelling(unit: str) -> None:
    for seed in range(8):
        chance = np.random.default_rng([seed, 7])
        drawn = moments(unit, 24, chance)
        known = [*drawn, *moments(unit, 40, chance), *(one + 1 for one in drawn[:6])]
        table = pl.DataFrame({"when": [spelled(one, chance) for one in drawn], "pay": range(24)})
        people = pl.DataFrame({"when": [spelled(one, chance) for one in known]})
        release = shoal.anonymize(table, SCHEMA, require="KMap(k=4)", population=people, seed=1)
        assert release.audit().holds
        fits = []
        for low, high in map(ends, release.table["when"]):
            least, most = exactly(low) * SECOND, exactly(high) * SECOND
            fits.append(sum(least <= one <= most for one in known))
        assert min(fits) >= 4


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_nearness_in_time_is_exact(unit: str) -> None:
    """A distance of exactly ε days is near, and one unit more is not."""
    step = STEPS[unit]
    for seed in range(20):
        chance = np.random.default_rng([seed, 3])
        begin = int(chance.integers(10**9)) * SECOND + step * int(chance.integers(1, 999))
        apart = 86400 * SECOND * int(chance.integers(1, 9)) // 4
        for more, near in ((0, True), (step, False)):
            texts = [spelled(one, chance) for one in (begin, begin + apart + more)]
            frame = pl.DataFrame({"q": ["1", "1"], "when": texts})
            schema = shoal.Schema(quasi="q", sensitive="when")
            epsilon = apart / (86400 * SECOND)
            asked = f"EpsilonM(epsilon={epsilon}, m=2)"
            assert shoal.audit(frame, schema, require=asked).holds is not near


def test_nanoseconds_that_no_column_holds_are_refused_in_a_sentence() -> None:
    texts = ["1600-01-01T00:00:00.000000001", *(["2020-01-01"] * 5)]
    frame = pl.DataFrame({"when": texts, "pay": range(6)})
    with pytest.raises(shoal.InputError, match=r"'when' has 1 .*1897 to 2043"):
        shoal.anonymize(frame, SCHEMA, require="KAnonymity(k=3)")


SIZES = (2**53, 2**61, 2**63, 2**64, 10**37, 10**60)


@pytest.mark.few(4)
@pytest.mark.parametrize("method", ["Freeform()", "Split()"])
@pytest.mark.parametrize("size", SIZES)
def test_large_integers_stay_exact(size: int, method: str, tmp_path: Path) -> None:
    for seed in range(3):
        chance = np.random.default_rng([seed, 5])
        sign = int(chance.choice([-1, 1]))
        spread = (9, 9, size // 2, size // 2)[(seed + method.count("S")) % 4]
        steps = [int(Fraction(int(part), 10**6) * spread) for part in chance.integers(0, 10**6, 40)]
        values = [sign * (size + step) for step in steps]
        values[:4] = [values[0] + place % 2 for place in range(4)]
        frame = pl.DataFrame({"when": list(map(str, values)), "pay": range(40)})
        release = shoal.anonymize(frame, SCHEMA, require="KAnonymity(k=3)", method=method, seed=1)
        assert release.losses()["gcp"] == pytest.approx(release.loss, rel=1e-9, abs=1e-12)
        original = frame if method == "Freeform()" else None
        target = tmp_path / str(seed)
        release.write(target, format=("csv", "parquet", "jsonl")[seed % 3])
        found = shoal.audit(target, original=original)
        assert (found.holds, found.problems) == (True, ())
        check_cells(target, list(map(str, values)), int)
        told = sorted(tuple(map(int, cell)) for cell in published(target))
        assert told == sorted(tuple(map(int, ends(cell))) for cell in release.table["when"])


def test_integers_that_json_lines_cannot_give_exactly_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    for number, held in ((2**64, True), (2**127 - 1, True), (10**40, False)):
        path.write_text(f'{{"a": 1}}\n{{"a": {number}}}\n')
        if held:
            assert [int(cell) for cell in read_table(path)["a"]] == [1, number]
            continue
        with pytest.raises(shoal.InputError, match="38 digits"):
            read_table(path)
