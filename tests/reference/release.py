"""Re-measure a release directory from its files, with csv and json alone.

Source: the contract of release files. Every check returns problem sentences; none means fine. What
the page leaves open is read so:

- manifest ``columns`` is a list of {name, role, kind, domain}; ``domain`` is [low, high] for an
  interval (of dates where ``type`` says so), the list of labels for a set, the nested hierarchy
  for a node; ``loss`` is {"gcp": x, "ncp": {column: x}};
- ``rows`` counts the rows of release.csv, ``suppressed`` the input rows that are not among them;
- a categorical cell is an array only if it is a JSON array of strings, else a label as it stands.

A requirement is a dict: ``kind`` (as in ``proximity``, or "window", or "k-anonymity"), ``column``,
``m`` (or ``l``, or ``k``), and the parameters of the kind:
``{"kind": "absolute", "column": "salary", "epsilon": 4500, "m": 5}``.
"""

import csv
import datetime as dt
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from reference.proximity import risk
from reference.recoding import leaves

Row = dict[str, str]
Requirement = Mapping[str, Any]
Interval = tuple[str, str]

PUBLISHED_ROLES = ("quasi", "sensitive", "other")
PRIVATE_KEYS = ("seed", "input", "path", "linkage")
REPORTED_TOLERANCE = Fraction(1, 10**9)


class BadFileError(ValueError):
    """A file that cannot be read as the contract fixes it."""


@dataclass(frozen=True)
class Release:
    """A published table with its manifest."""

    header: list[str]
    rows: list[Row]
    manifest: dict[str, Any]

    def columns(self, *roles: str) -> list[dict[str, Any]]:
        """Return the manifest's columns that have one of the roles."""
        return [column for column in self.manifest["columns"] if column["role"] in roles]

    def names(self, *roles: str) -> list[str]:
        """Return the names of the columns that have one of the roles."""
        return [column["name"] for column in self.columns(*roles)]

    def box(self, row: Row) -> tuple[str, ...]:
        """Return the published quasi cells of a row."""
        return tuple(row[name] for name in self.names("quasi"))

    def groups(self) -> dict[str, list[Row]]:
        """Return the rows by group id."""
        return _gather((row["group"], row) for row in self.rows)

    def boxes(self) -> dict[tuple[str, ...], list[Row]]:
        """Return the rows by equal published quasi cells: what a reader without ids sees."""
        return _gather((self.box(row), row) for row in self.rows)


def _gather(pairs: Iterable[tuple[Any, Row]]) -> dict[Any, list[Row]]:
    gathered: dict[Any, list[Row]] = defaultdict(list)
    for key, row in pairs:
        gathered[key].append(row)
    return dict(gathered)


