"""Is this your table: files as institutions have them come in on the page by clicks alone."""

import csv
import io
import os
import re
import signal
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

import pages
from messy import MESSY, PEOPLE
from system.page import finished, publish, words

HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as page:
        yield page


def bring(client, path):
    """Upload a file; return where it is, and the page of it."""
    with path.open("rb") as file:
        answer = client.post("/tables", files={"table": (path.name, file.read())})
    place = answer.headers["location"]
    return place, client.get(f"{place}/body").text


def rows_of(html):
    """Return the cells of the rows that are shown, as they are read."""
    sheet = re.search(r'data-testid="preview".*?</table>', html, re.DOTALL)
    assert sheet
    rows = re.findall(r"<tr>(.*?)</tr>", sheet[0], re.DOTALL)
    plain = [re.sub(r'<span class="raw">.*?</span>', "", row, flags=re.DOTALL) for row in rows]
    return [[words(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in plain]


def change(client, place, **fields):
    """Change how a file is read, as a switch does; return the preview and all that is below it."""
    answer = client.post(f"{place}/reading", data=fields, headers=HTMX)
    assert answer.status_code == 200
    return answer.text, client.get(f"{place}/rest").text


@pytest.mark.few(3)
@pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)
def test_every_messy_file_comes_in_without_a_word(served, messy, tmp_path):
    path = messy.write(tmp_path)
    with served.client() as client:
        place, html = bring(client, path)
        assert 'data-testid="confirm-table"' in html
        assert 'data-testid="role-age"' in html  # and the roles are there before it is pressed
        assert 'data-testid="requirement"' in html
        first = {f"{PEOPLE[0].charges:g}", f"{PEOPLE[0].charges:.2f}"}
        assert first & set(rows_of(html)[0])
        assert PEOPLE[0].admitted.isoformat() in rows_of(html)[0]
        assert f"Shoal found {len(PEOPLE)} rows" in words(html)
        said = tomllib.loads(client.get(f"{place}/shoal.toml").text)
        codes = messy.needed.get("missing_codes", {})
        kept = {
            name: one["missing_codes"] for name, one in said["columns"].items() if name in codes
        }
        assert kept == codes
        plain = {key: value for key, value in messy.needed.items() if key != "missing_codes"}
        assert plain.items() <= said.items()
        assert client.post(f"{place}/confirm").status_code == 303
        assert 'data-testid="confirm-table"' not in client.get(place).text


def test_what_may_be_wrong_can_be_changed(served, tmp_path):
    """No switch had the decimal sign where Shoal found none, and none a vertical bar."""
    path = tmp_path / "bars.csv"
    path.write_text("age|cost\n" + "".join(f"{20 + at}|{at}'250.50\n" for at in range(1, 30)))
    with served.client() as client:
        place, html = bring(client, path)
        assert rows_of(html)[0] == ["21", "1250.50"]
        path.write_text("age:cost\n" + "".join(f"{20 + at}:{at}.5\n" for at in range(30)))
        place, html = bring(client, path)
        assert "Please check" in html
        assert '<option value="|"' in html
        assert 'data-testid="reading-decimal"' in html
        shown, _ = change(client, place, decimal=",")
        assert re.search('<option value="," selected>Comma', shown)


def test_what_the_page_assumed_is_what_a_release_is_made_of(served, tmp_path):
    path = next(one for one in MESSY if one.name == "totals").write(tmp_path)
    with served.client() as client:
        place, _ = bring(client, path)
        run = publish(client, place)
        assert 'data-verdict="' in finished(client, run)
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        rows = list(csv.DictReader(packed.read("release/release.csv").decode().splitlines()))
        assert len(rows) == len(PEOPLE)
        assert not {"999", "-", "k. A.", "Summe"} & {cell for row in rows for cell in row.values()}
        schema = tomllib.loads(client.get(f"{run}/shoal.toml").text)
        assert (schema["skip_last"], schema["decimal"]) == (1, ",")


def test_switches_change_what_is_read(served, tmp_path):
    path = next(one for one in MESSY if one.name == "totals").write(tmp_path)
    with served.client() as client:
        place, html = bring(client, path)
        shown, rest = change(client, place, skip_last="0")
        assert rows_of(shown)[-1][0] == "Summe"
        assert 'data-testid="role-age"' in rest
        shown, _ = change(client, place, skip_last="1", **{"of-1": "yes"})  # 999 is an age
        assert rows_of(shown)[2][1] == "999"
        shown, _ = change(client, place, **{"of-1": "yes", "code-1": "999"})
        assert rows_of(shown)[2][1] == "missing"
        shown, _ = change(client, place, of="3", code="2025-02-23")
        assert rows_of(shown)[1][3] == "missing"
        shown, _ = change(client, place, decimal=".")
        assert "36.614,71" in rows_of(shown)[1]
        told = client.post(f"{place}/reading", data={"encoding": "utf-16"}, headers=HTMX)
        assert 'data-testid="error"' in told.text  # and what was read stays
        assert "36.614,71" in rows_of(client.get(place).text)[1]
        client.post(f"{place}/reading", data={"proposed": "yes"})
        assert rows_of(client.get(f"{place}/body").text) == rows_of(html)


def test_the_order_of_dates_is_asked_and_followed(served, tmp_path):
    path = tmp_path / "dates.csv"
    lines = [f"{20 + at},0{1 + (at + 2) % 9}/0{1 + at % 7}/2024,{100 * at}" for at in range(90)]
    path.write_text("\n".join(["age,seen,cost", *lines]) + "\n")
    with served.client() as client:
        place, html = bring(client, path)
        assert "Please check one thing" in words(html)
        for way, day in {"dd/mm/yyyy": "2024-01-03", "mm/dd/yyyy": "2024-03-01"}.items():
            shown, _ = change(client, place, **{"day-1": way})
            assert rows_of(shown)[0][1] == day
            assert f'date_format = "{way}"' in client.get(f"{place}/shoal.toml").text
            assert "Shoal has no doubt about how to read it" in words(shown)


def test_what_is_doubtful_of_reading_is_decided_with_the_rest(served, tmp_path):
    """The bar counts it, and no release is made before the owner has said that it is the table."""
    path = tmp_path / "coded.csv"
    rows = [f"{20 + at % 60},{'abc'[at % 3]},{1000 + 7 * at}" for at in range(120)]
    path.write_text("\n".join(["age,ward,cost", *rows, "999,a,2000", "999,b,2100"]) + "\n")
    with served.client() as client:
        place, html = bring(client, path)
        assert "Please check one thing" in words(html)
        client.post(f"{place}/answers", data={"answer": "as_proposed"})
        shown = client.get(place).text
        assert "1 thing to decide: how age is read" in words(shown)
        assert 'data-testid="answer-as_read"' in shown
        refused = client.post(f"{place}/publish", data={})
        assert refused.status_code == 422
        assert "how age is read" in words(refused.text)
        client.post(f"{place}/columns/0", data={"role-0": "drop"})  # then it matters to nobody
        assert "how age is read" not in words(client.get(place).text)
        client.post(f"{place}/columns/0", data={"role-0": "quasi"})
        assert "how age is read" in words(client.get(place).text)
        client.post(f"{place}/confirm")
        shown = client.get(place).text
        assert "to decide" not in words(shown)
        assert 'data-testid="answer-as_read"' not in shown


def test_columns_without_a_name_are_left_out_unless_used(served, tmp_path):
    path = tmp_path / "unnamed.csv"
    lines = [f"{20 + at},{100 * at},{'from Pankow' if at % 9 else ''}" for at in range(60)]
    path.write_text("\n".join(["age,cost,", *lines]) + "\n")

    def role(html):
        (own,) = re.findall(r'data-testid="role-column 3".*?</select>', html, re.DOTALL)
        return re.findall(r'value="([^"]+)" selected', own)[0]

    with served.client() as client:
        place, html = bring(client, path)
        assert "Please check" in html
        assert role(html) == "drop"
        _, rest = change(client, place, unnamed="yes", kept="column 3")
        assert client.get(f"{place}/rest").status_code == 200
        assert 'name="kept" value="column 3" checked' in client.get(place).text
        assert 'data-testid="role-column 3"' in rest


@contextmanager
def held_back(served):
    """Give a way to let the workers go on for a moment: they stand still otherwise."""
    workers = served.workers()

    def tell(what):
        for one in workers:
            with suppress(ProcessLookupError):
                os.kill(one, what)

    def go_on(seconds):
        tell(signal.SIGCONT)
        time.sleep(seconds)
        tell(signal.SIGSTOP)

    tell(signal.SIGSTOP)
    try:
        yield go_on
    finally:
        tell(signal.SIGCONT)


def test_reading_shows_a_growing_share_and_stopping_ends_it(tmp_path):
    """Looking at how a file is written went to 100%, and reading began at 0% again."""
    large = tmp_path / "large.csv"
    large.write_text("age,zip,pay\n" + "41,10115,2500.75\n" * 6_000_000)
    (tmp_path / "home").mkdir()
    with pages.opened(str(large), home=tmp_path / "home") as served, served.client() as client:
        kept, _ = bring(client, MESSY[0].write(tmp_path))
        place = client.post("/tables/given/0").headers["location"]
        shares: list[float] = []
        with (
            ThreadPoolExecutor() as apart,
            served.client() as other,
            held_back(served) as go_on,
        ):
            reading = apart.submit(other.get, f"{place}/body")
            ends = time.monotonic() + pages.PATIENCE
            while len({*shares}) < 4 and not reading.done() and time.monotonic() < ends:
                go_on(0.02)
                found = re.search(r'max="100" value="([0-9]+)"', client.get(f"{place}/share").text)
                shares += [int(found[1])] if found else []
            assert shares == sorted(shares)
            assert len({*shares} - {0, 100}) >= 3
            assert not reading.done()
            assert client.post(f"{place}/stop").headers["location"] == "/"
            assert "You stopped reading it" in reading.result(pages.PATIENCE).text
        assert client.get(place).status_code == 404
        shown, _ = change(client, kept, skip_last="2")
        assert "58" in words(shown)


def test_reading_can_be_stopped_and_other_tables_go_on(served, tmp_path):
    small = MESSY[0].write(tmp_path)
    with served.client() as client:
        kept, _ = bring(client, small)
        answer = client.post("/tables", files={"table": ("large.csv", "a,b\n1,2\n")})
        place = answer.headers["location"]
        assert 'data-testid="stop-reading"' in client.get(place).text
        assert "progress" in client.get(f"{place}/share").text
        assert client.post(f"{place}/stop").headers["location"] == "/"
        assert client.get(place).status_code == 404
        shown, _ = change(client, kept, skip_last="2")
        assert "58" in words(shown)
