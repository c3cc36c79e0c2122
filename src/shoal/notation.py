"""One reading of a text, or none: terms as people type them, and JSON from strangers.

The `repr` of principles, methods and distances is what people type. `EpsilonM(epsilon=4500, m=5)`
means the same on the command line, in a schema file, in a manifest and in Python. Reading it is
strict: names from a registry, literal arguments. Arguments may stand without their names, in the
order of the definition page: `EpsilonM(4500, 5)` means the same, and is printed with them.

Python's reader of JSON takes more than JSON has (NaN, a key twice) and gives up without a sentence
on what nests deeply. Whatever two readers could take in two ways is refused here.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import math
import numbers
import re
import sys
import tokenize
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeGuard, cast

import shoal
from shoal.errors import BadParameter, InputError, UsageError, nearest
from shoal.exact import written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    Known = Callable[[str], type["Term"] | None]


LONG = 80  # characters of what was typed that a message repeats
BETWEEN = r" '’\u00a0\u202f"  # thousands, beside a comma or a point
PLAIN = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
COMMA = r"=\s*-?[0-9.]*[0-9],[0-9]"  # as in epsilon=0,5
DEPTH = 8  # how deep terms and lists may nest


class Term:
    """A named, immutable value whose `repr` can be read back. Subclasses are frozen dataclasses."""

    role: ClassVar[str] = "term"
    opens: ClassVar[tuple[str, ...]] = ()  # parameters that name a file to be read

    def __repr__(self) -> str:
        shown = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default or isinstance(value, bool) != isinstance(field.default, bool):
                shown.append(f"{field.name}={_spell(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read one term of this class from its notation."""
        term = parse(text)
        if not isinstance(term, cls):
            msg = f"{brief(text.strip())} is a {term.role}, but a {cls.role} is needed here."
            raise UsageError(msg)
        return term


def _spell(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_spell, value))}]"
    return repr(value)


def brief(text: str) -> str:
    """Quote a text in a message, cut where it is long."""
    return repr(text if len(text) <= LONG else text[:LONG] + "…")


def known_terms() -> dict[str, type[Term]]:
    """Return the registry: the public names of Shoal that are terms."""
    names = sorted(name for space in _spaces() for name in dir(space))
    return {name: term for name in names if (term := _term(name)) is not None}


def _term(name: str) -> type[Term] | None:
    """Return a term by its name, without loading all the others."""
    value = next((getattr(space, name) for space in _spaces() if name in dir(space)), None)
    return value if isinstance(value, type) and issubclass(value, Term) else None


def _spaces() -> Iterator[ModuleType]:
    """Give whatever has public names that may be terms, engines first."""
    yield shoal
    for name in ("principles", "methods", "distances", "hierarchies", "rivals", "measures"):
        yield getattr(shoal, name)


def parse(text: str, *, files: bool = True, known: Known = lambda _: None) -> Term:
    """Read a term from its notation, never evaluating anything.

    Without `files`, a term that would open one is refused: what a stranger wrote opens nothing.
    What is `known` of a name is taken before its class is loaded.

    >>> import shoal
    >>> parse("EpsilonM(epsilon=4500, m=5)")
    EpsilonM(epsilon=4500, m=5)
    """
    tree = None
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        if "#" not in text or not _has_remarks(text):
            tree = ast.parse(text.strip(), mode="eval").body
    value = None if tree is None else _build(tree, text, DEPTH, files=files, known=known)
    if not isinstance(value, Term):
        msg = f"Cannot read {brief(text)}. Write it as Name(parameter=value, …)."
        if re.search(COMMA, text):
            msg += " Numbers in it have a decimal point and nothing between thousands: 1000.5."
        raise UsageError(msg)
    return value


def parted(text: str) -> list[str]:
    """Return the requirements that stand in one line, with a semicolon between two.

    >>> parted("a: KAnonymity(k=2); 'b;c': EpsilonM(epsilon=1, m=2) ;")
    ['a: KAnonymity(k=2)', "'b;c': EpsilonM(epsilon=1, m=2)"]
    """
    found, quote, depth = [""], "", 0
    for sign in text:
        if sign == ";" and not quote and depth <= 0:
            found.append("")
            continue
        found[-1] += sign
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        else:
            depth += (sign in "([{") - (sign in ")]}")
    return [one.strip() for one in found if one.strip()]


def _has_remarks(text: str) -> bool:
    """Return whether something stands in a term that says nothing, and so could say anything."""
    found = tokenize.generate_tokens(io.StringIO(text.strip()).readline)
    return any(token.type == tokenize.COMMENT for token in found)


def _build(node: ast.expr, text: str, depth: int, *, files: bool, known: Known) -> Any:
    if depth == 0:
        msg = f"{brief(text)} nests too deeply."
        raise UsageError(msg)
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_build(item, text, depth - 1, files=files, known=known) for item in items)
        case ast.Call(func=ast.Name(id=name)):
            return _call(name, node, text, depth, files=files, known=known)
        case ast.Name(id=name) if meant := [t for t in known_terms() if t.lower() == name.lower()]:
            msg = f"In {brief(text)}, write {meant[0]}(…) with its parameters in brackets."
            raise UsageError(msg)
    part = ast.get_source_segment(text.strip(), node) or ""
    msg = f"In {brief(text)}, {brief(part)} is not a number, string, list or known name."
    raise UsageError(msg)


