"""A published table that lacks a column, or cells: every reader of it says so in a sentence."""

import csv
import hashlib
import json
from pathlib import Path

import pytest

from system.shell import shoal

FORMS = ["intervals", "bounds", "means", "two-tables"]
SPOILT = ["renamed", "one cell empty", "all cells empty"]


@pytest.fixture(scope="module", params=FORMS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("spoilt")
    rows = [
        (f"p{n // 2}", 20 + n // 2, f"19{50 + n // 2}-01-01", 100 * n, 1 + n // 4)
        for n in range(16)
    ]
    _write(place / "table.csv", ["pid", "age", "born", "pay", "weight"], rows)
    options: tuple[str, ...] = ("--person", "pid", "--quasi", "age,born", "--form", request.param)
    if request.param != "two-tables":
        _write(place / "linked.csv", ["pid", "ill"], [(f"p{n // 2}", n % 5) for n in range(16)])
        options = (*options, "--linked", f"visits={place / 'linked.csv'}")
        options = (*options, "--other", "visits.ill", "--survey-weight", "weight")
    asked = ("--sensitive", "pay", "--require", "EpsilonM(epsilon=5, m=2)")
    out = place / "out"
    assert shoal("anonymize", place / "table.csv", *options, *asked, "--output", out).code == 0
    return out


def _write(path: Path, header: list[str], rows: list) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.mark.few(3)
@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_column_is_told_in_a_sentence(made: Path, how: str) -> None:
    told = json.loads((made / "manifest.json").read_text())
    for name in told["digests"]:
        if not name.endswith(".csv") or name in {"codebook.csv", "visits.csv"}:
            continue
        before = (made / name).read_bytes()
        with (made / name).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        for place, column in enumerate(header):
            names, lines = list(header), [list(row) for row in rows]
            if how == "renamed":
                names[place] = "zzz"
            for line in lines[: {"one cell empty": 1, "all cells empty": len(lines)}.get(how, 0)]:
                line[place] = ""
            _write(made / name, names, lines)
            digest = hashlib.sha256((made / name).read_bytes()).hexdigest()
            changed = told | {"digests": told["digests"] | {name: f"sha256:{digest}"}}
            (made / "manifest.json").write_text(json.dumps(changed))
            found = shoal("audit", made)
            assert found.code in {1, 2}, (name, column)
            counted = shoal("count", made, "age > 22")
            assert counted.code in {0, 1}, (name, column)
            assert "unforeseen" not in found.err + counted.err, (name, column)
        (made / name).write_bytes(before)
    (made / "manifest.json").write_text(json.dumps(told))
    assert shoal("audit", made).code == 0
