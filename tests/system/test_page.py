"""The page lets in its owner alone, keeps nothing, and outlives whatever happens to a run."""

import http.client
import io
import json
import os
import re
import signal
import stat
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pages
from system.page import TABLE, finished, publish, upload, verdict_of

OUTSIDE = "outside-4bf1c7"  # in no name that other tests give to their directories
LONG = {"require": "EpsilonM(epsilon=1000, m=5)", "seconds": "1800"}  # for the demo table


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def page(home):
    with pages.opened(home=home) as open_page:
        yield open_page


def test_the_page_is_there_at_once(tmp_path):
    """Counted is the time that processors work for it, so that a busy machine does not tell."""
    with pages.opened(home=tmp_path) as open_page, open_page.client() as client:
        assert client.get("/").status_code == 200
        spent = Path(f"/proc/{open_page.process.pid}/stat").read_text().rpartition(")")[2].split()
        assert (int(spent[11]) + int(spent[12])) / os.sysconf("SC_CLK_TCK") < 1.5


def test_the_page_is_open_on_this_machine_alone(page):
    assert page.address.startswith("http://127.0.0.1:")
    port = int(page.host.rpartition(":")[2])
    lines = Path("/proc/net/tcp").read_text().splitlines()
    bound = [line.split()[1] for line in lines if f":{port:04X} " in line and " 0A " in line]
    assert bound == [f"0100007F:{port:04X}"]


def test_what_the_page_cannot_do_is_said_on_its_first_page(page):
    with page.client() as client:
        said = client.get("/").text
    assert all(word in said for word in ("linked tables", "Spark", "command line"))


def test_a_token_is_exchanged_for_a_cookie_that_no_script_and_no_site_can_use(page):
    answer = page.ask(page.address)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert page.address.rpartition("=")[2] not in cookie
    assert "token" not in answer.headers["location"]


@pytest.mark.parametrize("path", ["/", "/tables/0", "/runs/0", "/static/shoal.css", "/check", "/x"])
def test_nothing_is_told_without_the_token(page, path):
    for query in ("", "?token=", "?token=" + "a" * 43):
        answer = page.ask(page.base + path + query)
        assert answer.status_code == 403
        assert "<" not in answer.text
    assert page.ask(page.base + path, headers={"cookie": "shoal=x"}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "[::1]:{port}"]
)
def test_a_foreign_name_for_this_machine_is_refused(page, host):
    port = page.host.rpartition(":")[2]
    with page.client() as client:
        answer = client.get("/", headers={"host": host.format(port=port)})
    assert answer.status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_post_from_another_site_is_refused(page, origin):
    with page.client() as client:
        client.headers.pop("origin")
        headers = {} if origin is None else {"origin": origin}
        assert client.post("/tables/demo", headers=headers).status_code == 403
        assert client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert client.get("/", headers={"sec-fetch-site": "same-site"}).status_code == 403
        assert "demo table" not in client.get("/").text.split("Earlier runs")[0].split("h2")[-1]


def test_every_answer_forbids_scripts_and_styles_within_it(page):
    with page.client() as client:
        for path in ("/", "/nowhere", "/static/page.js"):
            policy = client.get(path).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert client.get(path).headers["x-content-type-options"] == "nosniff"
        text = client.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=", text)


def test_no_answer_names_another_host(page):
    with page.client() as client:
        text = client.get("/").text
    assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', text)


def test_the_directory_is_its_owners_alone_and_names_never_become_paths(page, home):
    (made,) = home.glob("shoal-page-*")
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    with page.client() as client:
        for name in (
            f"../../../{OUTSIDE}.csv",
            f"/etc/{OUTSIDE}.csv",
            f"..\\{OUTSIDE}.csv",
            f"{OUTSIDE}\0.csv",
        ):
            client.post("/tables", files={"table": (name, TABLE)})
    inside = [path.name for path in made.rglob("*") if path.is_file()]
    assert not [name for name in inside if OUTSIDE in name]
    assert not list(home.parent.rglob(f"*{OUTSIDE}*"))
    for path in made.rglob("*"):
        assert made in path.resolve().parents


