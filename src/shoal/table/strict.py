"""JSON from strangers: one reading, or none.

Python's reader takes more than JSON has (NaN, a key twice) and gives up without a sentence on what
nests deeply. Whatever two readers could take in two ways is refused here.
"""

from __future__ import annotations

import json
import math
from typing import Any

from shoal.errors import InputError


def read_json(text: str | bytes) -> Any:
    """Read JSON, raising where a key stands twice, a number is none, or it nests too deeply.

    Examples
    --------
    >>> read_json('{"rows": 3}')
    {'rows': 3}
    """
    try:
        plain = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            plain,
            object_pairs_hook=once,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # no half of a surrogate pair
    except RecursionError:
        msg = "it nests too deeply"
        raise InputError(msg) from None
    except UnicodeEncodeError:
        msg = "it has characters that cannot be written"
        raise InputError(msg) from None
    except ValueError as problem:  # a UnicodeDecodeError and a number of 5,000 digits as well
        raise InputError(str(problem)) from None
    return value


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs, raising where a key stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        msg = f"the key {twice[:80]!r} is there twice"
        raise InputError(msg)
    return found


def _no_constant(word: str) -> float:
    msg = f"{word} is no number"
    raise InputError(msg)


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        msg = f"{digits[:40]} is larger than any number that can be read"
        raise InputError(msg)
    return value
