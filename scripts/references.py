"""Write the reference pages that follow from the code: `make references`.

`docs/reference/commands.md` comes from the commands, `docs/reference/python.md` and the pages under
`python/` from the public names and their docstrings. A test holds the pages equal to what is made
here.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import shoal
from shoal.cli import main
from shoal.errors import ShoalError
from shoal.notation import Term, known_terms

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
FOLDERS = {
    "requirement": "principles",
    "method": "methods",
    "rival": "rivals",
    "distance": "distances",
    "hierarchy": "hierarchies",
    "workload": "workloads",
}
INTERNAL = {  # members, and parameters of constructors, that only Shoal itself uses
    "Ask": {"from_form", "from_said", "moved", "said"},
    "Audit": {"measured", "shown", "state", "statement"},
    "Local": {"read", "search", "shards", "solve", "solve_needed"},
    "Release": {
        *("answers", "audit_published", "boxes", "listed", "of", "origins", "parts", "published"),
        *("published_schema", "remarks", "typed", "recoding", "coded", "suppression", "formulas"),
        *("given", "population", "settings", "recast", "links", "kept", "held", "linked"),
    },
    "Run": {
        *("better", "chosen", "coded", "check_asked", "check_header", "check_places", "enough"),
        *("frame", "of_ask", "offered", "over", "overruled", "prepare", "read", "ready", "said"),
        *("wanted", "with_table"),
    },
    "Schema": {
        *("check_quasi", "check_reserved", "done_to", "only", "persons", "protected", "published"),
        *("read_numbers", "said_of", "trims"),
    },
    "Spark": {"domains", "measure", "read", "recode", "search", "shards"},
}
LOOSE = {  # what is taken where types say `Any`
    **dict.fromkeys(("frame", "held_out"), "Frame"),
    **dict.fromkeys(("control", "original", "population"), "Frame | str | Path | None"),
    **dict.fromkeys(("source", "table", "what"), "Release | Frame | str | Path"),
    "releases": "Sequence[Release | str | Path]",
    "session": "SparkSession | None",
}
KINDS = (
    "In signatures, `Frame` stands for a frame of pandas, Polars or PyArrow, and `Require` for a "
    "principle, as an object or in the notation."
)
NOTE = "<!-- Made by `make references` from the code. Edit the code, not this page. -->"


def commands() -> str:
    """Return the command reference: every command with its arguments, options and exit codes."""
    root: Any = main.commands("")
    context = root.make_context("shoal", [], resilient_parsing=True)
    lines = [
        NOTE,
        "# Commands",
        "",
        "Every command with all of its arguments and options. `shoal COMMAND --help` prints the "
        "same in the terminal.",
        "",
        "| command | what it does |",
        "| --- | --- |",
    ]
    found = [(name, root.get_command(context, name)) for name in root.list_commands(context)]
    lines += [f"| [`shoal {name}`](#shoal-{name}) | {_first(one.help)} |" for name, one in found]
    for name, one in found:
        lines += ["", f"## shoal {name}", "", *_paragraphs(one.help), ""]
        lines += _usage(name, one)
    lines += [
        "",
        "## Exit codes",
        "",
        "| code | meaning |",
        "| --- | --- |",
        "| 0 | done |",
        "| 1 | an audit found a requirement that does not hold |",
        "| 2 | bad usage or bad input |",
        "| 3 | the requirement is not achievable on this table, or was not reached |",
        "| 4 | cannot write |",
        "| 130 | interrupted |",
        "",
        "`--json` prints one JSON object on standard output and nothing else there; progress, "
        "remarks and refusals go to standard error.",
    ]
    return "\n".join(lines) + "\n"


def _usage(name: str, command: Any) -> list[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    words = [
        (one.metavar or one.name.upper()).rstrip("….") + ("…" if one.nargs == -1 else "")
        for one in arguments
    ]
    usage = " ".join(["shoal", name, *words, "[OPTIONS]"])
    lines = [f"`{usage}`", "", "| argument or option | meaning |", "| --- | --- |"]
    for word, one in zip(words, arguments, strict=True):
        lines.append(f"| `{word}` | {_cell(one.help)} |")
    for one in options:
        value = "" if one.is_flag else " …"
        spelled = ", ".join(f"`{spelling}{value}`" for spelling in one.opts)
        default = one.default if isinstance(one.default, str | int | float) else None
        known = f" Default: `{default}`." if default not in {None, False, True} else ""
        lines.append(f"| {spelled} | {_cell(one.help)}{known} |")
    return lines


def python() -> str:
    """Return the list of the Python names: functions, objects, families, terms, errors."""
    functions, others = _undefined(shoal)
    lines = [
        NOTE,
        "# Python",
        "",
        "Every public name, with a page for each function and object. Give arguments beyond the "
        "data by name. Frames of pandas, Polars and PyArrow go in and come out as they came.",
        "",
        KINDS,
    ]
    lines += ["", "## Functions", "", "| name | |", "| --- | --- |"]
    lines += [
        f"| [`{name}`](python/{name}.md) | {_first(one.__doc__)} |"
        for name, one in functions.items()
    ]
    for page, (title, said, values) in families().items():
        lines += ["", f"## {title}", "", said, "", "| name | |", "| --- | --- |"]
        lines += [
            f"| [`{one}`](python/{page}.md#{one.lower()}) | {_first(value.__doc__)} |"
            for one, value in values.items()
        ]
    terms = known_terms()
    for role, folder in FOLDERS.items():
        title = f"shoal.{folder}" if hasattr(shoal, folder) else folder.capitalize()
        lines += ["", f"## {title}", "", "| term | |", "| --- | --- |"]
        for name, term in terms.items():
            if term.role == role:
                link = f"../definitions/{folder}/{name}.md"
                lines.append(f"| [`{_call(term)}`]({link}) | {_first(term.__doc__)} |")
    lines += ["", "## Errors", ""]
    lines += ["All derive from `ShoalError`, whose `exit_code` the command line ends with.", ""]
    lines += ["| error | exit code | |", "| --- | --- | --- |"]
    for name, error in others.items():
        if _is(error, ShoalError):
            lines.append(f"| `{name}` | {error.exit_code} | {_first(error.__doc__)} |")
    return "\n".join(lines) + "\n"


def of_name(name: str) -> str:
    """Return the page of one function or object of `shoal`."""
    value = getattr(shoal, name)
    lines = [NOTE, f"# {name}", "", *_entry(name, value)]
    return "\n".join([*lines, "", "[All names](../python.md)"]) + "\n"


def of_family(name: str) -> str:
    """Return the page of names that belong together."""
    title, said, values = families()[name]
    lines = [NOTE, f"# {title}", "", said]
    for one, value in values.items():
        lines += ["", f"## {one}", "", *_entry(one, value)]
    return "\n".join(lines) + "\n"


def families() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return title, sentence and names of each page of several names."""
    _, others = _undefined(shoal)
    objects = {name: value for name, value in others.items() if not _is(value, ShoalError)}
    found = {"objects": ("Objects", "What functions take and return.", objects)}
    for name in ("measures", "results"):
        space = getattr(shoal, name)
        functions, classes = _undefined(space)
        found[name] = (f"shoal.{name}", str(space.__doc__), functions | classes)
    return found


