"""Before a release: what is open is counted, and what cannot be promised is not offered."""

import io
import json
import re
import zipfile

import pytest

import pages
from shoal.exact import percent
from shoal.web.pages import fill
from shoal.web.pricing import rows_beside
from shoal.web.state import Job, Table
from system.page import finished, publish, upload, words

ASKS = {"hx-request": "true"}
GAPS = "age,zip,income,name\n" + "".join(
    f"{20 + i % 40 if i % 50 else ''},{1000 + i % 7 if i % 40 else ''},{1000 * (i % 50)},who {i}\n"
    for i in range(400)
)
LACKING = len({i for i in range(400) if not i % 50 or not i % 40})


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def bar(html):
    """Return what the bar says, and whether a release can be made."""
    (found,) = re.findall(r'<div class="within" id="bar".*?</div>', html, re.DOTALL)
    return words(found), " disabled" not in found


def rows_lost(html):
    (found,) = re.findall(
        r'<div class="note rows-lost.*?data-testid="rows-lost".*?\n</div>', html, re.DOTALL
    )
    return found


def require(client, place, text, **more):
    return client.post(f"{place}/require", data={"require": text} | more, headers=ASKS).text


def test_the_release_waits_for_what_is_open_and_says_what_it_is(page):
    with page.client() as client:
        place = upload(client)
        assert bar(client.get(place).text)[1]
        for text, said in {
            "": "nothing is required yet",
            "FrequencyL(l=200)": "this table does not allow FrequencyL(l=200)",
            "Nonsense(k=2)": "Nonsense(k=2) cannot be required",
            "FrequencyL(l=200); Nonsense(k=2)": "2 things to decide",
        }.items():
            told, able = bar(require(client, place, text))
            assert said in told, text
            assert not able, text
        told, able = bar(require(client, place, "FrequencyL(l=3)"))
        assert able
        client.post(f"{place}/columns/0", data={"role-0": "drop"})
        told, able = bar(client.get(place).text)
        assert "no column is marked as one that others may know" in told
        assert not able


@pytest.mark.parametrize(
    ("nothing", "something"),
    [
        ("KAnonymity(k=1)", "KAnonymity(k=2)"),
        ("FrequencyL(l=1)", "FrequencyL(l=2)"),
        ("DistinctL(l=1)", "DistinctL(l=2)"),
        ("EpsilonM(epsilon=20, m=1)", "EpsilonM(epsilon=20, m=2)"),
        ("Window(width=20, m=1)", "Window(width=20, m=2)"),
        ("AlphaK(alpha=1, k=1)", "AlphaK(alpha=0.9, k=1)"),
    ],
)
def test_what_limits_nothing_is_not_promised(page, nothing, something):
    with page.client() as client:
        place = upload(client)
        for text, limits in ((nothing, False), (something, True)):
            asked = require(client, place, f"{text}; FrequencyL(l=3)")
            assert ("limits nothing: every guess may be right" in words(asked)) != limits
            assert bar(asked)[1] == limits


def test_what_is_not_achievable_has_no_price_and_no_perhaps(page):
    with page.client() as client:
        place = upload(client)
        assert "Not achievable" in require(client, place, "FrequencyL(l=200)")
        price = client.get(f"{place}/price").text
        said = words(price.partition('id="bar"')[0])
        assert "this table does not allow FrequencyL(l=200)" in said
        assert "may still" not in said
        # All rows were tried: what a search does not reach on them is no matter of a sample.
        require(client, place, "EpsilonM(epsilon=24000, m=2); KAnonymity(k=290)")
        price = client.get(f"{place}/price").text
        assert "may still" not in words(price)


@pytest.mark.parametrize("cell", ["2,682", "many", "-4"])
def test_the_release_waits_where_the_price_is_refused_whatever_the_reason(page, cell):
    rows = "".join(f'{20 + i % 40},{1000 * (i % 50)},"{cell}"\n' for i in range(200))
    said = 'quasi = "age"\nsensitive = "income"\nsurvey_weight = "w"\nrequire = "FrequencyL(l=3)"\n'
    with page.client() as client:
        place = upload(client, "age,income,w\n" + rows)
        client.post(f"{place}/confirm")
        client.post(f"{place}/schema", data={"schema": said})
        price = client.get(f"{place}/price").text
        assert "No price yet" in words(price)
        for shown in (price, client.get(place).text):
            told, able = bar(shown)
            assert "there is no price yet" in told
            assert not able
        client.post(f"{place}/columns/2", data={"role-2": "drop"})
        price = client.get(f"{place}/price").text
        assert "What it costs: " in words(price)
        assert bar(price)[1]


