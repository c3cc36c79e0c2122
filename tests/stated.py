"""Manifests of which only a part matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from shoal.release.manifest import Manifest
from shoal.release.stated import StatedAsk, StatedColumn, StatedLoss

if TYPE_CHECKING:
    from collections.abc import Iterable


def stated(columns: Iterable[Any] = (), **said: Any) -> Manifest:
    """Return a manifest that says this of columns, and otherwise as little as it can."""
    usual: dict[str, Any] = {
        "shoal": "0.2",
        "id": "0" * 32,
        "form": "intervals",
        "rows": 1,
        "groups": 1,
        "require": ["KAnonymity(k=2)"],
        "method": "Mondrian()",
    }
    return Manifest(
        **usual | said,
        columns=[msgspec.convert(one, StatedColumn, from_attributes=True) for one in columns],
        asked=StatedAsk(),
        measured=[],
        loss=StatedLoss(0, {}),
        digests={},
    )
