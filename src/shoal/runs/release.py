"""A release as a person has it: the data, and everything that can be done with it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from shoal.audit.files import kinds_of, manifest_schema
from shoal.audit.matches import audit_matches
from shoal.audit.published import plain_text
from shoal.audit.verify import audit_table
from shoal.errors import UsageError
from shoal.progress import Progress, silent
from shoal.release.release import ReleaseData
from shoal.showing import Shown
from shoal.table.reading import take_frame

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from shoal.audit.verify import Audit
    from shoal.table.columns import Handed
    from shoal.utility.queries import BoxTable


@dataclass(frozen=True, eq=False, repr=False)
class Release(ReleaseData, Shown):
    """What is published, with what only the owner may see of how it came about.

    `table` is the published table as the kind of frame that came in, `manifest` what is said of
    it, `loss` what it cost; `audit` measures it again and `write` publishes it.
    """

    @classmethod
    def of(cls, data: ReleaseData) -> Release:
        """Give data the verbs that people use."""
        return cls(**{field.name: getattr(data, field.name) for field in fields(data)})

    def audit(self) -> Audit:
        """Measure every requirement again on the published table.

        Groups are measured from that table alone, a heterogeneous release against the original.
        """
        return self.audit_published(plain_text(self))

    def audit_published(self, published: pl.DataFrame | Handed) -> Audit:
        """Measure every requirement on a published table, as it was read back from a file."""
        if self.heterogeneous:
            return audit_matches(take_frame(published), self.coded, self.requirements)
        if self.population is None:
            return audit_table(published, self.schema, self.requirements)
        stated = manifest_schema(self.manifest, self.listed)  # nodes as a reader sees them
        kinds = kinds_of(self.manifest)
        return audit_table(published, stated, self.requirements, self.population, kinds)

    def losses(self) -> dict[str, float]:
        """Measure every loss that is defined for this release (see `shoal.losses`)."""
        self._check_original("Losses are")
        from shoal.utility.losses import losses

        return losses(self)

    def answers(self) -> BoxTable:
        """Return the published table as what answers count queries."""
        return self._boxes

    @cached_property
    def _boxes(self) -> BoxTable:
        from shoal.utility.nodes import Leaves
        from shoal.utility.queries import BoxTable

        nodes = {one.name: Leaves.of(one) for one in self.coded.quasi if one.tree is not None}
        return BoxTable.of(plain_text(self), self.manifest, self.schema, nodes)

    def count(self, condition: str) -> float:
        """Return the expected number of rows for which a condition holds.

        A row is taken to lie anywhere in its published cells, all values alike; sensitive and
        other columns are exact. `release.count("30 <= age <= 40 and income > 50000")`.
        """
        from shoal.utility.expression import count

        return count(self, condition)

    def write(
        self,
        directory: str | Path,
        *,
        format: str = "csv",
        linkage: str | Path | None = None,
        force: bool = False,
        threshold: float = 0.09,
        trials: bool = False,
        progress: Progress = silent,
    ) -> Audit:
        """Write release, manifest and report as one directory, audited before it appears.

        The report compares the risk of being found with `threshold`. With `trials` it also shows
        what more protection would cost and what other methods lose, both tried on a sample. The
        address of a table, as sqlite:///people.db?table=published, takes the table alone.
        """
        if linkage is not None:
            self._check_original("A linkage is")
        from shoal.runs.outlets import is_outlet, publish
        from shoal.runs.publish import write_release

        where: dict[str, Any] = {"linkage": linkage, "force": force, "progress": progress}
        if is_outlet(directory):
            return publish(self, directory, format=format, **where)
        if trials:
            from shoal.runs.trials import trials as attempt

            where["trials"] = partial(attempt, self, progress)
        return write_release(self, directory, format=format, threshold=threshold, **where)

    def owner_report(
        self,
        path: str | Path,
        *,
        threshold: float = 0.09,
        force: bool = False,
        progress: Progress = silent,
    ) -> None:
        """Write the report for the owner alone, readable by nobody else; never publish it.

        It says what report.html says, and names the riskiest groups and records, what was left out,
        what more protection would cost, and what other methods lose (both tried on a sample).
        """
        self._check_original("The owner's report is")
        from shoal.runs.trials import write_owner_report

        write_owner_report(self, path, threshold=threshold, force=force, progress=progress)

    def _check_original(self, what: str) -> None:
        """Raise where something is asked that only the original table can tell."""
        if self.recast:
            msg = f"{what} made from the original table, and this release was made from another."
            raise UsageError(msg)
