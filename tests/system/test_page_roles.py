"""Other roles keep what is promised, and what a refusal proposes changes what it speaks of."""

import html
import re
import tomllib

import pytest

import pages
from shoal.web.draft import Draft
from system.page import finished, publish, upload, verdict_of, words

ROWS = 300
TABLE = "age,zip,diagnosis,charges,notes\n" + "".join(
    f"{20 + i * 7 % 60},{1000 + i % 9},{'ABCDEFGH'[i * 5 % 8]},{100 * (i * 37 % 211)},"
    f"Patient {'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10 % 10]}{'uvw'[i // 100]} came late\n"
    for i in range(ROWS)
)
PLACES = {"age": 0, "zip": 1, "diagnosis": 2, "charges": 3, "notes": 4}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def give(client, place, **roles):
    for name, role in roles.items():
        at = PLACES[name]
        client.post(f"{place}/columns/{at}", data={f"role-{at}": role})


def file_of(client, place):
    return tomllib.loads(client.get(f"{place}/shoal.toml").text)


def begin(client):
    place = upload(client, TABLE)
    give(client, place, age="quasi", zip="quasi", notes="drop", diagnosis="drop", charges="drop")
    return place


def about(required, column):
    return [one for one in required if one.startswith(f"{column}: ")]


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("own", [True, False])
def test_a_column_more_to_protect_takes_nothing_away(page, own):
    with page.client() as client:
        place = begin(client)
        give(client, place, charges="sensitive")
        if own:
            text = "EpsilonM(epsilon=700, m=4); KAnonymity(k=11)"
            client.post(f"{place}/require", data={"require": text})
        before = file_of(client, place)["require"]
        (first, size) = before
        give(client, place, diagnosis="sensitive")
        after = file_of(client, place)["require"]
        named = first if first.startswith("charges: ") else f"charges: {first}"
        assert named in after
        assert size in after
        assert about(after, "diagnosis")
        give(client, place, age="drop")  # what is not about it stays
        assert set(file_of(client, place)["require"]) == set(after)
        give(client, place, age="quasi", diagnosis="drop")
        assert set(file_of(client, place)["require"]) == {named, size}


@pytest.mark.long
def test_what_a_refusal_proposes_works(page):
    """A column of free text is refused, published unchanged or generalized: each button helps."""
    with page.client() as client:
        place = begin(client)
        give(client, place, charges="sensitive")
        tried = 0
        for role in ("other", "quasi"):
            for key in ("quasi", "identifying", "nobody_knows"):
                client.post(f"{place}/schema", data={"schema": plain(role)})
                refused = finished(client, publish(client, place))
                assert 'data-testid="error"' in refused
                found = dict(re.findall(r'name="(\w+)" value="([^"]*)"><button', refused))
                if key not in found:  # sets of free texts would be refused likewise
                    assert key == "quasi"
                    continue
                (where, *_) = re.findall(r'action="(/runs/[^"]+/again)"', refused)
                answer = client.post(where, data={key: html.unescape(found[key])})
                ended = finished(client, answer.headers["location"])
                made = file_of(client, place)
                assert "notes" in made[key]
                assert verdict_of(ended)[0].startswith("holds")
                tried += 1
        assert tried == 4


def plain(role):
    lists = {"quasi": ["age", "zip"], "sensitive": ["charges"], "other": []}
    lists[role].append("notes")
    said = "".join(f"{key} = {value}\n" for key, value in lists.items())
    return said + 'require = ["charges: FrequencyL(l=3)", "KAnonymity(k=11)"]\n'


def button(shown):
    """Return whether the release can be made."""
    (found,) = re.findall(r'<button[^>]*data-testid="publish"[^>]*>', shown)
    return " disabled" not in found


