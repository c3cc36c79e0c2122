"""The dossier on the page: a norm is chosen, people answer, and two files come of it."""

import io
import tomllib
import zipfile

import pytest

import pages
from shoal.views.dossier import NORMS
from system.page import finished, publish, upload, words

TABLE = "age,charges\n" + "".join(f"{20 + i % 40},{1_000_003 + 7_919 * i}\n" for i in range(80))
ROLES = {"role-0": "quasi", "role-1": "sensitive"}
SAID = "Charges by age;\r\nno single towns. <b>&"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def made(page):
    with page.client() as client:
        place = upload(client, TABLE)
        run = publish(client, place, require="EpsilonM(epsilon=8000, m=3)", **ROLES)
        shown = finished(client, run)
        assert 'data-testid="dossier"' in shown
        yield client, place, run


@pytest.mark.parametrize("norm", NORMS)
def test_every_norm_is_one_click_from_the_verdict(made, norm):
    client, _, run = made
    answer = client.post(f"{run}/dossier", data={"norm": norm})
    assert answer.status_code == 303
    shown = client.get(answer.headers["location"])
    assert shown.status_code == 200
    public = client.get(f"{run}/dossier/{norm}/public.html")
    assert 'data-kind="computed"' in public.text
    assert "anonymous" in public.text.split("does not say that")[1][:60]


def test_an_expert_answers_for_each_column(made):
    client, _, run = made
    shown = client.get(f"{run}/dossier/hipaa").text
    assert 'aria-label="Replicability of age"' in shown
    said = {"replicability-0": "high", "availability-0": "in a register", "replicability-1": ""}
    assert client.post(f"{run}/dossier/hipaa", data=said).status_code == 303
    shown = client.get(f"{run}/dossier/hipaa").text
    assert 'name="replicability-0" value="high"' in shown
    schema = tomllib.loads(client.get(f"{run}/shoal.toml").text)
    assert schema["context"]["replicability"] == "age: high"
    public = client.get(f"{run}/dossier/hipaa/public.html").text
    assert "<td>in a register</td>" in public
    assert "<td>to be answered</td>" in public


def test_controls_are_compared_in_the_annex_alone(made):
    client, _, run = made
    before = client.get(f"{run}/release.zip").content
    asked = client.get(f"{run}/dossier/gdpr").text
    assert 'data-testid="controls"' in asked
    assert "were not given" in client.get(f"{run}/dossier/gdpr/private.html").text
    others = "age,charges\n" + "".join(
        f"{20 + i % 37},{2_000_003 + 7_001 * i}\n" for i in range(40)
    )
    sent = {"controls": ("others.csv", others)}
    assert client.post(f"{run}/dossier/gdpr/controls", files=sent).status_code == 303
    assert 'data-testid="controls-there"' in client.get(f"{run}/dossier/gdpr").text
    annex = client.get(f"{run}/dossier/gdpr/private.html").text
    assert "of people who are not in it" in annex
    assert "of people who are not in it" not in client.get(f"{run}/dossier/gdpr/public.html").text
    assert client.get(f"{run}/release.zip").content == before
    assert client.post(f"{run}/dossier/gdpr/controls").status_code == 303
    assert "were not given" in client.get(f"{run}/dossier/gdpr/private.html").text
    wrong = {"controls": ("others.xlsx", b"PK\x03\x04 broken")}
    refused = client.post(f"{run}/dossier/gdpr/controls", files=wrong)
    assert refused.status_code == 422
    assert "others.xlsx" in refused.text
    assert 'data-testid="controls"' in client.get(f"{run}/dossier/gdpr").text


def test_answers_reach_the_public_part_and_the_schema_file_and_nothing_else(made):
    client, place, run = made
    before = client.get(f"{run}/release.zip").content
    asked = client.get(f"{run}/dossier/ema").text
    assert "an answer from a person" in words(asked)
    answer = client.post(f"{run}/dossier/ema", data={"utility": SAID})
    assert answer.status_code == 303
    public = client.get(f"{run}/dossier/ema/public.html").text
    assert "no single towns. &lt;b&gt;&amp;" in public
    assert "no single towns" in client.get(f"{run}/shoal.toml").text
    assert "no single towns" in client.get(f"{place}/shoal.toml").text
    assert client.get(f"{run}/release.zip").content == before
    packed = zipfile.ZipFile(io.BytesIO(before))
    assert not [name for name in packed.namelist() if "dossier" in name]
    refused = client.post(f"{run}/dossier/ema", data={"review_date": "soon"})
    assert refused.status_code == 422
    assert "a day, for example" in words(refused.text)
    assert "soon" not in client.get(f"{run}/shoal.toml").text


def test_an_answer_that_the_certificate_asks_for_reaches_it(made):
    client, _, run = made
    assert "Klinik am See" not in client.get(f"{run}/certificate.html").text
    answer = client.post(f"{run}/dossier/ema", data={"institution": "Klinik am See"})
    assert answer.headers["location"].endswith("/dossier/ema#saved")
    assert "Saved." in words(client.get(answer.headers["location"]).text)
    assert "Institution Klinik am See" in words(client.get(f"{run}/certificate.html").text)


def test_the_annex_is_a_file_of_its_own_that_nothing_public_repeats(made):
    client, _, run = made
    answer = client.get(f"{run}/dossier/ico/private.html")
    assert answer.headers["cache-control"] == "no-store"
    annex = words(answer.text)
    assert "Private annex. Do not publish it" in annex
    assert "the most exposed person" in annex
    public = words(client.get(f"{run}/dossier/ico/public.html").text)
    assert "of the original (the first row" not in public


def test_it_can_be_edited(made):
    docx = pytest.importorskip("docx")
    client, _, run = made
    for part in ("public", "private"):
        file = client.get(f"{run}/dossier/ico/{part}.docx")
        assert "attachment" in file.headers["content-disposition"]
        assert docx.Document(io.BytesIO(file.content)).paragraphs


@pytest.mark.parametrize(
    "address", ["dossier/law", "dossier/ema/other.html", "dossier/ema/public.exe"]
)
def test_there_is_nothing_else(made, address):
    client, _, run = made
    assert client.get(f"{run}/{address}").status_code == 404
