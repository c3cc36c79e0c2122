"""One release has one verdict: on every page, in its manifest, its report and its certificate."""

import html
import io
import json
import re
import tomllib
import zipfile

import pytest

import pages
import shoal
from shoal.views.verdict import SAYS
from system.page import finished, publish, upload, verdict_of, words

ROWS = 240
TABLE = "age,zip,diagnosis,charges\n" + "".join(
    f"{20 + i * 7 % 60},{1000 + i % 9},{'ABCDEFGH'[i * 5 % 8]},{100 * (i * 37 % 211)}\n"
    for i in range(ROWS)
)
DIAGNOSIS = 2
ROLES = {"role-0": "quasi", "role-1": "quasi", "role-2": "sensitive", "role-3": "identifying"}
MEETS = "Meets the threshold for public release"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def manifest_of(client, run):
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
    return json.loads(packed.read("release/manifest.json"))


def remedies(shown):
    """Return what the buttons beside something send, each with what it says."""
    found = re.findall(
        r'action="(/runs/[^"]+/again)"[^>]*><input type="hidden" name="([^"]+)" value="([^"]*)">'
        r'<button[^>]*data-testid="remedy">([^<]+)',
        shown,
    )
    return {html.unescape(said): (where, {name: value}) for where, name, value, said in found}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("role", "require", "verdict"),
    [
        ("sensitive", "KAnonymity(k=11)", "holds-with-open-questions"),
        ("other", "KAnonymity(k=11)", "holds-with-open-questions"),
        ("sensitive", "FrequencyL(l=3); KAnonymity(k=11)", "holds"),
        ("sensitive", "FrequencyL(l=2); KAnonymity(k=3)", "holds"),
        ("drop", "KAnonymity(k=11)", "holds"),
    ],
)
def test_every_page_and_file_gives_the_verdict_of_the_manifest(page, role, require, verdict):
    with page.client() as client:
        place = upload(client, TABLE)
        run = publish(client, place, require=require, **ROLES | {"role-2": role})
        shown = finished(client, run)
        made = manifest_of(client, run)
        assert made["verdict"] == verdict
        checked = finished(client, client.post(f"{run}/check/audit").headers["location"])
        report = client.get(f"{run}/report.html").text
        certificate = client.get(f"{run}/certificate.html").text
        history = client.get("/").text
        for one in (shown, checked):
            assert verdict_of(one) == (verdict, SAYS[verdict])
        for one in (report, certificate):
            assert f'data-verdict="{verdict}"' in one
        assert SAYS[verdict] + "<" in history
        meets = verdict == "holds" and "k=11" in require
        for one in (shown, checked, report, certificate):
            assert (MEETS in one) == meets


@pytest.mark.long
def test_what_settles_an_open_question_is_a_button_that_settles_it(page):
    """Each is taken from the page of the release with the question."""
    with page.client() as client:
        place = upload(client, TABLE)
        for said, key in {
            "Protect it with a requirement": "sensitive",
            "Leave it out": "identifying",
            "State that no reader knows it of a person": "nobody_knows",
        }.items():
            run = publish(client, place, require="KAnonymity(k=11)", **ROLES)
            shown = finished(client, run)
            assert verdict_of(shown)[0] == "holds-with-open-questions"
            where, fields = remedies(shown)[said]
            again = client.post(where, data=fields).headers["location"]
            settled = finished(client, again)
            assert verdict_of(settled)[0] == "holds", said
            made = tomllib.loads(client.get(f"{again}/shoal.toml").text)
            assert "diagnosis" in made[key]
            about = [one for one in made["require"] if one.startswith("diagnosis: ")]
            assert bool(about) == (key == "sensitive")
            if key == "nobody_knows":
                assert "no reader knows diagnosis" in words(settled)
                client.post(f"{place}/schema", data={"schema": ""})  # nothing is stated again


@pytest.mark.long
def test_a_remedy_starts_from_what_its_own_run_was_asked(page):
    """Whatever was decided since, and nothing is published before it is decided."""
    with page.client() as client:
        place = upload(client, TABLE)
        run = publish(client, place, require="KAnonymity(k=11)", **ROLES)
        shown = finished(client, run)
        where, fields = remedies(shown)["Leave it out"]
        client.post(f"{place}/answers", data={"nobody_knows": "diagnosis"})
        client.post(f"{place}/require", data={"require": "KAnonymity(k=3)"})
        again = client.post(where, data=fields).headers["location"]
        finished(client, again)
        made = tomllib.loads(client.get(f"{again}/shoal.toml").text)
        assert made["require"] == ["KAnonymity(k=11)"]
        assert "nobody_knows" not in made
        same = "".join(f"{20 + i % 40},no\n" for i in range(200)) + "30,yes\n"
        place = upload(client, "age,outcome\n" + same)
        asked = {"role-0": "quasi", "role-1": "other"}
        client.post(f"{place}/answers", data={"answer": "as_proposed"})
        for at, role in enumerate(asked.values()):
            client.post(f"{place}/columns/{at}", data={f"role-{at}": role})
        client.post(f"{place}/require", data={"require": "KAnonymity(k=5)"})
        run = client.post(f"{place}/publish", data={}).headers["location"]
        finished(client, run)
        answer = client.post(f"{run}/again", data={"protect": "outcome"})
        assert answer.headers["location"] == f"{place}#asks"
        assert "Shoal found no limit on outcome" in client.get(place).text


