"""Show again in the documentation what its code prints now: `make outputs`.

Only blocks whose output has changed are rewritten; look at the difference before committing it.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
os.environ["COLUMNS"] = "80"
CLOCK = re.compile(r"^Seconds: .*", re.MULTILINE)


def shorten(before: str, printed: str) -> str:
    """Return what came out, with `…` where the page has it: what differs from run to run."""
    from documentation.session import matches

    kept = [line for line in before.splitlines() if "…" in line]
    if "…" in kept:
        msg = f"Whole lines are left out here, so renew this by hand:\n{before}"
        raise SystemExit(msg)
    lines = []
    for line in map(str.rstrip, printed.strip().splitlines()):
        same = [old for old in kept if matches(old, line)]
        named = [old for old in kept if old.endswith(" …") and old.split()[:1] == line.split()[:1]]
        lines.append(same[0] if same else re.sub(r"\S+$", "…", line) if named else line)
    return CLOCK.sub("Seconds: …", "\n".join(lines))


def refresh(page: Path) -> None:
    """Run a page and write what comes out where the page shows something else."""
    from documentation.pages import Block, tried
    from documentation.session import Session

    text = page.read_text("utf-8")

    class Showing(Session):
        def compare(self, block: Block, printed: str, code: int) -> None:
            nonlocal text
            try:
                super().compare(block, printed, code)
            except AssertionError:
                if block.output is None or f"(exit code {code})" * bool(code) not in block.output:
                    raise  # what a page says must not succeed or fail by a rewrite
                shown = shorten(block.output, printed)
                shown += f"\n(exit code {code})" if code else ""
                text = text.replace(
                    f"{block.text}```\n\n```text\n{block.output}",
                    f"{block.text}```\n\n```text\n{shown}\n",
                )

    session = Showing()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for block in tried(page):
            session.run(block)
        os.chdir(ROOT)
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    from documentation.pages import PAGES

    for one in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        refresh(one)