def read_table(path: str | Path) -> tuple[list[str], list[Row]]:
    """Return header and rows of a CSV file, every cell as its text."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, strict=True))
    if not lines:
        message = f"{Path(path).name} has no header."
        raise BadFileError(message)
    header, *rows = lines
    if len(set(header)) < len(header):
        message = f"{Path(path).name} names a column twice."
        raise BadFileError(message)
    for number, row in enumerate(rows):
        if len(row) != len(header):
            message = f"Row {number} of {Path(path).name} has {len(row)} cells, not {len(header)}."
            raise BadFileError(message)
    return header, [dict(zip(header, row, strict=True)) for row in rows]


def read_release(directory: str | Path) -> Release:
    """Return the release in a directory: release.csv and manifest.json."""
    header, rows = read_table(Path(directory) / "release.csv")
    text = (Path(directory) / "manifest.json").read_text(encoding="utf-8")
    manifest = json.loads(text, parse_float=Fraction)
    if manifest.get("escaped"):
        sets = {column["name"] for column in manifest["columns"] if column.get("kind") == "set"}
        rows = [
            {
                unescaped(name): unescaped_set(cell) if unescaped(name) in sets else unescaped(cell)
                for name, cell in row.items()
            }
            for row in rows
        ]
        header = [unescaped(name) for name in header]
    return Release(header, rows, manifest)


def unescaped(text: str) -> str:
    """Return a text without the apostrophe that keeps a spreadsheet from running it."""
    tail = text.lstrip("'")
    return text[1:] if text[:1] == "'" and tail[:1] in set("=+-@\t\r") else text


def unescaped_set(cell: str) -> str:
    """Return a cell of labels with every label as it was."""
    if not cell.startswith("["):
        return unescaped(cell)
    return json.dumps([unescaped(label) for label in json.loads(cell)], ensure_ascii=False)


def read_linkage(path: str | Path) -> dict[int, int]:
    """Return the map from input row to published row; a suppressed row is absent or empty."""
    header, rows = read_table(path)
    if header != ["row", "release_row"]:
        message = f"The linkage has columns {header}, not row, release_row."
        raise BadFileError(message)
    pairs = [(int(row["row"]), int(row["release_row"])) for row in rows if row["release_row"]]
    if len(dict(pairs)) < len(pairs):
        message = "The linkage names an input row twice."
        raise BadFileError(message)
    return dict(pairs)


# Cells


def parse_interval(cell: str) -> Interval:
    """Return the two ends of a numeric cell as spelled: ``[low, high]`` or a bare value."""
    if not cell.startswith("["):
        Fraction(cell)
        return cell, cell
    ends = json.loads(cell, parse_int=str, parse_float=str)
    if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        message = "not two numbers"
        raise ValueError(message)
    if '"' in cell:
        message = "numbers in quotes"
        raise ValueError(message)
    if Fraction(ends[0]) >= Fraction(ends[1]):
        message = "low is not below high"
        raise ValueError(message)
    return ends[0], ends[1]


def parse_set(cell: str) -> tuple[str, ...]:
    """Return the labels of a categorical cell: a JSON array of strings, or one label."""
    try:
        labels = json.loads(cell) if cell.startswith("[") else None
    except json.JSONDecodeError:
        labels = None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return (cell,)
    if not labels or len(set(labels)) < len(labels):
        message = "an empty array, or a label twice"
        raise ValueError(message)
    if len(labels) == 1 and not labels[0].startswith("["):
        message = "an array around one plain label"
        raise ValueError(message)
    return tuple(labels)


def parse_dates(cell: str) -> Interval:
    """Return the two ends of a date cell: a JSON array of two dates, or a bare date."""
    if not cell.startswith("["):
        days(cell)
        return cell, cell
    low, high = json.loads(cell)
    if days(low) >= days(high):
        message = "low is not below high"
        raise ValueError(message)
    return low, high


def days(text: str) -> Fraction:
    """Return the days from the year 1 to a date or timestamp without a zone."""
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    passed = moment - dt.datetime(1, 1, 1)  # noqa: DTZ001 - no zones from here on
    return Fraction(passed // dt.timedelta(microseconds=1), 86_400_000_000)


def node_covers(column: Mapping[str, Any], node: str, value: str) -> bool:
    """Say whether a node covers a value, by its rule, or by ``paths`` where it was listed."""
    names = {one["name"]: one["parent"] for one in column["domain"]["nodes"]}
    if node == value or names.get(node, "") is None:
        return True
    if "paths" in column:
        return value in leaves(column["paths"], node)
    if column["hierarchy"] != "Prefix()":
        msg = f"This oracle does not know {column['hierarchy']}."
        raise ValueError(msg)
    code = node.rstrip("*")
    return code != node and value.startswith(code) and len(value) <= len(node)


def size_of(column: Mapping[str, Any]) -> Callable[[Any], Fraction]:
    """Return how an end of an interval is read as a number."""
    return days if column.get("type") == "date" else lambda end: Fraction(str(end))


def ends_of(column: Mapping[str, Any], cell: str) -> Interval:
    """Return the two ends of an interval as spelled."""
    return parse_dates(cell) if column.get("type") == "date" else parse_interval(cell)


def parse_known(column: Mapping[str, Any], cell: str) -> tuple[Interval | None, bool]:
    """Return the ends of the known values of a cell, and whether it says that values are missing.

    An empty cell says that all are; ``[low, high, null]`` that some are.
    """
    missing = column["domain"][-1] is None
    if missing and not cell:
        return None, True
    if not (missing and cell.endswith(", null]")):
        return ends_of(column, cell), False
    low, high, _ = json.loads(cell, parse_int=str, parse_float=str)
    return ((low, high) if low == high else ends_of(column, cell[: -len(", null]")] + "]")), True


def covers(column: Mapping[str, Any], cell: str, original: str) -> bool:
    """Say whether a published quasi cell covers the original value."""
    if column["kind"] == "set":
        return original in parse_set(cell)
    if column["kind"] == "node":
        return node_covers(column, cell, original)
    ends, missing = parse_known(column, cell)
    if original == "" or ends is None:
        return missing and original == ""
    size = size_of(column)
    low, high = map(size, ends)
    return low <= size(original) <= high


def cell_ncp(column: Mapping[str, Any], cell: str, domain: Any) -> Fraction:
    """Return the NCP of a cell: extent over the extent of the domain, 0 for a one-value domain.

    ``domain`` is (least, greatest) for an interval, all distinct labels for a set, and the named
    nodes with their leaves for a node.
    """
    if column["kind"] == "node":
        (under,) = (one["leaves"] for one in domain["nodes"] if one["name"] == cell)
        return Fraction(under - 1, max(domain["leaves"] - 1, 1))
    if column["kind"] == "set":
        part, whole = Fraction(len(parse_set(cell)) - 1), Fraction(len(set(domain)) - 1)
    else:
        ends, missing = parse_known(column, cell)
        if missing:
            return Fraction(ends is not None)
        size = size_of(column)
        low, high = map(size, ends or ())
        part, whole = high - low, size(domain[1]) - size(domain[0])
    return part / whole if whole else Fraction(0)


# Measures


def ncp(release: Release, original: Sequence[Row] | None = None) -> dict[str, Fraction]:
    """Return the mean NCP of every quasi column; every cell of a suppressed row counts 1.

    The domain is taken from the original table where given, else from the manifest.
    """
    suppressed = release.manifest.get("suppressed") or 0
    found = {}
    for column in release.columns("quasi"):
        domain = _domain(column, original)
        times = Counter(row[column["name"]] for row in release.rows)
        lost = sum(cell_ncp(column, cell, domain) * count for cell, count in times.items())
        found[column["name"]] = (lost + Fraction(suppressed)) / (len(release.rows) + suppressed)
    return found


def gcp(release: Release, original: Sequence[Row] | None = None) -> Fraction:
    """Return the mean NCP over all rows and quasi columns."""
    penalties = ncp(release, original).values()
    return sum(penalties, Fraction(0)) / len(penalties)


def _domain(column: Mapping[str, Any], original: Sequence[Row] | None) -> Any:
    if original is None or column["kind"] == "node":
        return column["domain"]
    cells = {row[column["name"]] for row in original}
    if column["kind"] == "set":
        return sorted(cells)
    known = cells - {""}
    ends = min(known, key=size_of(column)), max(known, key=size_of(column))
    return ends if known == cells else (*ends, None)


def allowed(requirement: Requirement) -> Fraction:
    """Return the largest risk that a requirement allows: 1/m, 1/l or 1/k."""
    return Fraction(1, next(requirement[name] for name in ("m", "l", "k") if name in requirement))


def group_risk(rows: Sequence[Row], requirement: Requirement) -> Fraction:
    """Return the risk of one group; for k-anonymity 1/|G|."""
    if requirement["kind"] == "k-anonymity":
        return Fraction(1, len(rows))
    params = {
        name: value
        for name, value in requirement.items()
        if name not in ("kind", "column", "m", "l", "k")
    }
    values = [row[requirement["column"]] for row in rows]
    return risk(values, requirement["kind"], **params)


def worst_risk(groups: Mapping[Any, Sequence[Row]], requirement: Requirement) -> Fraction:
    """Return the largest risk over the groups (``release.groups()`` or ``release.boxes()``)."""
    return max(group_risk(rows, requirement) for rows in groups.values())


# Checks


def check_shape(release: Release) -> Iterator[str]:
    """Yield what is wrong with header, group ids and the counts of the manifest."""
    if release.header[0] != "group":
        yield f"The first column is {release.header[0]!r}, not 'group'."
    published = release.names(*PUBLISHED_ROLES)
    if sorted(release.header[1:]) != sorted(published):
        yield f"The columns {release.header[1:]} are not those of the manifest, {published}."
    for group in release.groups():
        if not group.removeprefix("-").isdecimal():
            yield f"Group id {group!r} is not an integer."
    if release.manifest["rows"] != len(release.rows):
        yield f"The manifest says {release.manifest['rows']} rows; there are {len(release.rows)}."
    if release.manifest["groups"] != len(release.groups()):
        yield (
            f"The manifest says {release.manifest['groups']} groups; "
            f"there are {len(release.groups())}."
        )
    for key in PRIVATE_KEYS:
        if key in release.manifest:
            yield f"The manifest is public and must not hold {key!r}."


def check_boxes(release: Release) -> Iterator[str]:
    """Yield the groups whose rows do not share one box."""
    for group, rows in release.groups().items():
        boxes = {release.box(row) for row in rows}
        if len(boxes) > 1:
            yield f"Group {group} is published with {len(boxes)} different boxes."


def check_cells(release: Release, original: Sequence[Row] | None = None) -> Iterator[str]:
    """Yield the quasi cells that do not parse, lie outside the domain or are spelled anew."""
    for column in release.columns("quasi"):
        name, kind = column["name"], column["kind"]
        if kind == "node":
            known = {node["name"] for node in column["domain"]["nodes"]}
            for cell in sorted({row[name] for row in release.rows} - known):
                yield f"Cell {cell!r} of column {name!r} is no node of its hierarchy."
            continue
        if kind not in ("interval", "set"):
            yield f"Column {name!r} has kind {kind!r}, which this oracle does not know."
            continue
        spelled = None if original is None else {row[name] for row in original}
        if spelled is None and kind == "set":
            spelled = set(column["domain"])
        for cell in sorted({row[name] for row in release.rows}):
            try:
                parts = parse_set(cell) if kind == "set" else parse_known(column, cell)[0] or ()
            except (ValueError, TypeError) as error:
                yield f"Cell {cell!r} of column {name!r} does not parse: {error}."
                continue
            if spelled is not None and not spelled.issuperset(parts):
                yield f"Cell {cell!r} of column {name!r} is not spelled as in the input."


def check_requirements(release: Release, requirements: Sequence[Requirement]) -> Iterator[str]:
    """Yield the groups that break a requirement, re-measured."""
    for requirement in requirements:
        bound = allowed(requirement)
        for group, rows in release.groups().items():
            measured = group_risk(rows, requirement)
            if measured > bound:
                yield f"Group {group} has risk {measured}, above {bound}, for {dict(requirement)}."


def check_measured(release: Release, requirements: Sequence[Requirement]) -> Iterator[str]:
    """Yield where the manifest's ``measured``, in the order of the requirements, is not so."""
    reports = release.manifest["measured"]
    if len(reports) != len(requirements):
        yield f"The manifest measures {len(reports)} requirements, not {len(requirements)}."
        return
    for report, requirement in zip(reports, requirements, strict=True):
        principle, bound = report["principle"], allowed(requirement)
        measured = worst_risk(release.groups(), requirement)
        if report["holds"] is not (measured <= bound):
            yield f"The manifest says holds = {report['holds']} of {principle}; risk {measured}."
        if requirement["kind"] == "k-anonymity":
            continue  # the contract does not say what its risk and bound are
        yield from _differs(f"risk of {principle}", report["risk"], measured)
        yield from _differs(f"bound of {principle}", report["bound"], bound)


