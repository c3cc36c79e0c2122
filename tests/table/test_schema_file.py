"""The schema file: where keys stand, what is read, and how everything wrong with it is told."""

from typing import Any

import pytest

from shoal.errors import InputError
from shoal.table.settings import BadSettings, read_settings
from shoal.table.toml_lines import key_lines

TEXT = '''\
# a comment with = and [brackets]
quasi = ["age", # = not a key
  "zip",
  'a "quoted" one']
sensitive = "salary"   # "]"
method.deep = { one = 1, two = { three = """long
text""", four = [ 4,
  5 ] } }
note = """a
b = 1
[c]
"""

[columns.zip]
type = 'code'
"dotted.key" = ''

  [columns."the city"]
order = [ "x", [ "y",
"z" ] ]
[[many]]
a = 2024-01-01
[[many]]
a = 1
  [many.b]
  c = 1
'''


def test_every_key_and_item_has_its_line():
    lines = key_lines(TEXT)
    assert lines[("quasi",)] == 2
    assert [lines[("quasi", place)] for place in range(3)] == [2, 3, 4]
    assert ("quasi", 3) not in lines
    assert lines[("sensitive",)] == 5
    assert lines[("method", "deep", "two", "three")] == 6
    assert lines[("method", "deep", "two", "four", 1)] == 8
    assert lines[("note",)] == 9
    assert ("b",) not in lines
    assert ("c",) not in lines
    assert lines[("columns", "zip")] == 14
    assert lines[("columns", "zip", "type")] == 15
    assert lines[("columns", "zip", "dotted.key")] == 16
    assert lines[("columns", "the city")] == 18
    assert lines[("columns", "the city", "order", 1, 1)] == 20
    assert lines[("many", 0, "a")] == 22
    assert lines[("many", 1, "a")] == 24
    assert lines[("many", 1, "b", "c")] == 26


@pytest.mark.parametrize(
    "text",
    ['a = """x""""', "a = '''it''''", 'a = "\\"]"', "a = '\\'", 'a = """\\""""', "a = [[],[]]"],
)
def test_strings_of_all_kinds_are_passed(text):
    assert key_lines(f"{text}\nb = 1")[("b",)] == 2


def test_lines_are_the_same_with_carriage_returns():
    assert key_lines("a = 1\r\n\r\nb = [\r\n1]")[("b", 0)] == 4


def write(tmp_path, text):
    path = tmp_path / "conf" / "run.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


GOOD = """
table = "people.csv"
quasi = ["age", "zip"]
sensitive = "salary"
require = [
  "salary: EpsilonM(epsilon=5, m=2)",
  "Dissimilarity(epsilon=1, distance=Lookup(file='d.csv'))",
]
output = "published"
suppress = "1%"
seconds = 2.5
missing = "drop"
format = "parquet"
escape_formulas = true
[columns]
zip = { type = "code", hierarchy = "zip.csv", weight = 2 }
age.hierarchy = "Bins(width=10)"
[columns.size]
type = "ordered"
order = ["S", "M", "L"]
[columns.land.hierarchy]
Europe = ["Italy"]
"""


def test_everything_that_is_said_is_read_and_paths_are_beside_the_file(tmp_path):
    path = write(tmp_path, GOOD)
    said = read_settings(path).ask
    beside = path.parent
    assert said.table == (str(beside / "people.csv"),)
    assert (said.quasi, said.sensitive, said.other) == (("age", "zip"), ("salary",), ())
    assert said.output == str(beside / "published")
    assert said.types == {"zip": "code", "size": "ordered"}
    assert said.order == {"size": ["S", "M", "L"]}
    assert said.hierarchies == {
        "zip": str(beside / "zip.csv"),
        "age": "Bins(width=10)",
        "land": {"Europe": ["Italy"]},
    }
    assert said.weights == {"zip": 2}
    require: Any = said.require
    assert require[0] == "salary: EpsilonM(epsilon=5, m=2)"
    assert repr(str(beside / "d.csv")) in require[1]
    assert (said.suppress, said.seconds, said.missing) == ("1%", 2.5, "drop")
    assert (said.format, said.escape_formulas) == ("parquet", True)


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("\nqausi = []", 2, "qausi", "'quasi'"),
        ("type = 'code'", 1, "type", "[columns.NAME]"),
        ("quasi = 3", 1, "quasi", "list of strings"),
        ("quasi = ['a',\n3]", 2, "quasi", "list of strings. Got 3"),
        ("method = ['a']", 1, "method", "a string"),
        ("seconds = true", 1, "seconds", "a number"),
        ("escape_formulas = 1", 1, "escape_formulas", "true or false"),
        ("suppress = 1", 1, "suppress", "1%"),
        ("hold_out = 1", 1, "hold_out", "5%"),
        ("decimal = ';'", 1, "decimal", "','"),
        ("missing = 'dorp'", 1, "missing", "'drop'"),
        ("columns = 1", 1, "columns", "a table"),
        ("[columns]\nzip = 1", 2, "columns.zip", "a table"),
        ("[columns.zip]\ntype = 'codes'", 2, "columns.zip.type", "'code'"),
        ("[columns.zip]\ntpye = 'code'", 2, "columns.zip.tpye", "'type'"),
        ("[columns.zip]\nrole = 'quasi'", 2, "columns.zip.role", "quasi = ['zip']"),
        ("[columns.zip]\norder = 'a'", 2, "columns.zip.order", "list of strings"),
        ("[columns.zip]\nweight = 0", 2, "columns.zip.weight", "above 0"),
        ("[columns.zip]\nweight = 'x'", 2, "columns.zip.weight", "a number"),
        ("[columns.zip]\nhierarchy = 1", 2, "columns.zip.hierarchy", "a string or a table"),
        ('[columns."a b"]\nx = 1', 2, 'columns."a b".x', "no such key"),
        ("quasi = ['a']\nsensitive = [\n'b', 'a']", 3, "sensitive", "quasi in line 1"),
        ("quasi = ['a', 'a']", 1, "quasi", "two roles"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_key(tmp_path, text, line, key, words):
    with pytest.raises(BadSettings) as caught:
        read_settings(write(tmp_path, text))
    assert (caught.value.file, caught.value.line, caught.value.key) == ("run.toml", line, key)
    assert words in str(caught.value)


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"not TOML.*line 2"):
        read_settings(write(tmp_path, "a = 1\nb = \nc = 1"))


def test_columns_that_the_table_lacks_are_told_with_line_and_key(tmp_path):
    said = read_settings(write(tmp_path, "quasi = ['age',\n'zpi']\nother = 'x'\n[columns.tow]"))
    with pytest.raises(BadSettings, match=r"line 2, quasi: .*Did you mean 'zip'"):
        said.check_columns(["age", "zip", "x", "tow"])
    with pytest.raises(BadSettings, match=r"line 3, other"):
        said.check_columns(["age", "zpi", "zip", "tow"])
    with pytest.raises(BadSettings, match=r"line 4, columns.tow"):
        said.check_columns(["age", "zpi", "x", "town"])
    said.check_columns(["age", "tow", "zpi"], roles=["quasi"])
