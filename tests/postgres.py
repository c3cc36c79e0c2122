"""A PostgreSQL server of the tests' own, in a temporary directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "p@ss/w0rd-of-xyzzy"
REQUIRED = "SHOAL_REQUIRE_POSTGRESQL"


def binaries() -> Path | None:
    """Return where the programs of the newest server are, None where there is none."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[4])
    return places[-1].parent if places else None


@contextmanager
def running() -> Iterator[str]:
    """Run a server that only a socket in its own directory reaches, and give its address."""
    programs = binaries()
    if programs is None:
        msg = "PostgreSQL's initdb and postgres are needed; on Debian: apt-get install postgresql"
        raise RuntimeError(msg)
    place = Path(tempfile.mkdtemp(prefix="pg"))
    as_nobody: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
    if as_nobody:  # the server refuses to be run by root
        shutil.chown(place, **as_nobody)
    secret = place / "password"
    secret.write_text(PASSWORD, "utf-8")
    secret.chmod(0o644)
    data = place / "data"

    def program(name: str, *options: object) -> None:
        subprocess.run(
            [programs / name, *map(str, options)],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=place,
            **as_nobody,
        )

    try:
        program("initdb", "-D", data, "-U", "shoal", "-A", "scram-sha-256", "-E", "UTF8",
                "--locale=C", "--no-sync", f"--pwfile={secret}")  # fmt: skip
        settings = f"-c listen_addresses='' -c unix_socket_directories='{place}' -c fsync=off"
        program("pg_ctl", "-D", data, "-w", "-l", place / "log", "-o", settings, "start")
        try:
            yield f"postgresql://shoal:{quote(PASSWORD, safe='')}@/postgres?host={place}"
        finally:
            program("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(place)