WARDS = "age,ward,income\n" + "".join(
    f"{20 + i % 40},{'abcde'[i % 5]},{1000 * (i * i % 50)}\n" for i in range(9000)
)
NO_PRICE = {  # what is said of the columns, what is required, and what the price says instead
    "nothing decided": ({}, "KAnonymity(k=5)", ["Choose “Others may know: generalize”"]),
    "no requirement": ({"age": "quasi", "income": "sensitive"}, "", ["At least 11 people"]),
    "no secret": ({"age": "quasi"}, "FrequencyL(l=2)", ["Correct or remove FrequencyL(l=2)"]),
    "not protected": (
        {"age": "quasi", "income": "sensitive"},
        "ward: FrequencyL(l=2)",
        ["Correct or remove ward: FrequencyL(l=2)"],
    ),
    "not achievable": (
        {"age": "quasi", "income": "sensitive"},
        "FrequencyL(l=200)",
        ["does not allow FrequencyL(l=200)", "changes that are offered beside it"],
    ),
    "a sample": (
        {"age": "quasi", "income": "sensitive"},
        "KAnonymity(k=5000); FrequencyL(l=2)",
        ["4,000 of the 9,000 rows", "may still allow it", "To find out, make the release"],
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("state", NO_PRICE)
def test_where_there_is_no_price_the_page_says_why_and_what_to_do(page, state):
    """A sample that is too small forbids nothing; in every other state the button waits."""
    roles, require_text, says = NO_PRICE[state]
    with page.client() as client:
        place = upload(client, WARDS)
        lists = [f"{role} = {name!r}\n".replace("'", '"') for name, role in roles.items()]
        client.post(f"{place}/schema", data={"schema": "".join(lists)})
        _, able = bar(require(client, place, require_text))
        assert able == (state == "a sample")
        price = client.get(f"{place}/price")
        assert price.headers["hx-trigger"] == "priced"  # nothing else keeps a price that was
        said = words(price.text)
        assert said.startswith("What it costs No ")
        for sentence in says:
            assert sentence in said
        for kind in ("alternatives", "methods", "forms"):
            other = words(client.get(f"{place}/prices/{kind}").text)
            assert "from a sample" not in other
            assert ("A: Your choice" in other) == (state == "a sample" and kind == "alternatives")


@pytest.mark.long
def test_no_alternative_is_offered_that_cannot_be_had_or_saves_nothing(page):
    with page.client() as client:
        place = upload(client)
        for text in ("EpsilonM(epsilon=24000, m=2)", "FrequencyL(l=45)", "KAnonymity(k=5)"):
            require(client, place, text)
            price = client.get(f"{place}/price").text
            found = client.get(f"{place}/prices/alternatives").text
            assert "as much as your choice" not in found
            assert found.count("<small>not achievable") <= ("No price" in price)
            for one in re.findall(r'name="require" value="([^"]*)"', found):
                require(client, place, one)
                assert "What it costs: " in client.get(f"{place}/price").text, one


def test_no_remedy_accepts_everything(page):
    """Of 300 rows two thirds have one income: whatever the chance, nothing but 1 in 1 is left."""
    heap = "age,income\n" + "".join(f"{20 + i % 40},{0 if i % 3 else i}\n" for i in range(300))
    with page.client() as client:
        place = upload(client, heap)
        client.post(f"{place}/columns/1", data={"role-1": "sensitive"})
        for text in ("FrequencyL(l=4)", "EpsilonM(epsilon=10, m=5)"):
            asked = require(client, place, text)
            assert "Not achievable" in asked
            assert not re.search(r"1 in 1\b|size: 1\b|[mlk]=1\)", words(asked))
        apart = "What would also help: protect income above 0 apart, if it is not secret who has 0"
        assert apart in words(require(client, place, "EpsilonM(epsilon=2, m=5)"))


def test_what_was_required_of_a_column_goes_with_its_protection(page):
    with page.client() as client:
        place = upload(client)
        require(
            client, place, "income: EpsilonM(epsilon=2000, m=3); FrequencyL(l=3); KAnonymity(k=4)"
        )
        client.post(f"{place}/columns/1", data={"role-1": "drop"})
        shown = client.get(place).text
        assert 'data-testid="error"' not in shown
        assert 'value="KAnonymity(k=4)"' in shown
        assert 'data-testid="error"' not in require(client, place, "")
        assert "Nothing is required yet" in client.get(place).text


def test_without_a_column_to_protect_it_is_said_where_columns_are_chosen(page):
    with page.client() as client:
        place = upload(client)
        warning = "No sensitive column selected: only identity is protected."
        assert warning not in words(client.get(place).text)
        changed = client.post(f"{place}/columns/1", data={"role-1": "drop"}, headers=ASKS)
        assert warning in words(changed.text)
        look = client.get(place).text.partition('id="decide"')[0]
        assert warning in words(look)
        verdict = finished(client, publish(client, place, require="KAnonymity(k=4)"))
        assert warning in words(verdict)


@pytest.mark.long
def test_the_rows_that_will_go_are_told_with_the_reason_and_are_those_that_go(page):
    with page.client() as client:
        place = upload(client, GAPS)
        kept = rows_lost(client.get(place).text)
        assert "No row will go" in words(kept)
        client.post(f"{place}/rows", data={"keep": "no"}, headers=ASKS)
        shown = client.get(place).text
        told = words(rows_lost(shown))
        assert f"{LACKING} of 400 rows" in told
        assert "zip is missing in 10 rows and age in 8" in told
        assert 'data-testid="keep-rows"' in rows_lost(shown)
        assert bar(shown)[1]  # it was chosen
        run = publish(client, place, require="FrequencyL(l=3)")
        assert f"{LACKING}</dd>" in finished(client, run)
        changed = client.post(f"{place}/rows", data={"keep": "yes"}, headers=ASKS).text
        assert "No row will go" in words(rows_lost(changed))
        assert "keep-rows" not in rows_lost(changed)


def test_rows_that_go_because_of_row_counts_are_told_before_and_after(page):
    """Nobody else has two rows and another value, so one row of each person is published."""
    rows = "".join(
        f"p{max(i - 20, i % 20)},{20 + i % 30},{i * 7 % 40 if i > 39 else 1},{1 + i % 3}\n"
        for i in range(240)
    )
    said = """
quasi = ["age"]
sensitive = ["cost"]
person = "patient"
survey_weight = "weight"
require = ["cost: FrequencyL(l=3)"]
"""
    with page.client() as client:
        place = upload(client, "patient,age,cost,weight\n" + rows)
        client.post(f"{place}/schema", data={"schema": said})
        client.post(f"{place}/answers", data={"answer": "as_proposed"})
        counting, ready = bar(client.get(place).text)
        assert "is counting how many rows will go" in counting
        assert not ready  # what is asked for now has no price yet, so that nobody knows
        price = client.get(f"{place}/price").text
        assert bar(price)[1]
        ended = finished(client, client.post(f"{place}/publish", data={}).headers["location"])
        (gone,) = re.findall(r"rows left out</dt><dd>(\d+)</dd>", ended)
        assert int(gone) > 0
        assert f"{int(gone)}: rows of people who have more than is published of one person" in ended
        told = words(rows_lost(price))
        assert ("one row of each person stays, drawn at random" in told) == (gone == "20")
        assert told.startswith(f"{int(gone)} of 240 rows ({percent(int(gone) / 240)}) will go, bec")
        assert "weight the mean of its group" in words(ended)


@pytest.mark.parametrize(("ledger", "whose"), [("some.ledger", True), ("", False)])
def test_what_a_round_loses_while_it_runs_is_said_of_the_new_people(ledger, whose, tmp_path):
    job = Job("people.csv", "publish", "KAnonymity(k=3)", tmp_path, ledger=ledger)
    job.better(0.235)
    said = "of the detail of the people who are new in this round"
    assert (said in fill("part_losses.html", job=job)) == whose


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.951, "95.1%"), (1 / 300, "0.33%"), (0.9999, "Over 99.9%"), (0, "nobody"), (1, "everybody")],
)
def test_the_page_rounds_how_many_are_unique_as_inspect_does(share, said):
    found = {"names": ["zip"], "all": share, "people": False, "without": {}, "falling": {}}
    html = fill("part_unique.html", unique=found)
    assert re.findall(r'class="figure">([^<]*)<', html) == [said]
    assert (html.count('class="one"') > 0, html.count('class="one"') < 100) == (
        share > 0,
        share < 1,
    )


