"""What a manifest says was done to cells is seen in them, and stands in the codebook as well."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from amount import examples

if TYPE_CHECKING:
    from pathlib import Path

FORMS = ("intervals", "bounds", "means", "two-tables")


def people(draw: random.Random, rows: int = 50) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [str(draw.randint(20, 80)) for _ in range(rows)],
            "dose": [draw.choice(["0.5", "1e1", "2.25", "-3.125", "40"]) for _ in range(rows)],
            "born": [f"{draw.randint(13, 28)}/0{draw.randint(1, 9)}/1960" for _ in range(rows)],
            "pay": [str(draw.randint(0, 5000)) for _ in range(rows)],
            "w": [draw.choice(["1", "2"]) for _ in range(rows)],
        }
    )


TRIMS: dict[str, dict[str, Any]] = {
    "round": {"dose": 0.25, "pay": 50},
    "bottom": {"pay": 210},
    "top": {"pay": 4470, "age": 75, "dose": "20"},
}


def published(where: Path, form: str = "intervals", **more: Any) -> dict[str, Any]:
    schema = shoal.Schema(
        quasi=["age", "dose", "born"], sensitive="pay", **{"survey_weight": "w", **TRIMS, **more}
    )
    frame = people(random.Random(form))
    require, apart = "EpsilonM(epsilon=10, m=2)", form == "two-tables"
    release = shoal.anonymize(frame, schema, require=require, form=form, keep_other=apart)
    release.write(where)
    manifest = json.loads((where / "manifest.json").read_text())
    assert isinstance(manifest, dict)
    return manifest


@pytest.mark.few(1)
@pytest.mark.parametrize("form", FORMS)
def test_every_key_of_what_was_done_is_compared(form: str, tmp_path: Path) -> None:
    manifest = published(tmp_path / "out", form)
    path, tried = tmp_path / "out" / "manifest.json", 0
    assert shoal.audit(tmp_path / "out").holds
    for place, column in enumerate(manifest["columns"]):
        for key in ("round", "bottom", "top", "date_format", "survey_weight"):
            if key not in column:
                continue
            others = [None]  # without it
            if isinstance(column[key], int | float) and not isinstance(column[key], bool):
                others += [column[key] * 2 + 1, column[key] + 0.001, column[key] / 7]
            for other in others:
                spoiled = copy.deepcopy(manifest)
                spoiled["columns"][place].pop(key)
                if other is not None:
                    spoiled["columns"][place][key] = other
                path.write_text(json.dumps(spoiled))
                with contextlib.suppress(shoal.ShoalError):  # refused is found too
                    assert not shoal.audit(tmp_path / "out").holds, (column["name"], key, other)
                tried += 1
    assert tried >= 20


@pytest.mark.more
def test_whatever_was_asked_for_is_found_as_it_is_said(tmp_path: Path) -> None:
    tried = 0
    for seed in range(examples(12)):
        draw = random.Random(seed)
        where = tmp_path / str(seed)
        try:
            published(where, draw.choice(FORMS), **trimmed(draw))
        except (shoal.NotAchievable, shoal.InputError):  # a bottom above a top
            continue
        found = shoal.audit(where)
        assert found.holds, found.complaints()
        tried += 1
    assert tried > examples(12) // 2


def trimmed(draw: random.Random) -> dict[str, dict[str, Any]]:
    """Return roundings and thresholds, spelled in many ways."""
    numbers = ["100", "1e2", "100.0", 7, 0.25, "0.1", "12.50", "3e-1", "0.123456789012345"]
    trims: dict[str, dict[str, Any]] = {"round": {}, "bottom": {}, "top": {}}
    for name in ("age", "dose", "pay"):
        if draw.random() < 0.7:
            trims["round"][name] = draw.choice(numbers)
        if draw.random() < 0.4:
            trims["bottom"][name] = draw.choice(["-1e1", 0, "5%", "-2.50"])
        if draw.random() < 0.4:
            trims["top"][name] = draw.choice(["1e2", "90%", "60.0", 61.5])
    return trims


@pytest.mark.parametrize(
    ("name", "cell", "said"),
    [
        ("pay", "1234", "rounded to 50"),
        ("pay", "4500", "above 4470 given as 4470"),
        ("pay", "200", "below 210 given as 210"),
        ("dose", "0.3", "rounded to 0.25"),
        ("dose", "[0.5, 20.25]", "above 20 given as 20"),
    ],
)
def test_a_number_that_was_not_treated_so_is_found(
    name: str, cell: str, said: str, tmp_path: Path
) -> None:
    published(tmp_path / "out")
    path = tmp_path / "out" / "release.csv"
    rows = pl.read_csv(path, infer_schema=False)
    other = pl.Series(name, [cell, *rows[name][1:].to_list()])
    rows.with_columns(other).write_csv(path)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    manifest["digests"]["release.csv"] = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    problems = shoal.audit(tmp_path / "out").problems
    wanted = [one for one in problems if f"Column {name!r} has 1 numbers that were not" in one]
    assert len(wanted) == 1, problems
    assert said in wanted[0]


def test_a_step_that_no_manifest_can_say_is_refused() -> None:
    with pytest.raises(shoal.UsageError, match="at most 15 digits"):
        shoal.Schema(quasi="age", round={"age": "0.12345678901234567890"})


def test_a_codebook_with_long_labels_is_read(tmp_path: Path) -> None:
    draw = random.Random(4)
    texts = ["x" * 90_000, 'two\n"lines", and a comma' * 5000, "=short"]
    frame = people(draw).with_columns(note=pl.Series([texts[row % 3] for row in range(50)]))
    schema = shoal.Schema(quasi="age", sensitive="pay", other="note", round={"age": 10})
    for escaped in (False, True):
        release = shoal.anonymize(frame, schema, require="KAnonymity(k=3)", escape_formulas=escaped)
        assert release.write(tmp_path / str(escaped)).holds
        assert shoal.audit(tmp_path / str(escaped)).holds


@pytest.mark.few(4)
@pytest.mark.parametrize("text", ["", "name\n", "name,done\nage\n", "\xff\xfe", "a,b\n1,2\n"])
def test_a_codebook_that_says_nothing_of_it_is_found(text: str, tmp_path: Path) -> None:
    manifest = published(tmp_path / "out")
    path = tmp_path / "out" / "codebook.csv"
    path.write_bytes(text.encode("latin-1"))
    manifest["digests"]["codebook.csv"] = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    found = shoal.audit(tmp_path / "out")
    assert any("codebook" in one for one in found.problems)