def test_what_is_too_large_is_refused_before_it_is_read(page):
    with page.client() as client:
        claimed = http.client.HTTPConnection(page.host)
        claimed.putrequest("POST", "/tables", skip_host=True)
        known = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        for name, value in {"host": page.host, "origin": page.base, "cookie": known}.items():
            claimed.putheader(name, value)
        claimed.putheader("content-length", str(3 * 2**30))
        claimed.endheaders()
        assert claimed.getresponse().status == 413
        claimed.close()
        said = client.post("/tables/demo", content=b"x" * (5 * 2**20))
        assert said.status_code == 413
        streamed = client.post("/tables/demo", content=iter([b"x"]))
        assert streamed.status_code == 411


def test_a_table_becomes_a_release_that_is_audited(page, tmp_path):
    import shoal

    with page.client() as client:
        place = upload(client)
        text = client.get(place).text
        assert 'data-testid="role-age"' in text
        assert 'data-testid="requirement"' in text
        run = publish(client, place, require="EpsilonM(epsilon=2000, m=3)", title="A title")
        verdict = finished(client, run)
        assert verdict_of(verdict) == ("holds", "Holds")
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        assert {entry.date_time for entry in packed.infolist()} == {(2000, 1, 1, 0, 0, 0)}
        packed.extractall(tmp_path)
        assert "A title" in client.get(f"{run}/report.html").text
        assert "shoal.toml" in client.get(f"{run}/shoal.toml").headers["content-disposition"]
        assert "EpsilonM" in client.get("/").text  # the history
    found = shoal.audit(tmp_path / "release")
    assert found.holds
    assert repr(found.findings[0].requirement) == "EpsilonM(epsilon=2000, m=3)"


@pytest.mark.long
def test_a_release_is_saved_whole_into_a_folder_that_was_not_there(page, tmp_path):
    with page.client() as client:
        run = publish(client, upload(client), require="KAnonymity(k=3)")
        finished(client, run)
        target = tmp_path / "published"
        assert "Saved" in client.post(f"{run}/folder", data={"folder": str(target)}).text
        names = {path.name for path in target.iterdir()}
        assert {"release.csv", "manifest.json", "report.html"} <= names
        again = client.post(f"{run}/folder", data={"folder": str(target)}).text
        assert 'data-testid="error"' in again
        assert "exists, or can be no folder. Choose another folder." in again
        for odd in (" ", "a\x00b"):
            said = client.post(f"{run}/folder", data={"folder": odd}).text
            assert 'data-testid="error"' in said
            assert "unforeseen" not in said


def test_cells_can_be_regions(page, tmp_path):
    with page.client() as client:
        place = upload(client)
        assert 'value="tight" checked' in client.get(place).text
        assert client.post(f"{place}/settings", data={"cells": "regions"}).status_code == 303
        text = client.get(place).text
        assert 'value="regions" checked' in text
        run = publish(client, place, require="EpsilonM(epsilon=2000, m=3)")
        assert verdict_of(finished(client, run))[0] == "holds"
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"{run}/release.zip").content))
        assert json.loads(packed.read("release/manifest.json"))["cells"] == "regions"
        assert 'cells = "regions"' in client.get(f"{run}/shoal.toml").text


def test_the_form_itself_says_which_roles_and_requirements_are_meant(page):
    """What was typed but not yet sent by itself comes with the button."""
    with page.client() as client:
        place = upload(client)
        fields = {"role-0": "quasi", "role-1": "sensitive", "role-2": "drop"}
        run = publish(client, place, require="FrequencyL(l=4)", **fields)
        ended = finished(client, run)
        assert "1 in 4" in ended
        assert "no role assigned" not in ended  # the owner has said so


@pytest.mark.long
def test_a_requirement_out_of_reach_comes_with_remedies_that_work(page):
    with page.client() as client:
        place = upload(client)
        asked = client.post(f"{place}/require", data={"require": "FrequencyL(l=200)"}).text
        assert "Not achievable" in asked
        assert 'data-testid="remedy"' in asked
        run = publish(client, place, require="FrequencyL(l=200)")
        refused = finished(client, run)
        assert 'data-testid="error"' in refused
        assert "not achievable" in refused.lower()
        instead = re.findall(r'"instead": "(.*?)"', asked)
        run = publish(client, place, require=instead[0])
        assert verdict_of(finished(client, run))[0].startswith("holds")


