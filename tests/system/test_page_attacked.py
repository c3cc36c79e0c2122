"""The page under attack: every address, every answer, and everything that can be sent to it."""

import asyncio
import inspect
import io
import re
import sys
import zipfile
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from itertools import product
from urllib.parse import quote

import httpx
import pytest
from starlette.routing import Mount, Route

import pages
from shoal.web import deciding, looking, publishing
from shoal.web.deciding import KEPT
from shoal.web.draft import AS_COLUMNS, AS_ROLES, SETTINGS
from shoal.web.guard import HEADERS
from shoal.web.serving import make_app
from system.page import TABLE, finished, publish, upload, verdict_of

HOSTILE = "<xss onload=alert(1)>\"'`{{7*7}}</title><script>alert(1)</script>"
LONG = "9" * 5000
SCRIPTS = r"\s*(javascript|data):"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with pages.opened(home=tmp_path_factory.mktemp("home")) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """Every address of the page with the methods that it answers."""
    app = make_app(tmp_path_factory.mktemp("app"), port=1, token="t")
    found = []
    for route in app.routes:
        if isinstance(route, Mount):
            found.append(("GET", f"{route.path}/shoal.css"))
        else:
            assert isinstance(route, Route)
            path = re.sub(r"\{\w+:\w+\}", "0", route.path)
            methods = sorted(set(route.methods or ()) - {"HEAD"})
            found += [(method, re.sub(r"\{\w+\}", "a", path)) for method in methods]
    assert len(found) > 30
    return found


def guarded(answer):
    """Whether an answer says what a browser may do with it."""
    policy = answer.headers.get("content-security-policy", "")
    assert "default-src 'none'" in policy, answer.url
    assert "unsafe-eval" not in policy
    assert "script-src 'self'" in policy or "script-src" not in policy
    for name in set(HEADERS) - {"content-security-policy"}:
        assert answer.headers.get(name) == HEADERS[name], (answer.url, name)


def test_no_address_answers_without_the_cookie(page, addresses):
    for method, path in addresses:
        for cookie in ({}, {"cookie": "shoal=x"}, {"cookie": f"shoal-{page.host[-5:]}=;=\x01"}):
            headers = {"origin": page.base, **cookie}
            answer = page.ask(page.base + path, method, headers=headers)
            assert answer.status_code == 403, (method, path)
            assert "<" not in answer.text
            guarded(answer)


