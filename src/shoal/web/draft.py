"""What the owner has decided so far, which is a schema file that grows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.ask.ask import Ask
from shoal.ask.options import NAMES, READING, options_of
from shoal.ask.toml import written
from shoal.errors import InputError

MOST_DIGITS = 15  # of a count
ROLES = {
    "quasi": "Others may know: generalize",
    "sensitive": "Protect it",
    "identifying": "Identifies a person: leave out",
    "person": "Marks one person’s rows",
    "never-mix": "Others may know: publish exactly",
    "survey-weight": "Survey weight: publish its mean",
    "other": "Publish unchanged",
    "drop": "Not needed: leave out",
}
OF_LINKED = ("sensitive", "identifying", "other", "drop")  # roles of columns of linked tables
LISTS = ("quasi", "sensitive", "identifying", "other")
SINGLE = {"person": "person", "survey-weight": "survey_weight"}  # role and key of one column each
GONE = {"identifying", "drop"}  # nothing of such a column is published
SAID_BY_OWNER = "nobody_knows"  # the key that lists columns which no reader knows
CONTEXT = "context"  # the key of who publishes a release and why
REMEDIES = [one for one in options_of(Ask).values() if one.page and one.key]  # what buttons take
AS_ROLES = {one.name for one in REMEDIES if one.name in ROLES}  # of which one names columns
AS_COLUMNS = {one.name for one in REMEDIES if one.within}  # and those that it names as column=value
SETTINGS = {one.name for one in REMEDIES if one.kind != NAMES and one.panel != READING}
SETTINGS -= AS_ROLES | AS_COLUMNS


@dataclass
class Draft:
    """Roles, what else is said of columns, what is required, and everything else, by its key.

    `columns` are known by places, which are never used again: a tab that shows a table that was
    taken away has no say about others. `linked` are the names of linked tables, each with the name
    of its file and the places of its columns. `own` says whether the owner has touched the
    requirements: others follow the roles. `rows_chosen` says whether the owner has decided what
    becomes of rows with missing values. `answered` are the columns of which the owner has answered
    what an inspection asks; `unchanged` are columns to protect that are published although nothing
    is required of them, as the owner chose.
    """

    columns: dict[int, str]
    roles: dict[str, str]
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    require: list[str] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    own: bool = False
    rows_chosen: bool = False
    answered: set[str] = field(default_factory=set)
    unchanged: set[str] = field(default_factory=set)
    beyond: set[str] = field(default_factory=set)
    linked: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    places: int = 0  # that were ever used

    def add(self, names: list[str]) -> list[int]:
        """Take in columns, and return their places."""
        made = list(range(self.places, self.places + len(names)))
        self.places += len(names)
        self.columns |= dict(zip(made, names, strict=True))
        return made

    def link(self, name: str, file: str, columns: list[str], secret: list[str]) -> list[int]:
        """Take in a linked table, its columns under both names; return their places."""
        made = self.add([f"{name}.{one}" for one in columns])
        self.linked[name] = file, made
        for one in secret:
            self.roles[f"{name}.{one}"] = "sensitive"
        return made

    def unlink(self, name: str) -> list[int]:
        """Forget a linked table and all that was said of it; return the places of its columns."""
        _, gone = self.linked.pop(name)
        for place in gone:
            column = self.columns.pop(place)
            self.roles.pop(column, None)
            self.said.pop(column, None)
        self.require = [one for one in self.require if not one.startswith(f"{name}.")]
        return gone

    def roles_of(self, place: int) -> tuple[str, ...]:
        """Return the roles that a column can have; none for what links a table with the first."""
        for name, (_, places) in self.linked.items():
            if place in places:
                link = self.columns[place].removeprefix(f"{name}.") in self.named("person")
                return () if link else OF_LINKED
        return tuple(ROLES) if place in self.columns else ()

    def named(self, *roles: str) -> list[str]:
        """Return the columns that have one of some roles."""
        return [name for name in self.columns.values() if self.roles.get(name, "drop") in roles]

    @property
    def used(self) -> set[str]:
        """The columns of which anything is published."""
        return {one for one in self.columns.values() if self.roles.get(one, "drop") not in GONE}

    @property
    def used_links(self) -> list[str]:
        """The linked tables of which any column is published."""
        return [
            name
            for name, (_, places) in self.linked.items()
            if self.used & {self.columns[place] for place in places}
        ]

    @property
    def known_by(self) -> list[str]:
        """The columns that people may be known by."""
        return self.named("quasi", "never-mix")

    @property
    def protected(self) -> list[list[str]]:
        """The columns to protect: those of the table itself, then those of each linked one."""
        linked = [
            [name for place in places if (name := self.columns[place]) in self.named("sensitive")]
            for _, places in self.linked.values()
        ]
        apart = {name for some in linked for name in some}
        own = [name for name in self.named("sensitive") if name not in apart]
        return [own, *filter(None, linked)]

    @property
    def required(self) -> str:
        """Everything that is required, in one line."""
        return "; ".join(self.require)

    def give(self, column: str, role: str) -> None:
        """Give a column a role; of those that one column alone can have, another loses it."""
        if role in SINGLE:
            for other in self.named(role):
                self.roles[other] = "drop"
        if self.roles.get(column) != role:
            self.withdraw([column])  # a statement was about the column as it was to be published
        self.roles[column] = role

    def unknown(self, columns: list[str]) -> None:
        """Take the owner's statement that no reader knows some columns of a person."""
        self.rest[SAID_BY_OWNER] = [*dict.fromkeys([*self.rest.get(SAID_BY_OWNER, ()), *columns])]

    def withdraw(self, columns: list[str]) -> None:
        """Take such a statement back."""
        left = [name for name in self.rest.get(SAID_BY_OWNER, ()) if name not in columns]
        self.rest = {key: said for key, said in self.rest.items() if key != SAID_BY_OWNER}
        if left:
            self.rest[SAID_BY_OWNER] = left

    def listed(self, text: str) -> list[str]:
        """Return the columns that a remedy names, with a comma between two."""
        known = set(self.columns.values())
        return [text] if text in known else [one for one in text.split(",") if one in known]

    def heeds(self, name: str, value: str | None) -> bool:
        """Return whether a remedy is one that can be taken here."""
        if value is None:
            return False
        if name in AS_ROLES:
            able = {one: self.roles_of(place) for place, one in self.columns.items()}
            named = self.listed(value)
            return bool(named) and all(name in able[one] for one in named)
        if name == SAID_BY_OWNER:
            return bool(self.listed(value))
        if name in AS_COLUMNS:
            return value.rpartition("=")[0] in self.columns.values()
        return name in SETTINGS

    def heed(self, name: str, value: str) -> None:
        """Take a remedy: other roles, a statement, something said of a column or of the run."""
        if not self.heeds(name, value):
            return
        if name in AS_ROLES:
            for one in self.listed(value):
                self.give(one, name)
        elif name == SAID_BY_OWNER:
            self.unknown(self.listed(value))
        elif name in AS_COLUMNS:
            column, _, said = value.rpartition("=")
            self.said.setdefault(column, {})[name] = said
        else:
            count = counted(value)
            self.rest[name] = value == "True" or (value if count is None else count)

    def keep_rows(self, *, keep: bool) -> None:
        """Keep rows with missing values, or leave them out, whatever was said of single columns."""
        self.rest["missing"] = "value" if keep else "drop"
        self.rows_chosen = True
        for entries in self.said.values():
            entries.pop("missing", None)

    @property
    def substance(self) -> str:
        """All that decides whether a release can be made: not what it is called and for whom."""
        rest = {key: said for key, said in self.rest.items() if key not in {"title", CONTEXT}}
        return replace(self, rest=rest).toml()

    def toml(self, **more: Any) -> str:
        """Return it as a schema file; `more` stands first."""
        lists: dict[str, Any] = {role: self.named(role) for role in LISTS}
        lists["quasi"] = self.known_by
        lists["never_mix"] = self.named("never-mix")
        for role, key in SINGLE.items():
            lists[key] = next(iter(self.named(role)), None)
        used = self.used
        linked = {name: self.linked[name][0] for name in self.used_links}
        stated = [name for name in self.rest.get(SAID_BY_OWNER, ()) if name in used]
        top = more | lists | {"linked": linked, "require": self.require} | self.rest
        top[SAID_BY_OWNER] = [name for name in stated if self.roles[name] not in SINGLE]
        document = {key: value for key, value in top.items() if value not in (None, [], "", {})}
        entries = {name: self._of(name) for name in self.said if name in used}
        columns = {name: one for name, one in entries.items() if one}
        return written(document | {"columns": columns})

    def _of(self, name: str) -> dict[str, Any]:
        """Return what is said of a column that its role allows to be said."""
        known_by = name in self.known_by
        return {
            key: value
            for key, value in self.said[name].items()
            if value not in (None, "") and (known_by or key not in {"hierarchy", "weight"})
        }

    def take(self, text: str) -> None:
        """Take over a schema file that was pasted in; what it does not name is left out."""
        try:
            said = tomllib.loads(text)
        except (ValueError, RecursionError) as problem:
            msg = f"This is not TOML: {problem}."
            raise InputError(msg) from None
        roles = dict.fromkeys(self.columns.values(), "drop")
        for role in (*LISTS, "never_mix"):
            for name in _names(said.pop(role, [])):
                roles[name] = role.replace("_", "-")
        for role, key in SINGLE.items():
            if isinstance(name := said.pop(key, None), str):
                roles[name] = role
        unknown = [name for name in roles if name not in self.columns.values()]
        more = said.pop("linked", {})
        if unknown and (new := [name for name in more if name not in self.linked]):
            msg = f"The file links the table {new[0]!r}: add it to the page first."
            raise InputError(msg)
        if unknown:
            msg = f"The table has no column {unknown[0]!r}."
            raise InputError(msg)
        columns = said.pop("columns", {})
        said.pop("table", None)
        said.pop("output", None)
        self.require = _names(said.pop("require", []))
        self.roles, self.rest, self.own, self.rows_chosen = roles, said, True, "missing" in said
        self.answered, self.unchanged = set(roles), set()
        self.said = {str(k): dict(v) for k, v in columns.items() if isinstance(v, dict)}


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


def counted(text: str) -> int | None:
    """Return a count that somebody wrote; None where it is none, or beyond all counting.

    >>> counted(" 12 "), counted("1" * 5000), counted("many")
    (12, None, None)
    """
    plain = text.strip()
    return int(plain) if plain.isdecimal() and len(plain) <= MOST_DIGITS else None


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(one) for one in value]