def _differs(what: str, reported: Any, measured: Fraction) -> Iterator[str]:
    if abs(Fraction(str(reported)) - measured) > REPORTED_TOLERANCE:
        yield f"The manifest gives {float(reported)} as {what}; measured {float(measured)}."


def check_loss(release: Release, original: Sequence[Row] | None = None) -> Iterator[str]:
    """Yield where the manifest's loss, or its domain, differs from the published cells."""
    reported = release.manifest["loss"]
    for name, measured in ncp(release, original).items():
        yield from _differs(f"ncp of {name!r}", reported["ncp"][name], measured)
    yield from _differs("gcp", reported["gcp"], gcp(release, original))
    if original is None or release.manifest.get("suppressed"):
        return
    for column in release.columns("quasi"):
        given, stated = _domain(column, original), column["domain"]
        if column["kind"] == "interval":
            ends = [[*map(size_of(column), one[:2])] for one in (stated, given)]
            same = ends[0] == ends[1] and len(stated) == len(given)
        elif column["kind"] == "node":
            values = {row[column["name"]] for row in original}
            same = stated["leaves"] == len(values) and all(
                node["leaves"] == sum(node_covers(column, node["name"], one) for one in values)
                for node in stated["nodes"]
            )
        else:
            same = sorted(stated) == given
        if not same:
            yield f"The manifest gives {stated} as the domain of {column['name']!r}, not {given}."


