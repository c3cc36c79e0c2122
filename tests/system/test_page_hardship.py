"""The page when the machine gives no more: processes, disk, memory, ports; and strange visitors."""

import asyncio
import errno
import gzip
import os
import re
import resource
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path

import httpx
import pytest

import pages
from shoal.errors import OutputError
from shoal.web import guard, listening, state, worker
from shoal.web.serving import make_app, server_of
from shoal.web.state import Job, Shelf
from shoal.web.worker import Refused, Worker
from system.page import TABLE, finished, publish, upload
from system.shell import shoal

HELD = Path("/proc/self/fd")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def page(home):
    with pages.opened(home=home) as open_page:
        yield open_page


def held():
    """Return which descriptors this process has."""
    return {str(one.readlink()) for one in HELD.iterdir() if one.exists()}


def asked(one):
    return one.call("change", text="KAnonymity(k=2)", sensitive=[], numbers={"k": "3"})


@pytest.mark.long
def test_a_worker_gives_back_every_descriptor_however_it_ends():
    resource_tracker.ensure_running()  # it has one of its own, once and for all
    before = held()
    ended, crashed = Worker(), Worker()
    for one in (ended, crashed):
        assert asked(one) == "KAnonymity(k=3)"
    ended.stop()
    assert crashed._process is not None
    process = crashed._process.pid
    assert process is not None
    os.kill(process, signal.SIGSTOP)  # else it may have answered before
    threading.Timer(0.2, os.kill, (process, signal.SIGKILL)).start()
    with pytest.raises(Refused, match="stopped unexpectedly"):
        crashed.call("warm_up", search=True)
    assert held() == before


@contextmanager
def no_process(monkeypatch):
    def refuse(*_arguments, **_known):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as spoiled:
        spoiled.setattr(worker.SPAWNED, "Process", refuse)
        yield


@contextmanager
def no_thread(monkeypatch):
    def refuse(_thread):
        msg = "can't start new thread"
        raise RuntimeError(msg)

    with monkeypatch.context() as spoiled:
        spoiled.setattr(threading.Thread, "start", refuse)
        yield


@contextmanager
def no_sense(monkeypatch):
    def refuse(*_arguments, **_known):
        msg = "Ada Lovelace"  # is in nothing that is told
        raise KeyError(msg)

    with monkeypatch.context() as spoiled:
        spoiled.setattr(Worker, "call", refuse)
        yield


@pytest.mark.parametrize(
    ("hardship", "said"),
    [
        (no_process, "could not start a process"),
        (no_thread, "could not start a process"),
        (no_sense, "unforeseen KeyError"),
    ],
)
def test_a_run_that_cannot_be_done_has_failed_and_gives_up_its_place(
    tmp_path, monkeypatch, hardship, said
):
    shelf, before = Shelf(tmp_path, most_runs=1), held()
    for _ in range(2):  # the second has the place of the first
        job = Job("people.csv", "publish", "", shelf.folder("runs"))
        with hardship(monkeypatch):
            shelf.start(job, "change")
            assert job.ended.wait(pages.PATIENCE)
        assert job.state == "failed"
        assert job.problem is not None
        assert said in job.problem.sentence
        assert "Lovelace" not in job.problem.sentence
        assert not job.folder.exists()
    assert held() == before


OTHERS = ('a={"b": "c, d"}', "x[0]=1", "=", "", "no-value", 'q="open', "é=1", "token=t")


def test_cookies_of_other_programs_on_this_machine_lock_nobody_out(page):
    with page.client() as client:
        ((name, secret),) = client.cookies.items()
    for other in OTHERS:
        for said in (f"{other}; {name}={secret}", f"{name}={secret};{other}"):
            assert page.ask(page.base, headers={"cookie": said.encode()}).status_code == 200, said
    for said in (f"{name}=;{secret}", f"x{name}={secret}", f"{name}={secret}x", f"{name}"):
        assert page.ask(page.base, headers={"cookie": said}).status_code == 403, said


@contextmanager
def full(page):
    """Leave no room for a single byte in files, for the page and those who work for it."""
    of_all = [page.process.pid, *page.workers()]
    before = resource.prlimit(page.process.pid, resource.RLIMIT_FSIZE)
    for one in of_all:
        resource.prlimit(one, resource.RLIMIT_FSIZE, (0, before[1]))
    yield
    for one in of_all:
        resource.prlimit(one, resource.RLIMIT_FSIZE, before)


