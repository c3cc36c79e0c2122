"""Every remedy that the page offers is taken: it does what it says, and the work goes on."""

import html
import re
import tomllib
from typing import Any

import pytest

import pages
from system.page import finished, publish, upload, verdict_of, words

ASKS = {"hx-request": "true"}
WAYS = "age,ward,income,notes\n" + "".join(
    f"{20 + i % 40},{i % 7 if i > 2 else 99},{1000 * (i % 50)},written about {i} on day {i * 7}\n"
    for i in range(300)
)
HEAP = "age,income\n" + "".join(f"{20 + i % 40},{0 if i % 3 else i * 100}\n" for i in range(300))
GAPS = "age,income\n" + "".join(f"{20 + i % 40 if i % 9 else ''},{i * 100}\n" for i in range(300))
TOWNS = "patient,age,town,income\n" + "".join(
    f"p{i // 2},{20 + i // 2 % 40},t{i % 2},{1000 * (i % 50)}\n" for i in range(400)
)
PLAIN = 'quasi = ["age", "ward"]\nsensitive = "income"\n'
PEOPLE = 'quasi = ["age", "town"]\nnever_mix = "town"\nsensitive = "income"\nperson = "patient"\n'
STATES = {  # a table, what is said of it, and words of remedies that must be among those offered
    "too many": (WAYS, PLAIN, ["FrequencyL(l=200)"], {"Allow", "Limit"}),
    "too wide": (WAYS, PLAIN, ["EpsilonM(epsilon=40000, m=5)"], {"Guesses"}),
    "too wide for all": (
        WAYS,
        PLAIN,
        ["EpsilonM(epsilon=40000, m=4)", "KAnonymity(k=11)"],
        {"Guesses"},
    ),
    "too large": (WAYS, PLAIN, ["KAnonymity(k=900)"], {"Minimum"}),
    "a heap": (HEAP, 'quasi = "age"\nsensitive = "income"\n', ["FrequencyL(l=3)"], {"Limit"}),
    "not together": (
        WAYS,
        PLAIN,
        ["EpsilonM(epsilon=24000, m=2)", "KAnonymity(k=290)"],
        {"Remove"},
    ),
    "too few alike": (
        WAYS,
        PLAIN + 'never_mix = "ward"\n',
        ["KAnonymity(k=5)"],
        {"Let"},
    ),
    "gaps": (
        GAPS,
        'quasi = "age"\nsensitive = "income"\nmissing = "error"\n',
        ["FrequencyL(l=3)"],
        {"Leave", "Keep"},
    ),
    "free text": (WAYS, PLAIN + 'other = "notes"\n', ["FrequencyL(l=3)"], {"Leave", "State"}),
    "people apart": (TOWNS, PEOPLE, ["KAnonymity(k=4)"], {"Publish"}),
    "no longer protected": (WAYS, PLAIN, ["ward: FrequencyL(l=2)"], {"Protect", "Remove"}),
}
NUMBER = r"([\d,.]+)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def begun(client, table, said, require):
    place = upload(client, table)
    said = again(said, require)
    assert client.post(f"{place}/schema", data={"schema": said}).status_code == 303
    return place


def buttons(shown):
    """Return every remedy on a page: what it says, where it is sent, and with what."""
    found = {}
    shown = re.sub(r'data-testid="ask-unprotected".*?</div></div>', "", shown, flags=re.DOTALL)
    for fields, end in re.findall(
        r'action="([^"]+)" method="post">((?:<input type="hidden"[^>]*>)+'
        r'<button[^>]*data-testid="(?:remedy|answer-\w+)"[^>]*>[^<]*)',
        shown,
    ):
        values = re.findall(r'name="(\w+)" value="([^"]*)"', end)
        told = html.unescape(end.rpartition(">")[2])
        found[told] = fields, {name: html.unescape(value) for name, value in values}
    for address, values, told in re.findall(
        r"""hx-post="([^"]+)" hx-vals='([^']+)' hx-target="#requirements">([^<]+)<""", shown
    ):
        # What is escaped for a script is so for Python, too.
        pairs = re.findall(r'"(\w+)": "((?:[^"\\]|\\.)*)"', html.unescape(values))
        plain = {name: value.encode().decode("unicode_escape") for name, value in pairs}
        found[html.unescape(told)] = address, plain
    return {told: one for told, one in found.items() if told.split()[0] not in OTHERS}


OTHERS = {"At"}  # a first requirement, where nothing is refused


def offered(client, place):
    """Return every remedy that stands on the page of a table."""
    return buttons(client.get(place).text + client.get(f"{place}/price").text)