@pytest.mark.long
def test_names_or_free_text_are_told_before_publishing_and_by_their_reason(page):
    with page.client() as client:
        place = begin(client)
        give(client, place, charges="sensitive")
        accept(client, place)
        assert button(client.get(place).text)
        for role in ("quasi", "other"):
            give(client, place, notes=role)
            shown = client.get(place).text
            assert not button(shown)
            assert 'data-testid="foreseen"' in shown
            assert "A column identifies people" in shown
            assert "t allow" not in re.findall(r'id="open".*?</p>', shown, re.DOTALL)[0]
            refused = finished(client, publish(client, place))
            assert "A column identifies people" in refused
            assert "Not achievable" not in refused
            assert "promise cannot be kept" not in refused
            assert "notes does not name or describe people, and no reader knows it" in shown
        client.post(f"{place}/answers", data={"nobody_knows": "notes"})
        shown = client.get(place).text
        assert button(shown)
        assert "You stated that no reader knows notes of a person." in shown
        assert file_of(client, place)["nobody_knows"] == ["notes"]
        client.post(f"{place}/answers", data={"answer": "withdraw", "columns": "notes"})
        shown = client.get(place).text
        assert not button(shown)
        assert 'data-testid="stated"' not in shown


@pytest.mark.parametrize("common", [300, 150])
def test_protecting_a_column_works_or_the_page_says_why_not(page, common):
    """Where nearly all rows have one value no limit of Shoal's helps, and none is offered again."""
    rows = "".join(
        f"{20 + i * 7 % 60},{'yes' if i % 300 >= common - 2 else 'no'},{i * 37 % 211}\n"
        for i in range(ROWS)
    )
    said = """quasi = ["age"]
sensitive = ["died", "charges"]
require = ["charges: FrequencyL(l=3)", "KAnonymity(k=11)"]
"""
    with page.client() as client:
        place = upload(client, "age,died,charges\n" + rows)
        client.post(f"{place}/schema", data={"schema": said})
        assert 'data-testid="answer-protect"' in client.get(place).text
        client.post(f"{place}/answers", data={"answer": "protect", "columns": "died"})
        shown, helps = client.get(place).text, common < ROWS
        assert bool(about(file_of(client, place)["require"], "died")) == helps
        assert 'data-testid="answer-protect"' not in shown
        assert ("Shoal found no limit on died that this table allows" in shown) != helps


def accept(client, place):
    """Leave as proposed whatever an inspection asks."""
    client.post(f"{place}/answers", data={"answer": "as_proposed"})


@pytest.mark.long
def test_a_column_that_nothing_protects_is_published_only_by_choice(page):
    with page.client() as client:
        place = begin(client)
        accept(client, place)
        give(client, place, diagnosis="sensitive", charges="sensitive")
        for fields, role, live in (
            ({"answer": "protect", "columns": "diagnosis"}, "sensitive", True),
            ({"answer": "unchanged", "columns": "diagnosis"}, "sensitive", True),
            ({"identifying": "diagnosis"}, "identifying", True),
            ({"nobody_knows": "diagnosis"}, "nobody_knows", True),
            ({}, "sensitive", False),
        ):
            client.post(f"{place}/schema", data={"schema": BARE})
            shown = client.get(place).text
            assert 'data-testid="ask-unprotected"' in shown
            assert "No requirement protects diagnosis." in shown
            assert not button(shown)
            client.post(f"{place}/answers", data=fields)
            shown = client.get(place).text
            assert button(shown) == live
            made = file_of(client, place)
            assert "diagnosis" in made[role]
            assert bool(about(made["require"], "diagnosis")) == ("protect" in fields.values())
            answer = client.post(f"{place}/publish", data={})
            assert answer.status_code == (303 if live else 422)
            if live:
                finished(client, answer.headers["location"])
        # Whoever has chosen it for one column is asked again for another one.
        client.post(f"{place}/answers", data={"answer": "unchanged", "columns": "diagnosis"})
        client.post(f"{place}/require", data={"require": "KAnonymity(k=11)"})
        assert "No requirement protects charges." in client.get(place).text


BARE = """
quasi = ["age", "zip"]
sensitive = ["diagnosis", "charges"]
require = ["charges: FrequencyL(l=3)", "KAnonymity(k=11)"]
"""