def _call(name: str, call: ast.Call, text: str, depth: int, *, files: bool, known: Known) -> Term:
    cls = known(name) or _term(name)
    if cls is None:
        msg = f"Unknown name {name!r} in {brief(text)}{nearest(name, sorted(known_terms()))}"
        raise UsageError(msg)
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for keyword in (*_by_name(cls, call.args, text), *call.keywords):
        if keyword.arg is None or keyword.arg not in fields:
            word = keyword.arg or "**"
            msg = f"{name} has no parameter {word!r}{nearest(word, list(fields))}"
            raise UsageError(msg)
        if keyword.arg in given:
            msg = f"{name} got {keyword.arg!r} twice in {brief(text)}."
            raise UsageError(msg)
        if keyword.arg in cls.opens and not files:
            msg = f"{name}({keyword.arg}=…) would open a file, and nothing here may do that."
            raise UsageError(msg)
        given[keyword.arg] = _build(keyword.value, text, depth - 1, files=files, known=known)
    missing = [
        field.name
        for field in fields.values()
        if field.default is dataclasses.MISSING and field.name not in given
    ]
    if missing:
        form = ", ".join(f"{parameter}=…" for parameter in missing)
        msg = f"{name} needs {' and '.join(missing)}, as in {name}({form})."
        raise UsageError(msg)
    return cls(**given)


def _by_name(cls: type[Term], values: list[ast.expr], text: str) -> list[ast.keyword]:
    """Give parameters that were written without their names these, in the order of the page."""
    known = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    if len(values) > len(known) or any(isinstance(value, ast.Starred) for value in values):
        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
        msg = f"{cls.__name__} {takes}. Got {brief(text)}."
        raise UsageError(msg)
    return [ast.keyword(arg, value) for arg, value in zip(known, values, strict=False)]


def exact(value: float | Fraction) -> Fraction:
    """Return the rational that was written: 0.1 is one tenth, not its nearest double."""
    return value if isinstance(value, Fraction) else written(value)


def whole_number(owner: object, name: str, value: object, *, least: int) -> int:
    """Check a parameter that has to be an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise BadParameter(type(owner).__name__, name, f"a whole number of at least {least}", value)
    return int(value)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a double can hold, as 10**400 and nan are not."""
    if isinstance(value, bool | Fraction) or not isinstance(value, numbers.Real):
        return False
    return bool(-sys.float_info.max <= cast("float", value) <= sys.float_info.max)


def number(
    owner: object, name: str, value: object, *, most: float | None = None, positive: bool = False
) -> float | int:
    """Check a parameter that has to be a finite number from 0 (or above it) to `most`."""
    allowed = "a number above 0" if positive else "a number of at least 0"
    if most is not None:
        allowed += f" and at most {most}"
    if (
        not is_number(value)
        or value < 0
        or (positive and value == 0)
        or (most is not None and value > most)
    ):
        raise BadParameter(type(owner).__name__, name, allowed, value)
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def typed_number(text: str, sign: str | None) -> Decimal | None:
    """Return a number that somebody typed as the table writes numbers, or as Shoal does.

    None where it is no number. Raises where a table with a decimal comma leaves open what it is.

    Examples
    --------
    >>> [str(typed_number(text, ",")) for text in ("3.218,92", "0,5", "2.5", "1,234.5")]
    ['3218.92', '0.5', '2.5', '1234.5']
    >>> [str(typed_number(text, None)) for text in ("2,000", "2,5", "1.234", "many")]
    ['2000', '2.5', '1.234', 'None']
    """
    bare = re.sub(f"[{BETWEEN}]", "", text)
    marks = re.findall("[.,]", bare)
    grouped = re.fullmatch("([+-]?[1-9][0-9]{0,2})[.,]([0-9]{3})", bare)
    if grouped and sign == ",":
        whole, rest = grouped.groups()
        msg = (
            f"{text!r} can be read as {whole}{rest} or as {whole}.{rest}, because the table has "
            f"decimal commas. Type {whole}{rest} or {whole}.{rest}0."
        )
        raise UsageError(msg)
    if len(marks) > 1 or (grouped and marks == [","]):
        between = marks[0]
        whole, point, rest = bare.partition(marks[-1]) if marks[-1] != between else (bare, "", "")
        if not re.fullmatch(rf"[+-]?[0-9]{{1,3}}([{between}][0-9]{{3}})+", whole):
            return None
        bare = whole.replace(between, "") + point.replace(",", ".") + rest
    bare = bare.replace(",", ".")
    return Decimal(bare) if re.fullmatch(PLAIN, bare) else None


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
    msg = f"{word} is not a number"
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
