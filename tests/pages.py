"""A page that is open: started as people start it, and ended with everything it holds."""

import os
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # made once: no page here is encrypted
PATIENCE = 180  # seconds that anything may take on a machine that has much else to do


@dataclass
class Open:
    """A page: its process, the address with the token, and the one without."""

    process: subprocess.Popen
    address: str
    seconds: float

    @property
    def host(self) -> str:
        return self.address.split("/")[2]

    @property
    def base(self) -> str:
        return f"http://{self.host}"

    def workers(self) -> list[int]:
        """Return the ids of the processes that the page has started; any thread may have."""
        listed = []
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
                listed += [int(one) for one in path.read_text().split()]
        return listed

    def ask(self, address: str, method: str = "GET", **how: Any) -> httpx.Response:
        """Ask as somebody who has not come by the address with the token."""
        return httpx.request(
            method, address, timeout=PATIENCE, trust_env=False, verify=PLAIN, **how
        )

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """Give a client that came by the address with the token, as a browser would."""
        known: dict[str, Any] = {
            "base_url": self.base,
            "headers": {"origin": self.base},
            "trust_env": False,
            "verify": PLAIN,
        }
        with httpx.Client(**known, timeout=PATIENCE) as client:
            assert client.get(self.address).status_code == 303
            yield client


@contextmanager
def opened(*arguments: str, home: Path) -> Iterator[Open]:
    """Start `shoal serve` with a directory for temporary files; end it afterwards."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.main", "serve", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"TMPDIR": str(home), "XDG_DATA_HOME": str(home / "data"), "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, process.stderr.read()
        yield Open(process, found[0], time.perf_counter() - began)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
