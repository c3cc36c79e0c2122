"""What is known of methods by their names: which parameters they have, and what they make.

A manifest names the method of a release. Whoever reads it has to know what such a method can have
made, and not how it searches: no method is loaded for that.
"""

from __future__ import annotations

from dataclasses import field, make_dataclass
from functools import cache
from typing import Any, ClassVar

from shoal.errors import BadParameter
from shoal.notation import Term, whole_number

COUNT = ()  # instead of choices: a whole number of at least 1, or nothing


class Maker(Term):
    """What makes a release, as a manifest names it."""

    role = "method"
    choices: ClassVar[dict[str, tuple[object, ...]]] = {}  # of parameters, the usual one first
    grouped: ClassVar[bool] = True  # whether it finds groups, and not a graph
    cuts: ClassVar[bool] = False  # whether groups come from cuts, so that cells can be regions
    halves: ClassVar[bool] = False  # whether a group is what could not be cut at its middle
    unasked: ClassVar[tuple[str, ...]] = ()  # its settings that Shoal chooses by itself
    nodes: ClassVar[tuple[str, ...]] = ()  # those that show which cuts a group comes from

    def __init_subclass__(cls) -> None:
        """Give a method all that is known of its name."""
        for name, value in KNOWN.get(cls.__name__, {}).items():
            setattr(cls, name, value)

    def __post_init__(self) -> None:
        """Raise where a parameter is none of its choices."""
        for name, allowed in self.choices.items():
            value = getattr(self, name)
            if allowed == COUNT and value is not None:
                object.__setattr__(self, name, whole_number(self, name, value, least=1))
            elif allowed and (type(value), value) not in [(type(one), one) for one in allowed]:
                words = " or ".join(map(repr, allowed))
                raise BadParameter(type(self).__name__, name, words, value)

    def shows_nodes(self) -> bool:
        """Return whether a release shows which part of the cuts each group comes from."""
        return repr(self) in self.nodes


CERTAINTY, SQUARED = "certainty", "squared"  # what is lost
KNOWN: dict[str, dict[str, Any]] = {
    "Exchange": {
        "choices": {"size": COUNT, "loss": (CERTAINTY, SQUARED)},
        "unasked": ("Exchange()", f"Exchange(loss={SQUARED!r})"),
    },
    "XColor": {},
    "Mondrian": {
        "choices": {"split": ("widest", "least-loss"), "relaxed": (False, True)},
        "cuts": True,
        "halves": True,
        "unasked": ("Mondrian()",),
    },
    "Split": {
        "choices": {"partition": ("cheapest", "round-robin")},
        "cuts": True,
        "unasked": ("Split()",),
    },
    "Oblivious": {"choices": {"block": COUNT}, "cuts": True, "nodes": ("Oblivious()",)},
    "Freeform": {
        "choices": {"k": COUNT, "assignment": ("exact", "greedy", "sort")},
        "grouped": False,
    },
    "Ring": {"choices": {"k": COUNT}, "grouped": False},
}


@cache
def maker_of(name: str) -> type[Maker] | None:
    """Return what is known of a method by its name, None where it is none."""
    if name not in KNOWN:
        return None
    usual = KNOWN[name].get("choices", {})
    parameters = [
        (one, Any, field(default=allowed[0] if allowed else None)) for one, allowed in usual.items()
    ]
    return make_dataclass(name, parameters, bases=(Maker,), frozen=True, repr=False)