def check_original(release: Release, original: Sequence[Row]) -> Iterator[str]:
    """Yield where sensitive and other cells, taken as multisets of rows, are not the input's."""
    kept = release.names("sensitive", "other")
    suppressed = release.manifest.get("suppressed") or 0
    if len(release.rows) + suppressed != len(original):
        yield (
            f"{len(release.rows)} published and {suppressed} suppressed rows do not make "
            f"{len(original)} input rows."
        )
    published = Counter(tuple(row[name] for name in kept) for row in release.rows)
    given = Counter(tuple(row[name] for name in kept) for row in original)
    for cells, times in (published - given).items():
        yield f"Cells {cells} of {kept} are published {times} times too often."
    if not suppressed:
        for cells, times in (given - published).items():
            yield f"Cells {cells} of {kept} are published {times} times too seldom."


def check_linkage(
    release: Release, original: Sequence[Row], linkage: Mapping[int, int]
) -> Iterator[str]:
    """Yield where a linked published row does not cover its input row, or changes a kept cell."""
    if sorted(linkage.values()) != list(range(len(release.rows))):
        yield "The linkage does not name every published row exactly once."
        return
    if not set(linkage) <= set(range(len(original))):
        yield "The linkage names rows that the input does not have."
        return
    for source, target in linkage.items():
        before, after = original[source], release.rows[target]
        for column in release.columns("quasi"):
            name = column["name"]
            if not covers(column, after[name], before[name]):
                yield f"Row {source}: {after[name]!r} does not cover {name} = {before[name]!r}."
        for name in release.names("sensitive", "other"):
            if after[name] != before[name]:
                yield f"Row {source}: {name} was {before[name]!r}, is {after[name]!r}."