CONTEXT = {
    "title": "Stays of 2026",
    "institution": "Harbour Hospital",
    "purpose": "Teaching",
    "recipients": "Students",
    "legal_basis": "Article 89",
    "review_date": "2027-01-31",
}


def test_who_publishes_a_table_and_why_reaches_every_file(page):
    """As typed field by field, and as a schema file says it that is pasted."""
    with page.client() as client:
        place = upload(client, TABLE)
        for key, said in CONTEXT.items():
            assert f'data-testid="context-{key}"' in client.get(place).text
            answer = client.post(f"{place}/settings", data={key: said}, headers={"hx-request": "1"})
            assert answer.status_code == 200
            assert said in answer.text  # the schema file
        text = client.get(f"{place}/shoal.toml").text
        client.post(f"{place}/settings", data=dict.fromkeys(CONTEXT, ""))
        assert "Harbour" not in client.get(f"{place}/shoal.toml").text
        dated = text.replace('review_date = "2027-01-31"', "review_date = 2027-01-31")
        client.post(f"{place}/schema", data={"schema": dated})
        run = publish(client, place, require="KAnonymity(k=11)", **ROLES)
        finished(client, run)
        made = manifest_of(client, run)
        assert made["title"] == CONTEXT["title"]
        assert made["context"] == {key: said for key, said in CONTEXT.items() if key != "title"}
        for one in ("report", "certificate"):
            read = words(client.get(f"{run}/{one}.html").text.partition("<script")[0])
            plain = {key: said for key, said in CONTEXT.items() if key != "review_date"}
            assert all(said in read for said in plain.values()), one
        again = tomllib.loads(client.get(f"{run}/shoal.toml").text)
        assert again["context"] == made["context"]


ILL = ["Asthma", "Diabetes", "Pneumonia", "Stroke", "Depression", "Sepsis"]
STAYS = "age,ward,death,finding\n" + "".join(
    f"{20 + i * 7 % 60},{'ABC'[i % 3]},{'no' if i % 9 else 'yes'},{ILL[i * 5 % 6]}\n"
    for i in range(ROWS)
)


@pytest.mark.long
def test_what_looks_private_is_not_to_be_generalized_and_if_it_was_its_inference_is_shown(page):
    """By its name or its values; what readers may know is offered as before."""
    with page.client() as client:
        place = upload(client, STAYS)
        said = {"role-0": "quasi", **{f"role-{one}": "other" for one in (1, 2, 3)}}
        shown = finished(client, publish(client, place, require="KAnonymity(k=3)", **said))
        assert verdict_of(shown)[0] == "holds-with-open-questions"
        offered = {said: fields for said, (_, fields) in remedies(shown).items()}
        assert offered["Generalize ward"] == {"quasi": "ward"}
        assert [said for said in offered if said.startswith("Generalize")] == ["Generalize ward"]
        assert offered["Protect them with a requirement"]["protect"] == "ward,death,finding"
        said = {"role-0": "quasi", "role-1": "quasi", "role-2": "quasi", "role-3": "drop"}
        run = publish(client, place, require="KAnonymity(k=3)", **said)
        shown = finished(client, run)
        assert verdict_of(shown)[0] == "holds"
        notes = re.findall(r'data-testid="inferred-private">(.*?)</p>', shown, re.DOTALL)
        assert [words(one).startswith("Important. death looks private") for one in notes] == [True]
        (told,) = re.findall(r'data-testid="inferred">.*?<tbody>(.*?)</tbody>', shown, re.DOTALL)
        lines = re.findall(r'scope="row">(\w+)</th><td class="n">([^<]+)', told)
        assert [name for name, _ in lines] == ["age", "ward", "death"]
        attacked = client.post(f"{run}/check/attack", data={"original": place.split("/")[-1]})
        finished(client, attacked.headers["location"])
        page_of = client.get(f"{attacked.headers['location']}/page.html").text
        certain = dict(lines)["death"]
        assert f"learns death with certainty for {certain}" in words(page_of).replace(".0%", "%")


SEVERAL = "patient,age,cost\n" + "".join(
    f"p{i % 90},{20 + i % 30},{i * 37 % 90}\n" for i in range(180)
)


