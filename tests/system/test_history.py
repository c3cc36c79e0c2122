"""A private log of releases, where the owner agreed to it, and what it warns of."""

import json
import stat

import pytest

from system.shell import people, shoal, write_csv

SAID = """
quasi = ["age", "town", "score"]
identifying = ["name"]
sensitive = "salary"
require = "KAnonymity(k=3)"
"""


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "shoal.toml"
    path.write_text(SAID + 'history = "releases.log"\n')
    return path


def published(settings, tmp_path, rows, name):
    table = write_csv(tmp_path / f"{name}.csv", rows)
    return shoal("anonymize", table, "--schema", settings, "--output", tmp_path / name)


def test_people_who_are_published_again_are_counted(settings, tmp_path):
    rows = people(80)
    for place, row in enumerate(rows):
        row["name"] = f"person {place}"
    first = published(settings, tmp_path, rows[:50], "first")
    assert first.code == 0, first.err
    assert "together" not in first.err
    log = tmp_path / "releases.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    text = log.read_text()
    assert "person" not in text.replace('"people"', "")
    _, entry = [json.loads(line) for line in text.splitlines()]
    assert len(entry["people"]) == 50
    assert entry["require"] == ["KAnonymity(k=3)"]
    second = published(settings, tmp_path, rows[30:], "second")
    assert second.code == 0, second.err
    assert "20 of these 50 people were in the release of" in second.said
    assert "Warning" in second.err
    third = published(settings, tmp_path, rows[:10], "third")
    assert "10 of these 10 people" in third.said
    assert len(log.read_text().splitlines()) == 4


def test_several_rows_of_a_person_are_one_person(settings, tmp_path):
    named = SAID.replace('identifying = ["name"]', 'person = "name"\nrows = "unknown"')
    settings.write_text(named + 'history = "releases.log"\n')
    rows = people(60)
    for place, row in enumerate(rows):
        row["name"] = f"person {place // 2}"
    first = published(settings, tmp_path, rows[:40], "first")
    assert first.code == 0, first.err
    entry = json.loads((tmp_path / "releases.log").read_text().splitlines()[1])
    assert len(entry["people"]) == 20
    second = published(settings, tmp_path, rows[30:], "second")
    assert "5 of these 15 people were in the release of" in second.said


def test_without_names_people_are_known_by_their_quasi_values(settings, tmp_path):
    settings.write_text(SAID.replace('identifying = ["name"]\n', "") + 'history = "releases.log"\n')
    rows = people(40)
    published(settings, tmp_path, rows, "first")
    done = published(settings, tmp_path, rows, "second")
    assert "40 of these 40 people" in done.said


def test_nothing_is_remembered_where_nobody_agreed(settings, tmp_path):
    settings.write_text(SAID)
    done = published(settings, tmp_path, people(40), "first")
    assert done.code == 0, done.err
    assert not (tmp_path / "releases.log").exists()


def test_a_release_that_was_refused_is_not_remembered(settings, tmp_path):
    settings.write_text(SAID.replace("k=3", "k=300") + 'history = "releases.log"\n')
    assert published(settings, tmp_path, people(40), "first").code == 3
    assert not (tmp_path / "releases.log").exists()


@pytest.mark.parametrize("text", ["", "{}\n", "no\n", '{"shoal_history": 1, "key": "x"}\n'])
def test_another_file_is_never_taken_for_the_log(settings, tmp_path, text):
    log = tmp_path / "releases.log"
    log.write_text(text)
    done = published(settings, tmp_path, people(40), "first")
    assert done.code == 2, done.err
    assert log.read_text() == text
    assert not (tmp_path / "first").exists()
