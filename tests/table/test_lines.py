"""Where keys stand in TOML, against a writer that notes it."""

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from shoal.table.toml_lines import key_lines

KEYS = st.sampled_from(["a", "b-1", "quasi", "a b", "x.y", 'q"', "ü", "#", "[t]", "="])
SCALARS = st.one_of(
    st.integers(-9, 9).map(str),
    st.sampled_from(
        ["true", "1.5", "2024-01-31 10:00:00", "'lit # ['", '"\\" ] ,"', '"""one\ntwo = "x"\n"""',
         "'''a\n[b]\n'''", '"""""x"""""', "''"]
    ),
)  # fmt: skip
SPACE = st.sampled_from(["", " ", "\n", " # a comment with ] and = \n", "\n\n  "])


class Writer:
    """Writes TOML and notes the line of every key and item."""

    def __init__(self, draw):
        self.draw = draw
        self.text = ""
        self.lines: dict[tuple, int] = {}

    def note(self, path):
        self.lines.setdefault(path, self.text.count("\n") + 1)

    def key(self, key):
        bare = key.isascii() and key.replace("-", "").isalnum()
        self.text += key if bare and self.draw(st.booleans()) else json.dumps(key)

    def value(self, path, depth):
        kind = self.draw(st.sampled_from(["scalar", "list", "inline"])) if depth else "scalar"
        if kind == "scalar":
            self.text += self.draw(SCALARS)
        elif kind == "list":
            self.text += "["
            for place in range(self.draw(st.integers(0, 3))):
                self.text += self.draw(SPACE)
                self.note((*path, place))
                self.value((*path, place), depth - 1)
                self.text += self.draw(SPACE) + ","
            self.text += "]"
        else:
            self.text += "{"
            for place, key in enumerate(self.draw(st.lists(KEYS, max_size=2, unique=True))):
                self.text += ", " if place else " "
                self.pair((*path, key), key, depth - 1)
            self.text += "}"

    def pair(self, path, key, depth):
        self.note(path)
        self.key(key)
        self.text += " = "
        self.value(path, depth)

    def table(self, prefix):
        for key in self.draw(st.lists(KEYS, max_size=3, unique=True)):
            self.text += self.draw(SPACE)
            self.pair((*prefix, key), key, 2)
            self.text += "\n"


@st.composite
def documents(draw):
    writer = Writer(draw)
    writer.table(())
    for name in draw(st.lists(st.sampled_from(["t1", "t2", "t 3"]), max_size=3, unique=True)):
        writer.text += draw(SPACE)
        writer.note((name,))
        writer.text += "["
        writer.key(name)
        writer.text += "]\n"
        writer.table((name,))
    return writer


@given(documents())
def test_every_key_is_found_where_it_was_written(writer):
    tomllib.loads(writer.text)
    assert key_lines(writer.text) == writer.lines
    assert key_lines(writer.text.replace("\n", "\r\n")) == writer.lines
