"""Every page that Shoal writes, opened as people open it: screen, phone, dark, paper, keyboard."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import chromium
import shoal
from shoal.datasets.census import census
from system.shell import shoal as command

pytestmark = pytest.mark.browser

SCHEMA = shoal.Schema(
    quasi=["age", "birthplace"], sensitive="income", other="occupation", nobody_knows="occupation"
)
ROLES = ("--quasi", "age,birthplace", "--sensitive", "income")
LARGEST = 500_000  # bytes of a report
WIDEST = "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
SCROLLED = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
PAGES = [
    "report", "owner", "certificate", "nodes", "alone", "coarser", "hostile", "compare", "tune",
    "attack", "audit",
    "dossier", "dossier-private", "empty-private",
]  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with every kind of page."""
    place = tmp_path_factory.mktemp("pages")
    table = census(900)
    release = shoal.anonymize(
        table, SCHEMA, require="EpsilonM(epsilon=2000, m=3)", suppress="2%", title="Incomes, 2025"
    )
    release.write(place / "out")
    release.owner_report(place / "owner.html", trials=True)
    shoal.certificate(place / "out", place / "certificate.html")
    shoal.dossier(place / "out", place / "dossier.html", norm="hipaa", original=table)
    shoal.dossier(place / "out", place / "empty.html", norm="gdpr")
    (place / "report.html").write_bytes((place / "out" / "report.html").read_bytes())
    days = table.with_columns(day=pl.date(2020, 1, 1) + pl.duration(days=pl.col("age") * 20))
    nodes = shoal.Schema(
        quasi=["day", "birthplace"],
        sensitive="occupation",
        types={"occupation": "categorical"},
        hierarchies={"day": "Calendar()"},
    )
    made = shoal.anonymize(days, nodes, require=["KAnonymity(k=12)", "DistinctL(l=3)"])
    made.write(place / "two")
    (place / "nodes.html").write_bytes((place / "two" / "report.html").read_bytes())
    alone = shoal.anonymize(table, SCHEMA, require="KAnonymity(k=4)", method="Freeform()")
    alone.write(place / "three")
    (place / "alone.html").write_bytes((place / "three" / "report.html").read_bytes())
    shoal.coarsen(place / "out", require="KAnonymity(k=8)").write(place / "four")
    (place / "coarser.html").write_bytes((place / "four" / "report.html").read_bytes())
    shoal.certificate(place / "two", place / "of-nodes.html")
    shoal.certificate(place / "three", place / "of-alone.html", original=table)
    shoal.certificate(place / "four", place / "of-coarser.html")
    many = table.with_columns(pl.col("occupation").alias(f"number {n}") for n in range(16))
    others = many.columns[4:]
    broad = shoal.Schema(
        quasi=many.columns[:3], sensitive="income", other=others, nobody_knows=others
    )
    told: Any = {"purpose": "Research " * 20, "institution": "Klinikum Nordufer"}
    asked_of: Any = ["EpsilonM(epsilon=2000, m=3)", "KAnonymity(k=5)"]
    wide = shoal.anonymize(many, broad, require=asked_of, suppress="5%", context=told)
    assert len(wide.table.columns) > 20
    wide.write(place / "broad")
    shoal.certificate(place / "broad", place / "of-twenty.html")
    asked_of.append("DistinctL(l=3)")
    shoal.anonymize(many, broad, require=asked_of, suppress="5%", context=told).write(place / "six")
    shoal.certificate(place / "six", place / "of-three.html")
    evil = "<script>document.title='owned'</script>" + "x" * 120
    odd = table.rename({"age": evil, "birthplace": '"><img src=x>'})
    hostile = shoal.Schema(quasi=odd.columns[:2], sensitive="income")
    shoal.anonymize(odd, hostile, require="KAnonymity(k=5)", title=evil[:150]).write(place / "five")
    (place / "hostile.html").write_bytes((place / "five" / "report.html").read_bytes())
    table.write_csv(place / "table.csv")
    asked = (place / "table.csv", *ROLES, "--require", "EpsilonM(epsilon=2000, m=3)")
    for name in ("compare", "tune"):
        done = command(name, *asked, "--seconds", "1", "--report", place / f"{name}.html")
        assert done.code == 0, done
    original = ("--original", place / "table.csv")
    done = command("attack", place / "out", *original, "--report", place / "attack.html")
    assert done.code == 0, done
    done = command("audit", place / "out" / "release.csv", *ROLES, "--report", place / "audit.html")
    assert done.code == 0, done
    return place


