"""Formulas that an analyst writes: which columns they name, checked before anything is computed.

formulaic evaluates what stands in a formula as Python, so only arithmetic, comparisons and a few
functions are let through.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UnknownColumn, UsageError
from shoal.estimation.opening import labels_of, numbers_of
from shoal.release.manifest import NoConclusion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.estimation.opening import Analysable
    from shoal.table.column import Column

FUNCTIONS = {
    "log": np.log,
    "log1p": np.log1p,
    "log10": np.log10,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "I": lambda column: column,
}
TRANSFORMS = {"C", "poly", "bs", "cs", "center", "scale"}  # formulaic's own
ALLOWED = (
    ast.Expression,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.Call,
    ast.keyword,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
)
QUOTED = re.compile(r"`([^`]*)`")


@dataclass(frozen=True)
class Asked:
    """A formula, and the columns that its sides name; of the right side term by term."""

    left: str
    right: str
    value: str
    own: frozenset[str]  # quasi columns on the left
    terms: tuple[frozenset[str], ...]


def names_in(expression: str, known: set[str]) -> frozenset[str]:
    """Return the columns that an expression names, raising where it is no plain arithmetic."""
    quoted: list[str] = []

    def stand_in(found: re.Match[str]) -> str:
        quoted.append(found[1])
        return f"_{len(quoted) - 1}_"

    try:
        tree = ast.parse(QUOTED.sub(stand_in, expression).strip(), mode="eval")
    except SyntaxError:
        msg = f"The expression {expression!r} cannot be read. Put names with spaces in backticks."
        raise UsageError(msg) from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = set()
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            msg = (
                f"{expression!r} is not allowed in a formula: only columns, numbers, arithmetic, "
                f"comparisons and {', '.join([*FUNCTIONS, *sorted(TRANSFORMS)])}."
            )
            raise UsageError(msg)
        if not isinstance(node, ast.Name):
            continue
        if id(node) in called:
            if node.id not in FUNCTIONS and node.id not in TRANSFORMS:
                known_ones = ", ".join([*FUNCTIONS, *sorted(TRANSFORMS)])
                msg = f"Formulas have no function {node.id!r}. Known: {known_ones}."
                raise UsageError(msg)
            continue
        stands = re.fullmatch(r"_(\d+)_", node.id)
        name = quoted[int(stands[1])] if stands and int(stands[1]) < len(quoted) else node.id
        if name not in known:
            raise UnknownColumn(name, sorted(known), "in the release")
        names.add(name)
    return frozenset(names)


def read_formula(formula: str, release: Analysable) -> Asked:
    """Return what a formula asks, raising where a release cannot answer it whatever it holds."""
    from formulaic import Formula, SimpleFormula
    from formulaic.errors import FormulaicError

    sides = formula.split("~")
    if len(sides) != 2 or not all(side.strip() for side in sides):
        msg = f"A formula has two sides, for example 'log(income) ~ age + C(sex)', not {formula!r}."
        raise UsageError(msg)
    left, right = (side.strip() for side in sides)
    known = {*release.quasi, *release.values}
    mine = names_in(left, known)
    try:
        parsed = Formula(right)
    except (FormulaicError, SyntaxError) as problem:
        msg = f"The formula {formula!r} cannot be read: {first_sentence(problem)}."
        raise UsageError(msg) from None
    if not isinstance(parsed, SimpleFormula) or not parsed:
        msg = (
            f"The right side of {formula!r} needs one part with terms, for example 'age + C(sex)'."
        )
        raise UsageError(msg)
    terms = [
        frozenset().union(*(_named(factor, known) for factor in term.factors))
        for term in parsed
        if str(term) != "1"
    ]
    secret = mine & release.values.keys()
    if len(secret) > 1 or any(term & release.values.keys() for term in terms):
        msg = (
            "The formula needs two sensitive columns of one person, or has a sensitive column on "
            "its right side. The model knows values given quasi-identifiers only. Put one "
            "sensitive column on the left and quasi-identifiers on the right."
        )
        raise NoConclusion(msg)
    if not secret:
        msg = (
            f"The left side of {formula!r} names no sensitive column. Quasi-identifiers are "
            "published exactly: analyse the people table directly."
        )
        raise UsageError(msg)
    (value,) = secret
    return Asked(left, right, value, frozenset(mine - secret), tuple(terms))


def first_sentence(problem: Exception) -> str:
    """Return what formulaic says went wrong, without the colours that it marks places by."""
    return re.split(r"\n|\. ", str(problem))[0].rstrip(".")


def _named(factor: Any, known: set[str]) -> frozenset[str]:
    """Return the columns that a factor of a term names; a bare name may have any spelling."""
    bare = factor.eval_method.value == "lookup"
    return names_in(f"`{factor.expr}`" if bare else factor.expr, known)


def frame_of(columns: dict[str, Column], order: NDArray | slice = slice(None)) -> Any:
    """Return columns as a frame of pandas, in some order of the rows."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: numbers_of(one)[order] if one.numeric else labels_of(one)[order]
            for name, one in columns.items()
        }
    )


def evaluate(expression: str, frame: Any) -> NDArray[np.float64]:
    """Return an expression for every row of a frame, as numbers; what is true counts 1."""
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    arithmetic = f"0 + {{{expression}}}"  # not terms, as which a formula would take + and /
    try:
        with np.errstate(all="ignore"):
            found = model_matrix(arithmetic, frame, na_action="ignore", context=FUNCTIONS)
    except (FormulaicError, TypeError, ValueError) as problem:
        msg = f"{expression!r} cannot be computed: {first_sentence(problem)}."
        raise UsageError(msg) from None
    columns = np.asarray(found, np.float64)
    if columns.shape[1] != 1:
        msg = f"{expression!r} is not one number for each row. Compare labels: town == 'Ulm'."
        raise UsageError(msg)
    if not np.isfinite(columns).all():
        bad = int((~np.isfinite(columns)).sum())
        msg = f"{expression!r} has to be one number for each row, and is not for {bad:,} of them."
        raise UsageError(msg)
    return columns[:, 0]