def test_what_an_inspection_asks_is_asked_until_it_is_answered(page):
    """By another role, by a word about one column, or by one about all."""
    rows = "".join(f"{20 + i % 40},{i % 2},{'xyzw'[i % 4]},{i * 7919 % 1000}\n" for i in range(300))
    with page.client() as client:
        place = upload(client, "age,flag,kind,income\n" + rows)
        shown = client.get(place).text
        assert asks(shown) == ["flag", "kind"]
        assert not button(shown)
        assert client.post(f"{place}/publish", data={}).status_code == 422
        client.post(f"{place}/columns/1", data={"role-1": "quasi"})
        assert asks(client.get(place).text) == ["kind"]
        shown = words(client.get(place).text)
        assert "1 thing to decide: the role of kind" in shown
        said = {"answer": "as_proposed", "columns": "kind"}
        answer = client.post(f"{place}/answers", data=said)
        assert answer.headers["location"] == f"{place}#column-2"  # where it was asked
        shown = client.get(place).text
        assert asks(shown) == []
        assert button(shown)
        again = upload(client, "age,flag,kind,income\n" + rows)
        accept(client, again)
        assert button(client.get(again).text)


def asks(shown):
    """Return the columns that have a question on their card."""
    return [
        one for one in re.findall(r'data-testid="ask-([^"]+)"', shown) if one in {"flag", "kind"}
    ]


def test_a_statement_goes_with_the_role_it_was_about():
    draft = Draft({0: "name", 1: "age"}, {"name": "quasi", "age": "quasi"})
    draft.unknown(["name", "age"])
    draft.give("name", "quasi")
    assert draft.rest["nobody_knows"] == ["name", "age"]
    draft.give("name", "other")
    assert draft.rest["nobody_knows"] == ["age"]
    draft.withdraw(["age"])
    assert "nobody_knows" not in draft.rest


def test_whether_one_person_has_several_rows_is_asked_with_two_answers(page):
    rows = "".join(
        f"F{i % 150 * 7919 % 10007:05d},{20 + i % 150 % 40},{i * 7919 % 1000}\n" for i in range(300)
    )
    with page.client() as client:
        place = upload(client, "Fallnr,age,income\n" + rows)
        shown = html.unescape(client.get(place).text)
        assert "150 values in 300 rows: can one person have several rows?" in shown
        assert "It marks one person’s rows" in shown
        assert "The rows are about different people" in shown
        assert client.post(f"{place}/publish", data={}).status_code == 422
        client.post(f"{place}/columns/0", data={"role-0": "person"})
        assert file_of(client, place)["person"] == "Fallnr"
        assert "ask-Fallnr" not in client.get(place).text
        again = upload(client, "Fallnr,age,income\n" + rows)
        client.post(f"{again}/answers", data={"answer": "as_proposed", "columns": "Fallnr"})
        assert "ask-Fallnr" not in client.get(again).text
        assert "person" not in file_of(client, again)


def test_the_page_says_what_was_proposed(page):
    """Also of a column that looks private and that was not proposed to be published."""
    rows = "".join(
        f"{20 + i % 40},{i * 7919 % 1000},{0.3 + i * 37 % 211 / 100:.2f},{i % 5}\n"
        for i in range(300)
    )
    with page.client() as client:
        place = upload(client, "age,income,weight,grade\n" + rows)
        card = html.unescape(client.get(place).text)
        assert "It is a survey weight: publish its mean" in card
        for at in (2, 3):
            proposed = re.search(rf'id="role-{at}".*?value="([a-z-]+)" selected', card, re.DOTALL)
            assert proposed is not None
            label = {"drop": "Not needed: leave out", "sensitive": "Protect it"}[proposed[1]]
            answer = client.post(f"{place}/columns/{at}", data={f"role-{at}": "other"})
            assert f"Shoal proposed “{label}”" in html.unescape(answer.text)
        client.post(f"{place}/columns/2", data={"role-2": "survey-weight"})
        assert file_of(client, place)["survey_weight"] == "weight"


def test_what_is_not_proposed_to_be_protected_says_beside_what_it_would_be(page):
    """Until it is protected: then there is no more to explain."""
    rows = "".join(
        f"{20 + i % 40},{i * 7919 % 1000},{'yes' if i % 50 == 7 else 'no'}\n" for i in range(300)
    )
    said = "Protecting it together with income is not achievable or loses much more detail"
    with page.client() as client:
        place = upload(client, "age,income,died\n" + rows)
        assert said in html.unescape(client.get(place).text)
        answer = client.post(f"{place}/columns/2", data={"role-2": "sensitive"})
        assert said not in html.unescape(answer.text)
        answer = client.post(f"{place}/columns/1", data={"role-1": "drop"})
        assert "Protecting it together" not in html.unescape(answer.text)