@pytest.mark.long
def test_a_release_about_people_with_several_rows_can_be_attacked_with_what_is_offered(page):
    """With every table that is offered, and with none that does not say whose rows are whose."""
    said = """
quasi = ["age"]
sensitive = ["cost"]
person = "patient"
require = ["cost: FrequencyL(l=3)"]
"""
    with page.client() as client:
        place, other = upload(client, SEVERAL), upload(client, "age,cost\n1,2\n")
        client.post(f"{place}/schema", data={"schema": said})
        run = publish(client, place)
        shown = finished(client, run)
        chosen = re.findall(r'<select name="original">(.*?)</select>', shown, re.DOTALL)
        offered = re.findall(r'<option value="([^"]*)"', chosen[0])
        assert f"/tables/{offered[0]}" == place
        assert f"/tables/{''.join(offered)}" == place
        for one in offered:
            answer = client.post(f"{run}/check/attack", data={"original": one})
            assert 'data-testid="error"' not in finished(client, answer.headers["location"])
            found = client.get(f"{answer.headers['location']}/page.html").text
            assert "one of a person" in words(found)
        refused = client.post(f"{run}/check/attack", data={"original": other.split("/")[-1]})
        assert "whose rows are whose" in words(refused.text)


def test_the_attack_of_the_page_takes_a_control_group(page):
    """Any other table that is open; the page then shows members beside controls."""
    with page.client() as client:
        place = upload(client, STAYS)
        run = publish(client, place, require="KAnonymity(k=3)", **{"role-0": "quasi"})
        finished(client, run)
        head, *rows = STAYS.splitlines()
        others = upload(client, "\n".join([head, *(450 * rows)[:450]]) + "\n")
        strangers = upload(client, "size,colour\n1,red\n2,blue\n")  # it knows nobody in the release
        shown = finished(client, run)
        (chosen,) = re.findall(r'<select name="control">(.*?)</select>', shown, re.DOTALL)
        offered = re.findall(r'<option value="([^"]*)"', chosen)
        original, control = (one.split("/")[-1] for one in (place, others))
        assert offered[0] == ""
        assert control in offered
        assert original not in offered
        assert strangers.split("/")[-1] not in shown
        asked = {"original": original, "control": control}
        answer = client.post(f"{run}/check/attack", data=asked)
        finished(client, answer.headers["location"])
        found = words(client.get(f"{answer.headers['location']}/page.html").text)
        assert "people who are not in it" in found
        assert "By chance, a description as rare fits exactly one person" in found
        alone = client.post(f"{run}/check/attack", data={"original": original})
        finished(client, alone.headers["location"])
        page_of = client.get(f"{alone.headers['location']}/page.html").text
        assert "not in it" not in words(page_of)
        for wrong in ({"original": "", "control": control}, dict.fromkeys(asked, original)):
            refused = client.post(f"{run}/check/attack", data=wrong)
            assert "compares the control group with" in words(refused.text)


def test_withheld_numbers_are_shown_to_the_owner_as_such_and_certified_by_no_one(page):
    said = 'quasi = ["age", "zip"]\nsensitive = "charges"\nrequire = "EpsilonM(epsilon=100, m=3)"\n'
    for withheld in (True, False):
        more = "withhold_counts = true\n" * withheld
        with page.client() as client:
            place = upload(client, TABLE)
            assert client.post(f"{place}/schema", data={"schema": more + said}).status_code == 303
            run = publish(client, place)
            assert ("you withhold these numbers" in finished(client, run)) is withheld
            sheet = words(client.get(f"{run}/certificate.html").text)
        assert ("does not say how many rows were left out. The person" in sheet) is withheld


def test_the_attack_of_the_page_is_on_those_who_may_be_in_the_release(page, tmp_path):
    """Of people with many rows few are published: the page counts as the annex of a dossier."""
    ill = [f"{['flu', 'cough'][i % 2]} {i % 6 // 2}" for i in range(60)]
    rows = [f"p{i // 6 if i < 30 else i - 20},{20 + i % 9},{i % 2},{ill[i]}\n" for i in range(60)]
    said = 'quasi = ["age", "sex"]\nsensitive = ["ill"]\nperson = "who"\n'
    (tmp_path / "people.csv").write_text("who,age,sex,ill\n" + "".join(rows))
    with page.client() as client:
        place = upload(client, (tmp_path / "people.csv").read_text())
        client.post(f"{place}/schema", data={"schema": said + 'require = ["ill: FrequencyL(l=4)"]'})
        run = publish(client, place)
        finished(client, run)
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        packed.extractall(tmp_path / "out")
        original = place.split("/")[-1]
        attacked = client.post(f"{run}/check/attack", data={"original": original})
        finished(client, attacked.headers["location"])
        found = client.get(f"{attacked.headers['location']}/page.html").text
    (release,) = (one.parent for one in (tmp_path / "out").rglob("manifest.json"))
    asked = {"norm": "gdpr", "original": tmp_path / "people.csv", "person": "who"}
    made = shoal.dossier(release, tmp_path / "dossier.html", **asked)
    for saying in (r"All numbers are over [^.]*\.", r"learns age with[^%]*%[^%]*%"):
        here, there = (re.findall(saying, words(one)) for one in (found, made.annex.read_text()))
        assert here[:1] == there[:1] != []
