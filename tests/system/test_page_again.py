"""Runs after one another: undo, names, two of them side by side, and a second release."""

import io
import zipfile
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import pages
import shoal
from shoal.web.earlier import run_lines
from system.page import finished, publish, upload, words

TABLE = "age,town,charges\n" + "".join(
    f"{20 + i * i % 37},{'ABC'[i % 3]},{1_003 + 7_919 * i % 90_000}\n" for i in range(240)
)
ROLES = {"role-0": "quasi", "role-1": "quasi", "role-2": "sensitive"}
FINE, OTHER = "EpsilonM(epsilon=1000, m=3)", "EpsilonM(epsilon=2000, m=4)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


def made(client, place, require):
    run = publish(client, place, require=require, **ROLES)
    return run, finished(client, run, alone=False)


def test_what_was_decided_can_be_undone_step_by_step(page):
    with page.client() as client:
        place = upload(client, TABLE)
        files = [client.get(f"{place}/shoal.toml").text]
        assert 'data-testid="undo"' not in client.get(place).text
        for change in (
            lambda: client.post(f"{place}/columns/1", data={"role-1": "identifying"}),
            lambda: client.post(f"{place}/require", data={"require": OTHER}),
            lambda: client.post(f"{place}/settings", data={"suppress": "5%"}),
        ):
            change()
            files.append(client.get(f"{place}/shoal.toml").text)
        assert len({*files}) == 4
        assert 'data-testid="undo"' in client.get(place).text
        for before in files[-2::-1]:
            client.post(f"{place}/undo")
            client.get(place)  # which looks at it, and decides nothing
            assert client.get(f"{place}/shoal.toml").text == before
        client.post(f"{place}/undo")
        assert client.get(f"{place}/shoal.toml").text == files[0]


def test_a_second_release_is_had_once_both_were_read_together(page, tmp_path):
    with page.client() as client:
        place = upload(client, TABLE, "second.csv")
        first, _ = made(client, place, FINE)
        second, shown = made(client, place, OTHER)
        assert 'data-testid="second"' not in shown
        files = {first: client.get(f"{first}/release.zip").content}
        shown = client.get(second).text
        assert 'data-testid="second"' in shown
        assert 'data-testid="download"' not in shown
        refused = client.get(f"{second}/release.zip")
        assert refused.status_code == 422
        assert "both reveal together" in words(refused.text)
        saved = client.post(f"{second}/folder", data={"folder": str(tmp_path / "copy")})
        assert "both reveal together" in words(saved.text)
        assert not (tmp_path / "copy").exists()
        assert client.get(f"{first}/release.zip").status_code == 200  # once more
        assert client.post(f"{second}/together").status_code == 303
        shown = words(client.get(second).text)
        files[second] = client.get(f"{second}/release.zip").content
        for place, content in zip((tmp_path / "a", tmp_path / "b"), files.values(), strict=True):
            zipfile.ZipFile(io.BytesIO(content)).extractall(place)
        found = shoal.attack(
            [tmp_path / "a" / "release", tmp_path / "b" / "release"],
            original=pl.read_csv(io.BytesIO(TABLE.encode())),
        )
        (both,) = found.to_dict()["intersection"]
        assert f"charges of {100 * both['pinned']['both']:.1f}".removesuffix(".0") in shown
        assert ("(± " in shown) == ("margin of error" in shown)
        assert f"{both['mean_values']['both']:.3g} values remain" in shown


def test_a_coarser_release_needs_nothing_else(page, tmp_path):
    with page.client() as client:
        place = upload(client, TABLE + "41,A,7\n", "coarser.csv")
        first, _ = made(client, place, FINE)
        client.get(f"{first}/release.zip")
        answer = client.post(f"{first}/coarsen", data={"most": "20"})
        coarser = answer.headers["location"]
        shown = finished(client, coarser)
        assert 'data-testid="download"' in shown
        content = client.get(f"{coarser}/release.zip")
        assert content.status_code == 200
        zipfile.ZipFile(io.BytesIO(content.content)).extractall(tmp_path)
        found = shoal.audit(tmp_path / "release")
        assert found.holds
        said = (tmp_path / "release" / "manifest.json").read_text()
        assert "KAnonymity(k=20)" in said
        assert "coarsened_from" in said


