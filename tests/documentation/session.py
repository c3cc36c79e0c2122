"""Running the blocks of a page one after the other, as a reader would who follows it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rscript
from system.shell import shoal

if TYPE_CHECKING:
    from documentation.pages import Block

ENDED = re.compile(r"^\(exit code (\d+)\)\n?\Z", re.MULTILINE)
COMPILING = re.compile(r"^Compiling for this machine.*\n", re.MULTILINE)  # seen once, if at all


class Session:
    """One directory and one Python namespace for all the blocks of a page."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "page"}

    def run(self, block: Block) -> None:
        """Write the file that a block stands for, or run it and compare what it prints."""
        if block.title is not None:
            Path(block.title).write_text(block.text, "utf-8")
            return
        ways = {"python": self._python, "sh": self._commands, "sql": self._queries, "r": self._r}
        self.compare(block, *ways[block.language](block))

    def _queries(self, block: Block) -> tuple[str, int]:
        import duckdb

        base = self.names.setdefault("__duckdb__", duckdb.connect())
        rows = base.execute(block.text).fetchall()
        return "".join(f"{', '.join(map(str, row))}\n" for row in rows), 0

    def _r(self, block: Block) -> tuple[str, int]:
        program = rscript.pooling()
        if program is None:  # what came out is then what the page shows
            assert not os.environ.get(rscript.REQUIRED_POOLING), "R, mice and mitools are needed."
            return block.output or "", 0
        ran = subprocess.run(
            [program, "-e", block.text], capture_output=True, text=True, check=False
        )
        return ran.stdout + ran.stderr * bool(ran.returncode), ran.returncode

    def _python(self, block: Block) -> tuple[str, int]:
        out = io.StringIO()
        code = compile("\n" * block.line + block.text, "page", "exec")
        with contextlib.redirect_stdout(out):
            exec(code, self.names)
        return out.getvalue(), 0

    def _commands(self, block: Block) -> tuple[str, int]:
        printed, code = "", 0
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            assert code == 0, f"{line!r} follows a command that ended with {code}: {printed}"
            if words[0] == "shoal":
                outcome = shoal(*words[1:])
                remarks = COMPILING.sub("", outcome.err)
                printed, code = printed + outcome.out + remarks, outcome.code
            else:
                ran = subprocess.run(
                    ["bash", "-c", line], capture_output=True, text=True, check=False
                )
                printed, code = printed + ran.stdout + ran.stderr, ran.returncode
        return printed, code

    def compare(self, block: Block, printed: str, code: int) -> None:
        """Raise where a block ends otherwise, or prints something else, than its page shows."""
        said = block.output
        ended = ENDED.search(said) if said is not None else None
        assert code == (int(ended[1]) if ended else 0), (
            f"line {block.line} ended with {code}:\n{printed}"
        )
        if said is None:
            return
        said = ENDED.sub("", said)
        assert matches(said, printed), (
            f"line {block.line}\n--- the page shows\n{said}\n--- what comes out\n{printed}"
        )


def matches(said: str, printed: str) -> bool:
    """Return whether a text came out; `…` stands for anything within a line, or for whole lines."""
    wanted = [line.rstrip() for line in said.strip().splitlines()]
    parts = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + r"\s*?\n"
        for line in wanted
    ]
    return re.fullmatch("".join(parts), printed.strip() + "\n") is not None