def test_what_a_sample_does_not_reach_comes_with_remedies_that_work(page):
    """Here everybody was in two towns, which are never to be mixed."""
    rows = "".join(f"p{i // 2},{20 + i // 2 % 40},t{i % 2},{1000 * (i % 50)}\n" for i in range(400))
    with page.client() as client:
        place = upload(client, "patient,age,town,income\n" + rows)
        roles = {"role-0": "person", "role-1": "quasi", "role-2": "never-mix"}
        for column in range(4):
            client.post(f"{place}/columns/{column}", data=roles | {"role-3": "sensitive"})
        client.post(f"{place}/require", data={"require": "KAnonymity(k=4)"})
        refused = client.get(f"{place}/price").text
        assert "No price" in refused
        found = re.findall(r'name="(\w+)" value="([^"]+)"><button[^>]*"remedy">([^<]+)', refused)
        assert found == [("most_rows", "1", "Publish at most 1 row per person")]
        told = client.post(f"{place}/settings", data=dict([found[0][:2]]))
        assert told.status_code in {200, 303}
        assert "What it costs: about" in client.get(f"{place}/price").text


@pytest.mark.long
def test_missing_cells_that_nobody_decided_about_come_with_buttons(page):
    with page.client() as client:
        place = upload(client, TABLE + ",5000,somebody\n40,,another\n")
        client.post(f"{place}/settings", data={"missing": ""})
        asked = client.post(f"{place}/require", data={"require": "FrequencyL(l=3)"}).text
        assert 'data-testid="error"' in asked
        assert 'name="missing" value="drop"' in asked
        client.post(f"{place}/settings", data={"missing": "drop"})
        assert 'data-testid="error"' not in client.get(place).text
        run = publish(client, place, require="FrequencyL(l=3)")
        assert "2</dd>" in finished(client, run)  # rows left out


@pytest.mark.long
def test_nonsense_is_told_in_words_and_ends_nothing(page):
    with page.client() as client:
        for text in ("\0\1\2", "", "a\n", "a,a\n1,2\n", '{"a": 1}\n[', "PK\x03\x04"):
            answer = client.post("/tables", files={"table": ("t.csv", text)})
            body = client.get(f"{answer.headers['location']}/body")
            assert body.status_code == 200
            assert "Traceback" not in body.text
        place = upload(client)
        for text in ("EpsilonM(", "__import__('os')", "Split()", "x: EpsilonM(epsilon=1, m=2)"):
            said = client.post(f"{place}/require", data={"require": text})
            assert said.status_code == 200
            assert 'data-testid="error"' in said.text, text
            assert 'data-testid="error"' in finished(client, publish(client, place, require=text))
        assert client.get("/").status_code == 200


def test_names_of_the_kept_file_are_not_told_in_place_of_the_owners(page):
    with page.client() as client:
        answer = client.post("/tables", files={"table": ("wards.csv", "a,b\n1,2\n1,2,3\n")})
        text = client.get(f"{answer.headers['location']}/body").text
    assert "wards.csv" in text
    assert "table.csv" not in text


def test_a_run_is_cancelled_at_once_and_leaves_nothing(page, home):
    with page.client() as client:
        place = client.post("/tables/demo").headers["location"]
        client.get(f"{place}/body")
        run = publish(client, place, **LONG)
        began = time.monotonic()
        assert client.post(f"{run}/cancel").status_code == 303
        assert time.monotonic() - began < 60  # of half an hour, on a busy machine
        assert "Cancelled" in client.get(run).text
        assert client.get(f"{run}/release.zip").status_code == 404
    (made,) = home.glob("shoal-page-*")
    assert not list((made / "runs").glob("*/release*/*.partial"))


def test_a_run_that_crashes_is_told_and_the_page_goes_on(page):
    with page.client() as client:
        place = client.post("/tables/demo").headers["location"]
        client.get(f"{place}/body")
        before = set(page.workers())
        run = publish(client, place, **LONG)
        until = time.monotonic() + pages.PATIENCE
        while not (begun := set(page.workers()) - before):
            assert time.monotonic() < until, "the run has no process of its own"
            time.sleep(0.05)
        for one in begun:
            os.kill(one, signal.SIGKILL)
        said = finished(client, run)
        assert 'data-testid="error"' in said
        assert "stopped unexpectedly" in said
        for one in page.workers():  # those that look and try as well
            os.kill(one, signal.SIGKILL)
        assert client.get(place).status_code in {200, 422}
        assert "role-age" in client.get(place).text