def test_one_requirement_of_two_runs_is_one_line():
    """Where a run protects one column, its requirement need not name it; another's has to."""

    def ran(columns, require):
        sensitive = [{"name": name, "role": "sensitive"} for name in columns]
        measured = [{"principle": one, "holds": True} for one in require]
        made: dict[str, Any] = {
            "columns": sensitive,
            "measured": measured,
            "loss": {"gcp": 0.1, "ncp": {}},
        }
        made |= {"verdict": "holds", "rows": 9, "groups": 3}
        return SimpleNamespace(outcome={"manifest": made})

    one = ran(["illness"], ["FrequencyL(l=3)", "KAnonymity(k=2)"])
    two = ran(["illness", "cost"], ["illness: FrequencyL(l=3)", "KAnonymity(k=2)"])
    lines = {line[0]: line[1:] for line in run_lines(one, two)}
    assert lines["illness: FrequencyL(l=3)"] == ("holds", "holds")
    assert lines["KAnonymity(k=2)"] == ("holds", "holds")
    assert "FrequencyL(l=3)" not in lines


def test_a_run_has_a_name_that_no_file_says_and_two_are_compared(page):
    with page.client() as client:
        place = upload(client, TABLE + "42,A,7\n", "named.csv")
        first, _ = made(client, place, FINE)
        second, _ = made(client, place, OTHER)
        client.post(f"{first}/name", data={"name": "  <b>partners\n "})
        assert "&lt;b&gt;partners" in client.get("/").text
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{first}/release.zip").content))
        assert not [name for name in packed.namelist() if b"partners" in packed.read(name)]
        other = first.rpartition("/")[2]
        answer = client.post(f"{second}/beside", data={"other": other})
        shown = client.get(answer.headers["location"])
        text = words(shown.text)
        assert "&lt;b&gt;partners" in shown.text
        for line in (
            "Finding a person’s row",
            FINE,
            OTHER,
            "Detail lost",
            "Rows published 241 241",
            "Rows left out 0 0",
        ):
            assert line in text
        assert f"{OTHER} holds not required" in text
        assert "Both are releases of named.csv" in text
        assert "different files" not in text
        third, _ = made(client, upload(client, TABLE + "43,B,9\n", "later.csv"), FINE)
        answer = client.post(f"{third}/beside", data={"other": other})
        assert "These runs are of different files" in words(
            client.get(answer.headers["location"]).text
        )
        assert client.get(f"{second}/beside/nobody").status_code == 404


def test_a_copy_of_a_file_is_the_same_table_and_nothing_of_a_second_release_is_had(page):
    with page.client() as client:
        table = TABLE + "44,C,7\n"
        first, _ = made(client, upload(client, table, "one.csv"), FINE)
        client.get(f"{first}/release.zip")
        copy, shown = made(client, upload(client, table, "copy.csv"), OTHER)
        assert "may not be given out yet" in words(shown)
        for had in ('data-testid="download"', "certificate.html", 'data-testid="dossier"'):
            assert had not in shown
        for place in ("release.zip", "certificate.html", "dossier/gdpr"):
            refused = client.get(f"{copy}/{place}")
            assert refused.status_code == 422, place
            assert "may not be given out yet" in words(refused.text)
        _, shown = made(client, upload(client, table + "45,C,8\n", "copy.csv"), OTHER)
        assert 'data-testid="download"' in shown


def test_the_owner_can_state_that_nobody_has_the_first_download(page):
    with page.client() as client:
        place = upload(client, TABLE + "33,B,5\n", "stated.csv")
        (first, _), (second, _) = made(client, place, FINE), made(client, place, OTHER)
        client.get(f"{first}/release.zip")
        said = "The first download was not given to anybody and is deleted"
        assert said in words(client.get(second).text)
        assert client.post(f"{second}/not-given").status_code == 303
        shown = client.get(second).text
        assert 'data-testid="download"' in shown
        assert "was not given to anybody and is deleted. Shoal cannot check this." in words(shown)
        client.get(f"{first}/release.zip")  # it is had once more, so the statement is over
        assert client.get(f"{second}/release.zip").status_code == 422
        client.post(f"{second}/not-given")
        content = client.get(f"{second}/release.zip")
        assert content.status_code == 200
        packed = zipfile.ZipFile(io.BytesIO(content.content))
        assert not [name for name in packed.namelist() if b"not given" in packed.read(name)]
        assert client.get(f"{second}/certificate.html").status_code == 200
