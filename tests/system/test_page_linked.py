"""Linked tables in the page: added, published, audited by definition, and taken away again."""

import csv
import io
import re
import tomllib
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import pages
from shoal.web.linking import linked_name
from system.page import finished, publish, upload, verdict_of

PEOPLE = 240
OUTSIDE = "outside-77ab2c"  # in no name that other tests give to their directories
TABLE = "patient,age,town\n" + "".join(f"p{i},{20 + i % 40},t{i % 3}\n" for i in range(PEOPLE))
VISITS = "patient,diagnosis,cost,doctor\n" + "".join(
    f"p{i},d{(i * 7 + turn * 3) % 11},{100 * (i % 9)},Dr {i % 5}\n"
    for i in range(PEOPLE)
    for turn in range(1 + i % 2)
)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def page(home):
    named = home / "named.csv"
    named.write_text(VISITS)
    with pages.opened(str(named), home=home) as open_page:
        yield open_page


def link(client, place, text=VISITS, file="visits.csv", name=""):
    return client.post(f"{place}/linked", files={"linked": (file, text)}, data={"name": name})


def begin(client):
    """Open the table of people; its first column marks them."""
    place = upload(client, TABLE)
    for column, role in enumerate(("person", "quasi", "quasi")):
        client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
    return place


def places(client, place):
    """Return the place of each column by its name."""
    found = re.findall(r'id="role-(\d+)"[^>]*data-testid="role-([^"]+)"', client.get(place).text)
    return {name: int(number) for number, name in found}


@pytest.mark.long
def test_two_tables_are_published_about_the_same_people(page):
    with page.client() as client:
        place = begin(client)
        assert link(client, place).headers["location"] == f"{place}#linking"
        known = places(client, place)
        assert set(known) >= {"visits.patient", "visits.diagnosis", "visits.cost"}
        for name, role in {"visits.diagnosis": "sensitive", "visits.cost": "other"}.items():
            at = known[name]
            client.post(f"{place}/columns/{at}", data={f"role-{at}": role})
        asked = "KAnonymity(k=4); visits.diagnosis: FrequencyL(l=2)"
        said = client.post(f"{place}/require", data={"require": asked}).text
        assert 'data-testid="error"' not in said
        assert "visits.diagnosis" in said
        price = client.get(f"{place}/price").text
        assert "Tried on" in price, price
        assert "visits.csv: " in price
        for kind in ("alternatives", "methods", "forms"):
            answer = client.get(f"{place}/prices/{kind}")
            assert answer.status_code == 200
            assert re.search(r"\d\s?%<small>", answer.text), kind
        run = publish(client, place, require=asked)
        verdict = finished(client, run)
        assert verdict_of(verdict)[0].startswith("holds")
        assert "visits.csv" in verdict
        said = tomllib.loads(client.get(f"{run}/shoal.toml").text)
        assert said["linked"] == {"visits": "visits.csv"}
        with zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content)) as packed:
            tables = {
                name: list(csv.DictReader(io.StringIO(packed.read(f"release/{name}").decode())))
                for name in ("release.csv", "visits.csv")
            }
    assert set(tables["visits.csv"][0]) == {"group", "person", "diagnosis", "cost"}
    check(tables["release.csv"], tables["visits.csv"])


def check(people, visits):
    """Measure by definition: among those with as many visits, nobody is known by a diagnosis."""
    counts = Counter(row["person"] for row in visits)
    group = {row["person"]: row["group"] for row in people}
    assert all(group[row["person"]] == row["group"] for row in visits)
    alike = defaultdict(set)
    for person, one in group.items():
        alike[one, counts[person]].add(person)
    assert min(map(len, alike.values())) >= 4
    having = defaultdict(set)
    for row in visits:
        having[row["group"], counts[row["person"]], row["diagnosis"]].add(row["person"])
    for (one, count, _), some in having.items():
        assert 2 * len(some) <= len(alike[one, count])


