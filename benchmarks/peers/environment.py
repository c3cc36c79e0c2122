"""The environment of the peers: made beside the project's own and never mixed with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PEERS = ("anonypy", "anjana", "pycanon", "pandas", "numpy")


def peer_python(folder: Path) -> Path:
    """Return the interpreter of an environment, which is made where it is not there yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"Making the environment {folder} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
        subprocess.run(install, check=True)
    return python


def versions(python: Path) -> dict[str, str]:
    """Return which versions of the peers an interpreter has."""
    asked = (
        "import json, sys; from importlib.metadata import version; "
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    )
    run = subprocess.run([python, "-c", asked, *PEERS], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)
