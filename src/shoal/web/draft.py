"""What the owner has decided so far, from which what is asked for is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from shoal.ask.ask import Ask
from shoal.ask.options import NAMES, OF_COLUMNS, READING, options_of
from shoal.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

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
CODES = "missing_codes"  # the key of cells that mean missing
CONTEXT = "context"  # the key of who publishes a release and why
OPTIONS = options_of(Ask)
REMEDIES = [one for one in OPTIONS.values() if one.page and one.key]  # what buttons take
AS_ROLES = {one.name for one in REMEDIES if one.name in ROLES}  # of which one names columns
AS_COLUMNS = {one.name for one in REMEDIES if one.within}  # and those that it names as column=value
SETTINGS = {one.name for one in REMEDIES if one.kind != NAMES and one.panel != READING}
SETTINGS -= AS_ROLES | AS_COLUMNS
READS = [one.key for one in OPTIONS.values() if one.panel == READING and one.key and not one.within]
READS += ["decimal"]


@dataclass
class Draft:
    """Roles, what else is said of columns, what is required, and everything else, by its key.

    `columns` are known by places, which are never used again: a tab that shows a table that was
    taken away has no say about others. `linked` are the names of linked tables, each with the name
    of its file and the places of its columns. `own` says whether the owner has touched the
    requirements: others follow the roles. `rows_chosen` says whether the owner has decided what
    becomes of rows with missing values. `answered` are the columns of which the owner has answered
    what an inspection asks; `unchanged` are columns to protect that are published although nothing
    is required of them, as the owner chose. `reads` is how the file is read: whoever looks at the
    table has it read already.
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
    reads: dict[str, Any] = field(default_factory=dict)

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
    def left_out(self) -> list[str]:
        """The columns that are not published, that of people included: numbers replace it."""
        return self.named(*GONE, "person")

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
            self.rest[name] = value

    def keep_rows(self, *, keep: bool) -> None:
        """Keep rows with missing values, or leave them out, whatever was said of single columns."""
        self.rest["missing"] = "value" if keep else "drop"
        self.rows_chosen = True
        for entries in self.said.values():
            entries.pop("missing", None)

    @property
    def substance(self) -> Ask:
        """All that decides whether a release can be made: not what it is called and for whom."""
        return replace(self.ask(), title=None, context={})

    def ask(self, **more: Any) -> Ask:
        """Return what is asked for; of columns only what their roles allow to be said."""
        said: dict[str, Any] = {role: self.named(role) for role in LISTS}
        said |= {"quasi": self.known_by, "never_mix": self.named("never-mix")}
        for role, key in SINGLE.items():
            said[key] = next(iter(self.named(role)), None)
        used = self.used
        stated = [name for name in self.rest.get(SAID_BY_OWNER, ()) if name in used]
        said |= {"linked": {name: self.linked[name][0] for name in self.used_links}}
        said |= {"require": self.require} | self.rest | more
        said[SAID_BY_OWNER] = [name for name in stated if self.roles[name] not in SINGLE]
        said[OF_COLUMNS] = {name: self._of(name) for name in self.said if name in used}
        return Ask.from_form(said)

    def ask_in(self, folder: Path) -> Ask:
        """Return it with the files of hierarchies in a folder."""
        return self.ask().moved(lambda place: str(folder / place))

    @property
    def of_file(self) -> Draft:
        """The same of the file as it is: with how it is read."""
        reads = dict(self.reads)
        codes = reads.pop(CODES, {})
        more = {name: self.said.get(name, {}) | {CODES: some} for name, some in codes.items()}
        return replace(self, rest=self.rest | reads, said=self.said | more, reads={})

    def toml(self, **more: Any) -> str:
        """Return it as a schema file."""
        return self.of_file.ask(**more).toml()

    def _of(self, name: str) -> dict[str, Any]:
        """Return what is said of a column that its role allows to be said."""
        role = "quasi" if name in self.known_by else self.roles[name]
        allowed = {one.key: one.roles for one in OPTIONS.values() if one.within}
        return {
            key: value
            for key, value in self.said[name].items()
            if not allowed[key] or role in allowed[key]
        }

    def take(self, ask: Ask) -> None:
        """Take over a schema file that was pasted in; what it does not name is left out."""
        said = ask.said()
        roles = dict.fromkeys(self.columns.values(), "drop")
        for role in (*LISTS, "never_mix"):
            roles |= dict.fromkeys(said.pop(role, ()), role.replace("_", "-"))
        for role, key in SINGLE.items():
            roles |= {said.pop(key): role} if key in said else {}
        unknown = [name for name in roles if name not in self.columns.values()]
        more = said.pop("linked", {})
        if unknown and (new := [name for name in more if name not in self.linked]):
            msg = f"The file links the table {new[0]!r}: add it to the page first."
            raise InputError(msg)
        if unknown:
            msg = f"The table has no column {unknown[0]!r}."
            raise InputError(msg)
        self.said = {
            name: {key: value for key, value in one.items() if key != CODES}
            for name, one in said.pop(OF_COLUMNS, {}).items()
        }
        for key in ("table", "output", *READS):
            said.pop(key, None)
        self.require = [*said.pop("require", ())]
        self.roles, self.rest, self.own, self.rows_chosen = roles, said, True, "missing" in said
        self.answered, self.unchanged = set(roles), set()


def reads_of(ask: Ask, draft: Draft) -> dict[str, Any]:
    """Return how a schema file has a table read; codes that it does not name are values."""
    said = ask.said()
    codes = {name: one[CODES] for name, one in said.get(OF_COLUMNS, {}).items() if CODES in one}
    codes = {name: [] for name in draft.reads.get(CODES, {})} | codes
    return {key: said[key] for key in READS if key in said} | ({CODES: codes} if codes else {})


def counted(text: str) -> int | None:
    """Return a count that somebody wrote; None where it is none, or beyond all counting.

    >>> counted(" 12 "), counted("1" * 5000), counted("many")
    (12, None, None)
    """
    plain = text.strip()
    return int(plain) if plain.isdecimal() and len(plain) <= MOST_DIGITS else None