def test_nobody_is_said_to_have_chosen_what_was_proposed(page):
    with page.client() as client:
        place = begin(client)
        link(client, place)
        shown = client.get(place).text.partition('id="linking"')[2].partition("</section>")[0]
        assert "visits.doctor" in shown
        assert "Your choice" not in shown
        assert "generalize" not in shown  # a role that no column of a linked table can have
        whom = shown.partition('data-testid="role-visits.patient"')[2].partition("</li>")[0]
        assert "It identifies the person behind a row" in whom
        assert "Type and more" not in whom


def test_secrets_of_linked_tables_are_proposed_a_promise(page):
    with page.client() as client:
        place = begin(client)
        link(client, place, name="stays")
        asked = tomllib.loads(client.get(f"{place}/shoal.toml").text)["require"]
        assert [one for one in asked if one.startswith("stays.diagnosis: FrequencyL(l=")]


def test_a_secret_that_nothing_is_promised_about_is_told_before_and_after(page):
    with page.client() as client:
        place = begin(client)
        link(client, place)
        at = places(client, place)["visits.cost"]
        client.post(f"{place}/columns/{at}", data={f"role-{at}": "sensitive"})
        alone = "visits.diagnosis: FrequencyL(l=2)"
        both = f"{alone}; visits.cost: FrequencyL(l=2)"
        for asked, lacking in ((alone, True), (both, False)):
            said = client.post(f"{place}/require", data={"require": asked}).text
            assert ("No requirement protects visits.cost" in said) == lacking
            verdict = finished(client, publish(client, place, require=asked))
            assert verdict_of(verdict)[0].startswith("holds")
            assert ("No requirement protects visits.cost." in verdict) == lacking


def test_a_table_is_linked_where_it_is_when_shoal_was_started_with_it(page, home):
    with page.client() as client:
        place = begin(client)
        assert "Add named.csv" in client.get(place).text
        answer = client.post(f"{place}/linked", data={"given": "0", "name": "stays"})
        assert answer.status_code == 303
        assert "stays.diagnosis" in client.get(place).text
        assert client.post(f"{place}/linked", data={"given": "1"}).status_code == 422
    kept = [one for one in home.rglob("*.csv") if one.read_text() == VISITS]
    assert home / "named.csv" in kept
    assert not [one for one in kept if "named" in one.name and one.parent != home]


def test_a_table_that_is_taken_away_leaves_nothing(page):
    with page.client() as client:
        place = begin(client)
        before = client.get(f"{place}/shoal.toml").text
        link(client, place)
        at = places(client, place)["visits.diagnosis"]
        client.post(f"{place}/columns/{at}", data={f"role-{at}": "sensitive"})
        asked = "KAnonymity(k=4); visits.diagnosis: FrequencyL(l=2)"
        client.post(f"{place}/require", data={"require": asked})
        assert client.post(f"{place}/linked/visits/remove").status_code == 303
        assert client.post(f"{place}/linked/visits/remove").status_code == 404
        after = tomllib.loads(client.get(f"{place}/shoal.toml").text)
        assert after | {"require": []} == tomllib.loads(before) | {"require": []}
        assert after["require"] == ["KAnonymity(k=4)"]
        link(client, place, file="others.csv")
        again = places(client, place)
        # A tab that still shows the first has no say about the second.
        assert at not in again.values()
        assert client.post(f"{place}/columns/{at}", data={f"role-{at}": "other"}).status_code == 404
        publish(client, place, require="KAnonymity(k=2)", **{f"role-{at}": "other"})
        assert "other" not in tomllib.loads(client.get(f"{place}/shoal.toml").text)