@pytest.fixture(scope="module")
def browser():
    with chromium.browser() as started:
        yield started


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_everybody(written: Path, browser, name: str) -> None:
    for width, scheme in ((1200, "light"), (400, "light"), (400, "dark")):
        opened = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=True
        )
        page = opened.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((written / f"{name}.html").as_uri())
        assert chromium.complaints(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.title() != "owned"
        assert len(asked) == 1  # the page itself
        assert page.locator("h1").count() == 1
        opened.close()


@pytest.mark.parametrize("name", ["report", "owner", "nodes", "alone"])
def test_contents_are_in_the_order_of_the_page(written: Path, browser, name: str) -> None:
    page = browser.new_page()
    page.goto((written / f"{name}.html").as_uri())
    listed = page.eval_on_selector_all(".contents a", "all => all.map(one => one.hash.slice(1))")
    there = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    assert len(listed) >= 8
    assert listed == [one for one in there if one in listed]
    page.close()


@pytest.mark.parametrize("name", ["report", "owner", "nodes", "alone"])
def test_a_phone_shows_titles_tables_and_the_answers_to_three_questions_whole(
    written: Path, browser, name: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto((written / f"{name}.html").as_uri())
    if name != "alone":  # without groups nobody counts who is found
        assert page.locator("#publish .wide").first.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
    assert page.eval_on_selector_all(".wide", SCROLLED) == []
    assert page.eval_on_selector_all(".wide caption", WIDEST) <= 390
    page.close()


@pytest.mark.parametrize("name", ["certificate", "of-nodes", "of-alone", "of-coarser", "of-twenty"])
def test_paper_gives_two_pages_with_a_place_to_sign(written: Path, browser, name: str) -> None:
    page = browser.new_page()
    page.goto((written / f"{name}.html").as_uri())
    for paper in ("A4", "Letter"):
        assert pages_of(page.pdf(format=paper)) == 2
    page.emulate_media(media="print")
    assert page.get_by_text("Data-protection officer").is_visible()
    page.close()


def test_no_part_of_a_long_certificate_is_torn(written: Path, browser) -> None:
    """A third requirement makes twenty columns three pages: they part between sections."""
    page = browser.new_page(viewport={"width": 178 * 96 // 25, "height": 267 * 96 // 25})  # A4
    page.goto((written / "of-three.html").as_uri())
    assert pages_of(page.pdf(format="A4")) == 3
    page.emulate_media(media="print")
    sections = page.locator("main > section")
    kept = sections.evaluate_all("all => all.map(one => getComputedStyle(one).breakInside)")
    heights = sections.evaluate_all("all => all.map(one => one.offsetHeight / innerHeight)")
    assert len(kept) >= 6
    assert set(kept) == {"avoid"}
    assert max(heights) < 1  # what is longer than a page is torn whatever it asks for
    page.close()


def test_every_verdict_can_be_read_on_paper_that_prints_grounds(written: Path, browser) -> None:
    page = browser.new_page()
    page.goto((written / "certificate.html").as_uri())
    page.emulate_media(media="print")
    look = """(one, name) => {
        one.className = name;
        const [own, said] = [one, one.querySelector(".says")].map(some => getComputedStyle(some));
        return [own.backgroundColor, said.color, getComputedStyle(one, "::before").display];
    }"""
    for name in ("verdict", "verdict open", "verdict bad"):
        ground, words, pattern = page.locator(".verdict").evaluate(look, name)
        assert ground == "rgba(0, 0, 0, 0)", name
        assert words not in ("rgb(255, 255, 255)", ground)
        assert pattern in ("none", "inline")  # nothing is drawn before it
    page.close()


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page[^s]", pdf))


def test_the_first_screen_has_the_verdict_and_the_keyboard_reaches_every_part(
    written: Path, browser
) -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.goto((written / "report.html").as_uri())
    assert page.locator(".says").inner_text().startswith("Holds")
    for words in ("1\u00a0in\u00a0", "rows published", "rows left out", "columns published"):
        found = page.get_by_text(words).first.bounding_box()
        assert found is not None
        assert found["y"] < 1000
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('href')"))
    targets = {"#publish", "#promise", "#left-out", "#cells", "#counts", "#checked", "#not"}
    assert targets <= reached
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_small(written: Path, name: str) -> None:
    assert (written / f"{name}.html").stat().st_size < LARGEST
