"""The site builds without a complaint, all of its links lead somewhere, and it needs no network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

import chromium
from documentation.pages import DOCS, ROOT

FIRST = {  # what people type, and the page that answers it
    "k-anonymity": "k-anonymity: KAnonymity",
    "l-diversity": "DistinctL: distinct l-diversity",
    "t-closeness": "TCloseness: t-closeness",
    "differential privacy": "Shoal and differential privacy",
}
PATIENCE = 60_000  # milliseconds
COMMAND = Path(sys.executable).with_name("zensical")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The addresses that a page names, those among them that a browser loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            if name in {"href", "src"}:
                self.links.append(value)
                if (tag, name) in LOADED:
                    self.loaded.append(value)


def build(place: Path) -> subprocess.CompletedProcess[str]:
    """Build the documentation that lies in a directory, as `make docs` does."""
    command = [str(COMMAND), "build", "--clean", "--strict"]
    return subprocess.run(
        command, cwd=place, capture_output=True, text=True, timeout=600, check=False
    )


def read(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def broken(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return the links within a site that lead nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or (path.name == "404.html" and link.startswith("/")):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            lost = parts.fragment and known is not None and parts.fragment not in known.anchors
            if not target.exists() or (lost and not parts.fragment.startswith("__")):
                found.append(f"{path.relative_to(site)}: {link}")
    return found


@pytest.mark.long
def test_the_site_builds_with_every_page_and_no_link_leads_nowhere(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    built = build(tmp_path)
    assert built.returncode == 0, built.stdout + built.stderr
    site = tmp_path / "site"
    pages = read(site)
    navigation = (ROOT / "zensical.toml").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS)
        assert site / name.with_suffix(".html") in pages
        assert f'"{name.as_posix()}"' in navigation
    assert broken(site, pages) == []
    for path, parsed in pages.items():
        assert not [link for link in parsed.loaded if urlsplit(link).netloc], path


@contextmanager
def served(place: Path):
    """Serve a directory, as the README says, and give its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_said):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.mark.long
@pytest.mark.browser
def test_search_finds_the_page_of_a_term_first(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    assert build(tmp_path).returncode == 0
    from playwright.sync_api import expect

    with served(tmp_path / "site") as address, chromium.browser() as started:
        page = started.new_page()
        page.goto(address)
        page.locator(".md-search__button").click()
        for asked, title in FIRST.items():
            page.locator("input[placeholder*=earch]").first.fill(asked)
            first = page.locator("li a:visible h2").first
            expect(first).to_have_text(title, timeout=PATIENCE)


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a><a href="b.html#lost">b</a>')
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1><a href="nowhere.html">c</a>')
    assert broken(tmp_path, read(tmp_path)) == ["a.html: b.html#lost", "b.html: nowhere.html"]