def check_tight(
    release: Release, original: Sequence[Row], linkage: Mapping[int, int]
) -> Iterator[str]:
    """Yield the groups whose box is wider than their members need (not in ``problems``)."""
    sources = {target: source for source, target in linkage.items()}
    members = _gather((row["group"], original[sources[i]]) for i, row in enumerate(release.rows))
    for group, rows in release.groups().items():
        for column in release.columns("quasi"):
            name, kind = column["name"], column["kind"]
            cells, cell = {row[name] for row in members[group]}, rows[0][name]
            if kind == "set":
                tight = set(parse_set(cell)) == cells
            elif kind == "node":
                narrower = [
                    node["name"]
                    for node in column["domain"]["nodes"]
                    if all(node_covers(column, node["name"], one) for one in cells)
                ]
                tight = cell_ncp(column, cell, column["domain"]) == min(
                    cell_ncp(column, node, column["domain"]) for node in narrower
                )
            else:
                size = size_of(column)
                found, missing = parse_known(column, cell)
                known = [*map(size, cells - {""})]
                ends = None if found is None else [*map(size, found)]
                tight = ends == ([min(known), max(known)] if known else None)
                tight &= missing == ("" in cells)
            if not tight:
                yield f"Group {group}: {cell!r} is wider than {name} needs."


def add_paths(release: Release, paths: Mapping[str, Sequence[tuple[str, ...]]]) -> None:
    """Tell the columns of a release which hierarchies were listed for them."""
    for column in release.manifest["columns"]:
        if column["name"] in paths:
            column["paths"] = paths[column["name"]]


def problems(
    directory: str | Path,
    requirements: Sequence[Requirement] = (),
    original: str | Path | Sequence[Row] | None = None,
    linkage: str | Path | Mapping[int, int] | None = None,
    paths: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
) -> list[str]:
    """Return everything that is wrong with a release directory, one sentence each.

    ``paths`` are the listed hierarchies, by column, each label with its ancestors.
    """
    try:
        release = read_release(directory)
        add_paths(release, paths or {})
        rows = read_table(original)[1] if isinstance(original, str | Path) else original
        links = read_linkage(linkage) if isinstance(linkage, str | Path) else linkage
    except (OSError, ValueError, csv.Error) as error:
        return [f"A file cannot be read: {error}"]
    if not release.rows:
        return ["The release has no rows."]
    checks: dict[str, Callable[[], Iterator[str]]] = {
        "shape": lambda: check_shape(release),
        "quasi cells": lambda: check_cells(release, rows),
        "boxes": lambda: check_boxes(release),
        "requirements": lambda: check_requirements(release, requirements),
        "loss": lambda: check_loss(release, rows),
    }
    if requirements:
        checks["measured"] = lambda: check_measured(release, requirements)
    if rows is not None:
        checks["kept cells"] = lambda: check_original(release, rows)
        if links is not None:
            checks["linkage"] = lambda: check_linkage(release, rows, links)
    found: list[str] = []
    for name, check in checks.items():
        try:
            found += check()
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            found.append(f"The {name} cannot be checked: {error!r}.")
    return found
