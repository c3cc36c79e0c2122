"""The certificate: two pages to sign, measured from the files, and never inside the release."""

import json
import re
from pathlib import Path

import pytest

from system.shell import anonymize, names_in, people, shoal, write_csv


@pytest.fixture
def released(tmp_path: Path) -> Path:
    table = write_csv(tmp_path / "table.csv", people(80))
    options = ("--title", "Salaries of the <b>valley</b>")
    assert (
        anonymize(table, tmp_path / "out", *options, require="EpsilonM(epsilon=900, m=3)").code == 0
    )
    return tmp_path / "out"  # fmt: skip


def test_it_says_what_holds_with_digests_and_a_place_to_sign(released: Path) -> None:
    before = {name: (released / name).read_bytes() for name in names_in(released)}
    file = released.parent / "certificate.html"
    outcome = shoal("certificate", released, file, "--json")
    assert outcome.code == 0, outcome
    assert outcome.json()["holds"]
    page = file.read_text("utf-8")
    manifest = json.loads((released / "manifest.json").read_text("utf-8"))
    for words in (
        ">Holds, with open questions<",
        manifest["id"],
        *manifest["digests"].values(),
        "signature",
    ):
        assert words in page or words == manifest["digests"]["report.html"]
    assert "Do not sign yet." in page
    assert "The open questions on the first page are not answered." in page
    assert "&lt;b&gt;valley" in page
    assert "with a chance of at most 1 in 3 (any other guess" in page
    assert str(released.parent) not in page
    assert {name: (released / name).read_bytes() for name in names_in(released)} == before


@pytest.mark.parametrize("title", ["Salaries of 2025", None])
def test_it_has_a_line_for_the_name_of_the_table(title: str | None, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "table.csv", people(80))
    options = () if title is None else ("--title", title)
    out, file = tmp_path / "out", tmp_path / "certificate.html"
    assert anonymize(table, out, *options, require="EpsilonM(epsilon=900, m=3)").code == 0
    assert shoal("certificate", out, file).code == 0
    (line,) = re.findall(r"<dt>Name of the table</dt><dd>(.*?)</dd>", file.read_text("utf-8"))
    assert line == title or ("to be filled in" in line and title is None)


def test_a_changed_file_is_certified_as_broken(released: Path) -> None:
    report = released / "report.html"
    report.write_text(report.read_text("utf-8") + " ", "utf-8")
    file = released.parent / "certificate.html"
    assert shoal("certificate", released, file).code == 1
    page = file.read_text("utf-8")
    assert ">Does not hold<" in page
    assert "Not as promised" in page
    assert "Do not sign yet." in page
    assert "print it and sign it" not in page


def test_what_holds_without_open_questions_is_to_be_signed(tmp_path: Path) -> None:
    rows = [{"age": str(n % 4), "pay": str(10 * n)} for n in range(80)]
    table = write_csv(tmp_path / "t.csv", rows)
    roles = ("--quasi", "age", "--sensitive", "pay", "--require", "EpsilonM(epsilon=5, m=12)")
    assert shoal("anonymize", table, *roles, "--output", tmp_path / "out").code == 0
    file = tmp_path / "certificate.html"
    assert shoal("certificate", tmp_path / "out", file).code == 0
    page = file.read_text("utf-8")
    assert ">Holds<" in page
    assert "print it and sign it" in page
    assert "Do not sign" not in page


@pytest.mark.parametrize(
    ("name", "code"),
    [("out/certificate.html", 2), ("table.csv", 4), ("no/where.html", 4), ("c.pdf", 2)],
)
def test_it_replaces_nothing_and_stays_outside(released: Path, name: str, code: int) -> None:
    place = released.parent
    before = (names_in(place), names_in(released), (place / "table.csv").read_bytes())
    outcome = shoal("certificate", released, place / name)
    assert outcome.code == code, outcome
    assert before == (names_in(place), names_in(released), (place / "table.csv").read_bytes())


def test_only_a_release_is_certified(released: Path) -> None:
    place = released.parent
    assert shoal("certificate", place / "table.csv", place / "c.html").code == 2
    assert shoal("certificate", place, place.parent / "c.html").code == 2


