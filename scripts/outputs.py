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


def refresh(page: Path) -> None:
    """Run a page and write what comes out where the page shows something else."""
    from documentation.pages import Block, blocks
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
                lines = [line.rstrip() for line in printed.strip().splitlines()]
                ended = [f"(exit code {code})"] if code else []
                shown = CLOCK.sub("Seconds: …", "\n".join([*lines, *ended]))
                text = text.replace(
                    f"{block.text}```\n\n```text\n{block.output}",
                    f"{block.text}```\n\n```text\n{shown}\n",
                )

    session = Showing()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        for block in blocks(page):
            session.run(block)
        os.chdir(ROOT)
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    from documentation.pages import DOCUMENTS

    for one in [Path(name).resolve() for name in sys.argv[1:]] or DOCUMENTS:
        refresh(one)