@pytest.mark.long
def test_a_full_disk_is_told_at_every_step_and_ends_nothing(page, home):
    with page.client() as client:
        place = upload(client)
        run = publish(client, place, require="KAnonymity(k=3)")
        finished(client, run)
        (made,) = home.glob("shoal-page-*")
        before = sorted(path for path in made.rglob("*") if path.is_file())
        with full(page):
            answers = [
                client.post("/tables", files={"table": ("people.csv", TABLE)}),
                client.post("/tables", files={"table": ("people.csv", TABLE * 200)}),
                client.post("/tables/demo"),
                client.post(f"{place}/columns/0/hierarchy", files={"file": ("h.csv", "a,b\n")}),
                client.get(f"{run}/release.zip"),
                client.get(f"{run}/certificate.html"),
                client.post(f"{run}/folder", data={"folder": str(home / "saved")}),
            ]
            tree, htmx = {"file": ("h.csv", "a,b\n")}, {"hx-request": "true"}
            part = client.post(f"{place}/columns/0/hierarchy", files=tree, headers=htmx)
            failed = finished(client, publish(client, place, require="KAnonymity(k=3)"))
            decided = [  # which is written nowhere
                client.post(f"{place}/columns/0", data={"role-0": "other"}),
                client.post(f"{place}/settings", data={"title": "wards"}),
            ]
        for answer in answers:
            where = f"{answer.request.method} {answer.request.url}"
            assert answer.status_code in {200, 422, 507}, where
            assert re.search(r"disk is full|Cannot write|too large", answer.text), where
            assert 'data-testid="error"' in answer.text, where
        assert all(answer.status_code in {200, 303} for answer in decided)
        assert re.search(r"disk is full|Cannot write|too large", failed)
        assert part.headers["hx-retarget"] == "#told"  # and what it would replace stays
        left = sorted(path for path in made.rglob("*") if path.is_file() and path.stat().st_size)
        assert set(left) <= set(before)
        assert client.get(f"{run}/release.zip").status_code == 200
        assert client.get(f"{run}/certificate.html").status_code == 200
        client.post(f"{place}/columns/0", data={"role-0": "quasi"})
        assert "Holds" in finished(client, publish(client, place, require="KAnonymity(k=3)"))


@pytest.mark.long
def test_a_full_disk_is_told_where_work_goes_on_after_a_release(page, home):
    """By a dossier, a coarser release, a round of a series, a linked table and a project."""
    rows = "".join(f"p{row},{20 + row % 40},{row}\n" for row in range(300))
    with page.client() as client:
        place = upload(client, f"who,age,income\n{rows}")
        for column, role in enumerate(("person", "quasi", "sensitive")):
            client.post(f"{place}/columns/{column}", data={f"role-{column}": role})
        run = publish(client, place, require="KAnonymity(k=3)")
        assert "Holds" in finished(client, run)
        rounds = {"ledger": str(home / "ledger"), "folder": str(home / "round")}
        linked = {"linked": ("visits.csv", "who,cost\n" + "p1,2\n" * 50)}
        with full(page):
            client.post(f"{run}/dossier", data={"norm": "ema"})
            answers = [
                client.post(f"{run}/dossier/ema", data={"institution": "Klinik"}),
                client.post(f"{place}/linked", files=linked, data={"name": "visits"}),
                client.post("/project"),
            ]
            works = [
                finished(client, client.post(where, data=data).headers["location"])
                for where, data in ((f"{run}/coarsen", {"most": "5"}), (f"{place}/round", rounds))
            ]
        for answer in answers:
            assert answer.status_code == 507, answer.request.url
            assert re.search(r"disk is full|Cannot write|too large", answer.text)
            assert 'data-testid="error"' in answer.text
        for failed in works:
            assert re.search(r"disk is full|Cannot write|too large", failed)
        assert client.post("/project").status_code == 303


@pytest.mark.parametrize("port", [6000, 10080, 22])
def test_a_port_that_browsers_do_not_open_is_refused_in_words(port):
    answer = shoal("serve", "--no-browser", "--port", str(port))
    assert answer.code == 4
    assert f"port {port}" in answer.err
    assert "--port 8000" in answer.err


def test_a_port_that_is_not_given_is_refused_in_words(monkeypatch):
    def refuse(_socket, _address):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(socket.socket, "bind", refuse, raising=False)
    with (
        pytest.raises(OutputError, match=r"Port 80 .*Permission denied.*8000"),
        listening.listening(80),
    ):
        pass