def test_no_more_runs_than_two_are_under_way(page):
    with page.client() as client:
        place = client.post("/tables/demo").headers["location"]
        client.get(f"{place}/body")
        runs = [publish(client, place, **LONG) for _ in range(2)]
        third = client.post(f"{place}/publish", data={"require": "EpsilonM(epsilon=1000, m=5)"})
        assert third.status_code == 429
        assert "under way" in third.text
        for run in runs:
            client.post(f"{run}/cancel")
        last = publish(client, place, require="KAnonymity(k=2)")
        client.post(f"{last}/cancel")


@pytest.mark.long
def test_a_table_is_read_where_it_is_when_the_page_is_started_with_it(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text(TABLE)
    home = tmp_path / "home"
    home.mkdir()
    with pages.opened(str(table), home=home) as open_page, open_page.client() as client:
        assert "Open people.csv" in client.get("/").text
        place = client.post("/tables/given/0").headers["location"]
        assert "role-income" in client.get(f"{place}/body").text
        kept = [path.name for path in home.rglob("*") if path.is_file()]
        assert "people.csv" not in kept
        assert "table.csv" not in kept
    assert open_page.process.returncode == 0
    assert not list(home.iterdir())
    assert table.read_text() == TABLE


@pytest.mark.long
def test_what_a_killed_page_left_behind_the_next_one_clears(tmp_path):
    with pages.opened(home=tmp_path) as first:
        with first.client() as client:
            upload(client)
        first.process.kill()
        first.process.wait()
        (left,) = tmp_path.glob("shoal-page-*")
        (tmp_path / "shoal-page-mine.txt").write_text("a file of somebody's")
        with pages.opened(home=tmp_path):
            assert not left.exists()
            assert len([one for one in tmp_path.glob("shoal-page-*") if one.is_dir()]) == 1
            with pages.opened(home=tmp_path):  # a page beside it is not taken for a dead one
                assert len([one for one in tmp_path.glob("shoal-page-*") if one.is_dir()]) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["shoal-page-mine.txt"]


def test_a_port_that_is_taken_is_told(page, home):
    port = page.host.rpartition(":")[2]
    with (
        pytest.raises(AssertionError, match="cannot be used"),
        pages.opened("--port", port, home=home),
    ):
        pass


def test_a_release_is_checked_from_its_files_and_a_spoiled_one_does_not_hold(page):
    with page.client() as client:
        run = publish(client, upload(client), require="KAnonymity(k=4)")
        finished(client, run)
        packed = client.get(f"{run}/release.zip").content
        for spoiled in (False, True):
            if spoiled:
                packed = changed(packed, "release/release.csv", lambda text: text[:-20])
            answer = client.post("/check", files={"release": ("release.zip", packed)})
            said = finished(client, answer.headers["location"])
            assert verdict_of(said)[0].startswith("does-not-hold" if spoiled else "holds")


def changed(packed, name, change):
    """Return a zip file with one of its files changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(made, "w") as new:
        for one in old.namelist():
            content = old.read(one)
            new.writestr(one, change(content) if one == name else content)
    return made.getvalue()


def test_a_table_that_is_brought_to_be_checked_is_measured_and_not_published(page):
    with page.client() as client:
        files = {"release": ("theirs.csv", TABLE)}
        place = client.post("/check", files=files).headers["location"]
        assert client.get(f"{place}/body").status_code == 200
        shown = client.get(place).text
        assert 'data-testid="to-measure"' in shown
        assert 'class="button main" form="measuring" data-testid="measure"' in shown
        assert 'class="button" form="publishing" id="publish"' in shown
        assert 'data-testid="to-measure"' not in client.get(upload(client)).text


def test_names_in_a_zip_file_never_become_paths(page, home):
    for names in (
        [f"../../{OUTSIDE}.csv", "../../manifest.json"],
        [f"/{OUTSIDE}.csv", "/manifest.json"],
        ["a/manifest.json", "b/manifest.json"],
        ["manifest.json", "..", "."],
        ["manifest.json", f"x\\..\\{OUTSIDE}.csv"],
    ):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as packed:
            for name in names:
                packed.writestr(name, "{}")
        with page.client() as client:
            answer = client.post("/check", files={"release": ("r.zip", made.getvalue())})
            assert answer.status_code in {303, 422}
            if answer.status_code == 303:
                assert 'data-testid="error"' in finished(client, answer.headers["location"])
    (made_in,) = home.glob("shoal-page-*")
    assert not [path for path in home.parent.rglob(f"*{OUTSIDE}*") if made_in not in path.parents]


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["survey", "compare", "tune"])
def test_what_a_command_prints_is_a_page(page, kind):
    with page.client() as client:
        place = upload(client)
        client.post(f"{place}/require", data={"require": "EpsilonM(epsilon=1000, m=3)"})
        answer = client.post(f"{place}/check/{kind}")
        said = finished(client, answer.headers["location"])
        assert "iframe" in said, said
        found = client.get(f"{answer.headers['location']}/page.html")
        assert "<html" in found.text
        assert "sandbox" in found.headers["content-security-policy"]
        assert "script-src" not in found.headers["content-security-policy"]


@pytest.mark.long
def test_a_release_that_was_made_here_is_attacked(page):
    with page.client() as client:
        run = publish(client, upload(client), require="EpsilonM(epsilon=1000, m=3)")
        finished(client, run)
        answer = client.post(f"{run}/check/attack")
        assert "iframe" in finished(client, answer.headers["location"])
        checked = client.post(f"{run}/check/audit").headers["location"]  # and what was checked
        finished(client, checked)
        answer = client.post(f"{checked}/check/attack")
        assert "iframe" in finished(client, answer.headers["location"])


@pytest.mark.long
def test_a_click_that_searches_nothing_is_answered_at_once_on_a_large_table(page):
    """Counted is the time that processors work for it, so that a busy machine does not tell."""
    rows = "".join(
        f"{i % 90},{i * 7 % 50},{i * 31 % 997},{i * 13 % 70000}\n" for i in range(100_000)
    )

    def worked():
        every = [page.process.pid, *page.workers()]
        spent = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in every]
        ticks = sum(int(one[11]) + int(one[12]) for one in spent)
        return ticks / os.sysconf("SC_CLK_TCK")

    def least(client, path, choices):
        """Return the mean of an answer, of the best of five rounds: others may have shared it."""
        taken = []
        for _ in range(5):
            began = worked()
            for fields in choices:
                answer = client.post(path, data=fields, headers={"hx-request": "true"})
                assert answer.status_code == 200
            taken.append((worked() - began) / len(choices))
        return min(taken)

    with page.client() as client:
        place = upload(client, "age,ward,street,income\n" + rows)
        client.get(f"{place}/price")  # and whatever is still being loaded
        roles = [{"role-1": "drop"}, {"role-1": "quasi"}]
        assert least(client, f"{place}/columns/1", roles) < 0.2
        asked = [{"require": f"EpsilonM(epsilon={width}, m=5)"} for width in (100, 200)]
        assert least(client, f"{place}/require", asked) < 0.2
        assert least(client, f"{place}/settings", [{"title": "a"}, {"title": "b"}]) < 0.2
        began = worked()  # a price is a search, on some of the rows
        for _ in range(3):
            assert "from 4,000 of your 100,000 rows" in client.get(f"{place}/price").text
        assert (worked() - began) / 3 < 4  # of two processors


@pytest.mark.long
def test_a_form_and_what_is_said_of_columns_reach_the_release(page):
    with page.client() as client:
        place = upload(client)
        client.post(f"{place}/settings", data={"form": "bounds"})
        client.post(f"{place}/columns/1", data={"round": "5000"})
        run = publish(client, place, require="FrequencyL(l=3)")
        assert verdict_of(finished(client, run))[0].startswith("holds")
        packed = client.get(f"{run}/release.zip").content
        with zipfile.ZipFile(io.BytesIO(packed)) as release:
            header, *cells = release.read("release/release.csv").decode().splitlines()
        assert header == "group,age_low,age_high,income"
        assert all(int(line.rpartition(",")[2]) % 5000 == 0 for line in cells)


@pytest.mark.long
def test_what_could_be_chosen_instead_is_priced_and_taken(page):
    rows = "".join(f"{20 + i % 40},{i * 7 % 90},{1000 * (i % 50)}\n" for i in range(600))
    with page.client() as client:
        place = upload(client, "age,ward,income\n" + rows)
        roles = {"role-0": "quasi", "role-1": "quasi", "role-2": "sensitive"}
        for column in range(3):
            client.post(f"{place}/columns/{column}", data=roles)
        client.post(f"{place}/require", data={"require": "FrequencyL(l=4)"})
        main = client.get(f"{place}/price")
        assert main.headers["hx-trigger"] == "priced"
        said = client.get(f"{place}/prices/alternatives").text
        assert "For public release" in said
        assert len(re.findall(r"lost|of the detail", said)) >= 3
        forms = client.get(f"{place}/prices/forms").text
        assert forms.count("typical error of a count") == 4
        assert forms.count("regression: approximate") == 4  # the cells of all forms are narrow
        methods = client.get(f"{place}/prices/methods").text
        assert "by Exchange()" in methods  # the default is named
        assert client.get(f"{place}/prices/others").status_code == 404
        taken = client.post(f"{place}/take", data={"require": "KAnonymity(k=12)", "drop": "ward"})
        assert taken.status_code == 303
        file = client.get(f"{place}/shoal.toml").text
        assert 'require = ["KAnonymity(k=12)"]' in file
        assert 'quasi = ["age"]' in file


@pytest.mark.long
def test_what_has_no_price_says_so(page):
    with page.client() as client:
        place = upload(client)
        client.post(f"{place}/require", data={"require": "FrequencyL(l=200)"})
        for kind in ("alternatives", "methods", "forms"):
            answer = client.get(f"{place}/prices/{kind}")
            assert answer.status_code == 200
            assert "%<" not in answer.text
        answer = client.post(f"{place}/check/survey")
        finished(client, answer.headers["location"])
        for part in ("report", "report.html", "release.zip", "certificate.html"):
            assert client.get(f"{answer.headers['location']}/{part}").status_code == 404


@pytest.mark.long
def test_prices_that_were_overtaken_are_not_shown(page):
    """A trial under way when something else is decided has no say any more."""
    with page.client() as client:
        place = upload(client)
        client.post(f"{place}/require", data={"require": "FrequencyL(l=4)"})
        with ThreadPoolExecutor() as threads:
            asked = threads.submit(client.get, f"{place}/prices/alternatives")
            turn = 0
            while not asked.done():
                turn += 1  # never again what it was, whenever the trials began
                client.post(f"{place}/settings", data={"title": f"The {turn}th thought"})
            assert asked.result().status_code == 204


@pytest.mark.long
def test_a_run_that_has_enough_keeps_the_best_so_far(page):
    with page.client() as client:
        place = client.post("/tables/demo").headers["location"]
        client.get(f"{place}/body")
        client.post(f"{place}/settings", data={"seconds": "1800"})
        run = publish(client, place, require="EpsilonM(epsilon=1000, m=5)")
        until = time.monotonic() + pages.PATIENCE
        while not all(one in client.get(run).text for one in ('data-testid="keep"', "losses")):
            assert time.monotonic() < until, "nothing was found that could be kept"
            time.sleep(0.1)
        text = client.get(run).text
        assert "30\u00a0min" in text
        (now,) = re.findall(r"The best so far loses ([\d.]+)%", text)
        first = re.search(r"began with ([\d.]+)% and is ([\d.]+)% now", text)
        assert first is not None
        assert float(first[1]) >= float(first[2]) == float(now)
        assert client.post(f"{run}/keep").status_code == 303
        said = finished(client, run)
        assert verdict_of(said)[0].startswith("holds")
        (made,) = re.findall(r"What it cost: ([\d.]+)%", said)
        assert float(made) <= float(now)  # nothing that was found is lost again


def test_the_certificate_is_two_pages_about_this_release(page):
    with page.client() as client:
        run = publish(client, upload(client), require="KAnonymity(k=4)", title="Wards of 2026")
        assert "certificate.html" in finished(client, run)
        for _ in range(2):
            found = client.get(f"{run}/certificate.html")
            assert found.status_code == 200
            assert "Wards of 2026" in found.text
            assert "sandbox" in found.headers["content-security-policy"]


def test_the_schema_file_of_a_run_repeats_it(page, tmp_path):
    from shoal.runs.run import Run

    with page.client() as client:
        place = upload(client, name="people of ward 3.csv")
        run = publish(client, place, require="FrequencyL(l=3)", title="Again")
        said = finished(client, run)
        assert "shoal anonymize &#39;people of ward 3.csv&#39; --schema shoal.toml" in said
        (tmp_path / "shoal.toml").write_text(client.get(f"{run}/shoal.toml").text)
    (tmp_path / "people of ward 3.csv").write_text(TABLE)
    made = Run.load(tmp_path / "shoal.toml", output=tmp_path / "published").publish()
    assert made.audit.holds
    assert made.facts["require"] == ["FrequencyL(l=3)"]
    assert made.facts["title"] == "Again"


@pytest.mark.long
def test_a_hierarchy_that_is_dropped_on_a_column_is_used_and_given_back(page):
    listed = "".join(f"{age};{age // 10 * 10}s;*\n" for age in range(20, 60))
    with page.client() as client:
        place = upload(client)
        answer = client.post(
            f"{place}/columns/0/hierarchy", files={"file": (f"../{OUTSIDE}.csv", listed)}
        )
        assert answer.status_code == 200
        assert "hierarchy-0.csv" in answer.text
        run = publish(client, place, require="KAnonymity(k=11)")
        said = finished(client, run)
        assert verdict_of(said)[0].startswith("holds")
        assert client.get(f"{run}/hierarchy-0.csv").text == listed
        assert client.get(f"{run}/hierarchy-1.csv").status_code == 404
        packed = client.get(f"{run}/release.zip").content
        with zipfile.ZipFile(io.BytesIO(packed)) as release:
            lines = release.read("release/release.csv").decode().splitlines()[1:]
        nodes = {line.split(",")[1] for line in lines}
        assert nodes <= {"*", *(f"{age}s" for age in range(20, 60, 10)), *map(str, range(20, 60))}
        empty = client.post(f"{place}/columns/0/hierarchy", files={"file": ("h.csv", "")})
        assert empty.status_code == 422


def test_a_person_column_is_kept_together_and_what_readers_know_is_asked(page):
    rows = "".join(f"p{i // 2},{20 + i // 2 % 40},{1000 * (i % 50)}\n" for i in range(400))
    with page.client() as client:
        place = upload(client, "patient,age,income\n" + rows)
        roles = {"role-0": "person", "role-1": "quasi", "role-2": "sensitive"}
        for column in range(3):
            client.post(f"{place}/columns/{column}", data=roles)
        assert "how many rows a person has" in client.get(place).text
        client.post(f"{place}/settings", data={"rows": "unknown", "most_rows": "3"})
        run = publish(client, place, require="KAnonymity(k=4)")
        said = finished(client, run)
        assert verdict_of(said)[0].startswith("holds")
        assert "Left out: patient." in client.get(f"{run}/rows").text
        file = client.get(f"{run}/shoal.toml").text
        assert 'person = "patient"' in file
        assert 'rows = "unknown"' in file
        packed = client.get(f"{run}/release.zip").content
        with zipfile.ZipFile(io.BytesIO(packed)) as release:
            header = release.read("release/release.csv").decode().splitlines()[0]
        assert header == "group,person,age,income"


@pytest.mark.long
def test_a_release_that_was_dropped_can_be_attacked_with_a_table_that_is_open(page):
    with page.client() as client:
        place = upload(client)
        run = publish(client, place, require="KAnonymity(k=4)")
        finished(client, run)
        packed = client.get(f"{run}/release.zip").content
        checked = client.post("/check", files={"release": ("release.zip", packed)})
        checked = checked.headers["location"]
        assert "everybody in people.csv" in finished(client, checked)
        for original in ("", place.rpartition("/")[2]):
            answer = client.post(f"{checked}/check/attack", data={"original": original})
            assert "iframe" in finished(client, answer.headers["location"])
        assert "release.zip" in client.get("/check").text  # an earlier one to pick