def test_tables_of_one_name_are_told_apart_where_one_is_chosen(tmp_path):
    names = ("people.csv", "people.csv", "visits.csv", "people.csv")
    tables = [Table(name, tmp_path / name, tmp_path) for name in names]
    job = Job("people.csv", "publish", "KAnonymity(k=3)", tmp_path, about=tables[1].id)
    html = fill("part_attack.html", counts_people=False, tables=tables, job=job)
    assert re.findall(r">(everybody in [^<]*)<", html) == [
        "everybody in people.csv, opened as number 1",
        "everybody in people.csv, which this release is made from",
        "everybody in visits.csv",
        "everybody in people.csv, opened as number 3",
    ]


@pytest.mark.parametrize(
    ("share", "now", "said"),
    [
        (0.1, 0.1, "20 rows go (10%), with your choice as many"),
        (0.1, 0.0, "20 rows go (10%), with your choice none"),
        (0.1, None, "20 rows go (10%)"),
        (0.0, 0.1, "no row goes, with your choice 20"),
        (0.0, 0.0, ""),
        (0.0, None, ""),
    ],
)
def test_a_choice_says_how_many_rows_go_wherever_any_do(tmp_path, share, now, said):
    table = Table("t.csv", tmp_path / "t.csv", tmp_path, facts={"rows": 200}, sampled=200)
    assert rows_beside(table, share, now) == said


