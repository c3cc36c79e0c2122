"""What may reach a terminal: text that it shows, and nothing that it obeys.

Names of columns and cells are whatever a stranger wrote. A terminal takes some characters for
orders (to clear the screen, to rewrite what was said, to answer as if typed), and others turn the
order of what is read around. Whatever is printed passes through here.
"""

from __future__ import annotations

import re

# Controls of both sets, and the marks that turn the direction of text or break a line.
ORDERS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PICTURES = 0x2400  # the picture of control 0; the others follow
DELETE, DELETED = 0x7F, "\u2421"
UNKNOWN = "\ufffd"  # stands for what has no picture


def plain(text: str) -> str:
    r"""Return text with a picture in place of every character that a terminal would obey.

    >>> plain("age\x1b[2J")
    'age␛[2J'
    """
    return ORDERS.sub(_picture, text)


def plain_lines(text: str) -> str:
    """Do the same for text of several lines."""
    return "\n".join(map(plain, text.split("\n")))


def plain_json(text: str) -> str:
    """Return JSON that spells those characters out, and so means the same."""
    return ORDERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _picture(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < ord(" "):
        return chr(PICTURES + number)
    return DELETED if number == DELETE else UNKNOWN