def test_columns_of_a_linked_table_are_known_by_nobody(page):
    with page.client() as client:
        place = begin(client)
        link(client, place)
        known = places(client, place)
        for name in ("visits.cost", "visits.patient"):
            at = known[name]
            for role in ("quasi", "never-mix", "person", "survey-weight"):
                client.post(f"{place}/columns/{at}", data={f"role-{at}": role})
                said = tomllib.loads(client.get(f"{place}/shoal.toml").text)
                assert said["quasi"] == ["age", "town"]
                assert said["person"] == "patient"
                assert name not in (said.get("survey_weight"), *said.get("never_mix", ()))
        wrong = known["visits.cost"]
        answer = client.post(f"{place}/columns/{wrong}/hierarchy", files={"file": ("h.csv", "a;b")})
        assert answer.status_code == 404


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("text", "file", "name", "said"),
    [
        ("who,diagnosis\np1,d1\n", "visits.csv", "", "patient"),
        ("\0\1", "visits.csv", "", "visits.csv"),
        (VISITS, "visits.csv", "../x", "begin with a letter"),
        (VISITS, "visits.csv", "release", "not be one of"),
        (VISITS, "", "", "No file came"),
    ],
)
def test_what_cannot_be_linked_is_told_in_words(page, text, file, name, said):
    with page.client() as client:
        place = begin(client)
        before = client.get(f"{place}/shoal.toml").text
        answer = link(client, place, text, file, name)
        assert answer.status_code == 422
        assert 'data-testid="error"' in answer.text
        assert said in answer.text
        assert "table.csv" not in answer.text
        assert client.get(f"{place}/shoal.toml").text == before
        assert client.get(place).status_code == 200


def test_a_table_is_linked_by_people_alone(page):
    with page.client() as client:
        place = upload(client, TABLE)
        for column, role in enumerate(("identifying", "quasi", "quasi")):
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        assert 'data-testid="linked-file"' not in client.get(place).text
        answer = link(client, place)
        assert answer.status_code == 422
        assert "which column marks" in answer.text
        client.post(f"{place}/columns/0", data={"role-0": "person"})
        assert link(client, place, name="visits").status_code == 303
        assert link(client, place, name="visits").status_code == 422
        assert link(client, place).status_code == 303  # under a name of its own
        assert "visits_2.diagnosis" in client.get(place).text


def test_people_whom_the_first_table_does_not_have_are_told(page):
    with page.client() as client:
        place = begin(client)
        assert link(client, place, VISITS + "nobody,d1,100,Dr 1\n").status_code == 303
        at = places(client, place)["visits.diagnosis"]
        client.post(f"{place}/columns/{at}", data={f"role-{at}": "sensitive"})
        asked = "KAnonymity(k=4); visits.diagnosis: FrequencyL(l=2)"
        said = client.post(f"{place}/require", data={"require": asked}).text
        assert "who are not in the first table" in said
        assert "who are not in the first table" in finished(
            client, publish(client, place, require=asked)
        )


@pytest.mark.long
def test_a_schema_file_that_links_a_table_is_taken_once_it_is_there(page):
    said = (
        'quasi = ["age"]\nperson = "patient"\nsensitive = ["visits.diagnosis"]\n'
        'require = ["visits.diagnosis: FrequencyL(l=2)"]\n[linked]\nvisits = "visits.csv"\n'
    )
    with page.client() as client:
        place = begin(client)
        answer = client.post(f"{place}/schema", data={"schema": said})
        assert answer.status_code == 422
        assert "add it to the page first" in answer.text
        link(client, place)
        assert client.post(f"{place}/schema", data={"schema": said}).status_code == 303
        assert "visits.diagnosis: FrequencyL(l=2)" in client.get(place).text
        assert verdict_of(finished(client, publish(client, place)))[0].startswith("holds")


@pytest.mark.parametrize(
    "name",
    ["../../x.csv", "a\0b.csv", "..", "", ".csv", "Ä.csv", "x" * 300, "Release.CSV"],
)
def test_names_of_linked_tables_are_proper_and_their_own(name):
    taken: list[str] = []
    for _ in range(3):
        made = linked_name(name, taken)
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", made)
        assert made.lower() not in {one.lower() for one in taken} | {"release", "report"}
        taken.append(made)


@pytest.mark.long
def test_names_of_linked_files_never_become_paths(page, home):
    with page.client() as client:
        place = begin(client)
        for name in (f"../../{OUTSIDE}.csv", f"..\\{OUTSIDE}.csv", f"/{OUTSIDE}.csv"):
            assert link(client, place, file=name).status_code == 303
    assert not list(home.parent.rglob(f"*{OUTSIDE}*"))
    assert not Path(f"/{OUTSIDE}.csv").exists()
