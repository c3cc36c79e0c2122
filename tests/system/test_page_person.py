"""The page shows one person beside the verdict, and keeps nothing of that anywhere."""

import io
import zipfile

import pytest

import pages
from system.page import finished, publish, upload

TABLE = "age,charges\n" + "".join(f"{20 + i % 40},{1_000_003 + 7_919 * i}\n" for i in range(80))
ROLES = {"role-0": "quasi", "role-1": "sensitive"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


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