def test_every_choice_that_removes_other_rows_says_how_many_go(page):
    """As many as go where it is taken, beside those of the choice as it is."""
    rows = "".join(f"p{i % 90},{20 + i % 30},{i * 37 % 90}\n" for i in range(180)) + "".join(
        f"p{i},{20 + i % 30},{i * 37 % 50}\n" for i in (*range(30), *range(12))
    )
    said = """
quasi = ["age"]
sensitive = ["cost"]
person = "patient"
require = ["cost: EpsilonM(epsilon=2, m=3)"]
"""
    with page.client() as client:
        place = upload(client, "patient,age,cost\n" + rows)
        client.post(f"{place}/schema", data={"schema": said})
        client.get(place)
        now = words(rows_lost(client.get(f"{place}/price").text))
        cards = client.get(f"{place}/prices/alternatives").text.split("<form")[1:]
        told = 0
        for card in cards:
            address = re.findall(r'action="([^"]+)"', card)[0]
            fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', card))
            beside = re.findall(r'data-testid="rows-beside">([^<]+)', card)
            client.post(f"{place}/schema", data={"schema": said})
            client.post(address, data=fields)
            client.get(place)
            after = words(rows_lost(client.get(f"{place}/price").text))
            assert going(after) == (
                int(re.findall(r"^(\d+|no) row", beside[0])[0].replace("no", "0"))
                if beside
                else going(now)
            )
            told += bool(beside)
        assert told


def going(account):
    """Return how many rows go by the one account of them, whose reasons add up to it."""
    if account.startswith("No row"):
        return 0
    (count,) = re.findall(r"^(\d+) of \d+ rows", account)
    parts = [int(one) for one in re.findall(r"(\d+) go,", account)]
    assert not parts or sum(parts) == int(count)
    return int(count)


def test_above_one_in_a_hundred_rows_the_owner_has_to_choose(page):
    with page.client() as client:
        place = upload(client, GAPS)
        client.post(f"{place}/settings", data={"missing": ""})
        told, able = bar(client.get(place).text)
        assert "what becomes of the rows without zip and age" in told or "age and zip" in told
        assert not able
        refused = client.post(f"{place}/publish", data={"require": "FrequencyL(l=3)"})
        assert refused.status_code == 422
        assert "rows without" in words(refused.text)
        changed = client.post(f"{place}/rows", data={"keep": "yes"}, headers=ASKS).text
        assert bar(changed)[1]


FORBIDDEN = re.compile(
    r"not above|nobody can|anonymous|can be found\b|also for everybody|\(0\.09\)|safe\b(?! Harbor)",
    re.IGNORECASE,
)


def test_no_sentence_claims_more_than_the_number(page):
    with page.client() as client:
        place = upload(client)
        shown = [client.get("/").text, client.get(place).text, client.get("/check").text]
        shown.append(client.get(f"{place}/price").text)
        run = publish(client, place, require="KAnonymity(k=11)")
        shown.append(finished(client, run))
        checked = client.post(f"{run}/check/audit").headers["location"]
        shown.append(finished(client, checked))
    for html in shown:
        assert not FORBIDDEN.search(words(html)), FORBIDDEN.findall(words(html))


def test_the_curve_shows_what_stricter_promises_lose_and_where_you_are(page):
    with page.client() as client:
        place = upload(client)
        for column, role in {"0": "quasi", "1": "sensitive"}.items():
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        client.post(f"{place}/require", data={"require": "EpsilonM(epsilon=1000, m=4)"})
        price = words(client.get(f"{place}/price").text)
        (lost,) = re.findall(r"What it costs: about ([\d.]+)%", price)
        shown = client.get(f"{place}/prices/curve").text
        assert f"You are here: {lost}%" in words(shown)
        points = re.findall(r"1 in (\d+): ([\d.]+)% lost", words(shown))
        assert [int(m) for m, _ in points] == [2, 3, 4, 5, 8, 12]
        losses = [float(share) for _, share in points]
        assert losses[0] < losses[-1]
        assert dict(points)["4"] == lost
        assert losses == sorted(losses) or 'data-testid="stricter"' in shown
        assert '<p class="soft" role="status">Shoal estimates what other' in client.get(place).text