def test_no_address_takes_anything_from_another_site_or_under_another_name(page, addresses):
    port = page.host.rpartition(":")[2]
    with page.client() as client:
        for method, path in addresses:
            wrong = [{"sec-fetch-site": "cross-site"}, {"host": f"evil.example:{port}"}]
            if method != "GET":
                wrong += [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": ""}]
            for headers in wrong:
                answer = client.request(method, path, headers=headers)
                assert answer.status_code in {403, 421}, (method, path, headers)
                guarded(answer)


def test_every_answer_says_what_a_browser_may_do_with_it(page, addresses):
    """Also those about what is not there, not allowed, too long or not understood."""
    with page.client() as client:
        for method, path in addresses:
            for other in {method, "GET", "POST", "PUT", "TRACE"}:
                answer = client.request(other, path)
                assert answer.status_code < 500, (other, path)
                guarded(answer)
        for path in ("/%00", "/static/../app.py", "/static/%2e%2e/app.py", "/tables/" + "a" * 5000):
            answer = client.get(path)
            assert answer.status_code == 404
            guarded(answer)


@asynccontextmanager
async def within(app):
    """Give a client that talks to a page without any server, and to whom it answers all."""
    known = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    at = "http://127.0.0.1:80"
    said = {"host": "127.0.0.1:80", "origin": at}
    async with httpx.AsyncClient(
        transport=known, base_url=at, headers=said, timeout=pages.PATIENCE
    ) as client:
        assert (await client.get("/?token=t")).status_code == 303
        yield client


def test_what_nobody_foresaw_is_told_by_its_kind_alone(tmp_path):
    async def broken(_request):
        msg = "Ada Lovelace, 36"
        raise KeyError(msg)

    app = make_app(tmp_path, port=80, token="t")
    app.router.routes.insert(0, Route("/broken", broken))

    async def asked():
        async with within(app) as client:
            return await client.get("/broken")

    answer = asyncio.run(asked())
    assert answer.status_code == 500
    assert "KeyError" in answer.text
    assert "Lovelace" not in answer.text
    guarded(answer)


ABSURD = (LONG, f"-{LONG}", "nan", "1e999", "a\0b", "x" * 60_000, "\u202e'\"<>%{}();#", "[" * 3000)
FIELD = re.compile(r"""(?:form|said)(?:\.get\(|\[)"([a-z_]+)"|"([a-z_]+)" in said""")
PASTED = (
    "quasi = 5", "quasi = [[1]]", "quasi = true", "never_mix = 1.5", "sensitive = {a = 1}",
    "require = 5", "require = [[['a']]]", "columns = 5", "columns = [1]", "person = ['age']",
    "linked = 5\nquasi = ['z']", "linked = ['a']\nquasi = ['z']", "title = 2020-01-01",
    f"a = {'[' * 20_000}", f"seconds = {LONG}", f"seconds = {LONG[:400]}", "seconds = inf",
    "seconds = nan", "missing = [1]", "missing = {a = 1}", "form = [1]", "method = [2]",
    "rows = [1]", "most_rows = [3]", "suppress = [1]", "title = {a = [1]}", "title = '\\u0000'",
    "[columns.age]\ntype = 5", "[columns.age]\nhierarchy = 5", "[columns.age]\norder = 5",
    "[columns.age]\nround = [1]", "[columns.age]\nmissing = {a = 1}", "encoding = 5", "\ufeff",
)  # fmt: skip


def fields(endpoint):
    """Return every field that the module of an address looks at, by its source."""
    module = sys.modules[endpoint.__module__]
    read = {one or other for one, other in FIELD.findall(inspect.getsource(module))}
    remedies = {*SETTINGS, *AS_ROLES, *AS_COLUMNS, "nobody_knows", "protect"}
    read |= {*KEPT, *remedies} if module in {deciding, publishing} else set()
    return sorted(read | (set(looking.OF_COLUMNS) if module is looking else set()) | {"role-0"})


def put(path, table):
    """Return an address with the values of a table that there is, and of nothing else."""
    return re.sub(r"\{\w+(:\w+)?\}", "0", path.replace("{table}", table))


def by_address(routes, table):
    """Yield what asks for every address with absurd values, also of a table that there is."""
    for one, value, known in product(routes, ABSURD, (table, "{table}")):
        at = one.path.replace("{table}", known)
        odd = quote(value[:20_000], safe="")[:9_000]
        if "{" in at:
            for method in one.methods - {"HEAD"}:
                yield method, odd.join(re.split(r"\{[^}]+\}", at)), {}


def of_table(routes, table):
    """Yield what asks for every address of a table, but for the one that reads it."""
    for one in routes:
        if "{table}" in one.path and not one.path.endswith("/body"):
            for method in one.methods - {"HEAD"}:
                yield method, put(one.path, table), {}


def by_field(routes, table):
    """Yield what sends absurd values in every field of a table's addresses, and shows it then."""
    for one in routes:
        if "POST" not in one.methods:
            continue
        path, known = put(one.path, table).replace("/check/0", "/check/tune"), fields(one.endpoint)
        for value in ABSURD:
            yield "POST", path, {"data": dict.fromkeys(known, value)}
            yield "POST", path, {"files": dict.fromkeys(known, (value, value))}
        for name, value in product(known, (LONG, "a\0b", "[" * 3000)):
            yield "POST", path, {"data": {name: value}}
        yield "GET", f"/tables/{table}", {}


def by_schema(table):
    """Yield what pastes absurd schema files, looks at the table then, and publishes it."""
    for text in PASTED:
        yield "POST", f"/tables/{table}/schema", {"data": {"schema": text}}
        for part in ("", "/shoal.toml", "/body"):
            yield "GET", f"/tables/{table}{part}", {}
        yield "POST", f"/tables/{table}/publish", {"data": {}}


def by_head(table):
    """Yield what says something absurd of what is sent."""
    path = f"/tables/{table}/settings"
    kind = "multipart/form-data; boundary=b; charset=unicode_escape"
    part = b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n\\ud800\r\n--b--'
    yield "POST", path, {"content": part, "headers": {"content-type": kind}}
    yield "GET", f"/tables/{table}", {}
    yield "POST", path, {"content": b"", "headers": {"content-length": LONG}}


@pytest.mark.long
def test_no_value_of_any_address_or_field_ends_in_what_nobody_foresaw(tmp_path):
    """Huge, endless and unreadable: by every address, in every field, in schema files and heads;
    and every address of a table that has not been read, or cannot be.
    """
    app = make_app(tmp_path, port=80, token="t", most_runs=0)
    routes = [  # but for the one that takes a table away
        one for one in app.routes if isinstance(one, Route) and not one.path.endswith("/stop")
    ]

    async def opened(client, text, *, read=True):
        answer = await client.post("/tables", files={"table": ("t.csv", text)})
        place = answer.headers["location"]
        if read:
            await client.get(f"{place}/body")
        return place.rpartition("/")[2]

    async def asked():
        async with within(app) as client:
            table = await opened(client, TABLE)
            unread = await opened(client, TABLE, read=False)
            unreadable = await opened(client, "a,a\n1,2\n")
            every = [
                *by_address(routes, table), *of_table(routes, unread),
                *of_table(routes, unreadable), *by_field(routes, table), *by_schema(table),
                *by_head(table),
            ]  # fmt: skip
            for method, path, sent in every:
                answer = await client.request(method, path, **sent)
                said = (method, path[:99], str(sent)[:200], answer.text[:2000])
                assert answer.status_code < 500, said
                assert "unforeseen" not in answer.text, said
            assert (await client.get(f"/tables/{table}")).status_code == 200
            return len(every)

    try:
        assert asyncio.run(asked()) > 1500
    finally:
        app.state.shelf.close()


class Tags(HTMLParser):
    """Collects whatever a page would run, and the elements that it has."""

    def __init__(self):
        super().__init__()
        self.wrong, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        said = dict(attrs)
        data = said.get("type") == "application/json"  # which nothing runs
        if tag == "script" and not data and not (said.get("src") or "").startswith("/static/"):
            self.wrong.append(self.get_starttag_text())
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.wrong.append(self.get_starttag_text())
            if name in {"href", "src", "action"} and re.match(SCRIPTS, value or ""):
                self.wrong.append(value)


def test_nothing_of_a_table_becomes_part_of_a_page(page, tmp_path):
    """Names, labels, titles and requirements: on every page that can show them."""
    head = f'"{HOSTILE.replace(chr(34), chr(34) * 2)}"'
    rows = "".join(f'{20 + i % 40},{head[:-1]}{i % 5}",{i % 50}\n' for i in range(300))
    with page.client() as client:
        place = upload(client, f"age,{head},income\n{rows}", f"{HOSTILE}.csv")
        roles = {"role-0": "quasi", "role-1": "quasi", "role-2": "sensitive"}
        for column in range(3):
            client.post(f"{place}/columns/{column}", data=roles)
        texts = [client.get(one).text for one in (place, "/", "/check")]
        asked = (f"{HOSTILE}: FrequencyL(l=2)", f"FrequencyL(l='{HOSTILE}')", "FrequencyL(l=4)")
        texts += [client.post(f"{place}/require", data={"require": one}).text for one in asked]
        parts = ("price", "prices/alternatives", "prices/methods", "prices/forms")
        texts += [client.get(f"{place}/{part}").text for part in parts]
        texts.append(client.post(f"{place}/columns/1", data={"hierarchy": HOSTILE}).text)
        texts.append(finished(client, publish(client, place, require="FrequencyL(l=4)")))
        client.post(f"{place}/columns/1", data={"hierarchy": ""})
        run = publish(client, place, require="FrequencyL(l=4)", title=HOSTILE[:150])
        verdict = finished(client, run)
        assert verdict_of(verdict)[0].startswith("holds")
        texts += [verdict, *(client.get(one).text for one in ("/", "/check"))]
        texts.append(client.post(f"{run}/folder", data={"folder": f"{tmp_path}/{HOSTILE}/x"}).text)
        checks = (f"{run}/check/audit", f"{place}/check/survey")
        found = [client.post(one).headers["location"] for one in checks]
        texts += [finished(client, one) for one in found]
        shown = (f"{run}/report.html", f"{run}/certificate.html", f"{found[1]}/page.html")
        texts += [client.get(one).text for one in shown]
        texts.append(client.post(f"{place}/schema", data={"schema": HOSTILE}).text)
    for text in texts:
        tags = Tags()
        tags.feed(text)
        assert tags.wrong == [], text[:200]
        assert "xss" not in tags.seen
        assert "`49" not in text
    assert sum("7*7" in text for text in texts) >= 8  # it was there to be shown


def packed(name="manifest.json", content=b"{}", **how):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", **how) as target:
        target.writestr(name, content)
    return made.getvalue()


def spoiled(content, at, value):
    return content[:at] + bytes([value]) + content[at + 1 :]


@pytest.mark.parametrize(
    "content",
    [
        packed()[:-5],
        packed()[:30] + packed()[-30:],
        spoiled(packed(content=b"{}" * 500, compression=zipfile.ZIP_DEFLATED), 45, 255),
        packed("manifest.json/"),
        # The bit that says it is under a password, in both of the places where it stands.
        spoiled(spoiled(packed(), 6, 1), packed().index(b"PK\x01\x02") + 8, 1),
        # Packed by means that nobody knows.
        spoiled(spoiled(packed(), 8, 99), packed().index(b"PK\x01\x02") + 10, 99),
    ],
)
def test_a_broken_zip_file_is_refused_in_words(page, content):
    with page.client() as client:
        answer = client.post("/check", files={"release": ("release.zip", content)})
        if answer.status_code == 303:  # it is no zip file, then, and is read as a table
            place = answer.headers["location"]
            answer = client.get(f"{place}/body")
        else:
            assert answer.status_code == 422
        assert 'data-testid="error"' in answer.text
        assert "unforeseen" not in answer.text


def test_a_zip_file_that_names_a_file_twice_is_refused(page):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name in ("manifest.json", "release.csv", "release.cs_"):
            target.writestr(name, "{}")
    twice = made.getvalue().replace(b"release.cs_", b"release.csv")
    with page.client() as client:
        answer = client.post("/check", files={"release": ("r.zip", twice)})
        assert answer.status_code == 422
        assert 'data-testid="error"' in answer.text


def test_numbers_beyond_all_counting_end_nothing(page):
    with page.client() as client:
        place = upload(client)
        client.post(f"{place}/require", data={"require": "FrequencyL(l=3)"})
        sent = [
            ("settings", {"seconds": LONG}),
            ("settings", {"most_rows": LONG}),
            ("settings", {"seconds": "as long as it likes"}),
            ("settings", {"suppress": LONG}),
            ("columns/0", {"round": LONG, "top": "1e999", "bottom": "-" + LONG, "weight": "nan"}),
            ("require", {"moved": f"{LONG}.l", "value": LONG}),
            ("require", {"moved": "0.l", "value": LONG}),
            ("require", {"moved": "0.l", "value": "nan"}),
            ("require", {"moved": "0.nothing", "value": "1"}),
            ("require", {"less": LONG}),
            ("require", {"place": LONG, "instead": "FrequencyL(l=3)"}),
            ("require", {"place": "7", "instead": "FrequencyL(l=3)"}),
            ("require", {"most": LONG}),
            ("require", {"start": f"FrequencyL.{LONG}"}),
            ("linked", {"given": LONG}),
            ("reading", {"encoding": "no such", "delimiter": "::"}),
            ("take", {"suppress": LONG, "drop": LONG}),
        ]
        for path, fields in sent:
            answer = client.post(f"{place}/{path}", data=fields)
            assert answer.status_code < 500, (path, fields)
            assert client.get(place).status_code < 500, (path, fields)
        place = upload(client)
        client.post(f"{place}/settings", data={"seconds": "never", "most_rows": "x"})
        said = finished(client, publish(client, place, require="FrequencyL(l=3)"))
        assert 'data-testid="error"' in said
        again = client.post(place.replace("tables", "runs") + "/again", data={"suppress": LONG})
        assert again.status_code == 404


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=a", b"--a\r\nnot a header\r\n\r\nx\r\n--a--"),
        ("multipart/form-data; boundary=a", b"--a\r\nContent-Disposition: form-data\r\n\r\nx--a--"),
        ("multipart/form-data; boundary=" + "a" * 3000, b"--a"),
        ("application/json", b"[1]"),
        ("application/x-www-form-urlencoded", b"&".join(b"a=%d" % i for i in range(30_000))),
        ("text/csv; charset=nowhere", b"a,b\n"),
    ],
)
def test_what_is_no_form_is_refused(page, kind, content):
    with page.client() as client:
        place = upload(client)
        for path in (
            "/tables",
            "/check",
            f"{place}/linked",
            f"{place}/require",
            f"{place}/publish",
        ):
            answer = client.post(path, content=content, headers={"content-type": kind})
            assert answer.status_code < 500, path
            guarded(answer)
        assert client.get(place).status_code == 200


