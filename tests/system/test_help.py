"""The help of every command at 80 columns, and what a newcomer's first slips are told."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text

from shoal.cli.main import PLACES, commands
from system.shell import shoal

COMMANDS: dict[str, Any] = commands("").commands


@pytest.fixture(autouse=True)
def narrow(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(
        "age,town,pay,job\n17,Ulm,1000,a\n19,Bonn,2000,b\n20,Ulm,3000,a\n24,Bonn,5000,b\n"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_its_panel(command):
    for one in COMMANDS[command].params:
        if one.param_type_name == "option":
            assert one.name in PLACES, f"give --{one.name} its place in cli/main.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_speaks_no_python(command):
    text = shoal(command, "--help").out
    assert max(map(len, text.splitlines())) <= 80
    for word in ("<str>", "<bool>", "list[str]", "{"):
        assert word not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_of_a_help_is_taken_for_markup(command):
    told = COMMANDS[command]
    for text in (told.help, *(getattr(one, "help", None) for one in told.params)):
        assert Text.from_markup(text or "").plain == (text or "").replace(r"\[", "[")


def test_columns_come_before_what_must_hold_and_running_last():
    text = shoal("anonymize", "--help").out
    places = [text.index(f"─ {panel} ─") for panel in ("Columns", "What must hold", "Running")]
    assert places == sorted(places)
    assert text.index("--quiet") > places[-1]


@pytest.mark.parametrize("arguments", [(), ("anonymize",)])
def test_help_for_want_of_arguments_ends_without_a_complaint(arguments):
    outcome = shoal(*arguments)
    assert outcome.code == 2
    assert "shoal:" not in outcome.out + outcome.err


def test_a_wrong_option_points_at_the_help_of_its_command():
    outcome = shoal("anonymize", "people.csv", "--outpt", "x")
    assert outcome.code == 2
    assert "--outpt" in outcome.err
    assert outcome.err.endswith("See shoal anonymize --help.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("anonymize", "people.csv"), "shoal init"),
        (("anonymize", "people.csv", "--quasi", "age"), "--output published"),
        (("audit", "nowhere.csv"), "'nowhere.csv'"),
        (("attack", "nowhere.csv"), "'nowhere.csv'"),
        (("audit", "people.csv"), "shoal inspect"),
        (
            ("plan", "people.csv", "--sensitive", "pay", "--require", "dissimilarity"),
            "write Dissimilarity(…)",
        ),
    ],
)
def test_a_first_slip_is_told_what_to_do(arguments, told):
    outcome = shoal(*arguments)
    assert outcome.code == 2
    assert told in outcome.err


def test_a_plan_for_labels_says_what_to_ask_for_instead(tmp_path):
    (tmp_path / "shoal.toml").write_text(
        'table = "people.csv"\nsensitive = "job"\n[columns.job]\ntype = "categorical"\n'
    )
    outcome = shoal("plan", "--schema", "shoal.toml")
    assert outcome.code == 2
    assert "'job' is categorical" in outcome.err
    assert "FrequencyL" in outcome.err


def test_a_release_points_at_its_report():
    outcome = shoal(
        *("anonymize", "people.csv", "--quasi", "age,town", "--sensitive", "pay"),
        *("--require", "EpsilonM(epsilon=100, m=2)", "--output", "published"),
    )
    assert outcome.code == 0, outcome.err
    assert outcome.err.endswith("Before you pass it on, read published/report.html.\n")


def test_breaches_of_labels_are_told_without_a_width():
    columns = ("--quasi", "town", "--sensitive", "job")
    words = shoal("attack", "people.csv", *columns).out.split()
    assert "is the same as that of more than" in " ".join(words)


def test_the_role_of_a_column_stands_in_its_line_however_long_its_labels(tmp_path):
    labels = ["Married-with-a-civil-spouse-", "Never-married-at-all-in-life", "Divorced-once-or-so"]
    rows = "".join(f"{labels[row % 3]},{row}\n" for row in range(30))
    (tmp_path / "long.csv").write_text("marital-status,income\n" + rows)
    lines = shoal("inspect", "long.csv").out.splitlines()
    (head,) = (line for line in lines if line.startswith("marital-status"))
    assert head.endswith("…  quasi")
    assert len(head) == 80


def publish(*arguments):
    columns = ("--quasi", "age,town", "--output", "published")
    return shoal("anonymize", "people.csv", *columns, *arguments)


def test_a_requirement_on_two_columns_together_is_pointed_out():
    together = publish("--sensitive", "pay,job", "--require", "FrequencyL(l=2)")
    assert together.code == 0, together.err
    assert "treats pay and job together" in together.err
    assert "'pay: FrequencyL(l=2)'" in together.err


@pytest.mark.parametrize("asked", ["pay+job: FrequencyL(l=2)", "KAnonymity(k=2)"])
def test_nothing_is_pointed_out_where_columns_were_named_or_do_not_matter(asked):
    named = publish("--sensitive", "pay,job", "--require", asked)
    assert named.code == 0, named.err
    assert "together" not in named.err
    assert "No requirement protects" not in named.err


def test_a_secret_that_no_requirement_is_about_is_pointed_out():
    named = publish("--sensitive", "pay,job", "--require", "job: FrequencyL(l=2)")
    assert named.code == 0, named.err
    assert "No requirement protects pay. It is marked as sensitive" in named.err


def test_a_release_of_one_group_is_pointed_out():
    outcome = publish("--sensitive", "pay", "--require", "KAnonymity(k=4)")
    assert outcome.code == 0, outcome.err
    assert "in 1 group to" in outcome.out
    assert "All rows are in one group" in outcome.err


def test_a_hierarchy_that_is_not_there_is_told_plainly():
    outcome = publish("--sensitive", "pay", "--require", "KAnonymity(k=2)", "--hierarchy", "town=x")
    assert outcome.code == 2
    assert outcome.err == "shoal: Cannot read the hierarchy 'x': No such file or directory.\n"


def test_a_principle_about_numbers_asked_of_labels_names_one_about_labels():
    outcome = publish("--sensitive", "job", "--require", "EpsilonM(epsilon=1, m=2)")
    assert outcome.code == 2
    assert "It holds labels" in outcome.err
    assert "FrequencyL" in outcome.err
