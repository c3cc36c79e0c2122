"""A page that is open: started as people start it, and ended with everything it holds."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass
class Open:
    """A page: its process, the address with the token, and the one without."""

    process: subprocess.Popen
    address: str
    seconds: float

    @property
    def host(self) -> str:
        return re.search(r"127\.0\.0\.1:[0-9]+", self.address)[0]

    @property
    def base(self) -> str:
        return f"http://{self.host}"

    @contextmanager
    def client(self):
        """Give a client that came by the address with the token, as a browser would."""
        known = {"base_url": self.base, "headers": {"origin": self.base}, "timeout": 60}
        with httpx.Client(**known, trust_env=False) as client:
            assert client.get(self.address).status_code == 303
            yield client


@contextmanager
def opened(*arguments: str, home: Path):
    """Start `shoal serve` with a directory for temporary files; end it afterwards."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal.cli.main", "serve", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(home), "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, process.stderr.read()
        yield Open(process, found[0], time.perf_counter() - began)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