@pytest.mark.long
def test_a_table_that_is_full_of_traps_is_read_or_refused(page):
    odd = {
        "nul.csv": b"a,b\n1,\0\n" * 50,
        "wide.csv": b",".join(b"c%d" % i for i in range(3000)) + b"\n" + b"1," * 2999 + b"1\n",
        "deep.jsonl": b'{"a": ' + b"[" * 3000 + b"]" * 3000 + b"}\n",
        "bom.csv": b"\xef\xbb\xbfage,income\n" + TABLE.encode(),
        "latin.csv": "name,stra\xdfe\nM\xfcller,1\n".encode("latin-1") * 3,
        "not.parquet": b"PAR1" + b"\0" * 100 + b"PAR1",
        "not.xlsx": packed("xl/workbook.xml", b"<a>"),
        "bomb.csv.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\0not gzip",
        "empty.csv": b"",
        "quote.csv": b'a,b\n"1,2\n' * 9,
    }
    with page.client() as client:
        for name, content in odd.items():
            answer = client.post("/tables", files={"table": (name, content)})
            assert answer.status_code == 303, name
            place = answer.headers["location"]
            body = client.get(f"{place}/body")
            assert body.status_code < 500, name
            assert "unforeseen" not in body.text, (name, body.text[:600])
            guarded(body)
            assert client.get(place).status_code == 200
