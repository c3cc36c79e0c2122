"""`shoal show` answers on stdout, and leaves nothing of a person anywhere else."""

import hashlib
import json

import polars as pl
import pytest

import shoal
from system.shell import run


@pytest.fixture
def release(tmp_path):
    frame = pl.DataFrame(
        {"age": [20 + n for n in range(24)], "pay": [1_000_003 + 7_919 * n for n in range(24)]}
    )
    frame.write_csv(tmp_path / "people.csv")
    schema = shoal.Schema(quasi="age", sensitive="pay")
    shoal.anonymize(frame, schema, require="EpsilonM(epsilon=8000, m=3)").write(tmp_path / "out")
    return tmp_path


def state(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_it_goes_to_stdout_alone(release):
    before = state(release)
    done = run("show", release / "out", "--original", release / "people.csv", "--row", "4")
    assert done.code == 0
    assert "1,031,679" in done.out
    assert "Today, in your table: 1 row fits." in done.out
    assert "1031679" not in done.err.replace(",", "")
    assert state(release) == before


def test_json_is_what_python_says(release):
    done = run(
        "show", release / "out", "--original", release / "people.csv", "--row", "4", "--json"
    )
    assert json.loads(done.out) == json.loads(
        json.dumps(
            shoal.measures.person(release / "out", 4, original=release / "people.csv").to_dict()
        )
    )


@pytest.mark.parametrize("spoiled", ["release.csv", "manifest.json"])
def test_nothing_is_shown_from_files_that_are_not_those_published(release, spoiled):
    text = (release / "out" / spoiled).read_text("utf-8")
    (release / "out" / spoiled).write_text(text.replace("24", "25").replace("1", "7"), "utf-8")
    done = run("show", release / "out", "--original", release / "people.csv", "--row", "4")
    assert done.code == 1
    assert "not what its manifest says" in done.err
    assert not done.out


@pytest.mark.parametrize(
    ("more", "said"), [((), "--original TABLE"), (("--row", "99"), "from 0 to 23")]
)
def test_what_is_refused(release, more, said):
    original = ("--original", release / "people.csv") if more else ()
    done = run("show", release / "out", *original, *more)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""
