"""Chance in tests follows from their names, in whatever order they run."""

import os
import secrets
import subprocess
import sys

import chance


def test_what_is_drawn_follows_from_the_name_and_goes_on():
    stream = chance.Stream()
    stream.begin("a")
    first, second = stream(8), stream(8)
    assert first != second
    with stream.apart("b"):
        apart = stream(8)
    third = stream(8)
    stream.begin("a")
    assert [stream(8), stream(8), stream(8)] == [first, second, third]
    assert apart not in {first, second, third}


def test_all_that_shoal_draws_from_is_the_stream(request):
    if os.urandom is chance.REAL:
        assert request.config.getoption("hypothesis_profile") == "explore"
        return
    chance.STREAM.begin("same")
    drawn = os.urandom(16), secrets.token_bytes(16), secrets.randbits(62)
    chance.STREAM.begin("same")
    assert drawn == (os.urandom(16), secrets.token_bytes(16), secrets.randbits(62))


def test_other_processes_draw_as_everybody_does():
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, bytes([os.urandom is chance.REAL]))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1) == b"\x01"
    os.close(read)
    os.close(write)
    told = [sys.executable, "-c", "import os; print(os.urandom(16).hex())"]
    assert len({subprocess.check_output(told) for _ in range(2)}) == 2
