"""What a search for somebody's values in a public file has to look at, and what only looks alike.

Digests, numbers drawn at random and measured fractions hold any short run of digits now and then:
a search for 999 in a manifest found it in one digest of some hundred. They tell nobody's value,
so that what is looked for is looked for in everything else.
"""

from __future__ import annotations

import re

_DIGESTS = re.compile(r"[0-9a-f]{32,}|\b0x[0-9a-f]{6,}")  # ids and addresses as well
_FRACTIONS = re.compile(r"((?<![0-9])0)?\.[0-9]{3,}(e-[0-9]+)?")  # losses, risks and seconds
_COORDINATES = re.compile(r'\b(d|transform|x|y|[xy][12]|width|height|viewBox)="[^"]*"')


def searched(text: str) -> str:
    """Return a public file's text without digests, measured fractions and drawn coordinates."""
    for one in (_DIGESTS, _FRACTIONS, _COORDINATES):
        text = one.sub("", text)
    return text
