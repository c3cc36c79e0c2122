"""The dossier of a release: what a norm asks, filled where that can be computed.

The public part is a function of the release and of the answers that stand in the schema file under
`[context]`. What is computed from the original table goes into a private annex, a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.ask.ask import Ask
from shoal.audit.claims import manifest_schema
from shoal.audit.dominance import dominance, group_sizes
from shoal.audit.identification import identification, threshold_of
from shoal.audit.published import read_release
from shoal.audit.safe_harbor import safe_harbor
from shoal.audit.sampled import population_risk
from shoal.audit.stranger import Stranger
from shoal.audit.tables import read_manifest
from shoal.errors import AuditFailed, ShoalError, UsageError, option
from shoal.progress import Brief
from shoal.release.places import PRIVATE, PUBLIC, check_beside, write_whole
from shoal.release.statement import check_context
from shoal.runs.attacking import attack, of_one
from shoal.runs.audit import audited
from shoal.runs.checks import checked
from shoal.runs.facts import facts, facts_of
from shoal.runs.originals import may_be_published, read_controls, read_original, stated_for
from shoal.runs.person import PEOPLE
from shoal.table.schema import Schema
from shoal.table.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from shoal.audit.published import Published
    from shoal.release.manifest import Manifest

FORMATS = (".html", ".docx")
KINDS = ("computed", "answered", "open")  # of fields


@dataclass(frozen=True, repr=False)
class Dossier(Brief):
    """What was written: two files, and how many fields of the public part are of which kind."""

    _brief = ("norm", "public", "annex", "computed", "answered", "open", "holds")

    norm: str
    public: Path
    annex: Path
    computed: int
    answered: int
    open: int
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "norm": self.norm,
            "public": str(self.public),
            "annex": str(self.annex),
            "computed": self.computed,
            "answered": self.answered,
            "open": self.open,
            "holds": self.holds,
        }


def dossier(
    directory: str | Path,
    output: str | Path,
    *,
    norm: str,
    schema: str | Path | None = None,
    original: Any = None,
    control: Any = None,
    person: str | None = None,
) -> Dossier:
    """Write what a norm asks of a release, filled where that can be computed.

    Places where people must answer stay empty and marked, unless the schema file answers them. It
    states what was measured and who has to decide, not that a release is anonymous or compliant.

    Parameters
    ----------
    directory : the release.
    output : the file to write, HTML or DOCX by its name; the private annex stands beside it, with
        `-private` in its name, readable by its owner alone.
    norm : `ema`, `hipaa`, `iso27559`, `gdpr`, `ico`, `nist` or `fivesafes`.
    schema : the schema file: its `[context]` becomes public; the original is read as it says.
    original : the path or frame of the original table; without it the annex is empty and marked.
    control : the path or frame of people of the same population who are not in the release: attacks
        are tried on them as well. It needs the original.
    person : the column that says whom rows of the original are about, where people have several.
    """
    from shoal.views.dossier import annex, public, read_norm, written

    asked, place, path = read_norm(norm), Path(directory), Path(output)
    if control is not None and original is None:
        msg = f"{option('control')} needs the original table too: {option('original')}."
        raise UsageError(msg)
    beside = path.with_name(f"{path.stem}-private{path.suffix}")
    _check_places(place, path, beside)
    said = Ask() if schema is None else checked(read_settings(schema)).ask
    check_context(said.context)
    manifest = read_manifest(place)
    answers = {**manifest.context, **said.context}
    published = read_release(place, manifest)
    known, complaints = _known(place, manifest)
    shown = public(asked, known | _measured(published), answers, complaints)
    own = None
    if original is not None:
        table = read_original(original, said)
        control = read_controls(control, table, stated_for(original, said))
        whose = person or said.person
        people = table.fill_nan(None)
        stranger = Stranger.of(published, people, person=whose, hierarchies=said.hierarchies)
        rows, several, over = may_be_published(stranger, whose)
        own = _private(stranger, whose, said, answers) | {"over": over}
        own["attack"] = _attacked(place, rows, several, said, control)
    private = annex(asked, known, own)
    write_whole(path, written(shown, path.suffix), force=False, mode=PUBLIC)
    write_whole(beside, written(private, path.suffix), force=False, mode=PRIVATE)
    kinds = [one["kind"] for section in shown["sections"] for one in section["fields"]]
    computed, answered, left = map(kinds.count, KINDS)
    return Dossier(norm, path, beside, computed, answered, left, holds=not complaints)


def _check_places(directory: Path, *paths: Path) -> None:
    """Raise before any work is done where a file could not be written, or should not."""
    if not directory.is_dir():
        msg = f"{directory.name!r} is not a release directory, and a dossier is about one."
        raise UsageError(msg)
    for path in paths:
        if path.suffix not in FORMATS:
            msg = f"A dossier is a file such as dossier.html or dossier.docx. Got {path.name!r}."
            raise UsageError(msg)
        check_beside(directory, path, "A dossier")


def _known(place: Path, manifest: Manifest) -> tuple[dict[str, Any], list[str]]:
    """Return what the files of a release show, measured again where that takes nothing else."""
    schema = manifest_schema(manifest)
    from shoal.principles.requirement import requirements

    outside = any(
        one.principle.population for one in requirements(manifest.require, *schema.protected)
    )
    if not manifest.grouped or outside:  # which takes the original, or a population
        return facts_of(place) | {"again": False}, []
    found = audited(place)
    if found.shown is None:
        raise AuditFailed(" ".join(found.complaints()))
    measured = manifest.but()
    found.state(measured)
    return facts(measured, found.alike, found.shown) | {"again": True}, found.complaints()


def _measured(published: Published) -> dict[str, Any]:
    """Return what norms ask and no report shows: Safe Harbor, thresholds and dominance."""
    manifest, rows = published.stated, published.table
    columns = manifest.columns
    people = rows if published.people is None else published.people
    cells = {
        one.name: (people if one.quasi else rows)[one.name]
        for one in columns
        if one.name in (people if one.quasi else rows).columns
    }
    shown = [one for one in columns if one.name in cells]
    for name, table in published.linked.items():  # under both names
        more = manifest.linked_columns(name)
        shown += more
        cells |= {one.name: table[one.name] for one in more}
    grouped = manifest.grouped
    sensitive = manifest.named("sensitive")
    return {
        "harbor": [one.to_dict() for one in safe_harbor(cells, shown, int(manifest.date[:4]))],
        "group_sizes": group_sizes(rows, series=manifest.in_series) if grouped else None,
        "dominance": [dominance(rows, name) for name in sensitive] if grouped else [],
        "distinct": {name: int(column.n_unique()) for name, column in cells.items()},
    }


def _private(
    stranger: Stranger, person: str | None, said: Ask, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the original table adds: for the owner alone."""
    published, sizes = stranger.published, stranger.alike_today()
    chosen, sample = stranger.most_exposed(PEOPLE)
    size = answers.get("population_size", "").replace(",", "").replace("_", "").strip()
    whole = int(size) if size.isdecimal() and int(size) >= int(sizes.sum()) else None
    return {
        "initial": identification(sizes, sizes, threshold_of(published.stated.threshold))
        | {"people": len(stranger.among), "several": stranger.whom.given},
        "population": None if whole is None else population_risk(sizes, whole),
        "person": stranger.view(chosen),
        "among": None if sample.complete else len(sample),
        "removed": [one for one in said.identifying if one != person],
        "marks": person,
    }


def _attacked(
    place: Path, table: pl.DataFrame, person: str | None, said: Ask, control: Any
) -> dict[str, Any] | str:
    """Return what attacks reach, or why they cannot be made."""
    whom = None if person is None else Schema(person=person)
    try:
        known = {"original": table, "control": control, "hierarchies": said.hierarchies}
        return of_one(attack([place], whom, **known)).to_dict()
    except ShoalError as problem:
        return str(problem)