def test_on_port_80_browsers_leave_the_port_out(tmp_path):
    async def came(port, host):
        known = httpx.ASGITransport(app=make_app(tmp_path, port=port, token="t"))
        said = {"host": host, "origin": f"http://{host}"}
        async with httpx.AsyncClient(transport=known, base_url="http://127.0.0.1") as client:
            return (await client.get("/?token=t", headers=said)).status_code

    assert asyncio.run(came(80, "127.0.0.1")) == 303
    assert asyncio.run(came(80, "localhost")) == 303
    assert asyncio.run(came(8000, "127.0.0.1")) == 421


@contextmanager
def served(home):
    """Serve a page in this process; give its port, its secret and the server."""
    with listening.listening(0) as listener:
        port = listener.getsockname()[1]
        server = server_of(make_app(home, port=port, token="t"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        until = time.monotonic() + pages.PATIENCE
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield port, server
        finally:
            server.should_exit = True
            thread.join()


def test_what_is_begun_and_not_gone_on_with_is_dropped_within_seconds(tmp_path, monkeypatch):
    assert guard.WAIT <= 10
    for module in (guard, listening):
        monkeypatch.setattr(module, "WAIT", 0.5)
    with served(tmp_path) as (port, server):
        at = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=at, headers={"origin": at}, trust_env=False) as client:
            client.get("/?token=t")
            ((name, secret),) = client.cookies.items()
            known = f"Host: 127.0.0.1:{port}\r\nOrigin: {at}\r\nCookie: {name}={secret}\r\n"
            body = "Content-Length: 900000\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
            begun = {
                "nothing": "",
                "headers": f"GET / HTTP/1.1\r\n{known}",
                "body": f"POST /tables HTTP/1.1\r\n{known}{body}--x\r\n",
                "next": f"GET /check HTTP/1.1\r\n{known}\r\nGET / HTTP/1.1\r\n",
            }
            links = {kind: socket.create_connection(("127.0.0.1", port)) for kind in begun}
            for kind, text in begun.items():
                links[kind].sendall(text.encode())
                links[kind].settimeout(pages.PATIENCE)
            heard = dict.fromkeys(begun, b"")
            for kind, link in links.items():
                while part := link.recv(65536):  # until the page has closed it
                    heard[kind] += part
                link.close()
            assert heard["nothing"] == heard["headers"] == b""
            assert b" 408 " in heard["body"].partition(b"\r\n")[0]
            assert heard["next"].count(b"HTTP/1.1 200") == 1
            assert len(server.server_state.connections) <= 1  # of the client that goes on
            assert client.get("/").status_code == 200
            # Who drips goes too: in all it must come by some speed.
            monkeypatch.setattr(guard, "SLOWEST", 10**9)
            with socket.create_connection(("127.0.0.1", port)) as link:
                link.sendall(begun["body"].encode())
                until = time.monotonic() + pages.PATIENCE
                with suppress(OSError):  # it is closed, or reset
                    while time.monotonic() < until:
                        link.sendall(b"x")
                        time.sleep(0.1)
                assert time.monotonic() < until


def bomb_gz(path):
    with gzip.open(path, "wb", compresslevel=1) as packed:
        for _ in range(300):
            packed.write(b"11,22222\n" * 110_000)  # a megabyte


def bomb_parquet(path):
    import polars as pl

    zeros = pl.zeros(60_000_000, dtype=pl.Int64, eager=True)
    pl.DataFrame({"age": zeros, "pay": zeros}).write_parquet(path)


@pytest.mark.few(1)
@pytest.mark.parametrize(("ending", "bomb"), [("csv.gz", bomb_gz), ("parquet", bomb_parquet)])
def test_what_a_packed_table_unpacks_to_is_bounded(tmp_path, monkeypatch, ending, bomb):
    path = tmp_path / f"small.{ending}"
    bomb(path)
    assert path.stat().st_size < 5_000_000
    monkeypatch.setattr(state, "ROOM", 300 * 2**20)
    monkeypatch.setattr(state, "TIMES", 1)
    most, seen = state.room_for(path), []

    def peak(process):
        seen.append(known(process))
        return seen[-1]

    known = worker._held
    monkeypatch.setattr(worker, "_held", peak)
    one = Worker()
    with pytest.raises(Refused, match="unpacks to far more than its size"):
        one.call("look", path=str(path), said={}, memory=most)
    one.stop()
    assert max(seen) < 2 * most + 2**29  # what is taken between two looks
    assert seen[0] + most < max(seen)
