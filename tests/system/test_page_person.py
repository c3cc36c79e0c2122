"""The page shows one person beside the verdict, and keeps nothing of that anywhere."""

import io
import re
import signal
import zipfile

import polars as pl
import pytest

import pages
import shoal
from system.page import finished, publish, upload, words

TABLE = "age,charges\n" + "".join(f"{20 + i % 40},{1_000_003 + 7_919 * i}\n" for i in range(80))
PICKED = re.compile(r"1,?055,?436|Row 7\b|\brow=7\b")
ROLES = {"role-0": "quasi", "role-1": "sensitive"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def numbers(html):
    """Return the numbers of the rows that are shown before and after."""
    return re.findall(r'<th scope="row">([\d,]+)</th>', html.partition("before-after")[2])


def test_a_person_is_shown_and_kept_nowhere(page):
    with page.client() as client:
        place = upload(client, TABLE)
        run = publish(client, place, require="EpsilonM(epsilon=8000, m=3)", **ROLES)
        shown = finished(client, run)
        assert 'data-testid="person-pick"' in shown
        assert 'data-testid="person-view"' in shown
        before = {
            name: client.get(f"{run}/{name}").content
            for name in ("report.html", "certificate.html")
        }
        answer = client.post(f"{run}/person", data={"row": "7"})
        assert answer.headers["cache-control"] == "no-store"
        assert "Row 7 of the original" in answer.text
        assert "1,055,436" in answer.text
        assert "<svg" in answer.text
        assert "style=" not in answer.text
        worst = client.post(f"{run}/person", data={"row": ""}).text
        assert "After the release" in worst
        assert "from 0 to 79" in client.post(f"{run}/person", data={"row": "80"}).text
        assert "whole number" in client.post(f"{run}/person", data={"row": "x"}).text
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        for name in packed.namelist():
            assert b"stranger learn" not in packed.read(name)
        for name, content in before.items():
            assert client.get(f"{run}/{name}").content == content
        assert "1,055,436" not in client.get(run).text


def test_nothing_of_a_person_who_was_picked_is_printed_or_kept(tmp_path):
    """Neither what `shoal serve` prints, nor a project, nor a schema file says who was picked."""
    with pages.opened(home=tmp_path) as served:
        with served.client() as client:
            assert client.post("/project").status_code == 303
            place = upload(client, TABLE)
            for column, role in ROLES.items():
                client.post(f"{place}/columns/{column[-1]}", data={column: role})
            client.post(f"{place}/require", data={"require": "EpsilonM(epsilon=8000, m=3)"})
            client.get(f"{place}/price")
            assert client.post(f"{place}/person", data={"row": "7"}).is_success
            assert "1055436" in client.get(f"{place}/prices/person").text
            run = publish(client, place)
            finished(client, run)
            assert "1,055,436" in client.post(f"{run}/person", data={"row": "7"}).text
            assert "from 0 to 79" in client.post(f"{run}/person", data={"row": "1055436"}).text
            kept = (tmp_path / "data" / "shoal" / "project.json").read_text("utf-8")
            assert "people.csv" in kept
            assert not PICKED.search(kept)
        served.process.send_signal(signal.SIGINT)
        for printed in served.process.communicate(timeout=pages.PATIENCE):
            assert not PICKED.search(printed), printed


def test_an_owner_report_shows_nobody_who_was_picked(tmp_path):
    table = pl.read_csv(io.StringIO(TABLE))
    schema = shoal.Schema(quasi="age", sensitive="charges")
    release = shoal.anonymize(table, schema, require="EpsilonM(epsilon=8000, m=3)", seed=1)
    assert "1,055,436" in str(release.person(7))
    release.write(tmp_path / "out")
    release.owner_report(tmp_path / "owner.html")
    again = shoal.anonymize(table, schema, require="EpsilonM(epsilon=8000, m=3)", seed=1)
    again.owner_report(tmp_path / "again.html")
    texts = [(tmp_path / f"{name}.html").read_text("utf-8") for name in ("owner", "again")]
    picked = [len(re.findall(r"Row 7 of the original", one)) for one in texts]
    assert picked[0] == picked[1]  # that of the most exposed person, whoever was picked
    assert "Row 7" not in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_person_follows_what_is_decided_and_is_estimated(page):
    with page.client() as client:
        place = upload(client, TABLE)
        for column, role in ROLES.items():
            client.post(f"{place}/columns/{column[-1]}", data={column: role})
        shown = client.get(place).text
        assert 'data-testid="person-pick"' in shown
        found = {}
        for m in (3, 6):
            client.post(f"{place}/require", data={"require": f"EpsilonM(epsilon=8000, m={m})"})
            assert "priced" in client.get(f"{place}/price").headers["hx-trigger"]
            if m == 3:
                picked = client.post(f"{place}/person", data={"row": "7"})
                assert "picked" in picked.headers["hx-trigger"]
            answer = client.get(f"{place}/prices/person")
            assert answer.headers["cache-control"] == "no-store"
            text = words(answer.text)
            assert "estimated" in text
            assert "Row 7 of the original" in text
            assert 'data-testid="before-after"' in answer.text
            assert "1055436" in answer.text  # row 7 is the first of the six
            assert numbers(answer.text)[:3] == ["7", "0", "16"]  # as whoever picks a row counts
            (fit,) = re.findall(r"After the release estimated (\d+) rows fit", text)
            found[m] = int(fit)
        assert 3 <= found[3] < found[6]
        for wrong, why in (("80", "from 0 to 79"), ("x", "whole number")):
            assert why in client.post(f"{place}/person", data={"row": wrong}).text
        assert "1055436" not in client.get(place).text
        assert "1055436" not in client.get(f"{place}/shoal.toml").text


def test_six_rows_stand_beside_the_verdict_and_in_no_file(page):
    with page.client() as client:
        place = upload(client, TABLE)
        run = publish(client, place, require="EpsilonM(epsilon=8000, m=3)", **ROLES)
        shown = finished(client, run)
        assert f'hx-get="{run}/rows"' in shown
        rows = client.get(f"{run}/rows")
        assert rows.headers["cache-control"] == "no-store"
        assert 'class="coarser"' in rows.text
        assert "1000003" in rows.text  # the first row of the table
        assert rows.text.count("<tr>") == 7
        assert numbers(rows.text) == ["0", "16", "32", "47", "63", "79"]
        assert "before-after" not in shown