def kept(told, before, after):
    """Return whether what a remedy says has come true in the schema file."""
    require = after.get("require", [])
    numbers = {float(one) for one in re.findall(r"=([\d.]+)", " ".join(require))}
    lists = ("quasi", "sensitive", "identifying", "nobody_knows")
    columns = {key: [*after.get(key, [])] for key in lists}
    promised: dict[str, Any] = {
        rf"Allow a chance of 1 in {NUMBER}": lambda n: float(n.replace(",", "")) in numbers,
        rf"Guesses must be closer: {NUMBER}": lambda n: float(n.replace(",", "")) in numbers,
        rf"Minimum group size: {NUMBER}": lambda n: float(n.replace(",", "")) in numbers,
        rf"Limit equal values only: {NUMBER}% of a group": lambda n: float(n) / 100 in numbers,
        r"Let Shoal remove up to (.+) of the rows": lambda n: after["suppress"] == n,
        r"Leave these rows out": lambda: after["missing"] == "drop",
        r"Keep these rows": lambda: after["missing"] == "value",
        r"Publish at most (\d+) rows? per person": lambda n: after["most_rows"] == int(n),
        r"Readers do not know how many rows a person has": lambda: after["rows"] == "unknown",
        r"Leave (\w+) out": lambda name: name in columns["identifying"],
        r"Generalize (\w+)": lambda name: name in columns["quasi"],
        r"State that no reader knows (\w+) of a person": (
            lambda name: name in columns["nobody_knows"]
        ),
        r"(\w+) does not name or describe people, and no reader knows it of a person": (
            lambda name: name in columns["nobody_knows"]
        ),
        r"Protect (\w+)": lambda name: name in columns["sensitive"],
        r"Remove (.+)": lambda text: text in before["require"] and text not in require,
        r"Require: (.+)": lambda text: text in require,
    }
    for says, true in promised.items():
        if match := re.fullmatch(says, told):
            return true(*match.groups())
    pytest.fail(f"nothing here checks what {told!r} promises")


def file_of(client, place):
    return tomllib.loads(client.get(f"{place}/shoal.toml").text)


def says_nothing(require):
    return re.search(r"\b[mkl]=1\b", " ".join(require))


@pytest.mark.few(1)
@pytest.mark.parametrize("state", STATES)
def test_every_remedy_does_what_it_says_and_the_price_follows(page, state):
    table, said, require, must = STATES[state]
    with page.client() as client:
        place = begun(client, table, said, require)
        found = offered(client, place)
        assert must <= {told.split()[0] for told in found}, found
        for told, (address, values) in found.items():
            client.post(f"{place}/schema", data={"schema": again(said, require)})
            client.get(place)
            before = file_of(client, place)
            answer = client.post(address, data=values, headers=ASKS if "require" in address else {})
            assert answer.status_code in {200, 303}, told
            after = file_of(client, place)
            assert after != before, told
            assert kept(told, before, after), (told, after)
            assert not says_nothing(after.get("require", [])), told
            client.get(place)
            if after.get("require"):
                price = words(client.get(f"{place}/price").text)
                assert price.startswith("What it costs: "), (told, price)


def again(said, require):
    return f"require = {require}\n".replace("'", '"') + said


def test_a_way_out_is_offered_where_30_in_100_cells_are_zero(page):
    table = "age,income\n" + "".join(
        f"{20 + i % 40},{0 if i % 10 < 3 else 1000 + i * 100}\n" for i in range(300)
    )
    with page.client() as client:
        require = ["EpsilonM(epsilon=2000, m=4)"]
        place = begun(client, table, 'quasi = "age"\nsensitive = "income"\n', require)
        shown = client.get(place).text
        assert "Not achievable on this table" in words(shown)
        assert "30.0% of the rows h" in words(shown)
        found = offered(client, place)
        assert found
        for told, (address, values) in found.items():
            client.post(address, data=values, headers=ASKS if "require" in address else {})
            if file_of(client, place)["require"] != require:
                price = words(client.get(f"{place}/price").text)
                assert price.startswith("What it costs: "), (told, price)
                break
        else:
            pytest.fail(f"No way out changes what is required: {[*found]}")


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("state", ["too many", "too few alike", "people apart"])
def test_every_remedy_of_a_run_that_was_refused_leads_to_a_release(page, state):
    table, said, require, _ = STATES[state]
    with page.client() as client:
        place = begun(client, table, said, require)
        refused = finished(client, publish(client, place))
        assert 'data-testid="error"' in refused
        found = buttons(refused)
        assert found, words(refused)
        for told, (address, values) in found.items():
            client.post(f"{place}/schema", data={"schema": again(said, require)})
            before = file_of(client, place)
            ended = finished(client, client.post(address, data=values).headers["location"])
            after = file_of(client, place)
            assert kept(told, before, after), (told, after)
            assert not says_nothing(after["require"]), told
            assert verdict_of(ended)[0].startswith("holds"), told


NOTES = "age,stay,note\n" + "".join(
    f"{20 + i % 40},{1 + i % 23},patient {i} was seen on day {i} and told about letter {7 * i}\n"
    for i in range(200)
)


def test_the_safe_way_is_a_button_before_the_statement(page):
    with page.client() as client:
        place = upload(client, NOTES, "notes.csv")
        client.post(f"{place}/columns/0", data={"role-0": "quasi"})
        client.post(f"{place}/columns/1", data={"role-1": "sensitive"})
        client.post(f"{place}/columns/2", data={"role-2": "sensitive"})
        shown = client.get(place).text
        (box,) = re.findall(r'data-testid="foreseen">(.*?)</div></div>', shown, re.DOTALL)
        buttons = re.findall(r"<button[^>]*>([^<]*)</button>", box)
        assert buttons[:2] == [
            "Leave note out",
            "note does not name or describe people, and no reader knows it of a person",
        ]
        client.post(f"{place}/answers", data={"identifying": "note"})
        shown = client.get(place).text
        assert 'data-testid="foreseen"' not in shown
        assert "note:" not in client.get(f"{place}/shoal.toml").text
