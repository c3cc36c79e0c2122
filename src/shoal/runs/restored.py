"""Whether a ledger is the newest of its series: what stands beside it may know of later releases.

The private log has a line for each release, and each manifest of a series names the one before it.
A ledger that was restored from an older copy would group people anew who are published already.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.audit.tables import SIZE, digest_of, is_ordinary
from shoal.errors import InputError, UsageError, option
from shoal.notation import read_json
from shoal.release.manifest import MANIFEST
from shoal.release.places import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shoal.release.ledger import Ledger

RELEASED = "released"
WHAT_TO_DO = (
    "Shoal published nothing. Restore the newest copy of the ledger. If it is lost, the series "
    f"ends. Begin a new series, with another {option('ledger')}, for people who were never "
    "published."
)


def log_of(path: Path) -> Path:
    """Return the private log beside a ledger."""
    return path.with_name(path.name + ".log")


def add_to_log(path: Path, turn: int, lines: Iterable[tuple[str, str]]) -> None:
    """Add a release to the private log, and who is to be told of, and why."""
    descriptor = os.open(log_of(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        written = csv.writer(file, lineterminator="\n")
        written.writerows((turn, who, why) for who, why in (("", RELEASED), *lines))


def check_begin(path: Path) -> None:
    """Raise where a series would begin in the place of one whose ledger is not there."""
    if turn := _last_noted(path):
        msg = (
            f"The ledger {path.name!r} is missing, but its log {log_of(path).name!r} lists "
            f"release {turn:,} of its series. {WHAT_TO_DO}"
        )
        raise UsageError(msg)


def check_newest(path: Path, ledger: Ledger, output: Path) -> None:
    """Raise where a ledger does not know of a release of its series."""
    known = len(ledger.rounds)
    if (turn := _last_noted(path)) > known:
        msg = (
            f"The ledger {path.name!r} is older than its series: it lists {known:,} releases, "
            f"and its log {log_of(path).name!r} lists {turn:,}. {WHAT_TO_DO}"
        )
        raise UsageError(msg)
    digests = {one.manifest for one in ledger.rounds}
    for found in _beside(ledger, output):
        try:
            previous = read_json(found.read_bytes()).get("previous")
            later = previous in digests and digest_of(found) not in digests
        except (OSError, InputError, AttributeError, TypeError):
            continue  # no manifest, so no release of any series
        if later:
            msg = (
                f"The ledger {path.name!r} is older than its series: the release "
                f"{found.parent.name!r} follows one that is in the ledger, but is not in the "
                f"ledger itself. {WHAT_TO_DO}"
            )
            raise UsageError(msg)


def _last_noted(path: Path) -> int:
    """Return the last release that a log knows of, 0 where there is none."""
    try:
        with log_of(path).open(encoding="utf-8", newline="") as file:
            return max((int(line[0]) for line in csv.reader(file) if line), default=0)
    except (OSError, ValueError, csv.Error):
        return 0  # not there, or not Shoal's


def _beside(ledger: Ledger, output: Path) -> Iterator[Path]:
    """Yield manifests beside the releases of a ledger and beside the one that is to come.

    Hidden directories are unfinished releases.
    """
    for place in {output.parent, *(Path(one.place).parent for one in ledger.rounds)}:
        for found in sorted(place.glob(f"[!.]*/{MANIFEST}")):
            if is_ordinary(found) and found.stat().st_size <= SIZE:
                yield found
