"""`shoal init` proposes what can be kept, in words with a price, and asks where it is told to."""

from __future__ import annotations

import random
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.runs.schema_file import proposed_schema

ROWS = 90


@pytest.fixture(name="people")
def fixture_people() -> pl.DataFrame:
    rng = random.Random(4)
    return pl.DataFrame(
        {
            "born": [f"{1 + i % 12:02}/{rng.randint(1, 12):02}/{1940 + i}" for i in range(ROWS)],
            "sex": [rng.choice("mf") for _ in range(ROWS)],
            "pulse": [rng.randint(50, 120) for _ in range(ROWS)],
            "charges": [rng.randint(1, 90000) for _ in range(ROWS)],
        }
    )


def test_every_column_has_a_reason_and_eleven_people_share_a_description(people, tmp_path):
    text, complete = proposed_schema(people, None)
    assert complete
    for name in people.columns:
        assert f'# "{name}": ' in text
    said = tomllib.loads(text)
    assert "KAnonymity(k=11)" in said["require"]
    assert "born" not in [*said["quasi"], *said["identifying"]]  # it reads in two ways
    assert "pulse" not in said["quasi"]
    assert "# Or: " in text
    assert "% lost" in text
    file = tmp_path / "shoal.toml"
    file.write_text(text, "utf-8")
    release = shoal.load(file, table=people).release()
    assert release.audit().holds
    assert release.recoding.layout.bearers.min() >= 11


def test_answers_decide(people, tmp_path):
    asked = []
    answers = iter(["mm/dd/yyyy", "", "", "5", "2"])

    def ask(question: str, default: str) -> str:
        asked.append(question)
        return next(answers) or default

    text, _ = proposed_schema(people, None, ask=ask)
    said = tomllib.loads(text)
    assert len(asked) == 5
    assert said["quasi"] == ["sex", "born"]
    assert said["columns"]["born"]["date_format"] == "mm/dd/yyyy"
    assert said["require"][-1] == "KAnonymity(k=5)"
    file = tmp_path / "shoal.toml"
    file.write_text(text, "utf-8")
    assert shoal.load(file, table=people).release().audit().holds


@pytest.mark.parametrize("answers", [["dd/mm"], ["", "nobody"], ["", "sex", "charges", "none"]])
def test_an_answer_that_makes_no_sense_is_refused(people, answers):
    left = iter(answers)
    with pytest.raises(UsageError):
        proposed_schema(people, None, ask=lambda _question, _default: next(left))


def test_the_command_asks_on_a_terminal_and_reads_as_anonymize_does(people, tmp_path):
    table = tmp_path / "people.csv"
    people.write_csv(table, separator=";")
    made = tmp_path / "made.toml"
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", "init", table, "-o", made, "--ask",
         "--delimiter", ";"],
        input="dd/mm/yyyy\n\n\n\n1\n", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Which promise should hold?" in done.stdout
    assert "delimiter = " in Path(made).read_text("utf-8")
    stopped = subprocess.run(
        [sys.executable, "-m", "shoal.cli.main", "init", table, "-o", made, "--force", "--ask"],
        input="", text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert stopped.returncode == 2


def test_codes_are_told_from_quantities_by_how_often_they_occur():
    rng = random.Random(2)
    states = [n for n in range(1, 57) if n not in {3, 7, 14, 43, 52}]
    sizes = [rng.paretovariate(1) for _ in states]
    frame = pl.DataFrame(
        {
            "st": rng.choices(states, sizes, k=4000),
            "visits": [min(int(rng.expovariate(0.3)), 40) for _ in range(4000)],
            "walls": rng.choices([2, 3, 9], [25, 70, 5], k=4000),
            "rooms": rng.choices([1, 2, 3, 4], [2, 5, 4, 1], k=4000),
            "bell": [round(rng.gauss(50, 8)) for _ in range(4000)],
        }
    )
    kinds = {column.name: column.type for column in shoal.inspect(frame).columns}
    assert kinds == {
        "st": "code",
        "visits": "numeric",
        "walls": "code",
        "rooms": "numeric",
        "bell": "numeric",
    }
