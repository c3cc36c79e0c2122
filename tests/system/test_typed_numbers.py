"""Numbers that people type as their table writes them: on the command line and on the page."""

import json
import re

import pytest

import pages
from shoal import UsageError
from shoal.notation import parse, typed_number
from system.page import words
from system.shell import shoal as shell

HTMX = {"HX-Request": "true"}
TABLE = "Alter;Kosten\n" + "".join(
    f"{20 + at % 40};{3000 + 37 * (at % 71)},{at % 90 + 10}\n" for at in range(300)
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as page:
        yield page


@pytest.mark.parametrize("text", ["1,234", "1.234", "-12.000", " 100,000 "])
def test_what_may_be_two_numbers_is_asked_about(text):
    with pytest.raises(UsageError, match="can be read as"):
        typed_number(text, ",")
    assert typed_number(text, ".") is not None


@pytest.mark.parametrize("text", ["1,2,3", "1.2,3,4", "12.34.567", "", ",", "1e5,3", "nan", "12 %"])
def test_what_is_no_number_is_none(text):
    assert typed_number(text, None) is None


@pytest.mark.parametrize(
    ("option", "said", "stated"),
    [
        ("--top", "Kosten=4.321,50", 4321.5),
        ("--bottom", "Kosten=3100,5", 3100.5),
        ("--round", "Kosten=0,5", 0.5),
        ("--top", "Kosten=4321.5", 4321.5),
    ],
)
def test_limits_are_read_as_the_table_writes_numbers(option, said, stated, tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    table.write_text(TABLE, "utf-8")
    roles = ("--quasi", "Alter", "--sensitive", "Kosten", "--decimal", ",")
    require = ("--require", "KAnonymity(k=3)", "--nobody-knows", "Kosten")
    done = shell("anonymize", table, *roles, *require, option, said, "--output", out)
    assert done.code == 0, done.err
    columns = json.loads((out / "manifest.json").read_text("utf-8"))["columns"]
    assert columns[1][option.removeprefix("--")] == stated
    assert shell("audit", out).code == 0


def test_a_decimal_comma_in_a_requirement_is_named():
    with pytest.raises(UsageError, match=r"decimal point.*1000\.5"):
        parse("EpsilonM(epsilon=1.000,5, m=5)")


@pytest.mark.few(1)
def test_the_page_reads_numbers_as_the_table_writes_them(served):
    with served.client() as client:
        answer = client.post("/tables", files={"table": ("table.csv", TABLE.encode())})
        place = answer.headers["location"]
        client.get(f"{place}/body")
        require = {"require": "Kosten: EpsilonM(epsilon=100, m=3)"}

        def moved(value, **more):
            said = {**require, "moved": "0.epsilon", "value": value, **more}
            return client.post(f"{place}/require", data=said, headers=HTMX).text

        for typed, read in {"2,5": "2.5", "1.200,5": "1200.5", "1200": "1200"}.items():
            assert f"epsilon={read}," in words(moved(typed)), typed
        assert re.search(r'id="knob-0-epsilon"[^>]* value="1200"', moved("1200"))
        assert "can be read as 1250 or as 1.250" in words(moved("1,250"))
        assert "epsilon=1.25," in words(moved("1.250", slid="1"))  # a slider types nothing
        column = f"{place}/columns/1"
        found = client.post(column, data={"top": "4.321,5"}, headers=HTMX).text
        assert re.search(r'name="top"[^>]* value="4321.5"', found)
        found = client.post(column, data={"top": "4.321"}, headers=HTMX).text
        assert "can be read as 4321 or as 4.321" in words(found)