def test_report_and_certificate_say_first_that_row_counts_must_be_unknown(tmp_path: Path) -> None:
    rows = [{"p": n // 2 if n < 60 else n, "age": n // 2 % 30, "s": n * 7 % 90} for n in range(120)]
    table = write_csv(tmp_path / "t.csv", [{k: str(v) for k, v in one.items()} for one in rows])
    options = ("--quasi", "age", "--sensitive", "s", "--person", "p", "--rows", "unknown")
    asked = ("--require", "KAnonymity(k=4)", "--output", tmp_path / "out")
    assert shoal("anonymize", table, *options, *asked).code == 0
    assert shoal("certificate", tmp_path / "out", tmp_path / "c.html").code == 0
    for page in (tmp_path / "out" / "report.html", tmp_path / "c.html"):
        text = page.read_text("utf-8")
        said = "only against readers who do not know how many rows a person has"
        assert text.index("Important.") < text.index(said) < text.index("<table")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "requirements",
    [
        ["KAnonymity(k=11)"],
        ["KAnonymity(k=11)", "DistinctL(l=2)"],
        ["EpsilonM(epsilon=900, m=3)"],
        ["KAnonymity(k=13)"],
    ],
)
def test_the_first_table_says_nothing_twice(tmp_path: Path, requirements: list[str]) -> None:
    table = write_csv(tmp_path / "table.csv", people(120))
    more = [part for one in requirements[1:] for part in ("--require", one)]
    done = anonymize(table, tmp_path / "out", *more, require=requirements[0])
    assert done.code == 0, done
    assert shoal("certificate", tmp_path / "out", tmp_path / "c.html").code == 0
    for page in (tmp_path / "out" / "report.html", tmp_path / "c.html"):
        text = page.read_text("utf-8")
        first = text[text.index("At worst, a reader’s chance of") :]
        rows = re.findall(r'<tr><th scope="row">(.*?)</tr>', first[: first.index("</table>")])
        numbers = [
            re.sub(r"<small.*?</small>|<[^>]+>", "", row.partition("</th>")[0]) for row in rows
        ]
        assert len(numbers) == len(set(numbers)) > 0


def test_a_lawyer_meets_no_word_of_the_trade(released: Path) -> None:
    file = released.parent / "certificate.html"
    assert shoal("certificate", released, file).code == 0
    report = (released / "report.html").read_text("utf-8")
    for page in (file.read_text("utf-8"), report[: report.index('id="checked"')]):
        read = re.sub(
            r"(?s)<style.*?</style>|<svg.*?</svg>|<code.*?</code>|<pre.*?</pre>", "", page
        )
        said = re.sub(r"<[^>]+>", " ", read).lower()
        for word in (
            "microdata",
            "equivalence class",
            "recoding",
            "principle",
        ):
            assert word not in said, said[said.index(word) - 60 :][:120]
        assert not re.search("quasi(?!-identifier)", said)


def test_two_tables_are_not_said_to_be_coarser(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "table.csv", people(120))
    out, sheet = tmp_path / "out", tmp_path / "c.html"
    options = ("--form", "two-tables", "--keep-other")
    done = anonymize(table, out, *options, require="EpsilonM(epsilon=900, m=3)")
    assert done.code == 0, done
    assert shoal("certificate", out, sheet).code == 0
    for page in (sheet, out / "report.html"):
        text = page.read_text("utf-8")
        assert "readers can tell who is in the table" in text
        assert "quasi values" not in text
        assert "made coarser" not in text
    assert "Every column is exact." in text
    other = tmp_path / "other"
    assert anonymize(table, other, require="EpsilonM(epsilon=900, m=3)").code == 0
    assert "made coarser" in (other / "report.html").read_text("utf-8")


def read_as_text(page: Path) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text("utf-8")).split())


def test_every_promise_and_every_column_is_on_the_certificate(tmp_path: Path) -> None:
    rows = [
        {"p": n // 2, "age": n % 40, "s": n * 7 % 90, "t": n * 11 % 80, "u": n * 13 % 70}
        for n in range(120)
    ]
    table = write_csv(tmp_path / "t.csv", [{k: str(v) for k, v in one.items()} for one in rows])
    options = ("--quasi", "age", "--sensitive", "s,t,u", "--person", "p")
    asked = ["KAnonymity(k=2)", *(f"{one}: EpsilonM(epsilon=1, m=2)" for one in "stu")]
    more = [part for one in asked for part in ("--require", one)]
    done = shoal("anonymize", table, *options, *more, "--output", tmp_path / "out")
    assert done.code == 0, done
    assert shoal("certificate", tmp_path / "out", tmp_path / "c.html").code == 0
    text = read_as_text(tmp_path / "c.html")
    for column in "stu":
        assert f"one of the values of {column} listed for a person" in text
    assert len(re.findall("at most 1 in 2", text[: text.index("All columns")])) >= len(asked)
    header = (tmp_path / "out" / "release.csv").read_text("utf-8").splitlines()[0]
    listed = text[text.index("All columns") :]
    for name in header.split(","):
        assert re.search(rf"\b{name}\b", listed), name


def test_a_statement_stands_beside_what_it_leaves_out(tmp_path: Path) -> None:
    """Somebody who signs that no reader knows a column reads what follows if that is wrong."""
    rows = [
        {"age": n % 40, "s": n * 7 % 90, "code": f"x{n}", "kind": "ab"[n % 2]} for n in range(120)
    ]
    table = write_csv(tmp_path / "t.csv", [{k: str(v) for k, v in one.items()} for one in rows])
    roles = ("--quasi", "age", "--sensitive", "s", "--other", "code,kind")
    how = ("--nobody-knows", "code", "--require", "EpsilonM(epsilon=1, m=3)")
    done = shoal("anonymize", table, *roles, *how, "--output", tmp_path / "out")
    assert done.code == 0, done
    assert shoal("certificate", tmp_path / "out", tmp_path / "c.html").code == 0
    said = "A reader who does know code can tell 120 of 120 rows apart from all others"
    for page in (tmp_path / "c.html", tmp_path / "out" / "report.html"):
        assert said in read_as_text(page), page
    assert said in " ".join(done.out.split())