@pytest.mark.parametrize(("going", "offered"), [(0.1, True), (0.3, False)])
def test_what_is_stricter_is_offered_where_no_more_rows_go_either(going, offered, tmp_path):
    here = {"value": 3, "here": True, "loss": 0.2, "going": 0.1, "require": ["FrequencyL(l=3)"]}
    other = {"value": 5, "here": False, "loss": 0.1, "going": going, "gone": "189 rows go"}
    table = Table("t", tmp_path / "t.csv", tmp_path)
    known = {"label": "Least", "before": "1 in ", "aim": "Limit guesses", "table": table}
    html = fill("part_curve.html", found=[here, other | {"require": ["FrequencyL(l=5)"]}], **known)
    assert "1 in 5: 10% lost, 189 rows go" in words(html)
    assert ('data-testid="stricter"' in html) == offered


def test_a_wider_range_moves_the_curve(page):
    """The curve follows the range too, by which its points are not numbered."""
    with page.client() as client:
        place = upload(client)
        for column, role in {"0": "quasi", "1": "sensitive"}.items():
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        found = []
        for slid in ("1000", "9000"):
            require(client, place, "EpsilonM(epsilon=1000, m=4)")
            moved = {"moved": "0.epsilon", "slid": "1", "value": slid}
            shown = client.post(f"{place}/require", data=moved, headers=ASKS).text
            assert f"epsilon={slid}" in shown
            client.get(f"{place}/price")
            curve = words(client.get(f"{place}/prices/curve").text)
            assert "You are here" in curve
            found.append(
                {m: float(lost) for m, lost in re.findall(r"1 in (\d+): ([\d.]+)%", curve)}
            )
        assert found[1]["4"] > found[0]["4"]
        assert all(found[1][m] >= found[0][m] for m in {*found[0]} & {*found[1]})


def test_the_price_of_each_column_is_what_the_release_loses(page):
    rows = "".join(f"{20 + i * 7 % 61},{140 + i * 13 % 53},{997 * (i % 83)}\n" for i in range(400))
    with page.client() as client:
        place = upload(client, "age,height,income\n" + rows)
        for column, role in {"0": "quasi", "1": "quasi", "2": "sensitive"}.items():
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        require(client, place, "EpsilonM(epsilon=900, m=4)")
        html = client.get(f"{place}/price").text
        found = re.findall(r'scope="row">(\w+)</th><td>[^<]*</td><td class="n">([\d.]+)%', html)
        run = publish(client, place)
        finished(client, run)
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        lost = json.loads(packed.read("release/manifest.json"))["loss"]["ncp"]
        assert {name for name, _ in found} >= {*lost}
        for name, share in found:
            if name in lost:
                assert float(share) / 100 == pytest.approx(lost[name], rel=0.2)


def test_the_curve_says_what_is_not_achievable(page):
    with page.client() as client:
        rows = "".join(f"{20 + i % 40},{i % 6}\n" for i in range(60))
        place = upload(client, "age,grade\n" + rows)
        for column, role in {"0": "quasi", "1": "sensitive"}.items():
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        require(client, place, "EpsilonM(epsilon=0.5, m=3)")
        client.get(f"{place}/price")
        shown = words(client.get(f"{place}/prices/curve").text)
        assert "1 in 8: not achievable; 1 in 12: not achievable." in shown


def test_keeping_more_of_one_column_makes_it_finer_and_another_coarser(page):
    rows = "".join(f"{20 + i * 7 % 61},{140 + i * 13 % 53},{997 * (i % 83)}\n" for i in range(400))
    with page.client() as client:
        place = upload(client, "age,height,income\n" + rows)
        for column, role in {"0": "quasi", "1": "quasi", "2": "sensitive"}.items():
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        require(client, place, "EpsilonM(epsilon=900, m=4)")
        lost = []
        for weight in ("1", "9"):
            client.post(f"{place}/columns/0", data={"weight": weight})
            html = client.get(f"{place}/price").text
            assert f'value="{weight}" data-testid="weigh-age"' in html
            found = re.findall(r'scope="row">(\w+)</th><td>[^<]*</td><td class="n">([\d.]+)%', html)
            lost.append({name: float(share) for name, share in found if name != "income"})
        assert lost[1]["age"] < lost[0]["age"]
        assert lost[1]["height"] > lost[0]["height"]
        assert "weight = 9" in client.get(f"{place}/shoal.toml").text