def _undefined(space: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the functions and the classes of a namespace that no definition page is about."""
    public = {name: getattr(space, name) for name in sorted(dir(space)) if name != "__version__"}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    classes = {name: value for name, value in public.items() if inspect.isclass(value)}
    return functions, {name: one for name, one in classes.items() if not _is_defined(one)}


def _is_defined(value: object) -> bool:
    """Return whether a name has a definition page."""
    return _is(value, Term) and getattr(value, "role", None) in FOLDERS


def _is(value: object, parent: type) -> bool:
    return isinstance(value, type) and issubclass(value, parent)


def _call(term: type[Term]) -> str:
    fields: Any = dataclasses.fields(term)  # type: ignore[arg-type]
    return f"{term.__name__}({', '.join(field.name for field in fields)})"


def _entry(name: str, value: Any) -> list[str]:
    kind = "class " if inspect.isclass(value) else ""
    called = fill(f"{kind}{name}{_parameters(value)}", 78, subsequent_indent=" " * 4)
    lines = ["```text", called, "```", "", *_docstring(value.__doc__)]
    return [*lines, *(_members(value) if inspect.isclass(value) else [])]


def _parameters(value: Any) -> str:
    if inspect.isclass(value) and value.__init__ is object.__init__:
        return ""
    found = inspect.signature(value)
    hidden = INTERNAL.get(value.__name__, ())
    shown = [one for name, one in found.parameters.items() if name not in hidden]
    words = [_typed(one) for one in shown]
    kinds = [one.kind for one in shown]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        words.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = found.return_annotation
    known = isinstance(returned, str) and not inspect.isclass(value)
    return f"({', '.join(words)})" + (f" -> {returned}" if known else "")


def _typed(one: inspect.Parameter) -> str:
    """Write a parameter with its type and its default."""
    stars = "**" if one.kind is one.VAR_KEYWORD else "*" * (one.kind is one.VAR_POSITIONAL)
    known = isinstance(one.annotation, str)
    kind = LOOSE.get(one.name, "Any") if one.annotation in {"Any", "object"} else one.annotation
    name = f"{stars}{one.name}: {kind}" if known else f"{stars}{one.name}"
    if one.default is one.empty:
        return name
    plain = isinstance(one.default, str | int | float | bool | None)
    default = repr(one.default) if plain else "…"
    return f"{name} = {default}" if known else f"{name}={default}"


def _members(value: type) -> list[str]:
    """List the properties and methods that have a docstring of their own."""
    lines = []
    for name, member in inspect.getmembers_static(value):
        inner = getattr(member, "__func__", getattr(member, "func", member))
        text = inspect.getdoc(inner)
        if name.startswith("_") or not text or name in INTERNAL.get(value.__name__, ()):
            continue
        if isinstance(member, property) or hasattr(member, "func"):
            lines.append(f"- `.{name}`: {_first(text)}")
        elif inspect.isfunction(inner):
            lines.append(f"- `.{name}(…)`: {_first(text)}")
    return ["", *lines] if lines else []


def _docstring(text: str | None) -> list[str]:
    """Turn a docstring with sections into Markdown."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(text or ""), flags=re.MULTILINE)
    lines = _paragraphs(parts[0])
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading in {"Parameters", "Attributes"}:
            flat = re.sub(r"\n {2,}", " ", body.strip())
            lines += ["", *(_parameter(line) for line in flat.splitlines())]
        elif heading == "Examples":
            lines += ["", "```pycon", body.strip(), "```"]
        else:
            lines += ["", f"{heading}: {' '.join(body.split())}"]
    return lines


def _parameter(line: str) -> str:
    name, _, meaning = line.partition(" : ")
    return f"- `{name}`: {meaning}" if meaning else line


def _paragraphs(text: str | None) -> list[str]:
    return inspect.cleandoc(text or "").strip().splitlines()


def _first(text: str | None) -> str:
    """Return the first paragraph in one line, fit for the cell of a table."""
    return _cell(inspect.cleandoc(text or "").strip().split("\n\n")[0])


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES: dict[Path, Callable[[], str]] = {
    REFERENCE / "commands.md": commands,
    REFERENCE / "python.md": python,
    **{REFERENCE / "python" / f"{name}.md": partial(of_family, name) for name in families()},
    **{
        REFERENCE / "python" / f"{name}.md": partial(of_name, name) for name in _undefined(shoal)[0]
    },
}


if __name__ == "__main__":
    for path, make in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(make(), "utf-8")
