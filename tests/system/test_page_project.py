"""A project: what outlives the page, what is never in it, and that it is gone with one click."""

import json
import stat

import pytest

import pages
from system.page import finished, publish, upload, words
from system.test_page_again import FINE, OTHER, ROLES, TABLE

VALUES = [line.split(",")[2] for line in TABLE.splitlines()[1:]]


def made(client, place, require=FINE):
    run = publish(client, place, require=require, **ROLES)
    return run, finished(client, run, alone=False)


def file_of(home):
    return home / "data" / "shoal" / "project.json"


def opened_where_it_is(client):
    place = client.post("/tables/given/0").headers["location"]
    assert client.get(f"{place}/body").status_code == 200
    return place


def test_a_project_outlives_a_restart_and_goes_with_one_click(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    home = tmp_path / "home"
    home.mkdir()
    with pages.opened(str(path), home=home) as page, page.client() as client:
        first, _ = made(client, opened_where_it_is(client))
        assert not file_of(home).exists()  # nothing is kept that nobody asked for
        assert client.post("/project").status_code == 303
        client.post(f"{first}/name", data={"name": "for partners"})
        made(client, upload(client, TABLE + "50,A,9\n"), OTHER)
        client.get(f"{first}/release.zip")
        client.post(f"{first}/person", data={"row": "7"})
    assert stat.S_IMODE(file_of(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(file_of(home).parent.stat().st_mode) == 0o700
    text = file_of(home).read_text()
    runs = {one["name"]: one for one in json.loads(text)["runs"]}
    assert runs["for partners"]["path"] == str(path)
    assert runs["for partners"]["taken"]
    assert runs[""]["path"] is None  # it was dropped onto the page
    said = json.dumps([one | {"digest": "", "id": "", "begun": 0} for one in runs.values()])
    assert not [value for value in VALUES if len(value) > 4 and value in said]
    with pages.opened(home=home) as page, page.client() as client:
        shown = words(client.get("/").text)
        assert "for partners" in shown
        assert FINE in shown
        assert "Holds" in shown
        run = runs["for partners"]["id"]
        assert FINE in client.get(f"/project/{run}/shoal.toml").text
        place = client.post(f"/project/{run}/open").headers["location"]
        assert FINE in client.get(f"{place}/shoal.toml").text  # as it was asked
        again, shown = made(client, place)
        assert 'data-testid="kept-before"' in shown  # its first release was taken before
        assert 'data-testid="download"' not in shown
        assert client.get(f"{again}/release.zip").status_code == 422
        assert client.post(f"{again}/not-given-before").status_code == 303
        assert client.get(f"{again}/release.zip").status_code == 200
        deleted = words(client.post("/project/delete").text)
        assert "backups" in deleted
        assert not file_of(home).parent.exists()
        assert 'data-testid="project-begin"' in client.get("/").text


def test_a_copy_that_is_dropped_is_known_by_its_digest(tmp_path):
    with pages.opened(home=tmp_path) as page, page.client() as client:
        client.post("/project")
        first, _ = made(client, upload(client, TABLE))
        client.get(f"{first}/release.zip")
    with pages.opened(home=tmp_path) as page, page.client() as client:
        _, shown = made(client, upload(client, TABLE, "another name.csv"))
        assert 'data-testid="kept-before"' in shown
        _, shown = made(client, upload(client, TABLE + "20,B,77\n"))
        assert 'data-testid="download"' in shown


@pytest.mark.parametrize("content", ["", "{}}", '{"version": 1, "runs": [{"id": 7}]}', "[1]"])
def test_a_project_that_cannot_be_read_is_told_and_can_be_deleted(tmp_path, content):
    place = file_of(tmp_path)
    place.parent.mkdir(parents=True)
    place.write_text(content)
    with pages.opened(home=tmp_path) as page, page.client() as client:
        assert "cannot be read" in words(client.get("/").text)
        first, shown = made(client, upload(client, TABLE))
        assert 'data-testid="download"' in shown
        assert client.get(f"{first}/release.zip").status_code == 200
        assert place.read_text() == content  # it is nobody's to overwrite
        assert client.post("/project/delete").status_code == 200
        assert not place.exists()


def test_a_table_that_has_moved_is_told(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    with pages.opened(str(path), home=tmp_path) as page, page.client() as client:
        client.post("/project")
        run, _ = made(client, opened_where_it_is(client))
        path.unlink()
        answer = client.post(f"/project/{run.rpartition('/')[2]}/open")
        assert answer.status_code == 422
        assert "not at" in words(answer.text)
        assert client.post("/project/nobody/open").status_code == 404
