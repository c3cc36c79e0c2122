"""What report and certificate say of missing values, which count as the worst ones."""

import pytest

from system.shell import shoal as command

ROWS = [[20 + n % 7, "" if n % 9 == 0 else 100 * n] for n in range(90)]
SAID = "A missing value counts as whichever value is worst for its group."


@pytest.mark.parametrize(("policy", "kept"), [("value", True), ("drop", False)])
def test_both_say_how_missing_values_are_judged_where_they_are_kept(tmp_path, policy, kept):
    lines = ["age,pay", *(",".join(map(str, row)) for row in ROWS)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    asked = ("--quasi", "age", "--sensitive", "pay", "--require", "EpsilonM(epsilon=100, m=2)")
    out = tmp_path / "out"
    done = command("anonymize", tmp_path / "t.csv", *asked, "--missing", policy, "--output", out)
    assert done.code == 0, done.err
    assert command("certificate", out, tmp_path / "c.html").code == 0
    for page in (out / "report.html", tmp_path / "c.html"):
        assert (SAID in page.read_text("utf-8")) is kept
